//! The part of a trial before its measurement: the value that selects the rows, statistics, plans
//! and estimates.

use crate::ask::{Asker, Bound, Column, Reading};
use crate::counts::Counts;
use crate::estimates::errors;
use crate::facts::{
    ANALYZED, ANALYZED_MEMBERS, ANALYZED_PLANS, BY_FORMULAS, BY_PLANS, CHANGES_ESTIMATED,
    CHOSEN_PARALLEL, COUNTED_QUERIES, DIAGRAM_AXES, DIAGRAM_COLUMNS, DIAGRAM_PLANS, DIAGRAM_ROWS,
    ESTIMATED, ESTIMATES as ESTIMATE_POINTS, FIRST_PLAN, FORCED, JOIN_FACTOR, PARALLEL_CHANGE,
    PARALLEL_FIRST, PLAN_CHANGES, PLAN_CROSSOVER, Q_ERRORS, REDUCED_ROWS, REVERSALS, SELECTED,
    SELECTED_SECOND, UNFORCED,
};
use crate::forcing::{self, Forced};
use crate::optimizer::{Alternative, Optimizer};
use crate::settings::{
    ALTERNATIVE, ANALYZES, ESTIMATES, EXTENDED, GRID, PARALLEL, PARALLEL_SIZE, Queries, SAMPLE,
    SAMPLING, SELECTIVITY, Sampling, gathers, is_reached, shares,
};
use crate::size_by_plan::Search;
use crate::template::Template;
use crate::{appended, by_plan, diagram, settings};
use observations::{Fact, QueryPlan, Response, Warning, WarningKind};
use probe::data::TABLE_ROWS;
use probe::{ProbeError, TrialContext};
use statistics::mean;
use std::time::Instant;
use work::sql::statement::filled;

/// The result of the preparation.
#[derive(Debug, Default)]
pub struct Preparation {
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
pub(crate) enum PrepareError {
    /// No value selects about this share.
    #[error(
        "{setting}: no value of {column} selects {target} of {all} rows; the nearest selects \
         {nearest}"
    )]
    Unreachable {
        /// Path of the share.
        setting: &'static str,
        /// The column.
        column: String,
        /// Rows that should be selected.
        target: u64,
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

/// The share of the sorted values that is at most this one, interpolated between neighbours.
fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share * sorted.len().checked_sub(1)? as f64;
    let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    Some(low + (high - low) * place.fract())
}

/// All rows of a table, where rows are chosen one by one.
const ALL_ROWS_PERCENT: u64 = 100;

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
) -> Result<Preparation, ProbeError> {
    let configuration = context.configuration;
    let mut asker = Asker::open(context, optimizer)?;
    let mut prepared = Preparation::default();
    prepared.session.extend(optimizer.read_only.iter().map(|statement| (*statement).to_owned()));
    match queries {
        Queries::Template(template) => {
            let preparation = Variation { context, optimizer, template: &template };
            preparation.prepare(&mut asker, &mut prepared)?;
        }
        Queries::Whole(whole) => {
            asker.run_all(optimizer.read_only, &[])?;
            let alternative = optimizer.alternative(&configuration.get(ALTERNATIVE));
            prepare_whole(&mut asker, alternative, whole, &mut prepared)?;
        }
    }
    if configuration.get(ESTIMATES) {
        let counts = Counts::for_configuration(configuration);
        compare_estimates(&mut asker, &counts, &mut prepared)?;
    }
    let partners = settings::dials(configuration).filter(|set| set.join_correlation.is_some());
    prepared.facts.extend(partners.map(|set| JOIN_FACTOR.record(set.join_factor())));
    Ok(prepared)
}

/// Prepares queries that do not vary; all of them by an alternative of the session.
fn prepare_whole(
    asker: &mut Asker<'_>,
    alternative: Option<&'static Alternative>,
    whole: Vec<(String, String)>,
    into: &mut Preparation,
) -> Result<(), ProbeError> {
    let session = alternative.map_or(&[][..], |alternative| alternative.session);
    asker.run_all(session, &[])?;
    into.session.extend(session.iter().map(|session| (*session).to_owned()));
    let mut unforced = Vec::new();
    for (name, sql) in &whole {
        let plan = asker.plan(sql)?;
        let reading = Reading::find(&plan, "");
        if alternative.is_some_and(|alternative| !is_kept_to(alternative, &reading)) {
            unforced.push(name.as_str());
        }
        let estimated = plan.root.as_ref().and_then(|root| root.rows.estimated);
        into.plans.push(QueryPlan::new(name, reading.plan).estimated(estimated, reading.cost));
    }
    if let Some(alternative) = alternative {
        into.facts.push(FORCED.record(f64::from(u8::from(unforced.is_empty()))));
        if !unforced.is_empty() {
            let queries = unforced.join(", ");
            let detail = format!("the alternative {} in {queries}", alternative.name);
            into.warnings.push(Warning { kind: WarningKind::NotObserved, detail });
        }
    }
    into.queries = whole;
    Ok(())
}

/// Returns whether a plan has what an alternative needs, and not what it avoids.
fn is_kept_to(alternative: &Alternative, reading: &Reading) -> bool {
    alternative.is_avoided(reading.names()) && alternative.is_needed(reading.names())
}

/// Compares the rows of the operators of each query, which runs once more unless these were counted
/// before.
fn compare_estimates(
    asker: &mut Asker<'_>,
    counts: &Counts,
    into: &mut Preparation,
) -> Result<(), ProbeError> {
    let mut counted = 0;
    for (name, sql) in &into.queries {
        // Some engines know their plan from a run alone.
        let explained = if asker.explains() { Some(asker.plan(sql)?) } else { None };
        let mut plan = explained.as_ref().and_then(|explained| counts.counted(sql, explained));
        if plan.is_none() {
            counted += 1;
            plan = asker.analyzed(sql)?;
            if let Some((explained, analyzed)) = explained.as_ref().zip(plan.as_ref()) {
                counts.keep(sql, explained, analyzed);
            }
        }
        let found = plan.as_ref().map(errors).unwrap_or_default();
        into.facts.extend(found.iter().map(|estimate| {
            let member =
                format!("{name}|{}|{}|{}", estimate.position, estimate.joins, estimate.operator);
            Q_ERRORS.record(&member, estimate.q_error)
        }));
        if found.is_empty() {
            let detail = format!("q-errors of {name}: its plan has a limit or no counted rows");
            into.warnings.push(Warning { kind: WarningKind::NotObserved, detail });
        }
    }
    into.facts.push(COUNTED_QUERIES.record(f64::from(counted)));
    let all = into.facts.iter().filter(|fact| fact.name.starts_with(Q_ERRORS.prefix()));
    let worst = all.map(|error| error.value).reduce(f64::max);
    into.responses.extend(worst.map(|error| Response::lower("q_error_max", "x", error)));
    Ok(())
}

/// A template with all that its preparation needs.
struct Variation<'a> {
    context: &'a TrialContext<'a>,
    optimizer: &'static Optimizer,
    template: &'a Template,
}

impl Variation<'_> {
    fn prepare(&self, asker: &mut Asker<'_>, into: &mut Preparation) -> Result<(), ProbeError> {
        let configuration = self.context.configuration;
        let mut first = Column::count(asker, &self.template.first)?;
        let second = self.template.second.as_ref();
        let mut second = second.map(|dial| Column::count(asker, dial)).transpose()?;
        let mut values = Vec::new();
        let columns = std::iter::once(&mut first).chain(&mut second);
        let shares = shares(configuration, self.template);
        for ((column, (path, share)), fact) in columns.zip(shares).zip([SELECTED, SELECTED_SECOND])
        {
            let bound = self.bound(asker, column, path, share)?;
            into.facts.push(fact.record(bound.rows as f64));
            values.push(bound.value);
        }
        into.facts.push(TABLE_ROWS.record(first.rows as f64));
        let values: Vec<&str> = values.iter().map(String::as_str).collect();
        let chosen = self.template.query(&values, "");
        self.statistics(asker, &chosen, into)?;
        let appended = appended::append(asker, configuration)?;
        into.facts.extend(appended.facts);
        into.responses.extend(appended.worst);
        self.parallel_size(asker, &chosen, first.rows, into)?;
        asker.run_all(self.optimizer.read_only, &[])?;
        self.count(asker, &chosen, into)?;
        let reading = asker.reading(self.template, &chosen)?;
        into.facts.extend(reading.estimated.map(|rows| ESTIMATED.record(rows)));
        let name = configuration.get(ALTERNATIVE);
        let ran = if let Some(alternative) = self.optimizer.alternative(&name) {
            self.force(asker, alternative, &values, into)?
        } else {
            into.queries.push((QUERY.to_owned(), chosen));
            let hints = forcing::hints(asker, self.optimizer, configuration)?;
            let unforced = hints.map_or(self.optimizer.unforced, |hint| hint.set.unforced);
            into.facts.extend(unforced.iter().map(|name| UNFORCED.record(name, 1.0)));
            let is_parallel = self.parallel_of(&reading.plan);
            let fact =
                is_parallel.map(|parallel| CHOSEN_PARALLEL.record(f64::from(u8::from(parallel))));
            into.facts.extend(fact);
            match &mut second {
                Some(second) => self.diagram(asker, [&mut first, second], into)?,
                None if configuration.get(PARALLEL_SIZE) => {}
                None => self.crossover(asker, &mut first, into)?,
            }
            reading
        };
        into.plans.push(QueryPlan::new(QUERY, ran.plan).estimated(ran.estimated, None));
        Ok(())
    }

    /// The value that selects the share of rows that is asked for.
    fn bound(
        &self,
        asker: &mut Asker<'_>,
        column: &mut Column<'_>,
        setting: &'static str,
        share: f64,
    ) -> Result<Bound, ProbeError> {
        let expected = share * column.rows as f64;
        let position = match settings::dials(self.context.configuration) {
            // Between two values the truth says which is nearer.
            Some(dials) => dials.truth().nearest(expected.round() as u64),
            None => expected.round() as u64,
        };
        let bound = column.bound(asker, position)?;
        if expected < 1.0 || !is_reached(bound.rows, expected) {
            return Err(ProbeError::study(PrepareError::Unreachable {
                setting,
                column: column.name.written.clone(),
                target: expected.round() as u64,
                all: column.rows,
                nearest: bound.rows,
            }));
        }
        Ok(bound)
    }

    /// Counts the rows of which the estimates after each gathering of statistics are.
    fn count(
        &self,
        asker: &mut Asker<'_>,
        sql: &str,
        into: &mut Preparation,
    ) -> Result<(), ProbeError> {
        if self.context.configuration.get(ANALYZES) > 0 {
            let plan = asker.analyzed(sql)?;
            let table = self.template.first.table_name();
            let counted = plan.and_then(|plan| Reading::find(&plan, table).counted);
            into.facts.extend(counted.map(|rows| ANALYZED.record("counted", rows)));
        }
        Ok(())
    }

    /// Explains a grid of both selectivities.
    fn diagram(
        &self,
        asker: &mut Asker<'_>,
        columns: [&mut Column<'_>; 2],
        into: &mut Preparation,
    ) -> Result<(), ProbeError> {
        let points = self.context.configuration.get(GRID);
        let found = diagram::explain(asker, self.template, columns, points)?;
        let axes = (1..).zip(self.template.varied());
        let axes = axes.map(|(side, axis)| {
            let member = format!("{side}: {}", axis.written);
            DIAGRAM_AXES.record(&member, f64::from(side))
        });
        into.facts.extend(axes);
        let columns = (1..).zip(&found.columns);
        let member = |number: usize| format!("{number:03}");
        into.facts
            .extend(columns.map(|(number, share)| DIAGRAM_COLUMNS.record(&member(number), *share)));
        let plans = found.plans.iter().zip(found.shares()).enumerate();
        into.facts.extend(plans.map(|(number, (plan, share))| {
            DIAGRAM_PLANS.record(&format!("{}: {plan}", diagram::sign(number)), share)
        }));
        let reduced = found.reduced(diagram::INCREASE_MAX);
        let all = [(DIAGRAM_ROWS, Some(&found.cells)), (REDUCED_ROWS, reduced.as_ref())];
        for (family, cells) in all {
            let signs = cells.map(|cells| found.signs(cells)).unwrap_or_default();
            let rows = (1..).zip(signs.iter().zip(&found.rows));
            into.facts.extend(rows.map(|(number, (signs, share))| {
                family.record(&format!("{}: {signs}", member(number)), *share)
            }));
        }
        Ok(())
    }

    /// Makes the sessions use an alternative, and finds out whether the plan then has it.
    fn force(
        &self,
        asker: &mut Asker<'_>,
        alternative: &'static Alternative,
        values: &[&str],
        into: &mut Preparation,
    ) -> Result<Reading, ProbeError> {
        let column = &self.template.first;
        let index = asker.index(column)?;
        let configuration = self.context.configuration;
        let forced = Forced::find(asker, self.optimizer, configuration, alternative)?;
        if index.is_none() && alternative.needs_index() {
            return Err(ProbeError::study(PrepareError::NoIndex {
                table: column.table.clone(),
                column: column.column.clone(),
            }));
        }
        let Forced { alternative, session, .. } = &forced;
        let names =
            [("index", index.as_deref().unwrap_or_default()), ("alias", column.alias.as_str())];
        let [begin, hint] =
            [alternative.begin, alternative.hint].map(|template| filled(template, &names));
        let sql = format!("{begin}{}{}", self.template.query(values, &hint), alternative.end);
        session.iter().try_for_each(|session| asker.run(session).map(drop))?;
        let reading = asker.reading(self.template, &sql)?;
        let is_forced = alternative.has(&reading.operator) && is_kept_to(alternative, &reading);
        into.facts.push(FORCED.record(f64::from(u8::from(is_forced))));
        if !is_forced {
            let detail = format!(
                "the alternative {}: the engine still uses {}",
                alternative.name, reading.plan
            );
            into.warnings.push(Warning { kind: WarningKind::NotObserved, detail });
        }
        into.facts.push(forced.fact());
        into.session.extend(forced.session);
        into.queries.push((QUERY.to_owned(), sql));
        Ok(reading)
    }

    /// Finds the changes of the plan, and tests the documented formulas where there are any.
    fn crossover(
        &self,
        asker: &mut Asker<'_>,
        column: &mut Column<'_>,
        into: &mut Preparation,
    ) -> Result<(), ProbeError> {
        let found = by_plan::find(asker, self.template, column)?;
        into.facts.push(FIRST_PLAN.record(&found.first, 1.0));
        for (number, change) in (1..).zip(&found.changes) {
            let member = format!("{number}: {} -> {}", change.from, change.to);
            let share = column.share(change.rows as f64);
            into.facts.push(PLAN_CHANGES.record(&member, share));
            let estimated = change.estimated.map(|rows| column.share(rows));
            into.facts.extend(estimated.map(|rows| CHANGES_ESTIMATED.record(&member, rows)));
        }
        if found.estimates > 1 {
            into.facts.push(REVERSALS.record(found.reversals as f64));
            into.facts.push(ESTIMATE_POINTS.record(found.estimates as f64));
        }
        into.facts.extend(self.parallel(&found, column));
        let crossover = self.to_scan(&found, column);
        into.facts.extend(crossover.map(|share| PLAN_CROSSOVER.record(share)));
        let Some(formulas) = self.optimizer.formulas.filter(|_| self.template.tables == 1) else {
            return Ok(());
        };
        let names =
            [("table", column.name.table.as_str()), ("column", column.name.column.as_str())];
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

    /// Returns whether a plan is parallel; `None` of an engine whose plans do not say so.
    fn parallel_of(&self, plan: &str) -> Option<bool> {
        let parallel = self.optimizer.alternative(PARALLEL);
        let parallel = parallel.filter(|parallel| !parallel.needed.is_empty())?;
        Some(parallel.is_needed(plan.split(" < ")))
    }

    /// Searches for the size of the table from which on plans are parallel, if this one is.
    fn parallel_size(
        &self,
        asker: &mut Asker<'_>,
        sql: &str,
        rows: u64,
        into: &mut Preparation,
    ) -> Result<(), ProbeError> {
        let configuration = self.context.configuration;
        let is_wanted = configuration.get(PARALLEL_SIZE)
            && self.optimizer.alternative(&configuration.get(ALTERNATIVE)).is_none();
        let Some(prefix) = self.optimizer.prefix.filter(|_| is_wanted) else { return Ok(()) };
        let reading = asker.reading(self.template, sql)?;
        let is_parallel = |plan: &str| self.parallel_of(plan) == Some(true);
        if is_parallel(&reading.plan) {
            let search = Search {
                prefix,
                configuration,
                template: self.template,
                share: configuration.get(SELECTIVITY),
                rows,
                is_parallel: &is_parallel,
            };
            into.facts.extend(search.find(asker)?);
        }
        Ok(())
    }

    /// Where the plan turns parallel, of an engine whose plans say so.
    fn parallel(&self, found: &by_plan::Plans, column: &Column<'_>) -> Vec<Fact> {
        let Some(first) = self.parallel_of(&found.first) else { return Vec::new() };
        let change = found
            .changes
            .iter()
            .find(|change| self.parallel_of(&change.to).is_some_and(|to| to != first));
        let change = change.map(|change| PARALLEL_CHANGE.record(column.share(change.rows as f64)));
        std::iter::once(PARALLEL_FIRST.record(f64::from(u8::from(first)))).chain(change).collect()
    }

    /// The share of rows from which on a scan is chosen.
    fn to_scan(&self, found: &by_plan::Plans, column: &Column<'_>) -> Option<f64> {
        let scan = self.optimizer.alternatives.iter().find(|alternative| alternative.is_scan)?;
        let is_scan = |plan: &str| plan.split(" < ").any(|part| scan.has(part));
        let change =
            found.changes.iter().find(|change| !is_scan(&change.from) && is_scan(&change.to))?;
        Some(column.share(change.rows as f64))
    }

    /// Declares and gathers statistics, as often as asked, and notes what the optimizer makes of
    /// them.
    fn statistics(
        &self,
        asker: &mut Asker<'_>,
        sql: &str,
        into: &mut Preparation,
    ) -> Result<(), ProbeError> {
        let configuration = self.context.configuration;
        if !gathers(configuration) {
            return Ok(());
        }
        let rules = &self.optimizer.statistics;
        let is_by_rows = configuration.get(SAMPLING) == Sampling::Rows;
        let share = is_by_rows.then_some(ALL_ROWS_PERCENT);
        let sample = configuration.get(SAMPLE).or(share).map(|sample| sample.to_string());
        let columns = configuration.get(EXTENDED).join(", ");
        let names = [
            ("table", self.template.first.table.as_str()),
            ("columns", columns.as_str()),
            ("sample", sample.as_deref().unwrap_or_default()),
        ];
        if !columns.is_empty() {
            asker.run_all(rules.extended, &names)?;
        }
        if sample.is_some() && !is_by_rows {
            asker.run_all(rules.sample, &names)?;
        }
        let gather = if is_by_rows { rules.by_rows } else { rules.gather };
        let (mut times_ms, mut readings) = (Vec::new(), Vec::<Reading>::new());
        for _ in 0..configuration.get(ANALYZES).max(1) {
            let started = Instant::now();
            asker.run_all(gather, &names)?;
            times_ms.push(started.elapsed().as_secs_f64() * 1e3);
            readings.push(asker.reading(self.template, sql)?);
        }
        into.responses.push(Response::lower("analyze_time", "ms", mean(&times_ms)));
        let mut estimates: Vec<f64> =
            readings.iter().filter_map(|reading| reading.estimated).collect();
        estimates.sort_by(f64::total_cmp);
        for (member, share) in ANALYZED_MEMBERS {
            let rows = quantile(&estimates, share);
            into.facts.extend(rows.map(|rows| ANALYZED.record(member, rows)));
        }
        let mut plans: Vec<&str> = readings.iter().map(|reading| reading.plan.as_str()).collect();
        plans.sort_unstable();
        into.facts.extend(
            plans.chunk_by(|plan, other| plan == other).map(|same| {
                ANALYZED_PLANS.record(same[0], same.len() as f64 / readings.len() as f64)
            }),
        );
        Ok(())
    }
}
