//! pgbench: its summary and its log of transactions
//! (<https://www.postgresql.org/docs/current/pgbench.html>).

use super::text::{after, number_in};
use super::trial::{FormatError, count, observed};
use observations::{Histogram, Latency, Observations, Response, Work};

/// The figures of the summary.
pub fn output(text: &str) -> Result<Observations, FormatError> {
    let rates = text.lines().filter_map(|line| line.trim().strip_prefix("tps = "));
    // Versions before 14 print two; the second is without the time to connect, as that of later
    // ones.
    let tps = rates.filter_map(number_in).next_back();
    let tps =
        tps.ok_or_else(|| FormatError::Damaged("the output of pgbench has no tps".to_owned()))?;
    let clients = after(text, "number of clients:").unwrap_or(0.0);
    let processed = after(text, "number of transactions actually processed:").unwrap_or(0.0);
    let elapsed = after(text, "duration:").unwrap_or(processed / tps);
    let mut responses = vec![Response::higher("throughput", "tx/s", tps)];
    let latency = [("latency average =", "latency_mean"), ("latency stddev =", "latency_stddev")];
    for (label, name) in latency {
        responses.extend(after(text, label).map(|ms| Response::lower(name, "ms", ms)));
    }
    let failed = after(text, "number of failed transactions:").unwrap_or(0.0);
    let mut observations = observed(elapsed, clients, responses)?;
    let amount = count("transactions", processed)?;
    observations.work = Work {
        unit: "transaction".into(),
        amount,
        transactions: amount,
        errors: count("failed transactions", failed)?,
        retries: 0,
    };
    Ok(observations)
}

/// Returns true for lines of six or more numbers.
pub fn is_log(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty()).take(3).peekable();
    lines.peek().is_some() && lines.all(|line| transaction(line).is_some())
}

/// A line of the log.
struct Transaction {
    latency_us: u64,
    end_us: u64,
}

/// `client_id transaction_no time script_no time_epoch time_us [schedule_lag] [retries]`; a failed
/// or skipped transaction has no time.
#[expect(clippy::option_option, reason = "a line of a failed transaction has no figures")]
fn transaction(line: &str) -> Option<Option<Transaction>> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    if !(6..=8).contains(&fields.len()) {
        return None;
    }
    let seconds: u64 = fields[4].parse().ok()?;
    let microseconds: u64 = fields[5].parse().ok().filter(|field| *field < 1_000_000)?;
    fields[0].parse::<u32>().ok()?;
    if matches!(fields[2], "skipped" | "failed" | "serialization" | "deadlock") {
        return Some(None);
    }
    let latency_us = fields[2].parse().ok()?;
    let end_us = seconds.checked_mul(1_000_000)?.checked_add(microseconds)?;
    Some(Some(Transaction { latency_us, end_us }))
}

/// The figures of a log of transactions.
pub fn log(text: &str) -> Result<Observations, FormatError> {
    let mut histogram = Histogram::default();
    let (mut begin, mut end, mut errors) = (u64::MAX, 0, 0);
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            continue;
        }
        let read = transaction(line).ok_or_else(|| {
            FormatError::Damaged(format!("line {number} is not one of a transaction log"))
        })?;
        let Some(summary) = read else {
            errors += 1;
            continue;
        };
        histogram.record(summary.latency_us.saturating_mul(1_000));
        begin = begin.min(summary.end_us.saturating_sub(summary.latency_us));
        end = end.max(summary.end_us);
    }
    let count = histogram.len();
    if count == 0 || end <= begin {
        return Err(FormatError::Damaged("the log has no successful transaction".into()));
    }
    let elapsed_s = (end - begin) as f64 / 1e6;
    let mut responses = vec![Response::higher("throughput", "tx/s", count as f64 / elapsed_s)];
    for (name, percent) in [("latency_p50", 50.0), ("latency_p95", 95.0), ("latency_p99", 99.0)] {
        responses.push(Response::percentile(name, "ms", 1e6, &histogram, percent));
    }
    let mut observations = observed(elapsed_s, 0.0, responses)?;
    observations.work =
        Work { unit: "transaction".into(), amount: count, transactions: count, errors, retries: 0 };
    observations.latencies.push(Latency { name: "transaction".into(), histogram });
    Ok(observations)
}
