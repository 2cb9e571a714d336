//! Settings of a server by URL that need ALTER SYSTEM and restarts: permitted, recorded, and put
//! back to just what they were.

use crate::common::{Lab, end, signal, wait_until};
use crate::servers;
use crate::servers::by_url::{OWNER, Server, bindirs};
use crate::servers::{LOAD_RUNS, causes, create_log, say};
use postgres::client::Client;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A server with a command that restarts it, with one value set in its file and one that is not.
struct UserServer {
    server: Server,
    restart: PathBuf,
}

impl UserServer {
    fn start(bin: &Path) -> Self {
        let server = Server::start(bin, "", &[]);
        let restart = server.folder().join("restart.sh");
        let (data, log) = (server.folder().join("data"), server.folder().join("log2"));
        let program = format!(
            "{} -D {} -l {} -w -m fast",
            bin.join("pg_ctl").display(),
            data.display(),
            log.display()
        );
        // As the server's user: never root, whom PostgreSQL refuses.
        let user = format!("{}", std::os::unix::fs::MetadataExt::uid(&data.metadata().unwrap()));
        let run = format!(
            "if [ $(id -u) = {user} ]; then {program} $1; else setpriv --reuid={user} \
             --clear-groups {program} $1; fi"
        );
        std::fs::write(
            &restart,
            format!("#!/bin/sh\necho $1 >> {}.log\n{run}\n", restart.display()),
        )
        .unwrap();
        std::fs::set_permissions(&restart, std::fs::Permissions::from_mode(0o755)).unwrap();
        let fixture = Self { server, restart };
        fixture.alter("ALTER SYSTEM SET shared_buffers = '24MB'");
        fixture.alter(
            "ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements', 'auto_explain'",
        );
        fixture.control("restart");
        fixture
    }

    fn control(&self, what: &str) {
        let ended = Command::new(&self.restart).arg(what).current_dir("/").output().unwrap();
        assert!(ended.status.success(), "{ended:?}");
    }

    fn client(&self) -> Client {
        Client::connect(&self.server.config()).unwrap()
    }

    fn alter(&self, sql: &str) {
        self.client().batch(sql).unwrap();
    }

    /// Waits for a load, also while the server restarts.
    fn await_load(&self) {
        wait_until("a load runs", || {
            let client = Client::connect(&self.server.config()).ok();
            client.and_then(|mut client| client.cell(LOAD_RUNS).ok()).flatten().is_some()
        });
    }

    fn shown(&self, setting: &str) -> String {
        self.client().cell(&format!("SHOW {setting}")).unwrap().unwrap()
    }

    /// The file without the comment.
    fn file(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.server.folder().join("data/postgresql.auto.conf"))
            .unwrap();
        let mut lines: Vec<String> =
            text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect();
        lines.sort();
        lines
    }

    fn restarts(&self) -> usize {
        std::fs::read_to_string(format!("{}.log", self.restart.display()))
            .unwrap_or_default()
            .lines()
            .count()
    }

    fn experiment(&self, target: &str, workload: &str, factors: &str) -> String {
        let (folder, port) = (self.server.folder().display(), self.server.port);
        format!(
            "[experiment]\nname = \"t\"\n[target]\nengine = \"postgres\"\nurl = \"host={folder} \
             port={port} user={OWNER} \
             dbname=postgres\"\n{target}\n[workload]\n{workload}\n[repeats]\nblocks = 1\n{factors}"
        )
    }

    fn permitted(&self) -> String {
        format!(
            "allow_server_settings = true\nallow_restart = \"{} restart\"",
            self.restart.display()
        )
    }
}

impl Drop for UserServer {
    fn drop(&mut self) {
        let _ = Command::new(&self.restart).arg("stop").current_dir("/").output();
    }
}

const ONCE: &str = "probe = \"script\"\nscript = \"r.sql\"\nconnections = 1\ntransactions = \
                    1\nprotocol = \"simple\"";
const ENDLESS: &str =
    "probe = \"insert\"\nconnections = 2\nduration = \"600 s\"\nrows_per_transaction = 10";

/// A setting of each kind: by restart, with and without a value before; by reload; a list; and of a
/// session.
const SETTINGS: &str = "settings = { shared_buffers = \"32MB\", max_wal_senders = 7, \
                        checkpoint_timeout = \"7min\", shared_preload_libraries = \
                        \"auto_explain\", work_mem = \"5MB\" }";

const SHOWN: &str = "SELECT string_agg(setting, ' ' ORDER BY name) FROM pg_settings WHERE name IN \
                     ('shared_buffers', 'max_wal_senders', 'checkpoint_timeout', \
                     'shared_preload_libraries', 'work_mem')";

fn lab(file: &str) -> Lab {
    let lab = servers::lab(file);
    create_log(&lab);
    lab.write("r.sql", &say(&lab, SHOWN));
    lab
}

#[test]
fn settings_of_a_server_are_in_force_in_trials_and_put_back_afterwards() {
    for bin in bindirs() {
        let fixture = UserServer::start(&bin);
        let before = fixture.file();
        let factors = "[factors]\n\"target.settings.shared_buffers\" = [\"32MB\", \"40MB\"]\n";
        let settings = SETTINGS.replace("shared_buffers = \"32MB\", ", "");
        let lab = lab(&fixture.experiment(
            &format!("{}\n{settings}", fixture.permitted()),
            ONCE,
            factors,
        ));
        lab.run(0);
        let mut line: Vec<String> = lab.read("said").lines().map(str::to_owned).collect();
        line.sort();
        assert_eq!(line, ["420 7 4096 auto_explain 5120", "420 7 5120 auto_explain 5120"]);
        assert_eq!(fixture.file(), before);
        assert_eq!(fixture.shown("shared_buffers"), "24MB");
        assert_eq!(fixture.shown("checkpoint_timeout"), "5min");
        assert_eq!(fixture.shown("shared_preload_libraries"), "pg_stat_statements, auto_explain");
        // One for each level, one at the end, and the test's own.
        assert_eq!(fixture.restarts(), 4);
        assert_eq!(lab.work_folders(), Vec::<PathBuf>::new());
    }
}

#[test]
fn what_is_not_permitted_is_refused_and_changes_nothing() {
    for bin in bindirs() {
        let fixture = UserServer::start(&bin);
        let before = fixture.file();
        let lab = lab("");
        for (permitted, text) in [
            ("", "Set target.allow_server_settings = true"),
            (
                "allow_server_settings = true\n",
                "needs a server restart; to permit one, set target.allow_restart",
            ),
        ] {
            let target = format!("{permitted}settings.shared_buffers = \"32MB\"");
            lab.write("e.toml", &fixture.experiment(&target, ONCE, ""));
            lab.run_with(&["--fresh"], 2).says(text);
        }
        lab.write("e.toml", &fixture.experiment("allow_restart = \"true\"", ONCE, ""));
        lab.run(2).says("needs target.allow_server_settings = true as well");
        lab.write(
            "e.toml",
            "[experiment]\nname = \"t\"\n[target]\nengine = \"postgres\"\nallow_server_settings = \
             true\n[workload]\nprobe = \"insert\"\n",
        );
        lab.run(2).says("needs this permission, a private server does not");
        // Another user's pending change does not take effect with Steelbench's restart.
        fixture.alter("ALTER SYSTEM SET max_connections = 90");
        fixture.alter("SELECT pg_reload_conf()");
        let others = fixture.file();
        let target = format!("{}\nsettings.shared_buffers = \"32MB\"", fixture.permitted());
        lab.write("e.toml", &fixture.experiment(&target, ONCE, ""));
        lab.run_with(&["--fresh"], 1);
        assert!(
            causes(&lab).last().unwrap().contains("a pending change of max_connections"),
            "{:?}",
            causes(&lab)
        );
        assert_eq!((fixture.file(), fixture.restarts()), (others.clone(), 1));
        assert_ne!(others, before);
        // A command that does nothing is found out.
        fixture.control("restart");
        let target = "allow_server_settings = true\nallow_restart = \
                      \"true\"\nsettings.shared_buffers = \"32MB\"";
        lab.write("e.toml", &fixture.experiment(target, ONCE, ""));
        lab.run_with(&["--fresh"], 1);
        assert!(
            causes(&lab).last().unwrap().contains(
                "did not restart the server, which has been \
                                                   running since"
            ),
            "{:?}",
            causes(&lab)
        );
        assert_eq!(fixture.file(), others);
    }
}

#[test]
fn a_kill_leaves_a_record_from_which_the_next_run_on_that_server_puts_back() {
    for bin in bindirs() {
        let fixture = UserServer::start(&bin);
        let before = fixture.file();
        let lab =
            lab(&fixture.experiment(&format!("{}\n{SETTINGS}", fixture.permitted()), ENDLESS, ""));
        let child = lab.start();
        fixture.await_load();
        assert_eq!(fixture.shown("shared_buffers"), "32MB");
        // Another experiment, in another database of the server.
        let other = |target: &str| {
            let file =
                fixture.experiment(target, ONCE, "").replace("name = \"t\"", "name = \"other\"");
            lab.write("other.toml", &file.replace("dbname=postgres", "dbname=template1"));
            lab.steelbench(&["run", "other.toml", "--full", "--fresh"])
        };
        other(&fixture.permitted())
            .expect(1)
            .says("another run has changed them and is still running");
        assert_eq!(fixture.shown("shared_buffers"), "32MB");
        signal(&child, libc::SIGKILL);
        end(child);
        assert_ne!(fixture.file(), before);
        let [record] = &servers::records(&lab)[..] else { panic!("{:?}", servers::records(&lab)) };
        // One that may not change the server says what is to be done.
        other("")
            .expect(1)
            .says(&record.canonicalize().unwrap().display().to_string())
            .says("ALTER SYSTEM SET \"shared_buffers\" = '24MB'")
            .says("ALTER SYSTEM RESET \"max_wal_senders\"");
        other(&fixture.permitted())
            .expect(0)
            .says("an earlier run did not end properly")
            .says("restored the settings of");
        assert_eq!(fixture.file(), before);
        assert_eq!(servers::records(&lab), Vec::<PathBuf>::new());
        assert_eq!(lab.read("said"), "300 10 3072 pg_stat_statements, auto_explain 4096\n");
        // The run that was killed has nothing left to put back.
        lab.write("e.toml", &fixture.experiment("", ONCE, ""));
        let next = lab.run_with(&["--fresh"], 0);
        assert!(!next.stderr.contains("restored the settings"), "{next:#?}");
        assert_eq!(lab.work_folders(), Vec::<PathBuf>::new());
    }
}

#[test]
fn an_interrupt_and_a_failure_put_back_too() {
    for bin in bindirs() {
        let fixture = UserServer::start(&bin);
        let before = fixture.file();
        let target = format!("{}\n{SETTINGS}", fixture.permitted());
        let lab = lab(&fixture.experiment(&target, ENDLESS, ""));
        let child = lab.start();
        fixture.await_load();
        signal(&child, libc::SIGINT);
        end(child).expect(130);
        assert_eq!(fixture.file(), before);
        assert_eq!(fixture.shown("shared_buffers"), "24MB");
        // With this the server does not start: there is no such memory.
        let target = format!("{}\nsettings.shared_buffers = \"7TB\"", fixture.permitted());
        lab.write("e.toml", &fixture.experiment(&target, ONCE, ""));
        lab.run_with(&["--fresh"], 1);
        assert!(causes(&lab)[0].contains("restarting the server"), "{:?}", causes(&lab));
        assert_eq!(fixture.file(), before);
        assert_eq!(fixture.shown("shared_buffers"), "24MB");
        assert_eq!(servers::records(&lab), Vec::<PathBuf>::new());
    }
}

/// Each transaction takes a thousandth of the checkpoint interval.
const TUNED: &str = "[[knob]]\nsetting = \"target.settings.checkpoint_timeout\"\nrange = [30, \
                     300]\nunit = \"s\"\n[[knob]]\nsetting = \
                     \"target.settings.work_mem\"\nrange = [5, 64]\nunit = \"MB\"\n[tune]\nbudget \
                     = \"20 trials\"\n";
/// At least 75 ms: what a busy machine adds must stay well below the range of unstable settings.
const SLEEP: &str = "SELECT pg_sleep(setting::float / 400) FROM pg_settings WHERE name = \
                     'checkpoint_timeout';\n";

#[test]
fn tuned_settings_stay_until_they_are_undone() {
    for bin in bindirs() {
        let fixture = UserServer::start(&bin);
        let before = fixture.file();
        let target = "allow_server_settings = true\nsettings = { checkpoint_timeout = \"300s\", \
                      work_mem = \"5MB\" }";
        let file = fixture.experiment(target, ONCE, TUNED).replace("blocks = 1", "blocks = 3");
        let file = file.replace("name = \"t\"", "name = \"t\"\nresponse = \"elapsed\"");
        let lab = servers::lab(&file);
        lab.write("r.sql", SLEEP);
        lab.steelbench(&["tune", "e.toml", "--apply"]).expect(2).says("--on-live");
        let undo = || lab.steelbench(&["tune", "e.toml", "--undo"]).expect(0).stdout;
        assert!(undo().ends_with("Nothing to undo: there is no record for this server.\n"));

        let apply =
            || lab.steelbench(&["tune", "e.toml", "--on-live", "--apply", "--full"]).expect(0);
        apply().says("applied to").says("checkpoint_timeout, work_mem").says("--undo");
        let tuned = fixture.file();
        assert_ne!(tuned, before);
        // All sessions have it, also what a session may set.
        assert_ne!(fixture.shown("checkpoint_timeout"), "5min");
        assert!(tuned.iter().any(|line| line.starts_with("work_mem")), "{tuned:?}");
        assert_ne!(fixture.shown("work_mem"), "4MB");
        apply();
        assert_eq!(fixture.file(), tuned);

        // A run leaves the applied settings, and one that was killed is undone with them.
        let once = fixture.experiment(
            "allow_server_settings = true\nsettings.checkpoint_timeout = \"7min\"",
            ENDLESS,
            "",
        );
        lab.write("once.toml", &once.replace("name = \"t\"", "name = \"once\""));
        let child = lab.start_with(&["run", "once.toml"]);
        fixture.await_load();
        assert_eq!(fixture.shown("checkpoint_timeout"), "7min");
        let refused = lab.steelbench(&["tune", "e.toml", "--undo"]).expect(1);
        refused.says("another run has changed them and is still running");
        signal(&child, libc::SIGKILL);
        end(child);
        // A damaged record keeps no other one from being restored.
        let damaged = lab.path("state/steelbench/servers/server-settings-0.json");
        std::fs::write(&damaged, "{").unwrap();
        let part = lab.steelbench(&["tune", "e.toml", "--undo"]).expect(1);
        assert!(part.stderr.contains("server-settings-0.json"), "{part:?}");
        std::fs::remove_file(damaged).unwrap();
        let undone = part.stdout;
        assert_eq!(undone.matches("restored the settings of").count(), 2, "{undone}");
        assert!(undone.contains("dropped the tables of a killed run"), "{undone}");
        assert!(undone.ends_with('\n'), "{undone}");
        let schemas = "SELECT count(*) FROM pg_namespace WHERE nspname = 'steelbench'";
        assert_eq!(fixture.client().cell(schemas).unwrap().as_deref(), Some("0"));
        assert_eq!(fixture.file(), before);
        assert_eq!(fixture.shown("checkpoint_timeout"), "5min");
        assert!(undo().contains("Nothing to undo"));
    }
}
