//! How SQL Server writes tables and operations.

use engine::dialect::Words;
use engine::{Dialect, Result};
use work::{Column, DataType, DefaultValue, Output, Table, Work};

/// The words of T-SQL.
pub const SQL: Words = Words {
    quotes: ['[', ']'],
    parameter: "@P",
    row_locks: [" WITH (UPDLOCK, ROWLOCK)", ""],
    first_rows: [" OFFSET 0 ROWS FETCH NEXT ", " ROWS ONLY"],
    year: ["year(", ")"],
    insert_loop: Some("EXEC insert_rows @P1, @P2, @P3"),
    nested_loops: Some(["CROSS JOIN", " OPTION (LOOP JOIN, FORCE ORDER, MAXDOP 1)"]),
    ..Words::STANDARD
};

/// T-SQL for the tables of one trial.
#[derive(Debug, Default)]
pub struct MssqlDialect {
    /// The compression of tables: `none`, `row`, `page` or `columnstore`.
    pub compression: Option<String>,
    /// `OPTIMIZE_FOR_SEQUENTIAL_KEY` of the clustered index.
    pub sequential_key: Option<bool>,
    /// Columns of integers in the table that is asked about, whose sums and means need more room
    /// than they have.
    pub integers: Vec<&'static str>,
}

/// The procedure of [`Work::loop_table`] and the sequence of its keys.
const PROCEDURE: &str = "insert_rows";
const SEQUENCE: &str = "insert_keys";

/// Bytes of a page for rows and their slots, most bytes of a row, bytes of a slot
/// (<https://learn.microsoft.com/sql/relational-databases/pages-and-extents-architecture-guide>).
const PAGE_ROOM: usize = 8096;
const ROW_MAX: usize = 8060;
const SLOT: usize = 2;
/// Most bytes of a `char`
/// (<https://learn.microsoft.com/sql/t-sql/data-types/char-and-varchar-transact-sql>).
/// A row with such a filler leaves no room for a second one.
const CHAR_MAX: usize = 8000;
/// Bytes of a row in addition to its columns: status and length of the fixed part, number of
/// columns
/// (<https://learn.microsoft.com/sql/relational-databases/databases/estimate-the-size-of-a-clustered-index>).
const ROW_OVERHEAD: usize = 4 + 2;

/// A statement of a script as the server knows it: `BEGIN` alone opens a block, and PostgreSQL's
/// `END` is `COMMIT`.
pub fn spelled(sql: &str) -> &str {
    let is = |word: &str| sql.trim().eq_ignore_ascii_case(word);
    match () {
        () if is("begin") || is("start transaction") => "BEGIN TRANSACTION",
        () if is("end") => "COMMIT TRANSACTION",
        () => sql,
    }
}

/// A literal of Unicode text.
pub fn quote_literal(text: &str) -> String {
    format!("N'{}'", text.replace('\'', "''"))
}

/// A name in brackets.
pub(crate) fn quote_name(name: &str) -> String {
    SQL.quote(name)
}

impl MssqlDialect {
    /// Adds the table of the statements.
    #[must_use]
    pub fn about(&self, table: Option<&Table>) -> Self {
        let columns = table.map(|table| table.columns.as_slice()).unwrap_or_default();
        let integers = columns
            .iter()
            .filter(|column| matches!(column.data_type, DataType::Int | DataType::BigInt))
            .map(|column| column.name)
            .collect();
        Self { integers, compression: self.compression.clone(), ..*self }
    }

    /// Bytes of the filler of a table's rows: a `char`, which is as long as it is declared.
    fn filler(table: &Table) -> Result<usize> {
        let Some((_, rows)) = table.filler() else { return Ok(0) };
        let fixed: usize = table.columns.iter().map(|column| width(column.data_type)).sum();
        let long = table
            .columns
            .iter()
            .filter(|column| matches!(column.data_type, DataType::Varchar(_)))
            .count();
        let offsets = if long > 0 { 2 + 2 * long } else { 0 };
        let others = ROW_OVERHEAD + table.columns.len().div_ceil(8) + offsets + fixed;
        engine::dialect::filler_bytes(table, PAGE_ROOM, |filler| {
            filler <= CHAR_MAX
                && others + filler <= ROW_MAX
                && rows * (others + filler + SLOT) <= PAGE_ROOM
        })
    }

    fn column(column: &Column, filler: usize) -> String {
        let data_type = type_name(column.data_type, filler);
        let not_null = if column.nullable { " NULL" } else { " NOT NULL" };
        let default = column.default.map(|default| match default {
            DefaultValue::NewUuid => "NEWID()".into(),
            DefaultValue::Now => "SYSDATETIME()".into(),
            DefaultValue::Integer(number) => number.to_string(),
            DefaultValue::Text(text) => format!("'{}'", text.replace('\'', "''")),
            DefaultValue::Filler => format!("REPLICATE('a', {filler})"),
        });
        let default = default.map(|default| format!(" DEFAULT ({default})")).unwrap_or_default();
        format!("{} {data_type}{not_null}{default}", SQL.quote(column.name))
    }

    /// Options of the index or the heap that holds the rows.
    fn options(&self, table: &Table) -> String {
        let is_columns = self.is_columns();
        let compression = self.compression.as_deref().filter(|_| !is_columns);
        let key = !table.key.is_empty();
        let options: Vec<String> = [
            table
                .storage
                .fill_percent
                .filter(|_| key)
                .map(|percent| format!("FILLFACTOR = {percent}")),
            compression.map(|method| format!("DATA_COMPRESSION = {}", method.to_uppercase())),
            self.sequential_key.filter(|_| key).map(|is_on| {
                format!("OPTIMIZE_FOR_SEQUENTIAL_KEY = {}", if is_on { "ON" } else { "OFF" })
            }),
        ]
        .into_iter()
        .flatten()
        .collect();
        if options.is_empty() { String::new() } else { format!(" WITH ({})", options.join(", ")) }
    }

    /// The statement that stores the rows of a filled table as its options say: row groups that are
    /// still open are compressed, and the pages of a heap, which only a bulk load with a table lock
    /// compresses itself.
    pub fn settled(&self, table: &Table) -> Option<String> {
        let name = self.table(table);
        match self.compression.as_deref()? {
            "columnstore" => {
                let index = SQL.quote(&format!("columns_{}", table.name));
                Some(format!(
                    "ALTER INDEX {index} ON {name} REORGANIZE WITH (COMPRESS_ALL_ROW_GROUPS = ON)"
                ))
            }
            "page" if table.key.is_empty() => {
                Some(format!("ALTER TABLE {name} REBUILD WITH (DATA_COMPRESSION = PAGE)"))
            }
            _ => None,
        }
    }

    fn is_columns(&self) -> bool {
        self.compression.as_deref() == Some("columnstore")
    }

    /// The loop of the published studies: rows one by one, a commit after each batch.
    pub fn procedures(&self, work: &Work) -> Vec<String> {
        let Some(table) = work.loop_table() else { return Vec::new() };
        let (name, key) = (self.table(table), SQL.names(table.key));
        let (random, sequential) = match table.single_key().map(|key| key.data_type) {
            // They are ordered by their last six bytes, which this counts up.
            Some(DataType::Uuid) => (
                "NEWID()",
                "CAST(CAST(0 AS binary(8)) + CAST(@next AS binary(8)) AS uniqueidentifier)",
            ),
            // 62 random bits, as the keys that clients make: all of these bytes but the two bits of
            // the variant.
            _ => (
                "CAST(SUBSTRING(CAST(NEWID() AS binary(16)), 9, 8) AS bigint) & \
                 4611686018427387903",
                "@next",
            ),
        };
        vec![
            format!("CREATE SEQUENCE {SEQUENCE} AS bigint START WITH 1 CACHE 1000"),
            format!(
                "CREATE PROCEDURE {PROCEDURE} @total bigint, @batch bigint, @sequential bit AS \
                 BEGIN SET NOCOUNT ON; DECLARE @done bigint = 0, @left bigint = 0, @next bigint = \
                 0; WHILE @done < @total BEGIN SET @left = CASE WHEN @batch < @total - @done THEN \
                 @batch ELSE @total - @done END; SET @done = @done + @left; BEGIN TRANSACTION; \
                 WHILE @left > 0 BEGIN IF @sequential = 1 BEGIN SET @next = NEXT VALUE FOR \
                 {SEQUENCE}; INSERT INTO {name} ({key}) VALUES ({sequential}); END ELSE INSERT \
                 INTO {name} ({key}) VALUES ({random}); SET @left = @left - 1; END; COMMIT \
                 TRANSACTION; END; END"
            ),
        ]
    }
}

/// The parameters of a statement that are the columns of a table's key, as variables of their
/// types.
pub fn declared(table: &Table) -> String {
    let types = table
        .key
        .iter()
        .filter_map(|name| table.columns.iter().find(|column| column.name == *name))
        .map(|column| type_name(column.data_type, 0));
    let variables: Vec<String> =
        types.zip(1..).map(|(name, number)| format!("@P{number} {name}")).collect();
    format!("DECLARE {}; ", variables.join(", "))
}

fn type_name(data_type: DataType, filler: usize) -> String {
    match data_type {
        DataType::Uuid => "uniqueidentifier".into(),
        DataType::Int => "int".into(),
        DataType::BigInt => "bigint".into(),
        // Its literals mean the same in every language, unlike those of datetime.
        DataType::Timestamp => "datetime2(3)".into(),
        DataType::Char(length) => format!("char({length})"),
        DataType::Date => "date".into(),
        DataType::Decimal => "decimal(15, 2)".into(),
        DataType::Varchar(length) => format!("varchar({length})"),
        DataType::PageFiller { .. } => format!("char({})", filler.max(1)),
    }
}

/// Bytes of a value, at most; those of a filler come on top.
fn width(data_type: DataType) -> usize {
    match data_type {
        DataType::Int => 4,
        DataType::BigInt => 8,
        DataType::Date => 3,
        DataType::Timestamp => 7,
        DataType::Uuid => 16,
        DataType::Decimal => 9,
        DataType::Char(length) | DataType::Varchar(length) => usize::from(length),
        DataType::PageFiller { .. } => 0,
    }
}

impl Dialect for MssqlDialect {
    fn words(&self) -> &'static Words {
        &SQL
    }

    /// The rows of a table lie in the order of its key, so that the key is there from the first row
    /// on.
    fn create(&self, table: &Table) -> Result<Vec<String>> {
        let (name, filler) = (self.table(table), Self::filler(table)?);
        let mut parts: Vec<String> =
            table.columns.iter().map(|column| Self::column(column, filler)).collect();
        let options = self.options(table);
        let is_columns = self.is_columns();
        if !table.key.is_empty() {
            let clustered = if is_columns { "NONCLUSTERED" } else { "CLUSTERED" };
            let key = SQL.names(table.key);
            let named = SQL.quote(&format!("pk_{}", table.name));
            parts.push(format!("CONSTRAINT {named} PRIMARY KEY {clustered} ({key}){options}"));
        }
        let heap = if table.key.is_empty() { options } else { String::new() };
        let mut statements = vec![format!("CREATE TABLE {name} ({}){heap}", parts.join(", "))];
        if is_columns {
            let named = SQL.quote(&format!("columns_{}", table.name));
            statements.push(format!("CREATE CLUSTERED COLUMNSTORE INDEX {named} ON {name}"));
        }
        Ok(statements)
    }

    fn output(&self, output: Output) -> String {
        let cast = |name: &'static str, wide: &str| {
            let quoted = SQL.quote(name);
            if self.integers.contains(&name) { format!("CAST({quoted} AS {wide})") } else { quoted }
        };
        match output {
            Output::Column(name) => SQL.quote(name),
            Output::Count => "count_big(*)".into(),
            Output::Sum(name) => format!("sum({})", cast(name, "bigint")),
            Output::Min(name) => format!("min({})", SQL.quote(name)),
            Output::Max(name) => format!("max({})", SQL.quote(name)),
            // The mean of integers would be one.
            Output::Avg(name) => format!("avg({})", cast(name, "float")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{CHAR_MAX, MssqlDialect, PAGE_ROOM, ROW_MAX, quote_literal, quote_name, spelled};
    use engine::Dialect as _;
    use work::{Column, DataType, DefaultValue, Operation, Storage, Table, Work};

    fn table(columns: Vec<Column>, key: &'static [&'static str]) -> Table {
        Table {
            name: "t",
            columns,
            key,
            storage: Storage { fill_percent: Some(90), ..Storage::default() },
        }
    }

    fn filled(rows: u16) -> String {
        let filler = Column::new("f", DataType::PageFiller { rows }).default(DefaultValue::Filler);
        let columns = vec![Column::new("id", DataType::BigInt), filler];
        MssqlDialect::default().create(&table(columns, &["id"])).unwrap().remove(0)
    }

    #[test]
    fn a_filler_makes_rows_fill_a_page() {
        // 4 bytes of status, 8 of the key, 2 + 1 for columns and NULLs, as documented for the size
        // of a clustered index.
        let row = |filler: usize| 4 + 8 + 2 + 1 + filler;
        for (rows, filler) in [(1, 8000), (2, 4031), (30, 252)] {
            assert!(
                filled(rows).contains(&format!("[f] char({filler}) ")),
                "{rows}: {}",
                filled(rows)
            );
            let rows = usize::from(rows);
            assert!(row(filler) <= ROW_MAX && rows * (row(filler) + 2) <= PAGE_ROOM);
            assert!(filler == CHAR_MAX || rows * (row(filler + 1) + 2) > PAGE_ROOM);
            assert!((rows + 1) * (row(filler) + 2) > PAGE_ROOM, "no further row fits");
        }
    }

    #[test]
    fn compression_and_the_order_of_keys_are_options_of_what_holds_the_rows() {
        let columns = || vec![Column::new("id", DataType::BigInt)];
        let dialect = |compression: &str, sequential_key| MssqlDialect {
            compression: Some(compression.into()),
            sequential_key,
            integers: Vec::new(),
        };
        let created = dialect("page", Some(true)).create(&table(columns(), &["id"])).unwrap();
        assert_eq!(
            created,
            ["CREATE TABLE [t] ([id] bigint NOT NULL, CONSTRAINT [pk_t] PRIMARY KEY CLUSTERED \
              ([id]) WITH (FILLFACTOR = 90, DATA_COMPRESSION = PAGE, OPTIMIZE_FOR_SEQUENTIAL_KEY \
              = ON))"]
        );
        let created = dialect("row", None).create(&table(columns(), &[])).unwrap();
        assert_eq!(
            created,
            ["CREATE TABLE [t] ([id] bigint NOT NULL) WITH (DATA_COMPRESSION = ROW)"]
        );
        let heap = table(columns(), &[]);
        assert_eq!(
            dialect("page", None).settled(&heap).unwrap(),
            "ALTER TABLE [t] REBUILD WITH (DATA_COMPRESSION = PAGE)"
        );
        assert_eq!(
            dialect("columnstore", None).settled(&heap).unwrap(),
            "ALTER INDEX [columns_t] ON [t] REORGANIZE WITH (COMPRESS_ALL_ROW_GROUPS = ON)"
        );
        assert_eq!(dialect("page", None).settled(&table(columns(), &["id"])), None);
        let created = dialect("columnstore", None).create(&table(columns(), &["id"])).unwrap();
        assert!(
            created[0].contains("PRIMARY KEY NONCLUSTERED ([id]) WITH (FILLFACTOR = 90))"),
            "{created:?}"
        );
        assert_eq!(created[1], "CREATE CLUSTERED COLUMNSTORE INDEX [columns_t] ON [t]");
    }

    #[test]
    fn the_loop_makes_keys_of_the_columns_type_and_commits_each_batch() {
        let made = |data_type| {
            let work = Work {
                tables: vec![table(vec![Column::new("id", data_type)], &["id"])],
                operations: vec![Operation::InsertLoop { table: 0 }],
                ..Work::default()
            };
            MssqlDialect::default().procedures(&work).remove(1)
        };
        let (uuids, numbers) = (made(DataType::Uuid), made(DataType::BigInt));
        assert!(uuids.contains("ELSE INSERT INTO [t] ([id]) VALUES (NEWID());"), "{uuids}");
        assert!(uuids.contains("CAST(@next AS binary(8)) AS uniqueidentifier)"), "{uuids}");
        assert!(numbers.contains("INSERT INTO [t] ([id]) VALUES (@next);"), "{numbers}");
        for procedure in [uuids, numbers] {
            assert!(
                procedure.ends_with("SET @left = @left - 1; END; COMMIT TRANSACTION; END; END"),
                "{procedure}"
            );
        }
        assert!(MssqlDialect::default().procedures(&Work::default()).is_empty());
    }

    #[test]
    fn names_and_texts_are_quoted_and_transactions_are_spelled() {
        assert_eq!(quote_name("a]b"), "[a]]b]");
        assert_eq!(quote_literal("a'b"), "N'a''b'");
        assert_eq!(
            (spelled(" Begin "), spelled("END"), spelled("SELECT 1")),
            ("BEGIN TRANSACTION", "COMMIT TRANSACTION", "SELECT 1")
        );
    }
}
