//! Parameters of commands that are drawn for each block.

use crate::common::Lab;
use std::collections::BTreeSet;

/// Prints what it got, as a response.
const DRAWN: &str = r#"
[experiment]
name = "drawn"
[target]
engine = "none"
[workload]
probe = "command"
command = "echo {x} $x {word}"
random = { x = "1..1000000", word = ["a", "b"] }
[workload.responses.printed]
regex = "^([0-9]+) "
direction = "lower"
[workload.responses.variable]
regex = "^[0-9]+ ([0-9]+)"
direction = "lower"
[factors]
"workload.runs" = [1, 2]
[repeats]
blocks = 6
seed = 5
"#;

/// Block, configuration, what was recorded and what the command printed.
fn trials(lab: &Lab) -> Vec<(u32, usize, f64, f64)> {
    let recording =
        store::Store::open(lab.path("results/drawn.steelbench")).unwrap().read(1).unwrap();
    let trials = recording.trials.iter().map(|trial| {
        let observations = trial.observations.as_ref().unwrap();
        let [printed, variable] =
            ["printed", "variable"].map(|text| observations.response(text).unwrap());
        assert_eq!(printed, variable);
        assert!([1.0, 2.0].contains(&observations.fact("drawn:word").unwrap()));
        (trial.block, trial.configuration, observations.fact("drawn:x").unwrap(), printed)
    });
    let mut trials: Vec<_> = trials.collect();
    trials.sort_by_key(|trial| (trial.0, trial.1));
    trials
}

#[test]
fn all_configurations_of_a_block_get_the_recorded_value() {
    let lab = Lab::with(DRAWN);
    lab.run(0);
    let first = trials(&lab);
    assert_eq!(first.len(), 12);
    for pair in first.chunks(2) {
        assert_eq!((pair[0].0, pair[0].2), (pair[1].0, pair[1].2), "{first:?}");
        assert!(pair.iter().all(|pair| pair.2 == pair.3), "{pair:?}");
    }
    let values: BTreeSet<u64> = first.iter().map(|draw| draw.2 as u64).collect();
    assert_eq!(values.len(), 6, "{first:?}");
    // Another run of the file draws the same.
    let other = Lab::with(DRAWN);
    other.run(0);
    assert_eq!(trials(&other), first);
}

#[test]
fn reports_say_how_the_response_follows_a_drawn_parameter() {
    // The cost is printed, so that it depends on nothing else.
    let file = DRAWN
        .replace("echo {x} $x {word}", "echo {x} $x; echo cost=$(({word} * 10 + {x} % 3))")
        .replace("[\"a\", \"b\"]", "[1, 9]")
        .replace("blocks = 6", "blocks = 8")
        .replace(
            "[factors]",
            "[workload.responses.cost]\nregex = \"cost=([0-9]+)\"\ndirection = \"lower\"\n\
             [factors]",
        )
        .replace("name = \"drawn\"", "name = \"drawn\"\nresponse = \"cost\"");
    let lab = Lab::with(&file);
    lab.run(0);
    let shown = lab.steelbench(&["show", "drawn", "--full"]).expect(0).stdout;
    assert!(shown.contains("cost follows word:"), "{shown}");
    assert!(shown.contains("from word=1 to word=9"), "{shown}");
    let json = lab.steelbench(&["show", "drawn", "--json"]).expect(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let array = json["covariates"].as_array().unwrap();
    assert_eq!(array.len(), 2);
    let word = array.iter().find(|array| array["name"] == "word").unwrap();
    assert!(word["response"]["interval"]["low"].as_f64().unwrap() > 1.0, "{word}");
}

#[test]
fn what_cannot_be_drawn_is_an_error_with_its_place() {
    for (from, to, expected) in [
        ("1..1000000", "9..1", "the range is empty"),
        ("1..1000000", "many", "expected a list of values, or a range"),
        ("[\"a\", \"b\"]", "[\"a\"]", "two different values at least"),
        ("{word}", "{wrd}", "a similar name is `word`"),
        ("random = {", "parameters = { x = 1 }\nrandom = {", "is in workload.parameters, too"),
        ("random = {", "setup = \"echo {x}\"\nrandom = {", "is drawn for each block"),
        ("word = [", "\"a b\" = [", "a parameter name consists of"),
    ] {
        assert!(DRAWN.contains(from), "{from}");
        let lab = Lab::with(&DRAWN.replace(from, to));
        let ended = lab.steelbench(&["check", "e.toml"]).expect(2);
        let text = ended.stderr.clone() + &ended.stdout;
        assert!(text.contains(expected) && text.contains("e.toml:"), "{to}: {text}");
    }
}
