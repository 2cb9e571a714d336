//! The crates in the program: their origin, checksum and licence, as cargo knows them.

use super::build::Target;
use super::failure::{self, Failure};
use super::variant::Variant;
use crate::process::{cargo, output, root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The program's name as a package of cargo.
const PROGRAM: &str = "steelbench";

/// A crate that the program or its build needs.
#[derive(Debug)]
pub struct Crate {
    /// The name for cargo, which other crates depend on by.
    pub id: String,
    pub name: String,
    pub version: String,
    pub description: String,
    /// As SPDX writes it; empty: its manifest has none.
    pub licence: String,
    /// A crate of this repository has none.
    pub registry: Option<String>,
    /// SHA-256 of the package, as the lock file has it.
    pub checksum: Option<String>,
    pub folder: PathBuf,
    /// It runs while the program is built and is not a part of it.
    pub is_of_build: bool,
    /// Crates that it depends on, by their names for cargo.
    pub needs: Vec<String>,
}

#[derive(Debug)]
pub struct Metadata {
    /// All crates, sorted by name and version; the program first.
    pub crates: Vec<Crate>,
}

impl Metadata {
    /// Reads what a build of the program for a target needs.
    pub fn read(target: Target, variant: Variant) -> Result<Self, Failure> {
        let manifest = root().join("crates/cli/Cargo.toml");
        let mut metadata = cargo(&["metadata", "--format-version", "1", "--locked"]);
        metadata.args(["--features", variant.features()]);
        metadata.args(["--filter-platform", target.triple(), "--manifest-path"]).arg(manifest);
        let metadata = output(&mut metadata).map_err(Failure::Process)?;
        let lock = failure::read(&root().join("Cargo.lock"))?;
        Ok(Self::from_json(&serde_json::from_str(&metadata)?, &checksums(&lock)))
    }

    fn from_json(metadata: &Value, checksums: &BTreeMap<String, String>) -> Self {
        let nodes: BTreeMap<&str, &Value> =
            list(&metadata["resolve"]["nodes"]).map(|node| (text(&node["id"]), node)).collect();
        let packages: BTreeMap<&str, &Value> =
            list(&metadata["packages"]).map(|package| (text(&package["id"]), package)).collect();
        let program = packages.iter().find(|(_, package)| text(&package["name"]) == PROGRAM);
        let Some((&program, _)) = program else { return Self { crates: Vec::new() } };
        let parts = reachable(program, &nodes, |id, kinds| {
            kinds.contains(&"") && packages.get(id).is_none_or(|package| !is_macro(package))
        });
        let all = reachable(program, &nodes, |_, kinds| kinds.iter().any(|kind| *kind != "dev"));
        let mut crates: Vec<Crate> = all
            .iter()
            .filter_map(|id| {
                let needs = dependencies(nodes.get(id)?)
                    .filter(|need| all.contains(need.id))
                    .map(|need| need.id.to_owned());
                let needs: BTreeSet<String> = needs.collect();
                Some(Crate {
                    is_of_build: !parts.contains(id),
                    needs: needs.into_iter().collect(),
                    ..described(id, packages.get(id)?, checksums)
                })
            })
            .collect();
        crates.sort_by(|a, b| {
            let order = |package: &Crate| {
                (package.id != program, package.name.clone(), package.version.clone())
            };
            order(a).cmp(&order(b))
        });
        Self { crates }
    }

    /// Returns the crates that the program contains.
    pub fn parts(&self) -> impl Iterator<Item = &Crate> {
        self.crates.iter().filter(|package| !package.is_of_build)
    }
}

fn described(id: &str, package: &Value, checksums: &BTreeMap<String, String>) -> Crate {
    let (name, version) = (text(&package["name"]), text(&package["version"]));
    let manifest = Path::new(text(&package["manifest_path"]));
    let registry = package["source"].as_str().map(|source| source.trim_start_matches("registry+"));
    Crate {
        id: id.into(),
        name: name.into(),
        version: version.into(),
        description: text(&package["description"]).split_whitespace().collect::<Vec<_>>().join(" "),
        licence: text(&package["license"]).replace('/', " OR "),
        registry: registry.map(str::to_owned),
        checksum: checksums.get(&format!("{name} {version}")).cloned(),
        folder: manifest.parent().unwrap_or(manifest).into(),
        is_of_build: false,
        needs: Vec::new(),
    }
}

struct Dependency<'a> {
    id: &'a str,
    /// Empty of a normal one.
    kinds: Vec<&'a str>,
}

fn dependencies(node: &Value) -> impl Iterator<Item = Dependency<'_>> {
    list(&node["deps"]).map(|dependency| Dependency {
        id: text(&dependency["pkg"]),
        kinds: list(&dependency["dep_kinds"]).map(|kind| text(&kind["kind"])).collect(),
    })
}

/// Returns the crates that can be reached from one through dependencies that are followed.
fn reachable<'a>(
    from: &'a str,
    nodes: &BTreeMap<&'a str, &'a Value>,
    is_followed: impl Fn(&str, &[&str]) -> bool,
) -> BTreeSet<&'a str> {
    let mut reached = BTreeSet::from([from]);
    let mut waiting = vec![from];
    while let Some(id) = waiting.pop() {
        let Some(node) = nodes.get(id) else { continue };
        for need in dependencies(node) {
            if is_followed(need.id, &need.kinds) && reached.insert(need.id) {
                waiting.push(need.id);
            }
        }
    }
    reached
}

fn is_macro(package: &Value) -> bool {
    list(&package["targets"]).any(|target| list(&target["kind"]).any(|kind| kind == "proc-macro"))
}

/// The checksums of a lock file by name and version.
fn checksums(lock: &str) -> BTreeMap<String, String> {
    let mut checksums = BTreeMap::new();
    for package in lock.split("[[package]]") {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key));
            line.and_then(|rest| rest.strip_prefix(" = ")).map(|text| text.trim_matches('"'))
        };
        if let (Some(name), Some(version), Some(checksum)) =
            (value("name"), value("version"), value("checksum"))
        {
            checksums.insert(format!("{name} {version}"), checksum.to_owned());
        }
    }
    checksums
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Metadata, checksums};
    use serde_json::{Value, json};

    fn package(name: &str, kind: &str) -> Value {
        json!({
            "id": name, "name": name, "version": "1.0.0", "license": "MIT/Apache-2.0",
            "manifest_path": format!("/{name}/Cargo.toml"), "targets": [{"kind": [kind]}],
        })
    }

    fn node(name: &str, deps: &[(&str, Option<&str>)]) -> Value {
        let deps: Vec<Value> = deps
            .iter()
            .map(|(name, kind)| json!({"pkg": name, "dep_kinds": [{"kind": kind}]}))
            .collect();
        json!({"id": name, "deps": deps})
    }

    #[test]
    fn crates_of_the_build_are_not_parts_of_the_program() {
        let names = ["tester", "cc", "derive", "syn", "sqlite", "steelbench"];
        let metadata = json!({
            "packages": names.map(|name| {
                package(name, if name == "derive" { "proc-macro" } else { "lib" })
            }),
            "resolve": {"nodes": [
                node("steelbench", &[("sqlite", None), ("derive", None), ("tester", Some("dev"))]),
                node("sqlite", &[("cc", Some("build"))]),
                node("derive", &[("syn", None)]),
                node("cc", &[]), node("syn", &[]), node("tester", &[]),
            ]},
        });
        let lock = "[[package]]\nname = \"cc\"\nversion = \"1.0.0\"\nchecksum = \"12ab\"\n";
        let read = Metadata::from_json(&metadata, &checksums(lock));
        let all: Vec<(&str, bool)> = read
            .crates
            .iter()
            .map(|package| (package.name.as_str(), package.is_of_build))
            .collect();
        let expected = [
            ("steelbench", false),
            ("cc", true),
            ("derive", true),
            ("sqlite", false),
            ("syn", true),
        ];
        assert_eq!(all, expected);
        assert_eq!(read.crates[1].checksum.as_deref(), Some("12ab"));
        assert_eq!(read.crates[1].licence, "MIT OR Apache-2.0");
        assert_eq!(read.parts().count(), 2);
    }
}
