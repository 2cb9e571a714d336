/// What a setting accepts. Human forms are read as the kind says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number within these bounds; `"320k"`, `"2 million"` and `"1_000"` are read too.
    Count {
        /// Smallest allowed.
        min: i64,
        /// Largest allowed.
        max: i64,
    },
    /// Bytes within these bounds: `"4 KiB"`, `"1 GB"` (10^9) or a number of bytes.
    Size {
        /// Smallest allowed.
        min: i64,
        /// Largest allowed.
        max: i64,
    },
    /// Seconds: `"250 ms"`, `"5 s"`, `"2 min"`, `"1 h"` or a number of seconds; not negative.
    Duration,
    /// A rate a second: `"5000/s"`, `"5k/s"` or a number; above 0.
    Rate,
    /// A share: `"2%"` or 0.02; from 0 to 1.
    Share,
    /// Free text.
    Text,
    /// Text or a list of texts.
    TextList,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A boolean, number or text that only the engine can judge.
    Scalar,
}

/// One setting that an experiment file may give or vary.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Dotted path: `target.data_files`. A last part of `*` stands for any name that the engine
    /// knows (`target.settings.*`).
    pub path: &'static str,
    /// What it accepts.
    pub kind: Kind,
    /// Default as it would be written in the file; `None`: absent unless given.
    pub default: Option<&'static str>,
    /// One or two sentences for people: the schema, the example file and errors show it.
    pub doc: &'static str,
}

/// The settings of one experiment's sections `[target]`, `[workload]` and `[observe]`:
/// those that every engine and probe share and those of the engines and probes by name.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Engine name and its `target.*` settings.
    pub engines: Vec<(&'static str, &'static [Setting])>,
    /// Probe name and its `workload.*` settings.
    pub probes: Vec<(&'static str, &'static [Setting])>,
}

/// The settings that a file, or one configuration of it, may use.
#[derive(Debug, Default)]
pub(crate) struct Known(Vec<&'static Setting>);

impl Known {
    /// Adds settings; of two with the same path the first one counts.
    pub fn add(&mut self, settings: &'static [Setting]) {
        self.0.extend(settings);
    }

    /// The setting of this path; an exact one goes before one with `*`.
    pub fn find(&self, path: &str) -> Option<&'static Setting> {
        let exact = self.0.iter().find(|setting| setting.path == path);
        let any = || {
            self.0.iter().find(|setting| {
                let prefix = setting.path.strip_suffix('*');
                prefix.and_then(|prefix| path.strip_prefix(prefix)).is_some_and(|name| !name.is_empty())
            })
        };
        exact.or_else(any).copied()
    }

    /// All paths, for suggestions.
    pub fn paths(&self) -> Vec<&'static str> {
        let mut paths: Vec<&str> = self.0.iter().map(|setting| setting.path).collect();
        paths.dedup();
        paths
    }

    /// The settings that have a default.
    pub fn with_default(&self) -> impl Iterator<Item = &'static Setting> {
        self.0.iter().copied().filter(|setting| setting.default.is_some())
    }
}
