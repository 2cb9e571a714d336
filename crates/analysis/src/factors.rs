//! All that is said of the factors of an experiment.

use crate::grid::{self, FactorLayout, Grid};
use crate::interaction::Axis;
use crate::{FactorEffect, GainTable, Interaction, ResponseChoice, effects};
use observations::{FactorRecord, Recording};
use serde::Serialize;

/// Main effects, interactions and the studies' tables.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Factors {
    /// Factors in the order of the file.
    pub effects: Vec<FactorEffect>,
    /// What each pair of factors does beyond the sum of their effects; pairs that cannot be tested are left out.
    pub interactions: Vec<Interaction>,
    /// Main effects and interactions that are tested together (Holm).
    pub family: usize,
    /// What the levels of each other factor gain at each level of the main one.
    pub gains: Vec<GainTable>,
}

impl Factors {
    /// `layouts` has one for each factor; `main` is the position of the main one.
    pub(crate) fn of(
        recording: &Recording,
        grid: &Grid,
        layouts: &[FactorLayout],
        main: Option<usize>,
        response: &ResponseChoice,
    ) -> Self {
        let positions: Vec<Vec<Option<usize>>> =
            recording.factors.iter().map(|factor| grid::positions(recording, factor)).collect();
        let axes: Vec<Axis> = recording
            .factors
            .iter()
            .enumerate()
            .map(|(factor, record)| Axis {
                factor,
                positions: &positions[factor],
                levels: record.levels.len(),
                reference: reference(recording, record),
                layout: &layouts[factor],
            })
            .collect();
        let factors = recording.factors.iter().zip(&axes);
        let mut effects: Vec<FactorEffect> = factors
            .map(|(factor, axis)| FactorEffect::of(factor, axis.layout, grid, axis.reference, response))
            .collect();
        let pairs = (0..axes.len()).flat_map(|i| (i + 1..axes.len()).map(move |j| (i, j)));
        // What the main factor gains is asked first: "more files help only with ...".
        let ordered = pairs.map(|(i, j)| if main == Some(j) { (j, i) } else { (i, j) });
        let mut interactions: Vec<Interaction> =
            ordered.filter_map(|(i, j)| Interaction::of(axes[i], axes[j], grid, response)).collect();
        let family = effects::correct(&mut effects, &mut interactions);
        for (effect, axis) in effects.iter_mut().zip(&axes) {
            effect.find_detectable(axis.layout, grid, response, family);
        }
        let gains = main.map(|main| {
            let others = axes.iter().filter(|axis| axis.factor != main && axis.levels > 1);
            others.map(|axis| GainTable::of(axes[main], *axis, grid, response)).collect()
        });
        Self { effects, interactions, family, gains: gains.unwrap_or_default() }
    }
}

/// The level of the baseline, else the first.
fn reference(recording: &Recording, factor: &FactorRecord) -> usize {
    let baseline = recording.run.baseline.and_then(|index| recording.configurations.get(index));
    let own = baseline.and_then(|b| b.levels.iter().find(|level| level.factor == factor.name));
    own.and_then(|own| factor.levels.iter().position(|level| *level == own.level)).unwrap_or(0)
}
