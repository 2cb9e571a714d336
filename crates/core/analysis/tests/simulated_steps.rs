//! Values that a user's program prints in steps: coverage, false differences and false equivalence,
//! with the step inferred and with none.

use analysis::{Standing, summarize};
use observations::{Observations, Recording, Response};
use testing::recordings::{Random, done, observed, recording};

const EXPERIMENTS: usize = 400;
/// Spread of trials.
const SD: f64 = 1.0;
/// The margin of 5 % is then 0.6 to 0.8 of the spread, below the coarser steps.
const MEAN: f64 = 12.0;

/// How a value is recorded.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Recorded {
    /// As before: as if it were exact.
    Exact,
    /// With the last printed digit, a tenth of the step or less.
    Printed,
    /// With the step that the user declared.
    Declared,
}

fn trial(value: f64, step: f64, recorded: Recorded) -> Observations {
    let response = Response::lower("cost", "units", (value / step).round() * step);
    let digit = match recorded {
        Recorded::Exact => 0.0,
        Recorded::Printed => 10_f64.powf((step / 10.0).log10().floor()),
        Recorded::Declared => step,
    };
    Observations { responses: vec![response.in_steps_of(digit)], ..observed(1.0) }
}

fn experiment(
    random: &mut Random,
    blocks: usize,
    step: f64,
    ratio: f64,
    recorded: Recorded,
) -> (Recording, f64) {
    let mut recording = recording(&[("target.data_files", &["1", "2"])]);
    recording.run.response = Some("cost".to_owned());
    // Any place between two steps.
    let mean = MEAN + step * random.uniform();
    for block in 1..=blocks {
        for (configuration, mean) in [mean, mean * ratio].into_iter().enumerate() {
            let value = mean + SD * random.normal();
            recording.trials.push(done(configuration, block as u32, trial(value, step, recorded)));
        }
    }
    (recording, mean)
}

/// Shares: claims of a difference between equal levels, intervals of means and of ratios that
/// contain the truth, and levels called equivalent although they differ by the margin.
#[derive(Debug)]
struct Rates {
    claims: f64,
    means: f64,
    ratios: f64,
    equivalent: f64,
}

fn rates(random: &mut Random, blocks: usize, step: f64, recorded: Recorded) -> Rates {
    let [mut claims, mut means, mut ratios, mut equivalent] = [0; 4];
    for _ in 0..EXPERIMENTS {
        let (equal, mean) = experiment(random, blocks, step, 1.0, recorded);
        let rows = summarize(&equal).configurations;
        let comparison = rows[1].factor.clone().unwrap();
        claims += usize::from(comparison.supported());
        ratios += usize::from(comparison.interval.unwrap().contains(1.0));
        means += usize::from(rows[0].response.as_ref().unwrap().interval.unwrap().contains(mean));
        // At the margin of 5 %.
        let (differing, _) = experiment(random, blocks, step, 1.05, recorded);
        let rows = summarize(&differing).configurations;
        equivalent += usize::from(rows.iter().any(|row| row.standing == Standing::Equivalent));
    }
    let share = |n: usize| n as f64 / EXPERIMENTS as f64;
    Rates {
        claims: share(claims),
        means: share(means),
        ratios: share(ratios),
        equivalent: share(equivalent),
    }
}

#[test]
#[ignore = "lane all: many draws"]
fn printed_steps_are_inferred_or_declared() {
    let mut random = Random::new(71);
    // Four standard errors, of some hundred rates.
    let margin = 4.0 * (0.05 * 0.95 / EXPERIMENTS as f64).sqrt();
    println!("step / sd, blocks, recorded: claims, coverage of means and ratios, equivalent");
    for (step, blocks) in
        [(0.01, 5), (0.1, 10), (0.5, 5), (1.0, 3), (1.0, 10), (2.0, 10), (4.0, 10), (4.0, 40)]
    {
        for recorded in [Recorded::Exact, Recorded::Printed, Recorded::Declared] {
            let Rates { claims, means, ratios, equivalent } =
                rates(&mut random, blocks, step, recorded);
            println!(
                "{step} {blocks} {recorded:?}: {claims:.3} {means:.3} {ratios:.3} {equivalent:.3}"
            );
            if recorded == Recorded::Declared || (recorded == Recorded::Printed && step < 4.0) {
                let case = (step, blocks, recorded);
                assert!(claims <= 0.05 + margin, "{case:?}: {claims}");
                assert!(means.min(ratios) >= 0.95 - margin, "{case:?}: {means} {ratios}");
                assert!(equivalent <= 0.05 + margin, "{case:?}: {equivalent}");
            }
        }
    }
}
