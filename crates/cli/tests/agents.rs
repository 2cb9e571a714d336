//! Several load generators: together they do what one does, and whatever of them is killed, no
//! trial is lost or recorded twice.

mod faults;
mod machines;
mod namespaces;
mod order_entry;

pub use faults::cut_link;

use crate::common::{Exit, Lab, end, signal, skipped, wait_until};
use crate::servers::by_url::{OWNER, Server, bindirs};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const TOKEN: &str = "S3cret-token-that-is-never-shown";

/// Returns whether nats-server is there, or says that it is not.
pub fn has_broker() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).any(|folder| folder.join("nats-server").exists());
    if !found {
        skipped("nats-server is not installed");
    }
    found
}

/// An insert load on the scripted engine, whose latencies follow from the keys.
fn scripted_load(more: &str, generators: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"null\"\nspread = 0.9\n[workload]\nprobe \
         = \"insert\"\nconnections = 5\nrows = 5000\nrows_per_transaction = \
         7\n{more}\n[repeats]\nblocks = 1\n{generators}"
    )
}

/// A real pause in each transaction, so that trials take a while.
pub fn slow_load(rows: u32, blocks: u32) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"null\"\nreal_delay = \"20 \
         ms\"\n[workload]\nprobe = \"insert\"\nconnections = 2\nrows = \
         {rows}\nrows_per_transaction = 1\ngenerators = 2\n[factors]\n\"target.data_files\" = [1, \
         2]\n[repeats]\nblocks = {blocks}\nretries = 5\n[limits]\nidentical_failures = 100\n"
    )
}

/// Everything that a trial recorded of the work and its latencies, bucket by bucket.
const RECORDED: &str = "SELECT l.name, l.count, hex(l.histogram), t.transactions, t.work_amount, \
                        s.interval_values, t.elapsed_s FROM trials t JOIN latencies l ON l.trial \
                        = t.id JOIN series s ON s.trial = t.id ORDER BY t.configuration, \
                        l.position";

#[test]
fn several_agents_record_what_one_process_records_bucket_by_bucket() {
    if !has_broker() {
        return;
    }
    for more in ["", "warmup = \"1 s\"\nrate = \"900/s\""] {
        let here = Lab::with(&scripted_load(more, ""));
        here.run(0);
        let expected = here.rows("t", RECORDED);
        assert_eq!(expected.len(), 2, "latency and service time");
        let factor = "[factors]\n\"workload.generators\" = [1, 2, 3]\n";
        let lab = Lab::with(&scripted_load(more, factor));
        lab.run_with(&["--agents", "3"], 0);
        let recorded = lab.rows("t", RECORDED);
        assert_eq!(recorded, [&expected[..], &expected, &expected].concat(), "{more}");
        // Which of the three agents are free is up to chance.
        let facts = "SELECT count(DISTINCT f.name) FROM facts f JOIN trials t ON t.id = f.trial \
                     WHERE f.name GLOB 'generator_rate.local-[123]' GROUP BY t.configuration \
                     ORDER BY t.configuration";
        assert_eq!(lab.rows("t", facts), ["1", "2", "3"]);
        let skew = "SELECT count(*), min(value) >= 0 FROM facts WHERE name = \
                    'generator_start_skew'";
        assert_eq!(lab.rows("t", skew), ["3|1"]);
        let warnings = "SELECT count(*) FROM warnings WHERE kind = 'unaccounted'";
        assert_eq!(lab.rows("t", warnings), ["0"]);
    }
}

/// A table in which a script notes who has drawn what.
fn noting_server(bin: &Path) -> Server {
    let server = Server::start(bin, "host all all 127.0.0.1/32 trust", &[]);
    server.connect().batch("CREATE TABLE drawn (client int, value bigint)").unwrap();
    server
}

#[test]
fn agents_on_postgres_draw_the_keys_of_one_process_and_are_seen_by_the_server() {
    let Some(bin) = bindirs().pop().filter(|_| has_broker()) else { return };
    let server = noting_server(&bin);
    let file = |generators: &str, more: &str| {
        format!(
            "[experiment]\nname = \"t\"\n[target]\nengine = \"postgres\"\nurl = \
             \"postgres://{OWNER}@127.0.0.1:{}/postgres\"\nsample_rate = 200\n[workload]\nprobe = \
             \"script\"\nscript = \"note.sql\"\nconnections = 5\nthreads = 2\ntransactions = \
             403\n{more}\n{generators}\n[repeats]\nblocks = 1\n",
            server.port
        )
    };
    let note = "\\set value random(1, 1000000)\nINSERT INTO drawn VALUES (:client_id, :value);\n";
    let drawn = || {
        let sql =
            "SELECT string_agg(client || ' ' || value, ',' ORDER BY client, value) FROM drawn";
        let mut client = server.connect();
        let drawn = client.cell(sql).unwrap().unwrap();
        client.batch("TRUNCATE drawn").unwrap();
        drawn
    };
    let run = |generators: &str, arguments: &[&str]| {
        let lab = Lab::with(&file(generators, ""));
        lab.write("note.sql", note);
        lab.run_with(arguments, 0);
        let text = "SELECT (SELECT sum(resource_s + signal_s) > 0 FROM waits), t.transactions, \
                    l.count FROM trials t, latencies l WHERE l.position = 0";
        (drawn(), lab.rows("t", text), lab)
    };
    let (expected, observations, _) = run("", &[]);
    assert_eq!(expected.matches(',').count(), 402);
    for (generators, agents) in [("generators = 1", "1"), ("generators = 2", "2")] {
        let (drawn, seen_of_agents, lab) = run(generators, &["--agents", agents]);
        assert_eq!(drawn, expected, "{generators}");
        assert_eq!(seen_of_agents, observations, "{generators}");
        // The server's observer knows the sessions of the agents: their time is accounted for.
        let time = lab.rows("t", "SELECT session_s > 0, cpu_s > 0 FROM trials");
        assert_eq!(time, ["1|1"]);
    }
    // An open loop, whose schedule the agents share: every start is taken once.
    let lab = Lab::with(&file("generators = 2", "rate = \"2000/s\""));
    lab.write("note.sql", note);
    lab.run_with(&["--agents", "2"], 0);
    assert_eq!(drawn().matches(',').count(), 402);
}

/// The agents share the lookups, by statements and by a join: all are made, and none twice.
#[test]
fn several_agents_look_up_what_one_process_looks_up() {
    let Some(bin) = bindirs().pop().filter(|_| has_broker()) else { return };
    let server = Server::start(&bin, "host all all 127.0.0.1/32 trust", &[]);
    let file = |factor: &str| {
        format!(
            "[experiment]\nname = \"t\"\n[target]\nengine = \"postgres\"\nurl = \
             \"postgres://{OWNER}@127.0.0.1:{}/postgres\"\n[workload]\nprobe = \"lookup\"\nrows = \
             1000\nconnections = 4\nlookups = 400\nsample = 10\n[repeats]\nblocks = \
             1\n[factors]\n\"workload.method\" = [\"statements\", \"join\"]\n{factor}",
            server.port
        )
    };
    let here = Lab::with(&file(""));
    here.run(0);
    let made = "SELECT transactions, work_amount FROM trials ORDER BY configuration";
    let expected = here.rows("t", made);
    let lab = Lab::with(&file("\"workload.generators\" = [1, 3]\n"));
    lab.run_with(&["--agents", "3"], 0);
    let recorded = lab.rows("t", made);
    assert_eq!((expected.len(), recorded.len()), (2, 4));
    for (single, several) in expected.iter().zip(recorded.chunks(2)) {
        assert!(several.iter().all(|operation| operation == single), "{single} {several:?}");
    }
}

#[test]
fn agents_on_mariadb_and_mysql_draw_the_keys_of_one_process() {
    if !has_broker() {
        return;
    }
    for server in crate::servers::mariadb::Server::each() {
        let mut client = server.connect();
        client.run("CREATE DATABASE noted").unwrap();
        client.run("CREATE TABLE noted.drawn (client int, value bigint)").unwrap();
        let file = |generators: &str| {
            format!(
                "[experiment]\nname = \"t\"\n[target]\nengine = \"mariadb\"\nurl = \
                 \"{}\"\n[workload]\nprobe = \"script\"\nscript = \"note.sql\"\nconnections = \
                 5\nthreads = 2\ntransactions = 103\n{generators}\n[repeats]\nblocks = 1\n",
                server.url("root")
            )
        };
        let mut run = |generators: &str, arguments: &[&str]| {
            let lab = Lab::with(&file(generators));
            let note = "\\set value random(1, 1000000)\nINSERT INTO noted.drawn VALUES \
                        (:client_id, :value);\n";
            lab.write("note.sql", note);
            lab.run_with(arguments, 0);
            let sql = "SELECT sha2(group_concat(client, ' ', value ORDER BY client, value), 256), \
                       count(*) FROM noted.drawn";
            client.run("SET SESSION group_concat_max_len = 1000000").unwrap();
            let drawn = client.cell(sql).unwrap().unwrap();
            client.run("TRUNCATE noted.drawn").unwrap();
            let text = "SELECT t.transactions, t.session_s > 0, l.count FROM trials t, latencies l \
                        WHERE l.position = 0";
            (drawn, lab.rows("t", text))
        };
        let expected = run("", &[]);
        assert_eq!(expected.1, ["103|1|103"]);
        assert_eq!(run("generators = 1", &["--agents", "1"]), expected);
        assert_eq!(run("generators = 2", &["--agents", "2"]), expected);
    }
}

/// A broker of the user's, which wants [`TOKEN`].
pub struct UserBroker {
    child: Child,
    folder: TempDir,
}

impl UserBroker {
    pub fn start() -> Self {
        Self::start_with("")
    }

    /// Starts one with further settings.
    fn start_with(more: &str) -> Self {
        Self::start_at("127.0.0.1", more)
    }

    /// Starts one that listens at this address, and on this machine's own.
    fn start_at(address: &str, more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let (store, ports) = (path("store"), folder.path().display().to_string());
        let config = format!(
            "listen: \"{address}:-1\"\nauthorization {{ token: \"{TOKEN}\" }}\njetstream {{ \
             store_dir: \"{store}\" }}\nports_file_dir: \"{ports}\"\n{more}"
        );
        std::fs::write(path("config"), config).unwrap();
        let mut command = Command::new("nats-server");
        command.args(["-c", &path("config")]).stdout(Stdio::null()).stderr(Stdio::null());
        let broker = Self { child: command.spawn().unwrap(), folder };
        broker.secret("token", TOKEN);
        wait_until("the broker listens", || broker.port().is_some());
        broker
    }

    fn port(&self) -> Option<u16> {
        let file = self.folder.path().join(format!("nats-server_{}.ports", self.child.id()));
        let text = std::fs::read_to_string(file).ok()?;
        text.split("127.0.0.1:").nth(1)?.split('"').next()?.parse().ok()
    }

    fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port().unwrap())
    }

    fn secret(&self, name: &str, text: &str) -> String {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        path.display().to_string()
    }

    fn agent(&self, program: &Path, more: &[&str]) -> Agent {
        Agent::start(self.command(program, &self.url()).args(more))
    }

    /// The command of an agent that reaches it by this URL.
    fn command(&self, program: &Path, url: &str) -> Command {
        let mut command = Command::new(program);
        command.args(["agent", "--broker", url, "--token-file"]);
        command.arg(self.folder.path().join("token"));
        command
    }
}

impl Drop for UserBroker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An agent of the user's.
struct Agent(Option<Child>);

impl Agent {
    fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(Some(command.spawn().unwrap()))
    }

    fn pid(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    /// Asks it to end; what it has said.
    fn end(mut self) -> Exit {
        let child = self.0.take().unwrap();
        signal(&child, libc::SIGTERM);
        end(child)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_steelbench").into()
}

#[test]
fn agents_wait_at_a_broker_of_the_user_and_the_token_is_told_nowhere() {
    if !has_broker() {
        return;
    }
    let broker = UserBroker::start();
    let agents = ["here", "there"].map(|name| broker.agent(&program(), &["--name", name]));
    let lab = Lab::with(&scripted_load("generators = 2", ""));
    let (url, token) = (broker.url(), broker.folder.path().join("token"));
    let arguments = ["--agents", "2", "--broker", &url, "--token-file", token.to_str().unwrap()];
    let first = lab.run_with(&arguments, 0);
    // The same agents serve the next run.
    let second = lab.run_with(&[&arguments[..], &["--fresh"]].concat(), 0);
    let mut text = format!("{}{}{}{}", first.stdout, first.stderr, second.stdout, second.stderr);
    for agent in agents {
        let ended =
            agent.end().expect(0).says("is connected and permits all probes, and no commands");
        text += &ended.stdout;
        text += &ended.stderr;
    }
    for entry in std::fs::read_dir(lab.path("results")).unwrap().flatten() {
        text += &String::from_utf8_lossy(&std::fs::read(entry.path()).unwrap());
    }
    assert!(!text.contains(TOKEN));
    let facts = "SELECT DISTINCT name FROM facts WHERE name GLOB 'generator_rate.*' ORDER BY 1";
    assert_eq!(lab.rows("t", facts), ["generator_rate.here", "generator_rate.there"]);
    // Nothing of the run is left in the broker.
    let store = broker.folder.path().join("store/jetstream/$G/streams");
    let left = std::fs::read_dir(store).map_or(0, |entries| entries.flatten().count());
    assert_eq!(left, 0);
}

#[test]
fn what_is_wrong_with_a_broker_or_an_agent_is_said_and_the_run_can_be_resumed() {
    if !has_broker() {
        return;
    }
    let lab = Lab::with(&scripted_load("generators = 2", ""));
    lab.run(2).says("workload.generators needs agents");
    lab.run_with(&["--agents", "1"], 2).says("workload.generators goes up to 2: use --agents 2");
    let broker = UserBroker::start();
    let (url, token) = (broker.url(), broker.secret("token", TOKEN));
    let with = |url: &str, token: &str, code, more: &[&str]| {
        let options = ["--agents", "2", "--broker", url, "--token-file", token];
        lab.run_with(&[&options[..], more].concat(), code)
    };
    with("nats://127.0.0.1:1", &token, 1, &[]).says("no broker answers at nats://127.0.0.1:1");
    with(&url, &broker.secret("other", "another-token-than-the-right"), 1, &[])
        .says("refuses the token");
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o644)).unwrap();
    with(&url, &token, 1, &[]).says("other users can read this token");
    broker.secret("token", TOKEN);
    // Another build: the same program with something behind it.
    let other = lab.path("other-build");
    let mut bytes = std::fs::read(program()).unwrap();
    bytes.push(0);
    std::fs::write(&other, bytes).unwrap();
    std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mixed = broker.agent(&other, &["--name", "mixed"]);
    let _plain = broker.agent(&program(), &["--name", "plain"]);
    with(&url, &token, 1, &["--agents-within", "3"])
        .says("1 of 2 agents are there after 3 s")
        .says("agent mixed is another build of Steelbench")
        .says("Resume with `steelbench run e.toml`");
    with(&url, &token, 0, &["--allow-mixed"]);
    assert_eq!(lab.trials("t"), 1);
    mixed.end().expect(0).says("refused by a run: agent mixed is another build");
    // An agent whose owner permits something else.
    let _strict = broker.agent(&program(), &["--name", "strict", "--allow", "script"]);
    with(&url, &token, 1, &["--fresh"]).says("its owner does not permit the probe insert");
    let ended =
        lab.steelbench(&["agent", "--broker", &url, "--token-file", &token, "--allow", "nothing"]);
    ended.expect(2).says("--allow nothing: an agent can run only");
}

#[test]
fn targets_that_other_processes_cannot_reach_are_refused() {
    for (target, message) in [
        ("engine = \"sqlite\"", "this engine runs in the process of the load"),
        ("engine = \"postgres\"", "a private server admits only its own process"),
    ] {
        let file = scripted_load("generators = 2", "");
        let lab = Lab::with(&file.replace("engine = \"null\"\nspread = 0.9", target));
        lab.steelbench(&["check", "e.toml"]).expect(2).says(message);
    }
    let few = scripted_load("generators = 6", "");
    let lab = Lab::with(&few);
    lab.steelbench(&["check", "e.toml"]).expect(2).says("more than the connections");
}

#[test]
fn agents_are_started_over_ssh_on_the_hosts_that_are_named() {
    if !has_broker() {
        return;
    }
    let lab = Lab::with(&scripted_load("generators = 2", ""));
    // Stands for ssh: forwards to the same port of the same machine are there already.
    let ssh = "#!/bin/sh\necho \"$@\" >> \"$CALLS\"\nwhile [ \"$1\" != -- ]; do shift; \
               done\nshift 3\nexec \"$PROGRAM\" \"$@\"\n";
    std::fs::create_dir(lab.path("bin")).unwrap();
    lab.write("bin/ssh", ssh);
    std::fs::set_permissions(lab.path("bin/ssh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", lab.path("bin").display());
    let run = ["run", "e.toml", "--agents", "2", "--hosts", "db-1,db-2"];
    let mut command = lab.command(&run);
    command.env("PATH", path).env("PROGRAM", program()).env("CALLS", lab.path("calls"));
    Exit::from(command.output().unwrap()).expect(0);
    let calls = lab.read("calls");
    assert_eq!(calls.matches("-R 127.0.0.1:").count(), 2, "{calls}");
    assert!(calls.contains("-- db-1 steelbench agent") && calls.contains("-- db-2 "), "{calls}");
    let facts = "SELECT DISTINCT name FROM facts WHERE name GLOB 'generator_rate.*' ORDER BY 1";
    assert_eq!(lab.rows("t", facts), ["generator_rate.db-1", "generator_rate.db-2"]);
}

/// Processes whose parent is this one and whose command line contains a text.
pub fn children(parent: u32, text: &str) -> Vec<i32> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Ok(pid) = entry.file_name().to_string_lossy().parse::<i32>() else { continue };
        let read =
            |name: &str| std::fs::read_to_string(entry.path().join(name)).unwrap_or_default();
        let is_child = read("stat").rsplit_once(") ").is_some_and(|(_, rest)| {
            rest.split(' ').nth(1).is_some_and(|part| part == parent.to_string())
        });
        if is_child && read("cmdline").replace('\0', " ").contains(text) {
            found.push(pid);
        }
    }
    found
}

/// Returns whether a process has a thread of this name.
fn has_thread(pid: i32, name: &str) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let mut names =
        threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
    names.any(|thread| thread.trim() == name)
}

pub fn kill(pid: i32) {
    // SAFETY: a signal to a process that was just seen; it has no preconditions.
    unsafe { libc::kill(pid, libc::SIGKILL) };
}

#[test]
fn a_lost_agent_fails_its_trial_and_the_plan_repeats_it() {
    if !has_broker() {
        return;
    }
    let lab = Lab::with(&slow_load(300, 1));
    let child = lab.start_with(&["run", "e.toml", "--agents", "2"]);
    wait_until("both agents generate load", || {
        let agents = children(child.id(), " agent ");
        agents.len() == 2 && agents.iter().all(|pid| has_thread(*pid, "load-1"))
    });
    kill(children(child.id(), " agent ")[0]);
    wait_until("the failure is recorded", || lab.trials("t") > 0);
    let broker = children(child.id(), "nats-server");
    assert_eq!(broker.len(), 1);
    end(child).expect(0);
    let trials = lab.rows("t", "SELECT status, attempt FROM trials ORDER BY id");
    assert_eq!(trials.iter().filter(|row| row.starts_with("failed")).count(), 1, "{trials:?}");
    assert_eq!(trials.iter().filter(|row| row.starts_with("done")).count(), 2, "{trials:?}");
    let cause = lab.rows("t", "SELECT cause FROM trials WHERE status = 'failed'").remove(0);
    assert!(cause.contains("load generator local-") && cause.contains("was lost"), "{cause}");
    // The broker has ended with the run, and its folder is gone.
    wait_until("the broker ends", || !crate::servers::installed::is_alive(broker[0]));
}
