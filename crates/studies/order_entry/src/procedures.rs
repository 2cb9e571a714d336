//! The transactions as stored procedures: a call is a round trip. They run the statements of the
//! client's transactions in the same order.

use crate::input::{Customer, Input};
use crate::kind::Kind;
use std::fmt::Write as _;

/// A language of stored procedures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// PL/pgSQL.
    PlPgSql,
    /// That of MariaDB and MySQL.
    MariaDb,
    /// Transact-SQL, of SQL Server 2017 and later.
    TransactSql,
}

/// Begins the names of the procedures.
const PREFIX: &str = "order_entry_";

impl Language {
    /// The language of an engine for which the procedures are written.
    pub fn for_engine(engine: &str) -> Option<Self> {
        match engine {
            "postgres" => Some(Self::PlPgSql),
            "mariadb" => Some(Self::MariaDb),
            "sqlserver" => Some(Self::TransactSql),
            _ => None,
        }
    }

    /// The statements that create the procedures; each replaces those that exist.
    pub fn statements(self) -> impl Iterator<Item = &'static str> {
        let all = match self {
            Self::PlPgSql => include_str!("procedures/postgres.sql"),
            Self::MariaDb => include_str!("procedures/mariadb.sql"),
            Self::TransactSql => include_str!("procedures/sqlserver.sql"),
        };
        all.split("\n\n").map(|part| part.trim().trim_end_matches(';'))
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
        let [begin, open, close] = match self {
            Self::PlPgSql | Self::MariaDb => ["CALL ", "(", ")"],
            Self::TransactSql => ["EXEC ", " ", ""],
        };
        write!(out, "{begin}{}{open}{warehouse}", procedure(input.kind))?;
        match input.kind {
            Kind::NewOrder => {
                let all_local = i64::from(input.remote_lines() == 0);
                write!(out, ", {district}, {customer}, '{time}', {all_local}")?;
                if self != Self::PlPgSql {
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
        out.push_str(close);
        Ok(())
    }

    /// A list as one parameter.
    fn put_list(self, out: &mut String, values: impl Iterator<Item = i64>) -> std::fmt::Result {
        let [begin, end] = match self {
            Self::PlPgSql => [", '{", "}'"],
            Self::MariaDb => [", '", "'"],
            Self::TransactSql => [", '[", "]'"],
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

#[cfg(test)]
mod tests {
    use super::Language;
    use crate::input::{Customer, Input, Line};
    use crate::kind::Kind;
    use testing::t_sql::parse_errors;

    const TIME: &str = "2026-11-27 08:30:00";

    fn input(kind: Kind) -> Input {
        let line = |item, supplier| Line { item, supplier, quantity: 5 };
        Input {
            kind,
            warehouse: 1,
            district: 2,
            customer_of: [3, 4],
            customer: Customer::LastName("BARBARBAR".into()),
            lines: vec![line(70, 1), line(80, 6)],
            amount: 1205,
            number: 9,
        }
    }

    fn calls(language: Language) -> Vec<String> {
        let kinds =
            [Kind::NewOrder, Kind::Payment, Kind::OrderStatus, Kind::Delivery, Kind::StockLevel];
        let mut all = Vec::new();
        for kind in kinds {
            let mut call = String::new();
            language.call(&input(kind), TIME, &mut call);
            all.push(call);
        }
        all
    }

    #[test]
    fn calls_have_the_values_in_the_order_of_the_parameters() {
        assert_eq!(
            calls(Language::TransactSql),
            [
                "EXEC order_entry_new_order 1, 2, 0, '2026-11-27 08:30:00', 0, 2, '[70,80]', \
                 '[1,6]', '[5,5]'",
                "EXEC order_entry_payment 1, 2, 3, 4, 0, 'BARBARBAR', 12.05, '2026-11-27 08:30:00'",
                "EXEC order_entry_order_status 1, 4, 0, 'BARBARBAR'",
                "EXEC order_entry_delivery 1, 9, '2026-11-27 08:30:00'",
                "EXEC order_entry_stock_level 1, 2, 9",
            ]
        );
        for (language, new_order) in [
            (
                Language::PlPgSql,
                "CALL order_entry_new_order(1, 2, 0, '2026-11-27 08:30:00', 0, '{70,80}', \
                 '{1,6}', '{5,5}')",
            ),
            (
                Language::MariaDb,
                "CALL order_entry_new_order(1, 2, 0, '2026-11-27 08:30:00', 0, 2, '70,80', '1,6', \
                 '5,5')",
            ),
        ] {
            assert_eq!(calls(language)[0], new_order);
        }
    }

    /// The stand-in for a SQL Server runs no procedures: a grammar that others wrote reads them.
    #[test]
    fn transact_sql_is_accepted_by_an_independent_grammar() {
        let created = Language::TransactSql.statements().map(str::to_owned);
        let all: Vec<String> = created.chain(calls(Language::TransactSql)).collect();
        assert_eq!(all.len(), 10);
        let Some(errors) = parse_errors(&all) else { return };
        assert_eq!(errors, "");
        let misspelt: Vec<String> =
            all.iter().map(|sql| sql.replace("PROCEDURE", "PROCEDUR")).collect();
        assert_ne!(parse_errors(&misspelt), Some(String::new()));
    }
}
