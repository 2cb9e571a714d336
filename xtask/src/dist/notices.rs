//! Licence texts of everything in the program, as the licences demand.

use super::failure::{self, Failure};
use super::metadata::Metadata;
use crate::process::root;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Beginnings of the names of files with licences, in capitals.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];

/// Returns the texts, each once, with the crates that have it.
pub fn write(metadata: &Metadata) -> Result<String, Failure> {
    let mut users: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut without = Vec::new();
    for part in metadata.parts().filter(|part| part.registry.is_some()) {
        let name = format!("{} {} ({})", part.name, part.version, part.licence);
        let texts = texts(&part.folder)?;
        if texts.is_empty() {
            without.push(name.clone());
        }
        for text in texts {
            users.entry(text).or_default().push(name.clone());
        }
    }
    let scripts = failure::read(&root().join("crates/core/report/assets/vendor/LICENSES.txt"))?;
    let mut page = String::from(
        "Licences of the libraries in Steelbench. Steelbench itself is under MIT or Apache-2.0, at \
         your choice.\n",
    );
    if !without.is_empty() {
        page += "\nPackages without a text of their licence, which their manifest names:\n\n";
        page.extend(without.iter().map(|name| format!("    {name}\n")));
    }
    let mut texts: Vec<(&String, &Vec<String>)> = users.iter().collect();
    texts.sort_by_key(|(text, users)| (*users, *text));
    for (text, users) in texts {
        let _ = write!(page, "\n{}\n{}\n\n{text}\n", "=".repeat(72), users.join("\n"));
    }
    let _ = write!(page, "\n{}\n{scripts}", "=".repeat(72));
    Ok(page)
}

fn texts(folder: &Path) -> Result<Vec<String>, Failure> {
    let cause = |cause| Failure::File { path: folder.into(), cause };
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(cause)? {
        let path = entry.map_err(cause)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        if NAMES.iter().any(|begin| name.starts_with(begin)) && path.is_file() {
            let text = failure::read(&path)?;
            let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
            texts.push(lines.join("\n").trim_matches('\n').to_owned());
        }
    }
    texts.sort();
    Ok(texts)
}
