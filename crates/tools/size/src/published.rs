//! Published benchmark results beside each other: TPC-C, TPC-E, TPC-H and whatever else has a
//! score.

use serde::Serialize;
use std::collections::BTreeMap;

/// A column of a file of results. Names of queries are the file's own.
const COLUMNS: [&str; 11] = [
    "benchmark",
    "system",
    "score",
    "unit",
    "better",
    "power",
    "throughput",
    "cores",
    "memory_gb",
    "disks",
    "price",
];

/// A file with the figures of published studies: inserts on disks and SSDs, two drivers, backups
/// before and after new firmware.
pub const EXAMPLE: &str = include_str!("published.csv");

/// A result.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Entry {
    /// TPC-H at one scale factor is a benchmark, at another one another: results of different
    /// sizes are not comparable.
    pub benchmark: String,
    /// The measured system.
    pub system: String,
    /// `tpmC`, `tpsE`, `QphH`, or any other.
    pub score: f64,
    /// The unit.
    pub unit: String,
    /// True if lower is better: seconds.
    pub lower_is_better: bool,
    /// Power of TPC-H: the geometric mean of single queries, as a rate.
    pub power: Option<f64>,
    /// Throughput of TPC-H: queries of several streams, as a rate.
    pub throughput: Option<f64>,
    /// Processor cores.
    pub cores: Option<f64>,
    /// Main memory in GB.
    pub memory_gb: Option<f64>,
    /// Disks or other devices.
    pub disks: Option<f64>,
    /// Price of the system.
    pub price: Option<f64>,
    /// The parts by name, in the order of the file: they add up to the price.
    pub price_parts: Vec<(String, f64)>,
    /// Seconds of single queries, in the order of the file.
    pub queries: Vec<(String, f64)>,
    /// The number of results of the file that it is the mean of: repeats of one system.
    pub results: u32,
}

/// A result beside the first one of its benchmark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The result.
    pub entry: Entry,
    /// The goodness as a multiple of that of the first.
    pub ratio: f64,
    /// The ratio per core, disk and unit of money; `None` where either lacks it.
    pub ratio_per_core: Option<f64>,
    /// For each disk.
    pub ratio_per_disk: Option<f64>,
    /// For each unit of money.
    pub ratio_per_price: Option<f64>,
    /// Score for each core; of times, core seconds.
    pub per_core: Option<f64>,
    /// Price of one unit of the score; `None` of times.
    pub price_per_score: Option<f64>,
    /// The power as a multiple of that of the first.
    pub power_ratio: Option<f64>,
    /// The throughput as a multiple.
    pub throughput_ratio: Option<f64>,
    /// Power relative to throughput: above 1 a system for one user at a time.
    pub power_to_throughput: Option<f64>,
    /// The parts of its price.
    pub price_parts: Vec<PricePart>,
    /// The queries.
    pub queries: Option<Queries>,
}

/// A part of a price: servers, storage, licences, maintenance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PricePart {
    /// The name.
    pub name: String,
    /// The price.
    pub price: f64,
    /// The share of the price of the system, from 0 to 1.
    pub share: f64,
    /// The price for one unit of the score; `None` of times.
    pub per_score: Option<f64>,
    /// The expense as a multiple of that of the first result of the benchmark.
    pub ratio: Option<f64>,
}

/// The single queries of a result.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Queries {
    /// Geometric mean of their seconds.
    pub geometric_mean_s: f64,
    /// Weight of each of them in that: 1 / their number.
    pub weight: f64,
    /// By how much power, and the mean, change when one of them, whichever, takes a tenth of the
    /// time.
    pub ten_times: f64,
    /// The ratio for a tenfold score that is the geometric mean of power and throughput, with
    /// unchanged throughput.
    pub ten_times_score: f64,
    /// Each of them.
    pub each: Vec<Query>,
}

/// A query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Query {
    /// The name.
    pub name: String,
    /// Seconds.
    pub seconds: f64,
    /// Share of the time of all: its weight in an arithmetic mean.
    pub share_of_time: f64,
    /// By how much the time of all falls when it takes a tenth.
    pub ten_times_total: f64,
    /// The speed as a multiple of that of the first result of the benchmark.
    pub ratio: Option<f64>,
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// No CSV.
    #[error("{0}")]
    Csv(#[from] csv::Error),
    /// No such column.
    #[error("no column {column:?}{of}; the file has: {there}; map it with --columns {key}=NAME")]
    Column {
        /// The key.
        key: String,
        /// The name.
        column: String,
        /// Why it is needed.
        of: &'static str,
        /// The columns of the file.
        there: String,
    },
    /// An unknown column name.
    #[error("unknown column {0:?}; known: {known}, parts as price_NAME, and queries as q1=NAME",
        known = COLUMNS.join(", "))]
    Key(String),
    /// A wrong value.
    #[error("line {line}, {column}: {text:?} is {why}")]
    Value {
        /// Line of the file.
        line: u64,
        /// The column.
        column: String,
        /// The text found.
        text: String,
        /// The error.
        why: &'static str,
    },
    /// A score that does not follow from its parts.
    #[error(
        "line {line}: score {score} is not the geometric mean of power and throughput, \
         {mean:.1}: the units or the results differ"
    )]
    Score {
        /// Line of the file.
        line: u64,
        /// As it stands there.
        score: String,
        /// As it would be.
        mean: f64,
    },
    /// Parts of a price that are more than it.
    #[error("line {line}: the parts of the price add up to {sum}, more than the price {price}")]
    Parts {
        /// Line of the file.
        line: u64,
        /// The price as it stands there.
        price: String,
        /// The sum of its parts.
        sum: f64,
    },
    /// Nothing in it.
    #[error("no result in the file")]
    Empty,
}

/// The part of a price that no column names.
const OTHER: &str = "other";
/// Before the names of columns with parts of the price.
const PART: &str = "price_";

/// Rounding in published figures: a score differs from the mean of its parts by no more.
const ROUNDING: f64 = 0.005;

/// Reads a file of results. `columns` maps our column names to those of the file: `("score",
/// "tpmC")`; our own names need no entry. Columns q1, q2, .., rf1, rf2 are seconds of queries,
/// columns that begin with `price_` parts of the price.
///
/// # Errors
/// The problem in the file, with its place.
pub fn read(text: &str, columns: &[(String, String)]) -> Result<Vec<Entry>, ReadError> {
    let is_query = |name: &str| {
        let digits = name.strip_prefix("rf").or(name.strip_prefix('q')).unwrap_or_default();
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_part = |name: &str| name.strip_prefix(PART).is_some_and(|part| !part.is_empty());
    if let Some((key, _)) = columns
        .iter()
        .find(|(key, _)| !COLUMNS.contains(&key.as_str()) && !is_query(key) && !is_part(key))
    {
        return Err(ReadError::Key(key.clone()));
    }
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
    let headers = reader.headers()?.clone();
    let missing = |key: &str, heading: &str, of| ReadError::Column {
        key: key.into(),
        column: heading.into(),
        of,
        there: headers.iter().collect::<Vec<_>>().join(", "),
    };
    let at = |key: &str| {
        let mapped = columns.iter().find(|(name, _)| name == key).map(|(_, name)| name.as_str());
        let heading = mapped.unwrap_or(key);
        let found = headers.iter().position(|name| name.eq_ignore_ascii_case(heading));
        match (found, mapped) {
            (None, Some(_)) => Err(missing(key, heading, "")),
            (found, _) => Ok(found),
        }
    };
    let mut places = BTreeMap::new();
    for key in COLUMNS {
        places.extend(at(key)?.map(|at| (key, at)));
    }
    // Those that have their own name, and those that are mapped.
    let named = |is_one: &dyn Fn(&str) -> bool| -> Result<Vec<(String, usize)>, ReadError> {
        let headings = headers.iter().enumerate().map(|(place, name)| (name.to_lowercase(), place));
        let mut found: Vec<(String, usize)> = headings.filter(|(name, _)| is_one(name)).collect();
        for (key, name) in columns.iter().filter(|(key, _)| is_one(key)) {
            found.push((key.clone(), at(key)?.ok_or_else(|| ReadError::Key(name.clone()))?));
        }
        Ok(found)
    };
    let (queries, parts) = (named(&is_query)?, named(&is_part)?);
    if !places.contains_key("system") {
        return Err(missing("system", "system", " (names the measured system)"));
    }
    let mut entries = Vec::new();
    for record in reader.records() {
        entries.push(entry(&record?, &places, &queries, &parts)?);
    }
    if entries.is_empty() { Err(ReadError::Empty) } else { Ok(repeated(entries)) }
}

/// Results of one system in one benchmark as their mean.
fn repeated(entries: Vec<Entry>) -> Vec<Entry> {
    let mut each: Vec<Entry> = Vec::new();
    for entry in entries {
        let Some(known) = each
            .iter_mut()
            .find(|other| other.system == entry.system && other.is_comparable(&entry))
        else {
            each.push(entry);
            continue;
        };
        let before = f64::from(known.results);
        let mean = |known: f64, latest: f64| (known * before + latest) / (before + 1.0);
        known.score = mean(known.score, entry.score);
        for (pair, (_, seconds)) in known.queries.iter_mut().zip(&entry.queries) {
            pair.1 = mean(pair.1, *seconds);
        }
        known.results += 1;
    }
    each
}

impl Entry {
    /// Returns whether both scores belong to one benchmark and have one unit.
    fn is_comparable(&self, other: &Self) -> bool {
        self.benchmark == other.benchmark
            && self.unit == other.unit
            && self.lower_is_better == other.lower_is_better
    }
}

fn entry(
    record: &csv::StringRecord,
    places: &BTreeMap<&str, usize>,
    queries: &[(String, usize)],
    parts: &[(String, usize)],
) -> Result<Entry, ReadError> {
    let line = record.position().map_or(0, csv::Position::line);
    let text = |key: &str| places.get(key).and_then(|at| record.get(*at)).unwrap_or_default();
    let wrong = |column: &str, text: &str, why| ReadError::Value {
        line,
        column: column.into(),
        text: text.into(),
        why,
    };
    let number = |column: &str, text: &str| match amount(text) {
        _ if text.is_empty() => Ok(None),
        Some(number) if number > 0.0 => Ok(Some(number)),
        Some(_) => Err(wrong(column, text, "not above 0")),
        None => Err(wrong(column, text, "not a number; a column has plain numbers in one unit")),
    };
    let named = |key: &str| number(key, text(key));
    let (power, throughput) = (named("power")?, named("throughput")?);
    let mean = power.zip(throughput).map(|(power, throughput)| (power * throughput).sqrt());
    let score = named("score")?;
    if let (Some(score), Some(mean)) = (score, mean)
        && (score / mean - 1.0).abs() > ROUNDING
    {
        return Err(ReadError::Score { line, score: text("score").into(), mean });
    }
    let score = score.or(mean).ok_or_else(|| {
        wrong("score", text("score"), "missing; a result has a score, or power and throughput")
    })?;
    let lower_is_better = match text("better") {
        "" | "higher" => false,
        "lower" => true,
        other => return Err(wrong("better", other, "not higher or lower")),
    };
    let mut lines = Vec::new();
    for (name, at) in queries {
        lines.extend(
            number(name, record.get(*at).unwrap_or_default())?
                .map(|seconds| (name.clone(), seconds)),
        );
    }
    let mut own_parts = Vec::new();
    for (name, at) in parts {
        let text = record.get(*at).unwrap_or_default();
        let price = number(name, if amount(text) == Some(0.0) { "" } else { text })?;
        own_parts.extend(price.map(|price| (name[PART.len()..].replace('_', " "), price)));
    }
    let Price { price, price_parts } = priced(named("price")?, own_parts)
        .map_err(|sum| ReadError::Parts { line, price: text("price").into(), sum })?;
    Ok(Entry {
        benchmark: text("benchmark").to_owned(),
        system: text("system").to_owned(),
        score,
        unit: text("unit").to_owned(),
        lower_is_better,
        power,
        throughput,
        cores: named("cores")?,
        memory_gb: named("memory_gb")?,
        disks: named("disks")?,
        price,
        price_parts,
        queries: lines,
        results: 1,
    })
}

/// A price and its parts.
struct Price {
    price: Option<f64>,
    price_parts: Vec<(String, f64)>,
}

/// A price with parts that add up to it: the rest of them is one more. Without a price it is their
/// sum. Fails with the sum of parts that are more than the price.
fn priced(price: Option<f64>, mut price_parts: Vec<(String, f64)>) -> Result<Price, f64> {
    let sum: f64 = price_parts.iter().map(|(_, price)| price).sum();
    let Some(price) = price else {
        return Ok(Price { price: (sum > 0.0).then_some(sum), price_parts });
    };
    if sum > price * (1.0 + ROUNDING) {
        return Err(sum);
    }
    if sum > 0.0 && sum < price {
        price_parts.push((OTHER.to_owned(), price - sum));
    }
    Ok(Price { price: Some(price), price_parts })
}

/// `1,234,567.89`, `$99`: separators between groups of three digits, and a sign of a currency
/// before.
fn amount(text: &str) -> Option<f64> {
    let digits = text.strip_prefix(['$', '€', '£']).unwrap_or(text);
    let (whole, _) = digits.split_once('.').unwrap_or((digits, ""));
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let grouped =
        groups.clone().all(|group| group.len() == 3) && (whole == first || first.len() <= 3);
    grouped
        .then(|| digits.replace(',', "").parse().ok())
        .flatten()
        .filter(|number: &f64| number.is_finite())
}

/// Each result beside the first of its benchmark and unit, in the order in which benchmarks first
/// occur.
pub fn compare(entries: &[Entry]) -> Vec<Vec<Row>> {
    let mut groups: Vec<Vec<&Entry>> = Vec::new();
    for entry in entries {
        match groups
            .iter_mut()
            .find(|group| group.first().is_some_and(|other| other.is_comparable(entry)))
        {
            Some(group) => group.push(entry),
            None => groups.push(vec![entry]),
        }
    }
    groups.iter().map(|group| group.iter().map(|entry| row(entry, group[0])).collect()).collect()
}

fn row(entry: &Entry, first: &Entry) -> Row {
    let speed = |entry: &Entry| if entry.lower_is_better { 1.0 / entry.score } else { entry.score };
    let ratio = speed(entry) / speed(first);
    let per = |of: fn(&Entry) -> Option<f64>| Some(ratio * of(first)? / of(entry)?);
    let times = |of: fn(&Entry) -> Option<f64>| Some(of(entry)? / of(first)?);
    Row {
        ratio,
        ratio_per_core: per(|entry| entry.cores),
        ratio_per_disk: per(|entry| entry.disks),
        ratio_per_price: per(|entry| entry.price),
        per_core: entry.cores.map(|cores| {
            if entry.lower_is_better { entry.score * cores } else { entry.score / cores }
        }),
        price_per_score: entry
            .price
            .filter(|_| !entry.lower_is_better)
            .map(|price| price / entry.score),
        power_ratio: times(|entry| entry.power),
        throughput_ratio: times(|entry| entry.throughput),
        price_parts: price_parts(entry, first),
        power_to_throughput: entry
            .power
            .zip(entry.throughput)
            .map(|(power, throughput)| power / throughput),
        queries: queries(entry, first),
        entry: entry.clone(),
    }
}

fn price_parts(entry: &Entry, first: &Entry) -> Vec<PricePart> {
    // Parts may be more than the price by rounding; shares are of what they add up to.
    let sum: f64 = entry.price_parts.iter().map(|(_, price)| price).sum();
    let parts = entry.price_parts.iter().map(|(name, price)| PricePart {
        name: name.clone(),
        price: *price,
        share: price / sum,
        per_score: (!entry.lower_is_better).then(|| price / entry.score),
        ratio: first
            .price_parts
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, other)| price / other),
    });
    parts.collect()
}

fn queries(entry: &Entry, first: &Entry) -> Option<Queries> {
    let count = entry.queries.len() as f64;
    let total: f64 = entry.queries.iter().map(|(_, seconds)| seconds).sum();
    if entry.queries.is_empty() {
        return None;
    }
    let each = entry.queries.iter().map(|(name, seconds)| Query {
        name: name.clone(),
        seconds: *seconds,
        share_of_time: seconds / total,
        ten_times_total: 1.0 - (total - 0.9 * seconds) / total,
        ratio: first
            .queries
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, other)| other / seconds),
    });
    let logs: f64 = entry.queries.iter().map(|(_, seconds)| seconds.ln()).sum();
    let ten_times = 10.0_f64.powf(1.0 / count);
    Some(Queries {
        geometric_mean_s: (logs / count).exp(),
        weight: 1.0 / count,
        ten_times: ten_times - 1.0,
        ten_times_score: ten_times.sqrt() - 1.0,
        each: each.collect(),
    })
}
