//! Tables of one's own: a dump and SQL that the `mariadb` client runs, which knows DELIMITER and
//! SOURCE, so that all is as it is there.

use crate::admin::DATABASE;
use crate::client::{Config, quote_identifier, quote_literal};
use crate::failed_at;
use engine::EngineError;
use engine::setup::{SETUP_DUMP, SETUP_SQL, Setup, first_bytes};
use experiment::NamedFile;
use rustix::process::Signal;
use servers::account::command;
use servers::process::end_with_us;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;
use work::Cancel;

/// How long the server may take to say whether it works for the client.
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
    let about = |message: &str| Err((SETUP_DUMP.path(), format!("{}: {message}", dump.path)));
    match first_bytes(&dump.place()).as_slice() {
        _ if dump.place().is_dir() => {
            about("is a folder; expected one SQL file written by mariadb-dump")
        }
        [0x1f, 0x8b, ..] | [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            about("it is compressed; decompress it first")
        }
        bytes if bytes.contains(&0) => about("not a mariadb-dump file"),
        _ => Ok(()),
    }
}

fn client() -> Result<PathBuf, EngineError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut found =
        CLIENTS.iter().flat_map(|name| places.iter().map(move |place| place.join(name)));
    found.find(|program| program.is_file()).ok_or_else(|| {
        let message = "it is not on the PATH; install the client program (Debian: mariadb-client)";
        EngineError::failed("looking for mariadb", message)
    })
}

/// Fills our database by the `mariadb` client.
///
/// # Errors
/// When it fails, with what it says, or a file has changed since the run was begun.
pub(crate) fn fill(config: &Config, setup: &Setup, cancel: &Cancel) -> Result<(), EngineError> {
    if let Some(dump) = &setup.dump {
        run(config, dump, &[], cancel)?;
    }
    setup.sql.iter().try_for_each(|file| run(config, file, &setup.variables, cancel))?;
    setup.verify_unchanged()?;
    // As the server itself would soon do it, in the midst of a measurement.
    let doing = "finishing the tables of target.setup";
    let mut client = crate::client::Client::connect(&config.clone().with_stop(cancel.stop()))
        .map_err(failed_at(doing))?;
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
    let asked = || {
        let config = config.clone().with_timeout(limit);
        let mut client = crate::client::Client::connect(&config)?;
        client.set_answer_timeout(Some(limit));
        client.cell(&format!(
            "SELECT count(*) FROM information_schema.processlist WHERE db = '{DATABASE}' AND \
             command NOT IN ('Sleep', 'Daemon') AND id <> connection_id() AND coalesce(state, '') \
             NOT LIKE 'Waiting for % lock'"
        ))
    };
    let found: Result<Option<String>, crate::client::Error> = asked();
    found.is_ok_and(|count| count.is_some_and(|count| count != "0"))
}

/// Runs a file, which ends at its first error. Its variables are user variables: `@name`.
fn run(
    config: &Config,
    file: &NamedFile,
    variables: &[(String, String)],
    cancel: &Cancel,
) -> Result<(), EngineError> {
    let doing = format!("running {}", file.path);
    let set: Vec<String> = variables
        .iter()
        .map(|(name, value)| format!("@{name} = {}", quote_literal(value)))
        .collect();
    let folder = if file.folder.as_os_str().is_empty() { Path::new(".") } else { &file.folder };
    // No shell: a path is not interpreted.
    let mut client = command(&client()?);
    client.args(config.client_options()).args(["--batch", "--silent", "--local-infile=1"]);
    if !set.is_empty() {
        client.arg(format!("--init-command=SET {}", set.join(", ")));
    }
    client.arg(DATABASE).current_dir(folder);
    for (name, value) in config.client_environment() {
        match value {
            Some(value) => client.env(name, value),
            None => client.env_remove(name),
        };
    }
    end_with_us(&mut client, Signal::KILL);
    let place = file.place();
    let input = File::open(&place).map_err(EngineError::at(&place))?;
    let works = || is_working(config);
    servers::command::run_long(client, input.into(), &doing, &works, &cancel.stop())
}
