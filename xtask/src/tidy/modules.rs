//! The modules of a crate, a file each, and which of them uses which.

use super::source::tokens;
use super::workspace::Source;

/// A module that is a file.
#[derive(Debug)]
pub struct Module {
    /// The names from the root of the crate, which has none.
    pub path: Vec<String>,
    /// Paths that it names, as they are written there.
    named: Vec<Vec<String>>,
    /// Names that it exports: the name there, and the path that it stands for.
    handed_on: Vec<(String, Vec<String>)>,
}

/// The number of times that a name is followed when it is handed on: modules hand on what they were
/// handed.
const FOLLOWED_MAX: usize = 8;

/// Reads the modules of a crate.
pub fn read(sources: &[Source]) -> Vec<Module> {
    sources.iter().filter(|source| !source.path.starts_with("bin/")).map(module).collect()
}

/// For each module those that it uses. A path leads to the file that defines what it names: through
/// `pub use` of other modules, so that these do not count as users of what they hand on.
pub fn uses(modules: &[Module]) -> Vec<Vec<usize>> {
    let mut all = Vec::new();
    for (at, module) in modules.iter().enumerate() {
        let mut used: Vec<usize> =
            module.named.iter().filter_map(|path| find(modules, at, path, 0)).collect();
        used.retain(|other| *other != at);
        used.sort_unstable();
        used.dedup();
        all.push(used);
    }
    all
}

/// The module that defines what a path in module `at` names. `None`: it is of another crate.
fn find(modules: &[Module], at: usize, path: &[String], followed: usize) -> Option<usize> {
    let by_path = |path: &[String]| modules.iter().position(|module| module.path == path);
    let mut base = modules[at].path.clone();
    let mut rest = path;
    match rest.first()?.as_str() {
        "crate" => (base, rest) = (Vec::new(), &rest[1..]),
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|part| part == "super") {
                base.pop()?;
                rest = &rest[1..];
            }
        }
        child => {
            by_path(&[&base[..], &[child.to_owned()]].concat())?;
        }
    }
    let mut found = by_path(&base)?;
    for part in rest {
        let inner = [&modules[found].path[..], std::slice::from_ref(part)].concat();
        if let Some(inner) = by_path(&inner) {
            found = inner;
            continue;
        }
        let handed_on = modules[found].handed_on.iter().find(|(name, _)| name == part);
        let target = handed_on.filter(|_| followed < FOLLOWED_MAX);
        match target.and_then(|(_, path)| find(modules, found, path, followed + 1)) {
            Some(target) => found = target,
            None => break,
        }
    }
    Some(found)
}

fn module(source: &Source) -> Module {
    let path = source.path.trim_end_matches(".rs");
    let mut path: Vec<String> = path.split('/').map(str::to_owned).collect();
    if path.last().is_some_and(|last| last == "mod" || path.len() == 1 && is_root(last)) {
        path.pop();
    }
    let mut module = Module { path, named: Vec::new(), handed_on: Vec::new() };
    let tokens = tokens(&source.text);
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] == "use" {
            let is_handed_on = at > 0 && matches!(tokens[at - 1], "pub" | ")");
            let mut leaves = Vec::new();
            at = tree(&tokens, at + 1, &[], &mut leaves);
            if is_handed_on {
                module.handed_on.extend(leaves);
            } else {
                module.named.extend(leaves.into_iter().map(|(_, path)| path));
            }
        } else if tokens.get(at + 1) == Some(&"::") && (at == 0 || tokens[at - 1] != "::") {
            let mut path = vec![tokens[at].to_owned()];
            at += 1;
            while tokens.get(at) == Some(&"::")
                && tokens.get(at + 1).is_some_and(|token| is_name(token))
            {
                path.push(tokens[at + 1].to_owned());
                at += 2;
            }
            module.named.push(path);
        } else {
            at += 1;
        }
    }
    module
}

fn is_root(name: &str) -> bool {
    name == "lib" || name == "main"
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Reads a tree of `use` from a token on, each leaf with the name that it has here; the place after
/// it.
fn tree(
    tokens: &[&str],
    mut at: usize,
    before: &[String],
    leaves: &mut Vec<(String, Vec<String>)>,
) -> usize {
    let mut path = before.to_vec();
    while let Some(token) = tokens.get(at) {
        match *token {
            "::" => at += 1,
            "{" => {
                at += 1;
                while tokens.get(at).is_some_and(|token| *token != "}") {
                    at = tree(tokens, at, &path, leaves);
                    at += usize::from(tokens.get(at) == Some(&","));
                }
                return at + 1;
            }
            "as" => {
                let name = tokens.get(at + 1).unwrap_or(&"_");
                leaves.push(((*name).to_owned(), path));
                return at + 2;
            }
            "self" if !path.is_empty() => at += 1,
            name if is_name(name) => {
                path.push(name.to_owned());
                at += 1;
            }
            "*" => at += 1,
            _ => break,
        }
    }
    if let Some(name) = path.last().cloned() {
        leaves.push((name, path));
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{Source, read, uses};

    fn edges(sources: &[(&str, &str)]) -> Vec<String> {
        let sources: Vec<Source> = sources
            .iter()
            .map(|(path, text)| Source { path: (*path).into(), text: (*text).into() })
            .collect();
        let modules = read(&sources);
        let all = uses(&modules).into_iter().enumerate();
        let name = |at: usize| modules[at].path.join("::");
        all.flat_map(|(at, used)| {
            used.into_iter().map(move |other| (at, other)).collect::<Vec<_>>()
        })
        .map(|(at, other)| format!("{} -> {}", name(at), name(other)))
        .collect()
    }

    #[test]
    fn paths_lead_to_the_file_that_defines_what_they_name() {
        let found = edges(&[
            ("lib.rs", "mod a; mod b; pub use a::{Inner as Outer, self}; fn c() { b::d(); }"),
            ("a/mod.rs", "mod e; pub use e::Inner; use std::fmt;"),
            ("a/e.rs", "use super::super::b::{self, D}; pub struct Inner;"),
            ("b.rs", "use crate::{Outer, a}; fn f() -> crate::a::Inner {}"),
        ]);
        assert_eq!(found, [" -> b", "a::e -> b", "b -> a", "b -> a::e"]);
    }
}
