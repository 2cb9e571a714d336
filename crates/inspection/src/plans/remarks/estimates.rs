//! Where estimates go wrong: operators that are off although all of their inputs are right.

use super::remark::{OFF, ROWS, Remark, Rule, shown};
use super::weights::{Weights, remark};
use crate::plans::{Access, Kind, Operator};
use observations::number::plural;

pub fn find(nodes: &Weights<'_>) -> Vec<Remark> {
    let off: Vec<bool> = nodes.operators.iter().map(|(_, operator)| is_off(operator)).collect();
    let mut all = Vec::new();
    for (at, (_, operator)) in nodes.operators.iter().enumerate() {
        if !off[at] || nodes.below(at).any(|below| off[below]) || is_stopped_early(nodes, at) {
            continue;
        }
        let above = nodes.above(at).filter(|above| off[*above]).count();
        let continues = match above {
            0 => String::new(),
            above => format!(" The error continues into {} above it.", plural(above, "operator")),
        };
        let text = format!(
            "{} rows estimated, {} actual. Its inputs match their estimates, so the error starts \
             here.{continues}",
            shown(operator.rows.estimated.unwrap_or(0.0)),
            shown(operator.rows.actual.unwrap_or(0.0))
        );
        let share = nodes.consequences(at, |above| off[above]);
        all.extend(remark(Rule::Estimate, at, share, text));
    }
    all
}

/// Returns true when far more or fewer rows came than were estimated.
pub fn is_off(operator: &Operator) -> bool {
    let (Some(estimated), Some(actual)) = (operator.rows.estimated, operator.rows.actual) else {
        return false;
    };
    // A change returns no rows unless the statement asks for them.
    if operator.access == Some(Access::Change) {
        return false;
    }
    let was_run = operator.executions.is_none_or(|executions| executions > 0.0);
    let (low, high) = (estimated.min(actual).max(1.0), estimated.max(actual));
    was_run && high >= ROWS && high > OFF * low
}

/// Below an operator that needs only the first rows, fewer come than there are.
fn is_stopped_early(nodes: &Weights<'_>, at: usize) -> bool {
    let rows = nodes.operators[at].1.rows;
    let fewer = rows.actual < rows.estimated;
    fewer
        && nodes.above(at).any(|above| {
            let operator = nodes.operators[above].1;
            operator.kind == Kind::Limit || operator.detail.contains("Semi")
        })
}
