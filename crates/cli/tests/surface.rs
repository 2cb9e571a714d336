//! Response surfaces from `check` to the report, with the yields of a published experiment: R. H.
//! Myers, D. C. Montgomery and C. M. Anderson-Cook, Response Surface Methodology (2009), table 7.6;
//! coefficients as R's package rsm prints them.

use crate::common::Lab;
use serde_json::Value;

const FILE: &str = r#"
[experiment]
name = "chemistry"
response = "yield"
[target]
engine = "none"
[workload]
probe = "command"
command = "sh react.sh"
parameters = { time = "80.0", temp = "170.0" }
[workload.responses.yield]
regex = "yield ([0-9.]+)"
unit = "g"
direction = "higher"
[design]
kind = "response-surface"
axial = "orthogonal-blocks"
[factors]
"workload.parameters.time" = ["80.0", "90.0"]
"workload.parameters.temp" = ["170.0", "180.0"]
[repeats]
blocks = 1
"#;

/// Prints the next yield at these levels; the centre has several.
const SCRIPT: &str = r#"
count="count-$time-$temp"
n=$(($(cat "$count" 2>/dev/null || echo 0) + 1))
echo $n >"$count"
awk -v t="$time" -v p="$temp" -v n=$n '$1 == t && $2 == p && ++i == n { print "yield", $3 }' yields
"#;

/// The first block has the corners, the second the axes.
const YIELDS: &str = "80 170 80.5
80 180 81.5
90 170 82
90 180 83.5
85 175 83.9
85 175 84.3
85 175 84
85 175 79.7
85 175 79.8
85 175 79.5
92.07 175 78.4
77.93 175 75.6
85 182.07 78.5
85 167.93 77
";

fn lab(file: &str) -> Lab {
    let lab = Lab::with(file);
    lab.write("react.sh", SCRIPT);
    lab.write("yields", YIELDS);
    lab
}

/// A lab with the published experiment.
pub fn published() -> Lab {
    lab(FILE)
}

#[track_caller]
fn close(found: &Value, expected: f64, within: f64) {
    let found = found.as_f64().unwrap_or_else(|| panic!("{found} is not {expected}"));
    assert!((found - expected).abs() <= within, "{found} is not {expected}");
}

#[test]
fn a_published_surface_has_its_maximum() {
    let lab = published();
    lab.steelbench(&["check", "e.toml"])
        .expect(0)
        .shows(
            "design: response surface, 14 runs, central composite: 4 in corners, 4 on axes, 6 at \
             the centre",
        )
        .shows("-1.41 = 77.93, -1.00 = 80, 0.00 = 85, +1.00 = 90, +1.41 = 92.07")
        .shows("7 degrees of freedom");
    let planned = &lab.json(&["check", "e.toml"])[0]["design"];
    assert_eq!((&planned["runs"], &planned["degrees_of_freedom"]), (&14.into(), &7.into()));
    lab.run(0);
    // Corners with three centre points, then axes with three.
    let blocks = "SELECT block || ' ' || count(*) FROM trials GROUP BY block";
    assert_eq!(lab.rows("chemistry", blocks), ["1 7", "2 7"]);

    let surface = &lab.json(&["show", "chemistry"])[0]["surface"];
    let fit = &surface["fit"];
    close(&fit["centre"], 84.095_427 - 4.457_530 / 2.0, 1e-6);
    let expected = [
        ("x1", 0.932_541),
        ("x2", 0.577_712),
        ("x1 x2", 0.125),
        ("x1^2", -1.308_555),
        ("x2^2", -0.933_442),
    ];
    for (array, (term, value)) in fit["coefficients"].as_array().unwrap().iter().zip(expected) {
        assert_eq!(array["term"], term);
        close(&array["value"], value, 1e-6);
    }
    close(&fit["r_squared"], 0.9981, 5e-5);
    close(&fit["lack_of_fit"]["f"], 0.5307, 5e-5);
    close(&fit["lack_of_fit"]["p_value"], 0.6851, 5e-5);
    let stationary = &fit["stationary"];
    close(&stationary["coded"][0], 0.372_295_4, 1e-7);
    close(&stationary["coded"][1], 0.334_380_2, 1e-7);
    assert_eq!(stationary["levels"], serde_json::json!(["86.86", "176.67"]));
    assert_eq!((&stationary["shape"], &fit["answer"]), (&"maximum".into(), &"optimum".into()));

    let shown = lab.steelbench(&["show", "chemistry", "--full"]).expect(0).stdout;
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "yield is highest near time 86.86, temp 176.67.",
        "95 % confidence region: time 86.",
        "Response surface: 2 factors in 14 trials",
        "Lack of fit: F(3, 4) = 0.531, p = 0.685",
        "Stationary point: a maximum at time 86.86, temp 176.67 (x1 +0.37, x2 +0.33)",
        "Next trial: confirm the optimum",
        "Predicted mean by time and temp",
    ] {
        assert!(words.contains(part), "{part} is missing in\n{shown}");
    }
    lab.steelbench(&["report", "chemistry", "-o", "page.html"]).expect(0);
    assert!(lab.read("page.html").contains("\"kind\":\"contour\""));
}

#[test]
fn an_optimum_beyond_the_tested_levels_is_not_claimed() {
    // The highest value is at time 100, far outside; noise from the trial's seed.
    let script = "awk -v t=$time -v p=$temp -v s=$STEELBENCH_SEED 'BEGIN { srand(s); x = (t - 100) \
                  / 5; y = (p - 175) / 5; print \"yield\", 100 - x * x - y * y + 0.2 * rand() }'";
    let file = FILE
        .replace("axial = \"orthogonal-blocks\"", "surface = \"central-composite\"")
        .replace("blocks = 1", "blocks = 2");
    let lab = lab(&file);
    lab.write("react.sh", script);
    lab.run(0);
    let fit = &lab.json(&["show", "chemistry"])[0]["surface"]["fit"];
    assert_eq!(
        (&fit["answer"], &fit["stationary"]["shape"]),
        (&"outside".into(), &"maximum".into())
    );
    // Steepest ascent leads towards later times and leaves the tested region.
    let next = fit["next"].as_array().unwrap();
    assert_eq!(next.len(), 4);
    assert_eq!((&next[0]["is_tested"], &next[3]["is_tested"]), (&true.into(), &false.into()));
    let time: f64 = next[3]["levels"][0].as_str().unwrap().parse().unwrap();
    close(&next[3]["levels"][1].as_str().unwrap().parse::<f64>().unwrap().into(), 175.0, 1.0);
    assert!(time > 97.0, "{fit}");
    let shown = lab.steelbench(&["show", "chemistry", "--full"]).expect(0).stdout;
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["The optimum lies outside the tested region", "extrapolated", "Next trials:"] {
        assert!(words.contains(part), "{part} is missing in\n{shown}");
    }
    assert!(!words.contains("yield is highest near"), "{shown}");
}

/// Less is better of a factor that begins at 0: the next trials end there, as a setting need not
/// accept what is below.
#[test]
fn next_trials_do_not_fall_below_zero() {
    let script = "awk -v t=$time -v p=$temp -v s=$STEELBENCH_SEED 'BEGIN { srand(s); y = (p - 175) \
                  / 5; print \"yield\", 100 - 3 * t - y * y + 0.2 * rand() }'";
    let file = FILE
        .replace("axial = \"orthogonal-blocks\"", "surface = \"central-composite\"")
        .replace("blocks = 1", "blocks = 2")
        .replace("time = \"80.0\"", "time = \"0.0\"")
        .replace("[\"80.0\", \"90.0\"]", "[\"0.0\", \"10.0\"]");
    let lab = lab(&file);
    lab.write("react.sh", script);
    lab.run(0);
    let fit = &lab.json(&["show", "chemistry"])[0]["surface"]["fit"];
    let next = fit["next"].as_array().unwrap();
    let times =
        next.iter().map(|point| point["levels"][0].as_str().unwrap().parse::<f64>().unwrap());
    let times: Vec<f64> = times.collect();
    assert!(times.is_sorted_by(|earlier, later| earlier > later), "{fit}");
    assert_eq!(times.last(), Some(&0.0), "{fit}");
    assert!(next.iter().all(|point| point["is_tested"] == true), "{fit}");
}

/// Two of the runs have no value: the report says so, and fits the others.
#[test]
fn failed_runs_are_left_out_and_named() {
    let file = FILE.replace("axial = \"orthogonal-blocks\"", "axial = \"rotatable\"");
    let lab = lab(&file);
    lab.write("yields", &YIELDS.replace("92.07 175 78.4\n", ""));
    lab.run(1);
    let shown = lab.steelbench(&["show", "chemistry", "--full"]).expect(0).stdout;
    assert!(shown.contains("1 trial without a value left out"), "{shown}");
    assert!(shown.contains("Response surface: 2 factors in 10 trials"), "{shown}");
}
