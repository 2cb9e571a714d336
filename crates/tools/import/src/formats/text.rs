//! Summaries in words: sysbench and `HammerDB`.

use super::trial::{FormatError, count, observed};
use observations::{Observations, Response, Work};

/// The first number in a text.
pub(crate) fn number_in(text: &str) -> Option<f64> {
    let begin = text.find(|c: char| c.is_ascii_digit())?;
    let rest = &text[begin..];
    let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
    rest[..end].trim_end_matches('.').parse().ok()
}

/// The number behind a label at the beginning of a line.
pub fn after(text: &str, label: &str) -> Option<f64> {
    text.lines().find_map(|line| number_in(line.trim_start().strip_prefix(label)?))
}

/// sysbench's summary, of version 0.5 and 1.0.
pub fn sysbench(text: &str) -> Result<Observations, FormatError> {
    let rate = |label: &str| {
        text.lines().find_map(|line| {
            let rest = line.trim_start().strip_prefix(label)?;
            let (_, rate) = rest.split_once('(')?;
            number_in(rate)
        })
    };
    let counted = |label: &str| after(text, label).unwrap_or(0.0);
    let elapsed = after(text, "total time:").unwrap_or(0.0);
    let transactions = rate("transactions:");
    let events = after(text, "events per second:")
        .or_else(|| Some(after(text, "total number of events:")? / elapsed));
    let (rate_of, unit) = match (transactions, events) {
        (Some(rate), _) => (rate, "tx/s"),
        (None, Some(rate)) if rate.is_finite() => (rate, "events/s"),
        _ => return Err(FormatError::Damaged("the output of sysbench has no rate".into())),
    };
    let mut responses = vec![Response::higher("throughput", unit, rate_of)];
    responses.extend(rate("queries:").map(|rate| Response::higher("queries", "queries/s", rate)));
    for (label, name) in [("avg:", "latency_mean"), ("95th percentile:", "latency_p95")] {
        responses.extend(after(text, label).map(|ms| Response::lower(name, "ms", ms)));
    }
    let mut observations = observed(elapsed, counted("Number of threads:"), responses)?;
    let events = counted("total number of events:").max(counted("transactions:"));
    let amount = count("transactions", events)?;
    observations.work = Work {
        unit: "transaction".into(),
        amount,
        transactions: amount,
        errors: count("ignored errors", counted("ignored errors:"))?,
        retries: 0,
    };
    Ok(observations)
}

/// `System achieved 23456 NOPM from 54321 SQL Server TPM`.
pub fn hammerdb(text: &str) -> Result<Observations, FormatError> {
    let lack = || FormatError::Damaged("the result of HammerDB has no NOPM and TPM".into());
    let line = text.lines().rev().find(|line| line.contains("NOPM")).ok_or_else(lack)?;
    let (orders, rest) = line.split_once("NOPM").ok_or_else(lack)?;
    let (_, orders) = orders.split_once("achieved").unwrap_or(("", orders));
    let orders = number_in(orders).ok_or_else(lack)?;
    let transactions = number_in(rest);
    let mut responses = vec![Response::higher("new_orders", "NOPM", orders)];
    responses.extend(transactions.map(|rate| Response::higher("transactions", "TPM", rate)));
    let users = text.lines().find_map(|line| {
        let (count, _) = line.split_once("Active Virtual Users")?;
        number_in(count)
    });
    observed(0.0, users.unwrap_or(0.0), responses)
}
