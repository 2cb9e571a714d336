//! A build without Microsoft's driver says so, and how to get one that has it.
#![cfg(not(feature = "sqlserver"))]

use std::process::Command;

#[test]
fn sql_server_is_named_with_the_way_to_build_it() {
    let output = Command::new(env!("CARGO_BIN_EXE_steelbench"))
        .args(["waits", "mssql://sa@db1/master"])
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{message}");
    for part in
        ["this build does not include SQL Server", "cargo build --release --features sqlserver"]
    {
        assert!(message.contains(part), "{message}");
    }
}
