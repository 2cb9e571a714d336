//! Every statement of targets on a server of the user's, in the database `steelbench`.

use crate::sqlserver::{ask, configuration, folders, text};
use engine::{CacheState, Instance, Need};
use experiment::Value;
use work::{
    Cancel, Column, DataType, DefaultValue, Fill, Key, Operation, Output, Request, Rows, Storage,
    Table, Values, Work,
};

/// Rows of a filled table.
const ROWS: usize = 5_000;

type Settings = Vec<(&'static str, Value)>;

fn word(text: &str) -> Value {
    Value::Text(text.into())
}

/// Files of each kind, every option of the database, and tables stored in each way.
fn targets() -> Vec<Settings> {
    let mib = |count: i64| Value::Integer(count << 20);
    let mut all = vec![
        vec![],
        vec![
            ("target.data_files", Value::Integer(4)),
            ("target.data_size", mib(65)),
            ("target.data_growth", mib(0)),
            ("target.filegroup", word("own")),
            ("target.log_size", mib(16)),
            ("target.log_growth", mib(8)),
            ("target.recovery", word("simple")),
            ("target.page_verify", word("torn-page-detection")),
            ("target.delayed_durability", word("forced")),
            ("target.read_committed_snapshot", Value::Bool(true)),
            ("target.snapshot_isolation", Value::Bool(true)),
            ("target.final_checkpoint", Value::Bool(true)),
        ],
        vec![("target.recovery", word("full")), ("target.data_files", Value::Integer(2))],
        vec![("target.recovery", word("bulk-logged")), ("target.page_verify", word("none"))],
        vec![("target.delayed_durability", word("allowed"))],
        vec![("target.optimize_for_sequential_key", Value::Bool(true))],
    ];
    let methods = ["none", "row", "page", "columnstore"];
    all.extend(methods.map(|method| vec![("target.compression", word(method))]));
    all
}

/// Tables with a key and without, filled with rows of all types.
fn work() -> Work {
    let columns = || {
        vec![
            Column::new("id", DataType::BigInt),
            Column::new("amount", DataType::Int),
            Column::new("price", DataType::Decimal),
            Column::new("day", DataType::Date),
            Column::new("moment", DataType::Timestamp),
            Column::new("name", DataType::Varchar(20)),
            Column::new("state", DataType::Char(3)),
            Column::new("tag", DataType::Uuid),
            Column::new("fixed", DataType::Int).default(DefaultValue::Integer(7)),
        ]
    };
    let keyed = Storage { fill_percent: Some(90), ..Storage::default() };
    let page = DataType::PageFiller { rows: 1 };
    let pages = vec![
        Column::new("id", DataType::BigInt),
        Column::new("f", page).default(DefaultValue::Filler),
    ];
    let table = |name, columns, key, storage| Table { name, columns, key, storage };
    let tables = vec![
        table("keyed", columns(), &["id"] as &[&str], keyed),
        table("heap", columns(), &[], Storage::default()),
        table("pages", pages, &["id"], Storage::default()),
    ];
    let names = ["id", "amount", "price", "day", "moment", "name", "state", "tag"];
    let rows = || Rows {
        count: ROWS,
        columns: vec![
            Values::Integers((0..ROWS as i64).collect()),
            Values::Same(2),
            Values::Decimals((0..ROWS as i64).collect()),
            Values::Dates((0..ROWS as i32).collect()),
            Values::Timestamps((0..ROWS as i64).collect()),
            Values::SameText("it's"),
            Values::SameText("abc"),
            Values::Uuids((0..ROWS as u128).collect()),
        ],
    };
    let fill = |table| Fill::new(table, names.to_vec(), std::iter::once(rows()));
    let operations = vec![
        Operation::Insert { table: 2, columns: vec!["id"] },
        Operation::scan(0, vec![Output::Count, Output::Sum("amount"), Output::Avg("amount")]),
        Operation::lookup(0, &["name"]),
    ];
    Work { tables, operations, fills: vec![fill(0), fill(1)], ..Work::default() }
}

fn check(instance: &dyn Instance) {
    let tables = instance.parts().tables.unwrap();
    tables.create(work()).unwrap();
    assert!(tables.stored_bytes().unwrap().is_some_and(|bytes| bytes > 0));
    let hot = instance.settle(CacheState::Hot).unwrap();
    assert!(hot.verified, "{hot:?}");
    let mut collector = instance.wait_collector().unwrap();
    let mut set = instance.connect(3).unwrap();
    collector.start().unwrap();
    for (number, method) in [("statements", false), ("pipelined", true)].into_iter().enumerate() {
        let keys: Vec<Key> =
            (0..100).map(|key| Key::random(((number as u64) << 40) + (key << 16), key)).collect();
        let request = Request::Batch { operation: 0, file: 0, keys: &keys, pipelined: method.1 };
        ask(set.as_mut(), number, &request).unwrap_or_else(|error| panic!("{}: {error}", method.0));
    }
    let counted = ask(set.as_mut(), 2, &text("SELECT COUNT(*) FROM pages")).unwrap();
    assert_eq!(counted[0].last, [Some("200".to_owned())]);
    set.flush(0, 1).unwrap();
    let collected = collector.stop().unwrap();
    assert!(collected.lost.is_empty(), "{:?}", collected.lost);
    assert!(collected.time.unwrap().session_s > 0.0);
    drop(set);
    let scan = instance.parts().explainer.unwrap().explain(1, &work().tables[0], false).unwrap();
    assert!(scan.plan.is_some() && scan.pages.is_some(), "{scan:?}");
    // One row a page: as many pages as rows, and some of the index above them.
    let pages = instance.parts().explainer.unwrap().explain(0, &work().tables[2], false).unwrap();
    println!("200 rows of one a page: {:?} pages", pages.pages);
}

#[test]
fn every_statement_of_targets_runs_on_a_live_server() {
    let Ok(url) = std::env::var("STEELBENCH_MSSQL_URL") else {
        println!(
            "SKIPPED, cannot be here: a SQL Server; STEELBENCH_MSSQL_URL names one for `cargo \
             xtask test-live mssql`"
        );
        return;
    };
    let mut targets = targets();
    if std::env::var_os("STEELBENCH_MSSQL_CHANGES").is_some() {
        let may = ("target.allow_server_settings", Value::Bool(true));
        let degree = ("target.settings.cost_threshold_for_parallelism", Value::Integer(6));
        targets.push(vec![may, degree]);
    }
    let engine = testing::engine("sqlserver");
    for settings in targets {
        println!("{settings:?}");
        let configuration = configuration(&url, &settings);
        let footprint = engine::Footprint::default();
        let need = Need { configuration: &configuration, connections: 3, footprint };
        let found = engine.preflight(&[need], &folders(), &Cancel::new().stop());
        assert!(found.missing.is_empty() && found.invalid.is_empty(), "{found:?}");
        let instance = (engine.host)(folders()).prepare(&configuration, 3, &Cancel::new()).unwrap();
        check(instance.as_ref());
        instance.remove().unwrap();
    }
}

/// Drops the pages of all databases, so that it needs a permission of its own.
#[test]
fn cold_caches_are_reached_on_a_live_server() {
    let (Ok(url), Some(_)) =
        (std::env::var("STEELBENCH_MSSQL_URL"), std::env::var_os("STEELBENCH_MSSQL_CHANGES"))
    else {
        println!(
            "SKIPPED, cannot be here: a SQL Server (STEELBENCH_MSSQL_URL) whose settings and \
             caches may be changed (STEELBENCH_MSSQL_CHANGES=yes)"
        );
        return;
    };
    let settings =
        [("target.cache", word("cold")), ("target.allow_server_settings", Value::Bool(true))];
    let configuration = configuration(&url, &settings);
    let engine = testing::engine("sqlserver");
    let instance = (engine.host)(folders()).prepare(&configuration, 3, &Cancel::new()).unwrap();
    instance.parts().tables.unwrap().create(work()).unwrap();
    let cold = instance.settle(CacheState::Cold).unwrap();
    assert!(cold.verified, "{cold:?}");
    instance.remove().unwrap();
}
