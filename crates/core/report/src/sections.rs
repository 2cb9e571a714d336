//! The report of a run: its sections in order, each with the data that the analysis has for it.
//!
//! A section of every run: a method of [`Summary`] in a file of `analysis` computes its data, a
//! file here turns that into headings, lines, tables and figures, and a line below names both. A
//! guest (a study, tool or design) has both files in its own crate, and the same line in its own
//! list.

mod configurations;
mod devices;
mod explanations;
mod factors;
mod findings;
mod latencies;
mod open_loop;
mod overview;
mod record;
mod response;
mod session_time;
mod timelines;
mod waits;

pub use configurations::level_columns;
pub use devices::baseline_and_best;
pub use explanations::{code_changes, sentences, waterfall, waterfall_legend};
pub use factors::{effect_section, interaction_section};
pub use overview::better;
pub(crate) use session_time::{RUN_QUEUE, part, parts};
pub use session_time::{accounting, check};
pub use waits::{hot_resources, left_out as waits_left_out, table as wait_table};

use crate::model::{Document, Medium, Section};
use analysis::Summary;
use observations::order;
use serde::Serialize;
use serde_json::{Map, Value};

/// Chapter of a report that a section belongs to, in the order of the chapters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chapter {
    /// The run and its findings.
    Overview,
    /// Answers of a study that precede the response.
    Headline,
    /// The response, why it differs, and how it went over time.
    Response,
    /// Configurations.
    Configurations,
    /// The steadiness of repeats.
    Repeats,
    /// Factors.
    Factors,
    /// Statements that scripts ran.
    Statements,
    /// Plans of statements.
    Plans,
    /// Storage figures of loads without an engine.
    Storage,
    /// Cost of a unit of work.
    Cost,
    /// The change of throughput with threads.
    Scaling,
    /// Models of the throughput.
    Models,
    /// The use of resources relative to their limits.
    Limits,
    /// The use of time: waits.
    Waits,
    /// The code that CPU time went to.
    Code,
    /// Devices, and every response.
    Devices,
    /// Failures, warnings, the environment, all that was recorded.
    Record,
}

/// The names of the parts of a report that can be asked for.
pub const TOPICS: [&str; 15] = [
    "why",
    "study",
    "configurations",
    "responses",
    "latency",
    "statements",
    "plans",
    "models",
    "waits",
    "devices",
    "profile",
    "stability",
    "machines",
    "warnings",
    "environment",
];

/// The data of a section for programs.
pub type SectionData = fn(&Summary) -> serde_json::Result<Value>;
/// The parts of a document that show a section.
pub type ShowSection = fn(&Summary) -> Vec<Section>;

/// A section of the report of a run; [`crate::sections!`] lists several.
#[derive(Clone, Copy)]
pub struct SectionEntry {
    /// Where it stands.
    pub chapter: Chapter,
    /// The name of its data in JSON.
    pub name: &'static str,
    /// `None` for a section that draws the data of other sections.
    pub data: Option<SectionData>,
    /// `None` for data that other sections show.
    pub show: Option<ShowSection>,
    /// Only pages show it, and texts do not compute it.
    pub page_only: bool,
    /// True if the screen has the first table of this section in place of the response.
    pub on_screen: bool,
}

impl SectionEntry {
    /// The part of a report that it belongs to, one of [`TOPICS`].
    pub fn topic(&self) -> &'static str {
        match (self.name, self.chapter) {
            ("explanations", _) | (_, Chapter::Overview) => "why",
            ("machines", _) => "machines",
            ("estimates", _) => "responses",
            ("environment", _) => "environment",
            ("response", _) | (_, Chapter::Configurations | Chapter::Factors) => "configurations",
            (_, Chapter::Headline | Chapter::Storage | Chapter::Cost | Chapter::Scaling) => "study",
            (_, Chapter::Response) => "latency",
            (_, Chapter::Repeats) => "stability",
            (_, Chapter::Statements) => "statements",
            (_, Chapter::Plans) => "plans",
            (_, Chapter::Models) => "models",
            (_, Chapter::Limits | Chapter::Waits) => "waits",
            (_, Chapter::Code) => "profile",
            (_, Chapter::Devices) => "devices",
            (_, Chapter::Record) => "warnings",
        }
    }
}

/// The sections of guests: a list of each, in the order of the registry of the binary.
pub type StudySections<'a> = &'a [&'static [SectionEntry]];

/// Lists sections: `Chapter name: data => function that shows it`. Leave out the data of a section
/// that draws the data of other sections, and the function of data that other sections show. `page
/// only`: left out of texts, which have no room for it. `[screen]` behind the function: its first
/// table is the one of the screen.
#[macro_export]
macro_rules! sections {
    ($(#[$meta:meta])* $visibility:vis const $all:ident = |$summary:ident| {
        $($chapter:ident $name:ident $(: $data:expr)? $(=> $show:path $([$screen:ident])?)?
            $(, $page:ident only)?;)*
    }) => {
        $(#[$meta])*
        $visibility const $all: &[$crate::SectionEntry] = &[$({
            let (data, show): (Option<$crate::SectionData>, Option<$crate::ShowSection>) =
                $crate::sections!(@ $summary $(: $data)? $(=> $show)?);
            let page_only = !<[&str]>::is_empty(&[$(stringify!($page))?]);
            let (chapter, name) = ($crate::Chapter::$chapter, stringify!($name));
            let on_screen = !<[&str]>::is_empty(&[$($(stringify!($screen))?)?]);
            $crate::SectionEntry { chapter, name, data, show, page_only, on_screen }
        }),*];
    };
    (@ $summary:ident: $data:expr => $show:path) => {
        (
            Some(|$summary| $crate::section_data($data)),
            Some(|$summary| $show($summary, $data).into_iter().collect()),
        )
    };
    (@ $summary:ident: $data:expr) => {
        (Some(|$summary| $crate::section_data($data)), None)
    };
    (@ $summary:ident => $show:path) => {
        (None, Some(|$summary| $show($summary).into_iter().collect()))
    };
}

/// The data of a section as JSON.
pub fn section_data(data: impl Serialize) -> serde_json::Result<Value> {
    serde_json::to_value(data)
}

crate::sections! {
    const SECTIONS = |summary| {
        Overview overview: &summary.overview() => overview::section;
        Overview findings: &summary.findings() => findings::section;
        Overview first_view => findings::first_view, page only;
        Response response => response::section;
        Response explanations: &summary.explanations() => explanations::sections;
        Response session_time => session_time::section, page only;
        Response open_loop: &summary.open_loop() => open_loop::section;
        Response latencies: &summary.latencies() => latencies::sections, page only;
        Response timelines: &summary.timelines() => timelines::sections;
        Configurations configurations: &summary.configurations => configurations::section;
        Configurations detectable: summary.detectable().as_ref() => configurations::power;
        Configurations outliers: &summary.outliers() => configurations::outliers;
        Configurations drift: summary.drift();
        Factors factors: &summary.factors => factors::sections;
        Waits waits: &summary.waits() => waits::sections;
        Devices devices: &summary.devices() => devices::section;
        Devices estimates => configurations::responses;
        Devices too_few: &summary.too_few();
        Record failures: &summary.failures() => overview::failures;
        Record warnings: &summary.warnings() => overview::warnings;
        Record environment: summary.environment().as_ref() => overview::environment;
        Record recorded => record::sections, page only;
    }
}

/// All sections in the order of their chapters; in a chapter those of every run precede those of
/// guests.
pub(crate) fn all(studies: StudySections<'_>) -> Vec<&'static SectionEntry> {
    let mut all: Vec<&SectionEntry> =
        SECTIONS.iter().chain(studies.iter().copied().flatten()).collect();
    order::by_key(&mut all, &|entry| entry.chapter);
    all
}

/// The report of a run: what was found, the figure that shows it, why it is so, then the tables
/// behind it. What only pages show is computed for them alone: it may need every latency of a large
/// recording.
pub fn run(summary: &Summary, studies: StudySections<'_>, medium: Medium) -> Document {
    selected(summary, studies, |entry| !(entry.page_only && medium == Medium::Text))
}

/// The parts of a report that belong to some topics, in their order.
pub fn topics(summary: &Summary, studies: StudySections<'_>, topics: &[String]) -> Document {
    selected(summary, studies, |entry| {
        !entry.page_only && topics.iter().any(|name| name == entry.topic())
    })
}

fn selected(
    summary: &Summary,
    studies: StudySections<'_>,
    is_shown: impl Fn(&SectionEntry) -> bool,
) -> Document {
    let entries = all(studies).into_iter().filter(|entry| is_shown(entry));
    let shows = entries.filter_map(|entry| entry.show);
    let sections = shows.flat_map(|show| show(summary)).collect();
    Document { title: summary.recording.run.name.as_str().into(), sections }
}

/// The data of all sections by name.
pub(crate) fn data(
    summary: &Summary,
    studies: StudySections<'_>,
) -> serde_json::Result<Map<String, Value>> {
    let with_data = all(studies).into_iter().filter_map(|entry| Some((entry.name, entry.data?)));
    with_data.map(|(name, data)| Ok((name.to_owned(), data(summary)?))).collect()
}
