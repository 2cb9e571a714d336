//! Plan diagrams: the plan at each point of a grid of two selectivities. The reduced diagram has
//! fewer plans, each of which costs at most a little more (Harish, Darera and Haritsa, On the
//! Production of Anorexic Plan Diagrams, VLDB 2007).

use crate::ask::{Asker, Column};
use crate::template::Template;
use observations::order;
use probe::ProbeError;

/// The share by which a plan of the reduced diagram may cost more than the optimizer's.
pub(crate) const INCREASE_MAX: f64 = 0.2;

/// Signs of plans in a diagram, in the order of their shares; further plans share the last one.
const SIGNS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789*";

/// The plans of a grid of two selectivities.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Diagram {
    /// Selectivities of the first predicate, rising: one for each column.
    pub columns: Vec<f64>,
    /// Selectivities of the second one, rising: one for each row.
    pub rows: Vec<f64>,
    /// Plans, the one with most points first.
    pub plans: Vec<String>,
    /// The plan of each point, row by row.
    pub cells: Vec<usize>,
    /// The cost there; empty where the engine has no costs.
    pub costs: Vec<f64>,
}

/// The sign of a plan.
pub fn sign(plan: usize) -> char {
    let signs = SIGNS.chars();
    signs.clone().nth(plan).unwrap_or_else(|| signs.last().unwrap_or('*'))
}

/// Explains the template at each point of a grid.
///
/// # Errors
/// When the engine refuses.
pub fn explain(
    asker: &mut Asker<'_>,
    template: &Template,
    [first, second]: [&mut Column<'_>; 2],
    points: u64,
) -> Result<Diagram, ProbeError> {
    let mut bounds = |column: &mut Column<'_>| {
        let positions = positions(column.present, points).into_iter();
        positions.map(|position| column.bound(asker, position)).collect::<Result<Vec<_>, _>>()
    };
    let (across, up) = (bounds(first)?, bounds(second)?);
    let mut readings = Vec::new();
    for row in &up {
        for column in &across {
            let sql = template.query(&[&column.value, &row.value], "");
            let reading = asker.reading(template, &sql)?;
            readings.push((reading.plan, reading.cost));
        }
    }
    Ok(Diagram::new(
        across.iter().map(|dial| first.share(dial.rows as f64)).collect(),
        up.iter().map(|dial| second.share(dial.rows as f64)).collect(),
        &readings,
    ))
}

/// Positions on a log grid of this many points from one row to all rows.
fn positions(rows: u64, points: u64) -> Vec<u64> {
    let (last, steps) = (rows.max(1) as f64, points.saturating_sub(1).max(1));
    let mut positions: Vec<u64> =
        (0..=steps).map(|step| last.powf(step as f64 / steps as f64).round() as u64).collect();
    positions.dedup();
    positions
}

impl Diagram {
    fn new(columns: Vec<f64>, rows: Vec<f64>, readings: &[(String, Option<f64>)]) -> Self {
        let mut plans: Vec<(&str, usize)> = Vec::new();
        for (plan, _) in readings {
            match plans.iter_mut().find(|(known, _)| known == plan) {
                Some((_, points)) => *points += 1,
                None => plans.push((plan, 1)),
            }
        }
        order::by_key(&mut plans, &|(_, points)| std::cmp::Reverse(*points));
        let costs: Option<Vec<f64>> = readings.iter().map(|(_, cost)| *cost).collect();
        Self {
            columns,
            rows,
            cells: readings
                .iter()
                .filter_map(|(plan, _)| plans.iter().position(|(known, _)| known == plan))
                .collect(),
            costs: costs.unwrap_or_default(),
            plans: plans.into_iter().map(|(plan, _)| plan.to_owned()).collect(),
        }
    }

    /// The share of points of each plan.
    pub fn shares(&self) -> Vec<f64> {
        let points = self.cells.len().max(1) as f64;
        (0..self.plans.len())
            .map(|plan| self.cells.iter().filter(|cell| **cell == plan).count() as f64 / points)
            .collect()
    }

    /// The signs of these plans in each row, rising.
    pub fn signs(&self, cells: &[usize]) -> Vec<String> {
        let rows = cells.chunks(self.columns.len().max(1));
        rows.map(|row| row.iter().map(|plan| sign(*plan)).collect()).collect()
    }

    /// The plan of each point with as few plans as a greedy cover finds. None costs more than the
    /// optimizer's by a larger share than `increase`. `None` without costs.
    ///
    /// The cost of another plan at a point is not known. It is at most that of the same plan where
    /// both predicates select as much or more: costs of a plan rise with the selectivities (section
    /// 3 of the paper).
    pub fn reduced(&self, increase: f64) -> Option<Vec<usize>> {
        (self.costs.len() == self.cells.len()).then_some(())?;
        let bounds: Vec<Vec<f64>> = (0..self.plans.len()).map(|plan| self.bounds(plan)).collect();
        let covers = |plan: usize, at: usize| {
            self.cells[at] == plan || bounds[plan][at] <= (1.0 + increase) * self.costs[at]
        };
        let mut left: Vec<usize> = (0..self.cells.len()).collect();
        let mut kept = Vec::new();
        while !left.is_empty() {
            // Of equals the first, which has most points of its own.
            let best = (0..self.plans.len())
                .rev()
                .max_by_key(|plan| left.iter().filter(|at| covers(*plan, **at)).count())?;
            left.retain(|at| !covers(best, *at));
            kept.push(best);
        }
        let cells = (0..self.cells.len()).map(|at| {
            let cell = self.cells[at];
            let others = kept.iter().copied().filter(|plan| covers(*plan, at));
            let cheapest =
                others.min_by(|first, other| bounds[*first][at].total_cmp(&bounds[*other][at]));
            if kept.contains(&cell) { cell } else { cheapest.unwrap_or(cell) }
        });
        Some(cells.collect())
    }

    /// For each point, the least cost of a plan where both predicates select as much or more.
    fn bounds(&self, plan: usize) -> Vec<f64> {
        let width = self.columns.len().max(1);
        let mut least = vec![f64::INFINITY; self.cells.len()];
        for at in (0..self.cells.len()).rev() {
            let right = if (at + 1) % width == 0 { None } else { least.get(at + 1) };
            let above = least.get(at + width);
            let cost = (self.cells[at] == plan).then_some(&self.costs[at]);
            let found = [cost, right, above].into_iter().flatten().copied();
            least[at] = found.fold(f64::INFINITY, f64::min);
        }
        least
    }
}

#[cfg(test)]
mod tests {
    use super::{Diagram, positions, sign};
    use std::collections::BTreeSet;

    #[test]
    fn a_grid_has_its_points_from_one_row_to_all() {
        assert_eq!(positions(10_000, 5), [1, 10, 100, 1_000, 10_000]);
        assert_eq!(positions(2, 5), [1, 2]);
        assert_eq!((sign(0), sign(25), sign(1_000)), ('A', 'Z', '*'));
    }

    fn diagram(width: usize, cells: &[(&str, f64)]) -> Diagram {
        let readings: Vec<_> =
            cells.iter().map(|(plan, cost)| ((*plan).to_owned(), Some(*cost))).collect();
        let shares = |count: usize| (1..=count).map(|index| index as f64 / count as f64).collect();
        Diagram::new(shares(width), shares(cells.len() / width), &readings)
    }

    /// By hand: q may be swallowed only by a plan of a point at or beyond it in both directions
    /// whose cost is at most 20 % more.
    #[test]
    fn a_plan_is_swallowed_where_its_neighbour_costs_little_more() {
        let all = [("a", 10.0), ("b", 11.0), ("c", 12.0), ("b", 15.0)];
        let plan_space = diagram(2, &all);
        assert_eq!(plan_space.plans, ["b", "a", "c"]);
        assert_eq!(plan_space.shares(), [0.5, 0.25, 0.25]);
        assert_eq!(plan_space.signs(&plan_space.cells), ["BA", "CA"]);
        // a at 10 by b at 11; c at 12 not by b at 15, which is 25 % more.
        assert_eq!(plan_space.signs(&plan_space.reduced(0.2).unwrap()), ["AA", "CA"]);
        assert_eq!(plan_space.signs(&plan_space.reduced(0.25).unwrap()), ["AA", "AA"]);
        // Nothing is beyond the last point, and cost below a point does not count.
        let diagram = diagram(2, &[("a", 10.0), ("b", 10.0), ("b", 10.0), ("c", 10.5)]);
        assert_eq!(diagram.signs(&diagram.cells), ["BA", "AC"]);
        assert_eq!(diagram.signs(&diagram.reduced(0.0).unwrap()), ["AA", "AC"]);
        let costless = Diagram { costs: Vec::new(), ..diagram };
        assert_eq!(costless.reduced(0.2), None);
    }

    /// No point of a reduced diagram may have a plan whose bound exceeds the threshold, and no plan
    /// may appear that the diagram does not have; looked for by all pairs of points.
    #[test]
    fn the_increase_holds_at_every_point_of_random_diagrams() {
        let mut seed = 1_u64;
        let mut random = |end: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
            (seed >> 33) % end
        };
        for _ in 0..200 {
            let (width, height) = (1 + random(6) as usize, 1 + random(6) as usize);
            let names = ["a", "b", "c", "d", "e"];
            let cells: Vec<(&str, f64)> = (0..width * height)
                .map(|at| (names[random(5) as usize], (at / width + at % width + 1) as f64 * 7.0))
                .collect();
            let diagram = diagram(width, &cells);
            let reduced = diagram.reduced(0.2).unwrap();
            for (at, plan) in reduced.iter().enumerate() {
                let beyond = (0..cells.len())
                    .filter(|other| other / width >= at / width && other % width >= at % width);
                let costs = beyond.filter(|other| diagram.cells[*other] == *plan);
                let bound = costs.map(|other| diagram.costs[other]).fold(f64::INFINITY, f64::min);
                assert!(bound <= 1.2 * diagram.costs[at] + 1e-9, "{diagram:?} {reduced:?}");
            }
            let kinds = |cells: &[usize]| cells.iter().collect::<BTreeSet<_>>().len();
            assert!(kinds(&reduced) <= kinds(&diagram.cells));
        }
    }
}
