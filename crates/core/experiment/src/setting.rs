use crate::common::{ENGINE, PROBE};
use crate::error::Fault;
use crate::{DurabilityRule, FromValue, Invalid, Value, human};
use observations::{Role, Roles};
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// The values that a setting accepts, and how text is read.
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
    /// Bytes a second: `"125 MB/s"` (10^6), `"64 MiB/s"` or a number of bytes; from 4096 to 10^15.
    Bandwidth,
    /// Seconds: `"250 ms"`, `"5 s"`, `"2 min"`, `"1 h"` or a number of seconds; from 0 to 1000
    /// days.
    Duration,
    /// A duration above 0.
    PositiveDuration,
    /// A rate a second: `"5000/s"`, `"5k/s"`, `"30/min"` or a number; above 0, from 10^-6 to 10^9.
    Rate,
    /// A share: `"2%"` or 0.02; from 0 to 1.
    Share,
    /// A number within these bounds, also with decimal places.
    Number {
        /// Smallest allowed.
        min: f64,
        /// Largest allowed.
        max: f64,
    },
    /// Free text.
    Text,
    /// Free text, which may be empty.
    MaybeEmptyText,
    /// Text or a list of texts.
    TextList,
    /// Text or a list of numbers and texts.
    ScalarList,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A boolean, number or text that only the engine can judge.
    Scalar,
}

/// A setting's value in the commented example file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Example {
    /// Its default, or a value of its kind, behind a `#`.
    OfKind,
    /// This value, as TOML, behind a `#`.
    Shown(&'static str),
    /// This value, as TOML.
    Given(&'static str),
}

/// A setting that an experiment file may give or vary, as parsing, schema, example file and errors
/// need it.
#[derive(Debug, Clone, Copy)]
pub struct Declaration {
    /// Dotted path: `target.data_files`. A part of `*` stands for any name: `target.settings.*`,
    /// `workload.responses.*.unit`.
    pub path: &'static str,
    /// Accepted values.
    pub kind: Kind,
    /// Default as it would be written in the file; `None`: absent unless given.
    pub default: Option<&'static str>,
    /// The part that it plays, where analysis asks for it.
    pub role: Option<Role>,
    /// Its value in the example file.
    pub example: Example,
    /// One or two sentences for people: the schema, the example file and errors show it.
    pub doc: &'static str,
    /// Tests a value, or its absence, against the owner's type.
    pub(crate) fits: fn(Option<&Value>) -> bool,
}

impl Declaration {
    /// Reads a value from text, as for defaults. The error lists the allowed values.
    ///
    /// # Errors
    /// When the setting does not take it.
    pub fn read(&self, text: &str) -> Result<Value, Invalid> {
        human::read_text(self.kind, text).map_err(|fault| {
            let message = match fault.help {
                Some(help) => format!("{}; {help}", fault.message),
                None => fault.message,
            };
            Invalid::new(self.path, message)
        })
    }

    /// Returns whether the setting's type accepts its default, or its absence without one.
    pub fn is_consistent(&self) -> bool {
        match self.default {
            Some(default) => human::read_default(self.kind, default)
                .is_some_and(|value| (self.fits)(Some(&value))),
            None => (self.fits)(None),
        }
    }
}

/// A setting with the type of its values: declared once, read with [`crate::Configuration::get`].
#[derive(Debug)]
pub struct Setting<T> {
    /// The declaration for the file.
    pub declaration: Declaration,
    values: PhantomData<fn() -> T>,
}

// Not derived: handles are copied whatever their values are.
impl<T> Clone for Setting<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Setting<T> {}

impl<T: FromValue> Setting<T> {
    /// A setting, for constants; [`crate::settings!`] is the short form.
    pub const fn new(
        path: &'static str,
        kind: Kind,
        default: Option<&'static str>,
        doc: &'static str,
    ) -> Self {
        let (role, example) = (None, Example::OfKind);
        let declaration = Declaration { path, kind, default, role, example, doc, fits: fits::<T> };
        Self { declaration, values: PhantomData }
    }

    /// The setting with another value in the example file.
    #[must_use]
    pub const fn with_example(self, example: Example) -> Self {
        let declaration = Declaration { example, ..self.declaration };
        Self { declaration, values: PhantomData }
    }

    /// The setting with a role.
    #[must_use]
    pub const fn with_role(self, role: Role) -> Self {
        let declaration = Declaration { role: Some(role), ..self.declaration };
        Self { declaration, values: PhantomData }
    }

    /// Its dotted path.
    pub const fn path(self) -> &'static str {
        self.declaration.path
    }

    /// Reads a value as people write it, for options of a command line that give this setting. `V`
    /// is the type of the setting, or for one that may be absent what it has otherwise.
    ///
    /// # Errors
    /// When the setting does not take it; says what is allowed.
    pub fn read<V: FromValue>(self, text: &str) -> Result<V, Invalid>
    where
        T: From<V>,
    {
        let value = self.declaration.read(text)?;
        V::from_value(Some(&value))
            .ok_or_else(|| Invalid::new(self.path(), format!("`{text}` is not allowed")))
    }

    /// Its value among these, or its default.
    pub fn value_in(self, settings: &BTreeMap<String, Value>) -> T {
        let Declaration { path, kind, default, .. } = self.declaration;
        let given = settings.get(path).and_then(|value| T::from_value(Some(value)));
        given
            .or_else(|| {
                T::from_value(default.and_then(|text| human::read_default(kind, text)).as_ref())
            })
            .unwrap_or_default()
    }
}

fn fits<T: FromValue>(value: Option<&Value>) -> bool {
    T::from_value(value).is_some()
}

/// Declares settings, each a constant of its type; the comment is the help that people read. `const
/// NAME = [..];` before them declares a table of them all, with some that are declared elsewhere.
/// A setting that analysis asks for states its [`Role`] after `=>`. `Given` and `Shown` with a TOML
/// value follow at last: its [`Example`].
///
/// ```
/// use experiment::{Kind, settings};
///
/// settings! {
///     const SETTINGS = [];
///     /// Number of connections.
///     pub CONNECTIONS: u32 =
///         "workload.connections", Kind::Count { min: 1, max: 4096 }, "16" => Concurrency;
///     /// Transactions a second.
///     pub RATE: Option<f64> = "workload.rate", Kind::Rate => ArrivalRate;
/// }
/// assert_eq!(CONNECTIONS.value_in(&Default::default()), 16);
/// assert_eq!(SETTINGS.len(), 2);
/// ```
#[macro_export]
macro_rules! settings {
    ($(#[$all_meta:meta])* $all_visibility:vis const $all:ident = [$($other:expr),* $(,)?];
     $($(#[doc = $doc:literal])+ $visibility:vis $name:ident: $type:ty = $path:literal,
         $kind:expr $(, $default:literal)? $(=> $role:ident)?
         $(, $example:ident $value:literal)?;)*) => {
        $(#[$all_meta])*
        $all_visibility const $all: &[$crate::Declaration] =
            $crate::declarations![$($name,)* $($other,)*];
        $crate::settings! {
            $($(#[doc = $doc])+
            $visibility $name: $type =
                $path, $kind $(, $default)? $(=> $role)? $(, $example $value)?;)*
        }
    };
    ($($(#[doc = $doc:literal])+ $visibility:vis $name:ident: $type:ty = $path:literal,
        $kind:expr $(, $default:literal)? $(=> $role:ident)?
        $(, $example:ident $value:literal)?;)*) => {
        $($(#[doc = $doc])+
        $visibility const $name: $crate::Setting<$type> =
            $crate::Setting::new($path, $kind, $crate::settings!(@default $($default)?),
                concat!($($doc),+).trim_ascii())
            $(.with_role($crate::Role::$role))?
            $(.with_example($crate::Example::$example($value)))?;)*
    };
    (@default) => { None };
    (@default $default:literal) => { Some($default) };
}

/// The declarations of these settings, as a table.
#[macro_export]
macro_rules! declarations {
    ($($setting:expr),* $(,)?) => { &[$($setting.declaration),*] };
}

/// Declares a type of which each value has a name in experiment files. Its default is the first
/// one.
///
/// ```
/// experiment::choice! {
///     /// State of the caches.
///     pub enum CacheState {
///         /// Nothing is in memory.
///         Cold = "cold",
///         /// All is in memory.
///         Hot = "hot",
///     }
/// }
/// assert_eq!(CacheState::from_name("hot"), Some(CacheState::Hot));
/// assert_eq!(CacheState::Cold.name(), "cold");
/// ```
#[macro_export]
macro_rules! choice {
    ($(#[$meta:meta])* $visibility:vis enum $type:ident {
        $(#[$first_meta:meta])* $first:ident = $first_name:literal,
        $($(#[$value_meta:meta])* $value:ident = $name:literal,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        $visibility enum $type {
            $(#[$first_meta])* #[default] $first,
            $($(#[$value_meta])* $value,)*
        }

        #[allow(dead_code, reason = "not every type needs all of what each of them has")]
        impl $type {
            /// Kind of a setting of this type.
            $visibility const KIND: $crate::Kind = $crate::Kind::Choice(Self::NAMES);
            /// The names in experiment files.
            $visibility const NAMES: &'static [&'static str] = &[$first_name $(, $name)*];
            /// All values, in the order of their names.
            $visibility const ALL: &'static [Self] = &[Self::$first $(, Self::$value)*];

            /// The name in experiment files.
            $visibility const fn name(self) -> &'static str {
                match self {
                    Self::$first => $first_name,
                    $(Self::$value => $name,)*
                }
            }

            /// The value with this name.
            $visibility fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }
        }

        impl $crate::FromValue for $type {
            fn from_value(value: Option<&$crate::Value>) -> Option<Self> {
                match value {
                    Some($crate::Value::Text(name)) => Self::from_name(name),
                    _ => None,
                }
            }
        }


        impl From<$type> for $crate::Value {
            fn from(value: $type) -> Self {
                value.name().into()
            }
        }
    };
}

/// The levels of a setting that the example file varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExampleLevels {
    /// Path of the setting.
    pub path: &'static str,
    /// Its levels.
    pub levels: [i64; 3],
}

/// The settings of one experiment's sections `[target]`, `[workload]` and `[observe]`:
/// those that every engine and probe share and those of the engines and probes by name.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    /// Engine name and its `target.*` settings.
    pub engines: Vec<(&'static str, &'static [Declaration])>,
    /// Probe name and its `workload.*` settings.
    pub probes: Vec<(&'static str, &'static [Declaration])>,
    /// Engine name and its settings by which commits may be lost after a crash.
    pub durability: Vec<(&'static str, &'static [DurabilityRule])>,
    /// Levels in example files by the name of the probe or engine, probes first: of those for which
    /// the first setting that can be doubled says little.
    pub examples: Vec<(&'static str, ExampleLevels)>,
    /// Other names of engines, as in URLs, each with the engine's own.
    pub aliases: Vec<(&'static str, &'static str)>,
    /// Names of settings in other programs.
    pub other_names: Vec<OtherName>,
    /// Sections that hold for all engines and probes.
    pub sections: Vec<OwnSection>,
}

/// A section of the file with settings that do not depend on engine and probe, and that can be
/// factors. Without a default they are absent from files that do not give them.
#[derive(Debug, Clone, Copy)]
pub struct OwnSection {
    /// Its name; paths of its settings begin with it.
    pub name: &'static str,
    /// Its meaning, a sentence.
    pub doc: &'static str,
    /// Its settings.
    pub settings: &'static [Declaration],
}

/// A setting of another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherName {
    /// The program.
    pub program: &'static str,
    /// The setting's name there; one that begins with `_` has a word before it: `_count_ware`.
    pub name: &'static str,
    /// The counterpart: `use workload.warehouses`.
    pub help: &'static str,
}

impl OtherName {
    /// Returns whether a name is that of the setting.
    fn is(&self, name: &str) -> bool {
        let is_word =
            |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric());
        name == self.name
            || self.name.starts_with('_') && name.strip_suffix(self.name).is_some_and(is_word)
    }
}

impl Catalog {
    /// The error of a name of an engine or a probe that is not known.
    pub(crate) fn unknown(&self, what: &str, name: &str, known: &[&str]) -> Fault {
        match self.own_name(name).filter(|own| known.contains(own)) {
            Some(own) => Fault::with_help(
                format!("unknown {what} `{name}`"),
                format!("{what} `{own}` covers {name}"),
            ),
            None => Fault::unknown(what, name, known),
        }
    }

    /// A sentence for the name of a setting in another program, in any section.
    pub fn other_name(&self, name: &str) -> Option<String> {
        let key = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
        let OtherName { program, help, .. } = self.other_names.iter().find(|own| own.is(&key))?;
        Some(format!("{key} is a setting of {program}; {help}"))
    }

    /// A sentence for such a name.
    pub fn unknown_name(&self, what: &str, name: &str, known: &[&str]) -> String {
        let Fault { message, help } = self.unknown(what, name, known);
        help.map_or(message.clone(), |help| format!("{message}; {help}"))
    }

    /// The engine's own name for another one.
    fn own_name(&self, name: &str) -> Option<&'static str> {
        let known = self.aliases.iter().find(|(alias, _)| alias.eq_ignore_ascii_case(name));
        known.map(|(_, own)| *own)
    }

    /// The settings of an engine by which commits may be lost after a crash.
    pub fn durability_rules(&self, engine: &str) -> &'static [DurabilityRule] {
        let own = self.durability.iter().find(|(known, _)| *known == engine);
        own.map_or(&[], |(_, rules)| rules)
    }

    /// Roles of all settings.
    pub fn all_roles(&self) -> Roles {
        let all = self.engines.iter().chain(&self.probes).flat_map(|(_, settings)| *settings);
        all.filter_map(|setting| Some((setting.path, setting.role?))).collect()
    }

    /// Roles of the settings that configurations with these settings can have: those that their
    /// engines and probes declare. What this version does not know has none.
    pub fn roles<'a>(
        &self,
        configurations: impl IntoIterator<Item = &'a BTreeMap<String, Value>>,
    ) -> Roles {
        let declared = |all: &[(&str, &'static [Declaration])], name: &str| {
            all.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, settings)| *settings)
        };
        configurations
            .into_iter()
            .flat_map(|settings| {
                let engine = declared(&self.engines, &ENGINE.value_in(settings));
                let probe = declared(&self.probes, &PROBE.value_in(settings));
                engine.iter().chain(probe)
            })
            .chain([&ENGINE.declaration])
            .filter_map(|setting| Some((setting.path, setting.role?)))
            .collect()
    }
}

/// The settings that a file, or one configuration of it, may use.
#[derive(Debug, Default)]
pub(crate) struct Known {
    settings: Vec<&'static Declaration>,
}

impl Known {
    /// Adds settings; of two with the same path the first one is explained to people.
    pub fn add(&mut self, settings: &'static [Declaration]) {
        self.settings.extend(settings);
    }

    /// The settings of this path, of different engines; exact ones go before those with `*`.
    pub fn find(&self, path: &str) -> Vec<&'static Declaration> {
        let exact: Vec<_> =
            self.settings.iter().copied().filter(|setting| setting.path == path).collect();
        if !exact.is_empty() {
            return exact;
        }
        self.settings.iter().copied().filter(|setting| covers(setting, path)).collect()
    }

    /// Returns whether a setting has this path.
    pub fn has(&self, path: &str) -> bool {
        self.settings.iter().any(|setting| setting.path == path || covers(setting, path))
    }

    /// Returns whether settings lie below this path.
    pub fn is_table(&self, path: &str) -> bool {
        self.settings.iter().any(|setting| {
            let known = setting.path;
            let mut known = known.split('.');
            path.split('.').all(|part| known.next().is_some_and(|own| own == part || own == "*"))
                && known.next().is_some()
        })
    }

    /// The paths to suggest for a mistyped one: those of its section, and all if there is no such
    /// section.
    pub fn paths(&self, mistyped: &str) -> Vec<&'static str> {
        let section = |path: &str| path.split_once('.').map(|(section, _)| section.to_owned());
        let mut paths: Vec<&str> = Vec::new();
        for setting in &self.settings {
            if !paths.contains(&setting.path) {
                paths.push(setting.path);
            }
        }
        let same: Vec<&str> =
            paths.iter().copied().filter(|path| section(path) == section(mistyped)).collect();
        // A setting of another section may have been meant all the same.
        let found_elsewhere =
            crate::nearest(mistyped, &same).is_none() && crate::nearest(mistyped, &paths).is_some();
        if same.is_empty() || found_elsewhere { paths } else { same }
    }

    /// The settings that have a default.
    pub fn with_default(&self) -> impl Iterator<Item = &'static Declaration> {
        self.settings.iter().copied().filter(|setting| setting.default.is_some())
    }
}

/// Returns whether a setting with `*` covers this path. A last `*` may cover a name with dots.
fn covers(setting: &Declaration, path: &str) -> bool {
    let Some((before, after)) = setting.path.split_once('*') else { return false };
    let name = path.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    name.is_some_and(|name| !name.is_empty() && (after.is_empty() || !name.contains('.')))
}
