//! The section of reports: lag by rate, and the highest rate with bounded lag.

use super::analysis::Lags;
use analysis::Summary;
use report::{Cell, Columns, Section, number};

/// A section for each group of configurations.
pub(crate) fn lags(_: &Summary, all: &[Lags]) -> Vec<Section> {
    all.iter().map(section).collect()
}

fn section(lags: &Lags) -> Section {
    let mut section = Section::about("Replication lag", &lags.group);
    let limit = number::figure(lags.limit_ms);
    match &lags.bounded {
        Some(bounded) => {
            let at_least = if bounded.is_lower_bound { "at least " } else { "" };
            section.line(format!(
                "Highest rate with bounded lag: {at_least}{} writes/s.",
                number::estimate_without_unit(&bounded.rate)
            ));
        }
        None => section.line("In some block no rate had bounded lag."),
    }
    let mut table = Columns::for_rows(&lags.levels);
    table.right("rate /s", |level| number::figure(level.rate));
    table.left("reached /s", |level| Cell::estimate_without_unit(&level.reached));
    table.left("lag p95 ms", |level| Cell::estimate_without_unit(&level.lag_p95));
    table.right("within limit", |level| format!("{} of {}", level.within, level.lag_p95.n));
    section.table(table);
    section.note(format!(
        "Bounded: 95 % of the looks at the replica saw a lag of at most {limit} ms. The highest \
         rate is that of the last level before the first one beyond the limit, by block."
    ));
    section
}
