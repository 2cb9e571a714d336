//! The part of a trial before its measurement: the value that selects the rows, statistics, plans
//! and estimates.

use crate::ask::{Asker, Bound, Column, Reading};
use crate::estimates::errors;
use crate::facts::{
    ANALYZED, ANALYZED_PLANS, BY_FORMULAS, BY_PLANS, CHANGES_ESTIMATED, ESTIMATED,
    ESTIMATES as ESTIMATE_POINTS, FIRST_PLAN, FORCED, PLAN_CHANGES, PLAN_CROSSOVER, Q_ERRORS,
    REVERSALS, SELECTED, UNFORCED,
};
use crate::settings::{
    ALTERNATIVE, ANALYZES, ESTIMATES, EXTENDED, Queries, SAMPLE, SELECTIVITY, gathers, is_reached,
};
use crate::template::Template;
use crate::{by_plan, settings};
use engine::Optimizer;
use engine::optimizer::{Alternative, filled};
use observations::{Fact, QueryPlan, Response, Warning, WarningKind};
use probe::data::TABLE_ROWS;
use probe::{ProbeError, TrialContext};
use statistics::{mean, median};
use std::time::Instant;

/// The result of the preparation.
#[derive(Debug, Default)]
pub struct Prepared {
    /// The queries to run, with their names.
    pub queries: Vec<(String, String)>,
    /// Statements of the sessions that run them.
    pub session: Vec<String>,
    /// Facts of the trial.
    pub facts: Vec<Fact>,
    /// Responses that are known already.
    pub responses: Vec<Response>,
    /// Plans of the queries.
    pub plans: Vec<QueryPlan>,
    /// Observations that were not possible.
    pub warnings: Vec<Warning>,
}

/// A selectivity or an alternative that the data does not have.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// No value selects about this share.
    #[error(
        "workload.selectivity: no value of {column} selects {wanted} of {all} rows; the nearest \
         selects {nearest}"
    )]
    Unreachable {
        /// The column.
        column: String,
        /// Rows that should be selected.
        wanted: u64,
        /// Rows of the table.
        all: u64,
        /// Rows that are selected.
        nearest: u64,
    },
    /// An alternative needs an index.
    #[error("workload.alternative: no index of {table} begins with {column}; create one")]
    NoIndex {
        /// The table.
        table: String,
        /// The column.
        column: String,
    },
}

/// Name of the query of a template.
const QUERY: &str = "query";

/// Prepares the queries of a trial.
///
/// # Errors
/// When the engine refuses, or the data has no such selectivity.
pub fn prepare(
    context: &TrialContext<'_>,
    optimizer: &'static Optimizer,
    queries: Queries,
) -> Result<Prepared, ProbeError> {
    let configuration = context.configuration;
    let mut asker = Asker::open(context, optimizer)?;
    let mut prepared = Prepared::default();
    prepared.session.extend(optimizer.read_only.iter().map(|own| (*own).to_owned()));
    match queries {
        Queries::Template(template) => {
            let own = Varied { context, optimizer, template: &template };
            own.prepare(&mut asker, &mut prepared)?;
        }
        Queries::Whole(whole) => {
            asker.run_all(optimizer.read_only, &[])?;
            prepared.queries = whole;
        }
    }
    if configuration.get(ESTIMATES) {
        for (name, sql) in &prepared.queries {
            let plan = asker.analyzed(sql)?;
            let found = plan.as_ref().map(errors).unwrap_or_default();
            prepared.facts.extend(found.iter().map(|own| {
                let member = format!("{name}|{}|{}|{}", own.position, own.joins, own.operator);
                Q_ERRORS.record(&member, own.q_error)
            }));
            let worst = found.iter().map(|own| own.q_error).reduce(f64::max);
            if worst.is_none() {
                let detail = format!("q-errors of {name}: its plan has a limit or no counted rows");
                prepared.warnings.push(Warning { kind: WarningKind::NotObserved, detail });
            }
        }
        let all = prepared.facts.iter().filter(|own| own.name.starts_with(Q_ERRORS.prefix()));
        let worst = all.map(|own| own.value).reduce(f64::max);
        prepared.responses.extend(worst.map(|own| Response::lower("q_error_max", "x", own)));
    }
    Ok(prepared)
}

/// A template with all that its preparation needs.
struct Varied<'a> {
    context: &'a TrialContext<'a>,
    optimizer: &'static Optimizer,
    template: &'a Template,
}

impl Varied<'_> {
    fn prepare(&self, asker: &mut Asker<'_>, into: &mut Prepared) -> Result<(), ProbeError> {
        let configuration = self.context.configuration;
        let mut column = Column::count(asker, self.template)?;
        let bound = self.bound(asker, &mut column)?;
        into.facts.push(TABLE_ROWS.record(column.rows as f64));
        into.facts.push(SELECTED.record(bound.rows as f64));
        let chosen = self.template.query(&bound.value, "");
        self.statistics(asker, &chosen, into)?;
        asker.run_all(self.optimizer.read_only, &[])?;
        let reading = asker.reading(self.template, &chosen)?;
        into.facts.extend(reading.estimated.map(|rows| ESTIMATED.record(rows)));
        let name = configuration.get(ALTERNATIVE);
        let ran = if let Some(alternative) = self.optimizer.alternative(&name) {
            self.force(asker, alternative, &bound, into)?
        } else {
            into.queries.push((QUERY.to_owned(), chosen));
            self.crossover(asker, &mut column, into)?;
            reading
        };
        into.plans.push(QueryPlan::new(QUERY, ran.plan).estimated(ran.estimated, None));
        Ok(())
    }

    /// The value that selects the share of rows that is asked for.
    fn bound(&self, asker: &mut Asker<'_>, column: &mut Column<'_>) -> Result<Bound, ProbeError> {
        let wanted = self.context.configuration.get(SELECTIVITY) * column.rows as f64;
        let position = match settings::dials(self.context.configuration) {
            // Between two values the truth says which is nearer.
            Some(dials) => dials.truth().nearest(wanted.round() as u64),
            None => wanted.round() as u64,
        };
        let bound = column.bound(asker, position)?;
        if wanted < 1.0 || !is_reached(bound.rows, wanted) {
            return Err(ProbeError::study(PrepareError::Unreachable {
                column: self.template.written.clone(),
                wanted: wanted.round() as u64,
                all: column.rows,
                nearest: bound.rows,
            }));
        }
        Ok(bound)
    }

    /// Makes the sessions use an alternative, and finds out whether the plan then has it.
    fn force(
        &self,
        asker: &mut Asker<'_>,
        alternative: &'static Alternative,
        bound: &Bound,
        into: &mut Prepared,
    ) -> Result<Reading, ProbeError> {
        let index = asker.index(self.template)?;
        if index.is_none() && !alternative.is_scan {
            return Err(ProbeError::study(PrepareError::NoIndex {
                table: self.template.table.clone(),
                column: self.template.column.clone(),
            }));
        }
        let hint = filled(alternative.hint, &[("index", index.as_deref().unwrap_or_default())]);
        let sql = self.template.query(&bound.value, &hint);
        asker.run_all(alternative.session, &[])?;
        let reading = asker.reading(self.template, &sql)?;
        let is_forced = reading.operator.starts_with(alternative.operator);
        into.facts.push(FORCED.record(f64::from(u8::from(is_forced))));
        if !is_forced {
            let detail = format!(
                "the alternative {}: the engine still uses {}",
                alternative.name, reading.plan
            );
            into.warnings.push(Warning { kind: WarningKind::NotObserved, detail });
        }
        into.session.extend(alternative.session.iter().map(|own| (*own).to_owned()));
        into.queries.push((QUERY.to_owned(), sql));
        Ok(reading)
    }

    /// Finds the changes of the plan, and tests the documented formulas where there are any.
    fn crossover(
        &self,
        asker: &mut Asker<'_>,
        column: &mut Column<'_>,
        into: &mut Prepared,
    ) -> Result<(), ProbeError> {
        let found = by_plan::find(asker, self.template, column)?;
        into.facts.push(FIRST_PLAN.record(&found.first, 1.0));
        let unforced = self.optimizer.unforced.iter();
        into.facts.extend(unforced.map(|own| UNFORCED.record(own, 1.0)));
        for (number, change) in (1..).zip(&found.changes) {
            let member = format!("{number}: {} -> {}", change.from, change.to);
            let share = column.share(change.rows as f64);
            into.facts.push(PLAN_CHANGES.record(&member, share));
            let estimated = change.estimated.map(|rows| column.share(rows));
            into.facts.extend(estimated.map(|own| CHANGES_ESTIMATED.record(&member, own)));
        }
        if found.estimates > 1 {
            into.facts.push(REVERSALS.record(found.reversals as f64));
            into.facts.push(ESTIMATE_POINTS.record(found.estimates as f64));
        }
        let crossover = self.to_scan(&found, column);
        into.facts.extend(crossover.map(|share| PLAN_CROSSOVER.record(share)));
        let Some(formulas) = self.optimizer.formulas.filter(|_| self.template.tables == 1) else {
            return Ok(());
        };
        let names =
            [("table", self.template.table.as_str()), ("column", self.template.column.as_str())];
        let figures = asker.run(&filled(formulas.figures(), &names))?.last;
        let Some(now) = formulas.value(&figures) else { return Ok(()) };
        let other = formulas.other_value(now);
        asker.run(&formulas.set(other))?;
        let found = by_plan::find(asker, self.template, column)?;
        asker.run(&formulas.set(now))?;
        for (value, by_plans) in [(now, crossover), (other, self.to_scan(&found, column))] {
            let member = format!("{} = {value}", formulas.constant());
            let by_formulas = formulas.crossover_rows(&figures, value);
            let by_formulas = by_formulas.map(|rows| column.share(rows));
            into.facts.extend(by_formulas.map(|share| BY_FORMULAS.record(&member, share)));
            into.facts.extend(by_plans.map(|share| BY_PLANS.record(&member, share)));
        }
        Ok(())
    }

    /// The share of rows from which on a scan is chosen.
    fn to_scan(&self, found: &by_plan::Plans, column: &Column<'_>) -> Option<f64> {
        let scan = self.optimizer.alternatives.iter().find(|own| own.is_scan)?;
        let is_scan = |plan: &str| plan.split(" < ").any(|one| one.starts_with(scan.operator));
        let change = found.changes.iter().find(|own| !is_scan(&own.from) && is_scan(&own.to))?;
        Some(column.share(change.rows as f64))
    }

    /// Declares and gathers statistics, as often as asked, and notes what the optimizer makes of
    /// them.
    fn statistics(
        &self,
        asker: &mut Asker<'_>,
        sql: &str,
        into: &mut Prepared,
    ) -> Result<(), ProbeError> {
        let configuration = self.context.configuration;
        if !gathers(configuration) {
            return Ok(());
        }
        let sample = configuration.get(SAMPLE).map(|sample| sample.to_string());
        let columns = configuration.get(EXTENDED).join(", ");
        let names = [
            ("table", self.template.table.as_str()),
            ("columns", columns.as_str()),
            ("sample", sample.as_deref().unwrap_or_default()),
        ];
        let rules = &self.optimizer.statistics;
        if !columns.is_empty() {
            asker.run_all(rules.extended, &names)?;
        }
        if sample.is_some() {
            asker.run_all(rules.sample, &names)?;
        }
        let (mut times_ms, mut readings) = (Vec::new(), Vec::<Reading>::new());
        for _ in 0..configuration.get(ANALYZES).max(1) {
            let started = Instant::now();
            asker.run_all(rules.gather, &names)?;
            times_ms.push(started.elapsed().as_secs_f64() * 1e3);
            readings.push(asker.reading(self.template, sql)?);
        }
        into.responses.push(Response::lower("analyze_time", "ms", mean(&times_ms)));
        let mut estimates: Vec<f64> = readings.iter().filter_map(|own| own.estimated).collect();
        estimates.sort_by(f64::total_cmp);
        if let (Some(least), Some(middle), Some(most)) =
            (estimates.first(), median(&estimates), estimates.last())
        {
            for (member, rows) in [("min", *least), ("median", middle), ("max", *most)] {
                into.facts.push(ANALYZED.record(member, rows));
            }
        }
        let mut plans: Vec<&str> = readings.iter().map(|own| own.plan.as_str()).collect();
        plans.sort_unstable();
        into.facts.extend(
            plans.chunk_by(|one, other| one == other).map(|same| {
                ANALYZED_PLANS.record(same[0], same.len() as f64 / readings.len() as f64)
            }),
        );
        Ok(())
    }
}
