use std::borrow::Cow;
use std::collections::HashSet;

/// A value of an exported table.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell<'a> {
    /// Not known, or not applicable.
    Null,
    Text(Cow<'a, str>),
    Bool(bool),
    Integer(i64),
    /// Counts, up to 2^64 - 1.
    Unsigned(u64),
    Real(f64),
    /// Milliseconds since 1970 UTC.
    Time(i64),
}

/// The type of a column; its cells are of this type or `Null`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Bool,
    Integer,
    Unsigned,
    Real,
    Time,
}

/// A column: its name, its type, and how its cell is found in a row's item.
pub(super) struct Column<'a, T> {
    name: String,
    /// What gave the column its name when it was not us: `factor`, `response`.
    guest: Option<&'static str>,
    pub(super) kind: Kind,
    pub(super) cell: Box<dyn Fn(&T) -> Cell<'a> + 'a>,
}

/// The columns of a table.
pub(super) struct Columns<'a, T>(pub(super) Vec<Column<'a, T>>);

impl<'a, T> Columns<'a, T> {
    pub(super) fn own(&mut self, name: &str, kind: Kind, cell: impl Fn(&T) -> Cell<'a> + 'a) {
        self.0.push(Column { name: name.to_owned(), guest: None, kind, cell: Box::new(cell) });
    }

    /// A column that is called like a factor or response.
    pub(super) fn guest(
        &mut self,
        of: &'static str,
        name: &str,
        kind: Kind,
        cell: impl Fn(&T) -> Cell<'a> + 'a,
    ) {
        self.0.push(Column { name: name.to_owned(), guest: Some(of), kind, cell: Box::new(cell) });
    }

    pub(super) fn text(&mut self, name: &str, cell: impl Fn(&T) -> &'a str + 'a) {
        self.own(name, Kind::Text, move |item| Cell::Text(cell(item).into()));
    }

    pub(super) fn count(&mut self, name: &str, cell: impl Fn(&T) -> Option<u64> + 'a) {
        self.own(name, Kind::Unsigned, move |item| cell(item).map_or(Cell::Null, Cell::Unsigned));
    }

    pub(super) fn real(&mut self, name: &str, cell: impl Fn(&T) -> Option<f64> + 'a) {
        self.own(name, Kind::Real, move |item| cell(item).map_or(Cell::Null, Cell::Real));
    }

    /// The names as written: ours are always the same; a factor that is called like one of them
    /// gets its kind in front, `factor.block`.
    pub(super) fn names(&self) -> Vec<String> {
        let own = self.0.iter().filter(|column| column.guest.is_none());
        let mut taken: HashSet<String> = own.map(|column| column.name.clone()).collect();
        let name = |column: &Column<'a, T>| {
            let mut name = column.name.clone();
            if let Some(guest) = column.guest {
                while !taken.insert(name.clone()) {
                    name = format!("{guest}.{name}");
                }
            }
            name
        };
        self.0.iter().map(name).collect()
    }
}

/// A table: its columns and, one at a time, the items that its rows are made of.
pub(super) struct Table<'a, T> {
    pub(super) name: &'static str,
    pub(super) columns: Columns<'a, T>,
    pub(super) items: Box<dyn Iterator<Item = T> + 'a>,
}

/// Somewhere to put tables: a folder of CSV or Parquet files.
pub(super) trait Sink {
    fn table<T>(&mut self, table: Table<'_, T>) -> crate::Result<()>;
}
