//! Foreign text must not control the reader's terminal: control characters are planted wherever
//! foreign text is printed, above all in errors.

use crate::common::{Exit, Lab, scripted};
use crate::screen::Screen;
use std::io::{Read, Write};
use std::net::TcpListener;

/// Sets a title, clears the screen in both ways to write it, rings, erases, and turns the reading
/// direction.
const EVIL: &str = "x\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}2J\u{7f}\u{8}\r\u{202e}\u{2066}\u{200f}y";

/// Nothing of it was printed as it is.
#[track_caller]
fn harmless(ended: &Exit) {
    for stdout in [&ended.stdout, &ended.stderr] {
        let harmful =
            |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2066}\u{200f}".contains(c);
        assert!(!stdout.contains(harmful), "{stdout:?}");
    }
}

/// Nor is it left out: it is spelled out.
#[track_caller]
fn safe(ended: &Exit) {
    harmless(ended);
    let all = format!("{}{}", ended.stdout, ended.stderr);
    assert!(all.contains("u{202e}") || all.contains("u202e"), "{all}");
}

/// A results file in which something was changed.
fn changed(sql: &str) -> Lab {
    let lab = Lab::with(&scripted(1, "", ""));
    lab.run(0);
    lab.results("t").execute_batch(&sql.replace("EVIL", &EVIL.replace('\'', "''"))).unwrap();
    lab
}

#[test]
fn from_results_files() {
    let named = changed("UPDATE runs SET name = 'EVIL'");
    for arguments in
        [&["show"][..], &["show", "--runs"], &["history"], &["show", "--md"], &["show", "--json"]]
    {
        safe(&named.steelbench(&[arguments, &["t"]].concat()).expect(0));
    }
    safe(&named.steelbench(&["export", "t", "--format", "json"]).expect(0));
    let warned = changed("INSERT INTO warnings SELECT id, 1, 'EVIL', '' FROM trials LIMIT 1");
    safe(&warned.steelbench(&["show", "t"]).expect(1));
    let malformed = changed(
        "PRAGMA writable_schema = on;
         INSERT INTO sqlite_schema VALUES ('view', 'EVIL', 'EVIL', 0, 'CREATE VIEW v AS SELECT (')",
    );
    safe(&malformed.steelbench(&["show", "t"]).expect(1));
    let triggered = changed(
        "CREATE TRIGGER \"EVIL\" BEFORE INSERT ON trials BEGIN SELECT RAISE(ABORT, 'EVIL'); END",
    );
    triggered.write("e.toml", &scripted(2, "", ""));
    safe(&triggered.run(2));
}

/// Where a run's name becomes the name of files.
#[test]
fn from_the_name_of_a_run_that_is_exported() {
    let named = changed("UPDATE runs SET name = 'no/EVIL'");
    named.write("no", "a file, so that no folder can be made of it");
    let ended = named.steelbench(&["export", "t", "--format", "csv"]);
    harmless(&ended);
}

#[test]
fn from_a_servers_errors() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in server.incoming() {
            let (mut stream, mut request) = (stream.unwrap(), [0; 1024]);
            while stream.read(&mut request).is_ok_and(|length| length == 8) {
                // No TLS, no encryption by GSS.
                stream.write_all(b"N").unwrap();
            }
            let fields = format!("SFATAL\0VFATAL\0C28000\0M{EVIL}\0D{EVIL}\0H{EVIL}\0\0");
            let length = (fields.len() as u32 + 4).to_be_bytes();
            let _ = stream.write_all(&[b"E", &length[..], fields.as_bytes()].concat());
        }
    });
    let url = format!("host=127.0.0.1 port={port} user=u dbname=d");
    for command in ["waits", "survey"] {
        let arguments =
            if command == "waits" { vec![command, &url] } else { vec![command, "--server", &url] };
        let ended = Lab::new().steelbench(&arguments);
        assert!(ended.stderr.contains("u{1b}]0;owned"), "{ended:?}");
        safe(&ended);
    }
}

#[test]
fn from_job_files_and_scripts() {
    let lab = Lab::new();
    for (name, job) in [
        ("nul.fio", "[job\0\u{202e}]\nrw=randread\nsize=1m\nfilename=a\n"),
        ("value.fio", "[job]\nrw=\u{7f}\u{202e}\nfilename=a\n"),
        ("key.fio", "[job]\nrw=randread\nsize=1m\n\u{9b}2J\u{7f}\u{202e}=1\nfilename=a\n"),
        ("variable.fio", "[job]\nrw=randread\nfilename=${\u{7f}\u{202e}}\n"),
    ] {
        lab.write(name, job);
        harmless(&lab.steelbench(&["disk", "--fio", name]).expect(2));
    }
    lab.write("\u{202e}\u{7f}.fio", "");
    safe(&lab.steelbench(&["disk", "--fio", "\u{202e}\u{7f}.fio"]).expect(2));
    lab.write("e.toml", &scripted_by("s.sql"));
    for script in [format!("\\set {EVIL} 1\n"), format!("\\{EVIL}\n"), format!("\\set a :{EVIL}\n")]
    {
        lab.write("s.sql", &script);
        harmless(&lab.steelbench(&["check", "e.toml"]).expect(2));
    }
}

/// A text as a string of JSON and of TOML.
fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

#[test]
fn from_plans_published_results_and_keys() {
    let lab = Lab::new();
    let (evil, csv) = (quoted(EVIL), EVIL.replace('\r', ""));
    let node = format!(
        "\"Node Type\": {evil}, \"Relation Name\": {evil}, \"Index Name\": {evil}, \"Filter\": \
         {evil}, \"Total Cost\": 1.0, \"Plan Rows\": 5, \"Actual Rows\": 5000, \"Actual Loops\": \
         1, \"Actual Total Time\": 3.0"
    );
    lab.write(
        "pg.json",
        &format!("[{{\"Plan\": {{{node}}}, \"Query Text\": {evil}, \"Execution Time\": 3}}]"),
    );
    let table = format!(
        "\"table_name\": {evil}, \"access_type\": \"ALL\", \"key\": {evil}, \
         \"attached_condition\": {evil}"
    );
    lab.write(
        "maria.json",
        &format!("{{\"query_block\": {{\"select_id\": 1, \"table\": {{{table}, \"rows\": 5}}}}}}"),
    );
    lab.write(
        "pg.txt",
        &format!(
            " Seq Scan on {EVIL}  (cost=0.00..1.00 rows=1 width=4)\n   Filter: ({EVIL} > 1)\n"
        ),
    );
    lab.write(
        "x.csv",
        &format!(
            "benchmark,system,score,unit\n\"{csv}\",\"{csv}\",5,\"{csv}\"\n\"{csv}\",b,6,\"{csv}\"\
             \n"
        ),
    );
    lab.write("head.csv", &format!("{csv},b\n1,2\n"));
    lab.write("e.toml", &format!("{}[target.settings]\n{evil} = 1\n", scripted(1, "", "")));
    for arguments in [
        &["plan", "pg.json", "--full"][..],
        &["plan", "pg.json", "--json"],
        &["plan", "pg.json", "--md"],
        &["plan", "maria.json", "--full"],
        &["plan", "pg.txt", "--full"],
        &["results", "x.csv"],
        &["results", "x.csv", "--json"],
        &["results", "head.csv"],
        &["results", "x.csv", "--columns", &format!("system={csv}")],
        &["predict", EVIL, "--set", "connections=2"],
        &["capture", &format!("postgres://h/{EVIL}"), "--output", EVIL],
        &["check", "e.toml"],
        &["check", "e.toml", "--json"],
    ] {
        safe_or_left_out(&lab.steelbench(arguments), arguments);
    }
    let mut sizing = lab.steelbench(&["size", "--example"]).expect(0).stdout;
    sizing = sizing.replace("currency = \"USD\"", &format!("currency = {evil}"));
    lab.write("plan.toml", &sizing);
    safe_or_left_out(&lab.steelbench(&["size", "plan.toml"]), &["size"]);
    lab.write("plan.toml", &format!("{evil} = 1\n{sizing}"));
    safe_or_left_out(&lab.steelbench(&["size", "plan.toml"]), &["size"]);
}

/// Something was said, and nothing of it commands the terminal.
#[track_caller]
fn safe_or_left_out(ended: &Exit, arguments: &[&str]) {
    harmless(ended);
    assert!(
        ended.code.is_some() && ended.stdout.len() + ended.stderr.len() > 20,
        "{arguments:?} {ended:?}"
    );
}

/// An experiment whose load is this script.
fn scripted_by(script: &str) -> String {
    scripted(1, "", "").replace("null", "sqlite").replace("insert", "script").replace(
        "rows = 10\nrows_per_transaction = 1",
        &format!("script = \"{script}\"\ntransactions = 10"),
    )
}

/// Tables, progress and errors fit: nothing that the terminal would have to break.
#[test]
fn lines_fit_a_terminal_of_80_columns() {
    let lab = Lab::with(&scripted(
        2,
        "",
        &format!("[hooks]\nafter_run = \"false {}\"\n", "word ".repeat(40)),
    ));
    lab.write(
        "wrong.toml",
        &scripted(2, &format!("settings.nothing = \"{}\"", "text ".repeat(40)), "colour = 1\n"),
    );
    for arguments in [
        &["run", "e.toml"][..],
        &["run", "wrong.toml"],
        &["check", "e.toml"],
        &["show", "t"],
        &["show", "t", "--only", "target.nothing=1,another=2"],
        &["compare", "data_files=1", "data_files=2", "--fail-if", "slower:1%"],
        &[
            "waits",
            "postgres://me@localhost/a_database?option=of_which_there_is_none&connect_timeout=1",
        ],
        &["show", "--help"],
    ] {
        let lines = Screen::start(&lab, 80, arguments).into_lines();
        let broken: Vec<&String> = lines.iter().filter(|line| is_broken(line)).collect();
        assert!(broken.is_empty() && lines.len() > 2, "{arguments:?}: {broken:#?} of {lines:#?}");
    }
}

/// Returns whether the terminal breaks the line within a word. Text above a bar is padded with
/// blanks, and the bar follows without a line end.
fn is_broken(line: &str) -> bool {
    let signs: Vec<char> = line.chars().collect();
    (80..signs.len()).step_by(80).any(|end| signs[end - 1] != ' ' && signs[end] != ' ')
}
