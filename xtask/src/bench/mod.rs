//! Measurements of ourselves, as ratios to a peer in the same run: A and B alternate, medians and
//! ranges are printed, nothing is asserted.

mod a_a;
mod command;
mod disk;
mod insert;
mod peer_server;
mod postgres;
mod recorder;
mod run;

use run::Bench;

type Measurement = fn(&Bench) -> Result<(), String>;

const ALL: [(&str, Measurement); 16] = [
    ("insert", insert::against_straight_loop),
    ("instruments", insert::instruments_on_and_off),
    ("overhead", command::overhead),
    ("start-up", command::start_up),
    ("report", command::report),
    ("a-a", a_a::identical_configurations),
    ("disk-check", disk::against_fio),
    ("disk-cpu", disk::cpu),
    ("disk-cached", disk::page_cache),
    ("recorder", recorder::costs),
    ("recording", recorder::recording),
    ("profiling", recorder::profiling),
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

/// Geometric mean of some ratios and its 95 % interval: Student's t of their logarithms.
pub fn mean_and_interval(ratios: &[f64]) -> (f64, f64, f64) {
    /// Quantiles for 1, 2, .. degrees of freedom, 97.5 %.
    const T: [f64; 14] =
        [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145];
    let logs: Vec<f64> = ratios.iter().map(|ratio| ratio.ln()).collect();
    let n = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    // Beyond the table its last value, which is wider than need be.
    let t = logs.len().checked_sub(2).and_then(|freedom| T.get(freedom).or(T.last()));
    let t = t.copied().unwrap_or(f64::NAN);
    let half = t * (variance / n).sqrt();
    (mean.exp(), (mean - half).exp(), (mean + half).exp())
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
