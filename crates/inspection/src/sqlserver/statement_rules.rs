//! The rules by which texts of SQL Server's statements are compared and indexes advised.

use crate::plans::Terms;
use crate::statements::{IndexAbilities, NewIndex, Rules, Upkeep, drop_of_table};
use work::sql::Syntax;

/// The engine's name in snapshots.
pub const ENGINE: &str = "sqlserver";

/// SQL Server's rules.
pub const RULES: Rules = Rules {
    syntax: Syntax::SqlServer,
    // By the collation.
    names_keep_case: true,
    keeps_statistics: true,
    estimates_scans: false,
    terms: Terms {
        quoting_warnings: &["PlanAffectingConvert"],
        judged_warnings: &["MemoryGrantWarning", "Wait"],
        harmless_reasons: &[
            "MaxDOPSetToOne",
            "EstimatedDOPIsOne",
            "NoParallelPlansInDesktopOrExpressEdition",
            "GoodEnoughPlanFound",
        ],
        // The default of `cost threshold for parallelism`.
        parallel_cost: 5.0,
        cost_source: "B. Nevarez, The Query Optimizer and Cost Estimation (2010); not by Microsoft",
    },
    sort_memory: "granted memory (better estimates, or the hint MIN_GRANT_PERCENT)",
    give_memory: None,
    upkeep: Upkeep::BY_COLUMN,
    abilities: IndexAbilities { engine_names_missing: true, ..IndexAbilities::PLAIN },
    before_change: None,
    explain_grant: "GRANT SHOWPLAN TO ROLE",
    create_index,
    drop_index: drop_of_table,
};

fn create_index(index: &NewIndex<'_>) -> String {
    index.named(quoted)
}

/// A name in brackets.
pub(super) fn quoted(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}
