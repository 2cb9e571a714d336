//! The bulk load of tables that a trial has created.

use super::admin::Admin;
use super::dialect::PostgresDialect;
use super::failed_at;
use crate::{Cancel, Dialect as _, EngineError, Fill, Rows, Values, Work};

/// Fills a table by COPY of rows that are frozen at once, for which the same transaction must have emptied it.
pub fn fill(
    admin: &Admin,
    dialect: &PostgresDialect,
    work: &Work,
    fill: Fill,
    cancel: &Cancel,
) -> Result<(), EngineError> {
    let table = &work.tables[fill.table];
    let doing = format!("filling table {}", table.name);
    let failed = |error| failed_at(&doing)(error);
    admin.run(&doing, &format!("BEGIN; TRUNCATE {}", dialect.table(table)))?;
    admin.ask(|admin| {
        let copy = dialect.copy(table, &fill.columns, "FREEZE ON");
        let mut copy = admin.copy_in(&copy).map_err(failed)?;
        let mut text = String::new();
        for rows in fill.batches {
            text.clear();
            put_rows(&mut text, &rows);
            copy.write(text.as_bytes()).map_err(failed)?;
            if cancel.is_cancelled() {
                return Err(EngineError::Cancelled);
            }
        }
        copy.finish().map(|_| ()).map_err(failed)
    })?;
    admin.run(&doing, "COMMIT")
}

/// Appends rows in COPY's text format.
fn put_rows(out: &mut String, rows: &Rows) {
    for row in 0..rows.count {
        for (number, values) in rows.columns.iter().enumerate() {
            if number > 0 {
                out.push('\t');
            }
            match values {
                Values::Texts(texts) => put_text(out, texts.get(row)),
                // No other value has what would have to be escaped. Writing to memory cannot fail.
                values => drop(values.write(row, out)),
            }
        }
        out.push('\n');
    }
}

/// Appends a text; what separates columns and rows is escaped
/// (<https://www.postgresql.org/docs/current/sql-copy.html>, "Text Format").
fn put_text(out: &mut String, text: &str) {
    if !text.contains(['\\', '\t', '\n', '\r']) {
        return out.push_str(text);
    }
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::put_rows;
    use crate::{Rows, Texts, Values};

    #[test]
    fn what_separates_columns_and_rows_is_escaped() {
        let texts: Texts = ["a\tb", "c\\\n", "plain"].into_iter().collect();
        let columns =
            vec![Values::Integers(vec![1, 2, 3]), Values::Texts(texts), Values::Dates(vec![0, 1, 2])];
        let mut out = String::new();
        put_rows(&mut out, &Rows { count: 3, columns });
        assert_eq!(out, "1\ta\\tb\t1970-01-01\n2\tc\\\\\\n\t1970-01-02\n3\tplain\t1970-01-03\n");
    }
}
