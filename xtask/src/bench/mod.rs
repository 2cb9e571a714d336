//! Measurements of ourselves, as ratios to a peer in the same run: A and B alternate, medians and
//! ranges are printed, nothing is asserted.

mod advisors;
mod agents;
mod analytics;
mod disk;
mod figures;
mod load;
mod maria_server;
mod mariadb;
mod models;
mod order_entry;
mod order_entry_mariadb;
mod peer_server;
mod postgres;
mod program;
mod queries;
mod run;
mod terminals;
mod time;

use run::Bench;

/// The scale factor of TPC-H that takes a minute or two.
const QUICK_SCALE: f64 = 0.1;

type Measurement = fn(&Bench) -> Result<(), String>;

const ALL: [(&str, Measurement); 34] = [
    ("insert", load::against_straight_loop),
    ("instruments", load::instruments_on_and_off),
    ("overhead", program::overhead),
    ("start-up", program::start_up),
    ("report", program::report),
    ("a-a", program::identical_configurations),
    ("disk-check", disk::against_fio),
    ("disk-cpu", disk::cpu),
    ("disk-cached", disk::page_cache),
    ("time", time::against_hyperfine),
    ("recorder", load::recorders),
    ("recording", load::recording),
    ("profiling", load::profiling),
    ("models", models::run),
    ("analytics-loads", analytics::loads),
    ("analytics-scans", analytics::scans),
    ("analytics-models", analytics::models),
    ("postgres-cpu", postgres::client_cpu),
    ("postgres-load", postgres::same_load),
    ("postgres-observer", postgres::observer),
    ("postgres-population", postgres::population),
    ("order-entry-cpu", order_entry::client_cpu),
    ("order-entry-cpu-mariadb", order_entry_mariadb::client_cpu),
    ("order-entry-load", order_entry::load),
    ("order-entry-load-mariadb", order_entry_mariadb::load),
    ("order-entry-terminals", terminals::cost),
    ("mariadb-cpu", mariadb::client_cpu),
    ("mariadb-performance-schema", mariadb::performance_schema),
    ("mariadb-population", mariadb::population),
    ("queries-whole", queries::whole),
    ("queries-plans", queries::plan_folder),
    ("queries-share", queries::server_share),
    ("advisors", advisors::compare),
    ("agents", agents::agents),
];

/// Runs the named measurements, or all; `--scale` is that of the data sets.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let (mut names, mut scale) = (arguments.to_vec(), QUICK_SCALE);
    if let Some(at) = names.iter().position(|name| name == "--scale") {
        let name = names.drain(at..names.len().min(at + 2)).nth(1);
        let number =
            name.as_deref().and_then(|text| text.parse::<f64>().ok()).filter(|scale| *scale > 0.0);
        scale = number.ok_or("--scale needs a number above 0")?;
    }
    let names = names.as_slice();
    if let Some(name) =
        names.iter().find(|name| !ALL.iter().any(|(known, _)| known.starts_with(*name)))
    {
        let known = ALL.map(|(name, _)| name).join(", ");
        return Err(format!("no measurement is called {name}; there are {known}"));
    }
    let bench = Bench::build(scale)?;
    for (name, measure) in ALL {
        if names.is_empty() || names.iter().any(|prefix| name.starts_with(prefix.as_str())) {
            println!("== {name}");
            measure(&bench)?;
        }
    }
    Ok(())
}
