//! Measurements of ourselves, as ratios to a peer in the same run: A and B alternate, medians and
//! ranges are printed, nothing is asserted.

mod a_a;
mod command;
mod insert;
mod peer_server;
mod postgres;
mod run;

use run::Bench;

type Measurement = fn(&Bench) -> Result<(), String>;

const ALL: [(&str, Measurement); 10] = [
    ("insert", insert::against_straight_loop),
    ("instruments", insert::instruments_on_and_off),
    ("overhead", command::overhead),
    ("start-up", command::start_up),
    ("report", command::report),
    ("a-a", a_a::identical_configurations),
    ("postgres-cpu", postgres::client_cpu),
    ("postgres-load", postgres::same_load),
    ("postgres-observer", postgres::observer),
    ("postgres-population", postgres::population),
];

/// Runs the named measurements, or all.
pub fn run(names: &[String]) -> Result<(), String> {
    for name in names {
        if !ALL.iter().any(|(known, _)| known.starts_with(name.as_str())) {
            let known: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
            return Err(format!("no measurement is called {name}; there are {}", known.join(", ")));
        }
    }
    let bench = Bench::build()?;
    for (name, measure) in ALL {
        if names.is_empty() || names.iter().any(|wanted| name.starts_with(wanted.as_str())) {
            println!("== {name}");
            measure(&bench)?;
        }
    }
    Ok(())
}

/// Median, smallest and largest of some figures.
pub fn median_and_range(figures: &[f64]) -> (f64, f64, f64) {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    let median = match sorted.len() {
        0 => return (f64::NAN, f64::NAN, f64::NAN),
        length if length % 2 == 0 => f64::midpoint(sorted[middle - 1], sorted[middle]),
        _ => sorted[middle],
    };
    (median, sorted[0], sorted[sorted.len() - 1])
}
