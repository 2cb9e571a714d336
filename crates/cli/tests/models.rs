//! Models of what was measured, as a user asks for them: a section of the report, `predict`,
//! `results`, `size` from a recording.

use crate::common::{Exit, Lab};
use serde_json::Value;

const CONNECTIONS: &str = "[experiment]\nname = \"t\"\n[target]\nengine \
     = \"sqlite\"\n[workload]\nprobe = \"insert\"\nrows = 3000\nrows_per_transaction = \
     50\n[factors]\n\"workload.connections\" = [1, 2, 4, 8, 16]\n[model]\nhold_out \
     = \"workload.connections > 4\"\n[repeats]\nblocks = 4\n";

/// The levels of a busy machine may be too noisy for an answer.
fn is_answered(ended: &Exit) -> bool {
    !ended.stderr.contains("cannot be predicted")
}

#[test]
fn what_a_run_says_of_levels_that_it_has_not_seen() {
    let lab = Lab::with(CONNECTIONS);
    lab.run(0).shows("Model\n").shows("fitted to the other levels of");
    let shown: Value =
        serde_json::from_str(&lab.steelbench(&["show", "t", "--json"]).stdout).unwrap();
    let model = &shown["models"][0];
    let tested = |at: usize| model["levels"][at]["tested"].clone();
    assert!(tested(2).is_null() && tested(3)["predicted"].as_f64().unwrap() > 0.0, "{model}");
    let candidates = model["candidates"].as_array().unwrap();
    assert!(candidates.len() >= 2, "{candidates:?}");
    // An independent computation of its error.
    let held = &candidates[0]["tested"][0];
    let error = held["predicted"].as_f64().unwrap() / held["measured"].as_f64().unwrap() - 1.0;
    assert!((held["error"].as_f64().unwrap() - error).abs() < 1e-9);
    let page = lab.read("results/t.html");
    assert!(
        page.contains("\"kind\":\"model\"") && page.contains("hollow: held out from the model")
    );

    let predict = |more: &[&str]| {
        lab.steelbench(&[&["predict", "t", "--set", "connections=12"], more].concat())
    };
    let prediction = predict(&["--set", "cpus=2x", "--json"]);
    if is_answered(&prediction) {
        let json: Value = serde_json::from_str(&prediction.stdout).unwrap();
        assert_eq!((json["kind"].as_str(), json["n"].as_f64()), (Some("prediction"), Some(12.0)));
        let (low, high) =
            (json["interval"]["low"].as_f64().unwrap(), json["interval"]["high"].as_f64().unwrap());
        let throughput = json["throughput"].as_f64().unwrap();
        assert!(low < throughput && throughput < high);
        assert!(json["factor_median"].as_f64().unwrap() >= 1.0, "{json}");
        predict(&[]).expect(0).shows("by Little's Law");
    }
    let refused = lab.steelbench(&["predict", "t", "--set", "data_files=4"]).expect(2);
    refused.says("data_files was not varied; varied: connections");
    lab.steelbench(&["history", "t"]).expect(0).shows("Record of the models");
    // Of the levels that the file holds out, and not of the highest third.
    let history: Value =
        serde_json::from_str(&lab.steelbench(&["history", "t", "--json"]).stdout).unwrap();
    let record = history["runs"][0]["models"][0]["model"]["tested"].as_array().unwrap();
    let at: Vec<f64> = record.iter().filter_map(|record| record["n"].as_f64()).collect();
    assert_eq!(at, [8.0, 16.0], "{history}");

    let open = lab.steelbench(&["predict", "t", "--set", "connections=16", "--set", "rate=1"]);
    if is_answered(&open) {
        open.expect(0).shows("from the intended start, at 1 a second").shows("flow-equivalent");
    }
    let refused = lab.steelbench(&["predict", "t", "--set", "rate=1e9"]).expect(2);
    if is_answered(&refused) {
        refused.says("rate=1000000000 cannot be sustained");
    }

    // The demand of a configuration that was run.
    let plan = "[demand]\nfrom = \"t connections=4\"\n[parts.host]\ncores = 2\n[parts.disk]\niops \
                = 1000\n[[alternative]]\nname = \"one\"\nchain = [{ part = \"disk\" }, { part = \
                \"host\" }]\n";
    lab.write("plan.toml", plan);
    let sized: Value =
        serde_json::from_str(&lab.steelbench(&["size", "plan.toml", "--json"]).stdout).unwrap();
    assert!(sized["plan"]["demand"]["transactions"].as_f64().unwrap() > 0.0, "{sized}");
    assert!(sized["plan"]["demand"]["processor_s"].as_f64().unwrap() > 0.0, "{sized}");
    lab.write("plan.toml", &plan.replace(" connections=4", ""));
    lab.steelbench(&["size", "plan.toml"]).expect(2).says("several configurations match");
    lab.write("plan.toml", &plan.replace("t connections=4", "u"));
    lab.steelbench(&["size", "plan.toml"]).expect(2).says("demand.from: no results file u");
}

#[test]
fn a_run_without_a_model_says_what_it_needs() {
    let lab = Lab::with(&CONNECTIONS.replace("[1, 2, 4, 8, 16]", "[1, 2]").replace("> 4", "> 1"));
    lab.run(0);
    lab.steelbench(&["predict", "t", "--set", "connections=8"]).expect(2).says(
        "it needs a factor among workload.analytics, workload.connections, workload.streams, \
         workload.threads, workload.queue_depth with 4 or more levels",
    );
}

#[test]
fn each_script_of_a_mix_has_its_prediction() {
    let insert = "probe = \"insert\"\nrows = 3000\nrows_per_transaction = 50\n";
    let script = "probe = \"script\"\nscript = [\"short.sql@3\", \"long.sql\"]\ninitialize = \
                  true\nduration = \"300 ms\"\n";
    let lab = Lab::with(&CONNECTIONS.replace(insert, script));
    lab.write(
        "short.sql",
        "\\set aid random(1, 1000)\nSELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
    );
    lab.write("long.sql", "SELECT sum(abalance) FROM pgbench_accounts WHERE aid < 3000;\n");
    lab.run(0);
    lab.steelbench(&["predict", "t", "--set", "connections=6"])
        .expect(0)
        .shows("short.sql")
        .shows("By script (estimates)")
        .shows("held-out levels the median latency error");
    let shown = lab.steelbench(&["predict", "t", "--set", "connections=6", "--json"]).stdout;
    let shown: Value = serde_json::from_str(&shown).unwrap();
    let scripts = shown["by_script"]["scripts"].as_array().unwrap();
    let number = |at: usize, key: &str| scripts[at][key].as_f64().unwrap();
    let all = number(0, "throughput") + number(1, "throughput");
    assert!((all / shown["throughput"].as_f64().unwrap() - 1.0).abs() < 1e-6, "{shown}");
    // Drawn three times as often, and shorter.
    assert!((2.5..3.5).contains(&(number(0, "throughput") / number(1, "throughput"))), "{shown}");
    assert!(number(0, "latency_s") < number(1, "latency_s"), "{shown}");
}

#[test]
fn published_results_beside_each_other() {
    let lab = Lab::new();
    let example = lab.steelbench(&["results", "--example"]).expect(0);
    lab.write("figures.csv", &example.stdout);
    let shown = lab.steelbench(&["results", "figures.csv"]).expect(0);
    shown.shows("1.93x").shows("4.37x").shows("not measurements");
    lab.write("tpc.csv", "System,tpmC\nA,\"1,000\"\nB,5 GB\n");
    let wrong = lab.steelbench(&["results", "tpc.csv", "--columns", "score=tpmC"]).expect(2);
    wrong.says("tpc.csv: line 3, score: \"5 GB\" is not a number");
    lab.steelbench(&["results", "tpc.csv", "--columns", "tpmC"])
        .expect(2)
        .says("expected COLUMN=NAME");
}
