//! Where the plan changes: found by explaining the template on a grid of selectivities and by
//! bisection between two of them. Nothing is executed.

use crate::ask::{Asker, Bound, Column, Reading};
use crate::template::Template;
use probe::ProbeError;

/// Points of the grid for each factor of ten in rows.
const POINTS_PER_DECADE: i32 = 4;

/// Bisections between two points at most: of columns with few values the position does not close
/// in on one row.
const BISECTIONS_MAX: usize = 40;

/// A change of the plan.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlanChange {
    /// The plan below.
    pub from: String,
    /// The plan from this point on.
    pub to: String,
    /// The least selected rows with the new plan that were found.
    pub rows: u64,
    /// Rows that the optimizer expected there.
    pub estimated: Option<f64>,
}

/// The plans over all selectivities.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plans {
    /// The plan at the smallest selectivity.
    pub first: String,
    /// Changes, by rising selectivity.
    pub changes: Vec<PlanChange>,
    /// The number of times that a less restrictive predicate was estimated smaller.
    pub reversals: u64,
    /// Points that have an estimate.
    pub estimates: u64,
}

/// A point that was explained.
#[derive(Debug, Clone)]
struct Point {
    position: u64,
    bound: Bound,
    reading: Reading,
}

/// Explains the template at all selectivities.
///
/// # Errors
/// When the engine refuses.
pub fn find(
    asker: &mut Asker<'_>,
    template: &Template,
    column: &mut Column<'_>,
) -> Result<Plans, ProbeError> {
    let present = column.present;
    let mut explain = |position: u64| {
        let bound = column.bound(asker, position)?;
        let reading = asker.reading(template, &template.query(&[&bound.value], ""))?;
        Ok::<_, ProbeError>(Point { position, bound, reading })
    };
    let grid: Vec<Point> =
        positions(present).into_iter().map(&mut explain).collect::<Result<_, _>>()?;
    let mut found = Plans {
        first: grid.first().map_or_else(String::new, |grid| grid.reading.plan.clone()),
        ..Plans::default()
    };
    let estimates: Vec<f64> = grid.iter().filter_map(|grid| grid.reading.estimated).collect();
    found.estimates = estimates.len() as u64;
    found.reversals = estimates.windows(2).filter(|pair| pair[1] < pair[0]).count() as u64;
    for pair in grid.windows(2) {
        let (mut low, mut high) = (pair[0].clone(), pair[1].clone());
        if low.reading.plan == high.reading.plan {
            continue;
        }
        for _ in 0..BISECTIONS_MAX {
            if high.position - low.position <= 1 || low.bound.rows == high.bound.rows {
                break;
            }
            let middle = explain(u64::midpoint(low.position, high.position))?;
            if middle.reading.plan == low.reading.plan { low = middle } else { high = middle }
        }
        found.changes.push(PlanChange {
            from: low.reading.plan,
            to: high.reading.plan,
            rows: high.bound.rows,
            estimated: high.reading.estimated,
        });
    }
    Ok(found)
}

/// Positions on a log grid from one row to all rows.
fn positions(rows: u64) -> Vec<u64> {
    let last = rows.max(1);
    let steps = 0..=(f64::from(POINTS_PER_DECADE) * (last as f64).log10()).ceil() as i32;
    let mut positions: Vec<u64> = steps
        .map(|step| 10_f64.powf(f64::from(step) / f64::from(POINTS_PER_DECADE)).round() as u64)
        .map(|position| position.min(last))
        .collect();
    positions.push(last);
    positions.dedup();
    positions
}

#[cfg(test)]
mod tests {
    use super::positions;

    #[test]
    fn the_grid_goes_from_one_row_to_all() {
        assert_eq!(positions(100), [1, 2, 3, 6, 10, 18, 32, 56, 100]);
        assert_eq!(positions(5), [1, 2, 3, 5]);
        assert_eq!(positions(0), [1]);
    }
}
