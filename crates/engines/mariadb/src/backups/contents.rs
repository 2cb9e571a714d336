//! The tables of a database: their names, their rows in two figures, and the server's own check.

use crate::client::{Client, Config, quote_identifier, quote_literal};
use crate::errors::failed_at;
use engine::Result;
use engine::backups::{Fingerprint, Restore};
use std::time::Instant;
use work::Cancel;

/// Connects; the connection ends when the trial is asked to stop.
pub fn connect(config: &Config, cancel: &Cancel) -> Result<Client> {
    let mut client = Client::connect(config).map_err(failed_at("connecting"))?;
    client.set_stop(cancel.stop());
    Ok(client)
}

/// Examines a restored database, whose files were in place after this time.
pub fn examine(client: &mut Client, start: Instant, placed_s: f64) -> Result<Restore> {
    let mut restored = Restore { placed_s, ..Restore::default() };
    let found = tables(client)?;
    restored.first_query_s = start.elapsed().as_secs_f64();
    for table in &found {
        restored.complaints.extend(complaints(client, table)?);
    }
    restored.consistent_s = start.elapsed().as_secs_f64();
    restored.tables = fingerprints(client)?;
    Ok(restored)
}

/// Names of the tables of the database.
pub fn tables(client: &mut Client) -> Result<Vec<String>> {
    let sql = "SELECT table_name FROM information_schema.tables WHERE table_schema = database() \
               AND table_type = 'BASE TABLE' ORDER BY table_name";
    names(client, sql, "reading the tables")
}

/// Names of the columns of a table.
pub fn columns(client: &mut Client, table: &str) -> Result<Vec<String>> {
    let sql = format!(
        "SELECT column_name FROM information_schema.columns WHERE table_schema = database() AND \
         table_name = {} ORDER BY ordinal_position",
        quote_literal(table)
    );
    names(client, &sql, "reading the columns")
}

fn names(client: &mut Client, sql: &str, doing: &str) -> Result<Vec<String>> {
    let rows = client.query(sql).map_err(failed_at(doing))?;
    Ok(rows.iter().map(|row| row.text(0)).collect())
}

/// The complaints of the server's own check.
fn complaints(client: &mut Client, table: &str) -> Result<Vec<String>> {
    let sql = format!("CHECK TABLE {}", quote_identifier(table));
    let rows = client.query(&sql).map_err(failed_at(&sql))?;
    // Table, operation, kind of the message, message.
    let wrong =
        rows.iter().filter(|row| [2, 3].map(|at| row.get(at)) != [Some("status"), Some("OK")]);
    Ok(wrong.map(|row| format!("{table}: {}", row.text(3))).collect())
}

/// Rows of each table, with the sum and the exclusive or of the CRC-32 of their values as literals.
pub fn fingerprints(client: &mut Client) -> Result<Vec<Fingerprint>> {
    let mut all = Vec::new();
    for table in tables(client)? {
        let columns = columns(client, &table)?;
        let quoted: Vec<String> =
            columns.iter().map(|column| format!("QUOTE({})", quote_identifier(column))).collect();
        let crc = format!("CRC32(CONCAT_WS(',', {}))", quoted.join(", "));
        let sql = format!(
            "SELECT CONCAT(COUNT(*), ' ', COALESCE(SUM({crc}), 0), '-', BIT_XOR({crc})) FROM {}",
            quote_identifier(&table)
        );
        let doing = format!("reading table {table}");
        let found = client.cell(&sql).map_err(failed_at(&doing))?.unwrap_or_default();
        let (rows, checksum) = found.split_once(' ').unwrap_or_default();
        let (rows, checksum) = (rows.parse().unwrap_or(0), checksum.to_owned());
        all.push(Fingerprint { table, rows, checksum });
    }
    Ok(all)
}
