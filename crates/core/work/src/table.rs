use crate::Values;
use experiment::choice;

/// A table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Name in lower case.
    pub name: &'static str,
    /// Columns in order.
    pub columns: Vec<Column>,
    /// Columns of the primary key, by which engines with clustered tables cluster it; empty: none.
    pub key: &'static [&'static str],
    /// How it is stored.
    pub storage: Storage,
}

impl Table {
    /// The column with this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The bound of [`Filter::Below`] on a column as every engine reads it.
    pub fn bound(&self, column: &str, bound: i64) -> String {
        match self.column(column) {
            Some(Column { data_type: DataType::Date, .. }) => {
                let mut day = String::new();
                // Writing to memory cannot fail.
                let _ = Values::Dates(vec![bound as i32]).write(0, &mut day);
                format!("'{day}'")
            }
            _ => bound.to_string(),
        }
    }

    /// Returns whether its key is one integer column.
    pub fn has_integer_key(&self) -> bool {
        self.single_key()
            .is_some_and(|key| matches!(key.data_type, DataType::Int | DataType::BigInt))
    }

    /// Bytes of a row's columns, at least about: an engine adds its own to them.
    pub fn row_bytes(&self) -> u64 {
        self.columns
            .iter()
            .map(|column| match column.data_type {
                DataType::Uuid => 16,
                DataType::Int | DataType::Date => 4,
                DataType::BigInt | DataType::Timestamp | DataType::Decimal => 8,
                DataType::Char(characters) => u64::from(characters),
                // Texts may be short.
                DataType::Varchar(_) => 0,
                // Pages are no smaller.
                DataType::PageFiller { rows } => 512 / u64::from(rows.max(1)),
            })
            .sum()
    }

    /// The column that makes rows so wide that about this number of them fill a page.
    pub fn filler(&self) -> Option<(&Column, usize)> {
        let rows = |column: &Column| match column.data_type {
            DataType::PageFiller { rows } => Some(usize::from(rows.max(1))),
            _ => None,
        };
        self.columns.iter().find_map(|column| Some((column, rows(column)?)))
    }

    /// The only column of its key.
    pub fn single_key(&self) -> Option<&Column> {
        if let [name] = self.key { self.column(name) } else { None }
    }
}

/// How a table is stored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Storage {
    /// Share of a page that is filled, in percent; `None`: the engine's default.
    pub fill_percent: Option<u8>,
    /// The table is spread over the target's data files; otherwise it is in the first one.
    pub spread: bool,
    /// The key is created after the rows are loaded, where the engine can do so: cheaper than
    /// maintaining it during the load.
    pub key_after_fill: bool,
    /// Columns of a secondary index, which is made once the rows are there; empty: none.
    pub index: &'static [&'static str],
    /// Foreign keys, of engines with `Ability::ForeignKeys`.
    pub references: &'static [Reference],
    /// Storage format of its rows.
    pub format: TableFormat,
}

/// A foreign key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// Columns that refer.
    pub columns: &'static [&'static str],
    /// The table that they refer to, which is created before.
    pub table: &'static str,
    /// Columns of its primary key.
    pub key: &'static [&'static str],
}

choice! {
    /// Storage format of a table's rows.
    pub enum TableFormat {
        /// The engine's own storage.
        Table = "table",
        /// A Parquet file, which the engine reads.
        Parquet = "parquet",
    }
}

/// A column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name in lower case.
    pub name: &'static str,
    /// Type of its values.
    pub data_type: DataType,
    /// True if it may hold NULL.
    pub nullable: bool,
    /// Default for rows that omit the column.
    pub default: Option<DefaultValue>,
    /// How it is compressed, by the engine's name of the method; `None`: as the engine does it by
    /// itself.
    pub compression: Option<&'static str>,
}

impl Column {
    /// A NOT NULL column.
    pub fn new(name: &'static str, data_type: DataType) -> Self {
        Self { name, data_type, nullable: false, default: None, compression: None }
    }

    /// Adds a default.
    #[must_use]
    pub fn default(self, default: DefaultValue) -> Self {
        Self { default: Some(default), ..self }
    }

    /// Allows NULL.
    #[must_use]
    pub fn nullable(self) -> Self {
        Self { nullable: true, ..self }
    }
}

/// Types of columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataType {
    /// 16 bytes.
    Uuid,
    /// 32 bits.
    Int,
    /// 64 bits.
    BigInt,
    /// Date and time.
    Timestamp,
    /// A day.
    Date,
    /// A number of 15 digits, of which two are decimal places.
    Decimal,
    /// Text of this many characters, padded with blanks, also by us where the engine does not.
    Char(u16),
    /// Text of at most this many characters.
    Varchar(u16),
    /// Bytes, as many as needed for about `rows` rows to fill a page. Of a table without pages: of
    /// a page of 8 KiB.
    PageFiller {
        /// Rows of a page; 1 or more.
        rows: u16,
    },
}

impl DataType {
    /// Returns whether its values are numbers.
    pub fn is_number(self) -> bool {
        matches!(self, Self::Int | Self::BigInt | Self::Decimal)
    }
}

/// Default value of a column that an insert omits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultValue {
    /// A new random UUID.
    NewUuid,
    /// The time of the insert.
    Now,
    /// This number.
    Integer(i64),
    /// This text.
    Text(&'static str),
    /// The bytes of a [`DataType::PageFiller`]: it is left out of inserts and fills.
    Filler,
}
