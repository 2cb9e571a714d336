//! The statements of all engines for the same tables and operations.

use duckdb::DuckDbDialect;
use engine::Dialect;
use mariadb::MariaDialect;
use postgres::PostgresDialect;
use sqlite::SqliteDialect;
#[cfg(feature = "sqlserver")]
use sqlserver::MssqlDialect;
use work::*;

fn table() -> Table {
    Table {
        name: "orders",
        columns: vec![
            Column::new("id", DataType::BigInt),
            Column::new("made", DataType::Timestamp).default(DefaultValue::Now),
            Column::new("state", DataType::Char(3)).default(DefaultValue::Text("a'b")),
            Column::new("amount", DataType::Int).nullable(),
        ],
        key: &["id"],
        storage: Storage { fill_percent: Some(90), spread: true, ..Storage::default() },
    }
}

/// A table with the values of each type that the table above lacks.
fn sample() -> Table {
    let columns = vec![
        Column::new("order_id", DataType::BigInt),
        Column::new("day", DataType::Date),
        Column::new("price", DataType::Decimal),
        Column::new("remark", DataType::Varchar(44)),
        Column::new("filler", DataType::PageFiller { rows: 30 }).default(DefaultValue::Filler),
    ];
    Table { name: "sample", columns, key: &[], storage: Storage::default() }
}

fn operations() -> Vec<Operation> {
    let text = UserStatement { texts: vec!["SELECT ".into(), " + ".into(), String::new()] };
    vec![
        Operation::Insert { table: 0, columns: vec!["id", "amount"] },
        Operation::lookup(0, &["state", "amount"]),
        Operation::Select {
            table: 0,
            outputs: vec![Output::Column("amount")],
            rows: Filter::KeyRange,
            group_by: Vec::new(),
        },
        Operation::scan(
            0,
            vec![Output::Count, Output::Sum("amount"), Output::Max("id"), Output::Avg("amount")],
        ),
        Operation::Select {
            table: 0,
            outputs: vec![Output::Count],
            rows: Filter::Below("amount", 7),
            group_by: vec!["state"],
        },
        Operation::LookupEach {
            sample: 1,
            table: 0,
            outputs: vec![Output::Count, Output::Min("amount")],
        },
        Operation::Update { table: 0, column: "amount", add: 1, rows: Filter::Key },
        Operation::Delete { table: 0, rows: Filter::Key },
        Operation::Text(text),
    ]
}

fn statements(dialect: &dyn Dialect) -> Vec<String> {
    let work =
        Work { tables: vec![table(), sample()], operations: operations(), ..Work::default() };
    let operations = work.operations.iter().map(|operation| {
        dialect.statement(operation, &work).unwrap_or_else(|error| format!("none: {error}"))
    });
    let created = work.tables.iter().flat_map(|table| dialect.create(table).unwrap());
    created.chain(operations).collect()
}

/// Statements of each engine for the same tables and operations in one listing; DuckDB below.
#[test]
fn statements_of_all_engines() {
    let sqlite = SqliteDialect { schema: "main".into(), page_bytes: 4096 };
    let postgres =
        PostgresDialect { data_files: 2, tablespaces: vec!["fast".into()], page_bytes: 8192 };
    assert_eq!(
        statements(&sqlite),
        [
            "CREATE TABLE main.\"orders\" (\"id\" INTEGER NOT NULL, \"made\" TEXT NOT NULL \
             DEFAULT CURRENT_TIMESTAMP, \"state\" TEXT NOT NULL DEFAULT 'a''b', \"amount\" \
             INTEGER, PRIMARY KEY (\"id\"))",
            "CREATE TABLE main.\"sample\" (\"order_id\" INTEGER NOT NULL, \"day\" TEXT NOT \
             NULL, \"price\" REAL NOT NULL, \"remark\" TEXT NOT NULL, \"filler\" BLOB NOT \
             NULL)",
            "INSERT INTO main.\"orders\" (\"id\", \"amount\") VALUES (?1, ?2)",
            "SELECT \"state\", \"amount\" FROM main.\"orders\" WHERE \"id\" = ?1",
            "SELECT \"amount\" FROM main.\"orders\" WHERE \"id\" BETWEEN ?1 AND ?2",
            "SELECT count(*), sum(\"amount\"), max(\"id\"), avg(\"amount\") FROM \
             main.\"orders\"",
            "SELECT \"state\", count(*) FROM main.\"orders\" WHERE \"amount\" < 7 GROUP BY \
             \"state\"",
            "SELECT count(*), min(\"amount\") FROM main.\"sample\" AS sample CROSS JOIN \
             main.\"orders\" AS looked_up WHERE looked_up.\"id\" = sample.\"order_id\"",
            "UPDATE main.\"orders\" SET \"amount\" = \"amount\" + 1 WHERE \"id\" = ?1",
            "DELETE FROM main.\"orders\" WHERE \"id\" = ?1",
            "SELECT ?1 + ?2",
        ]
    );
    assert_eq!(
        statements(&postgres),
        [
            "CREATE TABLE \"orders\" (\"id\" bigint NOT NULL, \"made\" timestamp NOT NULL \
             DEFAULT now(), \"state\" char(3) NOT NULL DEFAULT 'a''b', \"amount\" int, \
             PRIMARY KEY (\"id\")) PARTITION BY HASH (\"id\")",
            "SET default_tablespace = \"fast\"",
            "CREATE TABLE \"orders_0\" PARTITION OF \"orders\" FOR VALUES WITH (MODULUS 2, \
             REMAINDER 0) WITH (fillfactor = 90)",
            "RESET default_tablespace",
            "CREATE TABLE \"orders_1\" PARTITION OF \"orders\" FOR VALUES WITH (MODULUS 2, \
             REMAINDER 1) WITH (fillfactor = 90)",
            "RESET default_tablespace",
            "SET default_tablespace = \"fast\"",
            "CREATE TABLE \"sample\" (\"order_id\" bigint NOT NULL, \"day\" date NOT NULL, \
             \"price\" decimal(15,2) NOT NULL, \"remark\" varchar(44) NOT NULL, \"filler\" \
             text NOT NULL DEFAULT repeat('a', 164))",
            "ALTER TABLE \"sample\" ALTER \"filler\" SET STORAGE PLAIN",
            "RESET default_tablespace",
            "INSERT INTO \"orders\" (\"id\", \"amount\") VALUES ($1, $2)",
            "SELECT \"state\", \"amount\" FROM \"orders\" WHERE \"id\" = $1",
            "SELECT \"amount\" FROM \"orders\" WHERE \"id\" BETWEEN $1 AND $2",
            "SELECT count(*), sum(\"amount\"), max(\"id\"), avg(\"amount\") FROM \"orders\"",
            "SELECT \"state\", count(*) FROM \"orders\" WHERE \"amount\" < 7 GROUP BY \
             \"state\"",
            "SELECT count(*), min(\"amount\") FROM \"sample\" AS sample CROSS JOIN \"orders\" \
             AS looked_up WHERE looked_up.\"id\" = sample.\"order_id\"",
            "UPDATE \"orders\" SET \"amount\" = \"amount\" + 1 WHERE \"id\" = $1",
            "DELETE FROM \"orders\" WHERE \"id\" = $1",
            "SELECT $1 + $2",
        ]
    );
    assert_eq!(postgres.words().quote("a\"b"), "\"a\"\"b\"");
    assert_eq!(sqlite.words().quote("a\"b"), "\"a\"\"b\"");
}

#[cfg(feature = "sqlserver")]
#[test]
fn statements_of_sql_server() {
    let dialect = MssqlDialect::default().about(Some(&table()));
    assert_eq!(
        statements(&dialect),
        [
            "CREATE TABLE [orders] ([id] bigint NOT NULL, [made] datetime2(3) NOT NULL \
             DEFAULT (SYSDATETIME()), [state] char(3) NOT NULL DEFAULT ('a''b'), [amount] int \
             NULL, CONSTRAINT [pk_orders] PRIMARY KEY CLUSTERED ([id]) WITH (FILLFACTOR = 90))",
            "CREATE TABLE [sample] ([order_id] bigint NOT NULL, [day] date NOT NULL, [price] \
             decimal(15, 2) NOT NULL, [remark] varchar(44) NOT NULL, [filler] char(192) NOT \
             NULL DEFAULT (REPLICATE('a', 192)))",
            "INSERT INTO [orders] ([id], [amount]) VALUES (@P1, @P2)",
            "SELECT [state], [amount] FROM [orders] WHERE [id] = @P1",
            "SELECT [amount] FROM [orders] WHERE [id] BETWEEN @P1 AND @P2",
            "SELECT count_big(*), sum(CAST([amount] AS bigint)), max([id]), avg(CAST([amount] \
             AS float)) FROM [orders]",
            "SELECT [state], count_big(*) FROM [orders] WHERE [amount] < 7 GROUP BY [state]",
            "SELECT count_big(*), min([amount]) FROM [sample] AS sample CROSS JOIN [orders] \
             AS looked_up WHERE looked_up.[id] = sample.[order_id] OPTION (LOOP JOIN, FORCE \
             ORDER, MAXDOP 1)",
            "UPDATE [orders] SET [amount] = [amount] + 1 WHERE [id] = @P1",
            "DELETE FROM [orders] WHERE [id] = @P1",
            "SELECT @P1 + @P2",
        ]
    );
}

#[test]
fn statements_of_duckdb() {
    assert_eq!(
        statements(&DuckDbDialect),
        [
            "CREATE TABLE \"orders\" (\"id\" BIGINT NOT NULL, \"made\" TIMESTAMP NOT NULL \
             DEFAULT CAST(now() AS TIMESTAMP), \"state\" VARCHAR NOT NULL DEFAULT 'a''b', \
             \"amount\" INTEGER, PRIMARY KEY (\"id\"))",
            "CREATE TABLE \"sample\" (\"order_id\" BIGINT NOT NULL, \"day\" DATE NOT NULL, \
             \"price\" DECIMAL(15,2) NOT NULL, \"remark\" VARCHAR NOT NULL, \"filler\" \
             VARCHAR NOT NULL DEFAULT repeat('a', 273))",
            "INSERT INTO \"orders\" (\"id\", \"amount\") VALUES ($1, $2)",
            "SELECT \"state\", \"amount\" FROM \"orders\" WHERE \"id\" = $1",
            "SELECT \"amount\" FROM \"orders\" WHERE \"id\" BETWEEN $1 AND $2",
            "SELECT count(*), sum(\"amount\"), max(\"id\"), avg(\"amount\") FROM \"orders\"",
            "SELECT \"state\", count(*) FROM \"orders\" WHERE \"amount\" < 7 GROUP BY \
             \"state\"",
            "none: this engine does not support forced nested-loop joins",
            "UPDATE \"orders\" SET \"amount\" = \"amount\" + 1 WHERE \"id\" = $1",
            "DELETE FROM \"orders\" WHERE \"id\" = $1",
            "SELECT $1 + $2",
        ]
    );
}

/// Methods are the engine's: a column has it, or long texts of it are stored as they are.
#[test]
fn columns_are_compressed_as_they_are_told() {
    let mut table = sample();
    (table.columns[0].compression, table.columns[3].compression) = (Some("rle"), Some("zstd"));
    let created = DuckDbDialect.create(&table).unwrap().join("; ");
    assert!(
        created.contains(
            "\"order_id\" BIGINT NOT NULL USING COMPRESSION rle, \"day\" DATE NOT NULL, "
        ),
        "{created}"
    );
    assert!(created.contains("\"remark\" VARCHAR NOT NULL USING COMPRESSION zstd, "), "{created}");
    let postgres = PostgresDialect { data_files: 1, tablespaces: Vec::new(), page_bytes: 8192 };
    table.columns[0].compression = None;
    for (method, expected) in [
        ("lz4", "\"remark\" varchar(44) COMPRESSION lz4 NOT NULL, "),
        ("none", "; ALTER TABLE \"sample\" ALTER \"remark\" SET STORAGE EXTERNAL; "),
    ] {
        table.columns[3].compression = Some(method);
        let created = postgres.create(&table).unwrap().join("; ");
        assert!(created.contains(expected), "{created}");
    }
}

#[test]
fn statements_of_mariadb() {
    let folders = vec!["/fast/data-0".into()];
    let dialect = MariaDialect {
        data_files: 2,
        folders,
        page_bytes: 16384,
        compression: None,
        has_sequences: true,
    };
    assert_eq!(
        statements(&dialect),
        [
            "CREATE TABLE `orders` (`id` bigint NOT NULL, `made` datetime NOT NULL DEFAULT \
             current_timestamp(), `state` char(3) NOT NULL DEFAULT 'a''b', `amount` int, \
             PRIMARY KEY (`id`)) ENGINE = InnoDB PARTITION BY KEY (`id`) (PARTITION p0 DATA \
             DIRECTORY = '/fast/data-0', PARTITION p1)",
            "CREATE TABLE `sample` (`order_id` bigint NOT NULL, `day` date NOT NULL, `price` \
             decimal(15,2) NOT NULL, `remark` varchar(44) NOT NULL, `filler` varbinary(418) \
             NOT NULL DEFAULT (repeat('a', 418))) ENGINE = InnoDB DATA DIRECTORY = \
             '/fast/data-0'",
            "INSERT INTO `orders` (`id`, `amount`) VALUES (?, ?)",
            "SELECT `state`, `amount` FROM `orders` WHERE `id` = ?",
            "SELECT `amount` FROM `orders` WHERE `id` BETWEEN ? AND ?",
            "SELECT count(*), sum(`amount`), max(`id`), avg(`amount`) FROM `orders`",
            "SELECT `state`, count(*) FROM `orders` WHERE `amount` < 7 GROUP BY `state`",
            "SELECT count(*), min(`amount`) FROM `sample` AS sample STRAIGHT_JOIN `orders` AS \
             looked_up WHERE looked_up.`id` = sample.`order_id`",
            "UPDATE `orders` SET `amount` = `amount` + 1 WHERE `id` = ?",
            "DELETE FROM `orders` WHERE `id` = ?",
            "SELECT ? + ?",
        ]
    );
    let mut table = table();
    table.columns[0].data_type = DataType::Uuid;
    assert_eq!(
        dialect.load(&table, &["id", "amount"]),
        "LOAD DATA LOCAL INFILE 'rows' INTO TABLE `orders` CHARACTER SET utf8mb4 (@u0, \
         `amount`) SET `id` = unhex(replace(@u0, '-', ''))"
    );
    assert_eq!(dialect.words().quote("a`b"), "`a``b`");
}

#[test]
fn a_key_that_is_no_integer_clusters_sqlites_table_and_can_come_after_the_rows_elsewhere() {
    let mut table = table();
    table.columns[0].data_type = DataType::Uuid;
    table.storage = Storage { key_after_fill: true, ..Storage::default() };
    let sqlite = SqliteDialect { schema: "f3".into(), page_bytes: 4096 };
    let created = sqlite.create(&table).unwrap().remove(0);
    assert!(created.starts_with("CREATE TABLE f3.\"orders\" (\"id\" BLOB NOT NULL"), "{created}");
    assert!(created.ends_with("PRIMARY KEY (\"id\")) WITHOUT ROWID"), "{created}");
    let postgres = PostgresDialect { data_files: 4, tablespaces: Vec::new(), page_bytes: 8192 };
    let created = postgres.create(&table).unwrap().join("; ");
    assert!(!created.contains("PRIMARY KEY") && !created.contains("PARTITION"), "{created}");
    let after = postgres.after_fill(&table).join("; ");
    assert!(after.ends_with("ALTER TABLE \"orders\" ADD PRIMARY KEY (\"id\")"), "{after}");
    let created = DuckDbDialect.create(&table).unwrap().join("; ");
    assert!(created.starts_with("CREATE TABLE \"orders\" (\"id\" UUID NOT NULL"), "{created}");
    assert!(!created.contains("PRIMARY KEY"), "{created}");
    assert_eq!(
        DuckDbDialect.after_fill(&table),
        ["ALTER TABLE \"orders\" ADD PRIMARY KEY (\"id\")"]
    );
    let work = Work { tables: vec![table], ..Work::default() };
    assert!(sqlite.statement(&Operation::InsertLoop { table: 0 }, &work).is_err());
}
