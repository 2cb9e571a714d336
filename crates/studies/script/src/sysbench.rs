//! sysbench's OLTP scripts of version 1.0.20 with its default options, in pgbench's language: the
//! same statements in the same order with the same distributions of values.

use datasets::sysbench::{C_GROUPS, Distribution, GROUP_DIGITS, PAD_GROUPS, PARETO_H};
use std::fmt::Write;

/// Names of the scripts.
pub const NAMES: [&str; 4] =
    ["oltp_point_select", "oltp_read_only", "oltp_write_only", "oltp_read_write"];

/// Point selects of a transaction (`--point-selects`) and rows of a range (`--range-size`).
const POINT_SELECTS: usize = 10;
const RANGE_ROWS: u32 = 100;

/// Tables of the scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sysbench {
    /// Number of tables, each chosen with the same probability for each kind of statement.
    pub tables: u32,
    /// Rows of each.
    pub rows: u64,
    /// The distribution of the chosen rows.
    pub distribution: Distribution,
}

impl Default for Sysbench {
    fn default() -> Self {
        Self { tables: 1, rows: 10_000, distribution: Distribution::Special }
    }
}

impl Sysbench {
    /// The text of a script; `None` when it has another name.
    pub fn script(self, name: &str) -> Option<String> {
        let mut text = String::new();
        match name {
            "oltp_point_select" => self.point_selects(&mut text, 1),
            "oltp_read_only" => transaction(&mut text, |text| self.reads(text)),
            "oltp_write_only" => transaction(&mut text, |text| self.writes(text)),
            "oltp_read_write" => transaction(&mut text, |text| {
                self.reads(text);
                self.writes(text);
            }),
            _ => return None,
        }
        Some(text)
    }

    fn reads(self, text: &mut String) {
        self.point_selects(text, POINT_SELECTS);
        for select in [
            "SELECT c FROM sbtest# WHERE id BETWEEN :id AND :last;",
            "SELECT SUM(k) FROM sbtest# WHERE id BETWEEN :id AND :last;",
            "SELECT c FROM sbtest# WHERE id BETWEEN :id AND :last ORDER BY c;",
            "SELECT DISTINCT c FROM sbtest# WHERE id BETWEEN :id AND :last ORDER BY c;",
        ] {
            let id = self.set("id");
            self.on_a_table(text, &format!("{id}\\set last :id + {}\n{select}\n", RANGE_ROWS - 1));
        }
    }

    fn point_selects(self, text: &mut String, count: usize) {
        let point_select = format!("{}SELECT c FROM sbtest# WHERE id = :id;\n", self.set("id"));
        self.on_a_table(text, &point_select.repeat(count));
    }

    fn writes(self, text: &mut String) {
        let (id, c) = (self.set("id"), digits("c", C_GROUPS));
        self.on_a_table(text, &format!("{id}UPDATE sbtest# SET k = k + 1 WHERE id = :id;\n"));
        self.on_a_table(text, &format!("{c}{id}UPDATE sbtest# SET c = :c WHERE id = :id;\n"));
        let (k, pad) = (self.set("k"), digits("pad", PAD_GROUPS));
        let insert = "INSERT INTO sbtest# (id, k, c, pad) VALUES (:id, :k, :c, :pad);";
        self.on_a_table(
            text,
            &format!("{id}{k}{c}{pad}DELETE FROM sbtest# WHERE id = :id;\n{insert}\n"),
        );
    }

    /// Sets a variable to the number of a row, as the distribution has it.
    fn set(self, variable: &str) -> String {
        let rows = self.rows;
        match self.distribution {
            Distribution::Special => format!("\\set {variable} random_special(1, {rows})\n"),
            Distribution::Uniform => format!("\\set {variable} random(1, {rows})\n"),
            Distribution::Pareto => {
                format!("\\set {variable} random_pareto(1, {rows}, {PARETO_H})\n")
            }
        }
    }

    /// Writes the commands for each table that may be drawn: a prepared statement names its table.
    fn on_a_table(self, text: &mut String, commands: &str) {
        if self.tables == 1 {
            return text.push_str(&commands.replace('#', "1"));
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\\set table random(1, {})", self.tables);
        for table in 1..=self.tables {
            let branch = if table == 1 { "if" } else { "elif" };
            let _ = writeln!(text, "\\{branch} :table = {table}");
            text.push_str(&commands.replace('#', &table.to_string()));
        }
        text.push_str("\\endif\n");
    }
}

fn digits(variable: &str, groups: u32) -> String {
    format!("\\set {variable} random_digits({groups}, {GROUP_DIGITS})\n")
}

fn transaction(text: &mut String, body: impl FnOnce(&mut String)) {
    text.push_str("BEGIN;\n");
    body(text);
    text.push_str("COMMIT;\n");
}
