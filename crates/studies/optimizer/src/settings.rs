//! The settings of the study, and objections to them before anything runs.

use crate::dials::{Dials, ROWS_MAX};
use crate::engines::for_engine;
use crate::optimizer::Optimizer;
use crate::template::Template;
use engine::Ability;
use engine::setup::Setup;
use experiment::common::{ENGINE, PROBE};
use experiment::{Configuration, Invalid, Kind, choice, settings};
use observations::number;
use probe::Target;
use probe::data::{DEGREE, no_parallelism};
use probe::load::{QUERY_LIMIT, WARMUP, no_time_limit, no_warmup_of_cold};
use std::collections::BTreeMap;

choice! {
    /// The tables of the queries.
    pub enum Data {
        /// A table whose columns depend on each other as the dials say.
        Dials = "dials",
        /// Tables of TPC-H, whose columns are nearly independent.
        Tpch = "tpch",
        /// Tables of TPC-DS.
        Tpcds = "tpcds",
        /// Your tables, by target.setup or already in the database.
        Existing = "own",
    }
}

choice! {
    /// How rows are chosen for statistics.
    pub enum Sampling {
        /// As the engine does it.
        Default = "default",
        /// One by one.
        Rows = "rows",
    }
}

choice! {
    /// The way by which an alternative is forced.
    pub enum Forcing {
        /// By hints of an extension where the server has it, otherwise as the engine can.
        Automatic = "automatic",
        /// By hints of an extension.
        Hints = "hints",
        /// By settings of the session, where the engine has no hints of its own.
        Settings = "settings",
    }
}

settings! {
    pub const SETTINGS = [DEGREE, WARMUP, QUERY_LIMIT];
    /// Query template: `COLUMN :varies` becomes `COLUMN <= VALUE`, whose value selects
    /// workload.selectivity of the rows. With a second one, trials make a plan diagram.
    pub QUERY: String = "workload.query", Kind::Text,
        "SELECT count(*), max(c) FROM dials WHERE a :varies" => @Trial;
    /// Files of SQL with one query each, or folders of them (*.sql): their estimates are compared
    /// with the rows counted. Gives no crossover; conflicts with workload.query.
    pub FILES: Vec<String> = "workload.files", Kind::TextList => @Files;
    /// Share of the table's rows that the varied predicate selects.
    pub SELECTIVITY: f64 = "workload.selectivity", Kind::Share, "1%";
    /// Share of its table's rows that the second varied predicate selects. Default: the share of
    /// the first one.
    pub SECOND_SELECTIVITY: Option<f64> = "workload.second_selectivity", Kind::Share;
    /// Points of a plan diagram on each side, from one row to all rows.
    pub GRID: u64 = "workload.grid", Kind::Count { min: 2, max: 100 }, "12";
    /// The plan: chosen (by the optimizer), or an alternative that the engine can be made to use:
    /// scan, index, and others of the engine, such as bitmap and no-hashjoin on PostgreSQL.
    pub ALTERNATIVE: String = "workload.alternative", Kind::Text, "chosen" => @Trial;
    /// How PostgreSQL is made to use an alternative: automatic (hints of pg_hint_plan where the
    /// server has it, otherwise settings), hints, or settings (enable_*).
    pub FORCING: Forcing = "workload.forcing", Forcing::KIND, "automatic";
    /// Find the number of rows from which on the plan is parallel, in place of changes over the
    /// selectivity: the query is explained on copies of the first rows of the table dials, in
    /// transactions that are rolled back (PostgreSQL). Give sizes to run by workload.rows.
    pub PARALLEL_SIZE: bool = "workload.parallel_size", Kind::Bool, "false";
    /// Executions of each query in a trial (default 5).
    pub RUNS: Option<u64> =
        "workload.runs", Kind::Count { min: 1, max: 1_000_000 } => Measurement;
    /// Compare the optimizer's rows with the rows counted, for each operator: each query runs once
    /// more before the measurement, under the engine's EXPLAIN ANALYZE.
    pub ESTIMATES: bool = "workload.estimates", Kind::Bool, "false";
    /// The number of times that statistics are gathered again before the measurement: the
    /// distribution of the estimate, the share of other plans, the time that it takes.
    pub ANALYZES: u64 = "workload.analyzes", Kind::Count { min: 0, max: 10_000 }, "0";
    /// Size of the sample for statistics, in the unit of the engine (PostgreSQL: statistics target;
    /// MariaDB: pages; SQLite: rows). Statistics are gathered again with it.
    pub SAMPLE: Option<u64> = "workload.sample", Kind::Count { min: 1, max: 10_000_000 };
    /// How rows are chosen for statistics: default (as the engine does), or rows (one by one:
    /// MariaDB's engine-independent statistics; workload.sample is then their share in percent).
    pub SAMPLING: Sampling = "workload.sampling", Sampling::KIND, "default";
    /// Columns of the table for which statistics of several columns are declared, where the engine
    /// has them. Statistics are gathered again.
    pub EXTENDED: Vec<String> = "workload.extended_statistics", Kind::TextList => @Trial;
    /// Share of the rows of the table dials that is appended after statistics were gathered, with
    /// new, rising values of a and c: what the optimizer expects of them.
    pub APPENDED: f64 = "workload.appended", Kind::Share, "0%";
    /// Tables: dials (columns that depend on each other as the settings below say), tpch, tpcds, or
    /// own (yours).
    pub DATA: Data = "workload.data", Data::KIND, "dials" => DataIdentity;
    /// Scale factor of TPC-H (1: 6 million rows of LINEITEM) and TPC-DS (1: 2.9 million sales in
    /// shops).
    pub SCALE: f64 =
        "workload.scale", Kind::Number { min: 0.001, max: 100_000.0 }, "0.01" => DataIdentity;
    /// Rows of the table dials.
    pub ROWS: u64 =
        "workload.rows", Kind::Count { min: 10, max: ROWS_MAX as i64 }, "100k" => DataIdentity;
    /// Approximate rows per page of the table dials.
    pub ROWS_PER_PAGE: u16 =
        "workload.rows_per_page", Kind::Count { min: 1, max: 2_000 }, "50" => DataIdentity;
    /// Distinct values of its columns a, b and c. Default: one for each row.
    pub DISTINCT: Option<u64> =
        "workload.distinct", Kind::Count { min: 1, max: ROWS_MAX as i64 } => DataIdentity;
    /// Exponent of the zipf law of its values; 0: all equally often.
    pub ZIPF: f64 = "workload.zipf", Kind::Number { min: 0.0, max: 10.0 }, "0" => DataIdentity;
    /// Share of rows in which b equals a; 100%: b depends on a.
    pub CORRELATION: f64 = "workload.correlation", Kind::Share, "0%" => DataIdentity;
    /// Adds a table partners, one of which each row of dials has: the share of rows whose partner
    /// has the same value (partners.value) as a. 0%: both are independent.
    pub JOIN_CORRELATION: Option<f64> = "workload.join_correlation", Kind::Share => DataIdentity;
    /// Share of rows that are in the order of a; the others are anywhere in the table.
    pub CLUSTERING: f64 = "workload.clustering", Kind::Share, "0%" => DataIdentity;
    /// Seed of the random orders of the table dials.
    pub DATA_SEED: u64 =
        "workload.data_seed", Kind::Count { min: 0, max: i64::MAX }, "1" => DataIdentity;
}

/// Executions of each query where the file does not say.
pub(crate) const RUNS_DEFAULT: u64 = 5;

/// The optimizer's own choice of a plan.
pub(crate) const CHOSEN: &str = "chosen";

/// The alternative that runs a query by several processes or threads.
pub const PARALLEL: &str = "parallel";
/// The alternative that runs it by one.
pub const SERIAL: &str = "serial";

/// A share of the table that a predicate may miss by, relative to what was asked for.
const SHARE_ERROR_MAX: f64 = 0.1;

/// The queries of a trial.
#[derive(Debug, Clone, PartialEq)]
pub enum Queries {
    /// A template, at one selectivity.
    Template(Template),
    /// Whole queries with the names of their files.
    Whole(Vec<(String, String)>),
}

/// The table dials of a configuration; `None` for other tables.
pub fn dials(configuration: &Configuration) -> Option<Dials> {
    let rows = configuration.get(ROWS);
    (configuration.get(DATA) == Data::Dials).then(|| Dials {
        rows,
        rows_per_page: configuration.get(ROWS_PER_PAGE),
        distinct: configuration.get(DISTINCT).unwrap_or(rows).min(rows),
        zipf: configuration.get(ZIPF),
        correlation: configuration.get(CORRELATION),
        join_correlation: configuration.get(JOIN_CORRELATION),
        clustering: configuration.get(CLUSTERING),
        seed: configuration.get(DATA_SEED),
    })
}

/// The queries of a configuration.
///
/// # Errors
/// When one is not a query, or the template is not one.
pub fn queries(configuration: &Configuration) -> Result<Queries, Invalid> {
    let files = configuration.get(FILES);
    if files.is_empty() {
        return Template::parse(&configuration.get(QUERY))
            .map(Queries::Template)
            .map_err(|error| Invalid::new(QUERY.path(), error.to_string()));
    }
    let whole = configuration.files_of(FILES.path()).map(|file| {
        let text = work::sql::query(&file.content)
            .map_err(|error| Invalid::new(FILES.path(), format!("{} {error}", file.path)))?;
        Ok((file.path.clone(), text.to_owned()))
    });
    whole.collect::<Result<_, _>>().map(Queries::Whole)
}

/// Objections to a configuration on a target.
pub fn objections(configuration: &Configuration, target: &Target) -> Vec<Invalid> {
    let has_statements = target.abilities.contains(&Ability::Statements);
    let known = for_engine(&configuration.get(ENGINE)).filter(|_| has_statements);
    let Some(optimizer) = known else {
        let message = "this engine's plans cannot be explained in a session; use another engine";
        return vec![Invalid::new(PROBE.path(), message)];
    };
    let mut invalid = Vec::new();
    invalid.extend(no_warmup_of_cold(configuration, target, WARMUP));
    match queries(configuration) {
        Ok(Queries::Template(template)) => {
            invalid.extend(unreachable(configuration, &template));
            if template.second.is_none() && configuration.get(SECOND_SELECTIVITY).is_some() {
                let message = "workload.query varies one predicate; remove it";
                invalid.push(Invalid::new(SECOND_SELECTIVITY.path(), message));
            }
        }
        Ok(Queries::Whole(_)) => {
            // A setting that is not in the file has its default.
            if configuration.get(QUERY) != QUERY.value_in(&BTreeMap::new()) {
                let message = "conflicts with workload.files; remove one of them";
                invalid.push(Invalid::new(QUERY.path(), message));
            }
            let alternative = optimizer.alternative(&configuration.get(ALTERNATIVE));
            if alternative.is_some_and(|alternative| !alternative.is_of_session()) {
                let message = "this alternative is a hint in workload.query; remove it";
                invalid.push(Invalid::new(ALTERNATIVE.path(), message));
            }
            if configuration.get(FORCING) == Forcing::Hints {
                let message = "hints are for the table of `:varies` in workload.query; remove it";
                invalid.push(Invalid::new(FORCING.path(), message));
            }
        }
        Err(error) => invalid.push(error),
    }
    invalid.extend(unknown_alternative(configuration, optimizer));
    invalid.extend(no_parallelism(configuration, target));
    invalid.extend(no_time_limit(configuration, target, QUERY_LIMIT));
    if configuration.get(APPENDED) > 0.0 && dials(configuration).is_none() {
        let message = "only the table dials is appended to; remove it";
        invalid.push(Invalid::new(APPENDED.path(), message));
    }
    invalid.extend(too_many_partners(configuration));
    invalid.extend(no_parallel_size(configuration, optimizer));
    if gathers(configuration) && is_in_place(configuration) {
        let message = "would change the statistics of your tables; give them by target.setup, so \
                       that trials work on a copy";
        invalid.push(Invalid::new(DATA.path(), message));
    }
    let lacks = [
        (configuration.get(ALTERNATIVE) == PARALLEL && configuration.get(DEGREE) == Some(1))
            .then_some((ALTERNATIVE.path(), "workload.degree = 1 permits no parallel plan")),
        (configuration.get(FORCING) != Forcing::Automatic && optimizer.hints.is_none())
            .then_some((FORCING.path(), "this engine forces alternatives in one way only")),
        (configuration.get(ESTIMATES) && optimizer.analyze.is_empty())
            .then_some((ESTIMATES.path(), "this engine does not count the rows of operators")),
        (configuration.get(SAMPLE).is_some() && optimizer.statistics.sample.is_empty())
            .then_some((SAMPLE.path(), "the sample of this engine has a fixed size")),
        (configuration.get(SAMPLING) == Sampling::Rows && optimizer.statistics.by_rows.is_empty())
            .then_some((SAMPLING.path(), "this engine samples in one way only")),
        (!configuration.get(EXTENDED).is_empty() && optimizer.statistics.extended.is_empty())
            .then_some((EXTENDED.path(), "this engine has no statistics of several columns")),
        (configuration.get(EXTENDED).len() == 1)
            .then_some((EXTENDED.path(), "give two columns or more")),
    ];
    let lacks = lacks.into_iter().flatten();
    invalid
        .extend(lacks.map(|(path, message)| Invalid::new(path, format!("{message}; remove it"))));
    invalid
}

/// An objection to a search for the size of the table at which plans become parallel.
fn no_parallel_size(configuration: &Configuration, optimizer: &Optimizer) -> Option<Invalid> {
    if !configuration.get(PARALLEL_SIZE) {
        return None;
    }
    let queries = queries(configuration);
    let is_query = matches!(queries, Ok(Queries::Template(template)) if template.second.is_none());
    let message = if optimizer.prefix.is_none() {
        "this engine cannot explain queries on copies of a table that it then rolls back; remove \
         it, and give sizes by workload.rows"
    } else if dials(configuration).is_none() {
        "copies are made of the table dials only; remove it"
    } else if configuration.get(DEGREE).is_some() {
        "workload.degree makes plans independent of the size of the table; remove one of them"
    } else if is_query {
        return None;
    } else {
        "needs a workload.query with one `:varies`; remove it"
    };
    Some(Invalid::new(PARALLEL_SIZE.path(), message))
}

/// An objection to partners of rows that are the user's, or to more of them than a table may have.
fn too_many_partners(configuration: &Configuration) -> Option<Invalid> {
    configuration.get(JOIN_CORRELATION)?;
    let message = match dials(configuration) {
        Some(set) if set.partners() <= ROWS_MAX => return None,
        Some(set) => format!(
            "{} distinct values have {} partners, more than {ROWS_MAX}; give workload.distinct",
            set.distinct,
            set.partners()
        ),
        None => "only the table dials has partners; remove it".to_owned(),
    };
    Some(Invalid::new(JOIN_CORRELATION.path(), message))
}

/// Returns whether a trial gathers statistics again.
pub fn gathers(configuration: &Configuration) -> bool {
    configuration.get(ANALYZES) > 0
        || configuration.get(SAMPLE).is_some()
        || configuration.get(SAMPLING) == Sampling::Rows
        || !configuration.get(EXTENDED).is_empty()
}

/// Returns whether a trial changes its tables or their statistics.
pub fn changes(configuration: &Configuration) -> bool {
    gathers(configuration) || configuration.get(APPENDED) > 0.0
}

/// Returns whether trials use existing tables of the user.
fn is_in_place(configuration: &Configuration) -> bool {
    configuration.get(DATA) == Data::Existing && Setup::files(configuration).is_empty()
}

fn unknown_alternative(configuration: &Configuration, optimizer: &Optimizer) -> Option<Invalid> {
    let name = configuration.get(ALTERNATIVE);
    if name == CHOSEN || optimizer.alternative(&name).is_some() {
        return None;
    }
    let known: Vec<&str> =
        optimizer.alternatives.iter().map(|alternative| alternative.name).collect();
    let message = format!(
        "this engine cannot be made to use {name:?}; expected one of {CHOSEN}, {}",
        known.join(", ")
    );
    Some(Invalid::new(ALTERNATIVE.path(), message))
}

/// The shares that the varied predicates of a template select, with the paths of their settings.
pub fn shares(
    configuration: &Configuration,
    template: &Template,
) -> impl Iterator<Item = (&'static str, f64)> {
    let first = configuration.get(SELECTIVITY);
    let second = configuration.get(SECOND_SELECTIVITY).unwrap_or(first);
    let all = [(SELECTIVITY.path(), first), (SECOND_SELECTIVITY.path(), second)];
    all.into_iter().take(template.varied().count())
}

/// Objections to shares of rows that no value selects: 0 % of any table, and of the table dials
/// those that its values do not have.
fn unreachable(configuration: &Configuration, template: &Template) -> Vec<Invalid> {
    let Some(set) = dials(configuration) else {
        let none = shares(configuration, template).filter(|(_, share)| *share <= 0.0);
        let message = "no value selects 0 % of the rows; give a larger share";
        return none.map(|(path, _)| Invalid::new(path, message)).collect();
    };
    let truth = set.truth();
    let refused = shares(configuration, template).filter_map(|(path, share)| {
        let rows = share * set.rows as f64;
        let nearest = truth.nearest((rows.round() as u64).max(1));
        let error = (nearest as f64 - rows).abs();
        (rows < 1.0 || error > SHARE_ERROR_MAX * rows).then(|| {
            let message = format!(
                "no value selects {} % of {} rows; the nearest is {} %",
                number::figure(100.0 * share),
                number::count(set.rows),
                number::figure(100.0 * nearest as f64 / set.rows as f64)
            );
            Invalid::new(path, message)
        })
    });
    refused.collect()
}

/// Returns whether a number of selected rows is as near to what was asked for as it must be.
pub fn is_reached(selected: u64, target: f64) -> bool {
    (selected as f64 - target).abs() <= SHARE_ERROR_MAX * target
}
