//! Screenings with hard-to-change factors: effects between set-ups are judged by the spread of
//! set-ups, effects within by that of blocks.

use designs::screening::analysis::Screening;
use observations::Recording;
use testing::recordings::{Random, done, observed, recording};

const EXPERIMENTS: usize = 500;
const BLOCKS: u32 = 8;

/// A half fraction of four factors in eight blocks.
struct SplitPlot {
    /// Factors that are hard to change, from the first.
    hard: usize,
    setups: u32,
    /// Spread of each set-up of a level of the first factor.
    spread: f64,
    /// Effects of the first factor and of the last one.
    effects: [f64; 2],
}

impl SplitPlot {
    fn design(&self) -> Recording {
        let two: &[&str] = &["1", "2"];
        let names = ["target.a", "target.b", "target.c", "target.d"];
        let mut recording = recording(&names.map(|name| (name, two)));
        let is_own = |run: usize| run.count_ones().is_multiple_of(2);
        let mut position = 0..;
        recording.configurations.retain(|_| position.next().is_some_and(is_own));
        for factor in &mut recording.factors[..self.hard] {
            factor.hard_to_change = true;
        }
        recording
    }

    fn measure(&self, random: &mut Random) -> Recording {
        let mut recording = self.design();
        let mut shifts = [0.0; 2];
        let mut last = 0;
        for block in 1..=BLOCKS {
            let setup = (block - 1) * self.setups / BLOCKS + 1;
            if setup != last {
                shifts = [(); 2].map(|()| self.spread * random.normal());
                last = setup;
            }
            for run in 0..recording.configurations.len() {
                let level = |factor: usize| {
                    usize::from(recording.configurations[run].levels[factor].level == "2")
                };
                let value = 10.0
                    + shifts[level(0)]
                    + self.effects[0] * level(0) as f64
                    + self.effects[1] * level(3) as f64
                    + 0.1 * random.normal();
                let mut trial = done(run, block, observed(value));
                trial.setup = setup;
                recording.trials.push(trial);
            }
        }
        recording
    }

    fn screened(&self, random: &mut Random) -> Screening {
        let recording = self.measure(random);
        Screening::estimate(&analysis::summarize(&recording)).unwrap()
    }

    /// The experiments in which the first factor was significant, and any other effect.
    fn claims(&self, random: &mut Random) -> [usize; 2] {
        let mut found = [0; 2];
        for _ in 0..EXPERIMENTS {
            let screened = self.screened(random);
            let is_first = |factor: Option<usize>| factor == Some(0);
            found[0] += usize::from(screened.significant().any(|effect| is_first(effect.factor)));
            found[1] += usize::from(screened.significant().any(|effect| !is_first(effect.factor)));
        }
        found
    }
}

#[test]
fn effects_between_set_ups_have_the_error_of_set_ups() {
    let mut random = Random::new(61);
    let allowed = EXPERIMENTS * 5 / 100 + 15;
    for (hard, setups) in [(1, 2), (1, 4), (2, 4), (2, 8)] {
        let design = SplitPlot { hard, setups, spread: 1.0, effects: [0.0, 0.0] };
        let [first, others] = design.claims(&mut random);
        println!("{hard} hard, {setups} set-ups: {first} and {others} of {EXPERIMENTS}");
        assert!(first <= allowed && others <= allowed, "{hard}, {setups}: {first}, {others}");
    }
    // Without set-ups that are repeated the effect of a level is that of its only set-up.
    let once = SplitPlot { hard: 1, setups: 1, spread: 1.0, effects: [3.0, 0.0] };
    let screened = once.screened(&mut random);
    let effect = screened.effects.iter().find(|effect| effect.factor == Some(0)).unwrap();
    assert!(effect.between_setups && effect.significant.is_none());
    // What acts within set-ups is found whatever these vary by, and so is a large effect between.
    let plain = SplitPlot { hard: 1, setups: 8, spread: 1.0, effects: [4.0, 0.15] };
    let [first, others] = plain.claims(&mut random);
    println!("effects: {first} and {others} of {EXPERIMENTS}");
    assert!(first > EXPERIMENTS * 8 / 10 && others > EXPERIMENTS * 8 / 10, "{first}, {others}");
}
