//! A trial that `limits.trial_time` stopped took at least that long: figures, comparisons and
//! verdicts must not do as if it had not been, or as if a faster retry were the truth.

use analysis::{Bound, FindingKind, Standing, summarize};
use observations::{FailureKind, Observations, Recording, Response, TrialStatus};
use testing::recordings::{done, observed, recording, timed_out};

/// Seconds of `steady` in each block; `moody` takes 0.8 s, but in three blocks of five 30 s.
const STEADY: [f64; 5] = [1.2, 1.21, 1.19, 1.2, 1.22];
const IS_SLOW: [bool; 5] = [true, false, true, true, false];

/// A recording of an older version: each time-out has a retry that happened to take 0.8 s.
fn with_retries(baseline: usize) -> Recording {
    let mut run = recording(&[("script", &["steady", "moody"])]);
    run.run.baseline = Some(baseline);
    for (block, (steady, slow)) in (1..).zip(STEADY.into_iter().zip(IS_SLOW)) {
        run.trials.push(done(0, block, observed(steady)));
        if slow {
            run.trials.push(timed_out(1, block, 3.9));
        }
        let mut retry = done(1, block, observed(0.8 + 0.001 * f64::from(block)));
        retry.attempt = 1 + u32::from(slow);
        run.trials.push(retry);
    }
    run
}

fn texts(run: &Recording, kind: FindingKind) -> Vec<String> {
    let findings = summarize(run).findings().into_iter().filter(|finding| finding.kind == kind);
    findings.map(|finding| finding.text).collect()
}

#[test]
fn a_retry_does_not_make_a_time_out_good() {
    let run = with_retries(0);
    let summary = summarize(&run);
    let moody = &summary.configurations[1];
    assert_eq!((moody.done, moody.timeouts, moody.lost_blocks), (2, 3, 0));
    let mean = moody.response.as_ref().unwrap();
    assert_eq!(
        (mean.n, mean.timeouts, mean.bound, mean.interval),
        (5, 3, Some(Bound::AtLeast), None)
    );
    // (3 x 3.9 + 0.802 + 0.805) / 5
    assert!((mean.mean - 2.6614).abs() < 1e-9, "{}", mean.mean);
    assert_eq!(summary.configurations[0].standing, Standing::Best);
    assert_ne!(moody.standing, Standing::Equivalent);
    assert_eq!(
        texts(&run, FindingKind::NoDifference),
        ["The levels of script cannot be compared: trials of moody timed out."]
    );
    assert_eq!(
        texts(&run, FindingKind::Caveat),
        ["limits.trial_time stopped 3 of 5 trials of script=moody: each counts as the time until \
          then, so figures marked \"at least\" are lower bounds. A configuration with stopped \
          trials is never called better than one without."]
    );
    // The same figures without the note that these trials timed out, for contrast.
    let mut unnoted = with_retries(0);
    unnoted.trials.retain(|trial| !trial.timed_out());
    let verdict = texts(&unnoted, FindingKind::Verdict);
    assert!(verdict[0].contains("moody: 1.50x"), "{verdict:?}");
}

#[test]
fn a_trial_that_a_search_ended_early_is_named_as_such() {
    let mut run = with_retries(0);
    run.trials.retain(|trial| trial.attempt == 1);
    for trial in run.trials.iter_mut().filter(|trial| trial.timed_out()) {
        let cause = "stopped after 3.90 s: cannot beat the leader".to_owned();
        trial.status = TrialStatus::Failed { cause, kind: FailureKind::Futile };
    }
    let summary = summarize(&run);
    assert!(summary.failures().is_empty());
    assert_eq!((summary.futile().count(), summary.configurations[1].futile), (3, 3));
    assert_eq!(
        texts(&run, FindingKind::NoDifference),
        ["The levels of script cannot be compared: trials of moody were ended early by the \
             search."]
    );
    let text = "script=moody (after 3.90 s)";
    assert_eq!(
        texts(&run, FindingKind::Caveat),
        [format!(
            "The search ended 3 trials early, because they could not beat its best trial any more: \
             {text}, {text} and {text}. They were not measured to the end."
        )]
    );
}

#[test]
fn one_that_never_times_out_beats_one_that_does_by_at_least_so_much() {
    let mut run = with_retries(1);
    for block in 1..=5 {
        run.trials.retain(|trial| (trial.configuration, trial.block) != (1, block));
        run.trials.push(timed_out(1, block, 3.9 - 0.01 * f64::from(block)));
    }
    let summary = summarize(&run);
    let steady = summary.configurations[0].factor.as_ref().unwrap();
    assert_eq!(
        (steady.bound, steady.interval.unwrap().high),
        (Some(Bound::AtLeast), f64::INFINITY)
    );
    // ln(3.89 / 1.2), ...: scipy's paired t interval of the same numbers begins at 3.1678.
    assert!((steady.interval.unwrap().low - 3.167_794_735).abs() < 1e-8, "{steady:?}");
    assert_eq!(
        texts(&run, FindingKind::Verdict),
        ["The best level of script is steady: at least 3.17x faster than the baseline \
             script=moody (1.20 against at least 3.87 s)."]
    );
    // The other way round it is worse, and never more than so much.
    run.run.baseline = Some(0);
    let summary = summarize(&run);
    let moody = summary.configurations[1].factor.as_ref().unwrap();
    assert_eq!((moody.bound, moody.interval.unwrap().low), (Some(Bound::AtMost), 0.0));
    assert!(moody.supported() && !moody.is_better());
    assert_eq!(summary.configurations[1].standing, Standing::Worse);
}

/// Two sides with time-outs, and a latency, of which a trial that was stopped says nothing.
#[test]
fn what_cannot_be_compared_is_not() {
    let mut run = with_retries(0);
    run.trials.retain(|trial| (trial.configuration, trial.block) != (0, 1));
    run.trials.push(timed_out(0, 1, 3.9));
    assert_eq!(summarize(&run).configurations[1].factor, None);
    let mut run = with_retries(0);
    for observation in run.trials.iter_mut().filter_map(|trial| trial.observations.as_mut()) {
        if observation.timeout_s.is_none() {
            observation
                .responses
                .insert(0, Response::lower("latency_p99", "ms", 5.0 * observation.elapsed_s));
        }
    }
    let summary = summarize(&run);
    let moody = &summary.configurations[1];
    let mean = moody.response.as_ref().unwrap();
    assert_eq!((mean.n, mean.timeouts, mean.bound), (2, 3, None));
    assert_eq!((moody.factor.as_ref(), moody.standing), (None, Standing::Unknown));
    assert_eq!(summary.configurations[0].standing, Standing::Best);
    assert!(texts(&run, FindingKind::Caveat)[0].contains("figures are those of the other trials"));
}

/// A bound that is below the mean of the other, after a long preparation, is not the best value.
#[test]
fn a_small_bound_is_not_a_small_mean() {
    let mut run = recording(&[("a", &["1", "2"]), ("b", &["x", "y"])]);
    for block in 1..=5 {
        for configuration in 0..4 {
            let trial = match configuration {
                3 => timed_out(3, block, 0.01 + 1e-4 * f64::from(block)),
                _ => done(configuration, block, observed(1.2 + 0.01 * f64::from(block))),
            };
            run.trials.push(trial);
        }
    }
    let summary = summarize(&run);
    assert_eq!(summary.configurations[3].standing, Standing::Unknown);
    assert!(summary.factors.interactions.is_empty());
    for effect in &summary.factors.effects {
        assert_eq!((effect.best, effect.winner(), effect.sweet_spot()), (Some(0), None, vec![0]));
    }
    let verdicts = texts(&run, FindingKind::Verdict).join(" ");
    assert!(!verdicts.contains("best") && !verdicts.contains("sweet spot"), "{verdicts}");
}

/// Older files record that a trial timed out, but not how long it had been measured.
#[test]
fn a_time_out_of_unknown_length_still_forbids_a_verdict() {
    let mut run = with_retries(0);
    for trial in run.trials.iter_mut().filter(|trial| trial.timed_out()) {
        let observations =
            Observations { elapsed_s: f64::NAN, ..trial.observations.clone().unwrap() };
        trial.observations = Some(observations);
    }
    let summary = summarize(&run);
    assert_eq!(summary.configurations[1].factor, None);
    assert_eq!(summary.configurations[0].standing, Standing::Best);
    assert_eq!(
        texts(&run, FindingKind::NoDifference),
        ["The levels of script cannot be compared: trials of moody timed out."]
    );
}
