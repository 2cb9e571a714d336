//! The tables of a trial and the bulk load of their rows.

use super::admin::Admin;
use super::dialect::MariaDialect;
use super::errors::failed_at;
use engine::{Dialect as _, EngineError, Result};
use servers::administration::{Administration as _, BulkLoad};
use work::{Cancel, Fill, Rows, Table, Values};

impl BulkLoad for Admin {
    type Dialect = MariaDialect;

    /// Fills a table by LOAD DATA LOCAL INFILE. Without checks of uniqueness InnoDB (from 10.6 on)
    /// writes the pages of an empty table without undo records
    /// (<https://mariadb.com/kb/en/innodb-system-variables/>, `unique_checks`).
    fn fill(
        &self,
        dialect: &MariaDialect,
        table: &Table,
        fill: Fill,
        cancel: &Cancel,
    ) -> Result<()> {
        let doing = format!("filling table {}", table.name);
        self.run(&doing, "SET unique_checks = 0, foreign_key_checks = 0")?;
        let (load, mut batches) = (dialect.load(table, &fill.columns), fill.batches);
        self.ask(|client| {
            let mut text = String::new();
            let loaded = client.load(&load, |out| {
                if cancel.is_cancelled() {
                    return Err(EngineError::Cancelled);
                }
                let Some(rows) = batches.next() else { return Ok(false) };
                text.clear();
                put_rows(&mut text, &rows);
                out.extend_from_slice(text.as_bytes());
                Ok(true)
            });
            loaded.map_err(failed_at(&doing))?
        })?;
        self.run(&doing, "SET unique_checks = DEFAULT, foreign_key_checks = DEFAULT")?;
        if let Some(index) = dialect.create_index(table) {
            self.run(&doing, &index)?;
        }
        self.run(&doing, &format!("ANALYZE TABLE {}", dialect.table(table)))
    }
}

/// Appends rows as lines of tab-separated text, with backslashes before what separates columns and
/// rows, as LOAD DATA reads them by default (<https://mariadb.com/kb/en/load-data-infile/>).
fn put_rows(out: &mut String, rows: &Rows) {
    for row in 0..rows.count {
        for (number, values) in rows.columns.iter().enumerate() {
            if number > 0 {
                out.push('\t');
            }
            match values {
                Values::Texts(texts) if texts.get(row).contains(['\\', '\t', '\n']) => {
                    let text = texts.get(row).replace('\\', "\\\\");
                    out.push_str(&text.replace('\t', "\\t").replace('\n', "\\n"));
                }
                values if values.present(row).is_none() => out.push_str("\\N"),
                // No other value has what would have to be escaped. Writing to memory cannot fail.
                values => drop(values.write(row, out)),
            }
        }
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::put_rows;
    use work::{Rows, Texts, Values};

    #[test]
    fn what_separates_columns_and_rows_is_escaped() {
        let texts: Texts = ["a\tb", "c\\\n", "plain"].into_iter().collect();
        let columns = vec![
            Values::Integers(vec![1, 2, 3]),
            Values::Texts(texts),
            Values::Dates(vec![0, 1, 2]),
        ];
        let mut out = String::new();
        put_rows(&mut out, &Rows { count: 3, columns });
        assert_eq!(out, "1\ta\\tb\t1970-01-01\n2\tc\\\\\\n\t1970-01-02\n3\tplain\t1970-01-03\n");
    }
}
