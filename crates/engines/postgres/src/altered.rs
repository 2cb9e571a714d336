//! Settings of a server by URL that no session may set, where the user permits it: `ALTER SYSTEM`,
//! a reload or the user's own command for a restart. What `postgresql.auto.conf` held is recorded
//! before anything is changed, and put back ([`servers::altered`]).

use super::admin::{drop_left, take_again};
use super::connecting::{is_local, stoppable};
use super::errors::failed_at;
use super::own_database;
use super::postgres::Postgres;
use super::server::settings::{SettingRow, check, in_lower_case, load_time, read_back};
use crate::client::{Client, Config, quote_identifier, quote_literal};
use engine::{EngineError, Result, wait_for};
use experiment::Configuration;
use serde::{Deserialize, Serialize};
use servers::altered::{self, ALLOW_RESTART, Alter, Change, NEEDS_RESTART, Scope, restart};
use servers::private::Settings;
use servers::settings::path;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use work::Cancel;

/// Where `ALTER SYSTEM` writes to.
const AUTO_CONF: &str = "postgresql.auto.conf";

/// The time that the server may take to load its files.
const RELOAD: Duration = Duration::from_secs(30);

/// The time that another run may hold the database.
const HELD_MAX: Duration = Duration::from_secs(20);

/// Settings whose values are lists of names, each quoted by itself: `variable_is_guc_list_quote` in
/// `bin/pg_dump/dumputils.c`.
const LISTS: [&str; 7] = [
    "local_preload_libraries",
    "search_path",
    "session_preload_libraries",
    "shared_preload_libraries",
    "temp_tablespaces",
    "unix_socket_directories",
    "restrict_nonsystem_relation_kind",
];

/// Further notes of a record.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Notes {
    /// The data directory, if it is on this machine.
    data_directory: Option<PathBuf>,
}

/// The values are those in `postgresql.auto.conf`.
type Record = altered::Record<Notes>;

impl Alter for Postgres {
    type Notes = Notes;
    const RECORDS: &'static str = "server-settings-";

    /// The number of its cluster, which copies on other ports have too, and the port.
    fn identity(client: &mut Client) -> Result<String> {
        let sql = "SELECT system_identifier || '-' || current_setting('port') FROM \
                   pg_control_system()";
        Ok(client.cell(sql).map_err(failed_at("identifying the server"))?.unwrap_or_default())
    }

    fn alter(config: &Config, change: &Change<'_>) -> Result<Settings> {
        let mut client = connect(config, change.cancel)?;
        let path = altered::place::<Self>(&mut client)?;
        let record = Record::open(&path, config, change.run)?;
        let mut altered = Altered::new(config, change.configuration, record, change.cancel);
        let known = SettingRow::read(&mut client, AUTO_CONF)?;
        let (of_server, of_sessions): (Settings, Settings) =
            in_lower_case(change.settings).into_iter().partition(|(name, _)| {
                known
                    .get(name)
                    .is_some_and(|known| change.scope == Scope::Everyone || known.is_of_server())
            });
        check(&of_server, &known, client.server_version() / 10_000)?;
        altered.verify_permitted(&of_server, &known)?;
        if of_server.is_empty() && altered.record.before.is_empty() {
            return Ok(of_sessions);
        }
        altered.note(&path, of_server.keys(), &mut client)?;
        let before = altered.record.before.clone().into_iter();
        let ours = of_server.clone().into_iter().map(|(name, value)| (name, Some(value)));
        altered.change_to(&before.chain(ours).collect(), client)?;
        read_back(&of_server, &SettingRow::read(&mut altered.connect()?, AUTO_CONF)?)?;
        Ok(of_sessions)
    }

    fn by_hand(record: &Record) -> String {
        let statements = record.before.iter().map(|(name, value)| alter(name, value.as_deref()));
        statements.collect::<Vec<_>>().join(";\n")
    }

    fn put_back(config: &Config, configuration: &Configuration, record: &Record) -> Result<()> {
        Altered::new(config, configuration, record.clone(), &Cancel::new()).put_back()
    }

    fn drop_databases(run: &Path, configurations: &[&Configuration]) -> Result<Vec<String>> {
        own_database::drop_all(run, configurations)
    }

    fn drop_schema(config: &Config) -> Result<bool> {
        drop_left(config)
    }
}

/// A server whose settings may be changed.
struct Altered {
    config: Config,
    restart: Option<String>,
    record: Record,
    cancel: Cancel,
}

/// Connects, and locks the database against other runs while connected.
fn connect(config: &Config, cancel: &Cancel) -> Result<Client> {
    let mut client = stoppable(config, &cancel.stop()).map_err(failed_at("connecting"))?;
    take_again(&mut client, HELD_MAX, cancel)?;
    Ok(client)
}

impl Altered {
    fn new(
        config: &Config,
        configuration: &Configuration,
        record: Record,
        cancel: &Cancel,
    ) -> Self {
        let (config, restart) = (config.clone(), configuration.get(ALLOW_RESTART));
        Self { config, restart, record, cancel: cancel.clone() }
    }

    fn connect(&self) -> Result<Client> {
        connect(&self.config, &self.cancel)
    }

    fn verify_permitted(
        &self,
        settings: &BTreeMap<String, String>,
        known: &BTreeMap<String, SettingRow>,
    ) -> Result<()> {
        let Some(name) = settings
            .keys()
            .find(|name| known.get(*name).is_some_and(|known| known.context == "postmaster"))
        else {
            return Ok(());
        };
        let setting = path(name);
        if self.restart.is_none() {
            return Err(EngineError::failed(setting, NEEDS_RESTART));
        }
        // Another's change would come into force with ours.
        let other = known
            .iter()
            .find(|(name, known)| known.pending_restart && !self.record.before.contains_key(*name));
        match other {
            Some((other, _)) => {
                let message = format!(
                    "needs a restart, which would also apply a pending change of {other} made by \
                     another user; restart the server first"
                );
                Err(EngineError::failed(setting, message))
            }
            None => Ok(()),
        }
    }

    /// Records the values of these settings in the server's file, unless we have changed them
    /// already.
    fn note<'a>(
        &mut self,
        place: &Path,
        names: impl Iterator<Item = &'a String>,
        client: &mut Client,
    ) -> Result<()> {
        let now = in_file(client)?;
        let new: Vec<&String> =
            names.filter(|name| !self.record.before.contains_key(*name)).collect();
        if new.is_empty() {
            return Ok(());
        }
        for name in new {
            let before = now.get(name).cloned();
            if LISTS.contains(&name.as_str())
                && before.as_ref().is_some_and(|value| elements(value).is_empty())
            {
                let message = "is an empty list in postgresql.auto.conf, which ALTER SYSTEM \
                               cannot restore";
                return Err(EngineError::failed(path(name), message));
            }
            self.record.before.insert(name.clone(), before);
        }
        if is_local(client, &self.config.user) {
            let directory =
                client.cell("SHOW data_directory").map_err(failed_at("SHOW data_directory"))?;
            self.record.notes.data_directory = directory.map(PathBuf::from);
        }
        self.record.save(place)
    }

    /// Brings the server's file to these values, and the server to its file.
    fn change_to(
        &self,
        target: &BTreeMap<String, Option<String>>,
        mut client: Client,
    ) -> Result<()> {
        let now = in_file(&mut client)?;
        let differ =
            target.iter().filter(|(name, value)| !is_same(name, now.get(*name), value.as_ref()));
        let statements: Vec<String> =
            differ.map(|(name, value)| alter(name, value.as_deref())).collect();
        if statements.is_empty() && !self.awaits_restart(&mut client)? {
            return Ok(());
        }
        let before = load_time(&mut client)?;
        for sql in &statements {
            client.batch(sql).map_err(failed_at(sql))?;
        }
        client.cell("SELECT pg_reload_conf()").map_err(failed_at("SELECT pg_reload_conf()"))?;
        drop(client);
        // A connection made after the first process has loaded the files has what they say.
        let loaded = wait_for(RELOAD, &self.cancel, || {
            let mut client = self.connect()?;
            Ok((load_time(&mut client)? != before).then_some(client))
        })?;
        let mut client = loaded.ok_or_else(|| {
            EngineError::failed(
                "reloading the server's configuration",
                "the server did not reload it",
            )
        })?;
        if self.awaits_restart(&mut client)? {
            return self.restart(Some(client));
        }
        Ok(())
    }

    /// Returns whether a recorded setting has another value in the server than in its files.
    fn awaits_restart(&self, client: &mut Client) -> Result<bool> {
        let known = SettingRow::read(client, AUTO_CONF)?;
        Ok(self
            .record
            .before
            .keys()
            .any(|name| known.get(name).is_some_and(|known| known.pending_restart)))
    }

    /// Restarts the server by the user's command.
    fn restart(&self, client: Option<Client>) -> Result<()> {
        let before = client.map(|mut client| started(&mut client)).transpose()?;
        restart(self.restart.as_deref(), before.as_deref(), || {
            let mut client = Client::connect(&self.config)?;
            Ok(started(&mut client)?)
        })
    }

    /// Brings the server back to its record.
    fn put_back(self) -> Result<()> {
        let client = match self.connect() {
            Ok(client) => client,
            // With what we have set it may not start.
            Err(error) if self.revive()? => self.connect().map_err(|_| error)?,
            Err(error) => return Err(error),
        };
        self.change_to(&self.record.before, client)?;
        let now = in_file(&mut self.connect()?)?;
        let other = self
            .record
            .before
            .iter()
            .find(|(name, value)| !is_same(name, now.get(*name), value.as_ref()));
        match other {
            Some((name, value)) => Err(EngineError::SettingIgnored {
                setting: name.clone(),
                expected: value
                    .clone()
                    .unwrap_or_else(|| "(no entry in postgresql.auto.conf)".into()),
                got: now.get(name).cloned().unwrap_or_else(|| "nothing".into()),
            }),
            None => Ok(()),
        }
    }

    /// Writes the recorded values into the file of a server of this machine that does not run, and
    /// starts it. Whether that was possible.
    fn revive(&self) -> Result<bool> {
        let Some(directory) = &self.record.notes.data_directory else { return Ok(false) };
        let path = directory.join(AUTO_CONF);
        let runs = directory.join("postmaster.pid").exists();
        let Ok(text) = std::fs::read_to_string(&path).map_err(drop) else { return Ok(false) };
        if runs || self.restart.is_none() {
            return Ok(false);
        }
        let others = text.lines().filter(|line| {
            let name = line.split('=').next().unwrap_or_default().trim().to_lowercase();
            !self.record.before.contains_key(&name)
        });
        let mut lines: Vec<String> = others.map(str::to_owned).collect();
        let before =
            self.record.before.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        lines.extend(before.map(|(name, value)| super::server::settings::line(name, value)));
        // In place: its owner and its mode stay.
        std::fs::write(&path, lines.join("\n") + "\n").map_err(EngineError::at(&path))?;
        self.restart(None).map(|()| true)
    }
}

fn started(client: &mut Client) -> Result<String> {
    let doing = "reading the server's start time";
    let time = client.cell("SELECT pg_postmaster_start_time()::text").map_err(failed_at(doing))?;
    Ok(time.unwrap_or_default())
}

/// Returns the content of `postgresql.auto.conf`, by names in lower case.
fn in_file(client: &mut Client) -> Result<BTreeMap<String, String>> {
    let sql = "SELECT lower(name), setting FROM pg_file_settings WHERE name IS NOT NULL AND \
               sourcefile LIKE '%/postgresql.auto.conf' ORDER BY seqno";
    let doing = "reading pg_file_settings (needs a superuser, or privileges on it and on \
         pg_show_all_file_settings())";
    let rows = client.query(sql, &[]).map_err(failed_at(doing))?;
    Ok(rows.iter().map(|row| (row.text(0), row.text(1))).collect())
}

fn alter(name: &str, value: Option<&str>) -> String {
    // The names of a module's settings have two parts.
    let quoted: Vec<String> = name.split('.').map(quote_identifier).collect();
    let quoted = quoted.join(".");
    match value {
        None => format!("ALTER SYSTEM RESET {quoted}"),
        Some(value) if LISTS.contains(&name) => {
            let elements: Vec<String> =
                elements(value).iter().map(|element| quote_literal(element)).collect();
            let elements = if elements.is_empty() { "''".into() } else { elements.join(", ") };
            format!("ALTER SYSTEM SET {quoted} = {elements}")
        }
        Some(value) => format!("ALTER SYSTEM SET {quoted} = {}", quote_literal(value)),
    }
}

fn is_same(name: &str, now: Option<&String>, text: Option<&String>) -> bool {
    match (now, text) {
        (Some(now), Some(text)) if LISTS.contains(&name) => elements(now) == elements(text),
        (now, text) => now == text,
    }
}

/// The names in a list; in double quotes, what separates them is their own.
fn elements(list: &str) -> Vec<String> {
    let (mut found, mut current, mut is_quoted) = (Vec::new(), String::new(), false);
    for c in list.chars() {
        match c {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => found.push(std::mem::take(&mut current)),
            c if c.is_whitespace() && !is_quoted => {}
            c => current.push(c),
        }
    }
    found.push(current);
    found.retain(|name| !name.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::{alter, elements};

    #[test]
    fn each_name_of_a_list_is_a_literal_of_its_own() {
        assert_eq!(elements("a, \"b c\",d"), ["a", "b c", "d"]);
        assert!(elements("").is_empty());
        let sql = alter("shared_preload_libraries", Some("auto_explain, \"$libdir/x\""));
        assert_eq!(
            sql,
            "ALTER SYSTEM SET \"shared_preload_libraries\" = 'auto_explain', '$libdir/x'"
        );
        assert_eq!(alter("work_mem", Some("4MB")), "ALTER SYSTEM SET \"work_mem\" = '4MB'");
        assert_eq!(
            alter("auto_explain.log_analyze", None),
            "ALTER SYSTEM RESET \"auto_explain\".\"log_analyze\""
        );
    }
}
