//! The report of a run: its sections in order, each with the data that the analysis has for it.
//!
//! To add a section: a method of [`Summary`] in a file of `analysis` computes its data, a file here
//! turns that into headings, lines, tables and figures, and a line below names both.

mod compression;
mod configurations;
mod costs;
mod devices;
mod disk;
mod explanations;
mod factors;
mod latencies;
mod models;
mod open_loop;
mod overview;
mod plans;
mod profiles;
mod record;
mod response;
mod scaling;
mod scripts;
mod session_time;
mod sort_orders;
mod speed_ups;
mod statement_gains;
mod timelines;
mod waits;

pub(crate) use explanations::{legend, sentences, waterfall};
pub(crate) use overview::better;
pub(crate) use profiles::changes;
pub(crate) use session_time::{RUN_QUEUE, accounting, check, part, parts};
pub(crate) use waits::{left_out, table as wait_table};

use crate::model::{Document, Medium, Section};
use analysis::Summary;
use serde_json::{Map, Value};

type Data = fn(&Summary) -> serde_json::Result<Value>;
type Show = fn(&Summary) -> Vec<Section>;

struct Entry {
    /// The name of its data in JSON.
    name: &'static str,
    /// `None` of a section that draws the data of others.
    data: Option<Data>,
    /// `None` of data that other sections tell.
    show: Option<Show>,
    /// Only pages show it, and texts do not compute it.
    page_only: bool,
}

/// `name: data => function that shows it`; without data for a section that draws the data of
/// others, without a function for data that others tell. `page only`: texts have no room for it.
macro_rules! sections {
    (|$summary:ident|
     $($name:ident $(: $data:expr)? $(=> $show:path)? $(, $page:ident only)?;)*) => {
        const SECTIONS: &[Entry] = &[$({
            let (data, show): (Option<Data>, Option<Show>) =
                sections!(@ $summary $(: $data)? $(=> $show)?);
            let page_only = !<[&str]>::is_empty(&[$(stringify!($page))?]);
            Entry { name: stringify!($name), data, show, page_only }
        }),*];
    };
    (@ $summary:ident: $data:expr => $show:path) => {
        (Some(|$summary| serde_json::to_value($data)),
         Some(|$summary| $show($summary, $data).into_iter().collect()))
    };
    (@ $summary:ident: $data:expr) => {
        (Some(|$summary| serde_json::to_value($data)), None)
    };
    (@ $summary:ident => $show:path) => {
        (None, Some(|$summary| $show($summary).into_iter().collect()))
    };
}

sections! { |summary|
    overview: &summary.overview() => overview::section;
    findings: &summary.findings() => overview::findings;
    compression: &summary.compression() => compression::sections;
    response => response::section;
    explanations: &summary.explanations() => explanations::sections;
    session_time => session_time::section, page only;
    open_loop: &summary.open_loop() => open_loop::section;
    latencies: &summary.latencies() => latencies::sections, page only;
    timelines: &summary.timelines() => timelines::sections;
    configurations: &summary.configurations => configurations::section;
    detectable: summary.detectable().as_ref() => configurations::power;
    outliers: &summary.outliers() => configurations::outliers;
    drift: summary.drift();
    factors: &summary.factors => factors::sections;
    scripts: &summary.scripts() => scripts::sections;
    statement_gains: &summary.statement_gains() => statement_gains::sections;
    plans: &summary.plans() => plans::section;
    disk: summary.disk().as_ref() => disk::sections;
    costs: &summary.costs() => costs::sections;
    speed_ups: &summary.speed_ups() => speed_ups::sections;
    sort_orders: &summary.sort_orders() => sort_orders::sections;
    scaling: summary.scaling().as_ref() => scaling::section;
    models: &summary.throughput_models() => models::sections;
    ceilings: &summary.ceilings() => devices::ceilings;
    waits: &summary.waits() => waits::sections;
    profiles: &summary.profiles() => profiles::sections;
    devices: &summary.devices() => devices::section;
    estimates => configurations::responses;
    failures: &summary.failures() => overview::failures;
    warnings: &summary.warnings() => overview::warnings;
    environment: summary.environment().as_ref() => overview::environment;
    recorded => record::sections, page only;
}

/// The report of a run: what was found, the figure that shows it, why it is so, then the tables
/// behind it. What only pages show is computed for them alone: it may need every latency of a large
/// recording.
pub fn run(summary: &Summary, medium: Medium) -> Document {
    let wanted = SECTIONS.iter().filter(|entry| !(entry.page_only && medium == Medium::Text));
    let sections = wanted.filter_map(|entry| entry.show).flat_map(|show| show(summary));
    Document { title: summary.recording.run.name.as_str().into(), sections: sections.collect() }
}

/// The data of all sections by name.
pub(crate) fn data(summary: &Summary) -> serde_json::Result<Map<String, Value>> {
    let with_data = SECTIONS.iter().filter_map(|entry| Some((entry.name, entry.data?)));
    with_data.map(|(name, data)| Ok((name.to_owned(), data(summary)?))).collect()
}
