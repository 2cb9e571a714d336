//! Engines and probes of the registry: settings, wait types and URLs.

use crate::registry::{REGISTRY, SECTIONS, STUDIES, STUDY_COMMANDS};
use engine::server::by_url;
use experiment::common::{ENGINE, PROBE};
use experiment::file::SEED;
use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

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

#[test]
fn every_command_of_a_study_is_documented() {
    let documented = include_str!("../../../docs/commands.md");
    for command in STUDY_COMMANDS {
        let name = (command.line)().get_name().to_owned();
        assert!(documented.contains(&format!("\n| `{name}` | ")), "{name}");
    }
}

#[test]
fn tables_of_wait_types_have_unique_names_that_are_reached() {
    let engines = REGISTRY.engines.iter().map(|engine| (engine.name, engine.wait_types));
    let tables: Vec<_> = engines.filter(|(_, table)| !table.is_empty()).collect();
    assert_eq!(tables.len(), 5);
    for (engine, table) in tables {
        let names: BTreeSet<String> = table.iter().map(|table| table.name.to_lowercase()).collect();
        assert_eq!(names.len(), table.len(), "a name of {engine} is listed twice");
        for (index, ability) in table.iter().enumerate() {
            let before = table[..index].iter().find(|other| other.fits(ability.name));
            assert_eq!(before, None, "{} is never reached", ability.name);
            assert!(
                !ability.meaning.is_empty() && !ability.meaning.ends_with('.'),
                "{}",
                ability.name
            );
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
    assert!(error.starts_with("unknown URL scheme mongodb://; expected one of "), "{error}");
    assert!(error.contains("postgres://, postgresql://"), "{error}");
}

#[test]
fn studies_have_probes_of_the_registry_and_sections_of_their_own() {
    for study in STUDIES {
        if let Some(probe) = study.probe {
            assert!(REGISTRY.probe(probe).is_some(), "no probe {probe}");
        }
    }
    let names: Vec<&str> = SECTIONS.iter().copied().flatten().map(|section| section.name).collect();
    assert_eq!(names.iter().collect::<HashSet<_>>().len(), names.len(), "{names:?}");
}

/// Words of core that are equal to a name and mean something else: columns of tables, fields of
/// inventories, words of other programs.
const OTHER_WORDS: [(&str, &[&str]); 5] = [
    ("analysis/src/study.rs", &["script"]),
    ("report/src/recording.rs", &["files", "script"]),
    ("store/src/rows.rs", &["files"]),
    ("store/src/rows/guard.rs", &["sync"]),
    ("store/src/rows/text.rs", &["null"]),
];

/// Analysis asks for roles, studies and typed facts: a name that is renamed where it is declared
/// cannot silently empty a section.
#[test]
fn core_has_no_literal_path_probe_engine_or_fact_of_the_declarations() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let catalog = REGISTRY.catalog();
    let declared = catalog.engines.iter().chain(&catalog.probes);
    let mut names: HashSet<String> =
        declared.clone().flat_map(|(_, all)| *all).map(|setting| setting.path.to_owned()).collect();
    names.extend(declared.map(|(name, _)| (*name).to_owned()));
    names.extend([ENGINE.path(), PROBE.path(), SEED.path()].map(str::to_owned));
    for file in ["studies", "core/probe", "core/engine", "engines"].map(|text| crates.join(text)) {
        for source in sources(&file) {
            for declaration in ["FactName::new(", "FactFamily::new("] {
                let parts = source.1.split(declaration).skip(1);
                names.extend(parts.filter_map(|part| part.split('"').nth(1)).map(str::to_owned));
            }
        }
    }
    assert!(names.contains("table_pages") && names.contains("workload.connections"));
    let core = ["analysis", "report", "runner", "store", "work", "statistics"];
    let all = core.iter().flat_map(|core| sources(&crates.join("core").join(core).join("src")));
    let found: Vec<String> = all
        .flat_map(|(path, text)| {
            let path = path.display().to_string();
            let is_other = |word: &&str| {
                OTHER_WORDS.iter().any(|(file, all)| path.ends_with(file) && all.contains(word))
            };
            let named =
                literals(&text).filter(|literal| names.contains(*literal) && !is_other(literal));
            named.map(|literal| format!("{path}: {literal:?}")).collect::<Vec<_>>()
        })
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The source files of a folder with their text, without those of tests.
fn sources(folder: &Path) -> Vec<(PathBuf, String)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all = Vec::new();
    for path in entries {
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "tests" && name != "target") {
                all.extend(sources(&path));
            }
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && !path.ends_with("tests.rs")
        {
            let text = fs::read_to_string(&path).unwrap();
            all.push((path, text));
        }
    }
    all
}

/// Texts between quotes on the lines of code before the tests.
fn literals(text: &str) -> impl Iterator<Item = &str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.flat_map(|line| line.split('"').skip(1).step_by(2))
}
