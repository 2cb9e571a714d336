//! Tables of one's own: a dump and SQL that the `mariadb` client runs, which knows DELIMITER and
//! SOURCE, so that all is as it is there.

use crate::admin::DATABASE;
use crate::client::{Client, Config, quote_identifier, quote_literal};
use crate::errors::failed_at;
use engine::EngineError;
use engine::setup::{SETUP_DUMP, SETUP_SQL, Setup};
use experiment::NamedFile;
use helpers::Relay;
use helpers::dump::of_mariadb_dump;
use helpers::mysql::Mysql;
use helpers::program::command;
use std::fs::File;
use std::path::PathBuf;
use std::time::Duration;
use work::Cancel;

/// The time that the server may take to say whether it works for the client.
const ANSWER: Duration = Duration::from_secs(10);

/// The client, by its names of today and before.
const CLIENTS: [&str; 2] = ["mariadb", "mysql"];

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

fn client() -> Result<PathBuf, EngineError> {
    helpers::program::find(&CLIENTS, None, "mariadb-client")
}

/// Fills our database on a server by URL, on which our client logs in for the `mariadb` client: a
/// server can ask that for a password in cleartext, and for any file.
///
/// # Errors
/// As of [`fill`].
pub(crate) fn fill_by_url(
    config: &Config,
    setup: &Setup,
    cancel: &Cancel,
) -> Result<(), EngineError> {
    let config = config.clone().with_database(DATABASE).with_stop(cancel.stop());
    let client = Client::connect(&config).map_err(failed_at("connecting"))?;
    let upstream = config.clone();
    let stop = cancel.stop();
    let relay = Relay::start(Mysql::new(client.greeting(), move |login, over| {
        let config = Config { program: Some(login), ..upstream.clone() };
        let config = config.with_stop(stop.or(over));
        Client::connect(&config).map(Client::into_stream)
    }))?;
    fill_by(&Program { config: &config, relay: Some(relay), cancel }, setup)
}

/// Fills our database on a private server by the `mariadb` client.
///
/// # Errors
/// When it fails, with what it says, or a file has changed since the run was begun.
pub(crate) fn fill(config: &Config, setup: &Setup, cancel: &Cancel) -> Result<(), EngineError> {
    fill_by(&Program { config, relay: None, cancel }, setup)
}

fn fill_by(program: &Program<'_>, setup: &Setup) -> Result<(), EngineError> {
    let Program { config, cancel, .. } = *program;
    if let Some(dump) = &setup.dump {
        program.run(dump, &[])?;
    }
    setup.sql.iter().try_for_each(|file| program.run(file, &setup.variables))?;
    setup.verify_unchanged()?;
    // As the server itself would soon do it, in the midst of a measurement.
    let doing = "finishing the tables of target.setup";
    let mut client =
        Client::connect(&config.clone().with_stop(cancel.stop())).map_err(failed_at(doing))?;
    client.set_stop(cancel.stop());
    let sql = format!(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = '{DATABASE}' AND \
         table_type = 'BASE TABLE'"
    );
    for table in client.query(&sql).map_err(failed_at(doing))?.rows.into_iter().flatten().flatten()
    {
        let sql = format!("ANALYZE TABLE {DATABASE}.{}", quote_identifier(&table));
        client.run(&sql).map_err(failed_at(doing))?;
    }
    Ok(())
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
    config: &'a Config,
    /// `None`: to a private server, which may have the files that `LOAD DATA LOCAL` names.
    relay: Option<Relay>,
    cancel: &'a Cancel,
}

impl Program<'_> {
    /// Runs a file, which ends at its first error. Its variables are user variables: `@name`.
    fn run(&self, file: &NamedFile, variables: &[(String, String)]) -> Result<(), EngineError> {
        let doing = format!("running {}", file.path);
        let set: Vec<String> = variables
            .iter()
            .map(|(name, value)| format!("@{name} = {}", quote_literal(value)))
            .collect();
        // No shell: a path is not interpreted.
        let mut client = command(&client()?, &file.folder);
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
