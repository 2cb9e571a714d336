//! Size and cost of row orders in a column store, and the quality of the advice.

use crate::analysis::{ColumnBytes, SortOrderRow, SortOrders};
use analysis::Summary;
use observations::order;
use report::Cell;
use report::number;
use report::text::joined;
use report::{Column, Columns, Section};

/// Most columns in the table of the gains by column.
const COLUMNS_SHOWN: usize = 12;

/// A section for each set of orders.
pub fn sections(_: &Summary, all: &[SortOrders]) -> Vec<Section> {
    all.iter().map(section).collect()
}

fn section(orders: &SortOrders) -> Section {
    let mut section = Section::about("Sort order", &orders.group);
    section.line(smallest(orders));
    [advice(orders), predictions(orders)].into_iter().flatten().for_each(|line| section.line(line));
    section.table(sizes(orders));
    section.table(costs(orders));
    let looked_at = orders.rows.iter().find_map(|row| row.predicted_groups);
    let looked_at = looked_at.map_or_else(String::new, |(some, all)| {
        format!(" from {} of {all}", number::plural(some as usize, "row group"))
    });
    section.note(format!(
        "Size: compressed columns. Predicted: an estimate{looked_at}, sorted and stored \
         separately before the load; its interval covers the variation between row groups. Load: \
         rows already sorted. CPU: a scan of all columns, per row of the table. Gains are \
         relative to the rows as generated (none); above 1 is better."
    ));
    if let Some(generated) = orders.generated.filter(|generated| *generated != orders.smallest) {
        by_column(&mut section, &orders.rows[generated], &orders.rows[orders.smallest]);
    }
    section
}

/// `order=advise (l_shipdate)`.
fn name(row: &SortOrderRow) -> String {
    let columns = joined(&row.columns, ",");
    if columns.is_empty() || columns == row.order.replace(' ', "") {
        format!("order={}", row.order)
    } else {
        format!("order={} ({})", row.order, joined(&row.columns, ", "))
    }
}

fn smallest(orders: &SortOrders) -> String {
    let best = &orders.rows[orders.smallest];
    let size = number::estimate(&best.size);
    let same = orders.rows.iter().filter(|row| row.size.mean <= best.size.mean).count() - 1;
    let others = match same {
        0 => String::new(),
        _ => format!(
            "; {} the same",
            if same == 1 { "one more is".into() } else { format!("{same} more are") }
        ),
    };
    match orders.generated.map(|generated| &orders.rows[generated]) {
        Some(generated) if generated.order == best.order => {
            format!("No order is smaller than the rows as generated: {size}.")
        }
        Some(generated) => {
            let share = number::short_percent(1.0 - best.size.mean / generated.size.mean);
            format!(
                "{} is the smallest: {size}, {share} less than the rows as generated{others}.",
                name(best)
            )
        }
        None => format!("{} is the smallest: {size}{others}.", name(best)),
    }
}

/// `The advice was the best of 6 orders.`
fn advice(orders: &SortOrders) -> Option<String> {
    let (advised, place) = orders.advised?;
    let all = orders.rows.len();
    let (row, best) = (&orders.rows[advised], &orders.rows[orders.smallest]);
    if place == 1 {
        return Some(format!("The advice, {}, was the best of {all} orders.", name(row)));
    }
    let more = number::short_percent(row.size.mean / best.size.mean - 1.0);
    Some(format!(
        "The advice, {}, ranks {place} of {all} orders: {more} larger than the best.",
        name(row)
    ))
}

/// `Predicted against measured: off by 1.2 % (median), 4.4 % at worst (order=random).`
fn predictions(orders: &SortOrders) -> Option<String> {
    let (median, worst) = (orders.error_median?, &orders.rows[orders.worst?]);
    let [predicted, measured] =
        [worst.predicted_mb?, worst.size.mean].map(|mb| number::quantity(mb, "MB"));
    let ranks = orders.rank_correlation.map_or_else(String::new, |ranks| {
        format!(
            " Spearman's rank correlation of the sizes is {} (1: same order as predicted).",
            number::fixed(ranks, 2)
        )
    });
    Some(format!(
        "Prediction error: {} (median), {} % at worst ({}: predicted {predicted}, measured \
         {measured}).{ranks}",
        number::short_percent(median),
        number::signed(100.0 * worst.error?, 1),
        name(worst),
    ))
}

fn sizes(orders: &SortOrders) -> Columns<'_, &SortOrderRow> {
    let mut table = Columns::for_rows(&orders.rows);
    table.name("order", |row| row.order.as_str());
    table.name("sorted by", |row| joined(&row.columns, ", "));
    table.left("size MB", |row| Cell::estimate_without_unit(&row.size));
    table.left("predicted MB", |row| {
        row.predicted_mb.map(|mb| Cell::mean(mb, row.predicted_interval, ""))
    });
    table.right("error", |row| row.error.map(Cell::change));
    table.left("size gain", |row| row.size_gain.as_ref().map(|gain| Cell::comparison(gain, "MB")));
    table
}

fn costs(orders: &SortOrders) -> Columns<'_, &SortOrderRow> {
    let mut table = Columns::for_rows(&orders.rows);
    table.name("order", |row| row.order.as_str());
    table.left("load s", |row| row.load.as_ref().map(Cell::estimate_without_unit));
    table.left("CPU us/row", |row| row.cpu.as_ref().map(Cell::estimate_without_unit));
    table
        .left("CPU gain", |row| row.cpu_gain.as_ref().map(|gain| Cell::comparison(gain, "us/row")));
    if orders.rows.iter().any(|row| row.skipped.is_some()) {
        table.left("filtered CPU us/row", |row| {
            row.filtered_cpu.as_ref().map(Cell::estimate_without_unit)
        });
        table.right("row groups skipped", |row| {
            let (skipped, all) = row.skipped?;
            Some(Cell::from(skipped).shown(format!(
                "{} of {}",
                number::whole(skipped),
                number::whole(all)
            )))
        });
    }
    table
}

/// The sources of the gain: the columns that changed most.
fn by_column(section: &mut Section, generated: &SortOrderRow, best: &SortOrderRow) {
    let both = generated.by_column.iter().filter_map(|column| {
        let same = best.by_column.iter().find(|other| other.column == column.column)?;
        Some((column, same))
    });
    let mut both: Vec<(&ColumnBytes, &ColumnBytes)> = both.collect();
    let change = |(from, to): &(&ColumnBytes, &ColumnBytes)| to.bytes - from.bytes;
    order::largest_first(&mut both, &|row| change(row).abs());
    let left_out = both.len().saturating_sub(COLUMNS_SHOWN);
    both.truncate(COLUMNS_SHOWN);
    section.line(format!("Columns that differ most between none and {}:", name(best)));
    let mut table = Columns::for_rows(&both);
    table.name("column", |(from, _)| from.column.as_str());
    table.right("none MB", |(from, _)| megabytes(from.bytes));
    table.right(format!("{} MB", best.order), |(_, to)| megabytes(to.bytes));
    table.with(Column::right("change MB"), |pair| {
        let mb = change(pair) / 1e6;
        Cell::from(mb).shown(number::signed(mb, 2))
    });
    table.right("predicted MB", |(_, to)| to.predicted.map(megabytes));
    section.table(table);
    if left_out > 0 {
        section
            .note(format!("{} with smaller changes omitted.", number::plural(left_out, "column")));
    }
}

fn megabytes(bytes: f64) -> Cell {
    Cell::from(bytes / 1e6).shown(number::fixed(bytes / 1e6, 2))
}
