//! Experiments of known truth: how often do intervals hold it, how often is a difference found
//! where there is none, and how often is the sweet spot among the levels that the verdict names?

use analysis::{Comparison, Estimate, FindingKind, Summary, summarize};
use observations::{Observations, Recording, WaitClass};
use testing::recordings::coverage::Coverage;
use testing::recordings::{Random, done, observed, recording, wait};

const EXPERIMENTS: usize = 1_000;
const FILES: [&str; 6] = ["1", "2", "4", "8", "16", "32"];
const SYNCHRONOUS: [&str; 3] = ["normal", "full", "extra"];
/// Mean elapsed seconds without any effect.
const BASE_S: f64 = 12.0;

/// True parameters of an experiment: logarithms of elapsed time, spread and size.
struct Truth {
    files: usize,
    synchronous: usize,
    blocks: u32,
    /// Spread (sd of the logarithm) of the trials of each configuration.
    noise: Vec<f64>,
    /// Spread of the machine from block to block.
    machine: f64,
    /// Logarithm of the effect of each configuration.
    effect: Vec<f64>,
}

impl Truth {
    /// Draws an experiment in which nothing has an effect: 3 to 6 numbers of files, with or without
    /// a second factor, and 3 to 10 blocks. The noise is 1 to 20 %, equal or different between
    /// configurations; the machine drifts by up to 10 %.
    fn without_effect(random: &mut Random) -> Self {
        let files = 3 + random.below(4) as usize;
        let synchronous = 1 + random.below(3) as usize;
        let spread = |random: &mut Random| 0.01 * 20_f64.powf(random.uniform());
        let common = spread(random);
        let is_first = random.below(2) == 0;
        let configurations = files * synchronous;
        Self {
            files,
            synchronous,
            blocks: 3 + random.below(8) as u32,
            noise: (0..configurations)
                .map(|_| if is_first { spread(random) } else { common })
                .collect(),
            machine: 0.1 * random.uniform(),
            effect: vec![0.0; configurations],
        }
    }

    fn configuration(&self, file: usize, synchronous: usize) -> usize {
        file * self.synchronous + synchronous
    }

    /// Gives each configuration the effect of its number of files and its level of the other
    /// factor.
    fn set_effects(&mut self, effect: impl Fn(usize, usize) -> f64) {
        for file in 0..self.files {
            for level in 0..self.synchronous {
                let configuration = self.configuration(file, level);
                self.effect[configuration] = effect(file, level);
            }
        }
    }

    /// Logarithm of the effect of a number of files, over all levels of the other factor.
    fn file_effect(&self, file: usize) -> f64 {
        let all = (0..self.synchronous).map(|level| self.effect[self.configuration(file, level)]);
        all.sum::<f64>() / self.synchronous as f64
    }

    /// Logarithm of the mean of a configuration over all machines and trials: a lognormal
    /// distribution.
    fn mean_s(&self, configuration: usize) -> f64 {
        let variance = self.noise[configuration].powi(2) + self.machine.powi(2);
        BASE_S * (self.effect[configuration] + variance / 2.0).exp()
    }

    fn measure(&self, random: &mut Random) -> Recording {
        let files = ("target.data_files", &FILES[..self.files]);
        let synchronous = ("target.settings.synchronous", &SYNCHRONOUS[..self.synchronous]);
        let mut recording = if self.synchronous > 1 {
            recording(&[files, synchronous])
        } else {
            recording(&[files])
        };
        for block in 1..=self.blocks {
            let machine = self.machine * random.normal();
            for (configuration, (effect, noise)) in self.effect.iter().zip(&self.noise).enumerate()
            {
                let elapsed_s = BASE_S * (effect + machine + noise * random.normal()).exp();
                recording.trials.push(done(configuration, block, trial(random, elapsed_s)));
            }
        }
        recording
    }
}

/// A trial whose time is divided among CPU and two waits as chance has it.
fn trial(random: &mut Random, elapsed_s: f64) -> Observations {
    let mut observations = observed(elapsed_s);
    let session_s = observations.time.session_s;
    let [cpu, lock, log] = [(); 3].map(|()| (0.2 * random.normal()).exp());
    let all = cpu + lock + log;
    observations.time.cpu_s = session_s * cpu / all;
    observations.waits = vec![
        wait("WAL_SYNC", WaitClass::Log, session_s * log / all, 0.0),
        wait("WRITER_LOCK", WaitClass::Lock, session_s * lock / all, 0.0),
    ];
    observations
}

/// Returns whether any sentence claims a difference.
fn claims(summary: &Summary) -> bool {
    let silent = [FindingKind::Caveat, FindingKind::NoDifference];
    summary.findings().iter().any(|finding| !silent.contains(&finding.kind))
}

#[test]
fn at_most_five_percent_false_findings() {
    let mut random = Random::new(31);
    let (mut found, mut interactions, mut outliers, mut trials) = (0, 0, 0, 0);
    for _ in 0..EXPERIMENTS {
        let recording = Truth::without_effect(&mut random).measure(&mut random);
        let summary = summarize(&recording);
        found += usize::from(claims(&summary));
        interactions +=
            usize::from(summary.factors.interactions.iter().any(analysis::Interaction::supported));
        outliers += summary.outliers().len();
        trials += summary.done();
    }
    println!(
        "claims {found}, interactions {interactions} of {EXPERIMENTS}; outliers {outliers} of \
         {trials}"
    );
    assert!(found <= EXPERIMENTS / 20, "{found} claims");
    // The test itself is at work, not merely silent.
    assert!(found > EXPERIMENTS / 200, "{found} claims");
    assert!(outliers < trials / 50, "{outliers} outliers of {trials} trials");
}

/// An effect of one factor must not be attributed to another.
#[test]
fn a_factor_without_effect_beside_one_that_has_it() {
    let mut random = Random::new(34);
    let (mut experiments, mut found, mut right) = (0, 0, 0);
    while experiments < EXPERIMENTS {
        let mut truth = Truth::without_effect(&mut random);
        if truth.synchronous < 2 {
            continue;
        }
        truth.set_effects(|file, _| -0.2 * file as f64);
        let recording = truth.measure(&mut random);
        let summary = summarize(&recording);
        experiments += 1;
        let synchronous =
            summary.factors.effects[1].levels.iter().any(|level| level.supported().is_some());
        found += usize::from(
            synchronous
                || summary.factors.interactions.iter().any(analysis::Interaction::supported),
        );
        right += usize::from(summary.factors.effects[0].winner().is_some());
    }
    println!("false {found}, right {right} of {EXPERIMENTS}");
    assert!(found <= EXPERIMENTS / 20, "{found}");
    assert!(right > EXPERIMENTS * 2 / 3, "{right}");
}

fn estimate(coverage: &mut Coverage, estimate: Option<&Estimate>, truth: f64) {
    coverage.interval(estimate.unwrap().interval, truth);
}

/// Checks the comparison of a factor with a known logarithm of the ratio of elapsed times.
fn comparison(coverage: &mut Coverage, comparison: Option<&Comparison>, log: f64) {
    coverage.interval(comparison.unwrap().interval, log.exp());
}

#[test]
fn intervals_hold_the_truth_95_times_of_100() {
    let mut random = Random::new(32);
    let [mut means, mut ratios, mut main, mut steps, mut gains] =
        [(); 5].map(|()| Coverage::default());
    for _ in 0..EXPERIMENTS {
        let mut truth = Truth::without_effect(&mut random);
        truth.effect.iter_mut().for_each(|effect| *effect = 0.3 * random.normal());
        let recording = truth.measure(&mut random);
        let summary = summarize(&recording);
        for row in &summary.configurations {
            estimate(&mut means, row.response.as_ref(), truth.mean_s(row.index));
            if !row.baseline {
                comparison(
                    &mut ratios,
                    row.factor.as_ref(),
                    truth.effect[0] - truth.effect[row.index],
                );
            }
        }
        let files = &summary.factors.effects[0];
        for (level, effect) in files.levels.iter().enumerate().skip(1) {
            comparison(
                &mut main,
                effect.comparison.as_ref(),
                truth.file_effect(0) - truth.file_effect(level),
            );
        }
        for step in &files.steps {
            let log = truth.file_effect(step.from) - truth.file_effect(step.to);
            comparison(&mut steps, step.comparison.as_ref(), log);
        }
        for column in summary.factors.gains.iter().flat_map(|table| &table.columns) {
            for (file, gain) in column.by_row.iter().enumerate() {
                let effect = |level| truth.effect[truth.configuration(file, level)];
                comparison(&mut gains, gain.as_ref(), effect(0) - effect(column.to));
            }
        }
    }
    means.check("means", EXPERIMENTS / 2);
    ratios.check_at_least("ratios to the baseline", EXPERIMENTS / 2);
    main.check_at_least("main effects", EXPERIMENTS / 2);
    steps.check_at_least("steps", EXPERIMENTS / 2);
    gains.check_at_least("gains", EXPERIMENTS / 2);
}

/// Elapsed time falls to a level, is flat for a while, and rises.
fn valley(random: &mut Random, levels: usize) -> Vec<f64> {
    let (low, flat) = (random.below(levels as u64) as usize, random.below(3) as usize);
    let slope = 0.3 * random.uniform();
    let level = |i: usize| match i {
        i if i < low => slope * (low - i) as f64,
        i if i <= low + flat => 0.001 * (i - low) as f64,
        i => 0.5 * slope * (i - low - flat) as f64,
    };
    (0..levels).map(level).collect()
}

#[test]
fn the_sweet_spot_is_among_the_levels_named() {
    let mut random = Random::new(33);
    let (mut named, mut narrowed, mut sizes) = (0, 0, 0);
    for _ in 0..EXPERIMENTS {
        let mut truth = Truth::without_effect(&mut random);
        let along = valley(&mut random, truth.files);
        // The second factor makes everything slower, and files count for less.
        truth.set_effects(|file, level| {
            along[file] * (1.0 - 0.3 * level as f64) + 0.1 * level as f64
        });
        let effect = &summarize(&truth.measure(&mut random)).factors.effects[0];
        let spot = effect.sweet_spot();
        let best = (0..truth.files).min_by(|a, b| along[*a].total_cmp(&along[*b])).unwrap();
        named += usize::from(spot.contains(&best));
        narrowed += usize::from(spot.len() < truth.files);
        sizes += spot.len();
    }
    println!("named {named}, narrowed {narrowed} of {EXPERIMENTS}, {sizes} levels named");
    assert!(named >= EXPERIMENTS * 95 / 100, "{named}");
    // A set of all levels always holds the best one: sets must be smaller than that, too.
    assert!(narrowed > EXPERIMENTS / 2, "{narrowed}");
}
