//! Tests of builds without the driver.

use crate::SQL_SERVER;
use crate::not_built::trials::{MssqlHost, preflight, version};
use engine::Host;
use experiment::Configuration;
use work::{Cancel, Stop};

#[test]
fn sql_server_is_named_with_the_way_to_build_it() {
    let configuration = Configuration::default();
    let refused =
        SQL_SERVER.servers.unwrap().by_url("mssql://sa@db1/master").err().unwrap().to_string();
    let missing = SQL_SERVER.missing(&configuration).unwrap();
    let (_, origin) = version(&configuration, &Stop::when(|| false));
    let found = preflight(&[], &Stop::when(|| false));
    for message in [refused, missing, origin, format!("{found:?}")] {
        assert!(message.contains("this build does not include SQL Server"), "{message}");
        assert!(message.contains("cargo build --release --features sqlserver"), "{message}");
    }
}

#[test]
fn trials_are_refused() {
    let refused = MssqlHost.prepare(&Configuration::default(), 0, &Cancel::default());
    assert!(refused.err().unwrap().to_string().contains("SQL Server"));
}
