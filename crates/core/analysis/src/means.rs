//! Means of a factor's levels that differ in nothing but the level: over the blocks and levels of
//! the other factors in which all have a figure. A level that failed where everything is slow would
//! else look fast.

use crate::Estimate;
use crate::grid::{FactorLayout, Figures, Grid, Unit};
use crate::response::Figure;
use std::collections::BTreeSet;

/// The means of the levels.
pub struct Means {
    /// For each level; `None` without figures, and with so few that they cannot be set beside
    /// those of the others.
    pub levels: Vec<Option<Estimate>>,
    /// Trials with a figure that are in no mean, because another level has none in the same place.
    pub left_out: usize,
}

/// Values of each level in one block, with all other factors equal.
struct Place {
    block: u32,
    levels: Vec<Option<Figure>>,
}

impl Means {
    /// Estimates the means. The levels of a single factor use all of their blocks.
    pub fn estimate(layout: &FactorLayout, figures: &Figures) -> Self {
        let places = places(layout, &figures.grid);
        let compared = if layout.single() {
            Vec::new()
        } else {
            compared(&places, layout.levels, layout.reference)
        };
        let matched: Vec<&Place> = places
            .iter()
            .filter(|place| compared.iter().all(|level| place.levels[*level].is_some()))
            .collect();
        let unit = if layout.hard_to_change { figures.grid.unit_of_levels() } else { Unit::Block };
        let in_means = |level: usize| layout.single() || compared.contains(&level);
        let all = places.iter().flat_map(|place| place.levels.iter().flatten()).count();
        Self {
            levels: (0..layout.levels)
                .map(|level: usize| {
                    estimate(&matched, level, figures, unit).filter(|_| in_means(level))
                })
                .collect(),
            left_out: all
                - matched
                    .iter()
                    .map(|place| {
                        (0..layout.levels)
                            .filter(|level| in_means(*level) && place.levels[*level].is_some())
                            .count()
                    })
                    .sum::<usize>(),
        }
    }
}

fn places(layout: &FactorLayout, grid: &Grid<Figure>) -> Vec<Place> {
    let mut places = Vec::new();
    for group in layout.groups() {
        let cells = group.iter().flatten().flat_map(|group| &grid.cells[*group]);
        let blocks: BTreeSet<u32> = cells.map(|(block, _)| *block).collect();
        places.extend(blocks.into_iter().map(|block| Place {
            block,
            levels: group.iter().map(|group| grid.cell((*group)?, block)).collect(),
        }));
    }
    places
}

/// The levels that are set beside each other: without those for whose sake more than half of the
/// figures of the others would be left out.
fn compared(places: &[Place], levels: usize, reference: usize) -> Vec<usize> {
    let figures =
        |level: usize| places.iter().filter(|place| place.levels[level].is_some()).count();
    let mut compared: Vec<usize> = (0..levels).filter(|level| figures(*level) > 0).collect();
    loop {
        let matched = places
            .iter()
            .filter(|place| compared.iter().all(|level| place.levels[*level].is_some()))
            .count();
        let most = compared.iter().map(|level| figures(*level)).max().unwrap_or(0);
        if 2 * matched >= most || compared.len() < 2 {
            return compared;
        }
        let poorest = (0..compared.len()).min_by_key(|at| {
            let level = compared[*at];
            (figures(level), level == reference)
        });
        poorest.map(|at| compared.remove(at));
    }
}

/// Over the places of each block or set-up, then over these.
fn estimate(places: &[&Place], level: usize, figures: &Figures, unit: Unit) -> Option<Estimate> {
    let values = places.iter().filter_map(|place| Some((place.block, place.levels[level]?)));
    figures.response.estimate_means(&figures.grid.repeated(values, unit))
}
