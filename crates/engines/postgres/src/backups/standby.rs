//! A standby that is restored from a base backup of a private server.

use super::source::{SLOT, Source, connect};
use crate::client::{Client, Config};
use crate::failed_at;
use engine::EngineError;
use rustix::process::Signal;
use servers::account::command;
use servers::files::{Layout, last_lines, log_since, make_socket_folder, remove_socket_folder};
use servers::private::Product as _;
use servers::process::Process;
use servers::wait_for;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::time::Duration;
use work::Cancel;

/// The time that its start, its recovery and catching up may take each.
const PATIENCE: Duration = Duration::from_secs(600);
/// The time that it may take to end.
const STOPPING: Duration = Duration::from_secs(30);
/// Lines of its log in errors.
const LOG_LINES: usize = 20;
const PORT: u16 = 5432;

/// A standby that runs; dropping it stops it and removes the folder of its sockets.
pub struct Standby {
    process: Process,
    layout: Layout,
    config: Config,
}

impl Standby {
    /// Starts a server on the data directory of this layout, which follows the source.
    pub fn start(source: &Source, layout: Layout, cancel: &Cancel) -> Result<Self, EngineError> {
        let sockets = make_socket_folder(&layout, &source.account)?;
        let settings = layout.data.join("postgresql.auto.conf");
        let host = source.config.client_environment();
        let host = host.into_iter().find(|(name, _)| name == "PGHOST");
        let host = host.and_then(|(_, value)| value).unwrap_or_default();
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('\'', "''");
        let lines = format!(
            "\nlisten_addresses = ''\nport = {PORT}\nunix_socket_directories = \
             '\"{}\"'\nprimary_conninfo = 'host=''{}'' port={PORT} user={}'\nprimary_slot_name = \
             '{SLOT}'\nhot_standby = on\narchive_mode = off\n",
            quoted(&sockets.to_string_lossy()),
            quoted(&quoted(&host)),
            source.config.user,
        );
        let written = OpenOptions::new().append(true).open(&settings);
        let written = written.and_then(|mut file| file.write_all(lines.as_bytes()));
        written.map_err(EngineError::at(&settings))?;
        source.account.write(&layout.data.join("standby.signal"), "")?;
        let log = File::create(&layout.log).map_err(EngineError::at(&layout.log))?;
        let errors = log.try_clone().map_err(EngineError::at(&layout.log))?;
        let mut program = command(&source.product.program());
        program.arg("-D").arg(&layout.data).stdout(log).stderr(errors);
        let process =
            Process::start(program, &source.account, &[], Signal::QUIT).map_err(|error| {
                EngineError::failed("starting the restored server", error.to_string())
            })?;
        let config = Config::unix(&sockets, PORT, &source.config.user, &source.config.database);
        let own = Self { process, layout, config };
        own.connected(cancel).map(drop)?;
        Ok(own)
    }

    /// Connects as soon as it answers.
    pub fn connected(&self, cancel: &Cancel) -> Result<Client, EngineError> {
        let found = wait_for(PATIENCE, cancel, || match connect(&self.config, cancel) {
            Ok(client) => Ok(Some(client)),
            Err(EngineError::Cancelled) => Err(EngineError::Cancelled),
            Err(error) if self.process.ended().is_some() => {
                Err(self.failed(&format!("it has ended: {error}")))
            }
            Err(_) => Ok(None),
        })?;
        found.ok_or_else(|| self.failed("it does not answer"))
    }

    /// Waits until it has replayed the log up to here.
    pub fn catch_up(
        &self,
        client: &mut Client,
        position: &str,
        cancel: &Cancel,
    ) -> Result<(), EngineError> {
        let sql = format!("SELECT pg_last_wal_replay_lsn() >= '{position}'::pg_lsn");
        let done = wait_for(PATIENCE, cancel, || {
            let reached = client.cell(&sql).map_err(failed_at("catching up"))?;
            Ok((reached.as_deref() == Some("t")).then_some(()))
        })?;
        done.ok_or_else(|| self.failed("it does not catch up"))
    }

    fn failed(&self, why: &str) -> EngineError {
        let log = last_lines(&log_since(&self.layout.log, 0), LOG_LINES);
        EngineError::failed("the restored server", format!("{why}; its log ends with:\n{log}"))
    }

    /// Stops it.
    pub fn stop(self) -> Result<(), EngineError> {
        self.process.signal(Signal::INT);
        if !self.process.wait(STOPPING, &Cancel::new()) {
            return Err(self.failed("it does not stop"));
        }
        Ok(())
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        self.process.signal(Signal::QUIT);
        self.process.wait(STOPPING, &Cancel::new());
        // Best effort: what remains is removed with its marked folder.
        let _ = remove_socket_folder(&self.layout);
    }
}
