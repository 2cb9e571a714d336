//! Aggregates and groups as an experiment file names them.

use experiment::{Configuration, Invalid, Kind, settings};
use observations::FactName;
use probe::scans::{FILTER, SelectionError, column, filter};
use work::{DataType, Filter, Output, Table};

settings! {
    /// Aggregates over the rows: count (COUNT(*)), and sum, min, max or avg, each of the first
    /// workload.aggregated_columns columns or of a named column: "sum(c2)".
    pub AGGREGATES: Vec<String> =
        "workload.aggregates", Kind::TextList, "count" => Operation @Trial;
    /// Number of columns for each aggregate without a named column: numeric columns first in table
    /// order, then keys; min and max then use the others.
    pub AGGREGATED_COLUMNS: usize =
        "workload.aggregated_columns", Kind::Count { min: 1, max: 18 }, "1" => Operation;
    /// Column (or list of columns) to group rows by; the result has one row per group.
    pub GROUP_BY: Vec<String> = "workload.group_by", Kind::TextList => Operation @Trial;
}

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
    /// The aggregates of a configuration.
    ///
    /// # Errors
    /// Names the setting that does not fit the table.
    pub fn from_settings(configuration: &Configuration, table: &Table) -> Result<Self, Invalid> {
        let fault =
            |setting: &'static str| move |error: SelectionError| Invalid::new(setting, error.0);
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
                .ok_or_else(|| SelectionError(format!("`{text}` lacks a closing bracket")))?;
            (kind.trim(), Some(closed.trim()))
        }
        None => (text, None),
    };
    let found = KINDS.iter().find(|(known, _)| *known == kind);
    let (_, output) =
        found.ok_or_else(|| SelectionError(experiment::unknown_name("aggregate", kind, &NAMES)))?;
    let needs_numbers = matches!(kind, "sum" | "avg");
    if let Some(name) = named {
        let name = column(name, table)?;
        return match table.column(name) {
            Some(column) if needs_numbers && !column.data_type.is_number() => {
                let message = format!("{name} is not a numeric column and has no {kind}");
                Err(SelectionError(message))
            }
            _ => Ok(vec![output(name)]),
        };
    }
    let fitting = in_order(table, needs_numbers);
    if columns > fitting.len() {
        return Err(SelectionError(format!(
            "table {} has {} columns with a {kind}, not {columns}",
            table.name,
            fitting.len()
        )));
    }
    Ok(fitting.into_iter().take(columns).map(output).collect())
}

/// Columns in the order in which they are aggregated: numbers outside of the key, those of the key,
/// others.
fn in_order(table: &Table, only_numbers: bool) -> Vec<&'static str> {
    let mut columns: Vec<_> = table.columns.iter().collect();
    columns
        .retain(|column| !matches!(column.data_type, DataType::PageFiller { .. } | DataType::Uuid));
    columns.retain(|column| !only_numbers || column.data_type.is_number());
    columns.sort_by_key(|column| (!column.data_type.is_number(), table.key.contains(&column.name)));
    columns.into_iter().map(|column| column.name).collect()
}
