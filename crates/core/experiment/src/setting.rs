//! Settings, and how they are declared.

use crate::{FromValue, Invalid, Kind, Value};
use observations::Role;
use std::collections::BTreeMap;
use std::marker::PhantomData;

/// A setting's value in the commented example file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Example {
    /// The default, or a value of its kind, behind a `#`.
    OfKind,
    /// This value, as TOML, behind a `#`.
    Shown(&'static str),
    /// This value, as TOML.
    Value(&'static str),
}

/// The part of a machine that a value of a setting can reach, from the least to the most: it
/// decides which values of an untrusted file are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// The trial and its target: a number, a choice, a name in the file, a statement.
    Trial,
    /// As [`Self::Trial`] under these names in the place of `*`, else as [`Self::Machine`].
    TrialIf(&'static [&'static str]),
    /// Files of the experiment, which the trial reads.
    Files,
    /// A server by URL.
    Url,
    /// A command line.
    Command,
    /// Anything of the machine, as a text that is not declared otherwise: a path, a program, a
    /// library.
    Machine,
}

impl Reach {
    /// The reach of values of a kind whose setting declares none.
    const fn of_kind(kind: Kind) -> Self {
        match kind {
            Kind::Bool
            | Kind::Count { .. }
            | Kind::Size { .. }
            | Kind::Bandwidth
            | Kind::Duration
            | Kind::PositiveDuration
            | Kind::Rate
            | Kind::Share
            | Kind::Number { .. }
            | Kind::Choice(_) => Self::Trial,
            Kind::Text
            | Kind::MaybeEmptyText
            | Kind::TextList
            | Kind::ScalarList
            | Kind::Scalar => Self::Machine,
        }
    }
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
    /// The part of a machine that its values can reach.
    pub reach: Reach,
    /// The value in the example file.
    pub example: Example,
    /// A description of one or two sentences: the schema, the example file and errors show it.
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
        self.kind.read_text(text).map_err(|fault| {
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
            Some(default) => {
                self.kind.read_text(default).ok().is_some_and(|value| (self.fits)(Some(&value)))
            }
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
        let (role, reach, example) = (None, Reach::of_kind(kind), Example::OfKind);
        let declaration =
            Declaration { path, kind, default, role, reach, example, doc, fits: fits::<T> };
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

    /// The setting with another reach.
    #[must_use]
    pub const fn with_reach(self, reach: Reach) -> Self {
        let declaration = Declaration { reach, ..self.declaration };
        Self { declaration, values: PhantomData }
    }

    /// The dotted path.
    pub const fn path(self) -> &'static str {
        self.declaration.path
    }

    /// Reads a value as people write it, for options of a command line that give this setting.
    ///
    /// # Errors
    /// When the setting does not take it; says what is allowed.
    pub fn read(self, text: &str) -> Result<T::Present, Invalid> {
        let value = self.declaration.read(text)?;
        T::Present::from_value(Some(&value))
            .ok_or_else(|| Invalid::new(self.path(), format!("`{text}` is not allowed")))
    }

    /// The value among these, or its default.
    pub fn value_in(self, settings: &BTreeMap<String, Value>) -> T {
        let Declaration { path, kind, default, .. } = self.declaration;
        let value = settings.get(path).and_then(|value| T::from_value(Some(value)));
        value
            .or_else(|| T::from_value(default.and_then(|text| kind.read_text(text).ok()).as_ref()))
            .unwrap_or_default()
    }
}

fn fits<T: FromValue>(value: Option<&Value>) -> bool {
    T::from_value(value).is_some()
}

/// Declares settings, each a constant of its type; the comment is the help that people read. `const
/// NAME = [..];` before them declares a table of them all, with some that are declared elsewhere.
/// A setting that analysis asks for states its [`Role`] after `=>`; a text that reaches less than
/// the machine states its [`Reach`] after `=>` and `@`. `Given` and `Shown` with a TOML
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
///     /// The order of the rows.
///     pub ORDER: String = "workload.order", Kind::Text, "none" => @Trial;
/// }
/// assert_eq!(CONNECTIONS.value_in(&Default::default()), 16);
/// assert_eq!(SETTINGS.len(), 3);
/// ```
#[macro_export]
macro_rules! settings {
    ($(#[$all_meta:meta])* $all_visibility:vis const $all:ident = [$($other:expr),* $(,)?];
     $($(#[doc = $doc:literal])+ $visibility:vis $name:ident: $type:ty = $path:literal,
         $kind:expr $(, $default:literal)? $(=> $($role:ident)? $(@ $reach:ident)?)?
         $(, $example:ident $value:literal)?;)*) => {
        $(#[$all_meta])*
        $all_visibility const $all: &[$crate::Declaration] =
            $crate::declarations![$($name,)* $($other,)*];
        $crate::settings! {
            $($(#[doc = $doc])+
            $visibility $name: $type =
                $path, $kind $(, $default)? $(=> $($role)? $(@ $reach)?)? $(, $example $value)?;)*
        }
    };
    ($($(#[doc = $doc:literal])+ $visibility:vis $name:ident: $type:ty = $path:literal,
        $kind:expr $(, $default:literal)? $(=> $($role:ident)? $(@ $reach:ident)?)?
        $(, $example:ident $value:literal)?;)*) => {
        $($(#[doc = $doc])+
        $visibility const $name: $crate::Setting<$type> =
            $crate::Setting::new($path, $kind, $crate::settings!(@default $($default)?),
                concat!($($doc),+).trim_ascii())
            $($(.with_role($crate::Role::$role))? $(.with_reach($crate::Reach::$reach))?)?
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
            type Present = Self;

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
