//! The command probe with real commands.
#![allow(clippy::unwrap_used, reason = "a test")]

use command::CommandProbe;
use engine::{Folders, Permits};
use experiment::{Catalog, Configuration, Value, parse};
use null::NONE;
use observations::{Observations, WaitClass, WarningKind};
use probe::{Probe, ProbeError, Target, TrialContext};
use std::path::Path;
use std::time::{Duration, Instant};
use work::{Cancel, CancelReason};

fn configuration(workload: &str) -> Configuration {
    let catalog = Catalog {
        engines: testing::ENGINES.iter().map(|engine| (engine.name, engine.settings)).collect(),
        probes: vec![(CommandProbe.declarations().name, CommandProbe.declarations().settings)],
        ..Catalog::default()
    };
    let text = format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"none\"\n[workload]\nprobe = \
         \"command\"\n{workload}\n"
    );
    parse(&text, &catalog)
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
        .configurations
        .remove(0)
}

/// Returns the probe's objections, as `setting: message`.
fn objections(workload: &str) -> Vec<String> {
    let configuration = configuration(workload);
    let target = Target::for_engine(&NONE, &configuration);
    CommandProbe.plan(&configuration, &target).iter().map(ToString::to_string).collect()
}

fn run(workload: &str) -> Observations {
    try_run(workload, &Cancel::new()).unwrap()
}

fn failure(workload: &str) -> String {
    try_run(workload, &Cancel::new()).unwrap_err().to_string()
}

fn try_run(workload: &str, cancel: &Cancel) -> Result<Observations, ProbeError> {
    let configuration = configuration(workload);
    assert_eq!(
        CommandProbe.plan(&configuration, &Target::for_engine(&NONE, &configuration)),
        Vec::new()
    );
    let folders = Folders {
        directory: std::env::temp_dir(),
        volumes: Vec::new(),
        permits: Permits::default(),
        cgroup_joins: Vec::new(),
    };
    let instance = (NONE.host)(folders).prepare(&configuration, 1, cancel).unwrap();
    let target = Target::for_engine(&NONE, &configuration);
    let set_up = CommandProbe.set_up(&configuration, &target).unwrap();
    let run = || {
        CommandProbe.run(&TrialContext {
            disturbances: &[],
            generation: probe::generation::Generation::Here,
            configuration: &configuration,
            instance: instance.as_ref(),
            target,
            storage: &[],
            seed: 7,
            cancel,
            progress: &|_| {},
        })
    };
    let result = set_up.begin(cancel).and_then(|()| run());
    let ended = set_up.end();
    result.and_then(|observations| ended.map(|_| observations))
}

fn series(observations: &Observations, name: &str) -> Vec<f64> {
    observations.series.iter().find(|series| series.name == name).unwrap().values.clone()
}

fn waited(observations: &Observations, wait_type: &str) -> f64 {
    let waits = observations.waits.iter().filter(|wait| wait.wait_type == wait_type);
    waits.map(observations::Wait::wait_s).sum()
}

/// A Python program as a setting.
fn python(program: &str) -> String {
    let escaped = program.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("command = [\"python3\", \"-c\", \"{escaped}\"]\n")
}

#[test]
fn a_sleep_takes_its_time_off_the_processor() {
    let observations = run("command = \"sleep 0.2\"\nruns = 3");
    let times = series(&observations, "run:elapsed");
    let work = &observations.work;
    assert_eq!((work.unit.as_str(), work.amount, times.len()), ("run", 3, 3));
    assert!(times.iter().all(|time| *time >= 0.2), "{times:?}");
    let mean = times.iter().sum::<f64>() / 3.0;
    assert!((observations.response("elapsed").unwrap() - mean).abs() < 1e-9);
    assert_eq!(observations.responses[0].name, "elapsed");
    assert_eq!(observations.response("elapsed_max"), times.iter().copied().reduce(f64::max));
    assert_eq!(series(&observations, "run:exit_code"), [0.0; 3]);
    assert_eq!(observations.latency("run").unwrap().len(), 3);
    // Sleeping is waiting, and CPU time and waits add up to the session's time.
    let share = waited(&observations, "OFF_CPU") / times.iter().sum::<f64>();
    assert!(share > 0.5, "{share}");
    let sum_s = observations.time.cpu_s
        + observations.waits.iter().map(observations::Wait::wait_s).sum::<f64>();
    assert!(
        (sum_s - observations.time.session_s).abs() < 0.03 * observations.time.session_s,
        "{sum_s} {:?}",
        observations.time
    );
    assert!(
        observations
            .waits
            .iter()
            .any(|wait| wait.wait_type == "BETWEEN_RUNS" && wait.class == WaitClass::Client)
    );
}

/// The command tells what getrusage(2) tells it of itself and of its children; an installation of
/// Python may start some of its own.
#[test]
fn resources_are_those_of_the_whole_process_tree() {
    let file = tempfile::NamedTempFile::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let child = format!(
        "import os, time\nblock = bytearray(150 << 20)\nfor i in range(0, len(block), 4096): \
         block[i] = 1\nf = os.open({:?}, os.O_WRONLY)\nos.write(f, bytes(8 << \
         20))\nos.fsync(f)\nfor i in range(20): time.sleep(0.001)\nt = time.process_time()\nwhile \
         time.process_time() < t + 0.3: pass",
        file.path().display().to_string()
    );
    let parent = format!(
        "import json, os, resource, sys\npid = os.fork()\nif pid == 0: os.execvp('python3', \
         ['python3', '-c', {child:?}])\n_, status = os.waitpid(pid, 0)\nassert status == 0\nc = \
         resource.getrusage(resource.RUSAGE_CHILDREN)\ns = \
         resource.getrusage(resource.RUSAGE_SELF)\nprint(json.dumps({{'user': c.ru_utime + \
         s.ru_utime, 'system': c.ru_stime + s.ru_stime, 'minor': c.ru_minflt + s.ru_minflt, \
         'left': c.ru_nvcsw + s.ru_nvcsw, 'lost': c.ru_nivcsw + s.ru_nivcsw, 'peak': c.ru_maxrss \
         * 1024 / 1e6}}), flush=True)\nos._exit(0)"
    );
    let mut workload = python(&parent);
    for name in ["user", "system", "minor", "left", "lost", "peak"] {
        workload.push_str(
            "responses.own_NAME = { pointer = \"/NAME\", direction = \"lower\" }\n"
                .replace("NAME", name)
                .as_str(),
        );
    }
    let observations = run(&workload);
    let of = |name: &str| {
        observations
            .response(name)
            .unwrap_or_else(|| panic!("{name}: {:?}", observations.responses))
    };
    // Steelbench's figures include what the parent does after reading its own: it prints and ends.
    let (cpu, own_cpu) = (of("user_cpu") + of("system_cpu"), of("own_user") + of("own_system"));
    assert!(cpu >= own_cpu - 1e-6 && cpu <= own_cpu + 0.1, "{cpu}, own {own_cpu}");
    for (name, text, more) in [
        ("user_cpu", "own_user", 0.1),
        ("system_cpu", "own_system", 0.1),
        ("minor_faults", "own_minor", 1000.0),
        ("voluntary_switches", "own_left", 50.0),
        ("involuntary_switches", "own_lost", 500.0),
    ] {
        let (figure, own_figure) = (of(name), of(text));
        assert!(
            figure >= own_figure - 0.01 && figure <= own_figure + more,
            "{name}: {figure}, own {own_figure}"
        );
    }
    assert!((of("peak_memory") - of("own_peak")).abs() < 1e-6, "{:?}", observations.responses);
    // With huge pages there are few faults.
    assert!(
        of("peak_memory") > 150.0
            && of("user_cpu") + of("system_cpu") >= 0.3
            && of("minor_faults") > 100.0
    );
    // 8 MiB reach a disk; of a file in memory nothing is sent anywhere.
    let written = of("storage_written");
    let mounts = observe::mounts::all().unwrap();
    let mount = observe::mounts::holding(&mounts, file.path()).unwrap();
    let in_memory = mount.file_system == "tmpfs";
    assert!(in_memory || (8.3..20.0).contains(&written), "{written}");
}

#[test]
fn hooks_run_around_trials_and_runs_in_hyperfines_order() {
    let folder = tempfile::tempdir().unwrap();
    let workload = format!(
        "folder = {:?}\nparameters = {{ n = 3 }}\nruns = 2\nwarmup_runs = 1\nsetup = \"echo setup \
         {{n}} $n >> log\"\nprepare = \"echo prepare $STEELBENCH_SEED >> log\"\ncommand = \"echo \
         run $STEELBENCH_ITERATION >> log\"\nconclude = \"echo conclude >> log\"\ncleanup = \
         \"echo cleanup >> log\"",
        folder.path().display().to_string()
    );
    let observations = run(&workload);
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    let expected = [
        "setup 3 3",
        "prepare 7",
        "run warmup-0",
        "conclude",
        "prepare 7",
        "run 0",
        "conclude",
        "prepare 7",
        "run 1",
        "conclude",
        "cleanup",
    ];
    assert_eq!(log.lines().collect::<Vec<_>>(), expected);
    assert_eq!(observations.work.amount, 2);
    // A failed run is concluded and cleaned up after.
    std::fs::remove_file(folder.path().join("log")).unwrap();
    let failed = failure(&workload.replace("echo run", "echo at fault >&2; exit 4; echo"));
    assert!(
        failed.contains("ended with exit code 4") && failed.ends_with("\nat fault"),
        "{failed}"
    );
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    assert_eq!(log.lines().collect::<Vec<_>>(), ["setup 3 3", "prepare 7", "conclude", "cleanup"]);
}

#[test]
fn exit_codes_signals_and_bad_programs_fail_the_trial_with_their_cause() {
    let failed = failure("command = \"echo broken; exit 3\"\noutput = \"pipe\"");
    assert_eq!(
        failed,
        "the command `echo broken; exit 3` ended with exit code 3\nits output ends with:\nbroken"
    );
    let killed = failure("command = \"kill -SEGV $$\"");
    assert!(killed.contains("was killed by a signal: 11"), "{killed}");
    assert!(failure("command = \"no-such-program\"").contains("exit code 127"));
    // Prepare might have made it.
    let missing = failure("command = [\"./no-such-program\"]\nprepare = \"true\"");
    assert!(missing.starts_with("cannot start `./no-such-program`: No such file"), "{missing}");
    let prepare = failure("command = \"true\"\nprepare = \"echo no >&2; false\"");
    assert_eq!(
        prepare,
        "the prepare command `echo no >&2; false` ended with exit code 1\nits output ends \
         with:\nno"
    );
    let late = failure("command = \"true\"\nsetup = \"sleep 100\"\nhook_timeout = \"200 ms\"");
    assert!(late.contains("killed after 0.2 s (workload.hook_timeout)"), "{late}");
    for (ignore, code, taken) in
        [("true", "3", true), ("\"2,3\"", "3", true), ("3", "3", true), ("\"2\"", "3", false)]
    {
        let result = try_run(
            &format!("command = \"exit {code}\"\nignore_failure = {ignore}"),
            &Cancel::new(),
        );
        assert_eq!(result.is_ok(), taken, "{ignore}");
        if let Ok(result) = result {
            assert_eq!(series(&result, "run:exit_code"), [3.0]);
        }
    }
    let observations = run("command = \"kill -KILL $$\"\nignore_failure = true");
    assert_eq!(series(&observations, "run:exit_code"), [137.0]);
}

#[test]
fn responses_are_found_in_what_is_printed() {
    let tps =
        "responses.tps = { regex = \"tps = ([0-9.]+)\", unit = \"1/s\", direction = \"higher\" }";
    let command =
        "command = \"echo tps = 1; echo tps = $((STEELBENCH_ITERATION * 10 + 10)).5 >&2\"";
    let observations = run(&format!("{command}\nruns = 2\n{tps}"));
    assert_eq!(observations.response("tps"), Some(1.0));
    let observations = run(&format!("{}\nruns = 2\n{tps}", command.replace("echo tps = 1; ", "")));
    let found = observations.responses.iter().find(|response| response.name == "tps").unwrap();
    assert_eq!((found.value, found.unit.as_str()), (15.5, "1/s"));
    assert_eq!(found.direction, observations::Direction::HigherIsBetter);
    let json = "responses.size = { pointer = \"/results/0/a~1b\", direction = \"lower\" }";
    let observations =
        run(&format!("command = [\"echo\", '{{\"results\": [{{\"a/b\": 2.5e3}}]}}']\n{json}"));
    assert_eq!(observations.response("size"), Some(2500.0));
    for (command, response, cause) in [
        ("echo nothing", tps, "no output matches tps = ([0-9.]+)\nits output ends with:\nnothing"),
        ("echo tps = 1.2.3", tps, "`1.2.3` is not a number"),
        ("echo '{}'", json, "has nothing at /results/0/a~1b"),
        ("echo '{'", json, "is not a JSON document"),
        ("echo '{\"results\": [{\"a/b\": []}]}'", json, "is neither a number nor a text"),
        ("head -c 9000000 /dev/zero", json, "exceeds 4 MiB"),
    ] {
        let failed = failure(&format!("command = {command:?}\n{response}"));
        assert!(failed.starts_with("response ") && failed.contains(cause), "{failed}");
    }
    // Bytes that are not UTF-8 do no harm.
    let observations = run(&format!("command = '''printf \"\\377\\376 tps = 8\"'''\n{tps}"));
    assert_eq!(observations.response("tps"), Some(8.0));
}

#[test]
fn input_output_folder_and_shell_are_as_they_are_set() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().display().to_string();
    std::fs::write(folder.path().join("in"), "from a file\n").unwrap();
    run(&format!(
        "command = \"cat; pwd\"\ninput = \"{path}/in\"\noutput = \"{path}/out\"\nfolder = \
         \"{path}\""
    ));
    let out = std::fs::read_to_string(folder.path().join("out")).unwrap();
    assert_eq!(out, format!("from a file\n{path}\n"));
    // Without a shell a dollar is a dollar; of a list every word is an argument.
    let echo = |command: &str| {
        run(&format!("{command}\noutput = \"{path}/out\"\nparameters = {{ x = \"a  b\" }}"));
        std::fs::read_to_string(folder.path().join("out")).unwrap()
    };
    assert_eq!(echo("command = \"echo '$x'  {x}\"\nshell = \"none\""), "$x a b\n");
    assert_eq!(echo("command = [\"echo\", \"$x\", \"{x}\", \"{{x}}\"]"), "$x a  b {x}\n");
    assert_eq!(echo("command = 'echo \"$x\" {x} $0'\nshell = \"bash --norc\""), "a  b a b bash\n");
}

#[test]
fn the_start_up_of_the_shell_is_subtracted_where_that_is_asked_for() {
    let observations = run("command = \"true\"\nruns = 20\nsubtract_shell = true");
    let start_up = observations.fact("shell_start_up").unwrap();
    let raw = observations.latency("run").unwrap().min_mean_max_ns().1 / 1e9;
    let elapsed = observations.response("elapsed").unwrap();
    // Times below zero count as zero.
    assert!(
        start_up > 0.0 && elapsed < raw && elapsed >= raw - start_up - 1e-4,
        "{elapsed} {raw} {start_up}"
    );
    assert_eq!(run("command = [\"true\"]\nsubtract_shell = true").fact("shell_start_up"), None);
}

#[test]
fn runs_at_the_same_time_overlap_and_share_their_number() {
    let observations = run("command = \"sleep 0.3\"\nconcurrency = 4\nruns = 8");
    let sum: f64 = series(&observations, "run:elapsed").iter().sum();
    assert_eq!((observations.work.amount, observations.connections), (8, 4));
    assert!(observations.elapsed_s < sum, "{} of {sum}", observations.elapsed_s);
    assert!((observations.time.session_s - 4.0 * observations.elapsed_s).abs() < 1e-9);
    assert!(
        (observations.response("throughput").unwrap() - 8.0 / observations.elapsed_s).abs() < 1e-9
    );
}

#[test]
fn a_duration_is_filled_with_runs_between_their_bounds() {
    let observations = run("command = \"sleep 0.05\"\nduration = \"300 ms\"");
    assert!(
        observations.work.amount >= 2 && observations.elapsed_s >= 0.3,
        "{} in {}",
        observations.work.amount,
        observations.elapsed_s
    );
    assert_eq!(run("command = \"true\"\nduration = \"60 s\"\nmax_runs = 3").work.amount, 3);
    assert_eq!(run("command = \"sleep 0.05\"\nduration = \"1 ms\"\nmin_runs = 3").work.amount, 3);
}

/// Processes with this text in their command line.
fn alive(mark: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(mark)).count()
}

#[test]
fn a_trial_that_is_to_stop_kills_all_that_it_started() {
    let cancel = Cancel::new();
    let start = Instant::now();
    let result = std::thread::scope(|scope| {
        scope.spawn(|| {
            while alive("1234.001") < 2 {
                assert!(start.elapsed() < Duration::from_secs(60), "the command did not start");
                std::thread::sleep(Duration::from_millis(10));
            }
            cancel.cancel(CancelReason::TrialTime);
        });
        try_run("command = \"sleep 1234.001 & sleep 1234.001\"\nconcurrency = 1", &cancel)
    });
    assert!(
        matches!(result, Err(ProbeError::Engine(engine::EngineError::Cancelled))),
        "{result:?}"
    );
    assert_eq!(alive("1234.001"), 0);
}

#[test]
fn what_a_command_leaves_behind_is_killed_and_told() {
    let left = |workload: &str| {
        let warnings = run(workload).warnings;
        let warning = warnings.iter().find(|warning| warning.kind == WarningKind::LeftBehind);
        warning.map(|warning| warning.detail.clone())
    };
    let group = left("command = \"sleep 1234.002 & exit 0\"\nruns = 2").unwrap();
    assert!(
        group.starts_with("2 of 2 runs left processes of their process group running"),
        "{group}"
    );
    // A daemon: a session of its own, reparented, its streams closed.
    let daemon =
        left("command = \"(setsid sleep 1234.003 >/dev/null 2>&1 &) ; sleep 0.3\"").unwrap();
    assert!(daemon.contains("still running at the end of the trial: sleep (pid "), "{daemon}");
    // What prepare starts is there during the run, for conclude to end.
    let server = "prepare = \"sleep 1234.004 & echo $! > {file}\"\ncommand = \"kill -0 $(cat \
                  {file})\"\nconclude = \"kill $(cat {file})\"\nparameters = { file = \"FILE\" }";
    let file = tempfile::NamedTempFile::new().unwrap();
    assert_eq!(left(&server.replace("FILE", &file.path().display().to_string())), None);
    let kept = left("prepare = \"sleep 1234.005 &\"\ncommand = \"true\"").unwrap();
    assert!(kept.contains("sleep (pid"), "{kept}");
    assert_eq!(["1234.002", "1234.003", "1234.004", "1234.005"].map(alive), [0; 4]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "one list of steps, wrapped at 100 columns")]
fn nonsense_is_refused_before_anything_runs() {
    let response = "responses.tps = { regex = \"x\", direction = \"higher\" }\n";
    for (workload, objection) in [
        ("runs = 1", "workload.command: missing"),
        ("command = \"'\"\nshell = \"none\"", "workload.command: unclosed quote"),
        (
            "command = \"sleep {delay}\"",
            "workload.command: unknown parameter `{delay}`; set workload.parameters.delay",
        ),
        ("command = \"sleep {dely}\"\nparameters = { delay = 1 }", "a similar name is `delay`"),
        ("command = \"true\"\nprepare = \"echo {x}\"", "workload.prepare: unknown parameter `{x}`"),
        (
            "command = [\"no-such-program\"]",
            "workload.command: cannot find the program `no-such-program`: not in PATH",
        ),
        ("command = [\"./none\"]", "no such file"),
        (
            "command = \"true\"\nshell = \"no-such-shell\"",
            "workload.shell: cannot find the program `no-such-shell`",
        ),
        (
            "command = \"true\"\nruns = 1\nduration = 1",
            "workload.runs: give this or workload.duration",
        ),
        ("command = \"true\"\nmax_runs = 1", "workload.max_runs: this needs workload.duration"),
        (
            "command = \"true\"\nduration = 1\nmin_runs = 3\nmax_runs = 1",
            "workload.min_runs: this exceeds",
        ),
        (
            "command = \"true\"\nignore_failure = \"yes\"",
            "workload.ignore_failure: expected true, false, or exit codes",
        ),
        ("command = \"true\"\nignore_failure = \"1,256\"", "workload.ignore_failure"),
        ("command = \"true\"\ninput = \"/no/such/file\"", "workload.input: no such file"),
        ("command = \"true\"\nfolder = \"/no/such/folder\"", "workload.folder: no such folder"),
        (
            "command = \"true\"\nparameters.\"a b\" = 1",
            "workload.parameters.a b: a parameter name consists of",
        ),
        (
            "command = \"true\"\nresponses.tps = { regex = \"(\", direction = \"higher\" }",
            "workload.responses.tps.regex: found open group without closing",
        ),
        (
            "command = \"true\"\nresponses.tps = { regex = \"x\" }",
            "workload.responses.tps.direction: missing",
        ),
        (
            "command = \"true\"\nresponses.tps = { direction = \"lower\" }",
            "workload.responses.tps.regex: missing",
        ),
        (
            "command = \"true\"\nresponses.tps = { regex = \"x\", pointer = \"/x\", direction = \
             \"lower\" }",
            "not both",
        ),
        (
            "command = \"true\"\nresponses.tps = { pointer = \"x\", direction = \"lower\" }",
            "begins with `/`",
        ),
        (
            "command = \"true\"\nresponses.elapsed = { regex = \"x\", direction = \"lower\" }",
            "no name of the probe's own responses",
        ),
        (
            &format!("command = \"true\"\noutput = \"null\"\n{response}"),
            "workload.output: must be \"pipe\"",
        ),
    ] {
        let objections = objections(workload);
        assert!(
            objections.iter().any(|message| message.contains(objection)),
            "{workload}\n{objections:?}"
        );
    }
}

#[test]
fn parameters_are_levels_of_factors() {
    let configuration =
        configuration("command = \"echo {n}\"\nparameters = { n = 4, word = \"x\" }");
    assert_eq!(configuration.value("workload.parameters.n"), Some(&Value::Integer(4)));
    assert_eq!(CommandProbe.connections(&configuration), 1);
}

/// Runs a command on a server and returns its observations.
fn run_on(server: &testing::pgbench::Server, workload: &str) -> Observations {
    let text = format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"postgres\"\nurl = \
         {:?}\n[workload]\nprobe = \"command\"\n{workload}",
        server.url("postgres"),
    );
    let catalog = Catalog {
        engines: testing::ENGINES.iter().map(|engine| (engine.name, engine.settings)).collect(),
        probes: vec![(CommandProbe.declarations().name, CommandProbe.declarations().settings)],
        ..Catalog::default()
    };
    let configuration = parse(&text, &catalog).unwrap().configurations.remove(0);
    let engine = testing::engine("postgres");
    let target = Target::for_engine(engine, &configuration);
    assert_eq!(CommandProbe.plan(&configuration, &target), Vec::new());
    assert!(
        CommandProbe.set_up(&configuration, &target).is_none(),
        "each trial has a schema of its own"
    );
    let cancel = Cancel::new();
    let folders = Folders {
        directory: Path::new("/tmp").into(),
        volumes: Vec::new(),
        permits: Permits::default(),
        cgroup_joins: Vec::new(),
    };
    let mut host = (engine.host)(folders);
    let instance = host.prepare(&configuration, 1, &cancel).unwrap();
    let observations = CommandProbe
        .run(&TrialContext {
            disturbances: &[],
            generation: probe::generation::Generation::Here,
            configuration: &configuration,
            instance: instance.as_ref(),
            target,
            storage: &[],
            seed: 1,
            cancel: &cancel,
            progress: &|_| {},
        })
        .unwrap();
    instance.remove().unwrap();
    observations
}

/// psql finds a private server by its environment, whatever ours says.
#[test]
fn a_command_finds_the_server_that_it_is_to_load() {
    for server in testing::pgbench::servers() {
        let psql = server.program("psql").display().to_string();
        let observations = run_on(
            &server,
            &format!(
                "setup = \"{psql} -XAtqc 'create table t as select 41 as a'\"\ncommand = \
                 [{psql:?}, \"-XAtc\", \"select a + 1, current_schema() from \
                 t\"]\nresponses.answer = {{ regex = \"^([0-9]+).steelbench\", direction = \
                 \"lower\" }}\n"
            ),
        );
        assert_eq!(observations.response("answer"), Some(42.0));
    }
}

/// Of four sessions of pgbench one sleeps and three wait for the lock that it holds.
#[test]
fn the_waits_of_the_sessions_that_a_command_opens_are_seen() {
    for server in testing::pgbench::servers() {
        let script = tempfile::NamedTempFile::new().unwrap();
        let sql = "BEGIN;\nSELECT pg_advisory_xact_lock(42);\nSELECT pg_sleep(0.05);\nEND;\n";
        std::fs::write(script.path(), sql).unwrap();
        let (pgbench, script) = (server.program("pgbench"), script.path().display());
        let observations = run_on(
            &server,
            &format!(
                "command = \"{} -n -c 4 -j 1 -T 3 -f {script}\"\nshell = \"none\"\n",
                pgbench.display()
            ),
        );
        let done = (observations.connections, observations.work.amount);
        assert_eq!(done, (4, 1), "{:?}", observations.time);
        let share =
            |wait_type: &str| waited(&observations, wait_type) / observations.time.session_s;
        let (lock, sleep) = (share("Lock:advisory"), share("Timeout:PgSleep"));
        assert!(
            (lock - 0.75).abs() < 0.1 && (sleep - 0.25).abs() < 0.1,
            "{lock} {sleep} {:?}",
            observations.waits
        );
        assert!(
            observations.waits.iter().all(|wait| wait.wait_type != "OFF_CPU"),
            "{:?}",
            observations.waits
        );
        // CPU and elapsed time of the command itself are still reported.
        assert!(
            observations.response("user_cpu").is_some()
                && observations.response("elapsed").is_some()
        );
    }
}
