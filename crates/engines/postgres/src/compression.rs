//! The method that compresses each column: PostgreSQL compresses texts of rows that would be longer
//! than 2 kB (TOAST).

use super::dialect::{COMPRESSIONS, NO_COMPRESSION, width};
use super::settings::COMPRESSION;
use engine::compression::{OF_COLUMNS, apply, of_columns, validate_columns};
use experiment::{Configuration, Invalid};
use work::{Column, DataType, Table};

/// A row that is no longer than this is stored as it is: `TOAST_TUPLE_THRESHOLD` of pages of 8 KiB,
/// with the header of a row (<https://www.postgresql.org/docs/current/storage-toast.html>).
const ROW_BYTES: usize = 2_032;

/// How the columns of a trial's tables are to be compressed.
pub struct Compression {
    all: Option<&'static str>,
    columns: Vec<(String, &'static str)>,
}

impl Compression {
    /// Reads the compression settings of a configuration.
    pub fn from_configuration(configuration: &Configuration) -> Self {
        let all = configuration.get(COMPRESSION);
        let all = all
            .and_then(|name| COMPRESSIONS.iter().copied().find(|compression| *compression == name));
        let columns = of_columns(configuration, COMPRESSIONS);
        Self { all, columns: columns.map(|(column, method)| (column.to_owned(), method)).collect() }
    }

    /// Tells the columns of tables that hold texts.
    pub fn apply(&self, tables: &mut [Table]) {
        let method = |column: &Column| {
            self.columns
                .iter()
                .find(|(name, _)| name == column.name)
                .map(|(_, method)| *method)
                .or(self.all)
        };
        apply(tables, |column| method(column).filter(|_| is_text(column)));
    }
}

/// The setting that takes a method of this server's, and no other.
pub const DEFAULT: &str = "default_toast_compression";

/// The methods that a configuration asks for, which a server may lack, each with the path of its
/// setting.
pub fn methods(configuration: &Configuration) -> Vec<(String, &'static str)> {
    let Compression { all, columns } = Compression::from_configuration(configuration);
    let all = all.map(|method| (COMPRESSION.path().to_owned(), method));
    let columns = columns.into_iter().map(|(name, method)| (format!("{OF_COLUMNS}{name}"), method));
    all.into_iter().chain(columns).filter(|(_, method)| *method != NO_COMPRESSION).collect()
}

/// An objection to a method that the server lacks.
pub fn lacking(path: String, method: &str, server: &str) -> Invalid {
    let message = format!(
        "{server} was built without {method}; remove this setting, or use a build that has it \
         (target.version, target.bindir)"
    );
    Invalid::new(path, message)
}

/// Objections to a configuration with these tables.
pub fn validate(configuration: &Configuration, tables: &[Table]) -> Vec<Invalid> {
    let mut invalid = validate_columns(configuration, tables, |column: &Column| {
        let message = "PostgreSQL compresses text columns only, and this is not one; choose \
                       another column";
        (!is_text(column)).then_some(message)
    });
    if !tables.iter().any(can_be_long) && invalid.is_empty() {
        invalid.extend(methods(configuration).into_iter().map(|(path, _)| {
            let message = format!(
                "PostgreSQL compresses only rows longer than {ROW_BYTES} bytes, and these tables \
                 have none; use data = \"documents\", or a compressing file system \
                 (target.volume)"
            );
            Invalid::new(path, message)
        }));
    }
    invalid
}

/// A filler is stored plainly, regardless of the settings.
fn is_text(column: &Column) -> bool {
    matches!(column.data_type, DataType::Char(_) | DataType::Varchar(_))
}

/// Returns whether a row with the longest texts would be compressed.
fn can_be_long(table: &Table) -> bool {
    table.columns.iter().map(|column| width(column.data_type)).sum::<usize>() > ROW_BYTES
}
