//! Rows that operators were counted to return, kept from trial to trial: they follow from the data
//! and the plan, so that no query has to run for them twice in a run.

use crate::made::MadeTables;
use crate::settings::APPENDED;
use engine::lock;
use engine::setup::Setup;
use experiment::Configuration;
use inspection::plans::{Operator, Plan};
use observations::sha256;
use std::collections::BTreeMap;
use std::slice::Iter;
use std::sync::Mutex;

/// The counts of a data set.
#[derive(Debug)]
pub struct Counts {
    /// Identity of the data; `None`: it is not known, and nothing is kept.
    data: Option<String>,
}

/// An operator.
#[derive(Debug, Clone, Copy, PartialEq)]
struct RowCount {
    /// Rows that left it; `None`: the engine did not count them.
    rows: Option<f64>,
    /// The number of its executions, where the engine counts them.
    executions: Option<f64>,
    /// Executions by which the estimate of one has to be multiplied to be one of these rows.
    times: f64,
}

/// Counts of the operators of a plan, by data, query and plan.
static COUNTED: Mutex<BTreeMap<String, Vec<RowCount>>> = Mutex::new(BTreeMap::new());

impl Counts {
    /// Returns the counts of a configuration's data.
    pub fn for_configuration(configuration: &Configuration) -> Self {
        let made = MadeTables::for_configuration(configuration).map(|made| made.identity);
        let data = made.or_else(|| Some(Setup::from_settings(configuration)?.identity()));
        Self { data: data.filter(|_| configuration.get(APPENDED) <= 0.0) }
    }

    fn key(&self, sql: &str, plan: &Plan) -> Option<String> {
        Some(sha256([self.data.as_ref()?, "\n", sql, "\n", signature(plan).as_str()]))
    }

    /// Returns an explained plan with the rows that were counted before; `None`: they were not.
    pub fn counted(&self, sql: &str, explained: &Plan) -> Option<Plan> {
        let known = lock(&COUNTED).get(&self.key(sql, explained)?)?.clone();
        let mut plan = explained.clone();
        put(plan.root.as_mut()?, &mut known.iter())?;
        Some(plan)
    }

    /// Keeps the rows of a plan that was explained and then counted.
    pub fn keep(&self, sql: &str, explained: &Plan, analyzed: &Plan) {
        if let Some((key, rows)) = self.key(sql, explained).zip(counted(explained, analyzed)) {
            lock(&COUNTED).insert(key, rows);
        }
    }
}

fn signature(plan: &Plan) -> String {
    let lines = plan.operators().into_iter().map(|(depth, operator)| {
        let objects = operator.objects.iter().map(|object| format!(" {object:?}"));
        let predicates = operator
            .predicates
            .iter()
            .map(|predicate| format!(" {:?} {}", predicate.role, predicate.text));
        let more: String = objects.chain(predicates).collect();
        format!("{depth} {} {} {:?}{more}\n", operator.name, operator.detail, operator.part)
    });
    lines.collect()
}

/// The rows of each operator. `None` where the query ran by another plan, or where its estimates
/// were multiplied by something else than the executions that were counted, which is not known
/// without a run.
fn counted(explained: &Plan, analyzed: &Plan) -> Option<Vec<RowCount>> {
    if signature(explained) != signature(analyzed) {
        return None;
    }
    let (before, after) = (explained.operators(), analyzed.operators());
    // A join may count as many rows as the executions of its inner input have.
    let executions: Vec<f64> =
        after.iter().filter_map(|(_, operator)| operator.executions).collect();
    let each = before.into_iter().zip(after).map(|((_, before), (_, after))| {
        let times = match (before.rows.estimated, after.rows.estimated) {
            (Some(estimate), Some(all)) if estimate > 0.0 => all / estimate,
            (estimate, all) if estimate == all => 1.0,
            _ => return None,
        };
        let mut known = executions.iter().chain(&[1.0]);
        let is_known = known.any(|factor| (times / factor - 1.0).abs() < 1e-9);
        let (rows, executions) = (after.rows.actual, after.executions);
        is_known.then_some(RowCount { rows, executions, times })
    });
    each.collect()
}

/// Puts counts into an operator and those below it, in the order of [`Plan::operators`].
fn put(operator: &mut Operator, each: &mut Iter<'_, RowCount>) -> Option<()> {
    let counted = each.next()?;
    operator.rows.estimated = operator.rows.estimated.map(|rows| rows * counted.times);
    operator.rows.actual = counted.rows;
    operator.executions = counted.executions;
    operator.inputs.iter_mut().try_for_each(|input| put(input, each))
}

#[cfg(test)]
mod tests {
    use super::{Counts, counted};
    use inspection::plans::{Kind, Operator, Plan, Rows};

    fn plan(name: &str, estimated: [f64; 2], ran: Option<([f64; 2], f64)>) -> Plan {
        let rows = |at: usize| Rows {
            estimated: Some(estimated[at]),
            actual: ran.map(|(actual, _)| actual[at]),
        };
        let inner = Operator {
            name: name.into(),
            kind: Kind::IndexSeek,
            rows: rows(1),
            executions: ran.map(|(_, loops)| loops),
            ..Operator::default()
        };
        let executions = ran.map(|_| 1.0);
        let (name, inputs) = ("Nested Loop".to_owned(), vec![inner]);
        let root = Operator { name, rows: rows(0), executions, inputs, ..Operator::default() };
        Plan { root: Some(root), ..Plan::default() }
    }

    #[test]
    fn counts_come_back_with_the_estimates_of_another_time() {
        let counts = Counts { data: Some("some".to_owned()) };
        let explained = plan("Index Scan", [50.0, 2.0], None);
        assert_eq!(counts.counted("q", &explained), None);
        // Twelve executions: an estimate of two rows for each is one of 24.
        let analyzed = plan("Index Scan", [50.0, 24.0], Some(([60.0, 61.0], 12.0)));
        counts.keep("q", &explained, &analyzed);
        // Statistics of another time expect three rows.
        let now = plan("Index Scan", [70.0, 3.0], None);
        let found = counts.counted("q", &now).unwrap();
        let rows: Vec<Rows> =
            found.operators().into_iter().map(|(_, operator)| operator.rows).collect();
        let expected = [(70.0, 60.0), (36.0, 61.0)];
        let pair = |(estimated, actual)| Rows { estimated: Some(estimated), actual: Some(actual) };
        assert_eq!(rows, expected.map(pair));
        // Another query, another plan, other data: nothing is known.
        assert_eq!(counts.counted("r", &now), None);
        assert_eq!(counts.counted("q", &plan("Seq Scan", [70.0, 3.0], None)), None);
        let other = Counts { data: Some("other".to_owned()) };
        assert_eq!(other.counted("q", &now), None);
    }

    #[test]
    fn a_run_by_another_plan_or_with_unknown_executions_is_not_kept() {
        let explained = plan("Index Scan", [50.0, 2.0], None);
        let other = plan("Seq Scan", [50.0, 24.0], Some(([60.0, 61.0], 12.0)));
        assert_eq!(counted(&explained, &other), None);
        let unknown = plan("Index Scan", [50.0, 20.0], Some(([60.0, 61.0], 12.0)));
        assert_eq!(counted(&explained, &unknown), None);
    }
}
