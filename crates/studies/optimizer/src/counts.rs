//! Rows that operators were counted to return, kept from trial to trial and from run to run: they
//! follow from the data and the plan, so that no query has to run for them twice.
//!
//! A file for each data set has them by query and plan. Without it they are counted again.

use crate::made::Tables;
use crate::settings::APPENDED;
use engine::cache;
use engine::setup::Setup;
use experiment::Configuration;
use inspection::plans::{Operator, Plan};
use observations::sha256;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::slice::Iter;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::UNIX_EPOCH;

/// The counts of a data set.
#[derive(Debug)]
pub struct Counts {
    /// `None`: nothing is kept, because the data is not known by a name.
    file: Option<PathBuf>,
}

/// An operator.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct RowCount {
    /// Rows that left it; `None`: the engine did not count them.
    rows: Option<f64>,
    /// The number of its executions, where the engine counts them.
    executions: Option<f64>,
    /// Executions by which the estimate of one has to be multiplied to be one of these rows.
    times: f64,
}

/// The operators of a query by the hash of its text and its plan, each outermost first.
type Operators = BTreeMap<String, Vec<RowCount>>;

/// Beginning of the names of the files.
const PREFIX: &str = "counts-";

/// Nanoseconds since 1970 when this process first asked: with its number, its name.
static STARTED: LazyLock<u128> =
    LazyLock::new(|| UNIX_EPOCH.elapsed().map_or(0, |since| since.as_nanos()));
/// The number of files that this process has begun to write.
static BEGUN: AtomicU32 = AtomicU32::new(0);

impl Counts {
    /// The counts of the data of a configuration. Rows that a trial appends make it another data
    /// set; existing tables may have changed since the last one.
    pub fn for_configuration(configuration: &Configuration) -> Self {
        let made = Tables::for_configuration(configuration);
        let identity = match (made, Setup::from_settings(configuration)) {
            _ if configuration.get(APPENDED) > 0.0 => None,
            (Some(set), _) => Some(set.identity()),
            // SQL may fill tables with random values: they are the same for this run alone.
            (None, Some(setup)) => {
                Some(format!("{} {} {}", std::process::id(), *STARTED, setup.identity()))
            }
            (None, None) => None,
        };
        let file = identity.and_then(|identity| {
            let folder = cache::folder().ok()?.join("optimizer");
            DirBuilder::new().recursive(true).mode(0o700).create(&folder).ok()?;
            Some(folder.join(format!("{PREFIX}{}", sha256([identity]))))
        });
        Self { file }
    }

    fn all(&self) -> Operators {
        let text = self.file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    /// A plan with its estimates as of now, and the rows that were counted; `None`: they are not
    /// known.
    pub fn counted(&self, sql: &str, explained: &Plan) -> Option<Plan> {
        let all = self.all();
        let known = all.get(&key(sql, explained))?;
        let mut plan = explained.clone();
        let mut each = known.iter();
        put(plan.root.as_mut()?, &mut each)?;
        self.file.iter().for_each(|file| cache::touch(file));
        Some(plan)
    }

    /// Keeps what the run of a query counted, if it ran by the plan that was explained.
    pub fn keep(&self, sql: &str, explained: &Plan, analyzed: &Plan) {
        let (Some(file), Some(counted)) = (&self.file, counted(explained, analyzed)) else {
            return;
        };
        let mut all = self.all();
        let folder = file.parent().filter(|_| all.is_empty());
        let entries = folder.map(|folder| cache::entries(folder, PREFIX, None)).unwrap_or_default();
        for old in cache::surplus(entries) {
            // One that another process has removed is gone as well.
            let _ = std::fs::remove_file(old);
        }
        all.insert(key(sql, explained), counted);
        let number = BEGUN.fetch_add(1, Ordering::Relaxed);
        let unfinished = file.with_extension(format!("new-{}-{number}", std::process::id()));
        // Counts that cannot be written are counted again.
        let written =
            serde_json::to_string(&all).is_ok_and(|text| std::fs::write(&unfinished, text).is_ok());
        if !written || std::fs::rename(&unfinished, file).is_err() {
            let _ = std::fs::remove_file(&unfinished);
        }
    }
}

/// The name of a query and its plan: every operator with its tables and conditions.
fn key(sql: &str, plan: &Plan) -> String {
    sha256([sql, "\n", signature(plan).as_str()])
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
        let folder = tempfile::tempdir().unwrap();
        let counts = Counts { file: Some(folder.path().join("counts-1")) };
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
        let other = Counts { file: Some(folder.path().join("counts-2")) };
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
