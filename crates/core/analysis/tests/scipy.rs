//! Estimates, factors and corrections against values that scipy and statsmodels computed
//! (`scipy_reference.py` makes `scipy_reference.json`).

use analysis::compare::Values;
use analysis::{Comparison, Estimate, Interval, Method, summarize};
use observations::{Direction, Recording};
use serde_json::Value;
use testing::recordings::{data_files, done, observed, recording};

fn reference(key: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("scipy_reference.json")).unwrap();
    all[key].as_array().unwrap().clone()
}

fn number(case: &Value, key: &str) -> f64 {
    case[key].as_f64().unwrap()
}

fn numbers(case: &Value, key: &str) -> Vec<f64> {
    serde_json::from_value(case[key].clone()).unwrap()
}

fn close(left: f64, right: f64) {
    assert!((left - right).abs() <= 1e-9 * right.abs(), "{left} is not {right}");
}

#[test]
fn estimates() {
    for case in reference("estimate") {
        let estimate =
            Estimate::from_values(&numbers(&case, "values"), "s", Direction::LowerIsBetter)
                .unwrap();
        let interval = estimate.interval.unwrap();
        close(estimate.mean, number(&case, "mean"));
        close(estimate.sd.unwrap(), number(&case, "sd"));
        close(estimate.median, number(&case, "median"));
        close(interval.low, number(&case, "low"));
        close(interval.high, number(&case, "high"));
    }
}

/// The interval before it is adjusted for a claim.
fn plain(is_paired: bool, case: &Value) -> Interval {
    let [first, second] = ["first", "second"].map(|key| Values::each(&numbers(case, key)));
    let comparison =
        Comparison::of_values(is_paired, &first, &second, Direction::LowerIsBetter).unwrap();
    comparison.interval.unwrap()
}

#[test]
fn factors_by_paired_blocks() {
    for case in reference("ratio") {
        let recording =
            data_files(&["1", "2"], &[&numbers(&case, "first"), &numbers(&case, "second")]);
        let summary = summarize(&recording);
        let factor = summary.configurations[1].factor.clone().unwrap();
        let interval = plain(true, &case);
        assert_eq!(factor.method, Method::PairedT);
        close(factor.value, number(&case, "value"));
        close(interval.low, number(&case, "low"));
        close(interval.high, number(&case, "high"));
        close(factor.p_value.unwrap(), number(&case, "p"));
    }
}

/// Blocks of two runs have nothing in common: Welch.
#[test]
fn factors_between_runs() {
    for case in reference("ratio") {
        let (first, second) = (numbers(&case, "first"), numbers(&case, "second"));
        let comparison = Comparison::unpaired(&first, &second, Direction::LowerIsBetter).unwrap();
        let interval = plain(false, &case);
        assert_eq!(comparison.method, Method::Welch);
        close(comparison.value, number(&case, "value"));
        close(interval.low, number(&case, "welch_low"));
        close(interval.high, number(&case, "welch_high"));
        close(comparison.p_value.unwrap(), number(&case, "welch_p"));
    }
}

/// The corrected p-values of a summary are Holm's of its own raw ones, as statsmodels corrects
/// them.
#[test]
fn holm() {
    for case in reference("holm") {
        let p_values = numbers(&case, "p");
        let recording = with_p_values(&p_values);
        let summary = summarize(&recording);
        let rows = summary.configurations[1..].iter().map(|row| row.factor.as_ref().unwrap());
        for ((factor, p), adjusted) in rows.zip(&p_values).zip(numbers(&case, "adjusted")) {
            assert!((factor.p_value.unwrap() - p).abs() < 1e-9);
            assert!((factor.adjusted_p.unwrap() - adjusted).abs() < 1e-8);
        }
    }
}

/// Modified z-scores; a configuration alone has no blocks to take out.
#[test]
fn outliers() {
    for case in reference("outliers") {
        let values = numbers(&case, "values");
        let expected = numbers(&case, "z");
        let found = summarize(&data_files(&["1"], &[&values])).outliers();
        let far: Vec<usize> = (0..values.len()).filter(|i| expected[*i].abs() > 3.5).collect();
        assert!(!far.is_empty());
        assert_eq!(found.len(), far.len());
        for (outlier, position) in found.iter().zip(far) {
            assert_eq!((outlier.block as usize, outlier.value), (position + 1, values[position]));
            close(outlier.modified_z, expected[position]);
        }
    }
}

/// A repeated-measures analysis of variance with blocks as subjects, its degrees of freedom
/// corrected, and a contrast of the corners.
#[test]
fn interactions() {
    for case in reference("interaction") {
        let values: Vec<Vec<Vec<f64>>> = serde_json::from_value(case["values"].clone()).unwrap();
        let names = |n: usize| (1..=n).map(|level| level.to_string()).collect::<Vec<_>>();
        let (a, b) = (names(values.len()), names(values[0].len()));
        let (a, b): (Vec<&str>, Vec<&str>) =
            (a.iter().map(String::as_str).collect(), b.iter().map(String::as_str).collect());
        let mut recording = recording(&[("a", &a), ("b", &b)]);
        for (configuration, blocks) in values.iter().flatten().enumerate() {
            for (block, value) in (1..).zip(blocks) {
                recording.trials.push(done(configuration, block, observed(*value)));
            }
        }
        let [interaction] = &summarize(&recording).factors.interactions[..] else {
            panic!("one pair")
        };
        close(interaction.f, number(&case, "f"));
        assert!((interaction.p_value - number(&case, "p")).abs() < 1e-9);
        close(interaction.df.0, numbers(&case, "df")[0]);
        close(interaction.df.1, numbers(&case, "df")[1]);
        // The corner contrast of a 2 x 2 table is the only one: the size, up to its direction.
        if (a.len(), b.len()) == (2, 2) {
            let expected = numbers(&case, "contrast");
            let interval = interaction.size.interval.unwrap();
            let ours = [interaction.size.value, interval.low, interval.high];
            let turned = [1.0 / ours[0], 1.0 / ours[2], 1.0 / ours[1]];
            let ours = if expected[0] < 1.0 { turned } else { ours };
            ours.iter().zip(&expected).for_each(|(ours, expected)| close(*ours, *expected));
        }
    }
}

/// A recording whose comparisons with the baseline have these p-values: with two blocks t has one
/// degree of freedom, and p = 1 - 2 atan(t) / pi.
fn with_p_values(p_values: &[f64]) -> Recording {
    let levels: Vec<String> = (1..=p_values.len() + 1).map(|level| level.to_string()).collect();
    let levels: Vec<&str> = levels.iter().map(String::as_str).collect();
    let mut recording = recording(&[("target.data_files", &levels)]);
    for block in 1..=2 {
        recording.trials.push(done(0, block, observed(10.0)));
        for (configuration, p) in (1..).zip(p_values) {
            let t = (std::f64::consts::FRAC_PI_2 * (1.0 - p)).tan();
            // Log ratios with mean t/100 and standard error 1/100.
            let log = 0.01 * (t + if block == 1 { 1.0 } else { -1.0 });
            recording.trials.push(done(configuration, block, observed(10.0 * (-log).exp())));
        }
    }
    recording
}
