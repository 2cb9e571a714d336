//! Files that a `mod` names: others are silently not built.

use super::source::tokens;
use crate::process::root;

/// Files of source that no other file names.
pub fn check(files: &[&str]) -> Vec<String> {
    let sources: Vec<&str> = files
        .iter()
        .copied()
        .filter(|file| split(file).is_some_and(|(_, path)| path.strip_suffix(".rs").is_some()))
        .collect();
    let unlisted = sources.iter().filter(|file| !is_listed(file, &sources, &read));
    unlisted.map(|file| format!("{file}: no `mod` names it, and it is not built")).collect()
}

fn read(file: &str) -> String {
    std::fs::read_to_string(root().join(file)).unwrap_or_default()
}

/// The folder `src` or `tests` of a crate, and the path of a file in it.
fn split(file: &str) -> Option<(&str, &str)> {
    let is_ours = file.starts_with("crates/") || file.starts_with("xtask/src/");
    let find = |part: &str| file.find(part).map(|at| at + part.len());
    let end = [find("/src/"), find("/tests/")].into_iter().flatten().min()?;
    is_ours.then(|| file.split_at(end))
}

fn is_listed(file: &str, sources: &[&str], read: &dyn Fn(&str) -> String) -> bool {
    let Some((folder, path)) = split(file) else { return true };
    let module = path.trim_end_matches(".rs").trim_end_matches("/mod");
    let (parent, name) = module.rsplit_once('/').unwrap_or(("", module));
    is_root(folder, parent, name, sources, read)
        || parents(folder, parent, sources).any(|parent| names(&read(parent), name))
        || sources.iter().any(|other| {
            let is_beside = other.rsplit_once('/').map(|parts| parts.0)
                == file.rsplit_once('/').map(|parts| parts.0);
            is_beside && read(other).contains(&format!("#[path = \"{name}.rs\"]"))
        })
}

/// Cargo builds it by itself: a library, a binary, a test of a crate without `tests/main.rs`, or
/// what the manifest names.
fn is_root(
    folder: &str,
    parent: &str,
    name: &str,
    sources: &[&str],
    read: &dyn Fn(&str) -> String,
) -> bool {
    let Some(of_crate) = folder.strip_suffix("tests/") else {
        return parent.is_empty() && ["lib", "main"].contains(&name) || parent == "bin";
    };
    let is_divided = sources.contains(&format!("{folder}main.rs").as_str());
    let is_found = parent.is_empty() || !parent.contains('/') && name == "main";
    parent.is_empty() && name == "main"
        || !is_divided && is_found
        || read(&format!("{of_crate}Cargo.toml")).contains(&format!("name = \"{name}\""))
}

/// The files that may name the modules in a folder, from the nearest on: a module in braces is not
/// a file.
fn parents<'a>(
    folder: &'a str,
    parent: &'a str,
    sources: &'a [&'a str],
) -> impl Iterator<Item = &'a str> {
    let ends = parent.match_indices('/').map(|(at, _)| at).chain([parent.len()]);
    let mut above: Vec<String> = ends
        .filter(|end| *end > 0)
        .flat_map(|end| {
            [".rs", "/mod.rs", "/main.rs"]
                .map(|suffix| format!("{folder}{}{suffix}", &parent[..end]))
        })
        .collect();
    above.extend(["lib.rs", "main.rs"].map(|name| format!("{folder}{name}")));
    sources.iter().copied().filter(move |file| above.iter().any(|candidate| candidate == file))
}

/// The file has `mod name;`.
fn names(text: &str, name: &str) -> bool {
    tokens(text).windows(3).any(|pair| pair == ["mod", name, ";"])
}

#[cfg(test)]
mod tests {
    use super::is_listed;

    fn read(file: &str) -> String {
        match file {
            "crates/a/tests/main.rs" => "// mod e;\nmod b;\nmod c;".to_owned(),
            "crates/a/tests/c/mod.rs" => "pub mod d;".to_owned(),
            _ => String::new(),
        }
    }

    #[test]
    fn a_file_is_built_when_its_parent_names_it() {
        let sources = ["crates/a/tests/main.rs", "crates/a/tests/b.rs", "crates/a/tests/c/mod.rs"];
        let sources = [&sources[..], &["crates/a/tests/c/d.rs", "crates/a/tests/e.rs"]].concat();
        let unlisted: Vec<&&str> =
            sources.iter().filter(|file| !is_listed(file, &sources, &read)).collect();
        assert_eq!(unlisted, [&"crates/a/tests/e.rs"]);
    }
}
