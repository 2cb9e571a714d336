//! A build without Microsoft's driver says so, and how to get one that has it.
#![cfg(not(feature = "sqlserver"))]

mod common;

use common::Lab;

#[test]
fn sql_server_is_named_with_the_way_to_build_it() {
    let lab = Lab::new();
    lab.steelbench(&["waits", "mssql://sa@db1/master"])
        .expect(2)
        .says("this build has no SQL Server")
        .says("cargo build --release --features sqlserver");
}
