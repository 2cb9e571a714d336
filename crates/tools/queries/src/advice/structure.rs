//! Tables without a key, and foreign keys without an index.

use super::place::squeezed;
use super::price::price;
use inspection::statements::{
    self, Advice, AdviceKind, Certainty, ForeignKey, NewIndex, Rules, Snapshot, Table,
};
use observations::number::count;

/// Smaller tables are read whole in no time.
const ROWS_MIN: f64 = 1_000.0;

/// Findings about the definitions of tables; `missing` are the indexes that are advised already.
pub fn structure(snapshot: &Snapshot, rules: &Rules, missing: &[Advice]) -> Vec<Advice> {
    let mut all = Vec::new();
    for (at, table) in snapshot.tables.iter().enumerate() {
        if table.rows.is_none_or(|rows| rows < ROWS_MIN) {
            continue;
        }
        let of_table = |advice: Advice| Advice {
            database: table.database.clone(),
            table: Some(at),
            weight: table.rows.unwrap_or(0.0),
            ..advice
        };
        if table.lacks_primary_key && table.is_in_use() {
            all.push(of_table(no_key(table, rules)));
        }
        for key in &table.foreign_keys {
            let first = key.columns.first().map(|column| squeezed(column)).unwrap_or_default();
            let is_advised = missing.iter().any(|advice| {
                advice.table == Some(at)
                    && advice.ddl.as_ref().is_some_and(|ddl| {
                        ddl.replace(['`', '"'], "").contains(&format!("({first}"))
                    })
            });
            let is_served = table.indexes.iter().any(|index| {
                index.is_valid && index.predicate.is_none() && index.begins_with(&key.columns)
            });
            if !is_advised && !is_served {
                all.push(of_table(foreign_key(snapshot, rules, table, key)));
            }
        }
    }
    all
}

fn foreign_key(snapshot: &Snapshot, rules: &Rules, table: &Table, key: &ForeignKey) -> Advice {
    let target = snapshot.tables.iter().find(|candidate| {
        candidate.database == table.database
            && (candidate.name == key.target
                || candidate.quoted == key.target
                || candidate.label() == key.target)
    });
    let changes = target.map_or(0, |target| target.deletes.unwrap_or(0));
    let deleted = (changes > 0).then(|| {
        let rows = count(changes);
        format!(" {rows} rows of {} were deleted since the counters started.", key.target)
    });
    let (columns, new) = (key.columns.join(", "), NewIndex::new(table, &key.columns));
    let certainty = if changes > 0 { Certainty::Counted } else { Certainty::Possible };
    Advice {
        subject: format!("{} ({})", table.label(), key.name),
        evidence: format!(
            "{} refers to {}, and no index begins with ({columns}).{}",
            table.label(),
            key.target,
            deleted.unwrap_or_default()
        ),
        change: format!(
            "A delete of a row of {}, or an update of its key, reads all {} rows of this table \
             without an index on ({columns}), and so do joins of the two.",
            key.target,
            count(table.rows.unwrap_or(0.0) as u64)
        ),
        price: price(rules.upkeep, table, &key.columns),
        ddl: Some((rules.create_index)(&new)),
        ..Advice::new(AdviceKind::ForeignKeyWithoutIndex, certainty)
    }
}

fn no_key(table: &Table, rules: &Rules) -> Advice {
    let known = table.columns.iter().find(|column| {
        column.distinct <= -1.0 && column.nulls <= 0.0 && column.name.ends_with("id")
    });
    let unique = table.indexes.iter().find(|index| index.is_unique && index.predicate.is_none());
    let columns =
        unique.map(statements::Index::columns).or(known.map(|column| column.name.clone()));
    let ddl = match columns {
        Some(columns) => Some(format!("ALTER TABLE {} ADD PRIMARY KEY ({columns})", table.quoted)),
        None => rules.abilities.add_key.map(|add| add(table)),
    };
    Advice {
        subject: table.label(),
        evidence: format!(
            "The table has {} rows and no primary key.",
            count(table.rows.unwrap_or(0.0) as u64)
        ),
        change:
            "With a primary key each row has a name: logical replication and tools that change \
                 a table in steps need one, and duplicates cannot arise."
                .into(),
        price:
            "The change locks the table while its index is built, and rewrites it where a column \
                is added."
                .into(),
        ddl,
        ..Advice::new(AdviceKind::NoPrimaryKey, Certainty::Counted)
    }
}
