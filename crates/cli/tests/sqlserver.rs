//! `waits`, `survey` and `queries` of SQL Server, by the wire: the built program against
//! Microsoft's mock of a server, which answers each statement with rows given here. A statement
//! without an answer is reported as missing, which the tests check.

mod background;
mod encryption;
mod hidden;
mod queries;

use crate::captures;
use crate::common::{Lab, end, signal, wait_until};
use engine::View;
use inspection::sqlserver::survey::views as survey_views;
use mssql_mock_tds::query_response::{
    ColumnDefinition, ColumnValue, QueryRegistry, QueryResponse, Row, SqlDataType, TerminalError,
};
use mssql_mock_tds::{ConnectionStore, MockTdsServer, create_test_identity};
use sqlserver::live::views;
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::Mutex;

/// How a server's connections are encrypted.
#[derive(Clone, Copy, PartialEq)]
pub enum Tls {
    Off,
    On,
    Strict,
}

/// Answers of a server.
#[derive(Clone)]
struct Answers(Arc<Mutex<QueryRegistry>>);

pub struct Mock {
    answers: Answers,
    connections: Arc<Mutex<ConnectionStore>>,
    pub port: u16,
    /// Ends the server.
    _runtime: background::Background,
}

impl Mock {
    pub fn start(tls: Tls, folder: &Lab) -> Self {
        let runtime = Runtime::new().unwrap();
        let server = runtime.block_on(async {
            let address = "127.0.0.1:0";
            match tls {
                Tls::Off => MockTdsServer::new(address).await,
                Tls::On | Tls::Strict => {
                    let (certificate, key) = certificate(folder);
                    let identity =
                        create_test_identity(certificate.as_bytes(), key.as_bytes()).unwrap();
                    if tls == Tls::On {
                        MockTdsServer::new_with_tls(address, Some(identity)).await
                    } else {
                        MockTdsServer::new_with_strict_tls(address, identity).await
                    }
                }
            }
        });
        let server = server.unwrap();
        let (answers, connections) = (Answers(server.query_registry()), server.connection_store());
        let port = server.local_addr().port();
        runtime.spawn(server.run());
        let mock =
            Self { answers, connections, port, _runtime: background::Background(Some(runtime)) };
        mock.answers.answer(views::SESSION, "ready\n1");
        mock.answers.answer(
            &views::IDENTITY.sql(),
            "version | product_version | edition | engine_edition | session_id\nMicrosoft SQL \
             Server 2022 (RTM-CU14) - 16.0.4135.4 (X64) | 16.0.4135.4 | Developer Edition | 3 | 51",
        );
        mock.answers.answer(&views::PERMISSION.sql(), "may\n1");
        mock.answers.answer(&views::STARTED.sql(), "started\n2026-11-01T08:00:00.123");
        mock
    }

    fn connections(&self) -> usize {
        self.connections.blocking_lock().count()
    }

    fn url(&self, parameters: &str) -> String {
        format!("mssql://sa:S3c@127.0.0.1:{}/master?{parameters}", self.port)
    }
}

impl Answers {
    /// Answers a statement with the rows of a text: names of columns in its first line, `|` between
    /// values, `-` for NULL.
    fn answer(&self, sql: &str, text: &str) {
        self.0.blocking_lock().register(sql, response(text));
    }

    fn refuse(&self, sql: &str, number: u32, message: &str) {
        let error = QueryResponse::error_only(TerminalError::new(number, 16, message));
        self.0.blocking_lock().register(sql, error);
    }

    /// Sets the counters to those of a server that has worked for `steps` steps.
    fn count(&self, steps: u64) {
        self.answer(
            &views::WAITS.sql(),
            &format!(
                "wait_type | waits | wait_ms | signal_ms\nPAGELATCH_UP | {} | {} | {}\nWRITELOG | \
                 {} | {} | {}\nLAZYWRITER_SLEEP | {steps} | {} | 0",
                1000 + 30 * steps,
                5000 + 3000 * steps,
                200 * steps,
                10 * steps,
                1000 * steps,
                500 * steps,
                1000 * steps,
            ),
        );
        self.answer(
            &views::COUNTERS[0].view.sql(),
            &format!(
                "name | wait_ms | waits\nBUFFER | {} | {}\nACCESS_METHODS_HOBT | 7 | 7",
                3000 * steps,
                30 * steps
            ),
        );
        self.answer(
            &views::COUNTERS[2].view.older().unwrap(),
            &format!(
                "name | switches | yields | now_runnable | now_queued | now_io\nscheduler 0 of \
                 node 0 | {} | 1 | 2 | 0 | 0",
                5 * steps
            ),
        );
    }
}

fn response(text: &str) -> QueryResponse {
    let cells = |line: &str| line.split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let names = cells(lines.next().unwrap());
    let rows: Vec<Vec<String>> = lines.map(cells).collect();
    let is_number =
        |at: usize| rows.iter().all(|row| row[at] != "-" && row[at].parse::<i64>().is_ok());
    let kinds: Vec<bool> = (0..names.len()).map(is_number).collect();
    let value = |(at, cell): (usize, &String)| match cell.as_str() {
        number if kinds[at] => ColumnValue::BigInt(number.parse().unwrap()),
        "-" => ColumnValue::NVarCharMaxNull,
        text => ColumnValue::NVarCharMax(vec![text.encode_utf16().collect()]),
    };
    let column = |(at, name): (usize, &String)| {
        ColumnDefinition::new(
            name.clone(),
            if kinds[at] { SqlDataType::BigInt } else { SqlDataType::NVarCharMax },
        )
    };
    QueryResponse::new(
        names.iter().enumerate().map(column).collect(),
        rows.iter().map(|row| Row::new(row.iter().enumerate().map(value).collect())).collect(),
    )
}

/// A certificate of our own for 127.0.0.1, in `server.pem`, and its key.
fn certificate(lab: &Lab) -> (String, String) {
    let arguments = [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-subj",
        "/CN=127.0.0.1",
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-keyout",
        "key.pem",
        "-out",
        "server.pem",
    ];
    let made = Command::new("openssl").args(arguments).current_dir(lab.path("")).output().unwrap();
    assert!(made.status.success(), "{made:?}");
    (lab.read("server.pem"), lab.read("key.pem"))
}

/// A server that works: its counters rise by the same again and again, and 13 sessions wait as in
/// study S1d.
fn working(mock: &Mock) -> Steps {
    mock.answers.count(0);
    let waiting = (51..64).map(|session| {
        format!("{session} | suspended | PAGELATCH_UP | 5:1:1520544 | 42 | shop | anna | load\n")
    });
    let requests = waiting.collect::<String>()
        + "70 | suspended | PAGELATCH_SH | 5:1:900 | 42 | shop | anna | load\n71 | running | - | \
           - | 43 | shop | bert | web\n";
    mock.answers.answer(
        &views::REQUESTS.sql(),
        &format!(
            "session_id | status | wait_type | wait_resource | query_id | database_name | \
             login_name | program_name\n{requests}"
        ),
    );
    mock.answers.answer(&views::page_owner(5, 1, 900), "owner | index_id\ndbo.MyBigTable | 1");
    mock.answers.answer(
        &format!("{}42, 43{}", views::TEXTS, views::TEXTS_END),
        "query_id | statement\n42 | INSERT INTO MyBigTable VALUES ('S3cret', 7)\n43 | SELECT 1",
    );
    mock.answers.answer(
        &views::TASKS.sql(),
        "session_id | exec_context_id | wait_ms | wait_type | resource | blocking_session_id\n51 \
         | 0 | 2500 | LCK_M_X | keylock hobtid=72057594043432960 dbid=5 mode=X | 52\n53 | 0 | 12 \
         | PAGELATCH_UP | 5:1:1520544 | -",
    );
    mock.answers.answer(
        &views::SESSIONS.sql(),
        "session_id | status | login_name | program_name | database_name | open_transactions | \
         idle_s | statement_ms | transaction_s | statement\n51 | suspended | anna | shop | orders \
         | 1 | - | 2600 | 3 | UPDATE t SET a = 'S3cret' WHERE b = 42\n52 | sleeping | bert | \
         report | orders | 1 | 12 | - | 13 | UPDATE t SET a = 1",
    );
    mock.answers.refuse(
        &views::COUNTERS[2].view.sql(),
        207,
        "Invalid column name 'total_cpu_usage_ms'.",
    );
    mock.answers.refuse(
        &views::COUNTERS[1].view.sql(),
        300,
        "VIEW SERVER STATE permission was denied on object 'server', database 'master'.",
    );
    mock.answers.refuse(
        &views::COUNTERS[3].view.sql(),
        208,
        "Invalid object name 'sys.dm_os_spinlock_stats'.",
    );
    let (answers, ends) = (mock.answers.clone(), Arc::new(AtomicBool::new(false)));
    let ended = Arc::clone(&ends);
    let work = move || {
        for step in 1.. {
            std::thread::sleep(Duration::from_millis(100));
            if ended.load(Ordering::Relaxed) {
                return;
            }
            answers.count(step);
        }
    };
    Steps { ends, thread: Some(std::thread::spawn(work)) }
}

/// The work of a server. Dropping it ends it.
struct Steps {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[test]
fn waits_are_counted_hot_pages_found_and_blockers_named() {
    let lab = Lab::new();
    let mock = Mock::start(Tls::Off, &lab);
    let _steps = working(&mock);
    let mut ended = lab
        .steelbench(&[
            "waits",
            "--full",
            &mock.url("encrypt=optional"),
            "--seconds",
            "3",
            "--tasks",
        ])
        .expect(0);
    // The row of the table, which is not the only line that begins with the name.
    let line = |name: &str| -> Vec<String> {
        let rows = ended
            .stdout
            .lines()
            .map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        let is_row =
            |row: &Vec<String>| row.len() == 9 && row[0] == name && row[1].parse::<f64>().is_ok();
        rows.into_iter().find(is_row).unwrap_or_default()
    };
    // Whatever number of steps was counted: 3,000 of 4,000 ms, 30 waits of 0.1 s, of which 1/15 is
    // signal wait.
    let (hot, log) = (line("PAGELATCH_UP"), line("WRITELOG"));
    assert_eq!(hot[5..], ["75.00", "0.1", "0.0933", "0.0067"], "{ended:#?}");
    assert_eq!(log[5..], ["25.00", "0.1", "0.05", "0.05"], "{ended:#?}");
    let number = |cell: &str| cell.parse::<f64>().unwrap();
    assert!(
        (number(&hot[4]) - 3.0 * number(&log[4])).abs() < 1e-9 && number(&log[4]) >= 10.0,
        "{hot:?} {log:?}"
    );
    ended.stdout = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let ended = ended
        .shows(
            "Microsoft SQL Server 2022 (RTM-CU14) - 16.0.4135.4 (X64), Developer Edition: waits \
             in ",
        )
        .shows("The server counts and times waits in sys.dm_os_wait_stats")
        .shows(
            "PAGELATCH_UP on PFS page 5:1:1520544: 93 % of the sampled latch time; more data \
             files would spread it.",
        )
        .shows("at most 13 sessions at a time")
        .shows("Excluded as idle or benign: ")
        .shows("(LAZYWRITER_SLEEP)")
        .shows("Latch classes")
        .shows("INSERT INTO MyBigTable VALUES (?, ?)")
        .shows("pid 52 (report, user bert, database orders) blocks 1 session, wait time 2.50 s")
        .shows("idle in transaction for 12.0 s")
        .shows("The client must end the transaction; KILL 52 rolls it back.")
        .shows("UPDATE t SET a = ? WHERE b = ?")
        .shows("page 5:1:1520544, a PFS page")
        .shows("scheduler 0 of node 0")
        .shows(
            "Files: sys.dm_io_virtual_file_stats: error 300: VIEW SERVER STATE permission was \
             denied",
        )
        .shows("Spinlocks: sys.dm_os_spinlock_stats: error 208: Invalid object name");
    for hidden in ["S3c", "sa:"] {
        assert!(
            !ended.stdout.contains(hidden) && !ended.stderr.contains(hidden),
            "{hidden}: {ended:#?}"
        );
    }
    // Nothing else is missing: every other statement has had an answer.
    let missing = ended.stdout.matches(" error ").count();
    assert_eq!(missing, 2, "{}", ended.stdout);
}

#[test]
fn an_observation_is_recorded_shown_again_and_its_json_is_exact() {
    let lab = Lab::new();
    let mock = Mock::start(Tls::Off, &lab);
    let _steps = working(&mock);
    let url = mock.url("encrypt=optional");
    let live = lab
        .steelbench(&["waits", &url, "--seconds", "2", "--output", "o.steelbench", "--json"])
        .expect(0);
    let shown = lab.steelbench(&["waits", "o.steelbench", "--json"]).expect(0);
    let value: serde_json::Value = serde_json::from_str(&live.stdout).unwrap();
    assert_eq!(value, serde_json::from_str::<serde_json::Value>(&shown.stdout).unwrap());
    assert_eq!(value["counted_in"], "sys.dm_os_wait_stats");
    let latches = &value["counters"][0];
    assert_eq!(
        (&latches["title"], &latches["rows"][0]["name"]),
        (&"Latch classes".into(), &"BUFFER".into())
    );
    let values: Vec<f64> = serde_json::from_value(latches["rows"][0]["values"].clone()).unwrap();
    assert!(values[0] > 0.0 && (values[2] - 0.1).abs() < 1e-9, "{values:?}");
    assert_eq!(latches["rows"].as_array().unwrap().len(), 1, "what did not change is left out");
    let kinds: Vec<&str> = value["resources"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|array| array["kind"].as_str())
        .collect();
    assert_eq!(kinds, ["PFS page", "page of dbo.MyBigTable, index 1"]);
    assert!(!live.stdout.contains("S3c") && !live.stdout.contains("sa:"));
    assert!(
        !String::from_utf8_lossy(&std::fs::read(lab.path("o.steelbench")).unwrap()).contains("S3c")
    );
}

#[test]
fn a_capture_stands_for_its_server_and_holds_no_statement_unless_asked() {
    let lab = Lab::new();
    let mock = Mock::start(Tls::Off, &lab);
    let _steps = working(&mock);
    answer_survey(&mock);
    let url = mock.url("encrypt=optional");
    lab.steelbench(&["capture", &url, "--seconds", "2", "--output", "c.json"]).expect(0);
    let captured = lab.read("c.json");
    for hidden in ["S3c", "INSERT", "UPDATE"] {
        assert!(!captured.contains(hidden), "{hidden}: {captured}");
    }
    // The differences are those of the two readings that it holds.
    let captured: serde_json::Value = serde_json::from_str(&captured).unwrap();
    let waits = captured["observation"]["activity"]["waits"].as_array().unwrap().iter();
    let waits: BTreeMap<String, u64> = waits
        .map(|wait| {
            (wait["wait_type"].as_str().unwrap().to_owned(), wait["count"].as_u64().unwrap())
        })
        .collect();
    assert!(waits.len() > 1, "{waits:?}");
    assert_eq!(captures::rises(&captured, &["wait_type", "waits"]), waits);
    lab.steelbench(&["waits", "--full", "c.json"])
        .expect(0)
        .shows("PAGELATCH_UP on PFS page 5:1:1520544: 93 %")
        .shows("pid 52 (report, user bert, database orders) blocks 1 session");
    let merged = lab.steelbench(&["survey", "merge", "c.json", "--json"]).expect(0);
    assert!(
        merged.stdout.contains("Microsoft SQL Server 2022") && merged.stdout.contains("127.0.0.1,"),
        "{merged:#?}"
    );
    lab.steelbench(&["capture", &url, "--seconds", "1", "--output", "c.json", "--statements"])
        .expect(0);
    let captured = lab.read("c.json");
    assert!(
        captured.contains("INSERT INTO MyBigTable VALUES (?, ?)") && !captured.contains("S3c"),
        "{captured}"
    );
    lab.write("other.json", "{\"schema\": \"steelbench/1\", \"kind\": \"volume\"}");
    lab.steelbench(&["waits", "other.json"]).expect(2).says("of kind \"volume\"");
}

/// The error of Babelfish for PostgreSQL 4.3, which has sessions but no wait statistics.
const MISSING: u32 = 33_557_097;

/// Returns a command's output for a working server without these statements' views, in one line.
fn without(statements: &[&str], command: &[&str]) -> String {
    let lab = Lab::new();
    let mock = Mock::start(Tls::Off, &lab);
    // Its counters stay as they are.
    drop(working(&mock));
    answer_survey(&mock);
    for sql in statements {
        mock.answers.refuse(sql, MISSING, "relation does not exist");
    }
    let url = mock.url("encrypt=optional");
    let arguments: Vec<&str> =
        command.iter().map(|command| if *command == "URL" { &url } else { *command }).collect();
    let ended = lab.steelbench(&arguments).expect(0);
    ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn answer_survey(mock: &Mock) {
    mock.answers.answer(
        &survey_views::CONFIGURATIONS.sql(),
        "name | configured | in_use\nmax server memory (MB) | 2147483647 | 2147483647",
    );
    mock.answers.answer(
        &survey_views::MACHINE.sql(),
        "cpu_count | scheduler_count | physical_memory_kb | numa_node_count\n8 | 8 | 16777216 | 2",
    );
    mock.answers.answer(&survey_views::DATABASES.sql(), "name | bytes\nshop | 1048576");
}

/// Each missing view is named, and the rest is shown.
#[test]
fn each_view_that_a_server_lacks_is_told() {
    let [latches, files, schedulers, spinlocks] = views::COUNTERS.map(|counters| counters.view);
    let owner = views::page_owner(5, 1, 900);
    let texts = format!("{}42, 43{}", views::TEXTS, views::TEXTS_END);
    let of = |view: View, title: &'static str| (view.sql(), view.older(), view.name, title);
    let waits = [
        of(views::STARTED, "Server restarts"),
        of(views::WAITS, "Server-wide waits"),
        of(latches, "Latch classes"),
        of(files, "Files"),
        of(schedulers, "Schedulers"),
        of(spinlocks, "Spinlocks"),
        of(views::REQUESTS, "Sampled session activity"),
        of(views::TASKS, "Blocking sessions"),
        of(views::SESSIONS, "Details of waiting sessions"),
        (owner, None, "sys.dm_db_page_info", "Tables of hot pages"),
        (texts, None, "sys.dm_exec_query_stats", "Statement texts"),
    ];
    let error = format!("error {MISSING}: relation does not exist.");
    let see = |(sql, older, name, title): (String, Option<String>, &str, &str)| {
        let statements: Vec<&str> = [Some(&*sql), older.as_deref()].into_iter().flatten().collect();
        let shown = without(&statements, &["waits", "--full", "URL", "--seconds", "1", "--tasks"]);
        assert!(shown.contains(&format!("{title}: {name}: {error}")), "{title}: {shown}");
        assert_eq!(shown.matches(&error).count(), 1, "{title}: {shown}");
        // The report makes no statement that needs the missing view.
        let expectations = [
            ("sys.dm_os_waiting_tasks", "blocks 1 session"),
            ("sys.dm_exec_requests", "PFS page 5:1:1520544"),
        ];
        for (of, what) in expectations {
            assert_eq!(shown.contains(what), of != name, "{title}: {what}: {shown}");
        }
        assert_eq!(shown.contains("counts and times waits"), name != views::WAITS.name, "{shown}");
    };
    std::thread::scope(|scope| {
        for wait in waits {
            scope.spawn(move || see(wait));
        }
    });
    for (view, what) in [
        (survey_views::CONFIGURATIONS, "settings"),
        (survey_views::MACHINE, "CPUs and memory"),
        (survey_views::DATABASES, "databases"),
    ] {
        let (sql, older) = (view.sql(), view.older());
        let statements: Vec<&str> = [Some(&*sql), older.as_deref()].into_iter().flatten().collect();
        let json = without(&statements, &["survey", "--server", "URL", "--volume", "/", "--json"]);
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        let unread = value["unread"].as_array().unwrap().iter();
        let matching: Vec<_> =
            unread.filter(|gap| gap["what"].as_str().unwrap().contains(what)).collect();
        assert!(
            matching.len() == 1 && matching[0]["why"].as_str().unwrap().contains(view.name),
            "{what}: {json}"
        );
        assert!(json.contains("Microsoft SQL Server 2022"), "{json}");
    }
}

#[test]
fn ctrl_c_ends_a_statement_that_the_server_works_on() {
    let lab = Lab::new();
    let mock = Mock::start(Tls::Off, &lab);
    let slow = response("name | configured | in_use").with_delay(Duration::from_secs(3600));
    mock.answers.0.blocking_lock().register(survey_views::CONFIGURATIONS.sql(), slow);
    let url = mock.url("encrypt=optional");
    let mut command = lab.command(&["survey", "--server", &url, "--volume", "/"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("it has logged in", || mock.connections() > 0);
    signal(&child, libc::SIGINT);
    let ended = end(child).expect(130);
    assert!(ended.stderr.contains("stopped on request"), "{ended:#?}");
}

#[test]
fn what_is_wrong_names_the_place_the_cause_and_what_to_do_without_the_password() {
    let lab = Lab::new();
    for (server, code, part) in [
        ("mssql://sa:S3c@127.0.0.1:1/master", 1, "Is the server running"),
        ("Server=127.0.0.1,1;User ID=sa;Password=S3c", 1, "Is the server running"),
        ("mssql://127.0.0.1/master", 2, "no user given"),
        (
            "mssql://sa:S3c@127.0.0.1/master?encrypt=perhaps",
            2,
            "expected strict, mandatory or optional",
        ),
        ("mssql://sa:S3;c@127.0.0.1/master", 2, "a keyword without a value"),
    ] {
        let ended = lab.steelbench(&["waits", server, "--seconds", "1"]).expect(code);
        assert!(
            ended.stderr.contains(part) && !ended.stderr.contains("S3"),
            "{server}: {ended:#?}"
        );
    }
}

/// On a server of the user's: every statement is understood. Reads only.
#[test]
fn live_server_has_all_that_is_asked() {
    let Ok(url) = std::env::var("STEELBENCH_MSSQL_URL") else {
        println!(
            "SKIPPED, cannot be here: a SQL Server; STEELBENCH_MSSQL_URL names one for `cargo \
             xtask test-live mssql`"
        );
        return;
    };
    let lab = Lab::new();
    let run = |arguments: &[&str]| {
        let output = lab.command(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    let output = run(&["waits", &url, "--seconds", "5", "--json"]);
    let survey = run(&["survey", "--server", &url, "--volume", "/", "--json"]);
    println!(
        "{}: {} types of wait, {} tables of counters, {} settings",
        output["server"],
        output["waits"].as_array().unwrap().len(),
        output["counters"].as_array().unwrap().len(),
        survey["servers"][0]["settings"].as_array().unwrap().len()
    );
    let queries = run(&["queries", &url, "--json"]);
    println!(
        "not seen: {:#}\nunread: {:#}\n{:#}",
        output["lost"], survey["unread"], queries["unread"]
    );
    // An unknown column or object is a bug in Steelbench; a missing permission is not.
    for unknown in ["error 207:", "error 208:", "error 102:", "error 156:"] {
        for unread in [&output["lost"], &survey["unread"], &queries["unread"]] {
            assert!(!unread.to_string().contains(unknown), "{unknown}: {unread}");
        }
    }
}
