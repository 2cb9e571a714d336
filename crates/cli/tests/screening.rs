//! Screening designs from `check` to the report.

use crate::common::{Lab, end, signal, wait_until};

/// Elapsed time is the delay times the number of transactions: two main effects and their
/// interaction. The other factors have no effect.
const SCRIPTED: &str = r#"
[experiment]
name = "screened"
response = "elapsed"
[target]
engine = "null"
[workload]
probe = "insert"
connections = 1
rows = 40
[design]
kind = "screening"
resolution = "IV"
[factors]
"target.delay" = ["1 ms", "3 ms"]
"target.data_files" = [1, 2]
"workload.rows_per_transaction" = [10, 20]
"target.waits" = ["LOG_WRITE log 0.4 0.1", "LOG_WRITE log 0.2 0.1"]
[repeats]
blocks = 2
"#;

#[test]
fn effects_with_their_alias_chains() {
    let lab = Lab::with(SCRIPTED);
    let check = lab.steelbench(&["check", "e.toml"]).expect(0);
    for line in [
        "design: screening, 8 runs instead of 16, resolution IV",
        "  factors: A = target.delay, B = target.data_files, C = workload.rows_per_transaction, D \
         = target.waits",
        "  generators: D = ABC",
        "    AB = CD",
        "    AC = BD",
        "    AD = BC",
        "8 configurations x 2 blocks = 16 trials",
    ] {
        assert!(check.stdout.contains(line), "{line} is missing in\n{}", check.stdout);
    }
    assert!(check.stdout.contains("detectable effect: "), "{}", check.stdout);
    let planned = &lab.json(&["check", "e.toml"])[0]["design"];
    assert_eq!(planned["generators"], serde_json::json!(["D = ABC"]));

    let run = lab.run(0);
    assert_eq!(lab.trials("screened"), 16);
    // 1 or 3 ms, 4 or 2 transactions: the mean is 6 ms.
    let shown = &lab.json(&["show", "screened"])[0];
    let screening = &shown["screening"];
    let effect = |chain: &[&str]| {
        let all = screening["effects"].as_array().unwrap_or_else(|| panic!("{shown}"));
        let effect = all.iter().find(|effect| effect["chain"] == serde_json::json!(chain)).unwrap();
        (effect["value"].as_f64().unwrap() * 1e3, effect["significant"].as_bool())
    };
    let close = |chain: &[&str], ms: f64, significant: bool| {
        let (value, verdict) = effect(chain);
        assert!((value - ms).abs() < 1e-6, "{chain:?}: {value}");
        assert_eq!(verdict, Some(significant), "{chain:?}");
    };
    close(&["A"], 6.0, true);
    close(&["C"], -4.0, true);
    close(&["AC", "BD"], -2.0, true);
    close(&["B"], 0.0, false);
    close(&["D"], 0.0, false);
    close(&["AB", "CD"], 0.0, false);
    close(&["AD", "BC"], 0.0, false);
    let shown = lab.steelbench(&["show", "screened", "--full"]).expect(0).stdout;
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "A (delay, 1 ms to 3 ms) raises elapsed by 6.00 ms",
        "One of AC, BD lowers elapsed by 2.00 ms",
        "this design cannot tell them apart",
        "Screening: effects of 4 factors in 8 runs",
        "AC + BD",
        "Pareto chart",
    ] {
        assert!(words.contains(part), "{part} is missing in\n{shown}");
    }
    // No sentence of a grid, which would name one factor or pair as the cause.
    for part in ["depends on", "is better than", "No level of", "cannot be compared"] {
        assert!(!words.contains(part), "{part} is in\n{shown}");
    }
    assert!(run.stdout.contains("Screening: effects of 4 factors"), "{}", run.stdout);
    lab.steelbench(&["report", "screened", "--output", "r.html"]).expect(0);
    let page = lab.read("r.html");
    assert!(page.contains("halfNormal") && page.contains("Half-normal plot of the effects"));
}

/// With one block effects are tested against each other; of a Plackett-Burman design models with
/// interactions are listed.
#[test]
fn one_block_of_a_plackett_burman_design() {
    let lab = Lab::with(
        &SCRIPTED.replace("resolution = \"IV\"", "runs = 12").replace("blocks = 2", "blocks = 1"),
    );
    let check = lab.steelbench(&["check", "e.toml"]).expect(0);
    assert!(check.stdout.contains("12 runs instead of 16, a Plackett-Burman design"));
    lab.run(0);
    let shown = &lab.json(&["show", "screened"])[0]["screening"];
    assert_eq!(shown["effects"].as_array().unwrap().len(), 11);
    assert!(shown["test"]["lenth"]["pse"].as_f64().is_some(), "{shown}");
    let models = shown["models"].as_array().unwrap();
    // The model that generated the figures.
    let exact =
        models.iter().find(|model| model["r_squared"].as_f64().unwrap() > 0.999_999).unwrap();
    let terms: Vec<&str> =
        exact["terms"].as_array().unwrap().iter().map(|t| t["term"].as_str().unwrap()).collect();
    assert_eq!(terms, ["A", "C", "AC"]);
    let text = lab.steelbench(&["show", "screened", "--full"]).expect(0).stdout;
    assert!(text.contains("Models with interactions") && text.contains("PSE"), "{text}");
}

#[test]
fn a_screening_resumes_and_refuses_another_design() {
    let lab = Lab::with(SCRIPTED);
    lab.run(0);
    lab.write("e.toml", &SCRIPTED.replace("blocks = 2", "blocks = 3"));
    lab.run(0);
    assert_eq!(lab.trials("screened"), 24);
    lab.write("e.toml", &SCRIPTED.replace("resolution = \"IV\"", "runs = 16"));
    lab.run(2).says("design.r");
}

#[test]
fn a_run_without_a_value_leaves_effects_out() {
    let lab = Lab::with(
        &SCRIPTED.replace("engine = \"null\"", "engine = \"null\"\nfail_while_exists = \"broken\""),
    );
    lab.write("broken", "");
    lab.run(1);
    let text = lab.steelbench(&["show", "screened", "--full"]).expect(0).stdout;
    assert!(!text.contains("raises") && !text.contains("lowers"), "{text}");
}

/// Three effects in a design of resolution III: C may be AB. The fold-over separates them, the
/// confirmation agrees, and everything is in one run of the results file.
#[test]
fn a_fold_a_confirmation_and_a_surface_extend_the_recording() {
    let lab = Lab::with(NUMERIC);
    lab.run(0);
    assert_eq!(lab.trials("numeric"), 16);
    let first = lab.steelbench(&["show", "numeric", "--full"]).expect(0).stdout;
    let words = first.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "Next steps",
        "steelbench run numeric.toml --fold",
        "steelbench run numeric.toml --confirm",
    ] {
        assert!(words.contains(part), "{part} is missing in\n{first}");
    }
    let fold = lab.steelbench(&["run", "e.toml", "--full", "--fold"]).expect(0);
    assert!(fold.stdout.contains("Folded of all factors"), "{}", fold.stdout);
    assert_eq!(lab.trials("numeric"), 32);
    let shown = &lab.json(&["show", "numeric"])[0]["screening"];
    assert_eq!(shown["resolution"], 4);
    assert_eq!(shown["runs"], 16);
    let effect = |name: &str| {
        let all = shown["effects"].as_array().unwrap().iter();
        let mut effects = all.filter(|effect| effect["chain"][0] == name);
        (effects.next().unwrap()["value"].as_f64().unwrap() * 1e3, effects.count())
    };
    // 1 or 3 ms, 4 or 2 transactions.
    for (name, ms) in [("A", 6.0), ("C", -4.0), ("AC", -2.0), ("B", 0.0), ("D", 0.0)] {
        let (value, others) = effect(name);
        assert!((value - ms).abs() < 1e-6 && others == 0, "{name}: {value} in {shown}");
    }
    lab.steelbench(&["run", "e.toml", "--full", "--fold"])
        .expect(2)
        .says("the recording has this fold");

    let confirm = lab.steelbench(&["run", "e.toml", "--full", "--confirm"]).expect(0);
    assert!(confirm.stdout.contains("Confirmed: in fresh blocks"), "{}", confirm.stdout);
    let shown = &lab.json(&["show", "numeric"])[0]["screening"]["confirmations"][0];
    let difference = &shown["differences"][0];
    assert_eq!(difference["verdict"], "confirmed", "{shown}");
    // The baseline takes 4 transactions of 1 ms, the best run 2 of them.
    let close = |key: &str| (difference[key].as_f64().unwrap() + 2e-3).abs() < 1e-9;
    assert!(close("measured") && close("predicted"), "{shown}");

    let surface = lab.steelbench(&["run", "e.toml", "--full", "--surface"]).expect(0);
    assert!(surface.stdout.contains("Response surface: 2 factors"), "{}", surface.stdout);
    // Two axial points for each of two factors and three of the centre.
    let by_stage = "SELECT level, count(*) FROM trials JOIN configuration_levels USING \
                    (configuration) WHERE factor = 'stage' GROUP BY level ORDER BY level";
    assert_eq!(lab.rows("numeric", by_stage), ["confirm|15", "fold|16", "surface|14"]);
    // The file of the user has no extensions; the recording keeps them.
    assert!(!lab.read("e.toml").contains("[[extension]]"));
    lab.run(0);
    assert_eq!(lab.trials("numeric"), 16 + 16 + 15 + 14);
    lab.steelbench(&["report", "numeric", "--output", "r.html"]).expect(0);
    assert!(lab.read("r.html").contains("Confirmation of"));
}

/// A run is a time by two numeric factors; the others have no effect.
const NUMERIC: &str = r#"
[experiment]
name = "numeric"
response = "elapsed"
[target]
engine = "null"
[workload]
probe = "insert"
connections = 1
rows = 40
[design]
kind = "screening"
resolution = "III"
[factors]
"target.delay" = ["1 ms", "3 ms"]
"target.data_files" = [1, 3]
"workload.rows_per_transaction" = [10, 20]
"workload.initial_rows" = [0, 10]
"target.waits" = ["LOG_WRITE log 0.4 0.1", "LOG_WRITE log 0.2 0.1"]
[repeats]
blocks = 2
"#;

/// Stopped in the middle of a fold-over, the file alone continues it: the recording has the
/// extension.
#[test]
fn a_killed_step_resumes() {
    let file = NUMERIC.replace("\"null\"", "\"null\"\nreal_delay = \"5 ms\"");
    let whole = Lab::with(&file);
    let lab = Lab::with(&file);
    for lab in [&whole, &lab] {
        lab.run(0);
    }
    whole.run_with(&["--fold"], 0);
    let child = lab.start_with(&["run", "e.toml", "--fold"]);
    wait_until("trials of the fold are recorded", || lab.trials("numeric") >= 19);
    signal(&child, libc::SIGKILL);
    end(child);
    assert!(lab.trials("numeric") < 32, "the fold was over before it was killed");
    lab.run_with(&["--confirm"], 2).says("complete them with `steelbench run e.toml`");
    lab.run(0).says("32 trials, ");
    assert_eq!(lab.trials("numeric"), 32);
    let order = "SELECT configuration, block, sequence, attempt, status FROM trials ORDER BY id";
    assert_eq!(lab.rows("numeric", order), whole.rows("numeric", order));
    let shown = |lab: &Lab| lab.json(&["show", "numeric"])[0]["screening"]["effects"].clone();
    assert_eq!(shown(&lab).as_array().unwrap().len(), shown(&whole).as_array().unwrap().len());
    // The file with an extension by hand is the same experiment.
    let by_hand = format!("{file}\n[[extension]]\nkind = \"fold\"\nblocks = 2\n");
    lab.write("e.toml", &by_hand);
    lab.run(0).says("the run is complete");
    let check = lab.steelbench(&["check", "e.toml"]).expect(0);
    check.shows("8 configurations x 2 blocks + fold: 8 x 2 blocks = 32 trials");
    lab.write("e.toml", &file.replace("blocks = 2", "blocks = 3"));
    lab.run(2).says("extensions: fold after 2 blocks -> fold after 3 blocks");
}

#[test]
fn steps_that_make_no_sense_fail_before_anything_runs() {
    let lab = Lab::with(NUMERIC);
    lab.run_with(&["--fold"], 2).says("no recorded run").says("steelbench run e.toml` first");
    lab.run(0);
    lab.run_with(&["--fold", "target.dely"], 2).says("unknown factor").says("target.delay");
    lab.run_with(&["--fold", "--confirm"], 2).says("cannot be used with");
    lab.run_with(&["--fold", "--fresh"], 2).says("cannot be used with");
    // E = AC, of which the screening cannot say which acts: with one level of E, A is C.
    lab.run_with(&["--surface"], 2)
        .says("do not determine a surface over target.delay, workload.rows_per_transaction")
        .says("fold the screening first");
    assert_eq!(lab.trials("numeric"), 16);

    let full = Lab::with(&NUMERIC.replace("resolution = \"III\"", "runs = 32"));
    full.run(0);
    full.run_with(&["--fold"], 2).says("cannot continue with --fold").says("all combinations");
    full.run_with(&["--fold", "A"], 2).says("all combinations");

    let grid = NUMERIC.replace("kind = \"screening\"\nresolution = \"III\"", "kind = \"grid\"");
    let grid = Lab::with(&grid);
    grid.run(0);
    grid.run_with(&["--fold"], 2).says("another design");
    grid.write("e.toml", NUMERIC);
    grid.run_with(&["--fold"], 2).says("the recorded run is not a screening");

    // One numeric factor acts, and a factor without numbers.
    let silent = Lab::with(
        &NUMERIC
            .replace("\"target.delay\" = [\"1 ms\", \"3 ms\"]\n", "")
            .replace("resolution = \"III\"", "resolution = \"IV\""),
    );
    silent.run(0);
    silent.run_with(&["--surface"], 2).says("two or more active numeric factors");
    assert_eq!(silent.trials("numeric"), 16);
}

/// Elapsed time is the delay times the number of transactions, which bends with the rows of a
/// transaction: 40, 4 and 2 of them with 1, 11 and 21 rows.
#[test]
fn centre_points_show_curvature() {
    let file = NUMERIC
        .replace("resolution = \"III\"", "resolution = \"IV\"\ncentre_points = 2")
        .replace("[10, 20]", "[1, 21]")
        .replace("\"target.waits\" = [\"LOG_WRITE log 0.4 0.1\", \"LOG_WRITE log 0.2 0.1\"]\n", "");
    let lab = Lab::with(&file);
    let check = lab.steelbench(&["check", "e.toml"]).expect(0);
    check.shows("resolution IV, and 2 centre points for curvature");
    let run = lab.run(0);
    assert_eq!(lab.trials("numeric"), 2 * (8 + 2));
    let curvature = &lab.json(&["show", "numeric"])[0]["screening"]["curvature"];
    // The centre: 2 ms, 4 transactions. The corners: 40 and 2 transactions of 1 and 3 ms.
    let value = curvature["value"].as_f64().unwrap() * 1e3;
    assert!((value - (8.0 - 42.0)).abs() < 1e-6, "{curvature}");
    let words = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("elapsed at the centre is 34.0 ms below the mean of the runs"),
        "{words}"
    );
    assert!(words.contains("--surface"), "{words}");
    let close = file.replace("[1, 3]", "[1, 2]");
    lab.write("e.toml", &close);
    lab.steelbench(&["check", "e.toml"])
        .expect(2)
        .says("two levels of the design are rounded to 2");
}

/// The steps on a real engine, with figures that vary.
#[test]
fn sqlite_continues_a_screening() {
    let lab = Lab::with(
        r#"
[experiment]
name = "numeric"
[target]
engine = "sqlite"
settings.journal_mode = "wal"
[workload]
probe = "insert"
connections = 1
rows = 1000
[design]
kind = "screening"
resolution = "III"
[factors]
"workload.rows_per_transaction" = [1, 100]
"target.settings.synchronous" = ["normal", "off"]
"target.settings.page_size" = [4096, 16384]
[repeats]
blocks = 5
"#,
    );
    lab.run(0);
    lab.run_with(&["--fold"], 0);
    assert_eq!(lab.trials("numeric"), 5 * 8);
    let screening = &lab.json(&["show", "numeric"])[0]["screening"];
    assert_eq!(screening["runs"], 8);
    // A hundredth of the transactions: the largest effect, how busy the machine may be.
    assert_eq!(screening["effects"][0]["chain"], serde_json::json!(["A"]), "{screening}");
    assert!(screening["effects"][0]["adjusted_p"].is_f64(), "{screening}");
    lab.run_with(&["--confirm"], 0);
    let screening = &lab.json(&["show", "numeric"])[0]["screening"];
    let confirmed = &screening["confirmations"][0];
    assert_eq!(confirmed["blocks"], 5);
    assert!(confirmed["differences"][0]["verdict"].is_string(), "{confirmed}");
}

#[test]
fn a_screening_is_printed_as_it_was() {
    let lab = Lab::with(SCRIPTED);
    lab.run(0);
    insta::assert_snapshot!(lab.shown("screened"));
}
