//! From a socket to a session.

use crate::config::{ChannelBindingMode, Config, Host};
use crate::connect::{Address, Deadline};
use crate::error::{LoginError, ServerError};
use crate::messages::Messages;
use crate::{Error, connect, tls};
use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;
use std::collections::BTreeMap;
use std::io;

/// What the server told while letting us in.
#[derive(Debug, Default)]
pub struct Login {
    /// The backend's process.
    pub process: i32,
    /// Lets us cancel its requests.
    pub secret: i32,
    pub parameters: BTreeMap<String, String>,
    pub notices: Vec<ServerError>,
}

pub fn login(
    messages: &mut Messages,
    config: &Config,
    host: &Host,
    address: &Address,
    deadline: Deadline,
) -> Result<Login, Error> {
    let mut exchange = Exchange { messages, deadline, config, host };
    let login = exchange.run().map_err(|failure| match failure {
        Failure::Cause(cause) => Error::Login { place: address.to_string(), cause },
        Failure::Error(Error::Timeout) => connect::failed(address, io::ErrorKind::TimedOut.into()),
        Failure::Error(Error::Lost(source)) => connect::failed(address, source),
        Failure::Error(Error::Protocol(reason)) if exchange.messages.stream().is_tls() => {
            Error::Tls { place: address.to_string(), reason }
        }
        Failure::Error(Error::Protocol(reason)) => {
            Error::Login { place: address.to_string(), cause: LoginError::Method(reason) }
        }
        Failure::Error(error) => error,
    })?;
    messages.set_read_timeout(None)?;
    Ok(login)
}

/// Why it ended, still without the place.
enum Failure {
    Cause(LoginError),
    Error(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Error(Error::malformed(&error))
    }
}

fn method(reason: &str) -> Failure {
    Failure::Cause(LoginError::Method(reason.to_owned()))
}

struct Exchange<'a> {
    messages: &'a mut Messages,
    deadline: Deadline,
    config: &'a Config,
    host: &'a Host,
}

impl<'a> Exchange<'a> {
    fn run(&mut self) -> Result<Login, Failure> {
        frontend::startup_message(self.config.startup_parameters(), &mut self.messages.output)?;
        self.send()?;
        self.authenticate()?;
        let mut login = Login::default();
        loop {
            match self.receive()? {
                Message::BackendKeyData(key) => {
                    login.process = key.process_id();
                    login.secret = key.secret_key();
                }
                Message::ParameterStatus(status) => {
                    login.parameters.insert(status.name()?.to_owned(), status.value()?.to_owned());
                }
                Message::NoticeResponse(notice) => login.notices.push(ServerError::read(notice.fields())?),
                Message::ReadyForQuery(_) => return Ok(login),
                _ => return Err(method("an unexpected message after the login")),
            }
        }
    }

    fn authenticate(&mut self) -> Result<(), Failure> {
        let must_bind = self.config.channel_binding() == ChannelBindingMode::Require;
        let request = self.receive()?;
        if must_bind && !matches!(request, Message::AuthenticationSasl(_)) {
            return Err(method("channel_binding=require, and the server logs in without it"));
        }
        match request {
            Message::AuthenticationOk => return Ok(()),
            Message::AuthenticationCleartextPassword => {
                frontend::password_message(self.password()?.as_bytes(), &mut self.messages.output)?;
            }
            Message::AuthenticationMd5Password(body) => {
                let user = self.config.user().as_bytes();
                let hash = md5_hash(user, self.password()?.as_bytes(), body.salt());
                frontend::password_message(hash.as_bytes(), &mut self.messages.output)?;
            }
            Message::AuthenticationSasl(body) => self.scram(&body)?,
            _ => {
                return Err(method(
                    "the server asks for a way to log in that this client does not have; it has \
                     trust, peer, cert, password, md5 and scram-sha-256",
                ));
            }
        }
        self.send()?;
        match self.receive()? {
            Message::AuthenticationOk => Ok(()),
            _ => Err(method("an unexpected message instead of the end of the login")),
        }
    }

    /// Proves that we know the password and learns that the server does (RFC 5802).
    fn scram(&mut self, body: &AuthenticationSaslBody) -> Result<(), Failure> {
        let offered: Vec<&str> = body.mechanisms().collect()?;
        let (mechanism, binding) = self.mechanism(&offered)?;
        let mut scram = ScramSha256::new(self.password()?.as_bytes(), binding);
        frontend::sasl_initial_response(mechanism, scram.message(), &mut self.messages.output)?;
        self.send()?;
        let broken = |error| Failure::Cause(LoginError::Scram(error));
        match self.receive()? {
            Message::AuthenticationSaslContinue(body) => scram.update(body.data()).map_err(broken)?,
            _ => return Err(method("an unexpected message in SCRAM")),
        }
        frontend::sasl_response(scram.message(), &mut self.messages.output)?;
        self.send()?;
        match self.receive()? {
            Message::AuthenticationSaslFinal(body) => scram.finish(body.data()).map_err(broken),
            _ => Err(method("an unexpected message in SCRAM")),
        }
    }

    fn mechanism(&self, offered: &[&str]) -> Result<(&'static str, ChannelBinding), Failure> {
        let mode = self.config.channel_binding();
        let certificate = self.messages.stream().server_certificate();
        let end_point = certificate.and_then(tls::end_point).filter(|_| mode != ChannelBindingMode::Disable);
        let binds = offered.contains(&SCRAM_SHA_256_PLUS);
        match end_point {
            Some(hash) if binds => Ok((SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(hash))),
            _ if mode == ChannelBindingMode::Require => {
                Err(method("channel_binding=require, and this connection cannot be bound"))
            }
            _ if !offered.contains(&SCRAM_SHA_256) => {
                Err(method("the server offers no SCRAM mechanism that this client has"))
            }
            // Lets a server notice that its offer to bind was removed on the way.
            Some(_) => Ok((SCRAM_SHA_256, ChannelBinding::unrequested())),
            None => Ok((SCRAM_SHA_256, ChannelBinding::unsupported())),
        }
    }

    fn password(&self) -> Result<&'a str, Failure> {
        self.config.password_for(self.host).ok_or(Failure::Cause(LoginError::NoPassword))
    }

    fn send(&mut self) -> Result<(), Failure> {
        self.limit()?;
        Ok(self.messages.flush()?)
    }

    /// The next message that is not an error.
    fn receive(&mut self) -> Result<Message, Failure> {
        self.limit()?;
        match self.messages.receive_in_login()? {
            Message::ErrorResponse(error) => {
                Err(Failure::Cause(LoginError::Server(Box::new(ServerError::read(error.fields())?))))
            }
            message => Ok(message),
        }
    }

    fn limit(&mut self) -> Result<(), Failure> {
        let remaining = self.deadline.remaining().map_err(|_| Error::Timeout)?;
        Ok(self.messages.set_read_timeout(remaining)?)
    }
}
