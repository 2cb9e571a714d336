//! Pages of our database in the server's memory when the measurement starts.

use super::database::Database;
use super::failures::failed_at;
use crate::dialect::quote_name;
use crate::live::client::Client;
use crate::live::views;
use crate::settings::CACHE;
use engine::{CacheReport, CacheState, EngineError, Result};

/// Pages of the catalog that reading its own state leaves in the memory of a cold database.
const COLD_BYTES_MAX: u64 = 4 << 20;

/// Brings the pages of our database into a state, and looks what is in memory then.
///
/// # Errors
/// When others work on the server whose pages would be dropped, or it refuses.
pub fn settle(database: &Database, cache: CacheState) -> Result<CacheReport> {
    if cache == CacheState::Warm {
        return Ok(CacheReport { resident_bytes: None, ..CacheReport::NO_FILES });
    }
    let tables = database.look("Table pages", &views::OWN_TABLES)?.unwrap_or_default();
    database.ask(|client| match cache {
        CacheState::Cold => drop_pages(client),
        // A scan of the table would read one of its indexes.
        _ => tables.iter().try_for_each(|row| {
            let (name, index) = (quote_name(&row.text("name")), row.text("index_id"));
            let sql = format!("SELECT COUNT_BIG(*) AS n FROM {name} WITH (INDEX({index}))");
            client.cell(&sql).map(drop).map_err(failed_at("loading the tables into memory"))
        }),
    })?;
    let resident = database.look("Pages in memory", &views::OWN_BUFFERS)?;
    let resident_bytes = resident.and_then(|rows| rows.first()?.parse::<u64>("bytes"));
    let pages = tables.iter().filter_map(|row| row.parse::<u64>("used_pages"));
    let file_bytes = pages.sum::<u64>() * views::PAGE_BYTES;
    let verified = resident_bytes.is_some_and(|resident| match cache {
        CacheState::Cold => resident <= COLD_BYTES_MAX.max(file_bytes / 100),
        _ => file_bytes > 0 && resident >= file_bytes,
    });
    Ok(CacheReport { file_bytes, resident_bytes, verified })
}

/// Drops the pages of all databases from memory, unless others work in theirs.
fn drop_pages(client: &mut Client) -> Result<()> {
    let doing = format!("{} = cold", CACHE.path());
    let others = client.query(&views::OTHERS.sql()).map_err(failed_at(&doing))?;
    if let Some(other) = others.first() {
        let message = format!(
            "DBCC DROPCLEANBUFFERS would clear cached pages of all databases, but session {} \
             ({}, {}) is using database {}; use a dedicated server",
            other.text("session_id"),
            other.text("program_name"),
            other.text("login_name"),
            other.text("database_name")
        );
        return Err(EngineError::failed(doing, message));
    }
    // What is not on disk yet would stay in memory.
    client.run("CHECKPOINT").map_err(failed_at(&doing))?;
    client.run("DBCC DROPCLEANBUFFERS WITH NO_INFOMSGS").map_err(failed_at(&doing))
}
