//! Trials, their order and their records, on a virtual clock.

use crate::common::{Lab, scripted};

const PLAN: &str = r#"
[experiment]
name = "plan"
[target]
engine = "null"
delay = "100 ms"
waits = ["LOG_WRITE log 0.4 0.1", "DATA_READ data-read 0.2 0"]
[workload]
probe = "insert"
connections = 2
rows = 40
rows_per_transaction = 10
[factors]
"target.data_files" = [1, 2]
"target.delay" = ["100 ms", "50 ms", "1 s"]
[order]
hard_to_change = ["target.delay"]
[repeats]
blocks = 3
seed = 7
"#;

const ORDER: &str = "SELECT t.block, c.label FROM trials t JOIN configurations c ON c.id = \
                     t.configuration ORDER BY t.id";

#[test]
fn trials_run_in_the_order_that_check_prints() {
    let lab = Lab::with(PLAN);
    let check = lab.steelbench(&["check", "e.toml", "--order", "all"]).expect(0);
    let (head, order) = check.stdout.split_once("\norder:\n").unwrap();
    let labels: Vec<&str> = head
        .lines()
        .filter_map(|line| {
            line.trim().split_once(". ").filter(|(number, _)| number.parse::<u32>().is_ok())
        })
        .map(|(_, label)| label.trim_end_matches(" (baseline)"))
        .collect();
    assert_eq!(labels.len(), 6, "{head}");
    let mut planned = Vec::new();
    for line in order.lines().filter(|line| !line.is_empty()) {
        let (name, numbers) = line.split_once(": ").unwrap();
        let block = name.rsplit(' ').next().unwrap();
        let label = |number: &str| labels[number.parse::<usize>().unwrap() - 1];
        planned.extend(numbers.split(' ').map(|number| format!("{block}|{}", label(number))));
    }
    assert_eq!(planned.len(), 18, "{order}");
    lab.run(0);
    assert_eq!(lab.rows("plan", ORDER), planned);
    let sequence: Vec<String> = (1..=18).map(|number| number.to_string()).collect();
    assert_eq!(lab.rows("plan", "SELECT sequence FROM trials ORDER BY id"), sequence);
    // The hard-to-change factor changes only twice.
    let delays: Vec<&str> = planned.iter().map(|trial| trial.rsplit('=').next().unwrap()).collect();
    assert_eq!(delays.windows(2).filter(|pair| pair[0] != pair[1]).count(), 2);
}

/// Set-ups are part of the order: it is the same for `check`, for a run and for one that is resumed
/// with more of them.
#[test]
fn set_ups_are_part_of_the_order() {
    let lab = Lab::with(&PLAN.replace("blocks = 3", "blocks = 4\nsetups = 2"));
    let order = |trials: &serde_json::Value| -> Vec<String> {
        let number = |trial: &serde_json::Value, of: &str| trial[of].as_u64().unwrap();
        let place = |trial| {
            format!(
                "{}|{}|{}",
                number(trial, "setup"),
                number(trial, "block"),
                number(trial, "configuration")
            )
        };
        trials.as_array().unwrap().iter().map(place).collect()
    };
    let recorded = "SELECT t.setup, t.block, c.position FROM trials t
                    JOIN configurations c ON c.id = t.configuration ORDER BY t.id";
    let planned = order(&lab.json(&["check", "e.toml"])[0]["trials"]);
    lab.run(0);
    assert_eq!(lab.rows("plan", recorded), planned);
    let delays = "SELECT t.setup, count(DISTINCT l.level) FROM trials t
                  JOIN configuration_levels l ON l.configuration = t.configuration
                  WHERE l.factor = 'target.delay' GROUP BY 1";
    assert_eq!(lab.rows("plan", delays), ["1|3", "2|3"]);

    // A third set-up of each level.
    lab.write("e.toml", &PLAN.replace("blocks = 3", "blocks = 6\nsetups = 3"));
    let more = order(&lab.json(&["check", "e.toml"])[0]["trials"]);
    assert_eq!(more[..planned.len()], planned);
    lab.run(0);
    assert_eq!(lab.rows("plan", recorded), more);
    // Other set-ups of what was run are another design.
    lab.write("e.toml", &PLAN.replace("blocks = 3", "blocks = 6\nsetups = 2"));
    lab.run(2).says("block 3 would move from set-up 2 to set-up 1");
}

#[test]
fn check_as_json_has_the_same_order() {
    let lab = Lab::with(PLAN);
    let check = &lab.json(&["check", "e.toml"])[0];
    lab.run(0);
    let label = |trial: &serde_json::Value| {
        let configuration = trial["configuration"].as_u64().unwrap() as usize;
        let label = check["configurations"][configuration]["label"].as_str().unwrap();
        format!("{}|{label}", trial["block"])
    };
    let planned: Vec<String> = check["trials"].as_array().unwrap().iter().map(label).collect();
    assert_eq!(lab.rows("plan", ORDER), planned);
}

/// 40 rows by 2 connections in transactions of 10: each connection has 2 transactions, so that it
/// is busy for twice the delay.
#[test]
fn the_records_of_a_scripted_run_are_exact() {
    let lab = Lab::with(PLAN);
    lab.run(0);
    let expected = |label: &str, delay_s: f64| {
        let (elapsed_s, session_s) = (2.0 * delay_s, 4.0 * delay_s);
        let row = [elapsed_s, session_s, 0.3 * session_s].map(|s| format!("{s:.3}")).join("|");
        format!("{label}|3|{row}|2|40|4|1|1")
    };
    assert_eq!(
        lab.rows(
            "plan",
            "SELECT c.label, count(*), printf('%.3f', avg(elapsed_s)), printf('%.3f', \
             avg(session_s)),
                    printf('%.3f', avg(cpu_s)), max(connections), max(work_amount), \
             max(transactions),
                    min(synthetic), max(attempt)
             FROM trials t JOIN configurations c ON c.id = t.configuration GROUP BY c.id ORDER BY \
             c.position"
        ),
        [
            expected("data_files=1 delay=100 ms", 0.1),
            expected("data_files=1 delay=50 ms", 0.05),
            expected("data_files=1 delay=1 s", 1.0),
            expected("data_files=2 delay=100 ms", 0.1),
            expected("data_files=2 delay=50 ms", 0.05),
            expected("data_files=2 delay=1 s", 1.0),
        ]
    );
    assert_eq!(
        lab.rows(
            "plan",
            "SELECT wait_type, class, min(w.count), max(w.count), printf('%.6f', sum(resource_s / \
             session_s) / count(*)),
                    printf('%.6f', sum(signal_s / session_s) / count(*)), source
             FROM waits w JOIN trials t ON t.id = w.trial GROUP BY wait_type, class, source"
        ),
        [
            "DATA_READ|data-read|4|4|0.200000|0.000000|counted",
            "LOG_WRITE|log|4|4|0.400000|0.100000|counted"
        ]
    );
    // CPU and waits add up to the time of the sessions, in every trial.
    let gap = "SELECT max(abs(session_s - cpu_s - (SELECT sum(resource_s + signal_s) FROM waits w \
               WHERE w.trial = t.id)))
               FROM trials t";
    assert_eq!(lab.rows("plan", gap), ["0"]);
}

#[test]
fn the_report_of_a_scripted_run_is_exact() {
    let lab = Lab::with(PLAN);
    let ended = lab.run(0);
    for part in [
        "18 trials done; compared on elapsed (s, lower is better)",
        "These figures are synthetic",
        "Each level of delay was set up only once, so set-up effects cannot be excluded; repeat \
         the set-up\n\
         (repeats.setups = 3).",
        "
Configurations
data_files  delay   n  elapsed  rows/s  vs baseline         best
1           100 ms  3  200 ms   200     baseline
1           50 ms   3  100 ms   400     2.00x
1           1 s     3  2.00 s   20.0    0.10x
2           100 ms  3  200 ms   200     1.00x [1.00, 1.00]
2           50 ms   3  100 ms   400     2.00x
2           1 s     3  2.00 s   20.0    0.10x
",
        "CPU 30.0 % + data-read 20.0 % + log 40.0 % + run queue 10.0 % + client 0.0 %",
        "\nWaitType   Wait_S  Resource_S  Signal_S  WaitCount  Percentage  AvgWait_S  AvgRes_S  \
         AvgSig_S\n",
    ] {
        assert!(ended.stdout.contains(part), "{part:?} is not in {}", ended.stdout);
    }
    let shown = lab.steelbench(&["show", "plan", "--full"]).expect(0).stdout;
    assert_eq!(
        ended.stdout,
        format!("{shown}\nResults: results/plan.steelbench\nReport:  results/plan.html\n")
    );
}

#[test]
fn adaptive_repeats_stop_when_intervals_are_narrow() {
    let adaptive = |spread: &str| {
        let target = format!("spread = \"{spread}\"");
        scripted(1, &target, "")
            .replace("blocks = 1", "blocks = { min = 3, max = 6, until = \"0.5%\" }")
    };
    let steady = Lab::with(&adaptive("0"));
    steady.run(0).says("t: 2 configurations, 12 trials").says("6 trials fewer, 6 in total");
    assert_eq!(steady.trials("t"), 6);
    // Going on with a run that has enough runs nothing more.
    steady.run(0).says("the run is complete");
    assert_eq!(steady.trials("t"), 6);

    let noisy = Lab::with(&adaptive("90%"));
    noisy.run(0);
    assert_eq!(noisy.trials("t"), 12);
}
