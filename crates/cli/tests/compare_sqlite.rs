//! The gate on a real engine.

use crate::common::Lab;

fn file(rows_per_transaction: u32) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"sqlite\"\nsettings = {{ journal_mode = \
         \"wal\", synchronous = \"off\" }}\n[workload]\nprobe = \"insert\"\nconnections = \
         1\nrows = 4000\nrows_per_transaction = {rows_per_transaction}\n[repeats]\nblocks = 5\n"
    )
}

/// A transaction for each row costs many times what one for four hundred does, on any machine: of
/// processor time, since other work on the disk would hide it.
#[test]
fn a_gate_sees_transactions_that_became_small() {
    let lab = Lab::with(&file(400));
    lab.run_with(&["--results", "before.steelbench"], 0);
    lab.write("e.toml", &file(1));
    lab.run_with(&["--results", "after.steelbench"], 0);
    let gate = |from: &str, to: &str, limit: &str| {
        lab.steelbench(&["compare", from, to, "--fail-if", limit])
    };
    let (before, after) = ("before.steelbench", "after.steelbench");
    let slower =
        gate(before, after, "slower:3%").expect(1).shows("Gate failed: elapsed of all trials");
    assert!(slower.stdout.contains("workload.rows_per_transaction"), "{slower:?}");
    gate(after, before, "slower:3%").expect(0).shows("Gate passed");
    gate(after, before, "faster:3%").expect(1);
    gate(before, after, "throughput:-3%").expect(1);
    gate(before, after, "iops:-3%").expect(2).says("no comparable response iops");
}
