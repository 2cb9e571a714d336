//! Aggregates, filter and groups as an experiment file names them.

use crate::scans::{AGGREGATED_COLUMNS, AGGREGATES, FILTER, GROUP_BY};
use experiment::{Configuration, Invalid};
use observations::FactName;
use work::{DataType, Filter, Output, Table};

/// Names of aggregates.
const NAMES: [&str; 5] = ["count", "sum", "min", "max", "avg"];

/// Different columns that are aggregated.
pub const AGG_COLUMNS: FactName = FactName::new("agg_columns", "");
/// 1 with COUNT(*).
pub(crate) const AGG_COUNT: FactName = FactName::new("agg_count", "");
/// Columns that are summed.
pub const AGG_SUM: FactName = FactName::new("agg_sum", "");
/// Columns with a MIN.
pub const AGG_MIN: FactName = FactName::new("agg_min", "");
/// Columns with a MAX.
pub const AGG_MAX: FactName = FactName::new("agg_max", "");
/// Columns with an AVG.
pub const AGG_AVG: FactName = FactName::new("agg_avg", "");
/// Conditions on rows.
pub const FILTERS: FactName = FactName::new("filters", "");
/// Columns by which rows are grouped.
pub const GROUP_COLUMNS: FactName = FactName::new("group_columns", "");

/// An aggregate over the column with this name.
type OverColumn = fn(&'static str) -> Output;

/// Names of the aggregates over a column.
const KINDS: [(&str, OverColumn); 4] =
    [("sum", Output::Sum), ("min", Output::Min), ("max", Output::Max), ("avg", Output::Avg)];

/// An aggregate, a filter or a group that does not fit the table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SelectionError {
    /// `sum(c2`
    #[error("`{text}` lacks a closing bracket")]
    Unclosed {
        /// The aggregate as it was written.
        text: String,
    },
    /// No aggregate has this name.
    #[error("{}", experiment::unknown_name("aggregate", name, &NAMES))]
    UnknownAggregate {
        /// The name.
        name: String,
    },
    /// The table lacks a column of this name.
    #[error("{}", experiment::unknown_name(&format!("column of table {table}"), name, known))]
    UnknownColumn {
        /// The table.
        table: &'static str,
        /// The name.
        name: String,
        /// The columns that the table has.
        known: Vec<&'static str>,
    },
    /// A sum or an average of texts.
    #[error("{column} is not a numeric column and has no {aggregate}")]
    NotNumbers {
        /// The column.
        column: &'static str,
        /// The aggregate.
        aggregate: String,
    },
    /// Too few columns have the aggregate.
    #[error("table {table} has {fitting} columns with a {aggregate}, not {requested}")]
    FewColumns {
        /// The table.
        table: &'static str,
        /// Columns that have it.
        fitting: usize,
        /// The aggregate.
        aggregate: String,
        /// Columns that were to have it.
        requested: usize,
    },
    /// A filter in another form.
    #[error(
        "`{text}` is not a condition; write a column, < and {bound}: \"c2 < 20000000\", \
         \"l_shipdate < 1995-01-01\""
    )]
    NotCondition {
        /// The filter as it was written.
        text: String,
        /// The bound that the column takes: `a day`.
        bound: &'static str,
    },
    /// A filter on texts.
    #[error("{column} is not a column of numbers or dates")]
    NotOrdered {
        /// The column.
        column: &'static str,
    },
}

/// Aggregates over selected rows of a table.
pub struct Aggregates {
    /// Columns of the answer.
    pub outputs: Vec<Output>,
    /// Rows that are read.
    pub rows: Filter,
    /// Columns by which rows are grouped.
    pub group_by: Vec<&'static str>,
}

impl Aggregates {
    /// The aggregates of a configuration; an error names the setting that does not fit the table.
    pub fn from_settings(configuration: &Configuration, table: &Table) -> Result<Self, Invalid> {
        let fault = |setting: &'static str| {
            move |error: SelectionError| Invalid::new(setting, error.to_string())
        };
        let columns = configuration.get(AGGREGATED_COLUMNS);
        let mut outputs = Vec::new();
        for text in configuration.get(AGGREGATES) {
            outputs.extend(aggregate(&text, columns, table).map_err(fault(path_of(&text)))?);
        }
        let rows = configuration.get(FILTER).map(|text| filter(&text, table)).transpose();
        let group_by = configuration.get(GROUP_BY);
        let group_by = group_by.iter().map(|name| column(name, table)).collect::<Result<_, _>>();
        Ok(Self {
            outputs,
            rows: rows.map_err(fault(FILTER.path()))?.unwrap_or(Filter::All),
            group_by: group_by.map_err(fault(GROUP_BY.path()))?,
        })
    }

    /// Returns the number of each kind, by the names of their facts.
    pub fn facts(&self) -> Vec<(FactName, usize)> {
        let of = |kind: OverColumn| {
            self.outputs
                .iter()
                .filter(|output| column_of(output).is_some_and(|name| **output == kind(name)))
                .count()
        };
        let mut columns: Vec<&str> = self.outputs.iter().filter_map(column_of).collect();
        columns.sort_unstable();
        columns.dedup();
        vec![
            (AGG_COLUMNS, columns.len()),
            (AGG_COUNT, usize::from(self.outputs.contains(&Output::Count))),
            (AGG_SUM, of(Output::Sum)),
            (AGG_MIN, of(Output::Min)),
            (AGG_MAX, of(Output::Max)),
            (AGG_AVG, of(Output::Avg)),
            (FILTERS, usize::from(self.rows != Filter::All)),
            (GROUP_COLUMNS, self.group_by.len()),
        ]
    }
}

fn column_of(output: &Output) -> Option<&'static str> {
    match output {
        Output::Sum(name) | Output::Min(name) | Output::Max(name) | Output::Avg(name) => Some(name),
        Output::Count | Output::Column(_) => None,
    }
}

/// The setting that an objection to an aggregate is about: the number of columns where it names
/// none.
fn path_of(text: &str) -> &'static str {
    let without_column = KINDS.iter().any(|(kind, _)| *kind == text);
    if without_column { AGGREGATED_COLUMNS.path() } else { AGGREGATES.path() }
}

/// `count`, `sum` or `sum(c2)`.
fn aggregate(text: &str, columns: usize, table: &Table) -> Result<Vec<Output>, SelectionError> {
    if text == "count" {
        return Ok(vec![Output::Count]);
    }
    let (kind, named) = match text.split_once('(') {
        Some((kind, rest)) => {
            let closed = rest
                .strip_suffix(')')
                .ok_or_else(|| SelectionError::Unclosed { text: text.to_owned() })?;
            (kind.trim(), Some(closed.trim()))
        }
        None => (text, None),
    };
    let found = KINDS.iter().find(|(known, _)| *known == kind);
    let (_, output) =
        found.ok_or_else(|| SelectionError::UnknownAggregate { name: kind.to_owned() })?;
    let needs_numbers = matches!(kind, "sum" | "avg");
    if let Some(name) = named {
        let name = column(name, table)?;
        return match table.column(name) {
            Some(column) if needs_numbers && !is_number(column.data_type) => {
                Err(SelectionError::NotNumbers { column: name, aggregate: kind.to_owned() })
            }
            _ => Ok(vec![output(name)]),
        };
    }
    let fitting = in_order(table, needs_numbers);
    if columns > fitting.len() {
        return Err(SelectionError::FewColumns {
            table: table.name,
            fitting: fitting.len(),
            aggregate: kind.to_owned(),
            requested: columns,
        });
    }
    Ok(fitting.into_iter().take(columns).map(output).collect())
}

/// Columns in the order in which they are aggregated: numbers outside of the key, those of the key,
/// others.
fn in_order(table: &Table, only_numbers: bool) -> Vec<&'static str> {
    let mut columns: Vec<_> = table.columns.iter().collect();
    columns
        .retain(|column| !matches!(column.data_type, DataType::PageFiller { .. } | DataType::Uuid));
    columns.retain(|column| !only_numbers || is_number(column.data_type));
    columns.sort_by_key(|column| (!is_number(column.data_type), table.key.contains(&column.name)));
    columns.into_iter().map(|column| column.name).collect()
}

fn is_number(data_type: DataType) -> bool {
    matches!(data_type, DataType::Int | DataType::BigInt | DataType::Decimal)
}

/// `c2 < 20000000`, `l_shipdate < 1995-01-01`.
pub fn filter(text: &str, table: &Table) -> Result<Filter, SelectionError> {
    let form = |bound| SelectionError::NotCondition { text: text.to_owned(), bound };
    let either = "a whole number, or a day for a date column";
    let (name, bound) = text.split_once('<').ok_or_else(|| form(either))?;
    let (name, bound) = (column(name.trim(), table)?, bound.trim());
    let bound = match table.column(name).map(|column| column.data_type) {
        Some(DataType::Date) => work::day(bound).map(i64::from).ok_or_else(|| form("a day"))?,
        Some(data_type) if is_number(data_type) => {
            bound.replace('_', "").parse().map_err(|_| form("a whole number"))?
        }
        _ => return Err(SelectionError::NotOrdered { column: name }),
    };
    Ok(Filter::Below(name, bound))
}

/// The column with this name.
pub fn column(name: &str, table: &Table) -> Result<&'static str, SelectionError> {
    let found = table.column(name).map(|column| column.name);
    found.ok_or_else(|| SelectionError::UnknownColumn {
        table: table.name,
        name: name.to_owned(),
        known: table.columns.iter().map(|column| column.name).collect(),
    })
}
