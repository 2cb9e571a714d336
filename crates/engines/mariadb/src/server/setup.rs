//! Tables of one's own: a dump and SQL that the `mariadb` client runs, which knows DELIMITER and
//! SOURCE, so that all is as it is there.

use super::installation::Installation;
use super::programs::{CLIENT, ClientProgram};
use super::server_version::ServerVersion;
use crate::admin::DATABASE;
use crate::client::{Client, Config, quote_identifier, quote_literal};
use crate::errors::failed_at;
use engine::setup::{SETUP_DUMP, SETUP_SQL, Setup};
use engine::{EngineError, Result};
use experiment::NamedFile;
use servers::programs::dump::{of_mariadb_dump, origin_of_mariadb_dump};
use servers::programs::mysql::Mysql;
use servers::programs::{Relay, command};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use work::Cancel;

/// The time that the server may take to say whether it works for the client.
const ANSWER: Duration = Duration::from_secs(10);

/// Codes of errors at something that the server does not know
/// (<https://mariadb.com/kb/en/mariadb-error-code-reference/>): a syntax, a character set, a
/// variable, a collation, a storage engine, an option of a table.
const UNKNOWN: [u32; 6] = [1064, 1115, 1193, 1273, 1286, 1911];

/// Settings of a server that change what a dump, SQL or a load makes, or whether it can.
pub(super) const SHAPING: [&str; 16] = [
    "character_set_server",
    "collation_server",
    "default_storage_engine",
    "innodb_checksum_algorithm",
    "innodb_compression_algorithm",
    "innodb_compression_failure_threshold_pct",
    "innodb_compression_level",
    "innodb_compression_pad_pct_max",
    "innodb_data_file_path",
    "innodb_default_row_format",
    "innodb_encrypt_tables",
    "innodb_file_per_table",
    "innodb_fill_factor",
    "innodb_stats_persistent_sample_pages",
    "lower_case_table_names",
    "sql_mode",
];

/// Why a setup cannot be run, with the setting at fault: the client is missing, or cannot read the
/// dump.
pub(crate) fn validate(setup: &Setup) -> Result<(), (&'static str, String)> {
    let client = |setting| client().map(drop).map_err(|error| (setting, error.to_string()));
    if !setup.sql.is_empty() {
        client(SETUP_SQL.path())?;
    }
    let Some(dump) = &setup.dump else { return Ok(()) };
    client(SETUP_DUMP.path())?;
    of_mariadb_dump(&dump.place())
        .map_err(|message| (SETUP_DUMP.path(), format!("{}: {message}", dump.path)))
}

/// Finds any client, as a set-up is checked before its server is known.
fn client() -> Result<PathBuf> {
    engine::programs::find(CLIENT.names, None, CLIENT.package)
}

/// Reads the version of the server that a dump was made of.
pub(crate) fn dumped_version(dump: &Path) -> Option<ServerVersion> {
    ServerVersion::parse(&origin_of_mariadb_dump(dump).server?)
}

/// Fills our database on a server by URL, on which our client logs in for the `mariadb` client: a
/// server can ask that for a password in cleartext, and for any file.
///
/// # Errors
/// As of [`fill`].
pub(crate) fn fill_by_url(config: &Config, setup: &Setup, cancel: &Cancel) -> Result<()> {
    let config = config.clone().with_database(DATABASE).with_stop(cancel.stop());
    let client = Client::connect(&config).map_err(failed_at("connecting"))?;
    let version = ServerVersion::parse(client.version());
    let version = version.ok_or_else(|| {
        EngineError::failed("reading the server's version", client.version().to_owned())
    })?;
    let path = ClientProgram::find(CLIENT, None, &version)?.path;
    let upstream = config.clone();
    let stop = cancel.stop();
    let relay = Relay::start(Mysql::new(client.greeting(), move |login, over| {
        let config = Config { program: Some(login), ..upstream.clone() };
        let config = config.with_stop(stop.or(over));
        Client::connect(&config).map(Client::into_stream)
    }))?;
    fill_by(&Program { path, version, config: &config, relay: Some(relay), cancel }, setup)
}

/// Fills our database on a private server by the `mariadb` client.
///
/// # Errors
/// When it fails, with what it says, or a file has changed since the run was begun.
pub(crate) fn fill(
    installation: &Installation,
    config: &Config,
    setup: &Setup,
    cancel: &Cancel,
) -> Result<()> {
    let path = installation.client_program(CLIENT)?.path;
    let version = installation.server_version();
    fill_by(&Program { path, version, config, relay: None, cancel }, setup)
}

fn fill_by(program: &Program<'_>, setup: &Setup) -> Result<()> {
    let (config, cancel) = (program.config, program.cancel);
    if let Some(dump) = &setup.dump {
        program.run(dump, &[]).map_err(|error| explained(error, dump, &program.version))?;
    }
    setup.sql.iter().try_for_each(|file| program.run(file, &setup.variables))?;
    setup.verify_unchanged()?;
    // As the server itself would soon do it, in the midst of a measurement.
    let doing = "finishing the tables of target.setup";
    let mut client = Client::connect_until(config, &cancel.stop()).map_err(failed_at(doing))?;
    let sql = format!(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = '{DATABASE}' AND \
         table_type = 'BASE TABLE'"
    );
    for row in client.query(&sql).map_err(failed_at(doing))?.iter() {
        let sql = format!("ANALYZE TABLE {DATABASE}.{}", quote_identifier(&row.text(0)));
        client.run(&sql).map_err(failed_at(doing))?;
    }
    Ok(())
}

/// Adds a remedy to an error at something in a dump that the server does not know. The client
/// begins its message with the code: `ERROR 1273 (HY000) at line 25: ...`.
fn explained(error: EngineError, dump: &NamedFile, target: &ServerVersion) -> EngineError {
    let EngineError::Engine { doing, message } = error else { return error };
    let codes = message.split("ERROR ").skip(1);
    let mut codes = codes.filter_map(|rest| rest.split_once(" (")?.0.parse::<u32>().ok());
    if !codes.any(|code| UNKNOWN.contains(&code)) {
        return EngineError::Engine { doing, message };
    }
    let source = dumped_version(&dump.place());
    let of = source.as_ref().map_or_else(String::new, |source| format!(" of {source}"));
    let restore =
        source.filter(|source| !source.is_same_series(target)).map_or_else(String::new, |source| {
            format!("Restore on {source}: install it or set target.bindir to its folder. Or ")
        });
    let remedy = if restore.is_empty() { "Remove" } else { "remove" };
    let message = format!(
        "{message}\n{target} does not know this part of the dump{of}. {restore}{remedy} it from \
         the dump."
    );
    EngineError::Engine { doing, message }
}

/// Asks over a connection of its own whether a session in our database works, and waits for no
/// lock. A server that does not answer is as good as silent.
fn is_working(config: &Config) -> bool {
    let limit = ANSWER.min(work::silence_max());
    let config = config.clone().with_timeout(limit);
    let found = Client::connect(&config).and_then(|mut client| {
        client.set_answer_timeout(Some(limit));
        client.cell(&format!(
            "SELECT count(*) FROM information_schema.processlist WHERE db = '{DATABASE}' AND \
             command NOT IN ('Sleep', 'Daemon') AND id <> connection_id() AND coalesce(state, '') \
             NOT LIKE 'Waiting for % lock'"
        ))
    });
    found.is_ok_and(|count| count.is_some_and(|count| count != "0"))
}

/// The `mariadb` client.
struct Program<'a> {
    path: PathBuf,
    /// The version of the server.
    version: ServerVersion,
    config: &'a Config,
    /// `None`: to a private server, which may have the files that `LOAD DATA LOCAL` names.
    relay: Option<Relay>,
    cancel: &'a Cancel,
}

impl Program<'_> {
    /// Runs a file, which ends at its first error. Its variables are user variables: `@name`.
    fn run(&self, file: &NamedFile, variables: &[(String, String)]) -> Result<()> {
        let doing = format!("running {}", file.path);
        let set: Vec<String> = variables
            .iter()
            .map(|(name, value)| format!("@{name} = {}", quote_literal(value)))
            .collect();
        // No shell: a path is not interpreted.
        let mut client = command(&self.path, &file.folder);
        client.args(["--no-defaults", "--batch", "--silent"]);
        client.arg(format!("--user={}", self.config.user));
        client.arg(format!("--local-infile={}", u8::from(self.relay.is_none())));
        let environment = self.config.client_environment().into_iter();
        match &self.relay {
            Some(relay) => client.arg(format!("--socket={}", relay.socket().display())),
            None => client.envs(environment.filter_map(|(name, value)| Some((name, value?)))),
        };
        if !set.is_empty() {
            client.arg(format!("--init-command=SET {}", set.join(", ")));
        }
        client.arg(DATABASE);
        let place = file.place();
        let input = File::open(&place).map_err(EngineError::at(&place))?;
        let stop = self.cancel.stop();
        servers::command::run_long(client, input.into(), &doing, &|| is_working(self.config), &stop)
    }
}
