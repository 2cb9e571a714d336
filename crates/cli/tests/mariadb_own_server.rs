//! Variables of a MariaDB server by URL that need SET GLOBAL and restarts: permitted, recorded, and
//! put back to just what they were.

use crate::common::{Lab, end, signal, wait_until};
use crate::servers;
use crate::servers::mariadb::{Server, give, program};
use crate::servers::{causes, lab};
use mariadb::client::Client;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

/// A server with a folder of option files and a command that restarts it.
struct UserServer {
    server: Server,
    restart: PathBuf,
}

impl UserServer {
    /// `None`, with a word about it, where no server is installed.
    fn start() -> Option<Self> {
        let mut server = Server::start(&[])?;
        server.stop();
        let folder = server.folder();
        std::fs::create_dir(folder.join("conf.d")).unwrap();
        std::fs::write(
            folder.join("my.cnf"),
            format!("!includedir {}\n", folder.join("conf.d").display()),
        )
        .unwrap();
        let (restart, pid) = (folder.join("restart.sh"), folder.join("pid"));
        let (program, arguments) = (program("mariadbd").unwrap(), server.arguments().join(" "));
        let text = format!(
            "#!/bin/sh\necho $1 >> {log}\npid=$(cat {pid} 2>/dev/null)\nif [ -n \"$pid\" ]; then \
             kill $pid; while grep -q mariadbd /proc/$pid/cmdline 2>/dev/null; do sleep 0.05; \
             done; fi\nrm -f {pid}\n[ \"$1\" = stop ] && exit 0\nTMPDIR={folder} setsid {program} \
             --defaults-file={folder}/my.cnf {arguments} </dev/null >>{folder}/log 2>&1 &\n",
            log = folder.join("restarts").display(),
            pid = pid.display(),
            folder = folder.display(),
            program = program.display(),
        );
        std::fs::write(&restart, text).unwrap();
        std::fs::set_permissions(&restart, PermissionsExt::from_mode(0o755)).unwrap();
        // What a kill leaves is not another's process by now.
        let _ = std::fs::remove_file(pid);
        give(folder);
        let fixture = Self { server, restart };
        fixture.control("start");
        Some(fixture)
    }

    fn control(&self, what: &str) {
        let ended = Command::new(&self.restart).arg(what).current_dir("/").output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
        wait_until("the server runs", || Client::connect(&self.server.config()).is_ok());
    }

    fn shown(&self, variable: &str) -> String {
        self.server.connect().cell(&format!("SELECT @@GLOBAL.{variable}")).unwrap().unwrap()
    }

    /// The variables that the tests change.
    fn all(&self) -> Vec<String> {
        ["innodb_sort_buffer_size", "back_log", "innodb_io_capacity", "max_allowed_packet"]
            .map(|name| self.shown(name))
            .into()
    }

    fn option_file(&self) -> PathBuf {
        self.server.folder().join("conf.d/steelbench.cnf")
    }

    fn restarts(&self) -> usize {
        let log = std::fs::read_to_string(self.server.folder().join("restarts")).unwrap();
        log.lines().filter(|line| *line == "restart").count()
    }

    fn experiment(&self, target: &str, workload: &str, factors: &str) -> String {
        let url = self.server.url("root");
        format!(
            "[experiment]\nname = \"t\"\n[target]\nengine = \"mariadb\"\nurl = \
             \"{url}\"\n{target}\n[workload]\n{workload}\n[observe]\nwaits = \
             false\n[repeats]\nblocks = 1\n{factors}"
        )
    }

    fn permitted(&self) -> String {
        let (restart, file) = (self.restart.display(), self.option_file());
        format!(
            "allow_server_settings = true\nallow_restart = \"{restart} restart\"\noption_file = \
             \"{}\"",
            file.display()
        )
    }

    /// Waits for a load, also while the server restarts.
    fn await_load(&self) {
        wait_until("a load runs", || {
            let client = Client::connect(&self.server.config()).ok();
            let runs = "SELECT 1 FROM information_schema.processlist WHERE db = 'steelbench' \
                        HAVING count(*) > 2";
            client.and_then(|mut client| client.cell(runs).ok()).flatten().is_some()
        });
    }
}

impl Drop for UserServer {
    fn drop(&mut self) {
        let _ = Command::new(&self.restart).arg("stop").current_dir("/").output();
    }
}

const ONCE: &str = "probe = \"script\"\nscript = \"r.sql\"\nconnections = 1\ntransactions = 1";
const ENDLESS: &str =
    "probe = \"insert\"\nconnections = 2\nduration = \"600 s\"\nrows_per_transaction = 10";

/// A variable of each kind: by restart, by SET GLOBAL, of sessions that take it over, and of a
/// session.
const SETTINGS: &str = "settings = { innodb_sort_buffer_size = \"2M\", back_log = 77, \
                        innodb_io_capacity = 321, max_allowed_packet = \"2M\", sort_buffer_size = \
                        \"1M\" }";

/// Has a trial tell what it sees.
const RECORD: &str = "INSERT INTO app.recorded SELECT concat_ws(' ', @@innodb_sort_buffer_size, \
                    @@back_log, @@innodb_io_capacity, @@max_allowed_packet, @@sort_buffer_size);\n";

fn recorded(fixture: &UserServer) -> Vec<String> {
    let rows =
        fixture.server.connect().query("SELECT words FROM app.recorded ORDER BY words").unwrap();
    rows.iter().map(|row| row.text(0)).collect()
}

fn prepared(fixture: &UserServer, file: &str) -> Lab {
    let lab = lab(file);
    lab.write("r.sql", RECORD);
    fixture
        .server
        .connect()
        .run("CREATE DATABASE IF NOT EXISTS app; CREATE OR REPLACE TABLE app.recorded (words text)")
        .unwrap();
    lab
}

#[test]
fn variables_of_a_server_are_in_force_in_trials_and_put_back_afterwards() {
    let Some(fixture) = UserServer::start() else { return };
    fixture.server.connect().run("SET GLOBAL long_query_time = 5").unwrap();
    let before = fixture.all();
    let factors = "[factors]\n\"target.settings.innodb_sort_buffer_size\" = [\"2M\", \"4M\"]\n";
    let settings = SETTINGS.replace("innodb_sort_buffer_size = \"2M\", ", "");
    let lab = prepared(
        &fixture,
        &fixture.experiment(&format!("{}\n{settings}", fixture.permitted()), ONCE, factors),
    );
    lab.run(0);
    assert_eq!(
        recorded(&fixture),
        ["2097152 77 321 2097152 1048576", "4194304 77 321 2097152 1048576"]
    );
    assert_eq!(fixture.all(), before);
    // Values set at run time survive Steelbench's restarts.
    assert_eq!(fixture.shown("long_query_time"), "5.000000");
    assert!(!fixture.option_file().exists());
    // One for each level, and one at the end.
    assert_eq!(fixture.restarts(), 3);
    assert_eq!((servers::records(&lab), lab.work_folders()), (Vec::new(), Vec::new()));
    // What stood in the file stays there, and without a variable that needs a restart there is
    // none.
    std::fs::write(fixture.option_file(), "[mysqld]\nback_log = 55").unwrap();
    fixture.control("start");
    let target = format!(
        "{}\nsettings = {{ innodb_io_capacity = 400, back_log = 66 }}",
        fixture.permitted()
    );
    lab.write("e.toml", &fixture.experiment(&target, ONCE, ""));
    lab.run_with(&["--fresh"], 0);
    assert_eq!(std::fs::read_to_string(fixture.option_file()).unwrap(), "[mysqld]\nback_log = 55");
    assert_eq!((fixture.shown("back_log").as_str(), fixture.restarts()), ("55", 5));
    assert!(
        recorded(&fixture).iter().any(|words| words.contains(" 66 400 ")),
        "{:?}",
        recorded(&fixture)
    );
    let target = "allow_server_settings = true\nsettings.innodb_io_capacity = 444";
    lab.write("e.toml", &fixture.experiment(target, ONCE, ""));
    lab.run_with(&["--fresh"], 0);
    assert!(
        recorded(&fixture).iter().any(|words| words.contains(" 55 444 ")),
        "{:?}",
        recorded(&fixture)
    );
    assert_eq!((fixture.shown("innodb_io_capacity"), fixture.restarts()), (before[2].clone(), 5));
}

#[test]
fn what_is_not_permitted_is_refused_before_the_first_trial_and_changes_nothing() {
    let Some(fixture) = UserServer::start() else { return };
    let before = fixture.all();
    let lab = prepared(&fixture, "");
    let text = "settings.innodb_sort_buffer_size = \"2M\"";
    for (target, text) in [
        (text.to_owned(), "needs a server restart. On a server by URL"),
        ("settings.innodb_io_capacity = 321".into(), "is server-wide. On a server by URL"),
        (
            format!("allow_server_settings = true\n{text}"),
            "needs a server restart; to permit one, set target.allow_restart",
        ),
        ("settings.sort_bufer_size = \"1M\"".into(), "did you mean `sort_buffer_size`?"),
        ("settings.sql_mode = \"NONSENSE\"".into(), "can't be set to the value of 'NONSENSE'"),
        (
            "allow_restart = \"true\"\noption_file = \"/x.cnf\"".into(),
            "needs target.allow_server_settings = true as well",
        ),
        ("allow_server_settings = true\nallow_restart = \"true\"".into(), "target.option_file"),
    ] {
        lab.write("e.toml", &fixture.experiment(&target, ONCE, ""));
        lab.steelbench(&["check", "e.toml"]).expect(2).says(text);
        lab.run_with(&["--fresh"], 2).says(text);
    }
    lab.write(
        "e.toml",
        "[experiment]\nname = \"t\"\n[target]\nengine = \"mariadb\"\nallow_server_settings = \
         true\n[workload]\nprobe = \"insert\"\n",
    );
    lab.run(2).says("needs this permission, a private server does not");
    assert_eq!(lab.trials("t"), 0);
    // A value that the server makes another of.
    lab.write(
        "e.toml",
        &fixture.experiment("allow_server_settings = true\nsettings.max_connections = 5", ONCE, ""),
    );
    lab.run_with(&["--fresh"], 1);
    assert!(
        causes(&lab).last().unwrap().contains("max_connections = 5 had no effect"),
        "{:?}",
        causes(&lab)
    );
    // A command that does nothing is found out.
    let idle =
        fixture.permitted().replace(&format!("{} restart", fixture.restart.display()), "true");
    lab.write("e.toml", &fixture.experiment(&format!("{idle}\n{text}"), ONCE, ""));
    lab.run_with(&["--fresh"], 1);
    assert!(
        causes(&lab).last().unwrap().contains(
            "did not restart the server, which has been \
                                               running since"
        ),
        "{:?}",
        causes(&lab)
    );
    assert_eq!(
        (fixture.restarts(), fixture.option_file().exists(), fixture.all()),
        (0, false, before)
    );
}

#[test]
fn a_kill_leaves_a_record_from_which_the_next_run_on_that_server_puts_back() {
    let Some(fixture) = UserServer::start() else { return };
    let before = fixture.all();
    let lab = prepared(
        &fixture,
        &fixture.experiment(&format!("{}\n{SETTINGS}", fixture.permitted()), ENDLESS, ""),
    );
    let child = lab.start();
    fixture.await_load();
    assert_eq!(fixture.all(), ["2097152", "77", "321", "2097152"]);
    // Another experiment on that server.
    let other = |target: &str| {
        let file = fixture.experiment(target, ONCE, "").replace("name = \"t\"", "name = \"other\"");
        lab.write("other.toml", &file);
        lab.steelbench(&["run", "other.toml", "--full", "--fresh"])
    };
    other(&fixture.permitted()).expect(1).says("another run has changed them and is still running");
    assert_eq!(fixture.shown("back_log"), "77");
    signal(&child, libc::SIGKILL);
    end(child);
    let [record] = &servers::records(&lab)[..] else { panic!("{:?}", servers::records(&lab)) };
    // One that may not change the server says what is to be done.
    other("")
        .expect(1)
        .says(&record.canonicalize().unwrap().display().to_string())
        .says(&format!("remove {}", fixture.option_file().display()))
        .says("SET GLOBAL innodb_io_capacity = 200");
    other(&fixture.permitted())
        .expect(0)
        .says("an earlier run did not end properly")
        .says("restored the settings of");
    assert_eq!(fixture.all(), before);
    assert_eq!((servers::records(&lab), fixture.option_file().exists()), (Vec::new(), false));
    assert_eq!(recorded(&fixture).len(), 1);
    // After a killed run and a restart of the server there is nothing left to restore.
    lab.write(
        "e.toml",
        &fixture.experiment(
            "allow_server_settings = true\nsettings.innodb_io_capacity = 345",
            ENDLESS,
            "",
        ),
    );
    let child = lab.start_with(&["run", "e.toml", "--fresh"]);
    fixture.await_load();
    signal(&child, libc::SIGKILL);
    end(child);
    // A server tells the second in which it was started.
    std::thread::sleep(std::time::Duration::from_secs(1));
    fixture.control("start");
    fixture.server.connect().run("SET GLOBAL innodb_io_capacity = 456").unwrap();
    other("allow_server_settings = true").expect(0).says("an earlier run did not end properly");
    assert_eq!(
        (fixture.shown("innodb_io_capacity").as_str(), servers::records(&lab)),
        ("456", Vec::new())
    );
}

#[test]
fn an_interrupt_and_a_failure_put_back_too() {
    let Some(fixture) = UserServer::start() else { return };
    let before = fixture.all();
    let lab = prepared(
        &fixture,
        &fixture.experiment(&format!("{}\n{SETTINGS}", fixture.permitted()), ENDLESS, ""),
    );
    let child = lab.start();
    fixture.await_load();
    signal(&child, libc::SIGINT);
    end(child).expect(130);
    assert_eq!(fixture.all(), before);
    // A command that fails after it has stopped the server, which then has to be started for it to
    // be put back.
    let script = fixture.server.folder().join("once.sh");
    let failing = format!(
        "#!/bin/sh\nif [ -e {0}.done ]; then exec {1} restart; fi\ntouch {0}.done\n{1} stop\necho \
         no such luck >&2\nexit 1\n",
        script.display(),
        fixture.restart.display()
    );
    std::fs::write(&script, failing).unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    let restart = format!("{} restart", fixture.restart.display());
    let target = format!(
        "{}\nsettings.back_log = 99",
        fixture.permitted().replace(&restart, &script.display().to_string())
    );
    lab.write("e.toml", &fixture.experiment(&target, ONCE, ""));
    lab.run_with(&["--fresh"], 1);
    assert!(causes(&lab).last().unwrap().contains("no such luck"), "{:?}", causes(&lab));
    assert_eq!(fixture.all(), before);
    assert_eq!((servers::records(&lab), fixture.option_file().exists()), (Vec::new(), false));
}

#[test]
fn tuned_variables_stay_until_they_are_undone() {
    let Some(fixture) = UserServer::start() else { return };
    let before = fixture.all();
    let sort = fixture.shown("sort_buffer_size");
    let target = "allow_server_settings = true\nsettings = { innodb_io_capacity = 1500, \
                  sort_buffer_size = \"3M\" }";
    // A transaction takes as long as the first variable is large. The second is 2M by default.
    let knobs = "[[knob]]\nsetting = \"target.settings.innodb_io_capacity\"\nrange = [300, \
                 1500]\n[[knob]]\nsetting = \"target.settings.sort_buffer_size\"\nrange = [3, \
                 8]\nunit = \"M\"\n[tune]\nbudget = \"20 trials\"\n";
    let file = fixture.experiment(target, ONCE, knobs).replace("blocks = 1", "blocks = 3");
    let lab = lab(&file.replace("name = \"t\"", "name = \"t\"\nresponse = \"elapsed\""));
    lab.write("r.sql", "SELECT sleep(@@GLOBAL.innodb_io_capacity / 2500);\n");
    let apply = || lab.steelbench(&["tune", "e.toml", "--on-live", "--apply", "--full"]).expect(0);
    apply().says("applied to").says("innodb_io_capacity, sort_buffer_size");
    assert_ne!(fixture.all(), before);
    assert_ne!(fixture.shown("sort_buffer_size"), sort);
    let tuned = fixture.shown("innodb_io_capacity");
    apply();
    assert_eq!(fixture.shown("innodb_io_capacity"), tuned);

    let once = fixture.experiment(
        "allow_server_settings = true\nsettings.innodb_io_capacity = 345",
        ENDLESS,
        "",
    );
    lab.write("once.toml", &once.replace("name = \"t\"", "name = \"once\""));
    let child = lab.start_with(&["run", "once.toml"]);
    fixture.await_load();
    assert_eq!(fixture.shown("innodb_io_capacity"), "345");
    signal(&child, libc::SIGKILL);
    end(child);
    let undone = lab.steelbench(&["tune", "e.toml", "--undo"]).expect(0).stdout;
    assert_eq!(undone.matches("restored the settings of").count(), 2, "{undone}");
    assert!(undone.contains("dropped the tables of a killed run"), "{undone}");
    assert_eq!((fixture.all(), fixture.shown("sort_buffer_size")), (before, sort));
}
