//! The section of reports: the load by phase, the work of the action, its price, and the restore.

use crate::analysis::{ActionFigures, BackgroundGroup, PhaseFigures, Price, Restore};
use crate::wait_section;
use analysis::{Estimate, Ratio, Summary};
use report::text::label;
use report::{Cell, Columns, Section, number};

/// A section for each group.
pub fn section(_: &Summary, all: &[BackgroundGroup]) -> Vec<Section> {
    all.iter().flat_map(of_group).collect()
}

fn of_group(own: &BackgroundGroup) -> Vec<Section> {
    let heading = |title: &str| {
        if own.group.is_empty() { title.to_owned() } else { format!("{title}: {}", own.group) }
    };
    let mut phases = Section::new(heading("Load before, during and after the action"));
    phases_table(&mut phases, &own.actions);
    let mut waits = Section::new(heading("Waits before, during and after the action"));
    wait_section::table(&mut waits, &own.actions);
    let mut work = Section::new(heading("Background action"));
    work_table(&mut work, &own.actions);
    own.prices.iter().for_each(|price| work.line(sentence(price)));
    if !own.prices.is_empty() {
        work.note(
            "Prices compare trials of the same block, which have the same arrivals. Each interval \
             is for one comparison.",
        );
    }
    let mut restores = Section::new(heading("Restore"));
    restore_table(&mut restores, &own.actions);
    [phases, waits, work, restores].into_iter().filter_map(Section::unless_empty).collect()
}

/// A row of the table of phases.
struct Row<'a> {
    configuration: &'a str,
    phase: &'a PhaseFigures,
}

fn mean(own: Option<&Estimate>) -> Option<String> {
    own.map(|own| number::figure(own.mean))
}

fn with_interval(own: Option<&Estimate>) -> Cell {
    own.map_or_else(Cell::default, Cell::estimate_without_unit)
}

fn phases_table(section: &mut Section, all: &[ActionFigures]) {
    let rows: Vec<Row<'_>> = all
        .iter()
        .flat_map(|own| {
            let configuration = own.configuration.as_str();
            own.phases.iter().map(move |phase| Row { configuration, phase })
        })
        .collect();
    if rows.is_empty() {
        return;
    }
    let mut table = Columns::for_rows(&rows);
    table.name("configuration", |own| label(own.configuration).to_owned());
    table.left("phase", |own| own.phase.phase);
    table.right("s", |own| mean(own.phase.duration.as_ref()));
    table.right("done/s", |own| mean(own.phase.throughput.as_ref()));
    if let Some(name) = all.iter().find_map(|own| own.counted.as_deref()) {
        table.right(format!("{name}/min"), |own| mean(own.phase.counted.as_ref()));
    }
    table.right("lost %", |own| mean(own.phase.lost.as_ref()));
    table.left("p99 ms", |own| with_interval(own.phase.p99.as_ref()));
    table.left("ratio", |own| own.phase.p99_ratio.map(ratio));
    table.right("over limit s", |own| mean(own.phase.over_limit.as_ref()));
    table.right("gap s", |own| mean(own.phase.gap.as_ref()));
    section.table(table);
    section.note(
        "A transaction counts in the phase in which it was due. Lost: due in the phase and not \
         done in it. Over limit: seconds in which more than 1 % took longer than \
         background.latency_limit. Gap: the longest time without an answer. Figures without an \
         interval are means over the trials. Ratio: p99 relative to the phase before. A dash: \
         more than 1 % were not done.",
    );
    if all.iter().any(|own| own.phases.iter().all(|phase| phase.phase != "after") && own.outlasted)
    {
        section.warn(
            "Some actions were still working when the load ended; prices leave these trials out.",
        );
    }
}

fn work_table(section: &mut Section, all: &[ActionFigures]) {
    let rows: Vec<&ActionFigures> = all.iter().filter(|own| own.action.is_some()).collect();
    if rows.is_empty() {
        return;
    }
    let work = |own: &&ActionFigures| own.action.clone();
    let mut table = Columns::for_rows(rows.clone());
    table.name("configuration", |own| label(&own.configuration).to_owned());
    table.left("time s", move |own| with_interval(work(own).map(|own| own.time).as_ref()));
    if rows.iter().any(|own| work(own).is_some_and(|own| own.rate.is_some())) {
        table.left("MB/s", move |own| with_interval(work(own).and_then(|own| own.rate).as_ref()));
        table.right("CPU s/GB", move |own| mean(work(own).and_then(|own| own.cpu_per_gb).as_ref()));
        table.right("compression", move |own| {
            let ratio = work(own)?.compression?;
            Some(format!("{}x", number::fixed(ratio.mean, 2)))
        });
    }
    section.table(table);
    let restarts: Vec<String> = rows
        .iter()
        .filter_map(|own| {
            let restarts = own.action.as_ref()?.restarts.filter(|own| *own > 0.0)?;
            let name = label(&own.configuration);
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
fn ratio(own: Ratio) -> String {
    let ends = own.interval.map_or_else(String::new, |ends| {
        format!(" [{}, {}]", number::fixed(ends.low, 2), number::fixed(ends.high, 2))
    });
    format!("{}x{ends}", number::fixed(own.ratio, 2))
}

/// `14 % [11, 17] higher`; says where the sign is not certain.
fn change(own: Ratio) -> String {
    let percent = |ratio: f64| number::figure(100.0 * (ratio - 1.0).abs());
    let Some(ends) = own.interval else {
        let word = if own.ratio < 1.0 { "lower" } else { "higher" };
        return format!("{} % {word} (one block, no interval)", percent(own.ratio));
    };
    if ends.contains(1.0) {
        let signed = |ratio: f64| number::signed(100.0 * (ratio - 1.0), 0);
        return format!(
            "not significantly different ({} %, {} %)",
            signed(ends.low),
            signed(ends.high)
        );
    }
    if own.ratio < 1.0 {
        let (low, high) = (percent(ends.high), percent(ends.low));
        format!("{} % [{low}, {high}] lower", percent(own.ratio))
    } else {
        let (low, high) = (percent(ends.low), percent(ends.high));
        format!("{} % [{low}, {high}] higher", percent(own.ratio))
    }
}

/// The price in a sentence.
fn sentence(own: &Price) -> String {
    let (name, reference) = (label(&own.configuration), label(&own.reference));
    let p99 = own.p99.map(|own| format!("the load's p99 is {}", change(own)));
    let lost = own.lost.as_ref().and_then(|own| {
        let ends = own.interval.filter(|ends| !ends.contains(0.0))?;
        let [mean, low, high] = [own.mean, ends.low, ends.high].map(number::figure);
        Some(format!("it loses {mean} [{low}, {high}] points more of its throughput"))
    });
    let counted = own.counted.as_ref().map(|own| format!("{} are {}", own.name, change(own.ratio)));
    let effect: Vec<String> = counted.into_iter().chain(p99).chain(lost).collect();
    let effect =
        if effect.is_empty() { "no price is known".to_owned() } else { effect.join(", and ") };
    match own.sooner {
        Some(sooner) => {
            let speed = match sooner.interval {
                Some(ends) if ends.contains(1.0) => "takes about as long as".to_owned(),
                _ if sooner.ratio < 1.0 => {
                    let longer = Ratio {
                        ratio: 1.0 / sooner.ratio,
                        interval: sooner.interval.map(|own| analysis::Interval {
                            low: 1.0 / own.high,
                            high: 1.0 / own.low,
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
struct Restored<'a> {
    configuration: &'a str,
    restore: &'a Restore,
}

fn restore_table(section: &mut Section, all: &[ActionFigures]) {
    let rows: Vec<Restored<'_>> = all
        .iter()
        .filter_map(|own| {
            let configuration = own.configuration.as_str();
            Some(Restored { configuration, restore: own.restore.as_ref()? })
        })
        .collect();
    for own in all.iter().filter(|own| own.restore.is_none()) {
        if own.action.as_ref().is_some_and(|work| work.compression.is_some()) {
            let name = label(&own.configuration);
            section.warn(format!("{name}: the backup was not restored, so it has no verdict."));
        }
    }
    if rows.is_empty() {
        return;
    }
    let mut table = Columns::for_rows(&rows);
    table.name("configuration", |own| label(own.configuration).to_owned());
    table.right("first query s", |own| mean(own.restore.first_query.as_ref()));
    table.right("consistent s", |own| mean(own.restore.consistent.as_ref()));
    if rows.iter().any(|own| own.restore.caught_up.is_some()) {
        table.right("caught up s", |own| mean(own.restore.caught_up.as_ref()));
    }
    table.left("verdict", |own| verdict(own.restore));
    section.table(table);
    for own in &rows {
        for difference in &own.restore.differences {
            section.warn(format!("{}: {difference}.", label(own.configuration)));
        }
    }
    section.note(
        "Times are means over the trials, from the beginning of the restore. Consistent: the \
         engine's recovery and its own check are complete. Rows and checksums are compared after \
         the load: of the restored backup where it catches up, else of a second backup by the \
         same tool.",
    );
}

fn verdict(own: &Restore) -> String {
    let [tables, rows] = own.compared;
    if own.differences.is_empty() {
        format!(
            "equal in {} of {0}: {} tables, {} rows",
            own.trials,
            number::count(tables as u64),
            number::count(rows as u64)
        )
    } else {
        format!("{} differences", own.differences.len())
    }
}
