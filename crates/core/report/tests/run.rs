//! The report of a run, on figures whose summaries were worked out by hand.

use analysis::summarize;
use observations::{Observations, Recording, Response, WaitClass, Warning, WarningKind};
use report::{Block, Document, Medium, Style, Table, terminal};
use serde_json::Value;
use testing::reports::{data_files, done, failed, observed, plan, two_factors, wait};

fn plain(recording: &Recording, width: usize) -> String {
    terminal(&report::run(&summarize(recording), &[], Medium::Any), width, Style::Plain)
}

fn tables(document: &Document) -> impl Iterator<Item = &Table<'static>> {
    let blocks = document.sections.iter().flat_map(|section| &section.blocks);
    blocks.filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    })
}

/// The published S1b times, 1755 s and 909 s, with 5 s of spread: t(0.975, 2) = 4.3027, so the half
/// width is 4.3027 x 5 / sqrt(3) = 12.4 s; 320,000 rows / 1755 s = 182 rows/s, / 909 s = 352
/// rows/s.
#[test]
fn configurations_show_mean_interval_rate_and_factor() {
    let recording = data_files(&["1", "16"], &[&[1750.0, 1755.0, 1760.0], &[904.0, 909.0, 914.0]]);
    let expected = "
Configurations
data_files  n  elapsed      rows/s   vs baseline         best
1           3  1755 ± 12 s  182 ± 1  baseline
16          3  909 ± 12 s   352 ± 5  1.93x [1.90, 1.96]  best
";
    let text = plain(&recording, 100);
    assert!(text.contains(expected), "{text}");
    assert!(!text.contains("Factor data_files"), "with one factor the configurations say it all");
    assert!(text.starts_with(
        "random-insert\nHow many data files does a random-key insert load want?\nRun 1, \
         2023-11-14 22:13 UTC; 6 trials done; compared on elapsed (s, lower is \
         better)\n\nFindings\n"
    ));
    assert!(
        text.ends_with(
            "\nEnvironment\nbench, 8 CPUs (4 cores), 32.0 GiB memory, Steelbench 0.1.0\n"
        )
    );
}

/// The waits of a configuration are not mixed with those of another level of another factor, and
/// every configuration is among the responses.
#[test]
fn waits_are_those_of_one_configuration() {
    let recording = two_factors();
    let text = plain(&recording, 100);
    let summary = summarize(&recording);
    for wait in summary.waits() {
        assert!(text.contains(&format!("\nWaits: {}\n", wait.configuration)), "{text}");
        assert_eq!(wait.waits, summary.configurations[wait.index].waits);
    }
    let (_, responses) = text.split_once("\nEvery response\n").unwrap();
    let other = responses.split_once("throughput, higher is better").unwrap().1;
    for row in summary.configurations.iter().filter(|row| row.done > 0) {
        assert!(other.contains(&row.label), "{} in {other}", row.label);
    }
}

#[test]
fn accounting_adds_up_to_the_sessions_time() {
    let recording = data_files(&["1"], &[&[78.4]]);
    let line = "16 sessions x 78.4 s = CPU 30.0 % + log 60.0 % + run queue 8.0 % + client 0.0 % + \
                unaccounted 2.0 %\n";
    assert!(plain(&recording, 120).contains(line));
    let mut over = recording;
    let observations = over.trials[0].observations.as_mut().unwrap();
    observations.waits.push(wait(
        "CLIENT",
        WaitClass::Client,
        0.05 * observations.time.session_s,
        0.0,
        1,
    ));
    assert!(plain(&over, 120).contains("client 5.0 % + unaccounted -3.0 %\n"));
}

#[test]
fn two_factors_with_failures_and_marks_fit_100_columns() {
    let text = plain(&two_factors(), 100);
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    assert!(!text.contains("hidden at this width"), "{text}");
    let heading = "data_files  synchronous  n  elapsed       rows/s         vs baseline         \
                   best  failed  warnings\n";
    assert!(text.contains(heading), "{text}");
    for part in [
        "\nFactor data_files: means over the other factors\ndata_files  trials  elapsed",
        "\nFactor synchronous: means over the other factors\nsynchronous  trials  elapsed",
        "\nFailed trials\n2 attempts: disk I/O error\n  data_files=16 synchronous=normal, \
         data_files=16 synchronous=full\n",
        "\nload-limited: 3 trials, for example: the generator used 31 % of the sessions' time\n",
        "\n  data_files=1 synchronous=full: of 3 trials 3 load-limited\n",
    ] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
}

#[test]
fn a_narrow_terminal_leaves_columns_out_and_says_so() {
    let text = plain(&two_factors(), 80);
    assert!(text.contains("\n(columns hidden at this width: rows/s, warnings)\n"), "{text}");
    let waits = |line: &&str| {
        line.contains("AvgWait_S") || line.starts_with("WAL_SYNC") || line.starts_with("CPU_QUEUE")
    };
    for line in text.lines().filter(|line| !waits(line)) {
        assert!(line.chars().count() <= 80, "{line}");
    }
}

#[test]
fn long_names_are_cut_but_figures_are_not() {
    let long = "a level with a label that is much too long for a cell of a table ".repeat(3);
    let mut recording = plan(&[("layout", &[long.as_str(), "short"])]);
    for (configuration, elapsed_s) in [(0, 10.0), (1, 20.0), (0, 11.0), (1, 22.0)] {
        let block = 1 + u32::from(elapsed_s % 10.0 != 0.0);
        recording.trials.push(done(configuration, block, observed(elapsed_s)));
    }
    let text = plain(&recording, 80);
    let row =
        text.lines().find(|line| line.starts_with("a level") && line.contains("baseline")).unwrap();
    assert!(
        row.contains('…') && row.contains("10.5 ± 6.4 s") && row.chars().count() <= 80,
        "{row}"
    );
}

#[test]
fn a_response_of_its_own_comes_first() {
    let mut recording = data_files(&["1", "2"], &[&[5.0, 6.0], &[3.0, 4.0]]);
    recording.run.response = Some("latency_p99".into());
    for (i, trial) in recording.trials.iter_mut().enumerate() {
        let observations = trial.observations.as_mut().unwrap();
        observations.responses.push(Response::lower("latency_p99", "ms", 10.0 + i as f64));
    }
    let text = plain(&recording, 100);
    assert!(text.contains("\ndata_files  n  latency_p99    elapsed"), "{text}");
    assert!(text.contains("compared on latency_p99 (ms, lower is better)"), "{text}");
}

/// Whatever was or was not recorded, there is a report; nothing panics at any width.
#[test]
fn odd_recordings_have_a_report() {
    let one_factor = || plan(&[("target.data_files", &["1", "4"])]);
    let all_failed = Recording {
        trials: vec![failed(0, 1, "no space"), failed(1, 1, "no space")],
        ..one_factor()
    };
    let single_block = data_files(&["1", "4"], &[&[5.0], &[3.0]]);
    let no_factor = Recording {
        trials: vec![done(0, 1, observed(5.0)), done(0, 2, observed(6.0))],
        ..plan(&[])
    };
    let unseen = Recording { trials: vec![done(0, 1, Observations::default())], ..one_factor() };
    let mut not_numbers = data_files(&["1", "4"], &[&[5.0, 6.0], &[3.0, 2.0]]);
    for (trial, value) in not_numbers.trials.iter_mut().zip([f64::NAN, f64::INFINITY, -1.0, 0.0]) {
        let observations = trial.observations.as_mut().unwrap();
        (observations.elapsed_s, observations.time.session_s, observations.time.cpu_s) =
            (value, value, value);
        observations.responses[0].value = value;
        observations.waits[0].signal_s = value;
    }
    let namesakes = plan(&[("a.size", &["1"]), ("b.size", &["2", "3"])]);
    for (recording, says) in [
        (Recording::default(), "No configuration."),
        (one_factor(), "No trial has been run yet."),
        (all_failed, "2 attempts: no space"),
        (single_block, "1           1  5.00 s   64.0k   baseline"),
        (no_factor, "\nConfigurations\nn  elapsed"),
        (unseen, "1 trial done"),
        (not_numbers, "4 trials done"),
        (namesakes, "\na.size  b.size  n"),
    ] {
        for width in [0, 1, 40, 80, 1000] {
            for style in [Style::Plain, Style::Colour] {
                terminal(&report::run(&summarize(&recording), &[], Medium::Any), width, style);
            }
        }
        let text = plain(&recording, 100);
        assert!(text.contains(says), "{says:?} in {text}");
        // What is left out of the document of a text is what no text shows.
        let summary = summarize(&recording);
        let [all, short] =
            [Medium::Any, Medium::Text].map(|medium| report::run(&summary, &[], medium));
        assert!(short.sections.len() < all.sections.len());
        assert_eq!(report::markdown(&short), report::markdown(&all));
        report::json::summary(&summarize(&recording), &[]).unwrap();
    }
}

/// An experiment or an engine must not be able to command the reader's terminal.
#[test]
fn control_characters_never_reach_the_terminal() {
    let evil = "x\u{1b}]0;owned\u{7}\r\n\u{9b}2J\u{202e}";
    let mut recording = plan(&[(evil, &[evil, "b"])]);
    recording.run.name = evil.into();
    recording.run.question = Some(evil.into());
    recording.environments[0].host = Some(evil.into());
    for configuration in 0..2 {
        for block in 1..4 {
            let mut observations = observed(f64::from(block) + 3.0 * configuration as f64);
            observations.waits.push(wait(evil, WaitClass::Other, 99.0, 0.0, 1));
            observations.work.unit = evil.into();
            observations.responses[0].name = evil.into();
            observations.responses[0].unit = evil.into();
            observations.warnings.push(observations::Warning {
                kind: observations::WarningKind::Steal,
                detail: evil.into(),
            });
            recording.trials.push(done(configuration, block, observations));
        }
    }
    recording.trials.push(failed(0, 4, evil));
    let summary = summarize(&recording);
    let document = report::run(&summary, &[], Medium::Any);
    assert!(tables(&document).count() >= 3, "configurations and two levels of waits");
    for text in [terminal(&document, 100, Style::Plain), report::markdown(&document)] {
        let bad = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!text.contains(bad), "{text:?}");
        assert!(text.contains("u{1b}"), "spelled out instead");
    }
}

#[test]
fn markdown_escapes_what_would_be_markup() {
    let mut recording = data_files(&["<b>1</b> | *2*"], &[&[5.0, 6.0]]);
    recording.factors[0].numeric = None;
    let text = report::markdown(&report::run(&summarize(&recording), &[], Medium::Any));
    assert!(text.contains(r"| \<b\>1\</b\> \| \*2\* | 2 |"), "{text}");
    let bars = |start: &str| {
        text.lines().find(|line| line.starts_with(start)).unwrap().matches('|').count()
    };
    // One of the row's bars is text.
    assert_eq!(bars(r"| \<b\>"), bars("| data_files |") + 1);
}

#[test]
fn json_has_exact_figures_and_a_version() {
    let mut recording = data_files(&["1", "4"], &[&[1.0 / 3.0, 0.1 + 0.2], &[0.2, 0.25]]);
    recording.run.seed = u64::MAX;
    let summary = summarize(&recording);
    let value: Value = report::json::summary(&summary, &[]).unwrap();
    assert_eq!(
        (value["schema"].as_str(), value["kind"].as_str()),
        (Some("steelbench/3"), Some("summary"))
    );
    assert_eq!(value["overview"]["run"]["seed"], u64::MAX);
    let row = &summary.configurations[0];
    let exact = row.elapsed.as_ref().unwrap().mean;
    assert_eq!(
        value["configurations"][0]["elapsed"]["mean"].as_f64().unwrap().to_bits(),
        exact.to_bits()
    );
    assert_eq!(value["configurations"][0]["levels"][0]["level"], "1");
    assert_eq!(value["configurations"].as_array().unwrap().len(), 2);
    assert!(value["waits"][0]["accounting"]["unaccounted_s"].is_number());
}

/// A factor with many levels: long lists show their head and the number of entries left out; JSON
/// has all of them.
#[test]
fn what_is_long_is_shown_by_its_head() {
    const LEVELS: usize = 230;
    let levels: Vec<String> = (1..=LEVELS).map(|level| level.to_string()).collect();
    let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
    let mut recording = plan(&[("target.data_files", &levels)]);
    for configuration in 0..LEVELS {
        for block in 1..=2 {
            let mut observations = observed(100.0 + configuration as f64 + 0.1 * f64::from(block));
            let detail = "other processes used 9.0 % of the CPUs".into();
            observations.warnings.push(Warning { kind: WarningKind::OtherLoad, detail });
            recording.trials.push(done(configuration, block, observations));
        }
        recording.trials.push(failed(configuration, 3, "disk I/O error"));
    }
    let summary = summarize(&recording);
    let text = terminal(&report::run(&summary, &[], Medium::Any), 100, Style::Piped);
    let count = |what: &str| text.matches(what).count();
    assert!(count("\nWaits: ") <= 4, "{text}");
    assert_eq!(count(" other configurations: see `show --only` and the JSON output."), 1, "{text}");
    assert_eq!(count("Every trial compared carries a warning: other load on the machine."), 1);
    assert_eq!(count(": of 2 trials 2 other-load\n"), 0, "{text}");
    let unwrapped = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(unwrapped.contains("data_files=100, 130 more "), "{text}");
    assert!(unwrapped.contains("lower is better, the first 100 of 230 levels"), "{text}");
    let json = report::json::summary(&summary, &[]).unwrap();
    let waits = json["configurations"].as_array().unwrap().iter();
    assert_eq!(
        waits.filter(|wait| wait["waits"]["rows"].as_array().unwrap().len() == 2).count(),
        LEVELS
    );
    assert_eq!(json["failures"][0]["configurations"].as_array().unwrap().len(), LEVELS);
}
