//! The cost constants of a plan.

use serde_json::Value;

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
}

impl Prices {
    /// The defaults, changed by the settings that EXPLAIN (SETTINGS) adds to a plan.
    pub fn from_settings(settings: &Value) -> Self {
        let of = |name: &str, default: f64| {
            let value = settings[name].as_str().and_then(|value| value.parse().ok());
            value.unwrap_or(default)
        };
        Self {
            seq_page: of("seq_page_cost", 1.0),
            random_page: of("random_page_cost", 4.0),
            tuple: of("cpu_tuple_cost", 0.01),
            index_tuple: of("cpu_index_tuple_cost", 0.005),
            operator: of("cpu_operator_cost", 0.0025),
            parallel_setup: of("parallel_setup_cost", 1_000.0),
            parallel_tuple: of("parallel_tuple_cost", 0.1),
        }
    }
}
