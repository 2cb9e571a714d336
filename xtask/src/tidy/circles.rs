//! Circles inside a crate: files that need each other to be understood.

use super::modules::{Module, read, uses};
use super::workspace::{Tier, Workspace};

/// Circles that are there until they are divided: the crate, and the modules that they may consist
/// of. This list only shrinks.
const UNTIL_DIVIDED: &[(&str, &[&str])] = &[
    ("serve", &["library", "page", "views"]),
    (
        "analysis",
        &[
            "ceiling",
            "compare",
            "configurations",
            "decompose",
            "decompose::judge",
            "decompose::shape",
            "devices",
            "durability",
            "effects",
            "estimate",
            "findings",
            "findings::caveats",
            "findings::claims",
            "findings::factors",
            "findings::hot",
            "findings::plans",
            "findings::responses",
            "findings::verdict",
            "findings::why",
            "gains",
            "grid",
            "health",
            "hot",
            "interaction",
            "means",
            "model",
            "model::demands",
            "model::device",
            "percentiles",
            "plans",
            "power",
            "response",
            "scripts",
            "settings",
            "statement_gains",
            "study",
            "summary",
            "timeouts",
            "waits",
            "wording",
        ],
    ),
    ("models", &["average", "curve"]),
    ("postgres", &["plan_reader::log", "plan_reader"]),
    ("statistics", &["change_points", "change_points::dependence"]),
    (
        "engine",
        &[
            "column_store",
            "engine",
            "facets",
            "file_set",
            "nodes",
            "preflight",
            "query_reader",
            "sample",
            "server",
        ],
    ),
    ("probe", &["data", "probe"]),
    (
        "duckdb",
        &[
            "backups",
            "compression",
            "host",
            "instance",
            "the root",
            "load",
            "session",
            "settings",
            "setup",
        ],
    ),
    ("sqlite", &["connection", "instance", "the root", "pragma", "session", "setup"]),
    (
        "sqlserver",
        &[
            "the root",
            "settings",
            "target::bulk",
            "target::cache",
            "target::database",
            "target::instance",
            "target::layout",
            "target::load",
            "target",
            "target::preflight",
            "target::server_settings",
            "target::waits",
        ],
    ),
    (
        "sqlserver",
        &[
            "live::delta",
            "live",
            "live::observer",
            "live::queries",
            "live::reading",
            "live::sampler",
            "live::samples",
            "live::survey",
        ],
    ),
    ("script", &["compile", "expression", "mix", "names", "random", "sql", "value"]),
    ("sort_order", &["order", "probe"]),
    ("experiment", &["common", "configuration", "human", "setting"]),
    (
        "mariadb",
        &[
            "admin",
            "by_url",
            "compression",
            "dialect",
            "explain",
            "fill",
            "instance",
            "kept",
            "the root",
            "load",
            "queries::explain",
            "queries::health",
            "queries::indexes",
            "queries::storage",
            "queries",
            "replication",
            "server::data_directory",
            "server::product",
            "server::setup",
            "server::variables",
            "settings",
            "survey",
            "waits::accounting",
            "waits",
            "waits::reading",
            "waits::sampler",
            "waits::source",
            "wire",
        ],
    ),
    (
        "postgres",
        &[
            "admin",
            "altered",
            "compression",
            "dialect",
            "explain",
            "fill",
            "host",
            "instance",
            "kept",
            "the root",
            "load",
            "own_database",
            "preflight",
            "queries::explain",
            "queries::health",
            "queries",
            "replication",
            "sample",
            "server::data_directory",
            "server::product",
            "server::settings",
            "server::setup",
            "server::tried_settings",
            "settings",
            "survey",
            "waits::accounting",
            "waits::counters",
            "waits",
            "waits::observer",
            "waits::sources",
            "waits::tasks",
            "waits::used",
            "wire",
        ],
    ),
];

pub fn check(workspace: &Workspace) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut met = Vec::new();
    for one in workspace.crates.iter().filter(|one| one.tier != Tier::Aside) {
        let modules = read(&one.sources);
        let uses = uses(&modules);
        for circle in circles(&uses) {
            let names: Vec<String> = circle.iter().map(|at| name(&modules[*at])).collect();
            let known = UNTIL_DIVIDED.iter().position(|(user, known)| {
                *user == one.name && names.iter().all(|name| known.contains(&name.as_str()))
            });
            match known {
                Some(known) => met.push(known),
                None => {
                    let arrows = arrows(&modules, &uses, &circle).join(", ");
                    wrong.push(format!("{}: a circle: {arrows}", one.name));
                }
            }
        }
    }
    for (at, (name, circle)) in UNTIL_DIVIDED.iter().enumerate() {
        if !met.contains(&at) {
            wrong.push(format!(
                "{name}: the circle of {} is gone: remove it from tidy/circles.rs",
                circle.join(", ")
            ));
        }
    }
    wrong
}

/// What uses what within a circle.
fn arrows(modules: &[Module], uses: &[Vec<usize>], circle: &[usize]) -> Vec<String> {
    let mut arrows = Vec::new();
    for from in circle {
        for to in uses[*from].iter().filter(|to| circle.contains(to)) {
            arrows.push(format!("{} -> {}", name(&modules[*from]), name(&modules[*to])));
        }
    }
    arrows
}

fn name(module: &Module) -> String {
    if module.path.is_empty() { "the root".into() } else { module.path.join("::") }
}

/// The sets of modules each of which reaches all others of its set.
fn circles(uses: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let reached: Vec<Vec<bool>> = (0..uses.len()).map(|at| reached(uses, at)).collect();
    let mut circles: Vec<Vec<usize>> = Vec::new();
    for (at, from) in reached.iter().enumerate() {
        let circle: Vec<usize> =
            (0..uses.len()).filter(|other| from[*other] && reached[*other][at]).collect();
        if circle.first() == Some(&at) && circle.len() > 1 {
            circles.push(circle);
        }
    }
    circles
}

fn reached(uses: &[Vec<usize>], from: usize) -> Vec<bool> {
    let mut reached = vec![false; uses.len()];
    let mut open = uses[from].clone();
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut reached[at], true) {
            open.extend(&uses[at]);
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::circles;

    #[test]
    fn modules_that_reach_each_other_are_a_circle() {
        let uses = vec![vec![1], vec![2], vec![0, 3], vec![4], vec![], vec![6], vec![5]];
        assert_eq!(circles(&uses), [vec![0, 1, 2], vec![5, 6]]);
    }
}
