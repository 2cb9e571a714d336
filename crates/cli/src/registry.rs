//! The engines, designs, studies and tools of this binary. Deleting one is its folder, the lines
//! here that name it, and those of the manifests: `cargo xtask detach NAME` tries it.

use command_line::{AddHistoryPart, Command, Comparisons, Records, RunDocument, RunOptions};
use report::StudySections;
use runner::{Adapter, Registry};

/// Engines, probes and adapters in the order in which help and documentation list them.
pub const REGISTRY: Registry = Registry {
    engines: &[
        &sqlite::SQLITE,
        &duckdb::DUCKDB,
        &postgres::POSTGRES,
        &mariadb::MARIADB,
        &sqlserver::SQL_SERVER.with_plan_reader(inspection::sqlserver::read_plan),
        &disk::FILES,
        &null::NONE,
        &null::NULL,
    ],
    probes: PROBES,
    disturbances: DISTURBANCES,
    designs: designs::DESIGNS,
    analysis_sections: &[
        // A line for each.
        predict::SECTION,
    ],
    searches: &[
        // A line for each.
        tune::SECTIONS,
    ],
    adapters: &[
        Adapter { engine: "sqlite", part: &inspection::sqlite::INSPECTION },
        Adapter { engine: "postgres", part: &inspection::postgres::INSPECTION },
        Adapter { engine: "mariadb", part: &inspection::mariadb::INSPECTION },
        Adapter { engine: "sqlserver", part: &inspection::sqlserver::INSPECTION },
        Adapter { engine: "postgres", part: &inspection::postgres::survey::SURVEY },
        Adapter { engine: "mariadb", part: &inspection::mariadb::survey::SURVEY },
        Adapter { engine: "sqlserver", part: &inspection::sqlserver::survey::SURVEY },
    ],
};

/// The designs' parts in the analysis of their runs.
pub const DESIGNS: &[&analysis::Design] = designs::ANALYSES;

/// A study in a line: its probe, its disturbance of loads, its part of the analysis of its runs,
/// its sections of reports, its command.
macro_rules! studies {
    ($({
        $(probe: $probe:path,)? $(disturbance: $disturbance:path,)?
        $(analysis: $analysis:path,)? $(sections: $sections:path,)?
        $(command: $command:path,)?
    })*) => {
        const PROBES: &[&dyn probe::Probe] = &[$($(&$probe,)?)*];
        const DISTURBANCES: &[&dyn probe::Disturbance] = &[$($(&$disturbance,)?)*];

        /// The parts of studies in the analysis of their runs.
        pub const STUDIES: &[&analysis::Study] = &[$($(&$analysis,)?)*];

        /// The sections of reports that designs, studies and tools have, in their order.
        pub const SECTIONS: StudySections<'static> = &[$($($sections,)?)*];

        /// The commands of studies, in the order of the studies.
        pub const STUDY_COMMANDS: &[Command] = &[$($($command,)?)*];
    };
}

studies! {
    { sections: designs::SECTIONS, }
    { sections: predict::SECTIONS, }
    { sections: compare::SECTIONS, }
    { sections: agent::SECTIONS, }
    { sections: profile::SECTIONS, }
    { analysis: plan::STUDY, sections: plan::SECTIONS, }
    { probe: keys::insert::Insert, }
    { probe: script::ScriptProbe, sections: script::SECTIONS, command: script::COMMAND, }
    {
        probe: order_entry::OrderEntry, analysis: order_entry::STUDY,
        sections: order_entry::SECTIONS,
    }
    { probe: scan::Scan, analysis: scan::STUDY, sections: scan::SECTIONS, }
    {
        probe: decision_support::DecisionSupport, analysis: decision_support::STUDY,
        sections: decision_support::SECTIONS,
    }
    {
        probe: optimizer::OptimizerProbe, analysis: optimizer::STUDY,
        sections: optimizer::SECTIONS,
    }
    {
        probe: availability::failover::Failover, analysis: availability::failover::STUDY,
        sections: availability::SECTIONS,
    }
    { probe: availability::restart::Restart, }
    { probe: availability::lag::Lag, analysis: availability::lag::STUDY, }
    { probe: keys::lookup::Lookup, analysis: keys::lookup::STUDY, }
    { probe: keys::update::Update, analysis: keys::update::STUDY, }
    {
        probe: sort_order::SortOrder, analysis: sort_order::STUDY, sections: sort_order::SECTIONS,
        command: sort_order::COMMAND,
    }
    { probe: keys::bulk_load::BulkLoad, analysis: keys::bulk_load::STUDY, }
    {
        probe: disk::DiskProbe, analysis: disk::STUDY, sections: disk::SECTIONS,
        command: disk::COMMAND,
    }
    { probe: sync::SyncProbe, sections: sync::SECTIONS, command: sync::COMMAND, }
    { probe: command::CommandProbe, sections: command::SECTIONS, command: command::TIME, }
    { sections: scan::compression::SECTIONS, }
    { disturbance: background::BackgroundDisturbance, sections: background::SECTIONS, }
}

/// Options that guests add to `run`.
pub const RUN_OPTIONS: &[&[RunOptions]] = &[
    // A line for each guest, so that it can go.
    designs::RUN_OPTIONS,
    &[agent::RUN_OPTIONS],
];

/// Observations that tools record in results files.
pub const RECORDS: &[&dyn Records] = &[
    // A line for each.
    &waits::Observations,
    &queries::Intervals,
];

/// Comparisons for other tools, where a tool has them.
pub const COMPARISONS: &[Comparisons] = &[
    // A line for it.
    compare::COMPARISONS,
];

/// The stability of a run for `show --stability`, where a tool has it.
pub const STABILITY: &[RunDocument] = &[
    // A line for it.
    compare::STABILITY,
];

/// Parts that tools add to the history of an experiment.
pub const HISTORY_PARTS: &[AddHistoryPart] = &[
    // A line for each.
    predict::history_part,
];
