//! A password is planted wherever one can stand. It is then in no output, no results file and no
//! title of a process.

use crate::common;
use crate::common::{Exit, Lab, end, scripted, wait_until};
use crate::planted::{INPUTS, SECRET, check_hidden, check_hidden_but_in};
use crate::serving;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

/// Connection strings with a secret, PW, that do not lead to a server.
pub const CONNECTION_STRINGS: &[&str] = &[
    "postgres://u:PW@127.0.0.1:1/d",
    "postgresql://u:PW@127.0.0.1:1/d?connect_timeout=1",
    "POSTGRES://u:PW@h",
    " postgres://u:PW@h",
    "\tpostgres://u:PW@h/d?sslmode=disable",
    "postgres:/u:PW@h",
    "postgres//u:PW@h",
    "jdbc:postgresql://u:PW@h",
    "mysql://u:PW@",
    "mysql://root:PW@h/d",
    "mariadb://u:PW@127.0.0.1:1/d",
    "MariaDB://u:PW@h",
    " mariadb://u:PW@h/d",
    "mariadb:/u:PW@h",
    "jdbc:mariadb://u:PW@h",
    "mariadb://u:a?PW@h",
    "mariadb://h/d?password=PW",
    "mongodb+srv://u:PW@h",
    "u:PW@h",
    "u:PW@h:5432/d",
    ":PW@h",
    "u:PW@",
    "postgres://u:a?PW@h",
    "postgres://u:a/PW@h",
    "postgres://u:a#PW@h",
    "postgres://u:PW",
    "postgres://u:a@PW@h",
    "postgres://u:%PW@h",
    "postgres://u:a@[PW@h",
    "postgres://u:PW@[h",
    "postgres://u:PW@h:x/d",
    "postgres://h/d?password=PW",
    "postgres://h/d?passwd=PW",
    "postgres://h/d?pass%77ord=PW",
    "postgres://h/d?password=a=PW",
    "postgres://127.0.0.1:1/d?sslpassword=PW",
    "host=127.0.0.1 port=1 password=PW",
    "host=h passwd=PW",
    "host=h password='PW",
    "host=h password=a PW",
    "host=h password = 'a b\\'PW' colour=blue",
    "host=u:PW@h port=1",
    "dbname=postgres://u:PW@h",
    "user=u:PW@h host=127.0.0.1 port=1",
    "service=u:PW@h",
    "mssql://sa:PW@127.0.0.1:1/master",
    "MSSQL://u:PW@h",
    " mssql://u:PW@h",
    "mssql:/u:PW@h",
    "sqlserver://u:PW@h",
    "mssql://u:a?PW@h",
    "mssql://u:a#PW@h",
    "mssql://u:a/PW@h",
    "mssql://h/d?password=PW",
    "mssql://h/d?pwd=PW",
    "jdbc:sqlserver://h;user=u;password=PW",
    "Server=127.0.0.1,1;Database=d;User Id=sa;Password=PW",
    "Server=tcp:h,1433;Initial Catalog=d;User ID=u;Password={PW};Encrypt=True",
    "Data Source=h;user=u;PaSsWoRd = PW;colour=blue",
    "server=h;password='a;PW';uid=u",
    "server=h;uid=u;pwd=\"a;PW\"",
    "Driver={ODBC Driver 18 for SQL Server};Server=h;UID=u;Pwd={a}}PW}",
    "mariadb://h/d?ssl-key=/x&ssl-passphrase=PW",
    "mariadb://h/d?ssl_key_password=PW",
    "mariadb://u@h/mssql:%2fu:PW%40h",
    "postgres://h/d?sslkey=/x&sslpassword=PW",
    "mysql:host=h;password=PW",
    "duckdb:u:PW@h",
    "https://PW@h/d",
    "redis://PW@h:1/0",
    "nats://PW@127.0.0.1:1",
    "mqtt://PW@h",
    "127.0.0.1:1:d:u:PW",
    "[::1]:1:d:u:PW",
];

fn connection_strings() -> Vec<String> {
    CONNECTION_STRINGS.iter().map(|text| text.replace("PW", SECRET)).collect()
}

#[test]
fn commands_that_take_a_connection_string_do_not_repeat_it() {
    let lab = Lab::with(&scripted(1, "", ""));
    for (nth, text) in connection_strings().iter().enumerate() {
        let commands = [
            &["waits", "--seconds", "0.1", text][..],
            &["waits", "--json", "--seconds", "0.1", text],
            &["waits", "--seconds", "0.1", "-u", "u", "-D", text],
            &["capture", text, "--seconds", "0.1", "--output", "c.json"],
            &["survey", "--server", text, "--volume", ".", "--output", "survey.json"],
            // Where it does not belong.
            &[text],
            &["waits", "postgres://h", text],
            &["show", text],
            &["history", text],
            &["report", text],
            &["export", text, "--format", "json"],
            &["serve", text, "--port", "0"],
            &["compare", text, text],
            &["run", text],
            &["check", text],
            &["run", "e.toml", "--server", text],
            &["disk", text, "--duration", "0.1"],
            &["pg", text],
            &["pg", "--engine", "mariadb", "-t", "1", text],
            &["pg", "-h", text, "-t", "1", "d"],
            &["data", text],
            &["size", text],
            &["sort-order", text],
            &["survey", "--volume", text],
            &["survey", "merge", text],
            &["plan", text],
            &["results", text],
            &["results", "x.csv", "--columns", text],
            &["predict", text, "--set", "connections=2"],
            &["predict", "t", "--set", text],
            &["profile", "compare", text, text],
            &["init", "--engine", text],
            &["capture", "postgres://h", "--output", "no/c.json", text],
            &["run", "e.toml", "--overwrite", text, "--limit", text],
        ];
        // Each command with every ninth string, or every third.
        let step = if testing::lane::is_all() { 3 } else { 9 };
        for arguments in commands.into_iter().skip(nth % step).step_by(step) {
            let mut command = lab.command(arguments);
            command.env("HOME", lab.path("")).env("PGCONNECT_TIMEOUT", "1");
            let ended = Exit::from(command.output().unwrap());
            let is_told = ended.code == Some(0) && arguments[0] != "survey";
            assert!(!is_told, "{arguments:?} {ended:?}");
            check_hidden(&lab, &ended, &format!("{arguments:?}"));
        }
    }
}

/// Results and reports name volumes and streams after the folders that are tested.
#[test]
fn a_folder_that_is_called_like_a_url_gives_its_name_to_nothing() {
    let lab = Lab::new();
    let folder = format!("postgres:/u:{SECRET}@h");
    std::fs::create_dir_all(lab.path(&folder)).unwrap();
    std::os::unix::fs::symlink(lab.path(&folder), lab.path("link")).unwrap();
    let quick = ["--duration", "0.1", "--warmup", "0", "--size", "1m", "--blocks", "1"];
    for arguments in [&[][..], &["--print"]] {
        let ended = lab.steelbench(&[&["disk", &folder][..], &quick, arguments].concat());
        check_hidden(&lab, &ended, &format!("{arguments:?}"));
        ended.expect(2).says("looks like a URL with a password");
    }
    for arguments in [&["disk", &folder, "--inspect"][..], &["survey", "--volume", &folder]] {
        let ended = lab.steelbench(arguments);
        check_hidden(&lab, &ended, &format!("{arguments:?}"));
        ended.expect(0);
    }
    // By another name it is tested like any other.
    let ended = lab.steelbench(&[&["disk", "link"][..], &quick].concat());
    check_hidden(&lab, &ended, "a link");
    ended.expect(0);
}

#[test]
fn variables_with_a_password_are_not_repeated() {
    let lab = Lab::with(
        &scripted(1, "", "")
            .replace("engine = \"null\"", "engine = \"postgres\"\nurl = \"host=127.0.0.1 port=1\""),
    );
    let near = format!("postgres://u:{SECRET}@h");
    for variables in [
        &[("PGPASSWORD", SECRET)][..],
        &[("PGDATABASE", &near)],
        &[("PGHOST", &near)],
        &[("PGUSER", &near)],
        &[("PGSERVICE", &near)],
        &[("PGPASSFILE", &near)],
        &[("PGHOSTADDR", &near)],
    ] {
        for arguments in
            [&["waits", "--seconds", "0.1"][..], &["check", "e.toml"], &["run", "e.toml", "--json"]]
        {
            let mut command = lab.command(arguments);
            command.env("HOME", lab.path("")).envs(variables.iter().copied());
            let ended = Exit::from(command.output().unwrap());
            check_hidden(&lab, &ended, &format!("{arguments:?} {variables:?}"));
        }
    }
}

/// A string of TOML, with escapes for letters that names of secrets are made of.
fn toml(text: &str, escaped: bool) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\t', "\\t");
    let escaped = if escaped { text.replace('w', "\\u0077").replace(':', "\\u003a") } else { text };
    format!("\"{escaped}\"")
}

#[test]
fn a_setting_with_a_password_is_refused_and_not_repeated() {
    let lab = Lab::new();
    let engines =
        ["postgres", "mariadb"].iter().flat_map(|engine| [(engine, false), (engine, true)]);
    // Every third combination with each command.
    let mut commands =
        [&["check", "e.toml"][..], &["check", "e.toml", "--json"], &["run", "e.toml"]]
            .into_iter()
            .cycle();
    let step = if testing::lane::is_all() { 1 } else { 3 };
    for text in connection_strings().into_iter().step_by(step) {
        for (engine, escaped) in engines.clone() {
            let value = toml(&text, escaped);
            for target in [
                format!("url = {value}"),
                format!("url = \"\"\nsettings.primary_conninfo = {value}"),
                format!("url = {value}\ncolour = 1"),
            ] {
                let file = scripted(1, "", "")
                    .replace("engine = \"null\"", &format!("engine = \"{engine}\"\n{target}"));
                lab.write(
                    "e.toml",
                    &file.replace("\"target.data_files\" = [1, 2]", "\"target.data_files\" = [1]"),
                );
                let arguments = commands.next().unwrap();
                let ended = lab.steelbench(arguments);
                check_hidden(&lab, &ended, &format!("{arguments:?} {target}"));
            }
            // Otherwise each kind of target would always have the same command.
            commands.next();
        }
    }
    for text in [format!("postgres://u:{SECRET}@h"), format!("host=h password={SECRET}")] {
        let file = scripted(1, "", "")
            .replace("engine = \"null\"", &format!("engine = \"postgres\"\nurl = \"{text}\""));
        lab.write("e.toml", &file);
        lab.steelbench(&["run", "e.toml"]).expect(2).says("in PGPASSWORD or ~/.pgpass");
    }
    assert!(!lab.path("results").exists());
}

#[test]
fn what_hooks_and_comments_hold_is_neither_recorded_nor_shown() {
    let near = format!("postgres://u:{SECRET}@h/d");
    let hooks = format!(
        "# psql {near}\n[hooks]\nbefore_run = 'echo {near}; PGPASSWORD={SECRET} sh \
         hook.sh'\nbefore_trial = \"echo '{{\\\"pass\\u0077ord\\\": \\\"{SECRET}\\\"}}'; sh \
         hook.sh --password {SECRET}\"\nafter_trial = 'echo password={SECRET}; test \
         $STEELBENCH_BLOCK = 1'\n[[volume]]\nname = \"v\"\npath = \"v\"\nprepare = 'mkdir -p v; \
         echo u:{SECRET}@h'\n"
    );
    let file = scripted(2, "volume = \"v\"", &hooks);
    let lab = Lab::with(&file);
    lab.write(
        "hook.sh",
        &format!(
            "export MYSQL_PWD='{SECRET}'\nenv | grep PWD\necho \"ALTER ROLE a PASSWORD \
             '{SECRET}'\"\n"
        ),
    );
    // Trials of the second block fail with what the hook has printed.
    for arguments in [
        &["check", "e.toml"][..],
        &["check", "e.toml", "--json"],
        &["run", "e.toml"],
        &["run", "e.toml", "--fresh", "--json"],
        &["run", "e.toml"],
        &["show", "t"],
        &["show", "t", "--json"],
        &["show", "t", "--md"],
        &["report", "t"],
        &["history", "t"],
        &["export", "t", "--format", "json"],
        &["export", "t", "--format", "csv"],
    ] {
        let ended = lab.steelbench(arguments);
        assert!(ended.code.is_some_and(|code| code < 2), "{arguments:?} {ended:?}");
        check_hidden(&lab, &ended, &format!("{arguments:?}"));
    }
    assert_eq!(
        lab.rows("t", "SELECT count(*) FROM runs"),
        ["2"],
        "the recorded file is the same file"
    );
    assert_eq!(
        lab.rows(
            "t",
            "SELECT count(*) FROM trials WHERE status = 'failed' AND cause LIKE '%password=***%'"
        ),
        ["4"]
    );
    // A hook around the run that fails ends it with what it has printed.
    lab.write(
        "e.toml",
        &file
            .replace("; test $STEEL", "; true $STEEL")
            .replace("sh hook.sh'", "sh hook.sh; false'"),
    );
    let ended = lab.run_with(&["--fresh"], 1).says("hook before_run failed");
    check_hidden(&lab, &ended, "before_run");
}

/// Everything that reads a results file.
const READERS: &[&[&str]] = &[
    &["show", "t"],
    &["show", "t", "--json"],
    &["show", "t", "--md"],
    &["show", "t", "--runs"],
    &["show", "t", "--source"],
    &["show", "t", "--source", "--json"],
    &["history", "t"],
    &["history", "t", "--json"],
    &["compare", "t@1", "t@2", "--json"],
    &["report", "t"],
    &["export", "t", "--format", "json"],
    &["export", "t", "--format", "csv"],
    &["export", "t", "--format", "parquet"],
    &["export", "t", "--format", "xlsx"],
];

/// A run of scripts on `SQLite` in which the secret stands wherever a file can hold it: comments,
/// the question, hooks and what they print, the script.
fn planted_everywhere() -> Lab {
    let near = format!("postgres://u:{SECRET}@h/d");
    let file = format!(
        "# {near}\n[experiment]\nname = \"t\"\nquestion = \"Is {near} faster?\"\n[target]\nengine \
         = \"sqlite\"\nvolume = \"v\"\nsetup.sql = \"schema.sql\" # API_TOKEN = \
         \"{SECRET}\"\n[workload]\nprobe = \"script\"\nscript = \"script.sql\"\nconnections = \
         1\ntransactions = 5 # token: '{SECRET}'\n[factors]\n\"target.settings.synchronous\" = \
         [\"normal\", \"full\"]\n[repeats]\nblocks = 2\n[hooks]\nbefore_run = 'API_TOKEN={SECRET} \
         sh hook.sh'\nbefore_trial = 'mysql --password={SECRET} 2>&1; sh hook.sh'\nafter_trial = \
         'echo \"said $PGPASSWORD $OTHER_TOKEN\"; test $STEELBENCH_BLOCK = 1'\n[[volume]]\nname = \
         \"v\"\npath = \"v\"\nprepare = 'mkdir -p v; echo {near}'\ncleanup = 'echo PASSWORD \
         \"{SECRET}\"'\n"
    );
    let lab = Lab::with(&file);
    lab.write(
        "hook.sh",
        &format!(
            "echo 'pwd={SECRET}'; echo \"$PGPASSWORD\"; env; cat /proc/$PPID/cmdline | tr '\\0' ' \
             '\n"
        ),
    );
    lab.write("script.sql", &format!("-- {near}\nSELECT 'password={SECRET}';\nSELECT 1;\n"));
    lab.write(
        "schema.sql",
        &format!("-- {near}\nCREATE TABLE a (password text DEFAULT 'password={SECRET}');\n"),
    );
    lab.write(".pgpass", &format!("*:*:*:*:{SECRET}\n"));
    // A repository with a login in the URL of its remote.
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        let git = git.args(["-c", "user.name=t", "-c", "user.email=t@t"]).args(arguments);
        git.current_dir(lab.path("")).output()
    };
    let remote = format!("https://u:{SECRET}@h/x.git");
    for arguments in [
        &["init", "-q"][..],
        &["remote", "add", "origin", &remote],
        &["commit", "-q", "--allow-empty", "-m", "x"],
    ] {
        if !git(arguments).is_ok_and(|output| output.status.success()) {
            common::skipped("git is not installed");
        }
    }
    lab.write(".pg_service.conf", &format!("[x]\nhost=127.0.0.1\nport=1\npassword={SECRET}\n"));
    std::fs::set_permissions(lab.path(".pgpass"), std::fs::Permissions::from_mode(0o600)).unwrap();
    lab
}

#[test]
fn a_secret_planted_everywhere_is_in_no_output_and_in_no_file() {
    let lab = planted_everywhere();
    // What is made of the user's tables holds what they hold.
    let cache = tempfile::tempdir().unwrap();
    let ask = |arguments: &[&str]| {
        let mut command = lab.command(arguments);
        command.env("HOME", lab.path("")).env("PGPASSWORD", SECRET).env("OTHER_TOKEN", SECRET);
        command.env("XDG_CACHE_HOME", cache.path());
        let ended = Exit::from(command.output().unwrap());
        check_hidden(&lab, &ended, &format!("{arguments:?}"));
        ended
    };
    ask(&["check", "e.toml"]).expect(0);
    ask(&["check", "e.toml", "--json"]).expect(0);
    // Trials of the second block fail with what the hook has printed.
    ask(&["run", "e.toml"]).expect(1);
    let label = format!("after postgres://u:{SECRET}@h");
    ask(&["run", "e.toml", "--fresh", "--json", "--label", &label]).expect(1);
    assert_eq!(lab.rows("t", "SELECT count(*) FROM trials WHERE cause LIKE '%said *%'"), ["4"]);
    for arguments in
        READERS.iter().chain(&[&["compare", "t", "synchronous=normal", "synchronous=full"][..]])
    {
        let ended = ask(arguments);
        assert!(ended.code.is_some_and(|code| code < 2), "{arguments:?}: {ended:?}");
    }
    // Servers: with a service, a password file, and the variable.
    for url in
        ["service=x connect_timeout=1", "host=127.0.0.1 port=1", "postgres://u@127.0.0.1:1/d"]
    {
        ask(&["waits", url, "--seconds=0.1"]).expect(1);
        ask(&["survey", "--server", url, "--volume", "."]);
    }
    lab.write("a.fio", &format!("# {SECRET}\n[j]\nrw=read\nsize=1m\nfilename=${{OTHER_TOKEN}}\n"));
    ask(&["disk", "--fio", "a.fio", "--print"]).expect(2).says("OTHER_TOKEN not used");
    {
        let server = serving::Server::start(&lab, &[]);
        for path in ["/", "/run?file=t", "/run?file=t&run=1", "/runs?from=t%401&to=t%402&all=1"] {
            let page = server.page(path);
            assert!(!page.contains("SECRET"), "{path}: {page}");
        }
    }
}

/// An older version, or an edit by hand, may have left one.
#[test]
fn a_secret_in_a_results_file_is_not_shown() {
    let lab = planted_everywhere();
    let cache = tempfile::tempdir().unwrap();
    for arguments in [&["run", "e.toml"][..], &["run", "e.toml", "--fresh"]] {
        let mut run = lab.command(arguments);
        Exit::from(run.env("XDG_CACHE_HOME", cache.path()).output().unwrap()).expect(1);
    }
    let near = format!("postgres://u:{SECRET}@h/d");
    let file = lab.results("t");
    for sql in [
        "UPDATE runs SET source = source || '# ' || ?1, question = ?1",
        "UPDATE files SET content = ?1",
        "UPDATE hooks SET command = ?1, output = ?1",
        "UPDATE trials SET cause = ?1 WHERE cause IS NOT NULL",
        "UPDATE configurations SET label = label || ' x=' || ?1",
        "UPDATE levels SET label = ?1 WHERE label = 'full'",
        "UPDATE configuration_levels SET level = ?1 WHERE level = 'full'",
        "UPDATE warnings SET detail = ?1",
        "UPDATE settings SET value = json_quote(?1) WHERE path = 'workload.script'",
    ] {
        file.execute(sql, [&near]).unwrap();
    }
    drop(file);
    let except = [&INPUTS[..], &["t.steelbench"]].concat();
    // The report of the run was written before.
    std::fs::remove_file(lab.path("results/t.html")).unwrap();
    for arguments in READERS {
        let ended = lab.steelbench(arguments);
        assert!(ended.code.is_some_and(|code| code < 2), "{arguments:?}: {ended:?}");
        check_hidden_but_in(&lab, &ended, &format!("{arguments:?}"), &except);
    }
    assert!(lab.read("results/t.html").contains("postgres://u:***"), "it is there, with stars");
    {
        let server = serving::Server::start(&lab, &[]);
        for path in ["/", "/run?file=t", "/run?file=t&run=1", "/runs?from=t%401&to=t%402&all=1"] {
            let page = server.page(path);
            assert!(!page.contains("SECRET"), "{path}: {page}");
        }
    }
}

#[test]
fn a_label_with_a_password_is_refused_and_not_repeated() {
    for (label, set) in
        [(format!("postgres://u:{SECRET}@h"), "1"), (format!("password={SECRET}"), "2")]
    {
        let level = format!(
            "[[level]]\nfactor = \"where\"\nname = \"{label}\"\nset = {{ \"target.data_files\" = \
             {set} }}\n"
        );
        let other =
            "[[level]]\nfactor = \"where\"\nname = \"else\"\nset = { \"target.data_files\" = 3 }\n";
        let file = scripted(1, "", "").replace("[factors]\n\"target.data_files\" = [1, 2]\n", "");
        let lab = Lab::with(&format!("{file}{level}{other}"));
        for arguments in
            [&["check", "e.toml"][..], &["check", "e.toml", "--json"], &["run", "e.toml"]]
        {
            let ended = lab.steelbench(arguments).expect(2).says("a password in the file");
            check_hidden(&lab, &ended, &format!("{arguments:?}"));
        }
    }
}

/// `ps` shows everybody on the machine the words of a process.
#[test]
fn the_titles_of_the_processes_of_a_hook_do_not_show_a_password() {
    let hook = format!("[hooks]\nbefore_run = 'touch begun; PGPASSWORD={SECRET} sh hook.sh'\n");
    let lab = Lab::with(&scripted(1, "", &hook));
    lab.write("hook.sh", "while ! test -e go; do sleep 0.05; done; test -n \"$PGPASSWORD\"\n");
    let child = lab.start();
    wait_until("the hook runs", || lab.path("begun").exists());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let here = lab.path("").canonicalize().unwrap();
    let titles: Vec<String> = processes
        .filter(|process| {
            std::fs::read_link(process.path().join("cwd")).is_ok_and(|cwd| cwd == here)
        })
        .map(|process| std::fs::read_to_string(process.path().join("cmdline")).unwrap_or_default())
        .collect();
    lab.write("go", "");
    end(child).expect(0);
    assert!(titles.len() > 1 && titles.iter().all(|title| !title.contains("SECRET")), "{titles:?}");
}

#[test]
fn the_title_of_the_process_does_not_show_a_password() {
    // A server that accepts and says nothing.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let lab = Lab::new();
    for url in [
        format!("postgres://u:{SECRET}@127.0.0.1:{port}/d"),
        format!("host=127.0.0.1 port={port} password='{SECRET}' user=u"),
    ] {
        let mut child = lab.start_with(&["waits", "--seconds", "0.1", &url]);
        let title =
            || std::fs::read_to_string(format!("/proc/{}/cmdline", child.id())).unwrap_or_default();
        wait_until("the title is changed", || title().contains("****"));
        let title = title();
        assert!(!title.contains("SECRET") && title.contains(&port.to_string()), "{title}");
        let mut warning = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut warning).unwrap();
        common::signal(&child, libc::SIGKILL);
        end(child);
        assert!(
            warning.contains("other users of this machine may have seen the password"),
            "{warning}"
        );
    }
}
