//! Races in a file.

use super::schedule::RaceSchedule;
use super::settings::{KIND, RACE_FIRST};
use experiment::{Blocks, Design, DesignFile, DesignPlace, DesignRuns, DesignSchedule, Experiment};
use observations::Recording;
use observations::number::plural;
use serde_json::{Value, json};

/// The race.
#[derive(Debug)]
pub struct Race;

impl Design for Race {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn settings(&self) -> &'static [&'static str] {
        const { &[RACE_FIRST.path()] }
    }

    fn shares_blocks(&self) -> bool {
        false
    }

    /// Candidates leave after a block, which all of them have run by then.
    fn read(&self, file: &mut DesignFile<'_>) -> Option<DesignRuns> {
        let first = file.get(RACE_FIRST);
        match file.repeats.blocks {
            Blocks::Adaptive { .. } => {
                let message = "a race decides by itself how often a candidate runs; give \
                               repeats.blocks as a number, the most blocks";
                file.error(DesignPlace::Blocks, message);
            }
            Blocks::Fixed(blocks) if blocks < first => {
                let message = format!(
                    "{blocks} blocks are fewer than the first {first} of the race ({}), after \
                     which losers leave",
                    RACE_FIRST.path()
                );
                file.error(DesignPlace::Blocks, message);
            }
            Blocks::Fixed(_) => {}
        }
        if let Some(factor) = file.hard.first() {
            let message = "a race runs all candidates in each block, which changes this factor in \
                           each block; remove it from order.hard_to_change or [[manual]], or use a \
                           grid";
            file.error_of_factor(*factor, message);
        }
        file.refuse_extensions();
        let message = "a race needs two candidates or more; give a factor with several levels";
        Some(DesignRuns { configurations_min: Some((2, message)), ..DesignRuns::all(KIND) })
    }

    /// The least and the most trials.
    fn plan(&self, experiment: &Experiment) -> (Vec<String>, Value) {
        let (first, candidates) = (experiment.get(RACE_FIRST), experiment.configurations.len());
        let line = format!(
            "design: race, {}: all run {first} blocks, then losers leave after each block; {} at \
             least if none fails, {} at most",
            plural(candidates, "candidate"),
            plural(candidates * first as usize, "trial"),
            experiment.repeats.blocks.max() as usize * candidates,
        );
        (vec![line], json!({ "kind": KIND, "first": first }))
    }

    fn schedule(
        &self,
        experiment: &Experiment,
        recorded: &Recording,
    ) -> Option<Box<dyn DesignSchedule>> {
        Some(Box::new(RaceSchedule::new(experiment.get(RACE_FIRST), recorded)))
    }
}
