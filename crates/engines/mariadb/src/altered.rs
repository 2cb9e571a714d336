//! Settings of a server by URL that no session may set, where the user permits it: `SET GLOBAL`,
//! and for variables that are fixed at start an option file of the server and the user's own
//! command for a restart. What the variables and the file held is recorded before anything is
//! changed, and put back ([`servers::altered`]).

use super::admin::{HELD_MAX, drop_left, hold};
use super::errors::failed_at;
use super::mariadb::MariaDb;
use super::server::variables::{self, Variable, is_in_force, option_line, read_back};
use super::settings::OPTION_FILE;
use crate::client::{Client, Config};
use engine::{EngineError, Result};
use experiment::Configuration;
use observations::fnv1a;
use serde::{Deserialize, Serialize};
use servers::altered::{self, ALLOW_RESTART, Alter, Change, NEEDS_RESTART, Scope, restart};
use servers::private::Settings;
use servers::settings::path;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use work::Cancel;

/// The group of an option file that MariaDB's and MySQL's servers read.
const GROUP: &str = "[mysqld]";

/// Notes of a record in addition to the values of variables.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Notes {
    /// When the server that was changed had been started, in seconds since 1970: one that has been
    /// started since has what its files say.
    started_s: String,
    option_file: Option<OptionFile>,
}

/// An option file as it was.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct OptionFile {
    path: PathBuf,
    /// `None`: there was none.
    text: Option<String>,
}

type Record = altered::Record<Notes>;
type Variables = BTreeMap<String, Variable>;

impl Alter for MariaDb {
    type Notes = Notes;
    const RECORDS: &'static str = "mariadb-settings-";

    fn identity(client: &mut Client) -> Result<String> {
        let sql = "SELECT concat(@@hostname, ' ', @@port, ' ', @@datadir)";
        let server = client.cell(sql).map_err(failed_at("identifying the server"))?;
        Ok(fnv1a(&server.unwrap_or_default()))
    }

    fn alter(config: &Config, change: &Change<'_>) -> Result<Settings> {
        let altered = Altered::new(config, change.configuration, change.cancel);
        let mut client = altered.connect()?;
        let known = Variable::read(&mut client)?;
        let (of_server, of_sessions): (Settings, Settings) =
            change.settings.clone().into_iter().partition(|(name, _)| {
                let everyone = change.scope == Scope::Everyone;
                known.get(name).is_some_and(|variable| everyone || variable.is_global())
            });
        let place = altered::place::<Self>(&mut client)?;
        let mut record = Record::open(&place, config, change.run)?;
        if of_server.is_empty() && record.before.is_empty() {
            return Ok(of_sessions);
        }
        let (of_file, while_it_runs): (Settings, Settings) =
            of_server.clone().into_iter().partition(|(name, _)| !known[name].is_dynamic());
        if let Some(name) = of_file.keys().next()
            && !altered.may_restart()
        {
            return Err(EngineError::failed(path(name), NEEDS_RESTART));
        }
        altered.note(&mut record, &of_server, &known, &mut client)?;
        record.save(&place)?;
        if altered.change_file(&record, &of_file, client)? {
            // What was set while it ran is gone: its record is of the server as it runs now.
            record.notes.started_s = started(&mut altered.connect()?)?;
            record.save(&place)?;
        }
        let mut client = altered.connect()?;
        let mut values_before = values_before(&record);
        values_before.extend(while_it_runs);
        set_all(&values_before, &mut client)?;
        read_back(&of_server, &Variable::read(&mut client)?)?;
        Ok(of_sessions)
    }

    fn by_hand(record: &Record) -> String {
        let file = record.notes.option_file.iter().map(|file| match &file.text {
            Some(_) => format!("restore the text of {} from that file", file.path.display()),
            None => format!("remove {}", file.path.display()),
        });
        let set = record
            .before
            .iter()
            .filter_map(|(name, value)| Some(set(name, None, value.as_deref()?)));
        file.chain(set).collect::<Vec<_>>().join(";\n")
    }

    fn put_back(config: &Config, configuration: &Configuration, record: &Record) -> Result<()> {
        Altered::new(config, configuration, &Cancel::new()).put_back(record)
    }

    fn drop_schema(config: &Config) -> Result<bool> {
        drop_left(config)
    }
}

/// A server whose settings may be changed.
struct Altered {
    config: Config,
    restart: Option<String>,
    option_file: Option<PathBuf>,
    cancel: Cancel,
}

/// When the server was started: both times are of one statement, so that it is always the same
/// number.
fn started(client: &mut Client) -> Result<String> {
    let status = variables::global_status(client);
    let sql = format!(
        "SELECT unix_timestamp() - variable_value FROM {status} WHERE variable_name = 'UPTIME'"
    );
    Ok(client.cell(&sql).map_err(failed_at("reading the server's start time"))?.unwrap_or_default())
}

fn set(name: &str, known: Option<&Variable>, value: &str) -> String {
    format!("SET GLOBAL {name} = {}", known.unwrap_or(&Variable::default()).literal(value))
}

fn values_before(record: &Record) -> Settings {
    record.before.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?))).collect()
}

/// Returns whether a variable that is fixed at start differs from the wanted value.
fn awaits_restart(settings: &Settings, client: &mut Client) -> Result<bool> {
    let known = Variable::read(client)?;
    Ok(settings.iter().any(|(name, value)| {
        known
            .get(name)
            .is_some_and(|variable| !variable.is_dynamic() && !is_in_force(name, value, variable))
    }))
}

/// Sets what differs, of what can be set while the server runs.
fn set_all(settings: &Settings, client: &mut Client) -> Result<()> {
    let known = Variable::read(client)?;
    for (name, value) in settings {
        let Some(variable) =
            known.get(name).filter(|variable| variable.is_dynamic() && !variable.is(value))
        else {
            continue;
        };
        client
            .run(&set(name, Some(variable), value))
            .map_err(failed_at(&format!("{} = {value}", path(name))))?;
    }
    variables::await_resized(client)
}

impl Altered {
    fn new(config: &Config, configuration: &Configuration, cancel: &Cancel) -> Self {
        Self {
            config: config.clone(),
            restart: configuration.get(ALLOW_RESTART),
            option_file: configuration.get(OPTION_FILE).map(PathBuf::from),
            cancel: cancel.clone(),
        }
    }

    /// Connects, and locks our database against other runs while connected.
    fn connect(&self) -> Result<Client> {
        let connected = Client::connect_until(&self.config, &self.cancel.stop());
        let mut client = connected.map_err(failed_at("connecting"))?;
        hold(&mut client, HELD_MAX, &self.cancel)?;
        Ok(client)
    }

    fn may_restart(&self) -> bool {
        self.restart.is_some() && self.option_file.is_some()
    }

    /// Notes what these variables and the option file are, as far as we have not done so before we
    /// changed them; where we may restart the server, also what others have set while it ran,
    /// which would go with that.
    fn note(
        &self,
        record: &mut Record,
        settings: &Settings,
        known: &Variables,
        client: &mut Client,
    ) -> Result<()> {
        let started = started(client)?;
        if record.notes.started_s != started {
            // It was restarted by someone else: what was set while it ran is as its files have it.
            record
                .before
                .retain(|name, _| known.get(name).is_some_and(|variable| !variable.is_dynamic()));
            record.notes.started_s = started;
        }
        let by_sql =
            known.iter().filter(|(_, variable)| variable.is_set_by_sql() && self.may_restart());
        for name in settings.keys().chain(by_sql.map(|(name, _)| name)) {
            record
                .before
                .entry(name.clone())
                .or_insert_with(|| Some(known[name].value().to_owned()));
        }
        if let (None, Some(path)) = (&record.notes.option_file, &self.option_file) {
            record.notes.option_file =
                Some(OptionFile { path: path.clone(), text: text_of(path)? });
        }
        Ok(())
    }

    /// Has these variables stand in the option file, behind what was there, and restarts the server
    /// where its own are others. Whether it did.
    fn change_file(&self, record: &Record, of_file: &Settings, mut client: Client) -> Result<bool> {
        let Some(file) = &record.notes.option_file else { return Ok(false) };
        let lines: String = of_file.iter().map(|(name, value)| option_line(name, value)).collect();
        let before = file.text.as_deref();
        let text = if lines.is_empty() {
            before.map(str::to_owned)
        } else {
            Some(format!(
                "{}{GROUP}\n{lines}",
                before.map_or(String::new(), |text| format!("{text}\n"))
            ))
        };
        if text_of(&file.path)? != text {
            write(&file.path, text.as_deref())?;
        }
        let mut values_before = values_before(record);
        values_before.extend(of_file.clone());
        let needs_restart = awaits_restart(&values_before, &mut client)?;
        if needs_restart {
            self.restart(Some(client))?;
        }
        Ok(needs_restart)
    }

    /// Restarts the server, whose end the connections to it do not outlive.
    fn restart(&self, mut client: Option<Client>) -> Result<()> {
        let before = client.as_mut().map(started).transpose()?;
        restart(self.restart.as_deref(), before.as_deref(), || {
            let mut new = Client::connect(&self.config)?;
            let now = started(&mut new)?;
            // It can have ended and started within a second.
            let continues = client.as_mut().is_some_and(|client| client.run("DO 0").is_ok());
            Ok(if continues { now } else { format!("{now}, restarted") })
        })
    }

    /// Brings the server back to its record.
    fn put_back(self, record: &Record) -> Result<()> {
        let mut client = self.connect();
        let before = values_before(record);
        let file = record.notes.option_file.as_ref();
        if let Some(file) =
            file.filter(|file| text_of(&file.path).is_ok_and(|text| text != file.text))
        {
            write(&file.path, file.text.as_deref())?;
            // With our settings it may not start: then it does not answer.
            if client.as_mut().map_or(Ok(true), |client| awaits_restart(&before, client))? {
                self.restart(client.ok())?;
                client = self.connect();
            }
        } else if client
            .as_mut()
            .is_ok_and(|client| started(client).is_ok_and(|now| now != record.notes.started_s))
        {
            // It was restarted by someone else: it has what its files say.
            return Ok(());
        }
        let mut client = client?;
        set_all(&before, &mut client)?;
        read_back(&before, &Variable::read(&mut client)?)
    }
}

fn text_of(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(EngineError::at(path)(error)),
    }
}

/// In place: owner and mode of a file that is there stay.
fn write(path: &Path, text: Option<&str>) -> Result<()> {
    let written = match text {
        Some(text) => std::fs::write(path, text),
        None => std::fs::remove_file(path),
    };
    written.map_err(EngineError::at(path))
}
