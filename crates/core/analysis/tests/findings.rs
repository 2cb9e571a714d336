//! Findings of a run, word by word, and findings that must be absent.

use analysis::{FindingKind, Standing, Summary, summarize};
use observations::{Environment, Recording, Response, Role, WaitClass, Warning, WarningKind};
use testing::recordings;
use testing::recordings::{data_files, done, failed, observed, recording, wait};

fn texts(summary: &Summary, kind: FindingKind) -> Vec<String> {
    summary.findings().into_iter().filter(|f| f.kind == kind).map(|f| f.text).collect()
}

/// Noise of the blocks of each configuration. The figures expected below were computed with scipy
/// from these numbers, not taken from our output.
const NOISE: [[f64; 5]; 4] = [
    [1.0, 1.01, 0.99, 1.005, 0.995],
    [0.99, 1.0, 1.01, 0.995, 1.005],
    [1.005, 0.99, 1.0, 1.01, 0.995],
    [0.995, 1.005, 1.01, 0.99, 1.0],
];

/// The noise of a configuration in a block from 1.
fn noise(configuration: usize, block: u32) -> f64 {
    NOISE[configuration][block as usize - 1]
}

/// Five blocks of each level: half of the sessions' time is CPU, half waits for the writer lock and
/// the log.
fn insert_study(levels: &[&str], seconds: &[f64], lock_share: &[f64]) -> Recording {
    let mut recording = recording(&[("target.data_files", levels)]);
    for block in 1..=5 {
        for (configuration, (seconds, share)) in seconds.iter().zip(lock_share).enumerate() {
            let mut observations = observed(seconds * noise(configuration, block));
            let waits_s = observations.waits[0].resource_s;
            observations.waits = vec![
                wait("WRITER_LOCK", WaitClass::Lock, waits_s * share, 0.0),
                wait("WAL_SYNC", WaitClass::Log, waits_s * (1.0 - share), 0.0),
            ];
            recording.trials.push(done(configuration, block, observations));
        }
    }
    recording
}

/// S1d: on 8 cores the sweet spot is 8 data files. The best of the new driver, 2993 s, is
/// published; the times around it are built.
#[test]
fn the_sweet_spot_is_told_as_a_multiple_of_the_processors() {
    let verdict = |cpus: u32, synthetic: bool| {
        let shares = [0.8, 0.6, 0.2, 0.2];
        let seconds = [5200.0, 3580.0, 2993.0, 3400.0];
        let mut recording = insert_study(&["1", "4", "8", "16"], &seconds, &shares);
        recording.roles = [("target.data_files", Role::Layout)].into_iter().collect();
        recording.environments = vec![Environment { cpus, ..Environment::default() }];
        for trial in &mut recording.trials {
            trial.observations.iter_mut().for_each(|observation| observation.synthetic = synthetic);
        }
        texts(&summarize(&recording), FindingKind::Verdict).remove(0)
    };
    let published = verdict(8, false);
    assert!(published.starts_with("The sweet spot of data_files is 8: "), "{published}");
    assert!(published.ends_with(" That is 1.00x the 8 CPUs of the load generator."), "{published}");
    assert!(verdict(16, false).contains(" That is 0.50x the 16 CPUs of"));
    // Of a machine that is not known, and of scripted trials, nothing is said.
    assert!(!verdict(0, false).contains("CPU") && !verdict(8, true).contains("CPU"));
}

#[test]
fn the_sweet_spot_and_the_waits_that_explain_it() {
    let recording =
        insert_study(&["1", "2", "4", "8"], &[20.0, 14.0, 10.0, 9.9], &[0.8, 0.6, 0.2, 0.2]);
    let summary = summarize(&recording);
    let effect = &summary.factors.effects[0];
    assert_eq!((effect.ordered, effect.reference), (true, 0));
    let standings: Vec<_> = effect.levels.iter().map(|level| level.standing).collect();
    assert_eq!(standings[..2], [Standing::Worse, Standing::Worse]);
    assert!(standings[2..].iter().all(|s| matches!(s, Standing::Best | Standing::Equivalent)));
    assert_eq!(
        texts(&summary, FindingKind::Verdict),
        ["The sweet spot of data_files is 8: 2.02x [1.93, 2.05] faster than the baseline \
             data_files=1 (9.90 against 20.0 s). 4 is equivalent within 5 %."]
    );
    // 4 sessions x 20 s over 10 thousand rows are 8 s a thousand rows; half of it is waits.
    assert_eq!(
        texts(&summary, FindingKind::Waits),
        [
            "From data_files=1 to data_files=8, session time falls from 8.00 to 3.96 s per 1,000 \
             rows. Of this decrease: 69 % [68, 70] less WRITER_LOCK wait and 50 % [50, 50] less \
             CPU time, offset by 19 % [18, 20] more WAL_SYNC wait.",
            "WRITER_LOCK: equally many waits, each shorter: 10 of 3.20 s -> 10 of 396 ms; \
             WAL_SYNC: equally many waits, each longer: 10 of 800 ms -> 10 of 1.58 s."
        ]
    );
    assert!(texts(&summary, FindingKind::Caveat).is_empty());
}

/// The level with the best mean varies too much to be significant. The verdict names another level,
/// and does not call it the best.
#[test]
fn a_level_that_is_told_is_the_best_one_or_not_called_so() {
    let mut recording = recording(&[("log", &["delete, full", "wal, full", "wal, off"])]);
    let varying = [1.0, 14.0, 2.0, 9.0, 1.5];
    for block in 1..=5 {
        let steady = [10.0 * noise(0, block), 6.0 * noise(1, block), varying[block as usize - 1]];
        for (configuration, seconds) in steady.into_iter().enumerate() {
            recording.trials.push(done(configuration, block, observed(seconds)));
        }
    }
    let summary = summarize(&recording);
    assert_eq!(
        (summary.factors.effects[0].best, summary.factors.effects[0].winner()),
        (Some(2), Some(1))
    );
    let found = &texts(&summary, FindingKind::Verdict)[0];
    assert!(
        found.starts_with("The best significantly different level of log is wal, full: 1.67x"),
        "{found}"
    );
    assert!(found.contains(". \"wal, off\" is not significantly different"), "{found}");
}

#[test]
fn few_blocks_are_what_keeps_a_difference_from_being_found() {
    let mut recording = recording(&[("log", &["a", "b", "c", "d"])]);
    for (block, seconds) in (1..).zip([[10.0, 11.0, 9.0, 12.0], [12.0, 10.0, 13.0, 11.0]]) {
        for (configuration, seconds) in seconds.into_iter().enumerate() {
            recording.trials.push(done(configuration, block, observed(seconds)));
        }
    }
    let found = &texts(&summarize(&recording), FindingKind::NoDifference)[0];
    let end = "the baseline log=a; 2 blocks can detect only a very large difference, \
               many more would detect 5 % (estimate).";
    assert!(found.ends_with(end), "{found}");
}

#[test]
fn a_baseline_that_nothing_beats() {
    let recording = insert_study(&["1", "2", "4"], &[10.0, 10.01, 15.0], &[0.5, 0.5, 0.8]);
    let summary = summarize(&recording);
    assert_eq!(
        texts(&summary, FindingKind::Verdict),
        ["No level of data_files beats the baseline data_files=1 (2 is equivalent within 5 %); 4 \
          is worse (1.50x [1.48, 1.52] slower)."]
    );
    let waits = texts(&summary, FindingKind::Waits);
    assert!(
        waits[0].contains("Of this increase: 70 % [69, 71] more WRITER_LOCK wait"),
        "{}",
        waits[0]
    );
}

#[test]
fn nothing_differs() {
    let recording = insert_study(&["1", "2", "4"], &[10.0; 3], &[0.5; 3]);
    let summary = summarize(&recording);
    let verdict = texts(&summary, FindingKind::NoDifference);
    assert_eq!(
        verdict,
        ["No level of data_files differs significantly from the baseline data_files=1; 5 blocks \
          detect a difference of 2.7 % with 80 % power (estimate)."]
    );
    assert!(texts(&summary, FindingKind::Waits).is_empty());
}

#[test]
fn one_block_and_one_level_claim_nothing() {
    let single = data_files(&["1", "2"], &[&[20.0], &[10.0]]);
    let summary = summarize(&single);
    assert_eq!(
        texts(&summary, FindingKind::NoDifference),
        ["One block cannot compare the levels of data_files: run at least two blocks, better \
             five."]
    );
    assert_eq!(summary.configurations[1].standing, Standing::Best);
    assert_eq!(summary.configurations[0].standing, Standing::Unknown);
    let only_second = data_files(&["1", "2"], &[&[], &[10.0, 11.0]]);
    let summary = summarize(&only_second);
    assert_eq!(
        texts(&summary, FindingKind::NoDifference),
        ["Only data_files=2 has values: nothing to compare."]
    );
    let mut plain = recording(&[]);
    plain.trials = (1..=2).map(|block| done(0, block, observed(10.0))).collect();
    assert_eq!(
        texts(&summarize(&plain), FindingKind::Verdict),
        ["elapsed: 10.0 ± 0.0 s over 2 blocks."]
    );
    // An only configuration has no name that a failure could be said to be of.
    plain.trials.push(failed(0, 3, "disk I/O error"));
    let failure =
        summarize(&plain).findings().into_iter().find(|f| f.text.contains("failed")).unwrap();
    assert_eq!(failure.evidence, "cause: disk I/O error");
}

#[test]
fn caveats_stand_beside_the_verdict() {
    let mut recording = insert_study(&["1", "2", "4"], &[20.0, 15.0, 10.0], &[0.5; 3]);
    recording.run.response = Some("latency_p99".to_owned());
    recording.factors[0].hard_to_change = true;
    recording.environments = vec![Environment::default(); 2];
    recording.trials.retain(|trial| (trial.configuration, trial.block) != (1, 3));
    recording.trials.push(failed(1, 3, "disk I/O error"));
    recording.trials.push(failed(2, 3, "database is locked"));
    recording.trials.push(failed(1, 3, "disk I/O error"));
    for trial in &mut recording.trials {
        let Some(observations) = &mut trial.observations else { continue };
        observations.synthetic = true;
        // The middle level is not compared: its warnings do not touch the verdict.
        let kind = if trial.configuration == 1 { WarningKind::Steal } else { WarningKind::Short };
        if trial.block == 1 {
            observations.warnings.push(Warning { kind, detail: "took 0.5 s".to_owned() });
        }
    }
    let summary = summarize(&recording);
    assert_eq!(
        texts(&summary, FindingKind::Caveat),
        [
            "These figures are synthetic: a scripted engine produced them, and they measure \
             nothing.",
            "No trial recorded the response \"latency_p99\"; configurations are compared on \
             elapsed.",
            "3 attempts failed; 1 block of a configuration is missing from the figures.",
            "3 of the 14 trials compared carry a warning: short measurement (2 trials) and CPU \
             steal (1 trial).",
            "The run was resumed in a different environment: trials before and after may not be \
             comparable.",
        ]
    );
    let failure = summary.findings().into_iter().find(|f| f.text.contains("failed")).unwrap();
    assert_eq!(failure.evidence, "most frequent cause: disk I/O error (data_files=2)");
    assert_eq!((summary.configurations[1].failed, summary.configurations[1].lost_blocks), (2, 1));
    assert_eq!((summary.configurations[2].failed, summary.configurations[2].lost_blocks), (1, 0));
}

#[test]
fn a_machine_that_changes_is_told() {
    let mut recording = recording(&[("target.data_files", &["1", "2", "4"])]);
    for (block, machine) in (1..).zip([1.0, 1.0, 1.2, 1.2, 1.2]) {
        for configuration in 0..3 {
            let elapsed = 10.0 * machine * noise(configuration, block);
            recording.trials.push(done(configuration, block, observed(elapsed)));
        }
    }
    let caveats = summarize(&recording);
    let caveats = texts(&caveats, FindingKind::Caveat);
    assert!(
        caveats[0].starts_with("Blocks differ in elapsed (89 % to 108 % of the mean)"),
        "{caveats:?}"
    );
}

#[test]
fn several_factors_are_told_one_by_one() {
    let factors: [recordings::Factor; 2] =
        [("target.settings.synchronous", &["full", "normal"]), ("target.data_files", &["1", "4"])];
    let mut recording = recording(&factors);
    for block in 1..=5 {
        for (configuration, seconds) in [20.0, 10.0, 16.0, 8.0].into_iter().enumerate() {
            let elapsed = seconds * noise(configuration, block);
            recording.trials.push(done(configuration, block, observed(elapsed)));
        }
    }
    let summary = summarize(&recording);
    assert_eq!(summary.main_factor, Some(1));
    let verdicts = texts(&summary, FindingKind::Verdict);
    assert_eq!(
        verdicts,
        [
            "The best level of synchronous is normal: 1.25x [1.24, 1.26] faster than the baseline \
             synchronous=full (12.0 against 15.0 s).",
            "The sweet spot of data_files is 4: 2.00x [1.97, 2.03] faster than the baseline \
             data_files=1 (9.00 against 18.0 s). It is the largest level tested; the optimum \
             may lie beyond it.",
            "The best configuration is synchronous=normal data_files=4: 2.50x [2.46, 2.54] \
             faster than the baseline.",
        ]
    );
    let waits = summary.waits();
    // Each configuration by itself: the baseline, what was asked about from there, the best.
    let shown: Vec<_> =
        waits.iter().map(|wait| (wait.configuration.as_str(), wait.waits.trials)).collect();
    assert_eq!(
        shown,
        [
            ("synchronous=full data_files=1", 5),
            ("synchronous=normal data_files=1", 5),
            ("synchronous=normal data_files=4", 5)
        ]
    );
}

/// A configuration for each pair of levels, the second factor fastest.
fn two_factors(
    first: recordings::Factor,
    second: recordings::Factor,
    seconds: &[f64],
) -> Recording {
    let mut recording = recording(&[first, second]);
    for block in 1..=5 {
        for (configuration, seconds) in seconds.iter().enumerate() {
            let elapsed = seconds * noise(configuration % NOISE.len(), block);
            recording.trials.push(done(configuration, block, observed(elapsed)));
        }
    }
    recording
}

#[test]
fn what_depends_on_another_factor_is_told() {
    let (files, synchronous): (recordings::Factor, recordings::Factor) =
        (("target.data_files", &["1", "4"]), ("target.settings.synchronous", &["normal", "full"]));
    let found = |seconds: &[f64]| {
        let recording = two_factors(files, synchronous, seconds);
        let summary = summarize(&recording);
        let factors =
            summary.findings().into_iter().filter(|finding| finding.kind == FindingKind::Factors);
        factors.map(|finding| (finding.text, finding.evidence)).collect::<Vec<_>>()
    };
    let only = found(&[10.0, 25.0, 10.0, 12.5]);
    assert_eq!(
        only[0].0,
        "data_files=4 is better than 1 only with synchronous=full (2.00x [1.99, 2.01] faster); \
         with normal there is no significant difference (1.00x [0.98, 1.02])."
    );
    assert!(only[0].1.starts_with("F(1, 4) = "), "{only:?}");
    assert!(
        only[0].1.ends_with(
            "over 5 blocks, p < 0.001 (Holm-adjusted for 3 tests); largest difference between \
             gains: 2.00x [1.96, 2.04]; intervals of the gains are adjusted for selection"
        ),
        "{only:?}"
    );
    assert_eq!(
        found(&[10.0, 25.0, 15.0, 12.5])[0].0,
        "data_files=4 is better than 1 with synchronous=full (2.00x [1.99, 2.01] faster), but \
         worse with normal (1.50x [1.48, 1.52] slower)."
    );
    assert_eq!(
        found(&[10.0, 25.0, 8.0, 12.5])[0].0,
        "The effect of data_files=4 against 1 depends on synchronous: 2.00x [1.99, 2.01] faster \
         with full, 1.25x [1.23, 1.27] faster with normal."
    );
    // Factors that multiply do not depend on each other, however large they are.
    assert!(found(&[10.0, 30.0, 5.0, 15.0]).is_empty());
}

#[test]
fn the_shape_along_a_factor_is_told_step_by_step() {
    let shape = |levels: &[&str], seconds: &[f64]| {
        let recording = insert_study(levels, seconds, &vec![0.5; seconds.len()]);
        let summary = summarize(&recording);
        let found = texts(&summary, FindingKind::Factors);
        (found, summary.factors.effects[0].clone())
    };
    let (found, effect) = shape(&["1", "2", "4", "8"], &[20.0, 14.0, 14.01, 18.0]);
    assert_eq!(
        found,
        ["elapsed falls from data_files=1 to 2, does not change significantly from 2 to 4 and \
          rises from 4 to 8."]
    );
    assert_eq!(effect.sweet_spot(), [1, 2]);
    // In the order of the numbers, whatever the order of the file.
    let (found, _) = shape(&["8", "1", "4"], &[10.0, 20.0, 15.0]);
    assert_eq!(found, ["elapsed falls from data_files=1 to 8."]);
    // Without a significant effect single steps are not mentioned.
    assert!(shape(&["1", "2", "4"], &[10.0; 3]).0.is_empty());
}

/// Elapsed times of 1 and 100 s have a larger mean than 20 and 40 s and a smaller geometric one:
/// what is the best level must not contradict the ratio beside it.
#[test]
fn the_best_level_is_best_on_the_scale_of_its_ratio() {
    let (first, second): (recordings::Factor, recordings::Factor) =
        (("a", &["x", "y"]), ("b", &["u", "v"]));
    let recording = two_factors(first, second, &[20.0, 40.0, 1.0, 100.0]);
    let summary = summarize(&recording);
    let effect = &summary.factors.effects[0];
    assert!(effect.levels[1].comparison.as_ref().unwrap().value > 1.0);
    assert_eq!((effect.best, effect.winner(), effect.sweet_spot()), (Some(1), Some(1), vec![1]));
}

/// Study S1b: 1755 s on spinning disks, 909 s on SSD.
#[test]
fn the_published_factor_of_two_devices() {
    let mut recording = recording(&[("target.volume", &["spinning", "ssd"])]);
    recording.trials = vec![done(0, 1, observed(1755.0)), done(1, 1, observed(909.0))];
    let summary = summarize(&recording);
    let factor = summary.configurations[1].factor.as_ref().unwrap();
    assert_eq!(format!("{:.2}", factor.value), "1.93");
    assert_eq!((factor.interval, factor.p_value), (None, None));
}

#[test]
fn more_connections_are_not_more_waiting_by_themselves() {
    // The same elapsed time and the same share of waits, on four times the connections.
    let mut recording = insert_study(&["4", "16"], &[10.0; 2], &[0.5; 2]);
    for trial in recording.trials.iter_mut().filter(|trial| trial.configuration == 1) {
        let observations = trial.observations.as_mut().unwrap();
        observations.connections *= 4;
        observations.time.session_s *= 4.0;
        observations.time.cpu_s *= 4.0;
        for wait in &mut observations.waits {
            wait.resource_s *= 4.0;
        }
    }
    assert!(texts(&summarize(&recording), FindingKind::Waits).is_empty());
}

/// A grid whose first factor does nothing, which is the answer: the second one's 2.35x and its
/// cause stand after it.
#[test]
fn what_was_asked_stands_first_and_the_largest_effect_after_it() {
    let (buffers, commit): (recordings::Factor, recordings::Factor) = (
        ("target.settings.shared_buffers", &["128", "512"]),
        ("target.settings.synchronous_commit", &["on", "off"]),
    );
    let mut recording = two_factors(buffers, commit, &[23.5, 10.0, 23.5, 10.0]);
    recording.trials[0]
        .observations
        .as_mut()
        .unwrap()
        .warnings
        .push(Warning { kind: WarningKind::Short, detail: "took 0.5 s".to_owned() });
    let summary = summarize(&recording);
    let findings = summary.findings();
    let kinds: Vec<FindingKind> = findings.iter().map(|finding| finding.kind).collect();
    assert!(
        findings[1].text.starts_with("The best level of synchronous_commit is off: 2.35x ["),
        "{findings:?}"
    );
    assert_eq!(kinds[2], FindingKind::Waits, "{findings:?}");
    assert_eq!(kinds.last(), Some(&FindingKind::Caveat));
    let first = &findings[0].text;
    assert!(
        first.starts_with("No level of shared_buffers differs significantly from the baseline"),
        "{first}"
    );
    assert_eq!(summary.headline().as_ref(), findings.first());
    // Between the levels that the verdict names, not those of the first factor.
    assert!(
        summary.explanations()[0]
            .sides()
            .starts_with("synchronous_commit=on to synchronous_commit=off")
    );
    let shown = summary.waits().into_iter().map(|wait| wait.configuration).collect::<Vec<_>>();
    assert!(shown.contains(&"shared_buffers=128 synchronous_commit=on".to_owned()), "{shown:?}");
    assert!(shown.contains(&"shared_buffers=128 synchronous_commit=off".to_owned()), "{shown:?}");
    // Nothing but noise: what was not found is all there is to tell.
    let nothing = summarize_owned(&two_factors(buffers, commit, &[10.0; 4]));
    assert_eq!(nothing, [FindingKind::NoDifference; 2]);
}

fn summarize_owned(recording: &Recording) -> Vec<FindingKind> {
    summarize(recording).findings().into_iter().map(|finding| finding.kind).collect()
}

/// Four threads are 4 times as fast on memory of their own and 4 times as slow on a shared counter:
/// on average nothing.
#[test]
fn a_crossing_is_told_and_not_that_nothing_differs() {
    let (threads, primitive): (recordings::Factor, recordings::Factor) =
        (("workload.threads", &["1", "4"]), ("workload.primitive", &["local", "atomic"]));
    let recording = two_factors(threads, primitive, &[20.0, 10.0, 5.0, 40.0]);
    let summary = summarize(&recording);
    let findings = summary.findings();
    assert!(
        findings[0].text.starts_with("threads=4 is better than 1 with primitive=local (4.00x [")
            && findings[0].text.contains("but worse with atomic (4.00x ["),
        "{findings:?}"
    );
    assert!(
        findings[1].text.starts_with("From threads=1 to threads=4 with primitive=local"),
        "{findings:?}"
    );
    let threads = findings.last().unwrap();
    assert_eq!(threads.kind, FindingKind::NoDifference);
    assert!(
        threads.text.starts_with("On average over primitive, no level of threads differs"),
        "{threads:?}"
    );
    assert!(threads.text.ends_with("The effect of threads depends on primitive."), "{threads:?}");
    // Every configuration of the crossing by itself.
    assert_eq!(summary.waits().len(), 4);
}

/// Configurations are compared on elapsed time, which does not differ; one is five times as dear.
#[test]
fn an_effect_on_another_response_is_told_last() {
    let found = |cost: [f64; 2], elapsed: [f64; 2]| {
        let mut recording = recording(&[("target.compression", &["on", "off"])]);
        for block in 1..=5 {
            for configuration in 0..2 {
                let mut observations =
                    observed(elapsed[configuration] * noise(configuration, block));
                let cost = cost[configuration] * noise(2 + configuration, block);
                observations.responses.push(Response::lower("cost", "$", cost));
                recording.trials.push(done(configuration, block, observations));
            }
        }
        let findings = summarize(&recording).findings();
        findings.into_iter().map(|finding| (finding.kind, finding.text)).collect::<Vec<_>>()
    };
    let alone = found([1.0, 5.0], [10.0; 2]);
    assert_eq!(
        (alone.len(), alone[0].0, alone[1].0),
        (2, FindingKind::NoDifference, FindingKind::Responses)
    );
    assert_eq!(
        alone[1].1,
        "Other responses at compression=off against on: cost 5.00x [4.91, 5.09] higher."
    );
    // Beside an effect on the response compared, at the level that the verdict names.
    let findings = found([1.0, 5.0], [10.0, 5.0]);
    let position = |kind| findings.iter().position(|(claim, _)| *claim == kind);
    assert_eq!(position(FindingKind::Verdict), Some(0));
    assert!(position(FindingKind::Responses) > position(FindingKind::Waits), "{findings:?}");
    assert!(found([1.0; 2], [10.0; 2]).iter().all(|(kind, _)| *kind == FindingKind::NoDifference));
}
