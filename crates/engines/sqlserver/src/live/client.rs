//! A connection for one request at a time, with Microsoft's driver. The driver is asynchronous:
//! each connection has a runtime of its own in the thread that uses it.

use super::config::{Config, Encryption, Login, access_token};
use engine::view::ViewRows;
use engine::{Rows, View};
use mssql_tds::connection::client_context::{ClientContext, TdsAuthenticationMethod};
use mssql_tds::connection::tds_client::{
    ExecuteOptions, ResultSet as _, StatementResult, TdsClient,
};
use mssql_tds::connection_provider::tds_connection_provider::TdsConnectionProvider;
use mssql_tds::core::{CancelHandle, EncryptionSetting, TdsResult};
use mssql_tds::datatypes::column_values::ColumnValues;
use mssql_tds::datatypes::sql_string::{EncodingType, SqlString};
use mssql_tds::error::Error as DriverError;
use mssql_tds::message::login_options::ApplicationIntent;
use std::fmt;
use std::pin::pin;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use work::Stop;

/// Application name of observing sessions, by which they are excluded.
pub(crate) const APPLICATION: &str = "steelbench observer";
/// Interval at which waits check for a request to stop.
const LOOK: Duration = Duration::from_millis(50);
/// The time that a statement may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// No limit in addition to that of the work itself.
pub(crate) const PATIENCE_MAX: Duration = Duration::from_secs(24 * 3600);
/// The time that the server may take to confirm that it has ended a statement (attention).
pub(crate) const ATTENTION_S: u32 = 2;
/// Stands for the number of an error that the server did not send: a statement has no result.
pub const OURS: u32 = 0;
/// Most bytes of an answer.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Why a server cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// No connection came about, or it was lost.
    #[error("{0}")]
    Connection(String),
    /// The server did not answer in time.
    #[error("{0}")]
    NoAnswer(String),
    /// The driver did not understand an answer, or cannot do what is asked of it.
    #[error("{0}")]
    Driver(String),
    /// The server objects to the login or a statement.
    #[error("error {number}: {message}")]
    Server { number: u32, message: String },
    /// Stopped on request.
    #[error("stopped on request")]
    Stopped,
}

impl Error {
    /// Returns whether the connection is unusable.
    pub fn is_lost(&self) -> bool {
        !matches!(self, Self::Server { .. })
    }

    /// Returns the remedy. The numbers are those of
    /// <https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors>.
    pub fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Server { number: 18456, .. } => Some(
                "Login failed: set the user in the URL, and the password in SQLCMDPASSWORD or in \
                 the file given by PasswordFile= (mode 0600).",
            ),
            Self::Server { number: 4060 | 911, .. } => {
                Some("The database does not exist; one that always does: mssql://user@host/master.")
            }
            Self::Server { number: 297 | 300 | 371, .. } => Some(
                "GRANT VIEW SERVER STATE TO this login (from SQL Server 2022 on, VIEW SERVER \
                 PERFORMANCE STATE is enough).",
            ),
            Self::Connection(what) if what.contains("TLS") || what.contains("ertificate") => Some(
                "Check Encrypt (strict, mandatory, optional), TrustServerCertificate, \
                 HostNameInCertificate and ServerCertificate.",
            ),
            Self::Connection(_) => Some(
                "Is the server running and listening on TCP? Give its address as a URL: \
                 mssql://user@host/database.",
            ),
            Self::Driver(_) => Some(
                "The driver mssql-tds failed, not the server; report it with the server's version.",
            ),
            Self::NoAnswer(_) => Some("The connection exists, but the server does not respond."),
            Self::Server { .. } | Self::Stopped => None,
        }
    }
}

/// A connection.
pub struct Client {
    runtime: Runtime,
    client: TdsClient,
    stop: Stop,
    /// The time that the server may continue after a request to stop.
    linger: Duration,
    since: Option<Instant>,
    /// The time that a statement may take.
    patience: Duration,
}

impl fmt::Debug for Client {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Client").finish_non_exhaustive()
    }
}

impl Client {
    /// Connects and logs in. A request to stop ends connecting immediately; a statement may still
    /// take `linger`.
    pub fn connect(config: &Config, stop: &Stop, linger: Duration) -> Result<Self, Error> {
        let runtime = runtime()?;
        let connecting = connect(config, APPLICATION);
        let client = until(&runtime, connecting, PATIENCE_MAX, || stop.is_asked())?;
        Ok(Self { runtime, client, stop: stop.clone(), linger, since: None, patience: PATIENCE })
    }

    /// Sets the time limit of its statements.
    pub fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Lets the driver work on the connection for as long as one statement may take. Work that the
    /// driver does not end after a request to stop is abandoned, with the connection.
    pub fn drive<T>(
        &mut self,
        work: impl AsyncFnOnce(&mut TdsClient, ExecuteOptions<'_>) -> TdsResult<T>,
    ) -> Result<T, Error> {
        let mut cancel = CancelHandle::new();
        cancel.set_cancel_timeout_secs(ATTENTION_S);
        let options =
            ExecuteOptions::new().timeout_secs(self.patience.as_secs() as u32).cancel(&cancel);
        let (client, stop, linger, requests) =
            (&mut self.client, &self.stop, self.linger, &mut self.since);
        let attention = Duration::from_secs(ATTENTION_S.into());
        let work = async { work(client, options).await.map_err(|error| translate(&error)) };
        until(&self.runtime, work, self.patience + attention, || {
            let waited =
                stop.is_asked().then(|| requests.get_or_insert_with(Instant::now).elapsed());
            if waited.is_some_and(|waited| waited >= linger) {
                cancel.cancel();
            }
            // The driver sends an attention, and waits until the server has confirmed it. A bulk
            // copy takes no such handle.
            waited.is_some_and(|waited| waited >= linger + attention + LOOK * 2)
        })
    }

    /// Runs statements and discards their results.
    pub fn run(&mut self, sql: &str) -> Result<(), Error> {
        self.drive(async |client, options| {
            client.execute(sql.to_owned(), options).await?;
            client.close_query().await
        })
    }

    /// The first value of the first row of a statement; `None` where it is NULL, or there is no
    /// row.
    pub fn cell(&mut self, sql: &str) -> Result<Option<String>, Error> {
        Ok(self.query(sql)?.cell().map(str::to_owned))
    }

    /// The rows of the first result of a statement. One that has no columns is an error: it was not
    /// understood.
    pub fn query(&mut self, sql: &str) -> Result<Rows, Error> {
        self.drive(async |client, options| answer(client, sql, options).await)?
    }

    /// The rows of a view, or why there are none.
    pub fn view(&mut self, view: &View) -> Result<ViewRows, Error> {
        view.read("", |sql| self.query(sql))
    }
}

/// Creates the runtime of connections in one thread.
pub fn runtime() -> Result<Runtime, Error> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Error::Connection(format!("starting the driver: {error}")))
}

/// Connects and logs in under this name, within the time that the configuration allows.
pub async fn connect(config: &Config, application: &str) -> Result<TdsClient, Error> {
    let source = format!("tcp:{}", config.address());
    let provider = TdsConnectionProvider::new();
    let context = context(config, &source, application)?;
    let connecting = provider.create_client(context, &source, None);
    let limit = Duration::from_secs(config.connect_timeout_s.into()) + LOOK;
    let connected = tokio::time::timeout(limit, Box::pin(connecting))
        .await
        .map_err(|_| Error::Connection(format!("no connection within {} s", limit.as_secs())))?;
    match connected.map_err(|error| translate(&error)) {
        Err(Error::NoAnswer(what)) => Err(Error::Connection(what)),
        connected => connected,
    }
}

/// Waits for the driver; `gives_up` is called twenty times a second.
pub fn until<T>(
    runtime: &Runtime,
    work: impl Future<Output = Result<T, Error>>,
    limit: Duration,
    mut gives_up: impl FnMut() -> bool,
) -> Result<T, Error> {
    let deadline = Instant::now() + limit;
    runtime.block_on(async {
        let mut work = pin!(work);
        loop {
            if let Ok(done) = tokio::time::timeout(LOOK, work.as_mut()).await {
                return done;
            }
            if gives_up() {
                return Err(Error::Stopped);
            }
            if Instant::now() >= deadline {
                return Err(Error::NoAnswer(format!("no answer within {} s", limit.as_secs())));
            }
        }
    })
}

async fn answer(
    client: &mut TdsClient,
    sql: &str,
    options: ExecuteOptions<'_>,
) -> TdsResult<Result<Rows, Error>> {
    let mut result = client.execute(sql.to_owned(), options).await?;
    while matches!(result, StatementResult::NoRows { .. }) {
        result = client.advance().await?;
    }
    if result == StatementResult::End {
        return Ok(Err(Error::Server {
            number: OURS,
            message: "the server returned no result".into(),
        }));
    }
    let columns = client.get_metadata().iter().map(|column| column.column_name.clone()).collect();
    let mut rows = Rows::with_columns(columns);
    let mut bytes = 0;
    while let Some(row) = client.next_row().await? {
        let row: Vec<Option<String>> = row.into_iter().map(text).collect();
        bytes += row.iter().flatten().map(String::len).sum::<usize>() + 24 * row.len();
        if bytes > ANSWER_BYTES_MAX {
            client.cancel_query(ATTENTION_S).await?;
            let message = format!("the result exceeds {} MiB", ANSWER_BYTES_MAX >> 20);
            return Ok(Err(Error::Server { number: OURS, message }));
        }
        rows.push(row);
    }
    client.close_query().await?;
    Ok(Ok(rows))
}

/// A value as text; `None` for NULL, and for types that Steelbench's statements do not return.
pub fn text(value: ColumnValues) -> Option<String> {
    match value {
        ColumnValues::TinyInt(number) => Some(number.to_string()),
        ColumnValues::SmallInt(number) => Some(number.to_string()),
        ColumnValues::Int(number) => Some(number.to_string()),
        ColumnValues::BigInt(number) => Some(number.to_string()),
        ColumnValues::Real(number) => Some(number.to_string()),
        ColumnValues::Float(number) => Some(number.to_string()),
        ColumnValues::Bit(is_on) => Some(u8::from(is_on).to_string()),
        ColumnValues::String(text) => Some(decoded(text)),
        ColumnValues::Decimal(parts) | ColumnValues::Numeric(parts) => Some(parts.to_string()),
        ColumnValues::Uuid(uuid) => Some(uuid.to_string()),
        ColumnValues::Xml(xml) => {
            let units: Vec<u16> =
                xml.bytes.chunks_exact(2).map(|two| u16::from_le_bytes([two[0], two[1]])).collect();
            Some(String::from_utf16_lossy(&units))
        }
        _ => None,
    }
}

/// Decodes a text; the driver panics on invalid UTF-8.
fn decoded(text: SqlString) -> String {
    match text.into_parts() {
        (bytes, EncodingType::Utf8) => String::from_utf8_lossy(&bytes).into_owned(),
        (bytes, encoding) => SqlString::decode(&bytes, encoding),
    }
}

/// Settings of the driver. A lost connection stays lost: a silent reconnect would hide a restart of
/// the server.
fn context(config: &Config, source: &str, application: &str) -> Result<ClientContext, Error> {
    let mut context = ClientContext::with_data_source(source);
    context.application_name = application.into();
    context.connect_retry_count = 0;
    context.multi_subnet_failover = Some(config.multi_subnet);
    context.connect_timeout = config.connect_timeout_s;
    context.database.clone_from(&config.database);
    if config.reads_only {
        context.application_intent = ApplicationIntent::ReadOnly;
    }
    match &config.login {
        Login::Sql { user, password } => {
            context.user_name.clone_from(user);
            password.reveal().clone_into(&mut context.password);
        }
        Login::Kerberos => context.tds_authentication_method = TdsAuthenticationMethod::SSPI,
        Login::Token(file) => {
            let token = access_token(file).map_err(|error| Error::Connection(error.to_string()))?;
            context.access_token = Some(token);
            context.tds_authentication_method = TdsAuthenticationMethod::AccessToken;
        }
    }
    let encryption = &mut context.encryption_options;
    encryption.mode = match config.encryption {
        Encryption::Strict => EncryptionSetting::Strict,
        Encryption::Mandatory => EncryptionSetting::Required,
        Encryption::Optional => EncryptionSetting::PreferOff,
    };
    // A strict connection is verified in any case.
    encryption.trust_server_certificate =
        config.trusts_certificate && config.encryption != Encryption::Strict;
    encryption.host_name_in_cert.clone_from(&config.certificate_host);
    encryption.server_certificate.clone_from(&config.certificate);
    Ok(context)
}

/// The driver's error in our words.
pub(crate) fn translate(error: &DriverError) -> Error {
    match error {
        DriverError::SqlServerError { diagnostics } => {
            let first = diagnostics.errors.first();
            let number = first.map_or(0, |first| first.number);
            let message: Vec<&str> =
                diagnostics.errors.iter().map(|error| error.message.as_str()).collect();
            Error::Server { number, message: message.join("; ") }
        }
        DriverError::OperationCancelledError(_) => Error::Stopped,
        DriverError::TimeoutError(_) => Error::NoAnswer(error.to_string()),
        DriverError::ProtocolError(_)
        | DriverError::UsageError(_)
        | DriverError::ImplementationError(_)
        | DriverError::UnimplementedFeature { .. }
        | DriverError::TypeConversionError(_)
        | DriverError::EncodedValueTooLong { .. }
        | DriverError::UnsupportedEncoding { .. } => Error::Driver(error.to_string()),
        other => Error::Connection(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Error, translate};
    use mssql_tds::error::Error as DriverError;

    /// Only where no connection came about may the server be down.
    #[test]
    fn errors_of_the_driver_and_silence_are_not_taken_for_a_server_that_is_down() {
        let advice = |error: &DriverError| translate(error).advice().unwrap_or_default();
        let closed = DriverError::ConnectionClosed("by the server".into());
        assert!(advice(&closed).contains("Is the server running"));
        for error in [
            DriverError::ProtocolError("unknown token".into()),
            DriverError::UsageError("no rows".into()),
            DriverError::TypeConversionError("date".into()),
        ] {
            assert!(advice(&error).contains("The driver mssql-tds failed"), "{error}");
            assert!(translate(&error).is_lost());
        }
        let silent = Error::NoAnswer("no answer within 30 s".into());
        assert!(silent.advice().is_some_and(|advice| advice.contains("does not respond")));
    }
}
