//! The one model of tables: those of a report's sections, the files for programs (CSV, Parquet) and
//! the sheets of a workbook. A cell holds a recorded or computed value with its unit and its 95 %
//! interval, and how people read it.

mod cell;

pub use cell::{Cell, Datum, Share, Time, Tone, Typed};

use crate::{Text, number};
use observations::FactorRecord;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Most rows of a table in a report; exports have all of them.
pub const ROWS_MAX: usize = 1_000;

/// Placeholder of an empty cell.
pub const NOTHING: &str = "-";

/// A table. Its rows are made as often as they are asked for, one at a time where they are too many
/// for memory: a series of a long run has millions. All rows have as many cells as there are
/// columns.
#[derive(Clone)]
pub struct Table<'a> {
    /// Name of the file or the sheet, in lower case; empty of a table that belongs to a section. A
    /// page lets such a table be sorted and filtered.
    pub name: &'static str,
    /// Columns.
    pub columns: Vec<Column>,
    /// True if all columns except the first hold figures, which a page aligns.
    pub fixed: bool,
    /// Lines above the table on its own sheet; the first one is its title.
    pub lines: Vec<Text>,
    /// The plot in a spreadsheet.
    pub plot: Option<Plot>,
    /// Rows that a report leaves out.
    pub left_out: usize,
    rows: Rc<dyn Fn() -> Rows<'a> + 'a>,
}

type Rows<'a> = Box<dyn Iterator<Item = Vec<Cell>> + 'a>;

/// A column.
#[derive(Debug, Clone, Default)]
pub struct Column {
    name: String,
    unit: String,
    /// Origin of a user-defined name: `factor`, `response`. `None` for built-in names.
    origin: Option<&'static str>,
    heading: Option<Text>,
    /// The type of its values.
    pub kind: Kind,
    /// The side of its cells that is aligned.
    pub align: Align,
    /// How its cells are shortened where space is short.
    pub shortening: Shortening,
    /// The order in which columns are left out if there is no room: columns with the highest number
    /// are left out first; 0 always stays.
    pub optional: u8,
    /// True if long text wraps in a workbook.
    pub wrapped: bool,
    /// True if a page shows it in its table of trials.
    pub on_page: bool,
    /// Filter choices of a page: the levels of a factor.
    pub levels: Vec<Text>,
}

/// How long cells are shortened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Shortening {
    /// Not at all: figures.
    #[default]
    Never,
    /// At their end, or in their middle where they would look alike: names.
    Name,
    /// In their middle: statements.
    Statement,
}

/// The type of a column; its cells are of this type or empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    /// Text.
    Text,
    /// Yes or no.
    Bool,
    /// A whole number.
    Integer,
    /// A whole number that is not negative.
    Count,
    /// A number.
    Number,
    /// A part of 1, shown in percent.
    Share,
    /// Milliseconds since 1970.
    Time,
}

/// Alignment of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Align {
    /// Names, and figures with intervals.
    #[default]
    Left,
    /// Plain numbers.
    Right,
}

/// A chart that a spreadsheet draws of a table: its first column along the axis.
#[derive(Debug, Clone)]
pub struct Plot {
    /// The form.
    pub kind: PlotKind,
    /// The heading.
    pub title: Text,
    /// Title of the axis along which the rows are; empty where the rows say it.
    pub x: Text,
    /// Unit of the values.
    pub y: Text,
    /// The lines or columns.
    pub series: Vec<PlotSeries>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
/// Forms of a chart on a sheet.
pub enum PlotKind {
    /// A line for each series.
    Lines,
    /// A column for each value.
    Columns,
    /// Shares of a whole.
    Stacked,
}

#[derive(Debug, Clone)]
/// A series of a chart on a sheet.
pub struct PlotSeries {
    /// The name.
    pub name: Text,
    /// The column of its values.
    pub values: usize,
    /// The columns of how far the interval reaches above and below each value.
    pub reach: Option<(usize, usize)>,
}

impl<'a> Table<'a> {
    /// A table of rows that are there.
    pub fn new(columns: Vec<Column>, rows: Vec<Vec<Cell>>) -> Self {
        Self::on_demand("", columns, move || Box::new(rows.clone().into_iter()))
    }

    fn on_demand(
        name: &'static str,
        columns: Vec<Column>,
        rows: impl Fn() -> Rows<'a> + 'a,
    ) -> Self {
        Self {
            name,
            columns,
            fixed: false,
            lines: Vec::new(),
            plot: None,
            left_out: 0,
            rows: Rc::new(rows),
        }
    }

    /// Gives the table its name for programs.
    #[must_use]
    pub fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// The rows in order.
    pub fn rows(&self) -> Box<dyn Iterator<Item = Vec<Cell>> + 'a> {
        (self.rows)()
    }

    /// Returns the table with its texts mapped.
    pub fn with_texts(&self, text: impl Fn(Text) -> Text) -> Table<'static> {
        let columns = self.columns.iter().map(|column| Column {
            heading: Some(text(column.heading())),
            unit: String::new(),
            ..column.clone()
        });
        let rows = self.rows().map(|row| {
            let cells = row.into_iter().map(|cell| Cell { shown: Some(text(cell.text())), ..cell });
            cells.collect()
        });
        let table = Table::new(columns.collect(), rows.collect());
        Table { fixed: self.fixed, left_out: self.left_out, ..table }
    }

    /// A table for people: what is not known is a dash.
    fn of_people(
        columns: Vec<Column>,
        rows: &mut dyn Iterator<Item = Vec<Cell>>,
        all: usize,
    ) -> Table<'static> {
        let rows = rows.map(|mut row| {
            for cell in &mut row {
                if matches!(cell, Cell { value: Datum::Empty, shown: None, .. }) {
                    *cell =
                        Cell { shown: Some(NOTHING.into()), tone: Tone::Muted, ..Cell::default() };
                }
            }
            row
        });
        Self::shortened(columns, rows, all)
    }

    /// Limits the rows of a report to the first [`ROWS_MAX`].
    pub fn shortened(
        columns: Vec<Column>,
        rows: impl Iterator<Item = Vec<Cell>>,
        all: usize,
    ) -> Table<'static> {
        let shown: Vec<Vec<Cell>> = rows.take(ROWS_MAX).collect();
        Table { left_out: all - shown.len(), ..Table::new(columns, shown) }
    }

    /// A note that only some rows are shown, if that is the case.
    pub fn shortening(&self) -> Option<String> {
        let all = number::count((ROWS_MAX + self.left_out) as u64);
        let some = number::count(ROWS_MAX as u64);
        (self.left_out > 0)
            .then(|| format!("the first {some} of {all} rows; \"steelbench export\" writes all"))
    }

    /// Names of the columns for programs. Ours are always the same; a factor or response that is
    /// called like one of them gets its origin in front, `factor.block`.
    pub fn keys(&self) -> Vec<String> {
        let columns = self.columns.iter().filter(|column| column.origin.is_none());
        let mut taken: HashSet<String> = columns.map(Column::key).collect();
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

fn push_column(columns: &mut Vec<Column>, column: Column) -> &mut Column {
    columns.push(column);
    let last = columns.len() - 1;
    &mut columns[last]
}

impl Column {
    /// A column for people.
    fn under(heading: impl Into<Text>, align: Align, shortening: Shortening) -> Self {
        Self { heading: Some(heading.into()), align, shortening, ..Self::default() }
    }

    /// A column of names.
    pub fn name(heading: impl Into<Text>) -> Self {
        Self::under(heading, Align::Left, Shortening::Name)
    }

    /// A column of statements.
    pub fn statement(heading: impl Into<Text>) -> Self {
        Self::under(heading, Align::Left, Shortening::Statement)
    }

    /// A column of words, or of figures with intervals.
    pub fn left(heading: impl Into<Text>) -> Self {
        Self::under(heading, Align::Left, Shortening::Never)
    }

    /// A column of figures.
    pub fn right(heading: impl Into<Text>) -> Self {
        Self::under(heading, Align::Right, Shortening::Never)
    }

    /// A column for programs. A unit stands after the name.
    pub fn raw(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into(), ..Self::default() }
    }

    /// The column with values of a type, which decides where those for programs stand.
    fn of_kind(self, kind: Kind) -> Self {
        let align = match kind {
            _ if self.heading.is_some() => self.align,
            Kind::Text | Kind::Bool => Align::Left,
            _ => Align::Right,
        };
        Self { kind, align, ..self }
    }

    /// The name for programs: `cpu_user_s`, `throughput (rows/s)`.
    fn key(&self) -> String {
        match (self.unit.is_empty(), self.origin) {
            (true, _) => self.name.clone(),
            (false, None) => format!("{}_{}", self.name, self.unit.to_lowercase()),
            (false, Some(_)) => format!("{} ({})", self.name, self.unit),
        }
    }

    /// The heading for people, who read times below a second in milliseconds: `cpu user (s)`, `p99
    /// (ms)`.
    pub fn heading(&self) -> Text {
        let name = match (&self.heading, self.origin) {
            (Some(heading), _) => heading.to_string(),
            (None, Some(_)) => self.name.clone(),
            (None, None) => self.name.replace('_', " "),
        };
        match (self.kind, self.unit.as_str()) {
            (Kind::Time, _) => format!("{name} (UTC)").into(),
            (_, "") => name.into(),
            (_, "ns") => format!("{name} (ms)").into(),
            (_, unit) => format!("{name} ({unit})").into(),
        }
    }

    /// A value in the unit of the heading.
    pub fn for_people<'v>(&self, value: &'v Datum) -> Cow<'v, Datum> {
        match value {
            Datum::Count(ns) if self.unit == "ns" => Cow::Owned(Datum::Number(*ns as f64 / 1e6)),
            Datum::Number(ns) if self.unit == "ns" => Cow::Owned(Datum::Number(ns / 1e6)),
            other => Cow::Borrowed(other),
        }
    }

    /// Heads the column with another text than its name.
    pub fn headed(&mut self, heading: impl Into<Text>) -> &mut Self {
        self.heading = Some(heading.into());
        self
    }

    /// Names the origin of its values.
    pub fn from_origin(&mut self, origin: &'static str) -> &mut Self {
        self.origin = Some(origin);
        self
    }

    /// Leaves the column out where there is no room, the highest order first.
    pub fn optional(&mut self, order: u8) {
        self.optional = order;
    }
}

/// How the cell of a column is found in a row's item.
type CellOf<'a, T> = Box<dyn Fn(&T) -> Cell + 'a>;

/// The columns of a table whose rows are made of items, while they are put together: a heading, and
/// how its cell is found in an item.
pub struct Columns<'a, T> {
    items: Box<dyn Fn() -> Box<dyn Iterator<Item = T> + 'a> + 'a>,
    columns: Vec<Column>,
    cells: Vec<CellOf<'a, T>>,
}

impl<'a, T: 'a> Columns<'a, T> {
    /// A table with a row for each item.
    pub fn for_rows<I: IntoIterator<Item = T, IntoIter: 'a> + Clone + 'a>(items: I) -> Self {
        let items = Box::new(move || -> Box<dyn Iterator<Item = T> + 'a> {
            Box::new(items.clone().into_iter())
        });
        Self { items, columns: Vec::new(), cells: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }

    /// A column whose cells need more than an item.
    pub fn with<V: Typed>(&mut self, column: Column, cell: impl Fn(&T) -> V + 'a) -> &mut Column {
        self.cells.push(Box::new(move |item| cell(item).into()));
        push_column(&mut self.columns, column.of_kind(V::KIND))
    }

    /// A column of names.
    pub fn name<V: Typed + 'a>(
        &mut self,
        heading: impl Into<Text>,
        cell: fn(&T) -> V,
    ) -> &mut Column {
        self.with(Column::name(heading), cell)
    }

    /// A column of words, or of figures with intervals.
    pub fn left<V: Typed + 'a>(
        &mut self,
        heading: impl Into<Text>,
        cell: fn(&T) -> V,
    ) -> &mut Column {
        self.with(Column::left(heading), cell)
    }

    /// A column of figures.
    pub fn right<V: Typed + 'a>(
        &mut self,
        heading: impl Into<Text>,
        cell: fn(&T) -> V,
    ) -> &mut Column {
        self.with(Column::right(heading), cell)
    }

    /// A column for programs, of the type that the function returns. A unit stands after the name.
    pub fn add<V: Typed + 'a>(
        &mut self,
        name: impl Into<String>,
        unit: impl Into<String>,
        cell: fn(&T) -> V,
    ) -> &mut Column {
        self.with(Column::raw(name, unit), cell)
    }

    /// A column for the levels of a factor: of numbers when all its levels are numbers, else of
    /// labels.
    pub fn factor(
        &mut self,
        factor: &'a FactorRecord,
        label: impl Fn(&T) -> Option<&'a str> + 'a,
    ) -> &mut Column {
        let kind = level_kind(factor);
        let numbers = factor.numeric.as_deref().unwrap_or_default();
        // Reversed, so that the first of levels with one label wins.
        let numbers = factor.levels.iter().map(String::as_str).zip(numbers.iter().copied()).rev();
        let numbers: HashMap<&str, f64> = numbers.collect();
        let column = self.with(Column::raw(&factor.name, ""), move |item: &T| {
            label(item).map(|label| level(kind, numbers.get(label).copied(), label))
        });
        let column = column.from_origin("factor");
        column.kind = kind;
        column.align = if kind == Kind::Text { Align::Left } else { Align::Right };
        column.levels = factor.levels.iter().map(|level| level.as_str().into()).collect();
        column
    }

    /// The table under a name, its rows made when they are asked for.
    pub fn named(self, name: &'static str) -> Table<'a> {
        let (items, cells) = (self.items, Rc::<[_]>::from(self.cells));
        Table::on_demand(name, self.columns, move || -> Rows<'a> {
            let cells = Rc::clone(&cells);
            Box::new(items().map(move |item| cells.iter().map(|cell| cell(&item)).collect()))
        })
    }
}

/// A table for people, its first rows made now: what is not known is a dash.
impl<T> From<Columns<'_, T>> for Table<'static> {
    fn from(columns: Columns<'_, T>) -> Self {
        let mut rows = (columns.items)().map(|item| {
            let mut cells = Vec::with_capacity(columns.cells.len());
            cells.extend(columns.cells.iter().map(|cell| cell(&item)));
            cells
        });
        Self::of_people(columns.columns, &mut rows, (columns.items)().count())
    }
}

fn level_kind(factor: &FactorRecord) -> Kind {
    match &factor.numeric {
        None => Kind::Text,
        // Beyond 2^53 a floating-point number is no longer surely the integer that was written.
        Some(numbers) if numbers.iter().all(|n| n.fract() == 0.0 && n.abs() < 9e15) => {
            Kind::Integer
        }
        Some(_) => Kind::Number,
    }
}

/// A level by its number where it is one, shown as in the file: `320k`.
fn level(kind: Kind, number: Option<f64>, label: &str) -> Cell {
    let value = match (kind, number) {
        (Kind::Text, _) => label.into(),
        (Kind::Integer, Some(number)) => Cell::from(number as i64),
        (_, number) => number.into(),
    };
    value.shown(label)
}
