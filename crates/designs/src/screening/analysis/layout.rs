//! The recorded runs of a screening by their part: design, fold-over, centre points, extensions.

use crate::mathematics::{CentredBlocks, Design};
use ::analysis::Summary;
use experiment::STAGE;
use observations::{ConfigurationRecord, FactorRecord, Recording};
use statistics::mean;
use std::collections::BTreeMap;

/// Runs of the design or of its fold-over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Part {
    /// Positions of the runs at the corners.
    pub corners: Vec<usize>,
    /// Positions of the centre points.
    pub centre: Vec<usize>,
}

/// The parts of a recorded screening.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// The design.
    pub design: Part,
    /// The fold-over, if there is one.
    pub fold: Option<Part>,
    /// The extensions by name in their order, each with the positions of its runs.
    pub stages: Vec<(String, Vec<usize>)>,
    /// The coded levels of each configuration.
    pub coded: Vec<Vec<i8>>,
}

impl Layout {
    /// `None` where a level is not one of a screening.
    pub fn new(recording: &Recording) -> Option<Self> {
        let mut layout = Self::default();
        for (run, configuration) in recording.configurations.iter().enumerate() {
            let levels = recording.factors.iter().map(|factor| coded(factor, configuration));
            layout.coded.push(levels.collect::<Option<_>>()?);
            match configuration.level(STAGE) {
                None => layout.design.add(run, &layout.coded[run]),
                Some(stage) => {
                    if stage == "fold" {
                        layout.fold.get_or_insert_default().add(run, &layout.coded[run]);
                    }
                    match layout.stages.last_mut().filter(|(name, _)| name == stage) {
                        Some((_, runs)) => runs.push(run),
                        None => layout.stages.push((stage.to_owned(), vec![run])),
                    }
                }
            }
        }
        Some(layout)
    }

    /// The layout as it was before an extension.
    pub fn before(&self, stage: &str) -> Self {
        let mut earlier = self.clone();
        let position = self.stages.iter().position(|(name, _)| name == stage);
        earlier.stages.truncate(position.unwrap_or(self.stages.len()));
        if earlier.stages.iter().all(|(name, _)| name != "fold") {
            earlier.fold = None;
        }
        earlier
    }

    /// The design, and its fold-over.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        std::iter::once(&self.design).chain(&self.fold)
    }

    /// The corners of all parts, each part in a block.
    pub fn corners(&self) -> Design {
        let parts = self.parts().enumerate();
        let runs = parts.flat_map(|(block, part)| part.corners.iter().map(move |run| (run, block)));
        let (runs, blocks) = runs.map(|(run, block)| (self.coded[*run].clone(), block)).unzip();
        Design::in_blocks(runs, blocks)
    }
}

impl Part {
    fn add(&mut self, run: usize, coded: &[i8]) {
        let centre = if coded.contains(&0) { &mut self.centre } else { &mut self.corners };
        centre.push(run);
    }
}

fn coded(factor: &FactorRecord, configuration_record: &ConfigurationRecord) -> Option<i8> {
    let level = configuration_record.level(&factor.name)?;
    let position = factor.levels.iter().position(|label| label == level)?;
    (factor.levels.len() <= 3).then_some([-1, 1, 0][position])
}

/// Values of all corners in each block or set-up that has all of them.
pub(super) struct Values {
    /// By repeat.
    pub repeats: Vec<Vec<f64>>,
    /// True if repeats are set-ups.
    pub setups: bool,
    /// Repeats of the first stage of adaptive blocks.
    pub first: usize,
}

impl Values {
    /// Of a folded design a repeat of the first half stands with one of the second.
    pub fn complete(layout: &Layout, summary: &Summary, has_setups: bool) -> Self {
        let mut parts =
            layout.parts().map(|part| Self::of_part(&part.corners, summary, has_setups));
        let part = parts.next().unwrap_or(Self { repeats: Vec::new(), setups: false, first: 0 });
        let Some(fold) = parts.next() else { return part };
        let both = part.repeats.into_iter().zip(fold.repeats);
        Self { repeats: both.map(|(run, fold)| [run, fold].concat()).collect(), ..part }
    }

    fn of_part(runs: &[usize], summary: &Summary, has_setups: bool) -> Self {
        let recording = summary.recording;
        let complete = complete_blocks(runs, summary);
        let setup_of: BTreeMap<u32, u32> =
            recording.trials.iter().map(|trial| (trial.block, trial.setup)).collect();
        let mut by_setup: BTreeMap<u32, Vec<&Vec<f64>>> = BTreeMap::new();
        for (block, values) in &complete {
            let setup = setup_of.get(block).copied().unwrap_or(1);
            by_setup.entry(setup).or_default().push(values);
        }
        if has_setups && by_setup.len() > 1 {
            let repeats = by_setup.into_values().map(|all| means(&all)).collect();
            return Self { repeats, setups: true, first: usize::MAX };
        }
        let first = recording.run.adaptive.map_or(usize::MAX, |adaptive| {
            complete.iter().filter(|(block, _)| *block <= adaptive.min).count()
        });
        let repeats = complete.into_iter().map(|(_, values)| values).collect();
        Self { repeats, setups: false, first }
    }
}

/// The values of these runs in each block that has all of them.
pub(super) fn complete_blocks(runs: &[usize], summary: &Summary) -> Vec<(u32, Vec<f64>)> {
    let mut blocks: BTreeMap<u32, Vec<Option<f64>>> = BTreeMap::new();
    for (position, run) in runs.iter().enumerate() {
        for (block, value) in summary.values(*run) {
            blocks.entry(block).or_insert_with(|| vec![None; runs.len()])[position] = Some(value);
        }
    }
    blocks
        .into_iter()
        .filter_map(|(block, values)| {
            Some((block, values.into_iter().collect::<Option<Vec<_>>>()?))
        })
        .collect()
}

/// The values of a part in the blocks that have all its runs and centre points.
pub(super) fn centred_blocks(part: &Part, summary: &Summary) -> CentredBlocks {
    let all = [&part.corners[..], &part.centre[..]].concat();
    let blocks = complete_blocks(&all, summary).into_iter();
    let (runs, centre) = blocks
        .map(|(_, values)| {
            let (runs, centre) = values.split_at(part.corners.len());
            (runs.to_vec(), centre.to_vec())
        })
        .unzip();
    CentredBlocks { runs, centre }
}

/// The mean of each run.
pub(super) fn means(repeats: &[&Vec<f64>]) -> Vec<f64> {
    let runs = repeats.first().map_or(0, |values| values.len());
    (0..runs).map(|run| mean(repeats.iter().map(|values| values[run]))).collect()
}
