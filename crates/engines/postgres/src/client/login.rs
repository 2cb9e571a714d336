//! From a socket to a session.

use crate::client::address::{self, Address};
use crate::client::config::{AuthMethod, ChannelBindingMode, Config, Host};
use crate::client::error::{EncryptionError, Error, LoginError, ServerError};
use crate::client::messages::Messages;
use fallible_iterator::FallibleIterator;
use observations::Secret;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{
    ChannelBinding, SCRAM_SHA_256, SCRAM_SHA_256_PLUS, ScramSha256,
};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;
use std::fmt;
use transport::{Patience, tls};

/// Most iterations of SCRAM that are done: about a second. PostgreSQL's default
/// (`scram_iterations`) is 4,096.
const SCRAM_ITERATIONS_MAX: u64 = 1_000_000;

/// Process and key of a backend: they let anyone cancel its requests.
#[derive(Clone, Copy, Default)]
pub(crate) struct BackendKey {
    pub process: i32,
    pub secret: i32,
}

impl fmt::Debug for BackendKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BackendKey({}, ..)", self.process)
    }
}

/// A login in progress.
pub struct Exchange<'a> {
    pub messages: Messages,
    pub config: &'a Config,
    pub host: &'a Host,
    pub address: &'a Address,
}

impl<'a> Exchange<'a> {
    /// Logs in.
    pub fn login(mut self) -> Result<(Messages, BackendKey), Error> {
        let key = self.run().map_err(|error| match error {
            Error::Timeout(source) | Error::Stopped(source) | Error::Lost(source) => {
                address::failed(self.address, source)
            }
            Error::Protocol(error) if self.messages.stream.is_tls() => {
                EncryptionError::Protocol(error).at(self.address)
            }
            Error::Protocol(error) => self.failed(LoginError::Protocol(error)),
            error => error,
        })?;
        self.messages.is_login = false;
        self.messages.stream.patience = Patience::default();
        Ok((self.messages, key))
    }

    fn run(&mut self) -> Result<BackendKey, Error> {
        frontend::startup_message(self.config.startup_parameters(), &mut self.messages.output)
            .map_err(Error::malformed)?;
        self.messages.flush()?;
        self.authenticate()?;
        let mut key = BackendKey::default();
        loop {
            match self.receive()? {
                Message::BackendKeyData(body) => {
                    key = BackendKey { process: body.process_id(), secret: body.secret_key() };
                }
                Message::ReadyForQuery(_) => return Ok(key),
                _ => return Err(self.failed(LoginError::Unexpected("after login"))),
            }
        }
    }

    fn authenticate(&mut self) -> Result<(), Error> {
        let must_bind = self.config.channel_binding == ChannelBindingMode::Require;
        let request = self.receive()?;
        if must_bind && !matches!(request, Message::AuthenticationSasl(_)) {
            return Err(self.failed(LoginError::NoBinding));
        }
        self.require(match request {
            Message::AuthenticationOk => AuthMethod::None,
            Message::AuthenticationCleartextPassword => AuthMethod::Password,
            Message::AuthenticationMd5Password(_) => AuthMethod::Md5,
            Message::AuthenticationSasl(_) => AuthMethod::Scram,
            _ => {
                return Err(self.failed(LoginError::UnknownMethod));
            }
        })?;
        match request {
            Message::AuthenticationCleartextPassword => {
                frontend::password_message(self.password()?.as_bytes(), &mut self.messages.output)
                    .map_err(Error::malformed)?;
            }
            Message::AuthenticationMd5Password(body) => {
                let user = self.config.user.as_bytes();
                let hash = md5_hash(user, self.password()?.as_bytes(), body.salt());
                frontend::password_message(hash.as_bytes(), &mut self.messages.output)
                    .map_err(Error::malformed)?;
            }
            Message::AuthenticationSasl(body) => self.scram(&body)?,
            _ => return Ok(()),
        }
        self.messages.flush()?;
        match self.receive()? {
            Message::AuthenticationOk => Ok(()),
            _ => Err(self.failed(LoginError::Unexpected("at the end of login"))),
        }
    }

    /// Refuses an authentication method that the connection string rules out. Also refuses to send
    /// the password in clear where others could read it. libpq sends it: any server, or anyone in
    /// between, can have it by asking.
    fn require(&self, auth_method: AuthMethod) -> Result<(), Error> {
        let required = &self.config.required_auth;
        if !required.permits(auth_method) {
            return Err(self.failed(LoginError::RuledOut(required.clone())));
        }
        let is_private = self.messages.stream.is_tls() || self.address.is_local();
        if auth_method == AuthMethod::Password && !is_private && !required.names(auth_method) {
            return Err(self.failed(LoginError::Cleartext));
        }
        Ok(())
    }

    /// Proves that we know the password and learns that the server does (RFC 5802).
    fn scram(&mut self, body: &AuthenticationSaslBody) -> Result<(), Error> {
        let offered: Vec<&str> = body.mechanisms().collect().map_err(Error::malformed)?;
        let (mechanism, binding) = self.mechanism(&offered)?;
        let mut scram = ScramSha256::new(self.password()?.as_bytes(), binding);
        frontend::sasl_initial_response(mechanism, scram.message(), &mut self.messages.output)
            .map_err(Error::malformed)?;
        self.messages.flush()?;
        match self.receive()? {
            Message::AuthenticationSaslContinue(body) => {
                self.limit_iterations(body.data())?;
                scram.update(body.data()).map_err(|error| self.failed(LoginError::Scram(error)))?;
            }
            _ => {
                return Err(self.failed(LoginError::Unexpected("during SCRAM authentication")));
            }
        }
        frontend::sasl_response(scram.message(), &mut self.messages.output)
            .map_err(Error::malformed)?;
        self.messages.flush()?;
        match self.receive()? {
            Message::AuthenticationSaslFinal(body) => {
                scram.finish(body.data()).map_err(|error| self.failed(LoginError::Scram(error)))
            }
            _ => Err(self.failed(LoginError::Unexpected("during SCRAM authentication"))),
        }
    }

    /// Refuses a number of iterations that would keep us at work for minutes.
    fn limit_iterations(&self, server_first: &[u8]) -> Result<(), Error> {
        let text = String::from_utf8_lossy(server_first);
        let iterations =
            text.split(',').find_map(|part| part.strip_prefix("i=")?.parse::<u64>().ok());
        match iterations.filter(|iterations| *iterations > SCRAM_ITERATIONS_MAX) {
            Some(iterations) => {
                Err(self.failed(LoginError::Iterations(iterations, SCRAM_ITERATIONS_MAX)))
            }
            None => Ok(()),
        }
    }

    fn mechanism(&self, offered: &[&str]) -> Result<(&'static str, ChannelBinding), Error> {
        let mode = self.config.channel_binding;
        let certificate = self.messages.stream.server_certificate();
        let end_point =
            certificate.and_then(tls::end_point).filter(|_| mode != ChannelBindingMode::Disable);
        let binds = offered.contains(&SCRAM_SHA_256_PLUS);
        match end_point {
            Some(hash) if binds => {
                Ok((SCRAM_SHA_256_PLUS, ChannelBinding::tls_server_end_point(hash)))
            }
            _ if mode == ChannelBindingMode::Require => Err(self.failed(LoginError::CannotBind)),
            _ if !offered.contains(&SCRAM_SHA_256) => Err(self.failed(LoginError::NoMechanism)),
            // Lets a server notice that its offer to bind was removed on the way.
            Some(_) => Ok((SCRAM_SHA_256, ChannelBinding::unrequested())),
            None => Ok((SCRAM_SHA_256, ChannelBinding::unsupported())),
        }
    }

    fn password(&self) -> Result<&'a str, Error> {
        let password = self.config.password_for(self.host).map(Secret::reveal);
        password.ok_or_else(|| self.failed(LoginError::NoPassword))
    }

    /// The next message that is not an error.
    fn receive(&mut self) -> Result<Message, Error> {
        match self.messages.receive()? {
            Message::ErrorResponse(error) => {
                Err(self.failed(LoginError::Server(ServerError::read(error.fields())?)))
            }
            message => Ok(message),
        }
    }

    fn failed(&self, cause: LoginError) -> Error {
        Error::Login(self.address.to_string(), cause)
    }
}
