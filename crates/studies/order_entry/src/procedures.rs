//! The transactions as stored procedures: a call is a round trip. They run the statements of the
//! client's transactions in the same order.

use crate::input::{Customer, Input};
use crate::kind::Kind;
use std::fmt::Write as _;

/// A language of stored procedures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// PL/pgSQL.
    PlPgSql,
    /// That of MariaDB and MySQL.
    MariaDb,
}

/// Begins the names of the procedures.
const PREFIX: &str = "order_entry_";

impl Language {
    /// The language of an engine for which the procedures are written.
    pub fn for_engine(engine: &str) -> Option<Self> {
        match engine {
            "postgres" => Some(Self::PlPgSql),
            "mariadb" => Some(Self::MariaDb),
            _ => None,
        }
    }

    /// The statements that create the procedures; each replaces those that exist.
    pub fn statements(self) -> impl Iterator<Item = &'static str> {
        let all = match self {
            Self::PlPgSql => include_str!("procedures/postgres.sql"),
            Self::MariaDb => include_str!("procedures/mariadb.sql"),
        };
        all.split("\n\n").map(|own| own.trim().trim_end_matches(';'))
    }

    /// Writes the call of a transaction with its values.
    pub fn call(self, input: &Input, time: &str, out: &mut String) {
        out.clear();
        // Writing to memory cannot fail.
        let _ = self.put_call(input, time, out);
    }

    fn put_call(self, input: &Input, time: &str, out: &mut String) -> std::fmt::Result {
        let Input { warehouse, district, customer_of: [home, home_district], number, .. } = input;
        let (customer, name) = match &input.customer {
            Customer::Number(customer) => (*customer, ""),
            Customer::LastName(name) => (0, name.as_str()),
        };
        write!(out, "CALL {}({warehouse}", procedure(input.kind))?;
        match input.kind {
            Kind::NewOrder => {
                let all_local = i64::from(input.remote_lines() == 0);
                write!(out, ", {district}, {customer}, '{time}', {all_local}")?;
                if self == Self::MariaDb {
                    write!(out, ", {}", input.lines.len())?;
                }
                self.put_list(out, input.lines.iter().map(|line| line.item))?;
                self.put_list(out, input.lines.iter().map(|line| line.supplier))?;
                self.put_list(out, input.lines.iter().map(|line| line.quantity))?;
            }
            Kind::Payment => {
                let (whole, cents) = (input.amount / 100, input.amount % 100);
                write!(out, ", {district}, {home}, {home_district}, {customer}, '{name}'")?;
                write!(out, ", {whole}.{cents:02}, '{time}'")?;
            }
            Kind::OrderStatus => write!(out, ", {home_district}, {customer}, '{name}'")?,
            Kind::Delivery => write!(out, ", {number}, '{time}'")?,
            Kind::StockLevel => write!(out, ", {district}, {number}")?,
        }
        out.push(')');
        Ok(())
    }

    /// A list as one parameter.
    fn put_list(self, out: &mut String, values: impl Iterator<Item = i64>) -> std::fmt::Result {
        let [begin, end] = match self {
            Self::PlPgSql => [", '{", "}'"],
            Self::MariaDb => [", '", "'"],
        };
        out.push_str(begin);
        for (place, value) in values.enumerate() {
            write!(out, "{}{value}", if place == 0 { "" } else { "," })?;
        }
        out.push_str(end);
        Ok(())
    }
}

/// Name of the procedure of a kind.
pub fn procedure(kind: Kind) -> String {
    format!("{PREFIX}{}", kind.profile().name.replace('-', "_"))
}
