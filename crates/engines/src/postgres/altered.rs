//! Settings of a server by URL that no session may set, where the user permits it: `ALTER SYSTEM`, a reload or the
//! user's own command for a restart. What `postgresql.auto.conf` held is written to a record in our folder for what is kept
//! before anything is changed, and put back from it: when the run ends, or by the next run on that server after a kill,
//! whatever its experiment and its results file.

use super::admin::take_again;
use super::host::patient;
use super::server::settings::{Known, check, load_time, read_back};
use super::settings::{ALLOW_RESTART, ALLOW_SERVER_SETTINGS, URL, server_settings};
use super::{failed_at, is_local};
use crate::private::wait_for;
use crate::{Cancel, EngineError, cache, command};
use experiment::Configuration;
use observe::ProcessTimes;
use pgclient::{Client, Config, quote_identifier, quote_literal};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{DirBuilder, File};
use std::io::Write as _;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Where `ALTER SYSTEM` writes to.
const AUTO_CONF: &str = "postgresql.auto.conf";

/// How the names of records begin and end.
const RECORD: (&str, &str) = ("server-settings-", ".json");

/// How long the server may take to load its files, and to end and start.
const RELOAD: Duration = Duration::from_secs(30);
const RESTART: Duration = Duration::from_secs(300);

/// How long another run may hold the database.
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

/// What a server had before we changed it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Record {
    /// Host, port, user and database, as the run named them that changed the server.
    server: String,
    /// That run's folder for trials, and its process.
    run: PathBuf,
    owner: Process,
    /// Its data directory, if it is on this machine.
    data_directory: Option<PathBuf>,
    /// The values in `postgresql.auto.conf`; none where it did not have the setting.
    before: BTreeMap<String, Option<String>>,
}

/// A process and when it began, in clock ticks after boot: another one may have its number later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Process {
    pid: i32,
    started_ticks: u64,
}

/// A server whose settings may be changed.
struct Altered {
    config: Config,
    restart: Option<String>,
    /// Where the record is, once there is one.
    path: PathBuf,
    record: Record,
    cancel: Cancel,
}

/// Brings a server by URL to those settings of a configuration that no session may set, and all others that we have
/// changed to what they were; records first what was there before, and `run`, the folder of the run. Returns the settings
/// that are left to sessions.
///
/// # Errors
/// When the server refuses, a restart is needed and not permitted or fails, or a value is not in force afterwards.
pub fn apply(
    run: &Path,
    config: &Config,
    configuration: &Configuration,
    cancel: &Cancel,
) -> Result<BTreeMap<String, String>, EngineError> {
    let mut client = connect(config, cancel)?;
    let path = place(&mut client)?;
    let new = || {
        let (server, before) = (config.to_string(), BTreeMap::new());
        Record { server, run: run.to_owned(), owner: Process::ours(), data_directory: None, before }
    };
    let record = if path.exists() { read(&path)? } else { new() };
    record.verify_unused()?;
    let mut altered = Altered::of(config, configuration, path, record, cancel);
    let known = Known::read(&mut client, AUTO_CONF)?;
    let wanted = server_settings(configuration).into_iter();
    let wanted: BTreeMap<String, String> = wanted.map(|(name, value)| (name.to_lowercase(), value)).collect();
    let only_files = |name: &String| {
        known.get(name).is_some_and(|known| ["postmaster", "sighup"].contains(&known.context.as_str()))
    };
    let (of_server, of_sessions): (BTreeMap<_, _>, BTreeMap<_, _>) =
        wanted.into_iter().partition(|(name, _)| only_files(name));
    check(&of_server, &known, client.server_version() / 10_000)?;
    altered.verify_permitted(&of_server, &known)?;
    let target = |record: &Record| -> BTreeMap<String, Option<String>> {
        let before = record.before.clone().into_iter();
        before.chain(of_server.clone().into_iter().map(|(name, value)| (name, Some(value)))).collect()
    };
    if of_server.is_empty() && altered.record.before.is_empty() {
        return Ok(of_sessions);
    }
    altered.note(of_server.keys(), &mut client)?;
    altered.change_to(&target(&altered.record), client)?;
    read_back(&of_server, &Known::read(&mut altered.connect()?, AUTO_CONF)?)?;
    Ok(of_sessions)
}

/// Puts back what the records say of the servers that these configurations name and may change. Returns a sentence for
/// each server. `run`: the folder of the run.
///
/// # Errors
/// When a server is not as it was, with what to do and where the record is.
pub fn put_back(run: &Path, configurations: &[&Configuration]) -> Result<Vec<String>, EngineError> {
    let mut done = Vec::new();
    for path in records() {
        let record = read(&path)?;
        let by_hand: Vec<String> =
            record.before.iter().map(|(name, value)| alter(name, value.as_deref())).collect();
        let failed = |error: &dyn std::fmt::Display| {
            let message = format!(
                "{error}\nThe record of what they were is {}. Run an experiment that may, or put them back by hand, restart \
                 the server and remove the record:\n{}",
                path.display(),
                by_hand.join(";\n")
            );
            EngineError::failed(format!("putting back the settings of {}", record.server), message)
        };
        let naming = naming(&record, &path, configurations);
        if naming.is_empty() && record.run != run {
            continue;
        }
        record.verify_unused()?;
        let Some((configuration, config)) = naming.into_iter().find(|(naming, _)| is_permitted(naming))
        else {
            return Err(failed(&"no configuration names this server and may change its settings"));
        };
        let names: Vec<&str> = record.before.keys().map(String::as_str).collect();
        let told = format!("{} has its settings back: {}", record.server, names.join(", "));
        // Also when the run was asked to stop: each step has an end.
        let altered = Altered::of(&config, configuration, path.clone(), record.clone(), &Cancel::new());
        altered.put_back().map_err(|error| failed(&error))?;
        std::fs::remove_file(&path).map_err(EngineError::at(&path))?;
        done.push(told);
    }
    Ok(done)
}

/// The configurations that name the server of a record, with how to reach it: by the same words, or by others that lead
/// to it.
fn naming<'c>(
    record: &Record,
    path: &Path,
    configurations: &[&'c Configuration],
) -> Vec<(&'c Configuration, Config)> {
    let mut known: BTreeMap<String, bool> = BTreeMap::new();
    let named = configurations.iter().filter_map(|configuration| {
        let config = patient(Config::parse(&configuration.get(URL)?).ok()?);
        let server = config.to_string();
        let is_it = *known.entry(server).or_insert_with_key(|server| {
            // One that does not answer is known by its words alone.
            let place_of = || Client::connect(&config).ok().and_then(|mut client| place(&mut client).ok());
            *server == record.server || place_of().is_some_and(|place| place == path)
        });
        is_it.then_some((*configuration, config))
    });
    named.collect()
}

/// Whether a configuration lets us change the settings of its server.
pub fn is_permitted(configuration: &Configuration) -> bool {
    configuration.get(ALLOW_SERVER_SETTINGS) == Some(true)
}

/// Where the record of a server is, whoever asks for it and by whatever name: its cluster has a number of its own, which
/// copies on other ports have too.
fn place(client: &mut Client) -> Result<PathBuf, EngineError> {
    let sql = "SELECT system_identifier || '-' || current_setting('port') FROM pg_control_system()";
    let server = client.cell(sql).map_err(failed_at("asking which server it is"))?.unwrap_or_default();
    Ok(folder()?.join(format!("{}{server}{}", RECORD.0, RECORD.1)))
}

/// The folder of records: nobody else's affair.
fn folder() -> Result<PathBuf, EngineError> {
    let folder = servers();
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(EngineError::at(&folder))?;
    Ok(folder)
}

fn servers() -> PathBuf {
    cache::state().join("servers")
}

fn records() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(servers()).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut records: Vec<PathBuf> = entries
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(RECORD.0) && name.ends_with(RECORD.1)
        })
        .collect();
    records.sort();
    records
}

/// Connects, and keeps other runs out of the database meanwhile.
fn connect(config: &Config, cancel: &Cancel) -> Result<Client, EngineError> {
    let mut client =
        Client::connect(&config.clone().with_stop(cancel.stop())).map_err(failed_at("connecting"))?;
    client.set_stop(cancel.stop(), Duration::ZERO);
    take_again(&mut client, HELD_MAX, cancel)?;
    Ok(client)
}

impl Record {
    /// Makes sure that no other run works with the settings that it has changed.
    fn verify_unused(&self) -> Result<(), EngineError> {
        if self.owner == Process::ours() || !self.owner.is_alive() {
            return Ok(());
        }
        let (pid, run) = (self.owner.pid, self.run.display());
        let message = format!("another run has changed them and goes on (process {pid}, {run}): wait for it");
        Err(EngineError::failed(format!("changing the settings of {}", self.server), message))
    }
}

impl Process {
    fn ours() -> Self {
        let pid = std::process::id() as i32;
        Self { pid, started_ticks: ProcessTimes::of(pid).map_or(0, |times| times.started_ticks) }
    }

    fn is_alive(self) -> bool {
        ProcessTimes::of(self.pid).is_some_and(|times| times.started_ticks == self.started_ticks)
    }
}

fn read(path: &Path) -> Result<Record, EngineError> {
    let text = std::fs::read_to_string(path).map_err(EngineError::at(path))?;
    let doing = || format!("reading the record of a server's settings, {}", path.display());
    serde_json::from_str(&text).map_err(|error| EngineError::failed(doing(), error.to_string()))
}

impl Altered {
    fn of(
        config: &Config,
        configuration: &Configuration,
        path: PathBuf,
        record: Record,
        cancel: &Cancel,
    ) -> Self {
        let (config, restart) = (config.clone(), configuration.get(ALLOW_RESTART));
        Self { config, restart, path, record, cancel: cancel.clone() }
    }

    fn connect(&self) -> Result<Client, EngineError> {
        connect(&self.config, &self.cancel)
    }

    fn verify_permitted(
        &self,
        wanted: &BTreeMap<String, String>,
        known: &BTreeMap<String, Known>,
    ) -> Result<(), EngineError> {
        let needs_restart =
            |name: &&String| known.get(*name).is_some_and(|known| known.context == "postmaster");
        let Some(name) = wanted.keys().find(needs_restart) else { return Ok(()) };
        let setting = format!("target.settings.{name}");
        if self.restart.is_none() {
            let message =
                "needs a restart of the server; permit it by target.allow_restart, the command that does it";
            return Err(EngineError::failed(setting, message));
        }
        // Another's change would come into force with ours.
        let others = |(name, known): &(&String, &Known)| {
            known.pending_restart && !self.record.before.contains_key(*name)
        };
        match known.iter().find(others) {
            Some((other, _)) => {
                let message = format!(
                    "needs a restart, which would bring a change of {other} into force that somebody else has made; \
                     restart the server first"
                );
                Err(EngineError::failed(setting, message))
            }
            None => Ok(()),
        }
    }

    /// Records what stands in the server's file for these settings, as far as we have not done so before we changed
    /// them.
    fn note<'a>(
        &mut self,
        names: impl Iterator<Item = &'a String>,
        client: &mut Client,
    ) -> Result<(), EngineError> {
        let now = in_file(client)?;
        let new: Vec<&String> = names.filter(|name| !self.record.before.contains_key(*name)).collect();
        if new.is_empty() {
            return Ok(());
        }
        for name in new {
            let before = now.get(name).cloned();
            if LISTS.contains(&name.as_str())
                && before.as_ref().is_some_and(|value| elements(value).is_empty())
            {
                let message =
                    "stands as an empty list in postgresql.auto.conf, which ALTER SYSTEM could not put back";
                return Err(EngineError::failed(format!("target.settings.{name}"), message));
            }
            self.record.before.insert(name.clone(), before);
        }
        if is_local(client, &self.config.user) {
            let directory = client.cell("SHOW data_directory").map_err(failed_at("SHOW data_directory"))?;
            self.record.data_directory = directory.map(PathBuf::from);
        }
        self.save()
    }

    /// Writes the record beside its place, to the disk, and renames: what is there is complete, also after a crash.
    fn save(&self) -> Result<(), EngineError> {
        let unfinished = self.path.with_extension("new");
        let text = serde_json::to_string_pretty(&self.record).unwrap_or_default();
        let written = File::create(&unfinished).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&unfinished, &self.path)?;
            self.path.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
        });
        written.map_err(EngineError::at(&self.path))
    }

    /// Brings the server's file to these values, and the server to its file.
    fn change_to(
        &self,
        target: &BTreeMap<String, Option<String>>,
        mut client: Client,
    ) -> Result<(), EngineError> {
        let now = in_file(&mut client)?;
        let differ = target.iter().filter(|(name, value)| !is_same(name, now.get(*name), value.as_ref()));
        let statements: Vec<String> = differ.map(|(name, value)| alter(name, value.as_deref())).collect();
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
        let late = || EngineError::failed("loading the server's settings", "the server does not load them");
        let mut client = loaded.ok_or_else(late)?;
        if self.awaits_restart(&mut client)? {
            return self.restart(Some(client));
        }
        Ok(())
    }

    /// Whether a setting of the record has another value in the server than in its files.
    fn awaits_restart(&self, client: &mut Client) -> Result<bool, EngineError> {
        let known = Known::read(client, AUTO_CONF)?;
        Ok(self.record.before.keys().any(|name| known.get(name).is_some_and(|known| known.pending_restart)))
    }

    /// Restarts the server by the user's command, to its end also when somebody asks to stop.
    fn restart(&self, client: Option<Client>) -> Result<(), EngineError> {
        let Some(text) = &self.restart else {
            let message = "the server needs one; permit it by target.allow_restart";
            return Err(EngineError::failed("restarting the server", message));
        };
        let before = client.map(|mut client| started(&mut client)).transpose()?;
        let doing = format!("restarting the server: {}", observations::redacted(text));
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(text);
        command::run(shell, &doing, RESTART, &Cancel::new())?;
        let mut refused = None;
        let client = wait_for(RESTART, &Cancel::new(), || {
            let connected = Client::connect(&self.config);
            Ok(connected.map_err(|error| refused = Some(error.to_string())).ok())
        })?;
        let Some(mut client) = client else {
            let refused = refused.unwrap_or_default();
            let message = format!("it does not accept connections {} s later: {refused}", RESTART.as_secs());
            return Err(EngineError::failed(doing, message));
        };
        let now = started(&mut client)?;
        if before.as_ref() == Some(&now) {
            let message = format!("the command succeeded, but the server has run since {now}");
            return Err(EngineError::failed(doing, message));
        }
        Ok(())
    }

    /// Brings the server back to its record.
    fn put_back(self) -> Result<(), EngineError> {
        let client = match self.connect() {
            Ok(client) => client,
            // With what we have set it may not start.
            Err(error) if self.revive()? => self.connect().map_err(|_| error)?,
            Err(error) => return Err(error),
        };
        self.change_to(&self.record.before, client)?;
        let now = in_file(&mut self.connect()?)?;
        let other =
            self.record.before.iter().find(|(name, value)| !is_same(name, now.get(*name), value.as_ref()));
        match other {
            Some((name, value)) => Err(EngineError::SettingIgnored {
                setting: name.clone(),
                wanted: value.clone().unwrap_or_else(|| "nothing in postgresql.auto.conf".into()),
                got: now.get(name).cloned().unwrap_or_else(|| "nothing".into()),
            }),
            None => Ok(()),
        }
    }

    /// Writes the recorded values into the file of a server of this machine that does not run, and starts it. Whether
    /// that was possible.
    fn revive(&self) -> Result<bool, EngineError> {
        let Some(directory) = &self.record.data_directory else { return Ok(false) };
        let path = directory.join(AUTO_CONF);
        let runs = directory.join("postmaster.pid").exists();
        let Ok(text) = std::fs::read_to_string(&path).map_err(drop) else { return Ok(false) };
        if runs || self.restart.is_none() {
            return Ok(false);
        }
        let is_ours = |line: &&str| {
            let name = line.split('=').next().unwrap_or_default().trim().to_lowercase();
            self.record.before.contains_key(&name)
        };
        let mut lines: Vec<String> = text.lines().filter(|line| !is_ours(line)).map(str::to_owned).collect();
        let before = self.record.before.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
        lines.extend(before.map(|(name, value)| super::server::settings::line(name, value)));
        // In place: its owner and its mode stay.
        std::fs::write(&path, lines.join("\n") + "\n").map_err(EngineError::at(&path))?;
        self.restart(None).map(|()| true)
    }
}

fn started(client: &mut Client) -> Result<String, EngineError> {
    let doing = "asking when the server was started";
    let time = client.cell("SELECT pg_postmaster_start_time()::text").map_err(failed_at(doing))?;
    Ok(time.unwrap_or_default())
}

/// What `postgresql.auto.conf` holds, by names in lower case.
fn in_file(client: &mut Client) -> Result<BTreeMap<String, String>, EngineError> {
    let sql = "SELECT lower(name), setting FROM pg_file_settings \
               WHERE name IS NOT NULL AND sourcefile LIKE '%/postgresql.auto.conf' ORDER BY seqno";
    let doing = "reading pg_file_settings, for which the role must be a superuser or have been granted it";
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
            let elements: Vec<String> = elements(value).iter().map(|one| quote_literal(one)).collect();
            let elements = if elements.is_empty() { "''".into() } else { elements.join(", ") };
            format!("ALTER SYSTEM SET {quoted} = {elements}")
        }
        Some(value) => format!("ALTER SYSTEM SET {quoted} = {}", quote_literal(value)),
    }
}

fn is_same(name: &str, now: Option<&String>, wanted: Option<&String>) -> bool {
    match (now, wanted) {
        (Some(now), Some(wanted)) if LISTS.contains(&name) => elements(now) == elements(wanted),
        (now, wanted) => now == wanted,
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
        assert_eq!(sql, "ALTER SYSTEM SET \"shared_preload_libraries\" = 'auto_explain', '$libdir/x'");
        assert_eq!(alter("work_mem", Some("4MB")), "ALTER SYSTEM SET \"work_mem\" = '4MB'");
        assert_eq!(
            alter("auto_explain.log_analyze", None),
            "ALTER SYSTEM RESET \"auto_explain\".\"log_analyze\""
        );
    }
}
