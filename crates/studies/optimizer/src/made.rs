//! Tables that a trial makes: those of the dials, or a published data set.

use crate::settings::{DATA, Data, SCALE, dials};
use datasets::{DataSet, Size};
use experiment::Configuration;
use work::{Fill, Table};

/// Tables that a trial makes: the table dials, with or without its partners, or those of TPC-H or
/// TPC-DS.
pub struct MadeTables {
    /// The tables, without their rows.
    pub tables: Vec<Table>,
    /// Their rows, which nothing makes before they are read.
    pub fills: Vec<Fill>,
    /// Everything that their rows depend on.
    pub identity: String,
    /// Bytes of their rows.
    pub row_bytes: u64,
    /// Rows, as a trial announces them.
    pub rows: u64,
}

impl MadeTables {
    /// Returns the tables of a configuration; `None`: they are the user's.
    pub fn for_configuration(configuration: &Configuration) -> Option<Self> {
        let data = configuration.get(DATA);
        match data {
            Data::Existing => None,
            Data::Dials => dials(configuration).map(|dials| Self {
                tables: dials.tables(),
                fills: dials.fills(),
                identity: dials.identity(),
                row_bytes: dials.row_bytes(),
                rows: dials.rows,
            }),
            Data::Tpch | Data::Tpcds => {
                let size = Size { scale: configuration.get(SCALE), ..Size::default() };
                DataSet::new(data.name(), size).map(|set| Self {
                    tables: set.tables(),
                    fills: set.fills(),
                    identity: set.identity(),
                    row_bytes: set.row_bytes(),
                    rows: set.all_rows(),
                })
            }
        }
    }
}
