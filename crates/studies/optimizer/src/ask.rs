//! Questions to the engine in one session before the measurement: values, counts, plans.

use crate::optimizer::{Explain, Optimizer};
use crate::template::{Template, VariedColumn, literal};
use engine::{ConnectionSet, EngineError, Results};
use inspection::plans::{Access, Kind, Operator, Plan, PlanError};
use probe::{ProbeError, TrialContext, data};
use std::collections::BTreeMap;
use work::Statement;
use work::sql::statement::filled;

/// A session that asks.
pub(crate) struct Asker<'a> {
    context: &'a TrialContext<'a>,
    optimizer: &'static Optimizer,
    connection: Box<dyn ConnectionSet>,
}

/// A plan that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("the plan of {sql}: {reason}")]
pub(crate) struct UnreadablePlan {
    sql: String,
    reason: PlanError,
}

/// The part of a plan that reads the varied table.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Operators of the whole plan with tables and indexes, the first one outermost.
    pub plan: String,
    /// The name and detail of the operator that reads the table; empty where none does.
    pub operator: String,
    /// Rows that the optimizer expects it to return.
    pub estimated: Option<f64>,
    /// Rows that it returned, of a plan that ran.
    pub counted: Option<f64>,
    /// Cost of the whole plan, in the engine's unit.
    pub cost: Option<f64>,
}

impl<'a> Asker<'a> {
    /// Opens a session.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn open(
        context: &'a TrialContext<'a>,
        optimizer: &'static Optimizer,
    ) -> Result<Self, ProbeError> {
        Ok(Self { context, optimizer, connection: context.instance.connect(1)? })
    }

    /// Runs a statement; its last result.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn run(&mut self, sql: &str) -> Result<Results, ProbeError> {
        let connection = self.connection.as_mut();
        let results = data::run(self.context, connection, 0, Statement::Text(sql))?;
        Ok(results.into_iter().next_back().unwrap_or_default())
    }

    /// Runs statements with names put into them.
    ///
    /// # Errors
    /// When the engine refuses one.
    pub fn run_all(&mut self, texts: &[&str], names: &[(&str, &str)]) -> Result<(), ProbeError> {
        texts.iter().try_for_each(|text| self.run(&filled(text, names)).map(drop))
    }

    /// The first cell of the last row; `None` for NULL or no rows.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn cell(&mut self, sql: &str) -> Result<Option<String>, ProbeError> {
        Ok(self.run(sql)?.last.into_iter().next().flatten())
    }

    /// A number of rows.
    ///
    /// # Errors
    /// When the engine refuses, or answers otherwise.
    pub fn count(&mut self, sql: &str) -> Result<u64, ProbeError> {
        let count = self.cell(sql)?.and_then(|cell| cell.parse().ok());
        Ok(count.ok_or_else(|| EngineError::failed(sql, "the answer is not a number"))?)
    }

    /// The name of an index that begins with a varied column.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn index(&mut self, column: &VariedColumn) -> Result<Option<String>, ProbeError> {
        let names = [("table", column.table_name()), ("column", column.column.as_str())];
        self.cell(&filled(self.optimizer.index, &names))
    }

    /// Returns whether the engine has the plan of a query before it runs.
    pub fn explains(&self) -> bool {
        !self.optimizer.explain.runs
    }

    /// The plan of a query, with estimates; nothing is executed.
    ///
    /// # Errors
    /// When the engine refuses, or its answer cannot be read.
    pub fn plan(&mut self, sql: &str) -> Result<Plan, ProbeError> {
        self.explained(&self.optimizer.explain, sql)
    }

    /// The plan of a query that was run with the rows of each operator counted.
    ///
    /// # Errors
    /// When the engine refuses, or its answer cannot be read.
    pub fn analyzed(&mut self, sql: &str) -> Result<Option<Plan>, ProbeError> {
        let mut last = Ok(None);
        for way in self.optimizer.analyze {
            last = self.explained(way, sql).map(Some);
            if last.is_ok() {
                break;
            }
        }
        last
    }

    fn explained(&mut self, way: &Explain, sql: &str) -> Result<Plan, ProbeError> {
        self.run_all(way.before, &[])?;
        let results = self.run(&format!("{}{sql}", way.words));
        // A session that still explains would answer the next question with a plan.
        self.run_all(way.after, &[])?;
        (self.optimizer.read)(&results?)
            .map_err(|reason| ProbeError::study(UnreadablePlan { sql: sql.to_owned(), reason }))
    }

    /// How the plan of the template reads its varied table at a value.
    ///
    /// # Errors
    /// When the engine refuses, or its answer cannot be read.
    pub fn reading(&mut self, template: &Template, sql: &str) -> Result<Reading, ProbeError> {
        Ok(Reading::find(&self.plan(sql)?, template.first.table_name()))
    }
}

impl Reading {
    /// The names of the operators of the plan, with their tables.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.plan.split(" < ")
    }

    /// Finds the operator that reads a table; the first one of all where the name is not found.
    pub fn find(plan: &Plan, table: &str) -> Self {
        let operators = plan.operators();
        let titles = operators.iter().map(|(_, operator)| title(operator));
        let titles: Vec<String> = titles.filter(|title| !title.is_empty()).collect();
        let reads: Vec<&Operator> = operators
            .iter()
            .map(|(_, operator)| *operator)
            .filter(|operator| operator.access.is_some_and(|access| access != Access::Change))
            .collect();
        let read = reads.iter().find(|operator| {
            operator.objects.iter().any(|object| object.table.eq_ignore_ascii_case(table))
        });
        // An alias hides the name of the table in some engines.
        let found = read.or_else(|| reads.first());
        Self {
            plan: titles.join(" < "),
            operator: found.map_or_else(String::new, |operator| operator.name.clone()),
            estimated: found.and_then(|operator| operator.rows.estimated),
            counted: found.and_then(|operator| operator.rows.actual),
            cost: plan.cost.or_else(|| plan.root.as_ref()?.cost),
        }
    }
}

/// An operator's name with its table and index; empty of one that every plan of the query has.
pub fn title(operator: &Operator) -> String {
    if matches!(operator.kind, Kind::Aggregate | Kind::Constant) && operator.objects.is_empty() {
        return String::new();
    }
    match operator.objects.first() {
        Some(object) => format!("{} {}", operator.name, object.label()).trim().to_owned(),
        None => operator.name.clone(),
    }
}

/// The varied table's rows in the order of the column.
pub struct Column<'t> {
    /// The column.
    pub name: &'t VariedColumn,
    /// Rows of the table.
    pub rows: u64,
    /// Rows with a value.
    pub present: u64,
    /// Values that were asked for, by position: each takes two passes over the column.
    bounds: BTreeMap<u64, Bound>,
}

/// A value of the varied column.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// As SQL text without quotes.
    pub value: String,
    /// Rows with at most this value.
    pub rows: u64,
}

impl<'t> Column<'t> {
    /// Counts the rows of the table.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn count(
        asker: &mut Asker<'_>,
        varied_column: &'t VariedColumn,
    ) -> Result<Self, ProbeError> {
        let (table, column) = (&varied_column.table, &varied_column.column);
        let rows = asker.count(&format!("SELECT count(*) FROM {table}"))?;
        let present = asker.count(&format!("SELECT count({column}) FROM {table}"))?;
        Ok(Self { name: varied_column, rows, present, bounds: BTreeMap::new() })
    }

    /// The value of the row at this position, from 1, in the order of values, with the rows that
    /// it selects.
    ///
    /// # Errors
    /// When the engine refuses.
    pub fn bound(&mut self, asker: &mut Asker<'_>, position: u64) -> Result<Bound, ProbeError> {
        if let Some(known) = self.bounds.get(&position) {
            return Ok(known.clone());
        }
        let (table, column) = (&self.name.table, &self.name.column);
        let skipped = position.clamp(1, self.present.max(1)) - 1;
        let row = filled(asker.optimizer.row_at, &[("skipped", &skipped.to_string())]);
        let sql = format!(
            "SELECT {column} FROM {table} WHERE {column} IS NOT NULL ORDER BY {column} {row}"
        );
        let value = asker
            .cell(&sql)?
            .ok_or_else(|| EngineError::failed(&sql, "the column has no values"))?;
        let counted = format!("SELECT count(*) FROM {table} WHERE {column} <= {}", literal(&value));
        let rows = asker.count(&counted)?;
        let bound = Bound { value, rows };
        self.bounds.insert(position, bound.clone());
        Ok(bound)
    }

    /// A share of the table.
    pub fn share(&self, rows: f64) -> f64 {
        rows / self.rows.max(1) as f64
    }
}
