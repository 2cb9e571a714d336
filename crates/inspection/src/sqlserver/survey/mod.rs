//! Servers of SQL Server.

mod rules;
pub mod views;

use crate::survey::ServerSurvey;
use engine::view::NotShown;
use engine::{AdminOptions, AdminSession, Row, Server, ServerError, View, while_doing};
use observations::{Database, ServerSetting, SurveyedServer, Unread};
use report::text::joined;
use work::Stop;

/// The code of the error that a statement has no result.
const NO_RESULT: &str = "0";

/// The survey of these servers.
pub const SURVEY: ServerSurvey = ServerSurvey { read: survey, advice: rules::advice };

/// Settings of `sp_configure` that are shown of every server, with their defaults
/// (<https://learn.microsoft.com/sql/database-engine/configure-windows/server-configuration-options-sql-server>).
/// Values that the setup program chooses have none.
#[rustfmt::skip]
const OF_EVERY_SERVER: &[(&str, Option<&str>)] = &[
    ("affinity mask", Some("0")), ("affinity64 mask", Some("0")),
    ("backup compression default", None),
    ("blocked process threshold (s)", Some("0")), ("cost threshold for parallelism", Some("5")),
    ("fill factor (%)", Some("0")), ("lightweight pooling", Some("0")), ("locks", Some("0")),
    ("max degree of parallelism", None), ("max server memory (MB)", Some("2147483647")),
    ("max worker threads", Some("0")), ("min memory per query (KB)", Some("1024")), ("min server \
        memory (MB)", None),
    ("network packet size (B)", Some("4096")), ("optimize for ad hoc workloads", Some("0")),
    ("priority boost", Some("0")), ("query governor cost limit", Some("0")),
    ("query wait (s)", Some("-1")),
    ("recovery interval (min)", Some("0")), ("tempdb metadata memory-optimized", Some("0")),
];

/// Facts about the machine, shown as read-only settings.
const MACHINE: &[(&str, Option<&str>)] = &[
    ("cpu_count", None),
    ("scheduler_count", None),
    ("numa_node_count", None),
    ("socket_count", None),
    ("cores_per_socket", None),
    ("physical_memory_kb", Some("kB")),
    ("committed_target_kb", Some("kB")),
    ("max_workers_count", None),
    ("softnuma_configuration_desc", None),
    ("sql_memory_model_desc", None),
    ("virtual_machine_type_desc", None),
];

/// Surveys a server. Reports what may not be read beside what may.
fn survey(server: &dyn Server, stop: &Stop) -> Result<(SurveyedServer, Vec<Unread>), ServerError> {
    let mut session = server.session(&AdminOptions::default(), stop)?;
    let mut unread = Vec::new();
    let mut read = |what: &str, view: &View| {
        let answer = view.read("", |sql| session.query(sql));
        let answer = answer.map_err(while_doing("reading its statistics"))?;
        let refused =
            |why: NotShown| unread.push(Unread { what: what.into(), why: why.to_string() });
        Ok::<_, ServerError>(answer.map_err(refused).unwrap_or_default())
    };
    let configured = read("settings", &views::CONFIGURATIONS)?;
    let machine = read("CPUs and memory", &views::MACHINE)?;
    let databases = read("databases", &views::DATABASES)?;
    let machine = machine.first().into_iter().flat_map(of_machine);
    let flags = match trace_flags(&mut *session) {
        Ok(flags) => Some(flags),
        Err(error) if error.is_silence() => return Err(while_doing("reading trace flags")(error)),
        Err(error) => {
            unread.push(Unread { what: "trace flags".into(), why: error.to_string() });
            None
        }
    };
    let flags = flags.map(|flags| ServerSetting {
        name: "trace flags".into(),
        is_changed: flags != "none",
        value: Some(flags),
        default: Some("none".into()),
        source: views::TRACE_FLAGS.into(),
        ..ServerSetting::default()
    });
    let identity = session.server();
    let server = SurveyedServer {
        engine: server.engine().into(),
        address: identity.address.clone(),
        version: identity.version.clone(),
        settings: machine.chain(configured.iter().filter_map(setting)).chain(flags).collect(),
        databases: databases
            .iter()
            .map(|row| Database { name: row.text("name"), bytes: row.parse("bytes") })
            .collect(),
        ..SurveyedServer::default()
    };
    Ok((server, unread))
}

/// The server's trace flags.
fn trace_flags(session: &mut dyn AdminSession) -> Result<String, ServerError> {
    let flags = match session.query(views::TRACE_FLAGS) {
        Ok(rows) => joined(rows.iter().map(|row| row.text("TraceFlag")), ", "),
        Err(error) if error.code.as_deref() == Some(NO_RESULT) => String::new(),
        Err(error) => return Err(error),
    };
    Ok(if flags.is_empty() { "none".into() } else { flags })
}

fn of_machine(row: Row<'_>) -> Vec<ServerSetting> {
    MACHINE
        .iter()
        .filter_map(|(name, unit)| {
            Some(ServerSetting {
                name: (*name).into(),
                value: Some(row.get(*name)?.to_owned()),
                unit: unit.map(str::to_owned),
                source: views::MACHINE.name.into(),
                ..ServerSetting::default()
            })
        })
        .collect()
}

fn setting(row: Row<'_>) -> Option<ServerSetting> {
    let name = row.get("name")?;
    let (_, default) = OF_EVERY_SERVER.iter().find(|(known, _)| *known == name)?;
    let value = row.get("in_use").map(str::to_owned);
    let is_changed = default.is_some() && value.as_deref() != *default;
    Some(ServerSetting {
        name: name.into(),
        pending_restart: row.get("configured") != row.get("in_use"),
        value,
        default: default.map(str::to_owned),
        source: if is_changed { "sp_configure" } else { "default" }.into(),
        is_changed,
        ..ServerSetting::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::rows::rows;

    #[test]
    fn a_setting_is_changed_when_it_is_not_the_documented_default() {
        let rows = rows(
            "name | configured | in_use
             cost threshold for parallelism | 50 | 50
             max server memory (MB) | 65536 | 2147483647
             max degree of parallelism | 8 | 8
             show advanced options | 1 | 1",
        );
        let settings: Vec<ServerSetting> = rows.iter().filter_map(setting).collect();
        let rows: Vec<_> = settings
            .iter()
            .map(|setting| {
                (
                    &*setting.name,
                    setting.value.as_deref().unwrap(),
                    setting.is_changed,
                    setting.pending_restart,
                )
            })
            .collect();
        assert_eq!(
            rows,
            [
                ("cost threshold for parallelism", "50", true, false),
                ("max server memory (MB)", "2147483647", false, true),
                ("max degree of parallelism", "8", false, false),
            ],
            "what the setup program chooses has no default to differ from"
        );
    }
}
