//! Engines and probes of the registry: settings, wait types and URLs.
#![allow(clippy::unwrap_used, reason = "a test")]

#[path = "../src/registry.rs"]
#[allow(dead_code, reason = "a test uses a part")]
mod registry;

use engine::WaitType;
use engine::server::by_url;
use registry::REGISTRY;
use std::collections::{BTreeSet, HashSet};

#[test]
fn every_setting_is_declared_once_and_its_type_holds_its_default() {
    let catalog = REGISTRY.catalog();
    for (owner, settings) in catalog.engines.iter().chain(&catalog.probes) {
        let mut paths = HashSet::new();
        for setting in *settings {
            assert!(setting.is_consistent(), "{owner}: {}: {:?}", setting.path, setting.default);
            assert!(paths.insert(setting.path), "{owner} declares {} twice", setting.path);
            assert!(!setting.doc.is_empty(), "{owner}: {} says nothing", setting.path);
        }
    }
}

/// The rows of the tables in one chapter of `docs/wait-types.md`.
fn documented(engine: &str) -> Vec<String> {
    let text = include_str!("../../../docs/wait-types.md");
    let heading = format!("# Wait types of the engine {engine}\n");
    let chapter = text.split_once(&heading).unwrap_or_else(|| panic!("no chapter {heading}")).1;
    let chapter = chapter.split("\n# ").next().unwrap_or_default();
    chapter.lines().filter(|line| line.starts_with("| `")).map(str::to_owned).collect()
}

fn row(wait_type: &WaitType) -> String {
    let WaitType { name, class, meaning, benign } = wait_type;
    let benign = match benign {
        Some(group) if group.is_filtered => format!(" {} |", group.name),
        Some(group) => format!(" ({}) |", group.name),
        None => String::new(),
    };
    format!("| `{name}` | {class} | {meaning} |{benign}")
}

#[test]
fn the_documentation_has_every_name_class_and_meaning_and_no_other() {
    let engines = REGISTRY.engines.iter().map(|engine| (engine.name(), engine.wait_types()));
    let tables: Vec<_> = engines.filter(|(_, table)| !table.is_empty()).collect();
    assert_eq!(tables.len(), 5);
    for (engine, table) in tables {
        let rows: Vec<String> = table.iter().map(row).collect();
        assert_eq!(
            documented(engine),
            rows,
            "the chapter is to have these rows:\n{}",
            rows.join("\n")
        );
        let names: BTreeSet<String> = table.iter().map(|one| one.name.to_lowercase()).collect();
        assert_eq!(names.len(), table.len(), "a name of {engine} is listed twice");
        for (index, one) in table.iter().enumerate() {
            let before = table[..index].iter().find(|other| other.fits(one.name));
            assert_eq!(before, None, "{} is never reached", one.name);
            assert!(!one.meaning.is_empty() && !one.meaning.ends_with('.'), "{}", one.name);
        }
    }
}

#[test]
fn the_scheme_chooses_the_engine_and_an_unknown_one_names_those_known() {
    for url in ["postgres://me@db/test", "postgresql://db", "host=db", "application_name=a://b", ""]
    {
        let server = by_url(REGISTRY.engines, url).map(|server| server.to_string());
        assert!(server.is_ok_and(|server| server.contains("port=")), "{url}");
    }
    let error = by_url(REGISTRY.engines, "mongodb://db/test")
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(
        error.starts_with("no engine has URLs that begin with mongodb://; known are "),
        "{error}"
    );
    assert!(error.contains("postgres://, postgresql://"), "{error}");
}
