//! Tables that a trial makes: those of the dials, or a published data set.

use crate::dials::Dials;
use crate::settings::{DATA, Data, SCALE, dials};
use datasets::{DataSet, Size};
use experiment::Configuration;
use work::{Fill, Table};

/// Tables that a trial makes.
#[derive(Debug, Clone, Copy)]
pub enum Tables {
    /// The table dials, with or without its partners.
    Dials(Dials),
    /// The tables of TPC-H or TPC-DS.
    Published(DataSet),
}

impl Tables {
    /// Returns the tables of a configuration; `None`: they are the user's.
    pub fn for_configuration(configuration: &Configuration) -> Option<Self> {
        let named = configuration.get(DATA);
        match named {
            Data::Dials => dials(configuration).map(Self::Dials),
            Data::Existing => None,
            Data::Tpch | Data::Tpcds => {
                let size = Size { scale: configuration.get(SCALE), ..Size::default() };
                DataSet::new(named.name(), size).map(Self::Published)
            }
        }
    }

    /// Returns its tables.
    pub fn tables(&self) -> Vec<Table> {
        match self {
            Self::Dials(set) => set.tables(),
            Self::Published(set) => set.tables(),
        }
    }

    /// Returns the rows of its tables, made on request.
    pub fn fills(&self) -> Vec<Fill> {
        match self {
            Self::Dials(set) => set.fills(),
            Self::Published(set) => set.fills(),
        }
    }

    /// Returns all that its tables and rows follow from.
    pub fn identity(&self) -> String {
        match self {
            Self::Dials(set) => set.identity(),
            Self::Published(set) => set.identity(),
        }
    }

    /// Returns the bytes of its rows, about.
    pub fn row_bytes(&self) -> u64 {
        match self {
            Self::Dials(set) => set.row_bytes(),
            Self::Published(set) => set.row_bytes(),
        }
    }

    /// Returns the number of its rows, about.
    pub fn rows(&self) -> u64 {
        match self {
            Self::Dials(set) => set.rows,
            Self::Published(set) => set.all_rows(),
        }
    }
}
