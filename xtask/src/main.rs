//! Developer commands: `cargo xtask test | test-live | bench | compare | detach | docs | dist |
//! tidy`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line tool")]

mod bench;
mod docs;
mod markdown;
mod process;
mod script;
mod test;
mod tidy;
mod tools;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask test [--all] [ARGUMENTS OF cargo test]
    install what the tests need, run the gate's tests in parallel, then tidy; --all runs all tests:
    campaigns, further versions of servers, simulations with many draws, packages
cargo xtask test-live mssql
    check the SQL Server that STEELBENCH_MSSQL_URL names: what it lacks, and the contract of
    engines; creates a database steelbench and drops it
cargo xtask bench [NAME...] [--blocks N] [--scale N]
    measure the experiments and scripts of xtask/bench beside their peers; a name that is unknown
    lists all, a prefix selects several: disk, postgres; --blocks replaces the number of blocks to
    try one, --scale is that of data sets
cargo xtask compare OLD NEW FILE...
    compare what two builds of the program show, report and export of results files
cargo xtask detach [NAME...]
    take the folder of an engine, study, tool or design and its lines in the registry out of a copy
    of the workspace, and build the binary without it; each of them, if none is named
cargo xtask docs [--check | --picture]
    write the reference pages, check command lines and screens, build the book into target/book by
    mdbook; --check only checks; --picture also runs README's experiment and replaces its picture
    and its screen
cargo xtask dist [--check] [--target x86_64 | aarch64] [--variant usual | sqlserver]
                 [--profile NAME | --binary FILE]
    build for an old C library and pack into target/dist: archive, bill of materials, .deb, .rpm,
    sums, recipes; --check also looks at the licences of crates and the oldest Rust, packs twice,
    runs lintian, and installs, uses and removes the package in a clean Debian; --binary packs a
    built program; the variant with SQL Server's driver is a .deb for this distribution
cargo xtask tidy [--sizes [SINCE]]
    language and links of pages and comments, names, file sizes, crate edges, circles, budgets,
    left-over notes, files without a `mod`, the oldest Rust that all crates accept; --sizes prints
    budgets, and why they rose since a revision";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.split_first() {
        Some((command, rest)) => match command.as_str() {
            "test" => test::run(rest),
            "test-live" => test::live(rest),
            "bench" => bench::run(rest),
            "compare" => script::compare(rest),
            "detach" => script::detach(rest),
            "dist" => script::dist(rest),
            "docs" => docs::run(rest),
            "tidy" => tidy::run(rest),
            _ => Err(HELP.into()),
        },
        None => Err(HELP.into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
