//! Plans and sizes.

use super::admin::DATABASE;
use super::failed_at;
use crate::{EngineError, Explained, Table};
use mysqlclient::{Client, quote_literal};

/// What the server says of a statement before it runs, and with `analyze` of one run (MariaDB's ANALYZE). One with
/// parameters has no plan without their values.
pub fn explain(
    client: &mut Client,
    sql: &str,
    table: &Table,
    analyze: bool,
) -> Result<Explained, EngineError> {
    let mut explained = Explained {
        pages: leaf_pages(client, table),
        page_bytes: cell(client, "SELECT @@innodb_page_size").and_then(|bytes| bytes.parse().ok()),
        ..Explained::default()
    };
    if sql.contains('?') {
        return Ok(explained);
    }
    let mut said = |verb: &str| {
        let sql = format!("{verb} FORMAT=JSON {sql}");
        client.cell(&sql).map_err(failed_at(&sql))
    };
    explained.plan = said("EXPLAIN")?;
    if analyze {
        explained.analysis = said("ANALYZE")?;
    }
    Ok(explained)
}

/// Pages that hold the rows of a table, from the statistics that ANALYZE TABLE made
/// (<https://mariadb.com/kb/en/mysqlinnodb_index_stats/>); `None` where the account may not read them.
fn leaf_pages(client: &mut Client, table: &Table) -> Option<u64> {
    let name = quote_literal(table.name);
    let sql = format!(
        "SELECT sum(stat_value) FROM mysql.innodb_index_stats WHERE database_name = '{DATABASE}' \
         AND (table_name = {name} OR table_name LIKE concat({name}, '#P#%')) \
         AND index_name IN ('PRIMARY', 'GEN_CLUST_INDEX') AND stat_name = 'n_leaf_pages'"
    );
    cell(client, &sql)?.parse().ok()
}

fn cell(client: &mut Client, sql: &str) -> Option<String> {
    client.cell(sql).ok().flatten()
}
