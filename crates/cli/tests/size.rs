//! `steelbench size`, as a user types it.

use crate::common::Lab;
use serde_json::Value;

#[test]
fn the_example_is_sized_in_every_form() {
    let lab = Lab::new();
    let example = lab.steelbench(&["size", "--example"]);
    assert_eq!(example.code, Some(0), "{example:?}");
    lab.write("plan.toml", &example.stdout);

    let text = lab.steelbench(&["size", "plan.toml", "--html", "plan.html"]);
    assert_eq!(text.code, Some(0), "{text:?}");
    for part in [
        "3,000 in flight",
        "Cheapest alternative within the targets: SSDs.",
        "15,000/s: 21 %",
        "nothing was measured",
    ] {
        assert!(text.stdout.contains(part), "{part}: {}", text.stdout);
    }
    let page = lab.read("plan.html");
    assert!(
        page.starts_with("<!DOCTYPE html>")
            && page.contains("Chain: SAN")
            && page.contains("15,000/s: 21 %")
    );

    let json: Value =
        serde_json::from_str(&lab.steelbench(&["size", "plan.toml", "--json"]).stdout).unwrap();
    assert_eq!((json["kind"].as_str(), json["in_flight"].as_f64()), (Some("sizing"), Some(3000.0)));
    assert_eq!(json["alternatives"].as_array().unwrap().len(), 3);
    assert_eq!(json["plan"]["demand"]["reads"].as_f64(), Some(5000.0));
}

/// A kill while a page is written leaves a part of it, which the next one that writes the page
/// removes. That of a process that lives stays.
#[test]
fn what_a_killed_process_had_written_is_removed() {
    let lab = Lab::new();
    lab.write("plan.toml", &lab.steelbench(&["size", "--example"]).stdout);
    // No process has a number from 2^22 on.
    let (dead, alive) =
        (".plan.html.4194304-0.partial", format!(".plan.html.{}-0.partial", std::process::id()));
    lab.write(dead, "<!DOCTYPE");
    lab.write(&alive, "<!DOCTYPE");
    let ended = lab.steelbench(&["size", "plan.toml", "--html", "plan.html"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!([lab.path(dead).exists(), lab.path(&alive).exists()], [false, true]);
}

#[test]
fn tables_fit_into_80_columns() {
    let lab = Lab::new();
    lab.write("plan.toml", &lab.steelbench(&["size", "--example"]).stdout);
    let ended = lab.command(&["size", "plan.toml"]).env("COLUMNS", "80").output().unwrap();
    let text = String::from_utf8(ended.stdout).unwrap() + &lab.read("plan.toml");
    let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
    assert!(wide.is_empty() && text.contains("SSDs"), "{wide:?}");
}

#[test]
fn a_wrong_plan_is_shown_with_its_place() {
    let lab = Lab::new();
    lab.write("plan.toml", "[demand]\nreads = 5\n\n[parts.disk]\niop = 200\n");
    let ended = lab.steelbench(&["size", "plan.toml"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    for part in ["plan.toml:5:1", "unknown key `iop`", "did you mean `iops`", "no alternative"] {
        assert!(ended.stderr.contains(part), "{part}: {}", ended.stderr);
    }
    let absent = lab.steelbench(&["size", "absent.toml"]);
    assert_eq!(absent.code, Some(2), "{absent:?}");
}
