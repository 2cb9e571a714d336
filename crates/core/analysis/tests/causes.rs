//! Experiments in which it is known why two configurations differ: how often is a cause named that
//! is none, how often is the largest one named, and how often does the interval of its share hold
//! the truth?

use analysis::{Decomposition, FindingKind, PartKind, summarize};
use observations::{Observations, Recording, TimeUse, WaitClass, Work};
use testing::recordings::{Random, done, observed, recording, wait};

const EXPERIMENTS: usize = 1_000;
const SESSIONS: f64 = 8.0;

/// True waits of two configurations.
struct Truth {
    blocks: u32,
    /// Seconds of each wait for each unit of work, on both sides.
    waits: Vec<[f64; 2]>,
    /// Spread (sd of the logarithm) of each from trial to trial.
    noise: Vec<f64>,
}

impl Truth {
    /// Draws 3 to 10 blocks and 4 to 24 wait types, from rare to frequent, that vary by 2 to 30 %.
    /// One to three of them change by a factor of up to 4 either way; the CPU time does not.
    fn any(random: &mut Random) -> Self {
        let types = 4 + random.below(21) as usize;
        let mut waits: Vec<[f64; 2]> =
            (0..types).map(|_| [1e-3 * 1000_f64.powf(random.uniform() - 1.0); 2]).collect();
        for _ in 0..=random.below(3) {
            let changed = random.below(types as u64) as usize;
            waits[changed][1] = waits[changed][0] * 16_f64.powf(random.uniform() - 0.5);
        }
        let noise = (0..types).map(|_| 0.02 * 15_f64.powf(random.uniform())).collect();
        Self { blocks: 3 + random.below(8) as u32, waits, noise }
    }

    fn change(&self, wait: usize) -> f64 {
        self.waits[wait][1] - self.waits[wait][0]
    }

    fn total_change(&self) -> f64 {
        (0..self.waits.len()).map(|wait| self.change(wait)).sum()
    }

    fn largest(&self) -> usize {
        let by_size =
            |a: &usize, b: &usize| self.change(*a).abs().total_cmp(&self.change(*b).abs());
        (0..self.waits.len()).max_by(by_size).unwrap()
    }

    fn measure(&self, random: &mut Random) -> Recording {
        let mut run = recording(&[("target.data_files", &["1", "2"])]);
        for block in 1..=self.blocks {
            let machine = (0.1 * random.normal()).exp();
            for side in 0..2 {
                run.trials.push(done(side, block, self.trial(side, machine, random)));
            }
        }
        run
    }

    fn trial(&self, side: usize, machine: f64, random: &mut Random) -> Observations {
        const WORK: u64 = 10_000;
        // A lognormal value with this mean.
        let mut draw = |mean: f64, noise: f64| {
            WORK as f64 * machine * mean * (noise * random.normal() - noise * noise / 2.0).exp()
        };
        let cpu_s = draw(5e-4, 0.02);
        let waits = self.waits.iter().zip(&self.noise).enumerate();
        let waits: Vec<_> = waits
            .map(|(i, (mean, noise))| {
                wait(&name(i), WaitClass::Lock, draw(mean[side], *noise), 0.0)
            })
            .collect();
        let session_s = cpu_s + waits.iter().map(|wait| wait.resource_s).sum::<f64>();
        Observations {
            connections: SESSIONS as u32,
            time: TimeUse { session_s, cpu_s, cpu_user_s: None, ..TimeUse::default() },
            work: Work { unit: "row".to_owned(), amount: WORK, ..Work::default() },
            waits,
            ..observed(session_s / SESSIONS)
        }
    }
}

fn name(wait: usize) -> String {
    format!("W{wait:02}")
}

/// Returns the sentence on the causes, split at "Not significant".
fn causes(run: &Recording) -> Option<(String, String)> {
    let findings = summarize(run).findings();
    let text = findings.into_iter().find(|finding| finding.kind == FindingKind::Waits)?.text;
    let (sure, unsure) = text.split_once("Not significant").unwrap_or((&text, ""));
    Some((sure.to_owned(), unsure.to_owned()))
}

/// Wait types that Holm's correction over all parts supports: what was named before.
fn holm(decomposition: &Decomposition) -> Vec<String> {
    let mut tested: Vec<_> =
        decomposition.by_type.iter().filter_map(|part| Some((part.p_value?, &part.kind))).collect();
    tested.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n = tested.len();
    let supported =
        tested.iter().enumerate().take_while(|(rank, (p, _))| p * ((n - rank) as f64) < 0.05);
    let names = supported.filter_map(|(_, (_, kind))| match kind {
        PartKind::WaitType(name) => Some(name.clone()),
        _ => None,
    });
    names.collect()
}

#[test]
fn causes_that_are_named_are_right() {
    let mut random = Random::new(41);
    let (mut explained, mut wrong_share) = (0, 0.0);
    let [mut largest_named, mut largest_sure, mut largest_before] = [0; 3];
    let (mut intervals, mut missed) = (0, 0);
    for _ in 0..EXPERIMENTS {
        let truth = Truth::any(&mut random);
        let run = truth.measure(&mut random);
        let Some((sure, unsure)) = causes(&run) else { continue };
        let summary = summarize(&run);
        let explanation = &summary.explanations()[0];
        let decomposition = &explanation.decomposition;
        explained += 1;
        let [mut right, mut wrong] = [0.0; 2];
        for (wait, [from, to]) in
            truth.waits.iter().enumerate().filter(|(i, _)| sure.contains(&name(*i)))
        {
            let kind = PartKind::WaitType(name(wait));
            let part = decomposition.by_type.iter().find(|part| part.kind == kind).unwrap();
            if part.change_s * (to - from) > 0.0 {
                right += 1.0;
            } else {
                wrong += 1.0;
            }
            if let Some(interval) = part.share_interval {
                intervals += 1;
                missed +=
                    usize::from(!interval.contains(truth.change(wait) / truth.total_change()));
            }
        }
        // CPU time never changes.
        wrong += f64::from(u8::from(sure.contains("CPU time") || sure.contains("unaccounted")));
        wrong_share += if wrong > 0.0 { wrong / (right + wrong) } else { 0.0 };
        let largest = name(truth.largest());
        let is_largest = |kind: &PartKind| *kind == PartKind::WaitType(largest.clone());
        let sure_of =
            decomposition.by_type.iter().any(|part| is_largest(&part.kind) && part.supported());
        largest_sure += usize::from(sure_of);
        largest_named += usize::from(sure.contains(&largest) || unsure.contains(&largest));
        largest_before += usize::from(holm(decomposition).contains(&largest));
    }
    let wrong_share = wrong_share / explained as f64;
    println!(
        "{explained} explained: {wrong_share:.4} of the causes wrong; the largest named in \
         {largest_named}, without doubt in {largest_sure}, by Holm over all in {largest_before}; \
         {missed} of {intervals} intervals of shares miss"
    );
    assert!(explained > EXPERIMENTS / 3);
    assert!(wrong_share <= 0.05, "{wrong_share}");
    assert!(largest_named * 100 >= explained * 95, "{largest_named} of {explained}");
    assert!(largest_sure > largest_before, "{largest_sure} {largest_before}");
    assert!(missed * 20 <= intervals + intervals / 5, "{missed} of {intervals}");
}
