//! The engines and studies of this binary. Adding or deleting one is its folder and a line here.

use report::StudySections;
use runner::Registry;

/// Engines and probes in the order in which help and documentation list them.
pub const REGISTRY: Registry = Registry {
    engines: &[
        &sqlite::Sqlite,
        &duckdb::DuckDb,
        &postgres::Postgres,
        &mariadb::MariaDb,
        &sqlserver::SqlServer,
        &files::Files,
        &null::Nothing,
        &null::Null,
    ],
    probes: PROBES,
};

/// A study in a line: its probe, what it tells the analysis of its runs, its sections of reports.
macro_rules! studies {
    ($({
        $(probe: $probe:path,)? $(analysis: $analysis:path,)? $(sections: $sections:path,)?
    })*) => {
        const PROBES: &[&dyn probe::Probe] = &[$($(&$probe,)?)*];

        /// What studies tell the analysis of their runs.
        pub const STUDIES: &[&analysis::Study] = &[$($(&$analysis,)?)*];

        /// The sections of reports that studies have, in the order of the studies.
        pub const SECTIONS: StudySections<'static> = &[$($($sections,)?)*];
    };
}

studies! {
    { probe: insert::Insert, }
    { probe: script::ScriptProbe, }
    { probe: scan::Scan, analysis: scan::STUDY, sections: scan::SECTIONS, }
    { probe: lookup::Lookup, analysis: lookup::STUDY, }
    { probe: update::Update, analysis: update::STUDY, }
    { probe: sort_order::SortOrder, analysis: sort_order::STUDY, sections: sort_order::SECTIONS, }
    { probe: bulk_load::BulkLoad, analysis: bulk_load::STUDY, }
    { probe: disk::DiskProbe, analysis: disk::STUDY, sections: disk::SECTIONS, }
    { probe: sync::SyncProbe, sections: sync::SECTIONS, }
    { probe: command_study::CommandProbe, }
    { sections: compression::SECTIONS, }
}
