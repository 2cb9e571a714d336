//! How the columns of tables are compressed: `target.column_compression`. Which methods there are
//! is each engine's to say, by the declaration of its setting.

use experiment::{Configuration, Invalid, Value};
use work::{Column, Table};

/// Where the methods of columns stand in an experiment file.
pub const OF_COLUMNS: &str = "target.column_compression.";

/// Columns and the methods that a configuration names for them, of those that the engine has.
pub fn of_columns<'a>(
    configuration: &'a Configuration,
    methods: &'static [&'static str],
) -> impl Iterator<Item = (&'a str, &'static str)> {
    let method = |value: &Value| match value {
        Value::Text(text) => methods.iter().copied().find(|method| method == text),
        _ => None,
    };
    configuration.below(OF_COLUMNS).filter_map(move |(name, value)| Some((name, method(value)?)))
}

/// Objections to columns that the tables lack, or whose type the engine does not compress.
pub fn validate_columns(
    configuration: &Configuration,
    tables: &[Table],
    objection_to: impl Fn(&Column) -> Option<&'static str>,
) -> Vec<Invalid> {
    configuration
        .below(OF_COLUMNS)
        .filter_map(|(name, _)| {
            let mut columns = tables.iter().filter_map(|table| table.column(name));
            let message = if let Some(column) = columns.next() {
                objection_to(column)?.to_owned()
            } else {
                let all = tables.iter().flat_map(|table| &table.columns);
                let known: Vec<&str> = all.map(|column| column.name).collect();
                experiment::unknown_name("column", name, &known)
            };
            Some(Invalid::new(format!("{OF_COLUMNS}{name}"), message))
        })
        .collect()
}

/// Sets the compression of each column of the tables by `method`.
pub fn apply(tables: &mut [Table], method: impl Fn(&Column) -> Option<&'static str>) {
    for column in tables.iter_mut().flat_map(|table| &mut table.columns) {
        column.compression = method(column);
    }
}
