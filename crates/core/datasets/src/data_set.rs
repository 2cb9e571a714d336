use crate::ahead::Ahead;
use crate::size::{Distribution, Size};
use crate::{
    Part, documents, pgbench, smallbank, studies, synthetic, sysbench, tatp, tpcds, tpch, ycsb,
};
use work::{Fill, Table};

/// Names of the data sets, in the order in which they are listed.
pub const NAMES: &[&str] = &[
    "synthetic",
    "mybigtable",
    "one-row-per-page",
    "documents",
    "pgbench",
    "sysbench",
    "ycsb",
    "smallbank",
    "tatp",
    "tpcds",
    "tpch",
    "lineitem",
    "orders",
    "customer",
    "part",
    "partsupp",
    "supplier",
    "nation",
    "region",
];

/// A data set of some size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DataSet {
    name: &'static str,
    size: Size,
}

impl DataSet {
    /// The data set with this name.
    pub fn new(name: &str, size: Size) -> Option<Self> {
        NAMES.iter().find(|known| **known == name).map(|name| Self { name, size })
    }

    /// The tables of pgbench.
    pub fn pgbench(scale: u32) -> Self {
        Self { name: "pgbench", size: Size { scale: scale.into(), ..Size::default() } }
    }

    /// All tables of TPC-H, LINEITEM first.
    pub fn tpch(scale: f64) -> Self {
        Self { name: "tpch", size: Size { scale, ..Size::default() } }
    }

    /// The tables of sysbench, each with `rows` rows.
    pub fn sysbench(tables: u32, rows: u64, distribution: Distribution) -> Self {
        Self { name: "sysbench", size: Size { rows, tables, distribution, ..Size::default() } }
    }

    /// The name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The tables, of which the first is the one that is scanned.
    pub fn tables(&self) -> Vec<Table> {
        self.parts().into_iter().map(|part| part.table).collect()
    }

    /// The rows of its tables, made on request by threads that are some batches ahead.
    pub fn fills(&self) -> Vec<Fill> {
        let parts =
            self.parts().into_iter().enumerate().filter(|(_, part)| !part.columns.is_empty());
        parts
            .map(|(table, Part { columns, batches, .. })| {
                Fill::new(table, columns, Ahead::new(batches))
            })
            .collect()
    }

    fn parts(&self) -> Vec<Part> {
        let Self { name, size } = *self;
        match name {
            "synthetic" => vec![synthetic::part(size)],
            "mybigtable" => vec![studies::my_big_table_part(size)],
            "one-row-per-page" => vec![studies::one_row_per_page_part(size)],
            "documents" => vec![documents::part(size)],
            "pgbench" => pgbench::parts(size.scale),
            "sysbench" => sysbench::parts(size),
            "ycsb" => vec![ycsb::part(size)],
            "smallbank" => smallbank::parts(size),
            "tatp" => tatp::parts(size),
            "tpcds" => tpcds::parts(size.scale),
            table => tpch::parts(table, size.scale),
        }
    }

    /// All that its tables and rows follow from.
    pub fn identity(&self) -> String {
        format!("{} {:?}, made by {}", self.name, self.size, env!("CARGO_PKG_VERSION"))
    }

    /// Rows of its first table, where that is known before they are made: a LINEITEM has as many
    /// lines as its orders happen to have, sales in shops as its tickets.
    pub fn rows(&self) -> Option<u64> {
        match self.name {
            "synthetic" | "mybigtable" | "one-row-per-page" | "documents" | "sysbench" | "ycsb"
            | "smallbank" | "tatp" => Some(self.size.rows),
            "pgbench" => Some(pgbench::accounts(self.size.scale) as u64),
            "tpcds" => None,
            table => tpch::rows(table, self.size.scale),
        }
    }

    /// Rows of all its tables, about.
    pub fn all_rows(&self) -> u64 {
        self.tables()
            .iter()
            .enumerate()
            .map(|(at, table)| self.rows_of(at, table))
            .fold(0, u64::saturating_add)
    }

    /// Bytes of the rows of its tables, at least about: an engine adds its own to them.
    pub fn row_bytes(&self) -> u64 {
        if self.name == "documents" {
            return self.size.rows.saturating_mul(documents::ROW_BYTES);
        }
        let tables = self.tables();
        tables
            .iter()
            .enumerate()
            .map(|(at, table)| self.rows_of(at, table).saturating_mul(table.row_bytes()))
            .fold(0, u64::saturating_add)
    }

    /// Rows of the table at a position, about.
    fn rows_of(&self, position: usize, table: &Table) -> u64 {
        let rows = match (table.name, position) {
            // An order has four lines on average (4.2.3).
            ("lineitem", _) => tpch::rows("orders", self.size.scale).map(|orders| orders * 4),
            (name, _) if self.name == "tpcds" => Some(tpcds::rows(name, self.size.scale)),
            (_, 0) => self.rows(),
            _ if matches!(self.name, "sysbench" | "smallbank") => self.rows(),
            (name, _) if self.name == "tatp" => {
                Some((self.size.rows as f64 * tatp::rows_each(name)) as u64)
            }
            (name, _) => tpch::rows(name, self.size.scale),
        };
        rows.unwrap_or(0)
    }

    /// Returns the number of keys for single rows of its first table; 0 where keys are no integers.
    pub fn keys(&self) -> u64 {
        match self.name {
            "lineitem" | "tpch" => tpch::rows("orders", self.size.scale).unwrap_or(0),
            "mybigtable" | "partsupp" | "tpcds" => 0,
            _ => self.rows().unwrap_or(0),
        }
    }

    /// The key with a number from 0 to [`DataSet::keys`], in the order of the table: the values of
    /// its key's columns; of one column the second has no meaning. Of LINEITEM it is the first
    /// line of an order.
    pub fn key(&self, number: u64) -> [i64; 2] {
        let number = number as i64;
        match self.name {
            "lineitem" | "tpch" => [tpch::order_key(number + 1), 1],
            "orders" => [tpch::order_key(number + 1), 0],
            "nation" | "region" => [number, 0],
            "ycsb" => [ycsb::key(number), 0],
            _ => [number + 1, 0],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DataSet, NAMES, Size};
    use std::collections::HashSet;
    use work::{DataType, Rows, Values};

    fn small(name: &str, seed: u64) -> DataSet {
        let size = Size { scale: 0.001, rows: 10_000, seed, ..Size::default() };
        DataSet::new(name, size).unwrap()
    }

    fn batches(set: &DataSet, table: usize) -> Vec<Rows> {
        set.fills().into_iter().nth(table).unwrap().batches.collect()
    }

    #[test]
    fn the_same_rows_for_the_same_seed_and_others_for_another() {
        for name in NAMES.iter().filter(|name| **name != "tpch") {
            assert_eq!(batches(&small(name, 1), 0), batches(&small(name, 1), 0), "{name}");
        }
        for name in ["synthetic", "mybigtable", "documents", "sysbench", "ycsb", "tatp"] {
            assert_ne!(batches(&small(name, 1), 0), batches(&small(name, 2), 0), "{name}");
            assert_ne!(small(name, 1).identity(), small(name, 2).identity());
        }
    }

    #[test]
    fn batches_have_the_columns_and_rows_that_they_say() {
        for name in NAMES {
            let set = small(name, 1);
            let tables = set.tables();
            for fill in set.fills() {
                let table = &tables[fill.table];
                let others =
                    table.columns.iter().filter(|column| !fill.columns.contains(&column.name));
                assert!(
                    others.clone().all(|column| column.nullable || column.default.is_some()),
                    "{name} {}",
                    table.name
                );
                let mut count = 0;
                for rows in fill.batches {
                    assert_eq!(rows.columns.len(), fill.columns.len(), "{name}");
                    let mut last = String::new();
                    for values in &rows.columns {
                        values.write(rows.count - 1, &mut last).unwrap();
                    }
                    count += rows.count as u64;
                }
                if fill.table == 0
                    && let Some(rows) = set.rows()
                {
                    assert_eq!(count, rows, "{name}");
                }
            }
        }
    }

    /// Each key names a row of the first table, and no two the same one.
    #[test]
    fn keys_are_keys_of_rows() {
        for name in NAMES.iter().filter(|name| small(name, 1).keys() > 0) {
            let set = small(name, 1);
            let table = &set.tables()[0];
            let columns = set.fills().remove(0).columns;
            let positions: Vec<usize> = table
                .key
                .iter()
                .map(|key| columns.iter().position(|column| column == key).unwrap())
                .collect();
            let mut keys = HashSet::new();
            for rows in batches(&set, 0) {
                for row in 0..rows.count {
                    keys.insert(
                        positions
                            .iter()
                            .map(|at| match &rows.columns[*at] {
                                Values::Integers(numbers) => numbers[row],
                                other => panic!("{name}: {other:?}"),
                            })
                            .collect::<Vec<i64>>(),
                    );
                }
            }
            let named: HashSet<Vec<i64>> =
                (0..set.keys()).map(|number| set.key(number)[..positions.len()].to_vec()).collect();
            assert_eq!(named.len() as u64, set.keys(), "{name}");
            assert!(named.is_subset(&keys), "{name}");
        }
    }

    /// The description's: 25 % each of 1 to 4 facilities and of 0 to 3 call forwardings of each,
    /// 85 % active ones; each call forwarding belongs to a facility.
    #[test]
    fn facilities_of_subscribers_are_those_of_the_description() {
        let set = small("tatp", 1);
        let columns = |table: usize| -> Vec<Vec<i64>> {
            let mut rows = Vec::new();
            for batch in batches(&set, table) {
                let integers: Vec<&Vec<i64>> = batch
                    .columns
                    .iter()
                    .filter_map(|values| match values {
                        Values::Integers(numbers) => Some(numbers),
                        _ => None,
                    })
                    .collect();
                let row = |at: usize| integers.iter().map(|values| values[at]).collect();
                rows.extend((0..batch.count).map(row).collect::<Vec<Vec<i64>>>());
            }
            rows
        };
        let (facilities, forwarded) = (columns(2), columns(3));
        let mut by_subscriber = [0_usize; 5];
        for chunk in facilities.chunk_by(|a, b| a[0] == b[0]) {
            by_subscriber[chunk.len()] += 1;
        }
        // Five standard deviations of a binomial distribution.
        let is_near = |count: usize, of: usize, share: f64| {
            let deviation = (of as f64 * share * (1.0 - share)).sqrt();
            (count as f64 - of as f64 * share).abs() < 5.0 * deviation
        };
        assert!(by_subscriber[1..].iter().all(|count| is_near(*count, 10_000, 0.25)));
        let active = facilities.iter().filter(|row| row[2] == 1).count();
        assert!(is_near(active, facilities.len(), 0.85), "{active}");
        let keys: HashSet<[i64; 2]> = facilities.iter().map(|row| [row[0], row[1]]).collect();
        assert!(forwarded.iter().all(|row| keys.contains(&[row[0], row[1]])));
        // Each of the three starts exists with probability 1/2.
        assert!(is_near(forwarded.len(), facilities.len() * 3, 0.5), "{}", forwarded.len());
        assert!(forwarded.iter().all(|row| (1..=8).contains(&(row[3] - row[2]))));
    }

    /// S3b: 3 to 18 NOT NULL columns of fixed length. S3e: two columns with the same values, in one
    /// of which equal values are adjacent.
    #[test]
    fn synthetic_tables_are_those_of_the_studies() {
        for columns in 3..=18 {
            let set = DataSet::new("synthetic", Size { columns, ..Size::default() }).unwrap();
            let table = set.tables().remove(0);
            assert_eq!(table.columns.len(), columns);
            let fixed = |data_type| {
                matches!(
                    data_type,
                    DataType::Int | DataType::BigInt | DataType::PageFiller { rows: 50 }
                )
            };
            assert!(table.columns.iter().all(|column| !column.nullable && fixed(column.data_type)));
        }
        let (mut apart, mut together): (Vec<i64>, Vec<i64>) = Default::default();
        for rows in batches(&small("synthetic", 1), 0) {
            for (all, values) in [(&mut apart, &rows.columns[1]), (&mut together, &rows.columns[2])]
            {
                let Values::Integers(numbers) = values else { panic!("{values:?}") };
                all.extend(numbers);
            }
        }
        let changes = |values: &[i64]| values.windows(2).filter(|pair| pair[0] != pair[1]).count();
        assert_eq!((changes(&together), changes(&apart) > 9_000), (99, true));
        let sorted = |mut values: Vec<i64>| {
            values.sort_unstable();
            values
        };
        assert_eq!(sorted(apart), sorted(together));
    }
}
