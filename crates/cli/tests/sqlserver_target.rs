//! Experiments on SQL Server from file to report: the built program against a stand-in that
//! executes T-SQL, and against Microsoft's mock server where it has to be cancelled.

mod broken;

use crate::common;
use crate::common::{Lab, end, signal, wait_until};
use crate::servers::installed::{sql_server_stand_in, sql_server_that_hides_sessions};
use mssql_mock_tds::MockTdsServer;
use mssql_mock_tds::query_response::{
    ColumnDefinition, ColumnValue, QueryResponse, Row, SqlDataType,
};
use sqlserver::live::views;
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tokio::runtime::Runtime;

/// A lab whose experiments are on the server of this URL; the password comes from the environment.
struct OnServer {
    lab: Lab,
    url: String,
}

impl OnServer {
    fn new(url: &str) -> Self {
        Self { lab: Lab::new(), url: url.replace(":S3c@", "@") }
    }

    fn write(&self, target: &str, workload: &str, more: &str) {
        let text = format!(
            "[experiment]\nname = \"t\"\n[target]\nengine = \"sqlserver\"\nurl = \
             \"{}\"\n{target}\n[workload]\n{workload}\n[repeats]\nblocks = 1\n{more}",
            self.url
        );
        self.lab.write("e.toml", &text);
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.command(arguments);
        command.env("SQLCMDPASSWORD", "S3c");
        command
    }

    fn run(&self, code: i32) -> common::Exit {
        let output = self.command(&["run", "e.toml", "--fresh"]).output().unwrap();
        let ended = common::Exit::from(output).expect(code);
        assert!(!ended.stdout.contains("S3c") && !ended.stderr.contains("S3c"), "{ended:#?}");
        ended
    }

    fn start(&self) -> Child {
        let mut command = self.command(&["run", "e.toml", "--fresh"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Returns the server's value of a setting.
    fn setting(&self, name: &str) -> String {
        let url = &self.url;
        let output =
            self.command(&["survey", "--server", url, "--volume", "/", "--json"]).output().unwrap();
        let survey: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let settings = survey["servers"][0]["settings"].as_array().unwrap();
        let found = settings.iter().find(|setting| setting["name"] == name);
        found.unwrap_or_else(|| panic!("{survey:#}"))["value"].as_str().unwrap().to_owned()
    }
}

/// Without VIEW SERVER STATE the sessions of the load are hidden, without an error.
#[test]
fn hidden_sessions_of_a_load_are_told() {
    let Some(url) = sql_server_that_hides_sessions() else { return };
    let on = OnServer::new(&url);
    on.write("", INSERTS, "");
    let ended = on.run(0);
    let warnings = on.lab.rows("t", "SELECT detail FROM warnings").join("\n");
    assert!(warnings.contains("sees 0 of 3 sessions of the load"), "{warnings}");
    for claim in ["CPU 0.0 %", "No waits were recorded"] {
        assert!(!ended.stdout.contains(claim), "{claim}: {ended:#?}");
    }
}

/// Sizes that the server rounds are rounded first, and reported; a first file that is smaller than
/// the model database is refused before the first trial.
#[test]
fn sizes_are_made_those_of_the_server_before_the_first_trial() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    let on = OnServer::new(&url);
    on.write("data_files = 3\ndata_size = \"100 MiB\"", INSERTS, "");
    on.run(0).says("target.data_size: rounded up from 104857600 to 104865792 bytes");
    on.write("data_files = 4\ndata_size = \"16 MiB\"", INSERTS, "");
    on.run(2).says("set at least 33554432");
}

/// RECONFIGURE would apply what others have changed and not yet applied.
#[test]
fn pending_settings_of_others_stop_the_run() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    let on = OnServer::new(&url);
    let script = "probe = \"script\"\nscript = \"a.sql\"\nconnections = 1\ntransactions = 1";
    on.lab.write("a.sql", "EXEC sys.sp_configure N'cost threshold for parallelism', 7;\n");
    on.write("", script, "");
    on.run(0);
    on.write(
        "settings = { max_degree_of_parallelism = 3 }\nallow_server_settings = true",
        INSERTS,
        "",
    );
    on.run(1).says("cost threshold for parallelism = 7 (in use: 5)");
    assert_eq!(on.setting("max degree of parallelism"), "8");
}

const INSERTS: &str = "probe = \"insert\"\nconnections = 3\nrows = 60\nrows_per_transaction = 5";

#[test]
fn an_insert_experiment_runs_from_the_file_to_the_report() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    let on = OnServer::new(&url);
    on.write(
        "data_size = \"256 MiB\"\nlog_size = \"16 MiB\"\nrecovery = \"simple\"",
        INSERTS,
        "[factors]\n\"target.data_files\" = [1, 8]\n\"workload.method\" = [\"statements\", \
         \"pipelined\", \"copy\"]\n",
    );
    let ended = on.run(0);
    let statuses = on.lab.rows("t", "SELECT status, count(*) FROM trials GROUP BY status");
    assert_eq!(statuses, ["done|6"], "{ended:#?}");
    for shown in ["data_files=8", "pipelined", "rows/s"] {
        assert!(
            ended.stdout.contains(shown) || ended.stderr.contains(shown),
            "{shown}: {ended:#?}"
        );
    }
    // The emulator counts no waits: a warning says so, and no waits are invented.
    let warnings =
        on.lab.rows("t", "SELECT DISTINCT detail FROM warnings ORDER BY detail").join("\n");
    assert!(warnings.contains("sys.dm_exec_session_wait_stats: error 208"), "{warnings}");
}

/// The designs of the published studies, with a few rows: the loop in a procedure is more than the
/// emulator can run, so that clients insert in its place; databases have all their files.
#[test]
fn ready_experiments_are_accepted_and_run_scaled_down() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    for (name, trials) in [("log", 9), ("random", 16), ("sequential", 5)] {
        let on = OnServer::new(&url);
        let text = testing::ready::text(&format!("sqlserver-insert-{name}"));
        let text = text.replace("[target]\n", &format!("[target]\nurl = \"{}\"\n", on.url));
        on.lab.write("e.toml", &text);
        let checked = on.command(&["check", "e.toml"]).output().unwrap();
        common::Exit::from(checked).expect(0).shows(&format!("{} trials", 3 * trials));
        let scaled = |line: &str| match line.split(" = ").next() {
            Some("rows") => "rows = 16".to_owned(),
            Some("rows_per_transaction") => "rows_per_transaction = 1".to_owned(),
            Some("connections") => "connections = 2".to_owned(),
            // What has to wait for a lock is a victim there.
            Some("\"workload.connections\"") => "\"workload.connections\" = [2]".to_owned(),
            Some("\"target.data_files\"") => "\"target.data_files\" = [1, 128]".to_owned(),
            Some("\"target.log_growth\"") => "\"target.log_growth\" = [\"50 MiB\"]".to_owned(),
            Some("\"target.log_size\"") => {
                "\"target.log_size\" = [\"256 MiB\", \"8 GiB\"]".to_owned()
            }
            Some("method") => "method = \"statements\"".to_owned(),
            Some("blocks") => "blocks = 1".to_owned(),
            _ => line.to_owned(),
        };
        on.lab.write("e.toml", &text.lines().map(scaled).collect::<Vec<_>>().join("\n"));
        let ended = on.run(0);
        let done = on.lab.rows(
            &format!("sqlserver-insert-{name}"),
            "SELECT count(*), min(work_amount), max(work_amount) FROM trials WHERE status = 'done'",
        );
        assert_eq!(done, ["2|16|16"], "{name}: {ended:#?}");
    }
}

/// Their statements, files and compression are accepted; hints and procedures are more than the
/// emulator can run.
#[test]
fn other_ready_experiments_are_accepted() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    for (name, trials) in [
        ("compression-sqlserver", 36),
        ("sqlserver-insert-layouts", 285),
        ("sqlserver-scan-locks", 20),
    ] {
        let on = OnServer::new(&url);
        let text = testing::ready::text(name);
        let text = text.replace("[target]\n", &format!("[target]\nurl = \"{}\"\n", on.url));
        on.lab.write("e.toml", &text);
        let script = testing::ready::file(&format!("{name}.toml")).with_extension("sql");
        if let Ok(script) = std::fs::read_to_string(script) {
            on.lab.write(&format!("{name}.sql"), &script);
        }
        let checked = on.command(&["check", "e.toml"]).output().unwrap();
        common::Exit::from(checked).expect(0).shows(&format!("{trials} trials"));
    }
}

/// Nothing is taken from the memory of a server that others may use, and the emulator says nothing
/// of its own.
#[test]
fn cold_caches_need_a_permission_and_plans_a_server_that_makes_them() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    let on = OnServer::new(&url);
    on.write("cache = \"cold\"", INSERTS, "");
    on.run(2).says("target.allow_server_settings");
    on.write("cache = \"cold\"\nallow_server_settings = true", INSERTS, "");
    on.run(1).says("target.cache = cold: ");
    let script = "probe = \"script\"\nbuiltin = \"oltp_read_only\"\ntable_size = 100\nconnections \
                  = 1\ntransactions = 3";
    on.write("", script, "");
    on.run(0);
    let reasons = on.lab.rows("t", "SELECT DISTINCT reason FROM plans");
    assert_eq!(
        reasons,
        ["SET SHOWPLAN_XML has no effect on this server: it would run the statements"]
    );
}

#[test]
fn scripts_scans_lookups_and_updates_run() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    let on = OnServer::new(&url);
    for workload in [
        "probe = \"script\"\nbuiltin = \"oltp_read_write\"\ntable_size = 100\nmax_tries = \
         10\nconnections = 2\ntransactions = 20",
        "probe = \"scan\"\nrows = 500\nconnections = 1\nscans = 2",
        "probe = \"lookup\"\nrows = 500\nconnections = 2\nlookups = 40",
        "probe = \"update\"\nrows = 500\nconnections = 2\nupdates = 40",
    ] {
        on.write("", workload, "");
        let ended = on.run(0);
        assert_eq!(
            on.lab.rows("t", "SELECT DISTINCT status FROM trials"),
            ["done"],
            "{workload}: {ended:#?}"
        );
    }
}

/// The next run on the server puts back what a killed one has changed there, and drops its
/// database.
#[test]
fn what_a_killed_run_has_left_is_put_back_by_the_next_one() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    let on = OnServer::new(&url);
    let degree = || on.setting("max degree of parallelism");
    assert_eq!(degree(), "8");
    let endless =
        "probe = \"insert\"\nconnections = 2\nduration = \"10 min\"\nrows_per_transaction = 5";
    let changes =
        "settings = { max_degree_of_parallelism = 3, cost_threshold_for_parallelism = 50 }";
    on.write(changes, endless, "");
    on.run(2).says("target.allow_server_settings");
    on.write(&format!("{changes}\nallow_server_settings = true"), endless, "");
    let mut child = on.start();
    wait_until("the setting is changed", || degree() == "3");
    child.kill().unwrap();
    child.wait().unwrap();
    on.write("", INSERTS, "");
    on.run(0).says("database steelbench of an earlier run is still there");
    assert_eq!((degree(), on.setting("cost threshold for parallelism")), ("8".into(), "5".into()));
    // A run that ends puts it back itself.
    on.write(&format!("{changes}\nallow_server_settings = true"), INSERTS, "");
    on.run(0);
    assert_eq!(degree(), "8");
}

#[test]
fn a_database_of_somebody_else_stops_the_run() {
    let Some(url) = sql_server_stand_in(&["steelbench"]) else { return };
    let on = OnServer::new(&url);
    on.write("", INSERTS, "");
    on.run(1).says("Steelbench did not create it");
}

fn cell(name: &str, value: i64) -> QueryResponse {
    let column = ColumnDefinition::new(name.to_owned(), SqlDataType::BigInt);
    QueryResponse::new(vec![column], vec![Row::new(vec![ColumnValue::BigInt(value)])])
}

/// Ctrl-C cancels a statement that takes an hour, by an attention packet.
#[test]
fn ctrl_c_cancels_what_the_server_works_on() {
    let lab = Lab::new();
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(MockTdsServer::new("127.0.0.1:0")).unwrap();
    let (registry, port) = (server.query_registry(), server.local_addr().port());
    let connections = server.connection_store();
    let answer = |sql: &str, response| registry.blocking_lock().register(sql, response);
    answer("SELECT CAST(@@MAX_CONNECTIONS AS int) AS most", cell("most", 100));
    for (class, permission) in
        [("N'master', N'DATABASE'", "CREATE DATABASE"), ("NULL, NULL", "CREATE ANY DATABASE")]
    {
        let sql = format!("SELECT CAST(HAS_PERMS_BY_NAME({class}, N'{permission}') AS int) AS may");
        answer(&sql, cell("may", 1));
    }
    answer(&views::ENGINE_EDITION.sql(), cell("engine_edition", 3));
    answer(&views::MODEL_FILE.sql(), cell("pages", 1024));
    for database in ["steelbench", "steelbench_not_marked_yet"] {
        let nothing = QueryResponse::new(
            vec![ColumnDefinition::new("id".to_owned(), SqlDataType::NVarCharMax)],
            vec![Row::new(vec![ColumnValue::NVarCharMaxNull])],
        );
        answer(&format!("SELECT CAST(DB_ID(N'{database}') AS int) AS id"), nothing);
    }
    answer(
        "DECLARE @got int; EXEC @got = sp_getapplock @Resource = N'steelbench', @LockMode = \
         N'Exclusive', @LockOwner = N'Session', @LockTimeout = 20000; SELECT @got AS got",
        cell("got", 0).with_delay(Duration::from_secs(3600)),
    );
    let url = format!("mssql://sa@127.0.0.1:{port}/master?encrypt=optional");
    runtime.spawn(server.run());
    let on = OnServer { lab, url };
    on.write("", INSERTS, "");
    let before = connections.blocking_lock().count();
    let child = on.start();
    // That of the version, of the checks, and of the trial.
    wait_until("the trial has connected", || connections.blocking_lock().count() >= before + 3);
    std::thread::sleep(Duration::from_millis(300));
    signal(&child, libc::SIGINT);
    let ended = end(child).expect(130);
    assert!(!ended.stderr.contains("S3c"), "{ended:#?}");
}

#[test]
fn azure_sql_database_is_refused_by_name() {
    let lab = Lab::new();
    let runtime = Runtime::new().unwrap();
    let server = runtime.block_on(MockTdsServer::new("127.0.0.1:0")).unwrap();
    let (registry, port) = (server.query_registry(), server.local_addr().port());
    let edition = cell("engine_edition", 5);
    registry.blocking_lock().register(views::ENGINE_EDITION.sql(), edition);
    runtime.spawn(server.run());
    let url = format!("mssql://sa@127.0.0.1:{port}/master?encrypt=optional");
    let on = OnServer { lab, url };
    on.write("", INSERTS, "");
    on.run(1).says("Azure SQL Database does not support the databases that trials create");
}
