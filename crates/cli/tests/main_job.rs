//! The build for the main job says what it leaves out, and how to get it.
#![cfg(not(feature = "full"))]

mod common;

use common::{Lab, scripted};

#[test]
fn what_is_left_out_is_named_with_the_way_to_build_it() {
    let lab = Lab::with(&scripted(1, "", ""));
    lab.run(0);
    for (arguments, part) in [
        (&["export", "t", "--format", "xlsx"][..], "`export --format xlsx`"),
        (&["export", "t", "--format", "parquet"], "`export --format parquet`"),
        (&["serve"], "`serve`"),
        (&["waits", "mssql://sa@db1/master"], "this build has no SQL Server"),
    ] {
        lab.steelbench(arguments)
            .expect(2)
            .says(part)
            .says("cargo build --release --features full");
    }
    lab.steelbench(&["export", "t", "--format", "csv"]).expect(0);
    lab.steelbench(&["report", "t"]).expect(0);
}
