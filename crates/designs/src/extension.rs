//! Extensions of a screening: further runs in the same recording, after those of the design.

use crate::settings::{
    EXTENSION, EXTENSION_BLOCKS, EXTENSION_CENTRE, EXTENSION_EFFECTS, EXTENSION_FACTOR,
    EXTENSION_KIND, EXTENSION_RUNS, EXTENSIONS,
};
use experiment::{Node, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// An `[[extension]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// The runs that it adds.
    pub step: Step,
    /// The number of times that each of them is run; `None`: as often as those of the design.
    pub blocks: Option<u32>,
}

/// The runs that an extension adds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The runs of the design with reversed levels of this factor, or of all.
    Fold(Option<String>),
    /// Runs that are compared with their prediction.
    Confirm {
        /// Coded levels of each run, the best first.
        runs: Vec<Vec<i8>>,
        /// The effects that predict them, each by the first term of its chain.
        effects: Vec<String>,
    },
    /// The axial and centre points of a response surface around the runs of the design.
    Surface {
        /// Coded levels: 0 of the factors of the surface, the fixed level of the others.
        centre: Vec<i8>,
    },
}

/// An extension that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExtensionError {
    /// A key that its kind needs.
    #[error("kind = \"{kind}\" needs {key}")]
    Missing {
        /// The kind.
        kind: &'static str,
        /// The key.
        key: &'static str,
    },
    /// A key of another kind.
    #[error("kind = \"{kind}\" has no {key}; remove it")]
    Misplaced {
        /// The kind.
        kind: &'static str,
        /// The key.
        key: &'static str,
    },
    /// Levels with other characters.
    #[error("`{0}` are not coded levels; write - for the first level, + for the second")]
    Signs(String),
}

impl Step {
    /// The kind in the file.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Fold(_) => "fold",
            Self::Confirm { .. } => "confirm",
            Self::Surface { .. } => "surface",
        }
    }
}

impl Extension {
    /// Reads the values of one.
    ///
    /// # Errors
    /// When keys are missing or belong to another kind.
    pub fn read(values: &BTreeMap<String, Value>) -> Result<Self, ExtensionError> {
        let kind = EXTENSION_KIND.value_in(values);
        let of_kinds = [
            (EXTENSION_FACTOR.path(), "fold"),
            (EXTENSION_RUNS.path(), "confirm"),
            (EXTENSION_EFFECTS.path(), "confirm"),
            (EXTENSION_CENTRE.path(), "surface"),
        ];
        let name = EXTENSIONS.iter().find(|name| **name == kind).copied().unwrap_or("fold");
        let misplaced =
            of_kinds.iter().find(|(path, of)| values.contains_key(*path) && *of != name);
        if let Some((key, _)) = misplaced {
            return Err(ExtensionError::Misplaced { kind: name, key });
        }
        let missing = |key: &'static str| Err(ExtensionError::Missing { kind: name, key });
        let (runs, effects) = (EXTENSION_RUNS.value_in(values), EXTENSION_EFFECTS.value_in(values));
        let step = match (name, EXTENSION_CENTRE.value_in(values)) {
            ("confirm", _) if runs.is_empty() => return missing(EXTENSION_RUNS.path()),
            ("confirm", _) => {
                let runs = runs.iter().map(|run| signs(run, "+-")).collect::<Result<_, _>>()?;
                if effects.is_empty() {
                    return missing(EXTENSION_EFFECTS.path());
                }
                Step::Confirm { runs, effects }
            }
            ("surface", None) => return missing(EXTENSION_CENTRE.path()),
            ("surface", Some(centre)) => Step::Surface { centre: signs(&centre, "+-0")? },
            _ => Step::Fold(EXTENSION_FACTOR.value_in(values)),
        };
        Ok(Self { step, blocks: EXTENSION_BLOCKS.value_in(values) })
    }

    /// The extensions of a recorded file; empty where it cannot be read.
    pub fn from_source(source: &str) -> Vec<Self> {
        let Ok(root) = Node::parse(source) else { return Vec::new() };
        let tables = root.tables("extension").iter().map(values);
        tables.map(|values| Self::read(&values)).collect::<Result<_, _>>().unwrap_or_default()
    }

    /// A file with this extension at its end.
    pub fn append_to(&self, source: &str) -> String {
        let mut text = format!("{}\n\n[[extension]]\n", source.trim_end());
        let mut line = |setting: &str, value: String| {
            let key = setting.trim_start_matches("extension.");
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{key} = {value}");
        };
        line(EXTENSION_KIND.path(), quoted(self.step.kind()));
        match &self.step {
            Step::Fold(None) => {}
            Step::Fold(Some(factor)) => line(EXTENSION_FACTOR.path(), quoted(factor)),
            Step::Confirm { runs, effects } => {
                line(EXTENSION_RUNS.path(), list(runs.iter().map(|run| quoted(&written(run)))));
                line(EXTENSION_EFFECTS.path(), list(effects.iter().map(|effect| quoted(effect))));
            }
            Step::Surface { centre } => line(EXTENSION_CENTRE.path(), quoted(&written(centre))),
        }
        if let Some(blocks) = self.blocks {
            line(EXTENSION_BLOCKS.path(), blocks.to_string());
        }
        text
    }
}

/// The values of an `[[extension]]`, as far as they are declared.
fn values(table: &Node) -> BTreeMap<String, Value> {
    let known = EXTENSION.iter().filter_map(|setting| {
        let node = table.value(setting.path.strip_prefix("extension.")?)?;
        Some((setting.path.to_owned(), setting.kind.read(node).ok()?))
    });
    known.collect()
}

fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

fn list(parts: impl Iterator<Item = String>) -> String {
    format!("[{}]", parts.collect::<Vec<_>>().join(", "))
}

/// `+-0`
fn written(run: &[i8]) -> String {
    run.iter().map(|level| ['-', '0', '+'][(level + 1) as usize]).collect()
}

fn signs(text: &str, known: &str) -> Result<Vec<i8>, ExtensionError> {
    let signs = text.chars().map(|character| match character {
        _ if !known.contains(character) => Err(ExtensionError::Signs(text.to_owned())),
        '-' => Ok(-1),
        '+' => Ok(1),
        _ => Ok(0),
    });
    signs.collect()
}

#[cfg(test)]
mod tests {
    use super::{Extension, Step};

    #[test]
    fn extensions_are_read_as_they_are_written() {
        let all = [
            Extension { step: Step::Fold(None), blocks: None },
            Extension { step: Step::Fold(Some("target.a \"b\"".into())), blocks: Some(2) },
            Extension {
                step: Step::Confirm {
                    runs: vec![vec![-1, 1], vec![1, 1]],
                    effects: vec!["A".into(), "AB".into()],
                },
                blocks: Some(5),
            },
            Extension { step: Step::Surface { centre: vec![0, 0, -1, 1] }, blocks: Some(3) },
        ];
        let source =
            all.iter().fold("[design]\n".to_owned(), |text, extension| extension.append_to(&text));
        assert_eq!(Extension::from_source(&source), all);
        assert!(source.contains("runs = [\"-+\", \"++\"]"), "{source}");
    }
}
