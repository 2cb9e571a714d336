//! Levels that are set up, and what differs from set-up to set-up.

use super::{Random, done, observed, recording};
use observations::{Recording, TrialRecord};

/// Two drives, set up so often, with two numbers of files on each, in six blocks; trials vary by 1
/// %.
pub struct SplitPlot {
    pub setups: u32,
    pub declared: bool,
    /// Spread from set-up to set-up.
    pub spread: f64,
    /// Spread from set-up to set-up of the effect of more files.
    pub spread_of_files: f64,
    /// Logarithm of the effect of the second drive, and of more files.
    pub effect: [f64; 2],
}

impl SplitPlot {
    const BLOCKS: u32 = 6;

    pub fn measure(&self, random: &mut Random) -> Recording {
        let mut recording =
            recording(&[("target.volume", &["a", "b"]), ("target.data_files", &["1", "4"])]);
        recording.factors[0].hard_to_change = self.declared;
        let (mut set_up, mut files_in) = ([0.0; 2], [0.0; 2]);
        let mut last = 0;
        for block in 1..=Self::BLOCKS {
            let setup = (block - 1) * self.setups / Self::BLOCKS + 1;
            if setup != last {
                set_up = [(); 2].map(|()| self.spread * random.normal());
                files_in = [(); 2].map(|()| self.spread_of_files * random.normal());
                last = setup;
            }
            for configuration in 0..4 {
                let (drive, files) = (configuration / 2, configuration % 2);
                let of_files = self.effect[1] + files_in[drive];
                let effect = self.effect[0] * drive as f64 + of_files * files as f64;
                let log: f64 = effect + set_up[drive] + 0.01 * random.normal();
                let trial = done(configuration, block, observed(10.0 * log.exp()));
                recording.trials.push(TrialRecord { setup, ..trial });
            }
        }
        recording
    }
}
