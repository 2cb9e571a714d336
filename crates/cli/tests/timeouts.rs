//! A trial that `limits.trial_time` stops is an observation, from the runner to the report.

use crate::common::{Lab, scripted};

/// `moody` is faster than `steady`, but in a good half of its trials takes longer than a trial may.
const MOODY: &str = "\\set slow random(1, 10)
\\if :slow <= 6
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1e12) SELECT count(*) \
                     FROM n;
\\else
\\sleep 100 ms
\\endif
SELECT 1;
";

fn file(name: &str, scripts: &str) -> String {
    format!(
        "[experiment]\nname = \"{name}\"\nresponse = \"elapsed\"\n[target]\nengine = \
         \"sqlite\"\n[workload]\nprobe = \"script\"\nconnections = 1\ntransactions = \
         1\n[factors]\n\"workload.script\" = {scripts}\n[repeats]\nblocks = 6\nretries = 3\nseed \
         = 2\n[limits]\ntrial_time = \"1 s\"\n"
    )
}

#[test]
fn a_configuration_with_time_outs_is_not_called_better() {
    let lab = Lab::with(&file("t", "[\"steady.sql\", \"moody.sql\"]"));
    lab.write("steady.sql", "\\sleep 300 ms\nSELECT 1;\n");
    lab.write("moody.sql", MOODY);
    let ended = lab
        .run(1)
        .says("took longer than limits.trial_time (1.00 s)")
        .says(" of them at limits.trial_time.");
    assert!(!ended.stderr.contains("retrying"), "{ended:?}");
    // One attempt of each, what timed out with its limit and the time until then.
    let sql = "SELECT count(*), max(attempt), count(timeout_s), min(timeout_s), max(timeout_s) \
               FROM trials
               WHERE status = 'failed'";
    let failed = lab.rows("t", sql);
    let [count, rest] = failed[0].splitn(2, '|').collect::<Vec<_>>().try_into().unwrap();
    assert_eq!(rest, format!("1|{count}|1|1"));
    let count: usize = count.parse().unwrap();
    assert!((1..6).contains(&count), "the seed decides which blocks are slow: {count}");
    assert_eq!(lab.trials("t"), 12);
    let measured = "SELECT min(elapsed_s) > 0.1 AND max(elapsed_s) < 60 FROM trials WHERE \
                    timeout_s IS NOT NULL";
    assert_eq!(lab.rows("t", measured), ["1"]);
    let shown = lab.steelbench(&["show", "t", "--full"]).expect(0).stdout;
    for part in [
        "at least",
        "timed out",
        &format!("limits.trial_time stopped {count} of 6 trials of script=moody.sql"),
        "The levels of script cannot be compared: trials of moody.sql timed out.",
    ] {
        assert!(shown.contains(part), "{part:?} is not in {shown}");
    }
    assert!(!shown.contains("each succeeded on retry"), "{shown}");
    let json = lab.json(&["show", "t"]).remove(0);
    let row = &json["configurations"][1];
    assert_eq!((&row["timeouts"], &row["response"]["bound"]), (&count.into(), &"at_least".into()));
    assert_ne!(row["standing"], "best");
    // What took too long is known and not run again.
    lab.run(1).says("nothing to run");
}

/// A trial that is stopped before its measurement says nothing of it: a failure, which is tried
/// again.
#[test]
fn a_time_out_in_the_preparation_is_a_failure() {
    let lab = Lab::with(
        &scripted(1, "real_delay = \"100 s\"", "[limits]\ntrial_time = \"1 s\"\n")
            .replace("[workload]", "[workload]\nwarmup = \"100 s\"")
            .replace("blocks = 1", "blocks = 1\nretries = 1"),
    );
    lab.run(1).says("(retrying)");
    let sql =
        "SELECT count(*), count(timeout_s), sum(observed) FROM trials WHERE status = 'failed'";
    assert_eq!(lab.rows("t", sql), ["4|0|0"]);
}
