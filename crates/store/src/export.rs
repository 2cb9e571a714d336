//! A recording in the formats of other programs. The tables are defined once, in `tables`; CSV and
//! Parquet are two ways to write them.

mod csv;
mod json;
mod parquet;
mod replace;
mod table;
mod tables;

pub use csv::export_csv;
pub use json::export_json;
pub use parquet::export_parquet;
