//! The bill of materials in `CycloneDX`: the crates, the C libraries in some of them, and the
//! JavaScript that reports embed.

use super::build::Target;
use super::failure::{self, Failure};
use super::metadata::{Crate, Metadata};
use super::release::Release;
use super::tools::Tools;
use crate::process::{output, root};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const VENDORED: &str = "crates/core/report/assets/vendor";

/// Returns the bill of the program for a target, the same text for the same commit.
pub fn write(release: &Release, target: Target, metadata: &Metadata) -> Result<String, Failure> {
    let mut components: Vec<Value> = metadata.crates.iter().skip(1).map(component).collect();
    for part in metadata.parts() {
        components.extend(c_library(part)?);
    }
    components.extend(scripts()?);
    let dependencies: Vec<Value> = metadata
        .crates
        .iter()
        .map(|package| {
            let needs: Vec<String> = metadata
                .crates
                .iter()
                .filter(|other| package.needs.contains(&other.id))
                .map(reference)
                .collect();
            json!({"ref": reference(package), "dependsOn": needs})
        })
        .collect();
    let bill = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": release.timestamp,
            "component": {
                "type": "application",
                "bom-ref": metadata.crates.first().map(reference),
                "name": release.variant.package(),
                "version": release.version,
                "licenses": [{"expression": "MIT OR Apache-2.0"}],
                "purl": format!("pkg:cargo/steelbench@{}", release.version),
                "properties": [
                    {"name": "steelbench:commit", "value": release.commit},
                    {"name": "steelbench:target", "value": target.triple()},
                ],
            },
        },
        "components": components,
        "dependencies": dependencies,
    });
    Ok(format!("{bill:#}\n"))
}

/// Has an independent implementation compare a bill with the schema of `CycloneDX`.
pub fn validate(tools: &Tools, bill: &Path) -> Result<(), Failure> {
    const PROGRAM: &str = "import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
sys.exit(str(error) if error else 0)";
    let mut python = Command::new(&tools.python);
    output(python.args(["-c", PROGRAM]).arg(bill)).map_err(Failure::Process)?;
    println!("passed: the bill of materials is valid CycloneDX 1.6");
    Ok(())
}

/// A crate as a component: one of the registry has its checksum.
fn component(package: &Crate) -> Value {
    let mut value = json!({
        "type": "library",
        "bom-ref": reference(package),
        "name": package.name,
        "version": package.version,
        "scope": if package.is_of_build { "excluded" } else { "required" },
        "purl": format!("pkg:cargo/{}@{}", package.name, package.version.replace('+', "%2B")),
    });
    if !package.description.is_empty() {
        value["description"] = json!(package.description);
    }
    if !package.licence.is_empty() {
        value["licenses"] = json!([{"expression": package.licence}]);
    }
    if let Some(checksum) = &package.checksum {
        value["hashes"] = json!([{"alg": "SHA-256", "content": checksum}]);
    }
    let origin = package.registry.as_deref().unwrap_or("this repository");
    value["properties"] = json!([{"name": "steelbench:origin", "value": origin}]);
    value
}

fn reference(package: &Crate) -> String {
    format!("{}@{}", package.name, package.version)
}

/// The C library whose source a crate contains, with the version in its header.
fn c_library(package: &Crate) -> Result<Option<Value>, Failure> {
    let (name, licence, version) = match package.name.as_str() {
        "libsqlite3-sys" => {
            let header = package.folder.join("sqlite3/sqlite3.h");
            let text = failure::read(&header)?;
            let line = text.lines().find_map(|line| line.strip_prefix("#define SQLITE_VERSION "));
            let looks = "#define SQLITE_VERSION";
            let version = line.ok_or(Failure::Text { path: header, looks })?;
            (
                "sqlite",
                json!({"license": {"id": "blessing"}}),
                version.trim().trim_matches('"').into(),
            )
        }
        // Its version is in that of the crate.
        "zstd-sys" => {
            let version = package.version.rsplit("zstd.").next().unwrap_or_default().to_owned();
            ("zstd", json!({"license": {"id": "BSD-3-Clause"}}), version)
        }
        _ => return Ok(None),
    };
    Ok(Some(json!({
        "type": "library",
        "bom-ref": format!("{name}@{version} in {}", reference(package)),
        "name": name,
        "version": version,
        "scope": "required",
        "purl": format!("pkg:generic/{name}@{version}"),
        "licenses": [licence],
        "properties": [
            {"name": "steelbench:origin", "value": format!("in the crate {}", package.name)},
        ],
    })))
}

/// JavaScript in the repository: the files with their sums, and what is bundled in them.
fn scripts() -> Result<Vec<Value>, Failure> {
    let folder = root().join(VENDORED);
    let readme = failure::read(&folder.join("README.md"))?;
    let licences = failure::read(&folder.join("LICENSES.txt"))?;
    scripts_in(&readme, &licences).ok_or(Failure::Text {
        path: folder.join("LICENSES.txt"),
        looks: "== NAME VERSION (FILE), or NAME, bundled in FILE",
    })
}

fn scripts_in(readme: &str, licences: &str) -> Option<Vec<Value>> {
    let headings = licences.lines().filter_map(|line| line.strip_prefix("== "));
    headings
        .map(|heading| {
            let Some((name, file)) = heading.split_once(", bundled in ") else {
                let (name, rest) = heading.split_once(' ')?;
                let (version, file) = rest.trim_end_matches(')').split_once(" (")?;
                let sum =
                    readme.lines().find(|line| line.trim_end().ends_with(&format!("  {file}")))?;
                let sum = sum.split_whitespace().next()?;
                let mut value = script(name, version, file);
                value["hashes"] = json!([{"alg": "SHA-512", "content": sum}]);
                value["licenses"] = json!([{"license": {"id": "ISC"}}]);
                return Some(value);
            };
            Some(script(name, "", file))
        })
        .collect()
}

/// The version of what is bundled in another file is not known.
fn script(name: &str, version: &str, file: &str) -> Value {
    let path = PathBuf::from(VENDORED).join(file);
    let mut value = json!({
        "type": "library",
        "bom-ref": format!("{name} in {file}"),
        "name": name,
        "scope": "required",
        "properties": [{"name": "steelbench:origin", "value": path.display().to_string()}],
    });
    let package = name.replace('@', "%40");
    value["purl"] = json!(match version {
        "" => format!("pkg:npm/{package}"),
        version => format!("pkg:npm/{package}@{version}"),
    });
    if !version.is_empty() {
        value["version"] = json!(version);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::{scripts, scripts_in};

    #[test]
    fn scripts_have_their_sum_or_the_file_that_they_are_in() {
        let licences = "== d3 7.9.2 (d3.min.js)\n\nText\n\n== isoformat, bundled in plot.js\n";
        let found = scripts_in("    12ab  d3.min.js\n", licences).unwrap();
        assert_eq!(found[0]["purl"], "pkg:npm/d3@7.9.2");
        assert_eq!(found[0]["hashes"][0]["content"], "12ab");
        assert_eq!(found[1]["bom-ref"], "isoformat in plot.js");
        assert!(scripts_in("", licences).is_none());
    }

    #[test]
    fn the_scripts_of_the_repository_are_listed() {
        let names: Vec<String> = scripts()
            .unwrap()
            .iter()
            .map(|script| script["name"].as_str().unwrap().to_owned())
            .collect();
        assert!(names.contains(&"d3".into()) && names.contains(&"internmap".into()), "{names:?}");
    }
}
