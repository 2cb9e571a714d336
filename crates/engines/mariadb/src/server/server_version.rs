//! The versions of servers and of their programs.

use std::fmt;

/// The numbers of a version that name its series: 10.11 of 10.11.6.
pub(super) const SERIES: usize = 2;

/// The version of a server or a program, and its product.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerVersion {
    /// 10, 11 and 6 of 10.11.6.
    pub numbers: Vec<u32>,
    /// True for MySQL.
    pub is_mysql: bool,
}

impl ServerVersion {
    /// Reads the version as a server writes it, also in a dump: `10.11.6-MariaDB-0+deb12u1`,
    /// `9.4.0`.
    pub fn parse(text: &str) -> Option<Self> {
        let word = text.split_whitespace().next()?;
        let version = word.split(['-', ',']).next()?;
        let numbers: Vec<u32> =
            version.split('.').map_while(|number| number.parse().ok()).collect();
        let is_mysql = !word.contains("-MariaDB");
        (numbers.len() > 1).then_some(Self { numbers, is_mysql })
    }

    /// Reads the version of the product in what a program prints: `mariadb-dump  Ver 10.19 Distrib
    /// 10.11.6-MariaDB, for debian-linux-gnu (x86_64)`, `mysqldump  Ver 9.4.0 for Linux on x86_64`.
    pub(super) fn of_program(output: &str) -> Option<Self> {
        let of_mariadb = output.split_whitespace().find(|word| word.contains("-MariaDB"));
        Self::parse(of_mariadb.or_else(|| Some(output.split_once(" Ver ")?.1))?)
    }

    /// Returns whether the other one is of the same product and series.
    pub fn is_same_series(&self, other: &Self) -> bool {
        let series = |version: &Self| version.numbers.iter().take(SERIES).copied().collect();
        let [series, others]: [Vec<u32>; 2] = [self, other].map(series);
        self.is_mysql == other.is_mysql && series == others
    }
}

impl fmt::Display for ServerVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.numbers.iter().map(ToString::to_string).collect();
        let product = if self.is_mysql { "MySQL" } else { "MariaDB" };
        write!(f, "{product} {}", numbers.join("."))
    }
}
