//! Secrets in command lines: those that are recognised are refused, and `--hide-commands` records
//! no command line at all.

use crate::common::{Exit, Lab};
use crate::planted::{SECRET, check_hidden};
use crate::{servers, serving};

/// Commands with a secret, PW, by which it would be in names, labels and reports.
const COMMANDS: &[&str] = &[
    "mysql -pPW",
    "sqlcmd -S h -U sa -P PW",
    "sshpass -p PW true",
    "curl -u u:PW http://127.0.0.1:1/",
    "redis-cli -a PW ping",
    "mongosh -u u -p PW",
    "curl -H 'Authorization: Bearer PW' http://127.0.0.1:1/",
    "curl -H 'X-Api-Key: PW' http://127.0.0.1:1/",
    "sqlplus u/PW@db",
    "mysql -e \"CREATE USER u IDENTIFIED BY 'PW'\"",
    "sh -c 'mysql -pPW shop'",
    "psql 'postgres://u:my PW word@127.0.0.1:1/d'",
    "psql postgres://u:my\\ PW@127.0.0.1:1/d",
    "psql \"postgres://u:a'PW@127.0.0.1:1/d\"",
    "openssl enc -pass pass:PW",
    "docker login -u u -p PW",
];

#[test]
fn commands_with_a_secret_are_refused_and_do_not_repeat_it() {
    for command in COMMANDS {
        let command = command.replace("PW", SECRET);
        for more in [&[][..], &["--print"], &["-n", "name"], &["--json"]] {
            let lab = Lab::new();
            let ended = lab.steelbench(&[&["time", "-r", "1", "-i", &command], more].concat());
            check_hidden(&lab, &ended, &command);
            ended.expect(2).says("observe.commands = false");
        }
    }
}

/// The command lines of hooks and their output are recorded.
#[test]
fn hooks_are_recorded_with_stars() {
    for command in COMMANDS {
        let command = command.replace("PW", SECRET);
        let hook = format!("true || {command}");
        let hooks = format!("[hooks]\nbefore_trial = '''{hook}'''\n");
        let lab = Lab::with(&crate::common::scripted(1, "", &hooks));
        for arguments in
            [&["run", "e.toml"][..], &["show", "t"], &["show", "t", "--json"], &["report", "t"]]
        {
            let ended = lab.steelbench(arguments);
            check_hidden(&lab, &ended, &command);
            ended.expect(0);
        }
        assert_eq!(
            lab.rows("t", "SELECT DISTINCT command LIKE '%**%' FROM hooks"),
            ["1"],
            "{command}"
        );
    }
}

/// Everything that reads the results of an experiment of this name.
fn readers(name: &str) -> Vec<Vec<&str>> {
    let export = |format| vec!["export", name, "--format", format];
    vec![
        vec!["show", name],
        vec!["show", name, "--json"],
        vec!["show", name, "--md"],
        vec!["show", name, "--runs"],
        vec!["show", name, "--source"],
        vec!["show", name, "--source", "--json"],
        vec!["history", name, "--json"],
        vec!["report", name],
        export("json"),
        export("csv"),
        export("parquet"),
        export("xlsx"),
    ]
}

/// The secret is where no rule finds it.
#[test]
fn hidden_commands_are_in_no_output_and_in_no_file() {
    let first = format!("echo {SECRET}");
    let failing = format!("echo {SECRET}; echo {SECRET} >&2; exit 3");
    let prepare = format!("true {SECRET}");
    let lab = Lab::new();
    let time = [
        "time",
        "--hide-commands",
        "-r",
        "2",
        "--blocks",
        "2",
        "--prepare",
        &prepare,
        "-n",
        "mine",
        "--export-json",
        "a.json",
        "--export-csv",
        "a.csv",
        "--export-markdown",
        "a.md",
        &first,
        &first,
        &failing,
    ];
    let ended = lab.steelbench(&time);
    check_hidden(&lab, &ended, "time");
    ended.expect(1).shows("mine");
    let ended = lab.steelbench(&[&time[..], &["--json"]].concat());
    check_hidden(&lab, &ended, "time --json");
    for reader in readers("time") {
        let ended = lab.steelbench(&reader);
        check_hidden(&lab, &ended, &format!("{reader:?}"));
        assert!(ended.code.is_some_and(|code| code < 2), "{reader:?} {ended:?}");
    }
    assert_eq!(
        lab.rows("time", "SELECT DISTINCT label FROM levels ORDER BY label"),
        ["command 2", "command 3", "mine"]
    );
    assert_eq!(
        lab.rows("time", "SELECT DISTINCT cause FROM trials WHERE status = 'failed'"),
        ["the command `...` ended with exit code 3\nits output is not recorded (observe.commands)"]
    );
    let exported = lab.read("a.json");
    assert!(exported.contains("\"mine\"") && exported.contains("\"command 2\""), "{exported}");
    let server = serving::Server::start(&lab, &[]);
    for path in ["/", "/run?file=time"] {
        let page = server.page(path);
        assert!(!page.contains("SECRET") && page.contains("time"), "{path}: {page}");
    }
}

/// A single command whose parameters vary names the question after the command otherwise.
#[test]
fn a_hidden_command_with_parameters_is_in_no_file() {
    let command = format!("true {{n}} {SECRET}");
    let lab = Lab::new();
    let arguments = ["time", "--hide-commands", "-r", "1", "-L", "n", "1,2", &command];
    let ended = lab.steelbench(&arguments);
    check_hidden(&lab, &ended, "time");
    ended.expect(0).shows("n=2");
    let wrong = format!("no-such-program-{SECRET}");
    let ended = lab.steelbench(&["time", "--hide-commands", "-N", "-r", "1", &wrong]);
    assert!(ended.code != Some(0) && !lab.path("results/x").exists());
}

/// Commands of an experiment file, of its hooks and volumes, and its comments.
#[test]
fn an_experiment_records_no_command_line_where_it_says_so() {
    let file = format!(
        "# {SECRET}\n[experiment]\nname = \"t\"\n[target]\nengine = \"none\"\n[workload]\nprobe = \
         \"command\"\nsetup = 'true {SECRET}' # {SECRET}\n[observe]\ncommands = \
         false\n[factors]\n\"workload.command\" = [\"true {SECRET} 1\", [\"true\", \"{SECRET}\"], \
         'echo {SECRET} >&2; exit 3']\n[hooks]\nbefore_run = 'true mysql -p{SECRET}'\nbefore_trial \
         = 'env | grep COMMAND; true {SECRET}'\n[report]\nbaseline = {{ \"workload.command\" = \
         \"true {SECRET} 1\" }}\n[repeats]\nblocks = 2\n"
    );
    let lab = Lab::with(&file);
    for arguments in [
        &["check", "e.toml"][..],
        &["check", "e.toml", "--json"],
        &["run", "e.toml"],
        &["run", "e.toml", "--retry-failed"],
        &["run", "e.toml", "--fresh", "--json"],
    ] {
        let ended = lab.steelbench(arguments);
        check_hidden(&lab, &ended, &format!("{arguments:?}"));
        assert!(ended.code.is_some_and(|code| code < 2), "{arguments:?} {ended:?}");
    }
    for reader in readers("t") {
        let ended = lab.steelbench(&reader);
        check_hidden(&lab, &ended, &format!("{reader:?}"));
        assert!(ended.code.is_some_and(|code| code < 2), "{reader:?} {ended:?}");
    }
    assert_eq!(
        lab.rows("t", "SELECT DISTINCT label FROM levels ORDER BY label"),
        ["command 1", "command 2", "command 3"]
    );
    assert_eq!(lab.rows("t", "SELECT count(*) FROM runs WHERE baseline = 0"), ["2"]);
    assert_eq!(lab.rows("t", "SELECT DISTINCT command FROM hooks"), [""]);
    assert_eq!(lab.rows("t", "SELECT count(DISTINCT key) FROM configurations"), ["3"]);
}

/// A table of a server is named by its URL.
#[test]
fn the_sort_order_of_a_table_does_not_show_the_password_of_its_server() {
    for bin in servers::by_url::bindirs() {
        let server =
            servers::by_url::Server::start(&bin, "host all app 127.0.0.1/32 scram-sha-256", &[]);
        for sql in [
            format!("CREATE ROLE app LOGIN PASSWORD '{SECRET}'"),
            "CREATE TABLE t AS SELECT g % 7 AS a, g % 3 AS b FROM generate_series(1, 5000) g"
                .to_owned(),
            "GRANT SELECT ON t TO app".to_owned(),
        ] {
            server.connect().batch(&sql).unwrap();
        }
        let lab = Lab::new();
        let url = format!("postgres://app:{SECRET}@127.0.0.1:{}/postgres", server.port);
        for form in [&[][..], &["--json"], &["--md"], &["--measure"]] {
            let ended = lab.steelbench(&[&["sort-order", &url, "t"], form].concat());
            check_hidden(&lab, &ended, &format!("{form:?}"));
            ended.expect(0).shows("app");
        }
    }
}

/// A blank or a quote ends a URL in a text, and a password may have both.
#[test]
fn urls_with_blanks_and_quotes_in_the_password_are_not_repeated() {
    let lab = Lab::new();
    for password in ["a PW", "PW b", "a\"PW", "a'PW", "a 'PW\" b", "a@b PW", "1 PW", "a`PW"] {
        for scheme in ["postgres", "mariadb", "mssql", "mongodb"] {
            let password = password.replace("PW", SECRET);
            let url = format!("{scheme}://u:{password}@127.0.0.1:1/d");
            for arguments in [
                &["waits", "--seconds", "0.1", &url][..],
                &["capture", &url, "--output", "c.json"],
                &["survey", "--server", &url],
                &["queries", &url],
                &["sort-order", &url, "t"],
                &["pg", "-t", "1", "-d", &url],
                &["show", &url],
                &["run", &url],
                &["time", "-r", "1", &url],
                &["time", "-r", "1", "-n", &url, "true"],
            ] {
                let mut command = lab.command(arguments);
                command.env("HOME", lab.path("")).env("PGCONNECT_TIMEOUT", "1");
                let ended = Exit::from(command.output().unwrap());
                check_hidden(&lab, &ended, &format!("{arguments:?}"));
            }
        }
    }
}
