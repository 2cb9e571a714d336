//! A server's statements over many intervals: whose time or plan changed, and since when.

use crate::record::{self, StatementKey};
use analysis::change_points::change_points;
use analysis::compare::corrected;
use analysis::{Comparison, Scale, Verdict};
use observations::{CountedStatement, Direction, QueryInterval, order};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Smaller changes of time are not reported: they are not worth a search for their cause.
const FACTOR_MIN: f64 = 1.1;
/// Longer series are looked at in means of neighbours: the search takes some seconds for thousands
/// of values.
const POINTS_MAX: usize = 256;

/// The times of a server's statements, interval after interval.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StatementHistory {
    /// The server as it was named.
    pub address: String,
    /// Product and version, at the end.
    pub server: String,
    /// The intervals, oldest first.
    pub intervals: Vec<IntervalSeen>,
    /// The statements, the one that took most time first.
    pub statements: Vec<StatementSeries>,
    /// Plans, without estimates.
    pub plans: Vec<String>,
    /// The changes: first what became worse, of that what costs most.
    pub changes: Vec<StatementChange>,
    /// The work of runs is counted in pages; otherwise in rows that they read.
    #[serde(skip)]
    pub has_pages: bool,
    #[serde(skip)]
    places: HashMap<StatementKey, usize>,
    #[serde(skip)]
    hashes: HashMap<String, usize>,
}

/// An interval.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IntervalSeen {
    /// The number in the results file.
    pub id: i64,
    /// When it began, ms since 1970 UTC.
    pub from_ms: i64,
    /// When it ended.
    pub to_ms: i64,
    /// The number of times that the server evicted statements in it.
    pub evictions: Option<u64>,
    /// Notes on its figures.
    pub notes: Vec<String>,
}

/// A statement over time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct StatementSeries {
    /// The server's number of it.
    pub digest: String,
    /// Where it ran.
    pub database: String,
    /// The user who ran it.
    pub user: String,
    /// The text.
    pub text: String,
    /// The runs in all intervals.
    pub calls: u64,
    /// Their time, s.
    pub time_s: f64,
    /// The intervals in which it was one of those that are recorded.
    pub points: Vec<StatementPoint>,
}

/// A statement in an interval in which it ran.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatementPoint {
    /// Position of the interval.
    pub interval: usize,
    /// The runs.
    pub calls: u64,
    /// Their time, s.
    pub time_s: f64,
    /// Pages that they looked at; rows that they read where pages are not counted.
    pub work: Option<u64>,
    /// Number of its plan at the end of the interval; `None`: none was made.
    pub plan: Option<usize>,
    /// Waits of runs that were sampled in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waits: Vec<SampledWait>,
}

/// Samples in which runs of a statement waited for something.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SampledWait {
    /// The wait in the server's words; `CPU`: none.
    pub wait: String,
    /// Their number.
    pub samples: u64,
}

/// A change of a statement's time or plan.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StatementChange {
    /// Position of the statement.
    pub statement: usize,
    /// Position of the interval in which, or at the beginning of which, it changed.
    pub interval: usize,
    /// When that interval began, ms since 1970 UTC.
    pub since_ms: i64,
    /// The plans before and after; `None`: the plan is the same, or not known.
    pub plans: Option<(usize, usize)>,
    /// Mean of a run before and since, s.
    pub mean_s: (f64, f64),
    /// Pages (rows) of a run before and since.
    pub work: Option<(f64, f64)>,
    /// Waits of its runs before and since, the most frequent first; empty where none was sampled.
    pub waits: (Vec<SampledWait>, Vec<SampledWait>),
    /// The gain in time since; above 1 is better. Intervals count once each.
    pub comparison: Option<Comparison>,
    /// P-value of the search where the plan did not say when it changed.
    pub p_value: Option<f64>,
    /// The verdict on the time.
    pub verdict: Verdict,
}

impl StatementHistory {
    /// Adds the interval that follows.
    pub fn add(&mut self, interval: QueryInterval) {
        let at = self.intervals.len();
        (self.address, self.server) = (interval.address, interval.server);
        self.intervals.push(IntervalSeen {
            id: interval.id,
            from_ms: interval.from_ms,
            to_ms: interval.to_ms,
            evictions: interval.evictions,
            notes: interval.notes,
        });
        interval.statements.into_iter().for_each(|statement| self.add_statement(at, statement));
    }

    fn add_statement(&mut self, interval: usize, counted: CountedStatement) {
        let calls = counted.get("calls").unwrap_or(0);
        let time_s = counted.get("time_ns").unwrap_or(0) as f64 / 1e9;
        let pages = counted.get("shared_hit_blocks").zip(counted.get("shared_read_blocks"));
        self.has_pages |= pages.is_some();
        let pages = pages.map(|(hit, read)| hit.saturating_add(read));
        let work = pages.or_else(|| counted.get("rows_read"));
        let waits = counted.samples();
        let waits = waits.map(|(wait, samples)| SampledWait { wait: wait.to_owned(), samples });
        let waits = waits.collect();
        let key = record::key(&counted);
        let CountedStatement { digest, database, user, text, plan_hash, plan, .. } = counted;
        let plan = plan_hash.zip(plan).map(|(hash, text)| {
            *self.hashes.entry(hash).or_insert_with(|| {
                self.plans.push(text);
                self.plans.len() - 1
            })
        });
        let place = *self.places.entry(key).or_insert_with(|| {
            self.statements.push(StatementSeries {
                digest,
                database,
                user,
                text,
                ..StatementSeries::default()
            });
            self.statements.len() - 1
        });
        let series = &mut self.statements[place];
        series.calls = series.calls.saturating_add(calls);
        series.time_s += time_s;
        if calls > 0 {
            series.points.push(StatementPoint { interval, calls, time_s, work, plan, waits });
        }
    }

    /// Finds what changed, when all intervals were added.
    #[must_use]
    pub fn with_changes(self) -> Self {
        let mut history = self.with_plan_changes();
        let tests = history.statements.iter().map(|series| series.points.len()).sum();
        let numbered = history.statements.iter().enumerate();
        let of_time = numbered.flat_map(|(at, series)| series.time_changes(at, tests));
        let of_time: Vec<StatementChange> = of_time.collect();
        history.changes.extend(of_time);
        history.in_order()
    }

    /// Finds the changes of plans alone, when all intervals were added.
    #[must_use]
    pub fn with_plan_changes(mut self) -> Self {
        order::sort(&mut self.statements, &|a, b| {
            b.time_s.total_cmp(&a.time_s).then_with(|| a.digest.cmp(&b.digest))
        });
        let numbered = self.statements.iter().enumerate();
        self.changes = numbered.flat_map(|(at, series)| series.plan_changes(at)).collect();
        let comparisons = self.changes.iter().map(|change| change.comparison.clone()).collect();
        for (change, comparison) in self.changes.iter_mut().zip(corrected(comparisons)) {
            change.verdict = Verdict::judge(comparison.as_ref());
            change.comparison = comparison;
        }
        self.in_order()
    }

    /// Puts the changes in their order.
    fn in_order(mut self) -> Self {
        for change in &mut self.changes {
            change.since_ms = self.intervals[change.interval].from_ms;
        }
        let statements = &self.statements;
        let cost = |change: &StatementChange| {
            let (before, after) = change.mean_s;
            (after - before) * statements[change.statement].calls as f64
        };
        let urgency = |change: &StatementChange| match change.verdict {
            Verdict::Worse => 0,
            Verdict::Unknown => 1,
            Verdict::NotSeen => 2,
            _ => 3,
        };
        order::sort(&mut self.changes, &|a, b| {
            urgency(a).cmp(&urgency(b)).then(cost(b).total_cmp(&cost(a)))
        });
        self
    }

    /// Time between intervals that was not observed, s.
    pub fn unobserved_s(&self) -> f64 {
        let gaps =
            self.intervals.windows(2).map(|pair| pair[1].from_ms.saturating_sub(pair[0].to_ms));
        gaps.map(|ms| ms.max(0) as f64 / 1e3).sum()
    }
}

/// A change of plan: the last point that surely ran with the old
/// one, and the point at the end of which the new one was seen.
struct Cut {
    old: usize,
    new: usize,
}

impl StatementSeries {
    fn cuts(&self) -> Vec<Cut> {
        let mut known =
            self.points.iter().enumerate().filter_map(|(at, point)| Some((at, point.plan?)));
        let Some(mut last) = known.next() else { return Vec::new() };
        let mut cuts = Vec::new();
        for (at, plan) in known {
            if plan != last.1 {
                cuts.push(Cut { old: last.0, new: at });
            }
            last = (at, plan);
        }
        cuts
    }

    /// Stretches of points with one plan, as far as it is known.
    fn stretches(&self, cuts: &[Cut]) -> Vec<Range<usize>> {
        let starts = [0].into_iter().chain(cuts.iter().map(|cut| cut.new + 1));
        let ends = cuts.iter().map(|cut| cut.old + 1).chain([self.points.len()]);
        starts.zip(ends).map(|(start, end)| start.min(end)..end).collect()
    }

    fn plan_changes(&self, statement: usize) -> Vec<StatementChange> {
        let cuts = self.cuts();
        let stretches = self.stretches(&cuts);
        let change = |(cut, pair): (&Cut, &[Range<usize>])| {
            // What ran in the interval of the change may have run with either; it is all there is
            // at first.
            let after = if pair[1].is_empty() { cut.new..cut.new + 1 } else { pair[1].clone() };
            let before = if pair[0].is_empty() { cut.old..cut.old + 1 } else { pair[0].clone() };
            let plans = self.points[cut.old].plan.zip(self.points[cut.new].plan);
            StatementChange { plans, ..self.change(statement, cut.new, before, after) }
        };
        cuts.iter().zip(stretches.windows(2)).map(change).collect()
    }

    /// Changes of time without one of plan. All places of all statements are one family of `tests`
    /// tests (Bonferroni), so that of histories without a change at most 5 % name one.
    fn time_changes(&self, statement: usize, tests: usize) -> Vec<StatementChange> {
        let mut all = Vec::new();
        for stretch in self.stretches(&self.cuts()) {
            let means = means(&self.points[stretch.clone()]);
            let width = means.len().div_ceil(POINTS_MAX).max(1);
            let logarithms: Vec<f64> = means
                .chunks(width)
                .map(|few| few.iter().map(|mean| mean.ln()).sum::<f64>() / few.len() as f64)
                .collect();
            if logarithms.iter().any(|value| !value.is_finite()) {
                continue;
            }
            let found = change_points(&logarithms);
            let places = found.iter().map(|change| stretch.start + change.at * width);
            let edges = [stretch.start].into_iter().chain(places).chain([stretch.end]);
            let edges: Vec<usize> = edges.collect();
            for (change, edges) in found.iter().zip(edges.windows(3)) {
                let (before, after) = (edges[0]..edges[1], edges[1]..edges[2]);
                let changed = self.change(statement, edges[1], before, after);
                let Some(comparison) = &changed.comparison else { continue };
                let p = comparison.p_value.map_or(1.0, |p| p * tests as f64);
                let factor = comparison.value.max(1.0 / comparison.value);
                if comparison.scale == Scale::Ratio && p < 0.05 && factor >= FACTOR_MIN {
                    let verdict =
                        if comparison.is_better() { Verdict::Better } else { Verdict::Worse };
                    // The place was chosen for its difference, so that this test's own p-value
                    // would be too small.
                    let comparison = Some(Comparison { p_value: None, ..comparison.clone() });
                    all.push(StatementChange {
                        comparison,
                        p_value: Some(change.p_value),
                        verdict,
                        ..changed
                    });
                }
            }
        }
        all
    }

    fn change(
        &self,
        statement: usize,
        at: usize,
        before: Range<usize>,
        after: Range<usize>,
    ) -> StatementChange {
        let [before, after] = [before, after].map(|range| &self.points[range]);
        StatementChange {
            statement,
            interval: self.points[at].interval,
            since_ms: 0,
            plans: None,
            mean_s: (mean(before, |point| point.time_s), mean(after, |point| point.time_s)),
            work: self.points[at].work.map(|_| {
                let work = |point: &StatementPoint| point.work.unwrap_or(0) as f64;
                (mean(before, work), mean(after, work))
            }),
            waits: (waits(before), waits(after)),
            comparison: Comparison::unpaired(
                &means(before),
                &means(after),
                Direction::LowerIsBetter,
            ),
            p_value: None,
            verdict: Verdict::Unknown,
        }
    }
}

/// Sampled waits in intervals, the most frequent first.
fn waits(points: &[StatementPoint]) -> Vec<SampledWait> {
    let mut sums: BTreeMap<&str, u64> = BTreeMap::new();
    for wait in points.iter().flat_map(|point| &point.waits) {
        *sums.entry(&wait.wait).or_default() += wait.samples;
    }
    let all = sums.into_iter();
    let mut all: Vec<SampledWait> =
        all.map(|(wait, samples)| SampledWait { wait: wait.to_owned(), samples }).collect();
    order::by_key(&mut all, &|wait| Reverse(wait.samples));
    all
}

/// Mean of a value over the runs in intervals.
fn mean(points: &[StatementPoint], value: fn(&StatementPoint) -> f64) -> f64 {
    let calls: f64 = points.iter().map(|point| point.calls as f64).sum();
    points.iter().map(value).sum::<f64>() / calls
}

fn means(points: &[StatementPoint]) -> Vec<f64> {
    points.iter().map(StatementPoint::mean_s).collect()
}

impl StatementPoint {
    /// Mean time of a run, s.
    pub fn mean_s(&self) -> f64 {
        self.time_s / self.calls as f64
    }
}
