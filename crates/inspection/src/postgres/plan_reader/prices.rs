//! The cost constants of a plan.

use serde_json::Value;

/// Bytes of a page.
const PAGE: f64 = 8_192.0;
/// Bytes that a sort has for each run that it merges, and for its own page of each.
const MERGED_RUN: f64 = 34.0 * PAGE;
/// The least and the greatest number of runs that a sort merges at once.
const MERGED_RUNS: (f64, f64) = (6.0, 500.0);

/// The constants of the planner
/// (<https://www.postgresql.org/docs/current/runtime-config-query.html>).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prices {
    pub seq_page: f64,
    pub random_page: f64,
    pub tuple: f64,
    pub index_tuple: f64,
    pub operator: f64,
    pub parallel_setup: f64,
    pub parallel_tuple: f64,
    /// Bytes.
    pub work_mem: f64,
}

impl Prices {
    /// The defaults, changed by the settings that EXPLAIN (SETTINGS) adds to a plan.
    pub fn from_settings(settings: &Value) -> Self {
        let of = |name: &str, default: f64| {
            let value = settings[name].as_str().and_then(|value| value.parse().ok());
            value.unwrap_or(default)
        };
        let work_mem = settings["work_mem"].as_str().and_then(bytes);
        Self {
            seq_page: of("seq_page_cost", 1.0),
            random_page: of("random_page_cost", 4.0),
            tuple: of("cpu_tuple_cost", 0.01),
            index_tuple: of("cpu_index_tuple_cost", 0.005),
            operator: of("cpu_operator_cost", 0.0025),
            parallel_setup: of("parallel_setup_cost", 1_000.0),
            parallel_tuple: of("parallel_tuple_cost", 0.1),
            work_mem: work_mem.unwrap_or(4.0 * 1_048_576.0),
        }
    }

    /// Pages that a sort of these bytes writes and reads: all of them in each pass.
    pub fn sorted_pages(&self, bytes: f64) -> f64 {
        let runs = bytes / self.work_mem;
        let merged = (self.work_mem / MERGED_RUN).floor().clamp(MERGED_RUNS.0, MERGED_RUNS.1);
        let passes = if runs > merged { (runs.ln() / merged.ln()).ceil() } else { 1.0 };
        2.0 * (bytes / PAGE).ceil() * passes
    }
}

/// The bytes of `64MB`; without a unit, of kilobytes.
fn bytes(value: &str) -> Option<f64> {
    let digits = value.find(|c: char| !c.is_ascii_digit()).unwrap_or(value.len());
    let unit = match value[digits..].trim() {
        "" | "kB" => 1_024.0,
        "MB" => 1_048_576.0,
        "GB" => 1_073_741_824.0,
        _ => return None,
    };
    Some(value[..digits].parse::<f64>().ok()? * unit)
}
