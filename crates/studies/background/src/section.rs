//! The section of reports: the load by phase, the work of the action, its price, and the restore.

use crate::analysis::{ActionFigures, BackgroundGroup, PhaseFigures, Price, Restore};
use crate::wait_section;
use analysis::{Estimate, Ratio, Summary};
use report::text::label;
use report::{Cell, Column, Columns, Section, number};

/// A section for each group.
pub fn section(_: &Summary, all: &[BackgroundGroup]) -> Vec<Section> {
    all.iter().flat_map(of_group).collect()
}

fn of_group(background_group: &BackgroundGroup) -> Vec<Section> {
    let group = background_group.group.as_str();
    let mut phases = Section::about("Load before, during and after the action", group);
    phases_table(&mut phases, &background_group.actions);
    let mut waits = Section::about("Waits before, during and after the action", group);
    wait_section::table(&mut waits, &background_group.actions);
    let mut work = Section::about("Background action", group);
    work_table(&mut work, &background_group.actions);
    background_group.prices.iter().for_each(|price| work.line(sentence(price)));
    if !background_group.prices.is_empty() {
        work.note(
            "Prices compare trials of the same block, which have the same arrivals. Each interval \
             is for one comparison.",
        );
    }
    let mut restores = Section::about("Restore", group);
    restore_table(&mut restores, &background_group.actions);
    [phases, waits, work, restores].into_iter().filter_map(Section::unless_empty).collect()
}

/// A row of the table of phases.
struct Row<'a> {
    configuration: &'a str,
    phase: &'a PhaseFigures,
}

fn mean(estimate: Option<&Estimate>) -> Option<String> {
    estimate.map(|estimate| number::figure(estimate.mean))
}

fn with_interval(estimate: Option<&Estimate>) -> Cell {
    estimate.map_or_else(Cell::default, Cell::estimate_without_unit)
}

fn phases_table(section: &mut Section, all: &[ActionFigures]) {
    let rows: Vec<Row<'_>> = all
        .iter()
        .flat_map(|figures| {
            let configuration = figures.configuration.as_str();
            figures.phases.iter().map(move |phase| Row { configuration, phase })
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    let mut table = Columns::for_rows(&rows);
    table.name("configuration", |row| label(row.configuration).to_owned());
    table.left("phase", |row| row.phase.phase);
    table.right("s", |row| mean(row.phase.duration.as_ref()));
    table.right("done/s", |row| mean(row.phase.throughput.as_ref()));
    if let Some(name) = all.iter().find_map(|figures| figures.counted.as_deref()) {
        table.right(format!("{name}/min"), |row| mean(row.phase.counted.as_ref()));
    }
    table.right("lost %", |row| mean(row.phase.lost.as_ref()));
    table.left("p99 ms", |row| with_interval(row.phase.p99.as_ref()));
    table.left("ratio", |row| row.phase.p99_ratio.map(ratio));
    table.right("over limit s", |row| mean(row.phase.over_limit.as_ref()));
    table.right("gap s", |row| mean(row.phase.gap.as_ref()));
    section.table(table);
    section.note(
        "A transaction counts in the phase in which it was due. Lost: due in the phase and not \
         done in it. Over limit: seconds in which more than 1 % took longer than \
         background.latency_limit. Gap: the longest time without an answer. Figures without an \
         interval are means over the trials. Ratio: p99 relative to the phase before. A dash: \
         more than 1 % were not done.",
    );
    if all.iter().any(|figures| {
        figures.phases.iter().all(|phase| phase.phase != "after") && figures.outlasted
    }) {
        section.warn(
            "Some actions were still working when the load ended; prices leave these trials out.",
        );
    }
}

fn work_table(section: &mut Section, all: &[ActionFigures]) {
    let rows: Vec<&ActionFigures> = all.iter().filter(|figures| figures.action.is_some()).collect();
    if rows.is_empty() {
        return;
    }
    let work = |action_figures: &&ActionFigures| action_figures.action.clone();
    let mut table = Columns::for_rows(rows.clone());
    table.name("configuration", |row| label(&row.configuration).to_owned());
    table.with(Column::left("time s"), move |row| {
        with_interval(work(row).map(|work| work.time).as_ref())
    });
    if rows.iter().any(|row| work(row).is_some_and(|work| work.rate.is_some())) {
        table.with(Column::left("MB/s"), move |row| {
            with_interval(work(row).and_then(|work| work.rate).as_ref())
        });
        table.with(Column::right("CPU s/GB"), move |row| {
            mean(work(row).and_then(|work| work.cpu_per_gb).as_ref())
        });
        table.with(Column::right("compression"), move |row| {
            let ratio = work(row)?.compression?;
            Some(format!("{}x", number::fixed(ratio.mean, 2)))
        });
    }
    section.table(table);
    let restarts: Vec<String> = rows
        .iter()
        .filter_map(|row| {
            let restarts = row.action.as_ref()?.restarts.filter(|restart| *restart > 0.0)?;
            let name = label(&row.configuration);
            Some(format!("{name}: began again {} times", number::figure(restarts)))
        })
        .collect();
    if !restarts.is_empty() {
        section.line(format!("The data changed under the backup. {}.", restarts.join("; ")));
    }
    section.note(
        "MB/s: data of the target for each second of the action. CPU: of the tool, without the \
         server's processes. Compression: bytes of the data for each byte of the backup.",
    );
}

/// `2.1x [1.9, 2.3]`.
fn ratio(ratio: Ratio) -> String {
    let ends = ratio.interval.map_or_else(String::new, |ends| {
        format!(" [{}, {}]", number::fixed(ends.low, 2), number::fixed(ends.high, 2))
    });
    format!("{}x{ends}", number::fixed(ratio.ratio, 2))
}

/// `14 % [11, 17] higher`; says where the sign is not certain.
fn change(ratio: Ratio) -> String {
    let percent = |ratio: f64| number::figure(100.0 * (ratio - 1.0).abs());
    let Some(ends) = ratio.interval else {
        let word = if ratio.ratio < 1.0 { "lower" } else { "higher" };
        return format!("{} % {word} (one block, no interval)", percent(ratio.ratio));
    };
    if ends.contains(1.0) {
        let signed = |ratio: f64| number::signed(100.0 * (ratio - 1.0), 0);
        return format!(
            "not significantly different ({} %, {} %)",
            signed(ends.low),
            signed(ends.high)
        );
    }
    if ratio.ratio < 1.0 {
        let (low, high) = (percent(ends.high), percent(ends.low));
        format!("{} % [{low}, {high}] lower", percent(ratio.ratio))
    } else {
        let (low, high) = (percent(ends.low), percent(ends.high));
        format!("{} % [{low}, {high}] higher", percent(ratio.ratio))
    }
}

/// The price in a sentence.
fn sentence(price: &Price) -> String {
    let (name, reference) = (label(&price.configuration), label(&price.reference));
    let p99 = price.p99.map(|p99| format!("the load's p99 is {}", change(p99)));
    let lost = price.lost.as_ref().and_then(|loss| {
        let ends = loss.interval.filter(|ends| !ends.contains(0.0))?;
        let [mean, low, high] = [loss.mean, ends.low, ends.high].map(number::figure);
        Some(format!("it loses {mean} [{low}, {high}] points more of its throughput"))
    });
    let counted =
        price.counted.as_ref().map(|count| format!("{} are {}", count.name, change(count.ratio)));
    let effect: Vec<String> = counted.into_iter().chain(p99).chain(lost).collect();
    let effect =
        if effect.is_empty() { "no price is known".to_owned() } else { effect.join(", and ") };
    match price.sooner {
        Some(sooner) => {
            let speed = match sooner.interval {
                Some(ends) if ends.contains(1.0) => "takes about as long as".to_owned(),
                _ if sooner.ratio < 1.0 => {
                    let longer = Ratio {
                        ratio: 1.0 / sooner.ratio,
                        interval: sooner.interval.map(|interval| analysis::Interval {
                            low: 1.0 / interval.high,
                            high: 1.0 / interval.low,
                        }),
                        ..sooner
                    };
                    format!("takes {} longer than", ratio(longer))
                }
                _ => format!("finishes {} sooner than", ratio(sooner)),
            };
            format!("{name} {speed} {reference}; while it works, {effect}.")
        }
        None => format!("{name} against {reference}: while it works, {effect}."),
    }
}

/// A restored configuration.
struct RestoreRow<'a> {
    configuration: &'a str,
    restore: &'a Restore,
}

fn restore_table(section: &mut Section, all: &[ActionFigures]) {
    let rows: Vec<RestoreRow<'_>> = all
        .iter()
        .filter_map(|figures| {
            let configuration = figures.configuration.as_str();
            Some(RestoreRow { configuration, restore: figures.restore.as_ref()? })
        })
        .collect();
    for figures in all.iter().filter(|figures| figures.restore.is_none()) {
        if figures.action.as_ref().is_some_and(|work| work.compression.is_some()) {
            let name = label(&figures.configuration);
            section.warn(format!("{name}: the backup was not restored, so it has no verdict."));
        }
    }
    if rows.is_empty() {
        return;
    }
    let mut table = Columns::for_rows(&rows);
    table.name("configuration", |row| label(row.configuration).to_owned());
    table.right("first query s", |row| mean(row.restore.first_query.as_ref()));
    table.right("consistent s", |row| mean(row.restore.consistent.as_ref()));
    if rows.iter().any(|row| row.restore.caught_up.is_some()) {
        table.right("caught up s", |row| mean(row.restore.caught_up.as_ref()));
    }
    table.left("verdict", |row| verdict(row.restore));
    section.table(table);
    for row in &rows {
        for difference in &row.restore.differences {
            section.warn(format!("{}: {difference}.", label(row.configuration)));
        }
    }
    section.note(
        "Times are means over the trials, from the beginning of the restore. Consistent: the \
         engine's recovery and its own check are complete. Rows and checksums are compared after \
         the load: of the restored backup where it catches up, else of a second backup by the \
         same tool.",
    );
}

fn verdict(restore: &Restore) -> String {
    let [tables, rows] = restore.compared;
    if restore.differences.is_empty() {
        format!(
            "equal in {} of {0}: {} tables, {} rows",
            restore.trials,
            number::count(tables as u64),
            number::count(rows as u64)
        )
    } else {
        format!("{} differences", restore.differences.len())
    }
}
