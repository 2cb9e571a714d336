//! Rows of a table of a user's server, which is only read.

use super::admin::ADMIN;
use super::connecting::{is_working, stoppable};
use crate::client::{Config, quote_identifier};
use engine::sample::{Cell, Sample};
use engine::{ServerError, while_doing};
use work::{Stop, silence_max};

/// Rows of a table: all, or of one with more than `rows_max` those of as many pages as hold so
/// many, drawn at random (`TABLESAMPLE SYSTEM`) and read as they lie. `table` is a name, or a
/// schema's and one with a point between them.
///
/// # Errors
/// When the server refuses, or there is no such table.
pub fn sample(
    config: &Config,
    table: &str,
    rows_max: u64,
    stop: &Stop,
) -> Result<Sample, ServerError> {
    let config = config.clone().with_application_name(ADMIN).with_stop(stop.clone());
    let mut client = stoppable(&config, stop).map_err(while_doing("connecting"))?;
    client.set_answer_timeout(Some(silence_max()));
    let session = format!("pid = {}", client.backend_pid());
    let mut works = || is_working(&config, &session);
    let name = table.split('.').map(quote_identifier).collect::<Vec<_>>().join(".");
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    client.batch(begin).map_err(while_doing("starting to read"))?;
    let lock = format!("SET LOCAL lock_timeout = {}", silence_max().as_millis());
    client.batch(&lock).map_err(while_doing("starting to read"))?;
    let sql = "SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = \
               to_regclass($1) AND attnum > 0 AND NOT attisdropped ORDER BY attnum";
    let found = client.query(sql, &[Some(&name)]).map_err(while_doing("reading its columns"))?;
    if found.is_empty() {
        let what = "the table does not exist or this role cannot see it; give TABLE or \
                    SCHEMA.TABLE, with upper and lower case as in the catalog";
        return Err(ServerError::new(what));
    }
    let count = client
        .long_query(&format!("SELECT count(*) FROM {name}"), &mut works)
        .map_err(while_doing("counting its rows"))?;
    let all = count.first().and_then(|row| row.parse::<u64>(0)).unwrap_or(0);
    let some = match rows_max as f64 / all.max(1) as f64 {
        share if share < 1.0 => {
            format!(" TABLESAMPLE SYSTEM ({}) REPEATABLE (1) LIMIT {rows_max}", 100.0 * share)
        }
        _ => String::new(),
    };
    let columns: Vec<String> = found.iter().map(|row| quote_identifier(&row.text(0))).collect();
    let sql = format!("SELECT {} FROM {name}{some}", columns.join(", "));
    let rows = client.long_query(&sql, &mut works).map_err(while_doing("reading its rows"))?;
    let numeric: Vec<bool> = found
        .iter()
        .map(|row| {
            ["smallint", "integer", "bigint", "numeric", "real", "double precision"]
                .contains(&row.text(1).as_str())
        })
        .collect();
    let mut sample = Sample::new(found.iter().map(|row| row.text(0)), all);
    for row in rows.iter() {
        sample
            .push(numeric.iter().enumerate().map(|(at, numeric)| {
                let text = row.get(at)?;
                Some(
                    numeric
                        .then(|| {
                            let whole = text.parse().map(Cell::Integer).ok();
                            whole.or_else(|| text.parse().map(Cell::Real).ok())
                        })
                        .flatten()
                        .unwrap_or(Cell::Text(text.as_bytes())),
                )
            }))
            .map_err(ServerError::new)?;
    }
    Ok(sample)
}
