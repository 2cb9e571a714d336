//! A sizing plan: alternatives by price, and each chain link by link.

use crate::{LinkLoad, Plan, Resource, Sizes, Sizing, Use};
use report::model::{
    Bar, BarGroup, Cell, Chart, ChartKind, Column, Columns, Document, Section, Tone,
};
use report::number;

/// Seconds of an hour.
const HOUR_S: f64 = 3600.0;

/// Returns the result of a plan.
pub fn sizing(plan: &Plan, sizing: &Sizing) -> Document {
    let mut sections = vec![overview(plan, sizing)];
    sections.extend(sizing.alternatives.iter().map(|alternative| chain(plan, alternative)));
    Document { title: "Sizing".into(), sections }
}

fn overview(plan: &Plan, sizing: &Sizing) -> Section {
    let currency = &plan.currency;
    let mut section = Section::new("Alternatives");
    section.line(demand(plan, sizing));
    match sizing.alternatives.first() {
        Some(first) if first.is_within_targets => {
            section.toned(
                format!("Cheapest alternative within the targets: {}.", first.name),
                Tone::Good,
            );
        }
        _ => section.warn("No alternative meets the targets."),
    }
    let prices = sizing.alternatives.iter().any(|alternative| alternative.price > 0.0);
    let mut columns = Columns::for_rows(&sizing.alternatives);
    columns.name("alternative", |row| row.name.as_str());
    columns
        .with(Column::left("bottleneck"), |row| row.narrowest.map(|at| part(plan, &row.links[at])));
    columns.right("carries", |row| {
        row.carries.map(|times| Cell::from(times).shown(format!("{}x", number::ratio(times))))
    });
    columns.left("targets", |row| match (row.is_within_targets, row.fits) {
        (true, _) => Cell::new("within", Tone::Good),
        (false, true) => Cell::new("exceeded", Tone::Warning),
        (false, false) => Cell::new("saturated", Tone::Bad),
    });
    columns.right("read ms", |row| row.read_s.map(milliseconds)).optional = 1;
    columns.right("transaction ms", |row| row.transaction_s.map(milliseconds)).optional = 2;
    if prices {
        columns.right(currency.as_str(), |row| money(row.price));
        columns
            .right(format!("{currency} for 1/s"), |row| row.price_per_transaction.map(money))
            .optional = 3;
        columns
            .right(format!("{currency} for 1 GB/s"), |row| row.price_per_gb_s.map(money))
            .optional = 4;
        if plan.targets.depreciation.is_some() {
            columns.right(format!("{currency} a month"), |row| row.price_per_month.map(money));
        }
    }
    section.table(columns);
    let monthly = plan.parts.iter().any(|part| part.price_per_month > 0.0);
    section.note(format!(
        "carries: multiple of the demand at which the bottleneck saturates (space not included). \
         Targets: at most {} of the time, {} of the space. Times are estimates by queueing models \
         (M/M/c for devices and CPUs, M/D/1 for links) from the figures in the plan; nothing was \
         measured.{}",
        number::short_percent(plan.targets.utilisation),
        number::short_percent(plan.targets.space),
        if monthly {
            format!(
                " Prices include {} months of monthly prices.",
                number::whole(plan.targets.months)
            )
        } else {
            String::new()
        },
    ));
    if let Some(months) = plan.targets.depreciation {
        section.note(format!(
            "A month costs the monthly prices and a part of the purchase, which loses its value \
             in equal parts over {} months.",
            number::whole(months)
        ));
    }
    section
}

fn money(amount: f64) -> Cell {
    Cell::from(amount).shown(number::grouped(amount))
}

/// `Demand: 10,000 transactions/s, 3,000 of them in flight ...`
fn demand(plan: &Plan, sizing: &Sizing) -> String {
    let demand = &plan.demand;
    let some = |value: f64, text: &dyn Fn(f64) -> String| (value > 0.0).then(|| text(value));
    let text = [
        demand.transactions.map(|rate| format!("{} transactions/s", number::grouped(rate))),
        sizing
            .in_flight
            .map(|n| format!("{} in flight (rate x response time)", number::grouped(n))),
        some(demand.reads, &|rate| format!("{} reads/s", number::grouped(rate))),
        some(demand.writes, &|rate| format!("{} writes/s", number::grouped(rate))),
        some(demand.sequential_reads, &|rate| format!("{} sequential reads", megabytes(rate))),
        some(demand.sequential_writes, &|rate| format!("{} sequential writes", megabytes(rate))),
        some(demand.bytes, &|bytes| format!("{} stored", terabytes(bytes))),
        some(demand.processors, &|busy| format!("{} CPUs busy", number::figure(busy))),
    ];
    format!("Demand: {}.", text.into_iter().flatten().collect::<Vec<_>>().join(", "))
}

fn part<'a>(plan: &'a Plan, link: &LinkLoad) -> &'a str {
    &plan.parts[link.part].name
}

fn milliseconds(seconds: f64) -> Cell {
    Cell::from(seconds * 1e3).shown(number::figure(seconds * 1e3))
}

fn chain(plan: &Plan, sizing: &Sizes) -> Section {
    let mut section = Section::new(format!("Chain: {}", sizing.name));
    section.chart(chart(plan, sizing));
    let mut columns = Columns::for_rows(&sizing.links);
    columns.with(Column::name("link"), |link| part(plan, link));
    columns.right("pieces", |link| {
        let count = number::count(link.count);
        Cell::from(link.count).shown(if link.is_computed {
            format!("{count} needed")
        } else {
            count
        })
    });
    for (resource, heading) in [
        (Resource::Io, "disk I/Os"),
        (Resource::Bandwidth, "bandwidth"),
        (Resource::Space, "space"),
        (Resource::Processor, "CPUs"),
        (Resource::Places, "places"),
    ] {
        let of =
            move |link: &LinkLoad| link.uses.iter().find(|used| used.resource == resource).copied();
        if sizing.links.iter().any(|link| of(link).is_some()) {
            columns.with(Column::left(heading), move |link| of(link).map(usage));
        }
    }
    columns
        .right("read ms", |link| link.read_s.filter(|time| *time > 0.0).map(milliseconds))
        .optional = 1;
    section.table(columns);
    for remark in sizing.links.iter().flat_map(|link| remarks(plan, link)) {
        section.line(remark);
    }
    for (link, years) in sizing.links.iter().zip(&sizing.space_lasts_years) {
        if let Some(years) = years {
            section.line(format!(
                "{}: its space reaches the target after {} years; buy more by then.",
                part(plan, link),
                number::figure(*years)
            ));
        }
    }
    if let Some(purchases) = &sizing.purchases {
        let share = number::short_percent(purchases.saving.abs());
        let price = format!("{} {}", number::grouped(purchases.price), plan.currency);
        let now = number::grouped(sizing.price);
        section.line(if purchases.saving > 0.0 {
            format!(
                "Buying each year what its growth needs costs {price}: {share} less than {now} \
                 now."
            )
        } else {
            format!("Buying all now costs {now}; each year what its growth needs costs {price}.")
        });
    }
    section
}

/// `15,000/s: 21 %`
fn usage(used: Use) -> Cell {
    let demand = match used.resource {
        Resource::Io => format!("{}/s", number::grouped(used.demand)),
        Resource::Bandwidth => megabytes(used.demand),
        Resource::Space => terabytes(used.demand),
        Resource::Processor => number::figure(used.demand),
        Resource::Places => number::count(used.demand as u64),
    };
    let tone = if used.utilisation > 1.0 { Tone::Bad } else { Tone::Plain };
    let share = number::short_percent(used.utilisation);
    Cell::from(used.utilisation).shown(format!("{demand}: {share}")).toned(tone)
}

fn megabytes(bytes_s: f64) -> String {
    format!("{} MB/s", number::grouped(bytes_s / 1e6))
}

fn terabytes(bytes: f64) -> String {
    format!("{} TB", number::grouped(bytes / 1e12))
}

fn chart(plan: &Plan, sizing: &Sizes) -> Chart {
    let bars = sizing.links.iter().filter_map(|link| {
        let used = link.narrowest()?;
        Some(Bar {
            label: part(plan, link).into(),
            value: 100.0 * used.utilisation,
            note: used.resource.words().into(),
            tone: if used.utilisation > 1.0 { Tone::Bad } else { Tone::Plain },
            ..Bar::default()
        })
    });
    Chart {
        title: "Utilisation of each link, from the disks up: its most used resource".into(),
        unit: "%".into(),
        kind: ChartKind::Bars,
        groups: vec![BarGroup { bars: bars.collect(), ..BarGroup::default() }],
    }
}

fn hours(time_s: f64) -> String {
    if time_s < HOUR_S {
        format!("{} min", number::figure(time_s / 60.0))
    } else {
        format!("{} h", number::figure(time_s / HOUR_S))
    }
}

/// Returns remarks on failure, wear and bursts of a link.
fn remarks(plan: &Plan, link: &LinkLoad) -> Vec<String> {
    let name = part(plan, link);
    let failure = link.degraded.map(|degraded| {
        let busy = number::short_percent(degraded.utilisation);
        let saturated = if degraded.utilisation >= 1.0 { " (saturated)" } else { "" };
        let rebuilt = degraded.while_rebuilt.zip(degraded.rebuild_s).map(|(busy, time)| {
            format!(
                "; {} during the rebuild, which takes {}",
                number::short_percent(busy),
                hours(time)
            )
        });
        format!(
            "{name}: with one disk failed, the rest of its group is {busy} busy{saturated}{}.",
            rebuilt.unwrap_or_default()
        )
    });
    let worn = link
        .worn_out_years
        .map(|years| format!("{name}: worn out after {} years.", number::figure(years)));
    let burst = link.burst_s.map(|time| {
        if time.is_infinite() {
            format!("{name}: the base rate suffices; no burst credits used.")
        } else {
            format!("{name}: burst credits last for {}.", hours(time))
        }
    });
    [failure, worn, burst].into_iter().flatten().collect()
}
