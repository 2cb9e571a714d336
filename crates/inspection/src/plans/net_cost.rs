//! The share of each operator in the cost and time of its plan.

use crate::plans::{Operator, Plan, RunCost};
use serde::Serialize;

/// Cost and time of an operator without its inputs. Those of all operators add up to those of the
/// root.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct NetCost {
    /// In the engine's unit; `None` where the plan has no costs.
    pub cost: Option<f64>,
    /// ms; `None` of an operator that was not timed.
    pub ms: Option<f64>,
}

impl Plan {
    /// The figures of each operator of [`Plan::operators`] without its inputs.
    ///
    /// Inputs can be larger than the operator that reads them: under a `Limit` that stops early,
    /// or where the mean of many short runs was rounded. They are then reduced in proportion, with
    /// all that is below them.
    pub fn net_costs(&self) -> Vec<NetCost> {
        let mut all = Vec::new();
        let mut next: Vec<(&Operator, Factors)> =
            self.root.iter().map(|root| (root, Factors { cost: 1.0, ms: 1.0 })).collect();
        while let Some((operator, factors)) = next.pop() {
            let inputs = || operator.inputs.iter();
            let costs = Division::new(operator.cost, inputs().filter_map(|input| input.cost).sum());
            let waited = operator.started_ms + inputs().filter_map(as_input).sum::<f64>();
            let times = Division::new(operator.time(), waited);
            all.push(NetCost {
                cost: costs.net.map(|cost| cost * factors.cost),
                ms: times.net.filter(|_| operator.elapsed_ms.is_some()).map(|ms| ms * factors.ms),
            });
            next.extend(inputs().rev().map(|input| {
                let part = input.charged_ms.map(|charged| match input.time() {
                    Some(ms) if ms > 0.0 => charged / ms,
                    _ => 1.0,
                });
                let ms = part.unwrap_or(factors.ms * times.inputs);
                (input, Factors { cost: factors.cost * costs.inputs, ms })
            }));
        }
        all
    }
}

/// Costs that are not divided by resource, as a part of all, up to which the rest speaks for a
/// plan: costs in plans are rounded.
const UNDIVIDED_MAX: f64 = 0.01;

impl Plan {
    /// The part of its cost that is CPU cost, from 0 to 1: the own cost of each operator divided
    /// as the cost of one run of it. `None` where the plan does not divide costs.
    pub fn cpu_share(&self) -> Option<f64> {
        let (mut cpu, mut divided, mut all) = (0.0, 0.0, 0.0);
        for ((_, operator), share_of_operator) in self.operators().into_iter().zip(self.net_costs())
        {
            let cost = share_of_operator.cost.unwrap_or(0.0);
            all += cost;
            if let Some(share) = operator.run_cost.and_then(RunCost::cpu_share) {
                cpu += cost * share;
                divided += cost;
            }
        }
        (divided > 0.0 && divided >= (1.0 - UNDIVIDED_MAX) * all).then(|| cpu / divided)
    }
}

/// By which the figures of an operator and of all below it are reduced.
struct Factors {
    cost: f64,
    ms: f64,
}

/// A figure divided between an operator and its inputs.
struct Division {
    net: Option<f64>,
    /// The part of their figures that the inputs have in this one.
    inputs: f64,
}

impl Division {
    fn new(whole: Option<f64>, inputs: f64) -> Self {
        let Some(whole) = whole else { return Self { net: None, inputs: 1.0 } };
        let factor = if inputs > whole { whole / inputs } else { 1.0 };
        Self { net: Some((whole - inputs).max(0.0)), inputs: factor }
    }
}

impl Operator {
    /// Time with all inputs, ms. An operator that was not timed has that of its inputs: SQL Server
    /// does not time the computation of columns.
    pub fn time(&self) -> Option<f64> {
        self.elapsed_ms.or_else(|| self.inputs.iter().filter_map(as_input).reduce(|a, b| a + b))
    }
}

/// The time that an operator has in that of the one that reads it.
fn as_input(operator: &Operator) -> Option<f64> {
    if operator.charged_ms.is_some() { None } else { operator.time() }
}

#[cfg(test)]
mod tests {
    use crate::plans::{Operator, Plan, RunCost};

    fn operator(cost: f64, ms: Option<f64>, inputs: Vec<Operator>) -> Operator {
        Operator { cost: Some(cost), elapsed_ms: ms, inputs, ..Operator::default() }
    }

    fn sums(root: Operator) -> (Vec<Option<f64>>, Vec<Option<f64>>) {
        let plan = Plan { root: Some(root), ..Plan::default() };
        plan.net_costs().into_iter().map(|share| (share.cost, share.ms)).unzip()
    }

    #[test]
    fn inputs_of_a_limit_are_reduced_to_what_it_reads() {
        let scan = operator(1000.0, Some(4.0), Vec::new());
        let sort = operator(1500.0, Some(6.0), vec![scan]);
        let (costs, times) = sums(operator(3.0, Some(6.0), vec![sort]));
        assert_eq!(costs, [Some(0.0), Some(1.0), Some(2.0)], "a third of 1,500 is the sort");
        assert_eq!(times, [Some(0.0), Some(2.0), Some(4.0)]);
    }

    #[test]
    fn an_operator_without_time_passes_on_that_of_its_inputs() {
        let scan = operator(1.0, Some(26_364.0), Vec::new());
        let (_, times) = sums(operator(3.0, Some(26_412.0), vec![operator(2.0, None, vec![scan])]));
        assert_eq!(times, [Some(48.0), None, Some(26_364.0)]);
    }

    #[test]
    fn a_part_that_another_operator_started_counts_once() {
        let part = Operator { charged_ms: Some(40.0), ..operator(5.0, Some(40.0), Vec::new()) };
        let reader = Operator { started_ms: 40.0, ..operator(2.0, Some(45.0), Vec::new()) };
        let (costs, times) = sums(operator(10.0, Some(50.0), vec![part, reader]));
        assert!((costs.iter().flatten().sum::<f64>() - 10.0).abs() < 1e-9);
        assert_eq!(times, [Some(5.0), Some(40.0), Some(5.0)]);
    }
    #[test]
    fn cpu_cost_is_a_part_of_each_own_cost() {
        let run_cost = |cpu, io| Some(RunCost { cpu, io });
        // Of 8, read in several runs, a quarter is CPU; of 2 all of it.
        let seek = Operator { run_cost: run_cost(0.5, 1.5), ..operator(8.0, None, Vec::new()) };
        let sort = Operator { run_cost: run_cost(2.0, 0.0), ..operator(10.0, None, vec![seek]) };
        let share = |root| Plan { root: Some(root), ..Plan::default() }.cpu_share();
        assert_eq!(share(sort.clone()), Some(0.4));
        let rounded = operator(10.05, None, vec![sort.clone()]);
        assert_eq!(share(rounded), Some(0.4), "what is not divided is rounding");
        assert_eq!(share(operator(11.0, None, vec![sort])), None);
        assert_eq!(share(operator(11.0, None, Vec::new())), None);
    }
}
