//! Trials over several machines, each of them an agent.

use super::{UserBroker, children, has_broker, kill, program};
use crate::common::{Lab, end, signal, wait_until};

/// An insert load of two configurations in blocks that machines share.
fn shared(target: &str, blocks: u32, machines: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\n{target}\n[workload]\nprobe = \
         \"insert\"\nconnections = 2\nrows = 40\nrows_per_transaction = \
         1\n[factors]\n\"target.data_files\" = [1, 2]\n[repeats]\nblocks = {blocks}\nretries = \
         3\n[limits]\nidentical_failures = 100\n{machines}"
    )
}

const SCRIPTED: &str = "engine = \"null\"\nspread = 0.9";
const SLOW: &str = "engine = \"null\"\nreal_delay = \"10 ms\"";
const TWO: &str = "[machines]\ncount = 2\ncheck = 3\n";
const NO_CHECK: &str = "[machines]\ncount = 2\ncheck = 0\n";

/// Figures of each trial of the plan.
const FIGURES: &str = "SELECT c.position, t.block, t.sequence, t.attempt, t.elapsed_s, \
                    t.transactions, l.count, hex(l.histogram) FROM trials t JOIN configurations c \
                    ON c.id = t.configuration JOIN latencies l ON l.trial = t.id AND l.position = \
                    0 WHERE t.block > 0 ORDER BY 1, 2";

/// Machines of each block, and each configuration's number of trials in it.
const BLOCKS: &str = "SELECT block, count(*), count(DISTINCT configuration), count(DISTINCT \
                      machine) FROM trials WHERE block > 0 AND status = 'done' GROUP BY block \
                      ORDER BY block";

#[test]
fn machines_run_whole_blocks_after_a_check_and_see_what_one_machine_sees() {
    if !has_broker() {
        return;
    }
    let here = Lab::with(&shared(SCRIPTED, 4, ""));
    here.run(0);
    let lab = Lab::with(&shared(SCRIPTED, 4, TWO));
    let ended = lab.run_with(&["--agents", "2"], 0);
    assert_eq!(lab.rows("t", FIGURES), here.rows("t", FIGURES));
    assert_eq!(lab.rows("t", BLOCKS), ["1|2|2|1", "2|2|2|1", "3|2|2|1", "4|2|2|1"]);
    let shares = "SELECT machine, count(DISTINCT block) FROM trials WHERE block > 0 GROUP BY 1";
    assert_eq!(lab.rows("t", shares), ["local-1|2", "local-2|2"]);
    let checks = "SELECT machine, count(*), count(DISTINCT configuration), min(sequence), \
                  max(sequence) FROM trials WHERE block = 0 GROUP BY 1";
    assert_eq!(lab.rows("t", checks), ["local-1|3|1|1|3", "local-2|3|1|1|3"]);
    let ended = ended.shows("Check of 2 machines").shows("Machines: means over all configurations");
    // The same script on both: no difference.
    ended.shows("check of machines: elapsed on local-2 is 1.00x [1.00, 1.00]");
    // Trials of the check are in no table of the experiment.
    let json = lab.json(&["show", "t"]);
    let trials = json[0]["recording"]["trials"].as_array().map(Vec::len);
    assert!(trials.is_none_or(|trials| trials == 8), "{trials:?}");
    lab.run_with(&["--agents", "2"], 0).says("the run is complete");
    assert_eq!(lab.rows("t", "SELECT count(*) FROM trials"), ["14"]);
    let left = std::fs::read_dir(lab.path("results")).unwrap().flatten();
    let left =
        left.filter(|folder| folder.file_name().to_string_lossy().contains("steelbench-machine"));
    assert_eq!(left.count(), 0);
}

#[test]
fn sqlite_trials_run_on_machines_of_their_own() {
    if !has_broker() {
        return;
    }
    let machines = "[machines]\ncount = 2\ncheck = 2\n";
    let lab = Lab::with(&shared("engine = \"sqlite\"", 2, machines));
    lab.run_with(&["--agents", "2"], 0);
    let done = "SELECT count(*), sum(work_amount), count(DISTINCT machine) FROM trials WHERE \
                status = 'done' AND block > 0";
    assert_eq!(lab.rows("t", done), ["4|160|2"]);
    assert!(lab.work_folders().is_empty(), "{:?}", lab.work_folders());
}

#[test]
fn a_block_of_a_lost_machine_is_repeated_by_another_one() {
    if !has_broker() {
        return;
    }
    let broker = UserBroker::start();
    let lab = Lab::with(&shared(SLOW, 4, NO_CHECK));
    let folder = lab.path("").display().to_string();
    let agent = |name: &str| broker.agent(&program(), &["--name", name, "--folder", &folder]);
    let (_stays, leaves) = (agent("stays"), agent("leaves"));
    let (url, token) = (broker.url(), broker.folder.path().join("token"));
    let run = ["run", "e.toml", "--agents", "2", "--broker", &url, "--token-file"];
    let child = lab.start_with(&[&run[..], &[token.to_str().unwrap()]].concat());
    let half = "SELECT count(*) FROM trials WHERE machine = 'leaves'";
    wait_until("half of a block is recorded", || {
        lab.path("results/t.steelbench").exists()
            && lab.trials("t") > 0
            && lab.rows("t", half) == ["1"]
    });
    kill(leaves.0.as_ref().unwrap().id().cast_signed());
    let ended = end(child).expect(0).says("machine leaves was lost in block");
    // The trial that no longer counts is in no figure of the progress.
    let ended = ended
        .says("is repeated on machine stays; no longer counted: 1 trial of the lost machine")
        .says("   8/8  block ");
    assert!(!ended.stderr.contains("9/8"), "{ended:#?}");
    // All four blocks are whole on one machine, and the half block stays in the file.
    let last = "SELECT block, count(DISTINCT configuration) FROM trials WHERE machine = 'stays' \
                AND status = 'done' GROUP BY block";
    let stays = lab.rows("t", last);
    assert!(stays.len() >= 3 && stays.iter().all(|row| row.ends_with("|2")), "{stays:?}");
    let blocks = lab.rows("t", "SELECT count(DISTINCT block) FROM trials WHERE status = 'done'");
    assert_eq!(blocks, ["4"]);
    let places = "SELECT max(count) FROM (SELECT count(*) AS count FROM trials GROUP BY \
                  configuration, block, machine, attempt)";
    assert_eq!(lab.rows("t", places), ["1"]);
    // The folder of the killed agent is removed by the next one there.
    let again = agent("again");
    wait_until("the folder is removed", || {
        let entries = std::fs::read_dir(lab.path("")).unwrap().flatten();
        let mut names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        !names.any(|name| name.starts_with("steelbench-machine"))
    });
    again.end().expect(0);
}

#[test]
fn a_killed_run_over_machines_continues_and_repeats_no_trial() {
    if !has_broker() {
        return;
    }
    let lab = Lab::with(&shared(SLOW, 4, TWO));
    let arguments = ["run", "e.toml", "--agents", "2"];
    for trials in [2, 9] {
        let child = lab.start_with(&arguments);
        wait_until("some trials are recorded", || lab.trials("t") >= trials);
        signal(&child, libc::SIGKILL);
        end(child);
    }
    let child = lab.start_with(&arguments);
    // An agent that the run has started is started again, and continues its block.
    wait_until("an agent works", || !children(child.id(), " agent ").is_empty());
    kill(children(child.id(), " agent ")[0]);
    end(child).expect(0);
    assert_eq!(lab.rows("t", BLOCKS), ["1|2|2|1", "2|2|2|1", "3|2|2|1", "4|2|2|1"]);
    assert_eq!(lab.rows("t", "SELECT count(*) FROM runs"), ["1"]);
    assert_eq!(lab.rows("t", "SELECT count(*) FROM trials WHERE block = 0"), ["6"]);
}

#[test]
fn what_cannot_run_on_machines_is_refused() {
    let check = |file: &str, message: &str| {
        Lab::with(file).steelbench(&["check", "e.toml"]).expect(2).says(message);
    };
    check(&shared(SCRIPTED, 1, TWO), "1 blocks cannot be divided among 2 machines");
    let adaptive = shared(SCRIPTED, 4, TWO)
        .replace("blocks = 4", "blocks = { min = 3, max = 9, until = \"2%\" }");
    check(&adaptive, "give repeats.blocks as a number");
    check(&format!("{}[design]\nkind = \"race\"\n", shared(SCRIPTED, 6, TWO)), "blocks of a race");
    let twice = shared(SCRIPTED, 4, TWO).replace("connections", "generators = 2\nconnections");
    check(&twice, "each machine of [machines] generates the whole load");
    let lab = Lab::with(&shared(SCRIPTED, 4, TWO));
    lab.run(2).says("machines.count needs agents");
    lab.run_with(&["--agents", "1"], 2).says("machines.count goes up to 2: use --agents 2");
    if !has_broker() {
        return;
    }
    // Agents run no commands unless their owners permit it.
    let hooks = format!("{}[hooks]\nbefore_trial = \"true\"\n", shared(SCRIPTED, 2, TWO));
    let lab = Lab::with(&hooks);
    let refused = lab.run_with(&["--agents", "2"], 1);
    refused.says("the experiment has hooks, which its owner has to permit by --allow command");
    let broker = UserBroker::start();
    let agents = ["a", "b"].map(|name| {
        let folder = lab.path("").display().to_string();
        let options = ["--name", name, "--folder", &folder, "--allow", "insert,command"];
        broker.agent(&program(), &options)
    });
    let (url, token) = (broker.url(), broker.folder.path().join("token"));
    let options = ["--agents", "2", "--broker", &url, "--token-file", token.to_str().unwrap()];
    lab.run_with(&options, 0);
    let hooks = "SELECT count(*) FROM hooks WHERE exit_code = 0";
    // Two configurations in two blocks, and two repeats of the check on each machine.
    assert_eq!(lab.rows("t", hooks), ["8"]);
    for agent in agents {
        agent.end().expect(0);
    }
}

/// Without permission for commands an agent loads no library from the network, and confines
/// statements to the files of their trial.
#[test]
fn an_agent_confines_experiments_to_their_trials() {
    if !has_broker() {
        return;
    }
    let broker = UserBroker::start();
    let lab = Lab::with("");
    let (url, token) = (broker.url(), broker.folder.path().join("token"));
    let options = ["--agents", "2", "--broker", &url, "--token-file", token.to_str().unwrap()];
    let agents = ["a", "b"].map(|name| {
        let folder = lab.path("agents").join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let options = ["--name", name, "--folder", folder.to_str().unwrap()];
        broker.agent(&program(), &options)
    });
    let run = |file: &str, code: i32| {
        lab.write("e.toml", file);
        lab.run_with(&[&options[..], &["--fresh"]].concat(), code)
    };
    let user = rusqlite::Connection::open(lab.path("user.db")).unwrap();
    user.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)").unwrap();
    let attack = format!("ATTACH '{}' AS u;\nDELETE FROM u.t;\n", lab.path("user.db").display());
    lab.write("attack.sql", &attack);
    lab.write("tables.sql", "CREATE TABLE items (id INTEGER PRIMARY KEY);\n");
    lab.write("load.sql", "SELECT count(*) FROM items;\n");
    let scripted = |setup: &str, load: &str| {
        format!(
            "[experiment]\nname = \"t\"\n[target]\nengine = \"sqlite\"\nsetup.sql = \
             \"{setup}\"\n[workload]\nprobe = \"script\"\nscript = \"{load}\"\nconnections = \
             1\ntransactions = 1\nprotocol = \"simple\"\n[repeats]\nblocks = 2\n{NO_CHECK}"
        )
    };
    run(&scripted("attack.sql", "load.sql"), 1).says("not authorized");
    run(&scripted("tables.sql", "load.sql"), 0);
    let rows: i64 = user.query_row("SELECT count(*) FROM t", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 1);

    // Volumes are in the agent's own folder, or refused.
    let volume = |path: &str| {
        let target = "engine = \"sqlite\"\nvolume = \"v\"";
        format!("{}[[volume]]\nname = \"v\"\npath = \"{path}\"\n", shared(target, 2, NO_CHECK))
    };
    let outside = volume(lab.path("").to_str().unwrap());
    run(&outside, 1).says("volume v is a folder of this machine, which its owner has to permit");
    let library = std::env::var("STEELBENCH_TEST_DUCKDB_LIBS").unwrap_or_default();
    if let Some(library) = library.split(':').next().filter(|library| !library.is_empty()) {
        let target = format!("engine = \"duckdb\"\nlibrary = \"{library}\"");
        let file = shared(&target, 2, NO_CHECK).replace("[1, 2]", "[1]");
        run(&file, 1).says("target.library can reach programs, libraries and files");
        for agent in &agents {
            let maps = format!("/proc/{}/maps", agent.0.as_ref().unwrap().id());
            assert!(!std::fs::read_to_string(maps).unwrap().contains("libduckdb"));
        }
    }
    for agent in agents {
        agent.end().expect(0);
    }
}
