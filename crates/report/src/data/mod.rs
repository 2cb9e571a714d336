//! Tables of data, defined once for every format: CSV and Parquet files, the sheets of a workbook, and the table of
//! trials of a page. Columns have types; cells hold the recorded values, not texts made of them.

mod files;
mod recording;
mod records;

pub use recording::tables;
pub(crate) use recording::trials;
pub(crate) use records::{environment, experiment, facts, settings};

use observations::FactorRecord;
use std::borrow::Cow;
use std::collections::HashSet;
use std::rc::Rc;

/// A table. Its rows are made one at a time, as often as they are asked for: a series of a long run has millions.
pub struct Table<'a> {
    /// Name of the file or the sheet, in lower case.
    pub name: &'static str,
    pub(crate) columns: Vec<Column>,
    rows: Box<dyn Fn() -> Rows<'a> + 'a>,
}

type Rows<'a> = Box<dyn Iterator<Item = Vec<Datum<'a>>> + 'a>;

/// The value of a cell.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Datum<'a> {
    /// Not known, or not applicable.
    Empty,
    Text(Cow<'a, str>),
    Bool(bool),
    Integer(i64),
    /// Up to 2^64 - 1.
    Count(u64),
    Number(f64),
    /// From 0 to 1; shown to people as percent.
    Share(f64),
    /// Milliseconds since 1970 UTC.
    Time(i64),
}

/// The type of a column; its cells are of this type or empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Bool,
    Integer,
    Count,
    Number,
    Share,
    Time,
}

/// A column.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    name: String,
    unit: String,
    /// What the user's file or the probe calls so: `factor`, `response`. `None`: the name is ours.
    origin: Option<&'static str>,
    heading: Option<&'static str>,
    pub kind: Kind,
    /// Whether long text runs over several lines in a workbook.
    pub wrapped: bool,
    /// Whether a page shows it in its table of trials.
    pub on_page: bool,
}

impl Column {
    /// The name for programs: `cpu_user_s`, `throughput (rows/s)`.
    fn key(&self) -> String {
        match (self.unit.is_empty(), self.origin) {
            (true, _) => self.name.clone(),
            (false, None) => format!("{}_{}", self.name, self.unit.to_lowercase()),
            (false, Some(_)) => format!("{} ({})", self.name, self.unit),
        }
    }

    /// The heading for people, who read times below a second in milliseconds: `cpu user (s)`, `p99 (ms)`.
    pub fn heading(&self) -> String {
        let name = match (self.heading, self.origin) {
            (Some(heading), _) => heading.to_owned(),
            (None, Some(_)) => self.name.clone(),
            (None, None) => self.name.replace('_', " "),
        };
        match (self.kind, self.unit.as_str()) {
            (Kind::Time, _) => format!("{name} (UTC)"),
            (_, "") => name,
            (_, "ns") => format!("{name} (ms)"),
            (_, unit) => format!("{name} ({unit})"),
        }
    }

    /// A cell in the unit of the heading.
    pub fn for_people<'a>(&self, datum: Datum<'a>) -> Datum<'a> {
        match datum {
            Datum::Count(ns) if self.unit == "ns" => Datum::Number(ns as f64 / 1e6),
            Datum::Number(ns) if self.unit == "ns" => Datum::Number(ns / 1e6),
            other => other,
        }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn is_factor(&self) -> bool {
        self.origin == Some(FACTOR)
    }

    pub fn headed(&mut self, heading: &'static str) -> &mut Self {
        self.heading = Some(heading);
        self
    }

    pub fn of(&mut self, origin: &'static str) -> &mut Self {
        self.origin = Some(origin);
        self
    }
}

const FACTOR: &str = "factor";

/// How the cell of a column is found in a row's item.
type Cell<'a, T> = Box<dyn Fn(&T) -> Datum<'a> + 'a>;

/// The columns of a table whose rows are made of items, while they are put together.
pub(crate) struct Columns<'a, T> {
    columns: Vec<Column>,
    cells: Vec<Cell<'a, T>>,
}

impl<'a, T> Columns<'a, T> {
    pub fn new() -> Self {
        Self { columns: Vec::new(), cells: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// A column of the type that the closure returns. A unit stands after the name.
    pub fn add<V: Typed + Into<Datum<'a>>>(
        &mut self,
        name: impl Into<String>,
        unit: impl Into<String>,
        cell: impl Fn(&T) -> V + 'a,
    ) -> &mut Column {
        self.mixed(name, unit, V::KIND, move |item| cell(item).into())
    }

    /// A column whose type is known only from the data.
    pub fn mixed(
        &mut self,
        name: impl Into<String>,
        unit: impl Into<String>,
        kind: Kind,
        cell: impl Fn(&T) -> Datum<'a> + 'a,
    ) -> &mut Column {
        let at = self.columns.len();
        self.columns.push(Column {
            name: name.into(),
            unit: unit.into(),
            origin: None,
            heading: None,
            kind,
            wrapped: false,
            on_page: false,
        });
        self.cells.push(Box::new(cell));
        &mut self.columns[at]
    }

    /// A column for the levels of a factor: of numbers when all its levels are numbers, else of labels.
    pub fn factor(
        &mut self,
        factor: &'a FactorRecord,
        label: impl Fn(&T) -> Option<&'a str> + 'a,
    ) -> &mut Column {
        let kind = level_kind(factor);
        let cell = move |item: &T| label(item).map_or(Datum::Empty, |label| level(factor, label));
        self.mixed(&factor.name, "", kind, cell).of(FACTOR)
    }

    pub fn table<I: Iterator<Item = T> + 'a>(
        self,
        name: &'static str,
        items: impl Fn() -> I + 'a,
    ) -> Table<'a>
    where
        T: 'a,
    {
        let cells: Rc<[_]> = self.cells.into();
        let rows = move || -> Rows<'a> {
            let cells = Rc::clone(&cells);
            Box::new(items().map(move |item| cells.iter().map(|cell| cell(&item)).collect()))
        };
        Table { name, columns: self.columns, rows: Box::new(rows) }
    }
}

impl<'a> Table<'a> {
    pub(crate) fn rows(&self) -> Rows<'a> {
        (self.rows)()
    }

    /// Names of the columns for programs. Ours are always the same; a factor or response that is called like one of
    /// them gets its origin in front, `factor.block`.
    fn keys(&self) -> Vec<String> {
        let own = self.columns.iter().filter(|column| column.origin.is_none());
        let mut taken: HashSet<String> = own.map(Column::key).collect();
        let key = |column: &Column| {
            let mut key = column.key();
            if let Some(origin) = column.origin {
                while !taken.insert(key.clone()) {
                    key = format!("{origin}.{key}");
                }
            }
            key
        };
        self.columns.iter().map(key).collect()
    }
}

fn level_kind(factor: &FactorRecord) -> Kind {
    match &factor.numeric {
        None => Kind::Text,
        // Beyond 2^53 a floating-point number is no longer surely the integer that was written.
        Some(numbers) if numbers.iter().all(|n| n.fract() == 0.0 && n.abs() < 9e15) => Kind::Integer,
        Some(_) => Kind::Number,
    }
}

fn level<'a>(factor: &'a FactorRecord, label: &'a str) -> Datum<'a> {
    let position = factor.levels.iter().position(|level| level == label);
    match (level_kind(factor), position.and_then(|position| factor.numeric.as_ref()?.get(position))) {
        (Kind::Text, _) => label.into(),
        (Kind::Integer, Some(&number)) => Datum::Integer(number as i64),
        (_, number) => number.copied().into(),
    }
}

/// A type that the cells of a column can have.
pub(crate) trait Typed {
    const KIND: Kind;
}

/// From 0 to 1.
pub(crate) struct Share(pub f64);
/// Milliseconds since 1970 UTC.
pub(crate) struct Time(pub i64);

macro_rules! typed {
    ($($type:ty => $kind:ident, $value:pat => $datum:expr;)*) => {
        $(impl Typed for $type {
            const KIND: Kind = Kind::$kind;
        }
        impl<'a> From<$type> for Datum<'a> {
            fn from($value: $type) -> Self {
                Self::$kind($datum)
            }
        })*
    };
}

typed! {
    String => Text, text => text.into();
    bool => Bool, value => value;
    i64 => Integer, value => value;
    u32 => Count, value => value.into();
    u64 => Count, value => value;
    usize => Count, value => value as u64;
    f64 => Number, value => value;
    Share => Share, Share(value) => value;
    Time => Time, Time(value) => value;
}

impl Typed for &str {
    const KIND: Kind = Kind::Text;
}

impl<'a> From<&'a str> for Datum<'a> {
    fn from(text: &'a str) -> Self {
        Self::Text(text.into())
    }
}

impl<T: Typed> Typed for Option<T> {
    const KIND: Kind = T::KIND;
}

impl<'a, T: Into<Datum<'a>>> From<Option<T>> for Datum<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Empty, Into::into)
    }
}
