//! The peer of the scan probe in `cargo xtask bench`: the shortest loop that runs a statement on
//! the SQLite that we are built with.
//!
//! `straight_scan FILE STATEMENT COUNT` prints the mean milliseconds of COUNT runs after a first
//! one.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a command line tool for benches")]

use rusqlite::Connection;
use std::time::Instant;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, sql, count] = &arguments[..] else { panic!("straight_scan FILE STATEMENT COUNT") };
    let connection = Connection::open(file).unwrap();
    connection.pragma_update(None, "cache_size", -2_000_000).unwrap();
    let mut statement = connection.prepare(sql).unwrap();
    let mut run = || {
        let mut rows = statement.raw_query();
        while rows.next().unwrap().is_some() {}
    };
    run();
    let (count, start) = (count.parse::<u32>().unwrap(), Instant::now());
    (0..count).for_each(|_| run());
    println!("{}", start.elapsed().as_secs_f64() * 1e3 / f64::from(count));
}
