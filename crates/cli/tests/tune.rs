//! `tune`: from the declaration to the confirmed settings.

use crate::common::{Exit, Lab, on_screen};
use crate::scarce::limit;
use serde_json::Value;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// Elapsed time is the delay times the number of transactions; nothing else has an effect.
pub const SCRIPTED: &str = r#"
[experiment]
name = "tuned"
response = "elapsed"
[target]
engine = "null"
delay = "4 ms"
[workload]
probe = "insert"
connections = 1
rows = 40
rows_per_transaction = 1
[[knob]]
setting = "target.delay"
range = ["0.2 ms", "9 ms"]
scale = "log"
[[knob]]
setting = "target.data_files"
range = [1, 8]
[tune]
budget = "40 trials"
constraints = ["delay + data_files * 0.25 ms >= 2.2 ms"]
[repeats]
blocks = 3
"#;

/// The cells of the rows with this name.
fn rows<'t>(text: &'t str, name: &str) -> Vec<Vec<&'t str>> {
    let rows = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    rows.filter(|cells| cells.first() == Some(&name)).collect()
}

/// The delays in seconds of the candidates A and B, behind those of the present settings and the
/// defaults.
fn delays(page: &str) -> Vec<f64> {
    let all = rows(page, "delay");
    let of_candidates = all.iter().find_map(|row| {
        let before = row.iter().position(|cell| *cell == "default")?;
        Some(&row[before + 1..])
    });
    let delays = of_candidates.unwrap().chunks(2).map(|cells| {
        let seconds = match cells[1] {
            "ms" => 1e-3,
            "us" => 1e-6,
            "ns" => 1e-9,
            unit => panic!("{unit}: {page}"),
        };
        cells[0].parse::<f64>().unwrap() * seconds
    });
    delays.collect()
}

#[test]
fn a_search_reports_its_confirmation_and_resumes() {
    let lab = Lab::with(SCRIPTED);
    let check = lab.steelbench(&["tune", "e.toml", "--check"]).expect(0).stdout;
    assert!(check.contains("28 for the search, 12 for the confirmation"), "{check}");
    assert!(!lab.path("results").exists());

    let run = lab.steelbench(&["tune", "e.toml", "--explain", "--full"]).expect(0);
    let screen = on_screen(&lab, &["tune", "e.toml", "--explain"]);
    insta::assert_snapshot!(screen);
    let page = &run.stdout;
    let rounds: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("Round ")).collect();
    assert!(rounds[0].contains("Round 1, after 0 trials and 0 s of the budget of 40 trials."));
    assert!(rounds[1].contains("Round 2, after 6 trials") && rounds[1].contains("delay = "));
    assert!(page.contains("Settings A are better than the present ones in elapsed"), "{page}");
    // Scripted delays repeat exactly: the gain is the ratio of the two delays.
    let stated: f64 = rows(page, "A")[0][3].trim_end_matches('x').parse().unwrap();
    let expected = 0.004 / delays(page)[0];
    assert!((stated - expected).abs() < 0.002 * expected && stated > 4.0, "{page}");
    assert!(page.contains("95 % of the measured gain"), "{page}");

    let shown = lab.steelbench(&["show", "tuned", "--full"]).expect(0).stdout;
    assert!(shown.contains("candidate") && shown.contains("present"), "{shown}");
    let export = lab.steelbench(&["tune", "e.toml", "--explain", "--full"]).expect(0);
    assert_eq!(export.stdout, run.stdout);
    assert!(!export.stderr.contains("block 1"), "no trial is repeated: {}", export.stderr);

    // Other knobs are another search.
    lab.write("e.toml", &SCRIPTED.replace("range = [1, 8]", "range = [1, 9]"));
    let other = lab.steelbench(&["tune", "e.toml"]).expect(2).stderr;
    assert!(other.contains("recorded with other knobs or settings"), "{other}");
}

/// Killed while it creates a results file, a search leaves an empty one.
#[test]
fn a_search_continues_with_results_files_that_a_kill_left_empty() {
    let lab = Lab::with(SCRIPTED);
    std::fs::create_dir(lab.path("results")).unwrap();
    for name in ["tuned-search", "tuned", "tuned-ablation"] {
        lab.write(&format!("results/{name}.steelbench"), "");
    }
    lab.steelbench(&["tune", "e.toml", "--explain"]).expect(0);
    let runs = "SELECT count(*) FROM runs";
    assert_eq!(lab.rows("tuned", runs), ["1"]);
    // And a search whose confirmation was killed so.
    lab.write("results/tuned.steelbench", "");
    let again = lab.steelbench(&["tune", "e.toml"]).expect(0);
    assert!(!again.stderr.contains("Round 1,"), "{}", again.stderr);
    assert_eq!(lab.rows("tuned", runs), ["1"]);
}

/// The present settings are some times slower and vary little, so three blocks prove it: the search
/// gets the trials of the other two.
#[test]
fn a_large_gain_is_confirmed_in_fewer_blocks() {
    let large = SCRIPTED
        .replace("40 trials\"", "60 trials\"\nworth = \"0%\"")
        .replace("blocks = 3", "blocks = 5");
    let lab = Lab::with(&large);
    let check = lab.steelbench(&["tune", "e.toml", "--check"]).expect(0).stdout;
    let check = check.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(check.contains("40 for the search, 20 for the confirmation or fewer"), "{check}");
    let page = lab.steelbench(&["tune", "e.toml", "--full"]).expect(0).stdout;
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("(3 blocks, 95 % interval"), "{page}");
    assert!(page.contains("48 trials in 6 rounds"), "{page}");
    let blocks = lab.rows("tuned", "SELECT max(block), count(*) FROM trials");
    assert_eq!(blocks, ["3|12"]);
}

/// A database of few rows takes a page each for its table and its index: the default page of 4 KiB
/// takes least space, and no point of the search has it.
const PAGES: &str = r#"
[experiment]
name = "pages"
response = "space"
[target]
engine = "sqlite"
settings = { page_size = 65536 }
[workload]
probe = "insert"
connections = 1
rows = 50
[[knob]]
setting = "target.settings.page_size"
values = [16384, 32768, 65536]
[[knob]]
setting = "target.settings.cache_size"
range = [100, 2000]
[tune]
budget = "30 trials"
[repeats]
blocks = 3
"#;

#[test]
fn settings_that_a_winner_does_without_are_named() {
    let lab = Lab::with(PAGES);
    let page = lab.steelbench(&["tune", "e.toml", "--full"]).expect(0).stdout;
    assert!(page.contains("Settings defaults are better than the present ones in space"), "{page}");
    let words = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = "To apply (PRAGMA) Remove page_size: the winner has the server's default.";
    assert!(words.contains(text), "{page}");
}

/// Scripted time is shorter than real time. So every trial of the third round takes longer than the
/// leader did, except that of the present settings, which has no limit.
#[test]
fn trials_that_cannot_beat_the_leader_are_stopped() {
    let file = SCRIPTED
        .replace("delay = \"4 ms\"", "delay = \"4 ms\"\nreal_delay = \"30 ms\"")
        .replace("rows = 40", "rows = 10")
        .replace("40 trials\"", "36 trials\"\nworth = \"0%\"");
    let lab = Lab::with(&file);
    let run = lab.steelbench(&["tune", "e.toml", "--full"]).expect(0);
    assert!(run.stdout.contains("8 trials stopped early: worse than the leader"), "{run:?}");
    assert!(run.stdout.contains("24 trials in 3 rounds"), "{run:?}");
    assert!(run.stdout.contains("; 0 failed or broke a limit"), "{run:?}");
    assert_eq!(run.stderr.matches(": cannot beat the leader").count(), 8, "{run:?}");
    assert!(!run.stderr.contains("retrying"), "{run:?}");
    let sql = "SELECT count(*), count(timeout_s), min(elapsed_s >= timeout_s) FROM trials WHERE \
               status = 'failed'";
    assert_eq!(lab.rows("tuned-search", sql), ["8|8|1"]);
    let shown = lab.steelbench(&["show", "tuned-search", "--full"]).expect(0).stdout;
    assert!(shown.contains("The search ended 8 trials early"), "{shown}");
    assert!(!shown.contains("limits.trial_time") && !shown.contains("timed out"), "{shown}");
    // A resumed search knows them from its results file.
    let again = lab.steelbench(&["tune", "e.toml", "--full"]).expect(0);
    assert_eq!(again.stdout, run.stdout);
    assert!(!again.stderr.contains("block 1"), "no trial is repeated: {}", again.stderr);
}

/// Lookups that arrive at a rate: the present settings have 3,000 a second, every other point has
/// 120 at most.
const RATES: &str = r#"
[experiment]
name = "rates"
response = "throughput"
[target]
engine = "sqlite"
[workload]
probe = "lookup"
rows = 1000
connections = 1
duration = "0.8 s"
rate = 3000
[observe]
interval = "100 ms"
[[knob]]
setting = "workload.rate"
range = [60, 120]
[tune]
budget = "28 trials"
worth = "0%"
[repeats]
blocks = 2
"#;

/// Trials of a given time are ended when their rate cannot reach the leader's any more. The
/// recording says so, and a resumed search knows it.
#[test]
fn rates_that_cannot_reach_the_leader_are_stopped() {
    let lab = Lab::with(RATES);
    let run = lab.steelbench(&["tune", "e.toml", "--full"]).expect(0);
    let stopped = run.stderr.matches(": cannot beat the leader").count();
    assert!(stopped >= 1 && !run.stderr.contains("FAILED"), "{run:?}");
    let trials = if stopped == 1 { "trial" } else { "trials" };
    let text = format!("{stopped} {trials} stopped early: worse than the leader. This saved ");
    assert!(run.stdout.contains(&text), "{text}: {run:?}");
    assert!(run.stdout.contains("; 0 failed or broke a limit"), "{run:?}");
    // What was seen until then is kept, with the bound of the rate.
    let sql = "SELECT count(*), min(t.elapsed_s < 0.8), min(f.value BETWEEN 30 AND 2900), \
               min(f.unit) FROM trials t JOIN facts f ON f.trial = t.id JOIN series s ON s.trial = \
               t.id WHERE t.status = 'failed' AND f.name = 'rate_at_most' AND s.name = \
               'throughput'";
    assert_eq!(lab.rows("rates-search", sql), [format!("{stopped}|1|1|lookups/s")]);
    let shown = lab.steelbench(&["show", "rates-search", "--full"]).expect(0).stdout;
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = format!(
        "The search ended {stopped} {trials} early, because they could not beat its best trial any \
         more: candidate="
    );
    assert!(shown.contains(&text) && shown.contains("ended early"), "{text}: {shown}");
    assert!(!shown.contains("limits.trial_time") && !shown.contains("timed out"), "{shown}");
    let again = lab.steelbench(&["tune", "e.toml", "--full"]).expect(0);
    assert_eq!(again.stdout, run.stdout);
}

#[test]
fn points_that_fail_or_break_a_limit_cannot_win() {
    let limited = SCRIPTED.replace("[tune]", "[tune]\nsubject_to = [\"elapsed >= 90 ms\"]");
    let lab = Lab::with(&limited);
    let page = lab.steelbench(&["tune", "e.toml", "--full"]).expect(0).stdout;
    // 40 rows in transactions of one row take 40 delays.
    assert!(delays(&page).iter().all(|delay| *delay >= 90e-3 / 40.0), "{page}");
    assert!(rows(&page, "defaults")[0].contains(&"failed"), "{page}");
    assert!(!page.contains("; 0 failed or broke a limit"), "{page}");
}

#[test]
fn wrong_declarations_fail_before_anything_runs() {
    let with = |old: &str, new: &str| SCRIPTED.replace(old, new);
    for (file, message) in [
        (with("target.delay\"\nrange", "target.dely\"\nrange"), "did you mean `target.delay`"),
        (with("range = [1, 8]", "range = [8, 1]"), "which is not below"),
        (with("range = [1, 8]", "range = [0, 8]"), "expected 1 to"),
        (with("[1, 8]", "[1, 8]\nspecial = [4]"), "special value 4 is in the range"),
        (with("[1, 8]", "[1, 8]\nwhen = { dely = 1 }"), "unknown earlier knob `dely`"),
        (with(">= 2.2 ms", ">= 25 ms"), "no combination of values keeps all constraints"),
        (with("+ data_files", "+ data_fils"), "did you mean `data_files`"),
        (with("40 trials", "14 trials"), "14 trials are too few"),
        (with("40 trials", "some"), "neither a time"),
        (with("[tune]", "[factors]\n\"workload.rows\" = [1]\n[tune]"), "has no factors"),
    ] {
        let lab = Lab::with(&file);
        let error = lab.steelbench(&["tune", "e.toml"]).expect(2).stderr;
        assert!(error.contains(message), "{message} is missing in\n{error}");
        assert!(error.contains("e.toml:"), "{error}");
        assert!(!lab.path("results").exists(), "{message}");
    }
    let lab = Lab::with(SCRIPTED);
    let run = lab.steelbench(&["run", "e.toml"]).expect(2).stderr;
    assert!(run.contains("`steelbench tune e.toml`"), "{run}");
}

#[test]
fn knobs_that_can_lose_data_are_locked() {
    let file = |engine: &str, setting: &str, values: &str, tune: &str| {
        format!(
            "[experiment]\nname = \"locked\"\n[target]\nengine = \"{engine}\"\n[workload]\nprobe = \
             \"insert\"\nrows = 100\n[[knob]]\nsetting = \"target.settings.{setting}\"\nvalues = \
             {values}\n[tune]\n{tune}\n"
        )
    };
    let locked = [
        ("sqlite", "synchronous", "[\"off\", \"full\"]"),
        ("sqlite", "journal_mode", "[\"memory\", \"wal\"]"),
        ("postgres", "fsync", "[true, false]"),
        ("postgres", "full_page_writes", "[\"on\", \"off\"]"),
        ("postgres", "synchronous_commit", "[\"on\", \"off\"]"),
        ("mariadb", "innodb_flush_log_at_trx_commit", "[0, 1, 2]"),
        ("mariadb", "innodb_doublewrite", "[\"ON\", \"OFF\"]"),
    ];
    for (engine, setting, values) in locked {
        let lab = Lab::with(&file(engine, setting, values, ""));
        let error = lab.steelbench(&["tune", "e.toml", "--check"]).expect(2).stderr;
        assert!(error.contains("a crash can lose data with"), "{setting}: {error}");
        assert!(error.contains(&format!("allow_data_loss = [\"{setting}\"]")), "{error}");
    }
    let allowed = "allow_data_loss = [\"synchronous\"]";
    let lab = Lab::with(&file("sqlite", "synchronous", "[\"off\", \"full\"]", allowed));
    lab.steelbench(&["tune", "e.toml", "--check"]).expect(0);
    let safe = file("sqlite", "journal_mode", "[\"delete\", \"wal\"]", "");
    Lab::with(&safe).steelbench(&["tune", "e.toml", "--check"]).expect(0);
    // A server of the user needs a flag, and keeps running.
    let live = file("postgres", "work_mem", "[\"4MB\", \"8MB\"]", "");
    let live = live.replace("[workload]", "url = \"postgres://127.0.0.1:1/none\"\n[workload]");
    let error = Lab::with(&live).steelbench(&["tune", "e.toml"]).expect(2).stderr;
    assert!(error.contains("give --on-live to permit it"), "{error}");
    let both = "allow_server_settings = true\nallow_restart = \"true\"\n[workload]";
    let restarts = live.replace("[workload]", both);
    let error = Lab::with(&restarts).steelbench(&["tune", "e.toml", "--on-live"]).expect(2).stderr;
    assert!(error.contains("allow_restart"), "{error}");
    // The engine judges the bounds of each knob.
    let unknown = file("sqlite", "cash_size", "[1, 2]", "");
    let error = Lab::with(&unknown).steelbench(&["tune", "e.toml", "--check"]).expect(2).stderr;
    assert!(error.contains("did you mean `cache_size`") && error.contains("e.toml:9"), "{error}");
}

/// A parameter of a command has no default that could be confirmed beside the present one.
#[test]
fn parameters_of_a_command_are_tuned() {
    let lab = Lab::with(
        r#"
[experiment]
name = "valley"
response = "depth"
[target]
engine = "none"
[workload]
probe = "command"
command = ["sh", "-c", "echo depth $((({x} - 70) * ({x} - 70) + 100))"]
parameters = { x = 20 }
runs = 1
[workload.responses.depth]
regex = "depth ([0-9]+)"
unit = "m"
direction = "lower"
[[knob]]
setting = "workload.parameters.x"
range = [1, 100]
[tune]
budget = "24 trials"
[repeats]
blocks = 2
"#,
    );
    let check = lab.steelbench(&["tune", "e.toml", "--check"]).expect(0).stdout;
    assert!(check.contains("18 for the search, 6 for the confirmation"), "{check}");
    let run = lab.steelbench(&["tune", "e.toml", "--explain", "--full"]).expect(0);
    assert!(run.stdout.contains("Settings A are better"), "{}", run.stdout);
    assert_eq!(rows(&run.stdout, "defaults"), Vec::<Vec<&str>>::new());
    // The response that is compared is in each line of the progress.
    assert!(run.stderr.contains("candidate=present  depth 2,600 m"), "{}", run.stderr);
}

/// The page and the report of the confirmation state one interval for a ratio, and the page names
/// what the winner risks.
#[test]
fn a_gain_has_one_interval_and_its_risk_is_named() {
    let lab = Lab::with(
        "[experiment]\nname = \"tuned\"\nresponse = \"throughput\"\n[target]\nengine = \
         \"sqlite\"\nsettings = { journal_mode = \"delete\", synchronous = \"full\" }\n\
         [workload]\nprobe = \"insert\"\nconnections = 1\nrows = 200\nrows_per_transaction = 1\n\
         [[knob]]\nsetting = \"target.settings.synchronous\"\nvalues = [\"full\", \"off\"]\n\
         [[knob]]\nsetting = \"target.settings.cache_size\"\nrange = [100, 10000]\n[tune]\n\
         budget = \"30 trials\"\nallow_data_loss = [\"synchronous\"]\n[repeats]\nblocks = 4\n",
    );
    let page = lab.steelbench(&["tune", "e.toml", "--full"]).expect(0).stdout;
    let winner = ["A", "B"].into_iter().find(|text| {
        page.contains(&format!("Settings {text} are better than the present ones in throughput"))
    });
    let Some(winner) = winner else {
        assert!(page.contains("Keep the present settings"), "{page}");
        return;
    };
    let position = rows(&page, "setting")[0].iter().position(|cell| *cell == winner).unwrap();
    let takes_risk = rows(&page, "synchronous")[0][position] == "off";
    assert_eq!(page.contains("With synchronous=off, commits may be lost"), takes_risk, "{page}");
    let json = lab.steelbench(&["show", "tuned", "--json"]).expect(0).stdout;
    let summary: Value = serde_json::from_str(&json).unwrap();
    let levels = summary["factors"]["effects"][0]["levels"].as_array().unwrap();
    let level = levels.iter().find(|level| level["level"] == winner).unwrap();
    let interval = &level["comparison"]["interval"];
    let [low, high] = ["low", "high"].map(|end| interval[end].as_f64().unwrap());
    let low = if low <= 1.0_f64.next_up() { ">1".to_owned() } else { format!("{low:.3}") };
    assert!(page.contains(&format!("x [{low}, {high:.3}]")), "{interval} {page}");
}

/// A server that does not run, with permission to change its settings.
pub const SERVER: &str = r#"
[experiment]
name = "live"
[target]
engine = "postgres"
url = "postgres://127.0.0.1:1/none"
allow_server_settings = true
[workload]
probe = "insert"
rows = 100
[[knob]]
setting = "target.settings.work_mem"
values = ["4MB", "8MB"]
"#;

#[test]
fn settings_that_cannot_be_recorded_are_not_searched_for() {
    let lab = Lab::with(SERVER);
    let apply = || lab.steelbench(&["tune", "e.toml", "--on-live", "--apply"]).expect(1);
    lab.write("state", "a file in the place of a folder");
    apply().says("state/steelbench/servers").says("Not a directory");
    std::fs::remove_file(lab.path("state")).unwrap();
    std::fs::create_dir_all(lab.path("state/steelbench/servers")).unwrap();
    lab.write("state/steelbench/servers/server-settings-1.applied", "{");
    apply().says("server-settings-1.applied").says("restore this file from a backup");
    let forbidden = SERVER.replace("allow_server_settings = true\n", "");
    lab.write("e.toml", &forbidden);
    apply().says("needs target.allow_server_settings = true");
}

#[test]
fn records_that_cannot_be_read_are_named() {
    let lab = Lab::with(SERVER);
    let folder = lab.path("state/steelbench/servers");
    std::fs::create_dir_all(&folder).unwrap();
    let pipe = folder.join("server-settings-1.json");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::fs::write(folder.join("server-settings-2.json"), [b'{', 0xff]).unwrap();
    std::fs::write(folder.join("server-settings-3.applied"), "{}").unwrap();
    let undone = lab.steelbench(&["tune", "e.toml", "--undo"]).expect(1);
    undone
        .says("server-settings-1.json: it is not a regular file")
        .says("server-settings-2.json: ")
        .says("server-settings-3.applied: ");
    assert!(pipe.exists());
}

#[test]
fn trials_that_failed_for_lack_of_open_files_run_again() {
    let lab = Lab::with(PAGES);
    let mut command = lab.command(&["tune", "e.toml"]);
    let limited = limit(&mut command, libc::RLIMIT_NOFILE, 16).output().unwrap();
    let failed = Exit::from(limited).expect(1);
    assert!(failed.stderr.contains("the present settings fail"), "{failed:#?}");
    assert!(failed.stderr.contains("`steelbench tune e.toml` runs the failed"), "{failed:#?}");
    let kinds = "SELECT DISTINCT failure FROM trials";
    assert_eq!(lab.rows("pages-search", kinds), ["machine"]);
    lab.steelbench(&["tune", "e.toml"]).expect(0);
}

/// The present settings fail until a file is there.
#[test]
fn failed_trials_run_again_on_request() {
    let lab = Lab::new();
    let hook = format!("[hooks]\nbefore_trial = \"test -e {}\"\n", lab.path("ready").display());
    lab.write("e.toml", &format!("{SCRIPTED}{hook}"));
    let advice = "`steelbench tune e.toml --retry-failed` runs the failed";
    lab.steelbench(&["tune", "e.toml"]).expect(1).says(advice);
    lab.write("ready", "");
    lab.steelbench(&["tune", "e.toml"]).expect(1).says("the present settings fail").says(advice);
    lab.steelbench(&["tune", "e.toml", "--retry-failed"]).expect(0);
    // All succeeded: nothing runs again.
    let again = lab.steelbench(&["tune", "e.toml", "--retry-failed"]).expect(0);
    assert!(!again.stderr.contains("block 1"), "no trial is repeated: {}", again.stderr);
}

/// Whose values `--undo` gives to a server are never those of another user.
#[test]
fn records_of_former_settings_are_read_only_where_no_other_user_can_write() {
    let lab = Lab::with(SERVER);
    let undo = ["tune", "e.toml", "--undo"];
    let mut homeless = lab.command(&undo);
    homeless.env_remove("HOME").env_remove("XDG_STATE_HOME");
    Exit::from(homeless.output().unwrap())
        .expect(1)
        .says("set XDG_STATE_HOME to a folder of your own");
    let folder = lab.path("state/steelbench/servers");
    std::fs::create_dir_all(&folder).unwrap();
    let record = folder.join("server-settings-1.json");
    let text = "{\"server\": \"\", \"run\": \"\", \"owner\": {\"pid\": 1, \"started_ticks\": 0}, \
                \"before\": {}}";
    std::fs::write(&record, text).unwrap();
    std::fs::set_permissions(&record, Permissions::from_mode(0o666)).unwrap();
    lab.steelbench(&undo)
        .expect(1)
        .says("server-settings-1.json belongs to another user or is writable");
}
