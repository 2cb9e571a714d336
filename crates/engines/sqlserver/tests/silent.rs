//! Servers that do not answer any more, and logins that do not see all.

use crate::sqlserver::{configuration, folders};
use engine::{EngineError, Instance};
use observations::WaitClass;
use std::sync::Arc;
use std::time::Duration;
use testing::installed::{sql_server_stand_in, sql_server_that_hides_sessions};
use testing::relay::Relay;
use work::{
    Cancel, CancelReason, Column, DataType, DefaultValue, Fill, Key, Operation, Request, Rows,
    Storage, Table, Values, Work,
};

const CONNECTIONS: u32 = 40;

/// A table with some rows and one operation, an insert.
fn work() -> Work {
    let number = Column::new("n", DataType::Int).default(DefaultValue::Integer(1));
    let columns = vec![Column::new("id", DataType::BigInt), number];
    let table = Table { name: "orders", columns, key: &["id"], storage: Storage::default() };
    let rows =
        Rows { count: 300, columns: vec![Values::Integers((0..300).collect()), Values::Same(1)] };
    let fills = vec![Fill::new(0, vec!["id", "n"], std::iter::once(rows))];
    let operations = vec![Operation::Insert { table: 0, columns: vec!["id"] }];
    Work { tables: vec![table], operations, fills, ..Work::default() }
}

fn prepare(url: &str, cancel: &Cancel) -> Result<Box<dyn Instance>, EngineError> {
    let configuration = configuration(&format!("{url}&connecttimeout=2"), &[]);
    (testing::engine("sqlserver").host)(folders()).prepare(&configuration, CONNECTIONS, cancel)
}

/// The phases of a trial until it is cancelled.
fn load(instance: &dyn Instance, cancel: &Cancel) -> Result<(), EngineError> {
    instance.parts().tables.unwrap().create(work())?;
    let mut set = instance.connect(CONNECTIONS)?;
    let keys: Vec<Key> = (1_000..1_003).map(|key| Key::random(key << 16, key)).collect();
    let request = Request::Batch { operation: 0, file: 0, keys: &keys, pipelined: false };
    set.send(0, &request)?;
    let mut answers = Vec::new();
    while answers.is_empty() && !cancel.is_cancelled() {
        set.wait(None, &mut answers)?;
    }
    if answers.is_empty() {
        return Err(EngineError::Cancelled);
    }
    answers.into_iter().try_for_each(|answer| answer.result.map(drop))
}

/// Each text is one of the requests of a phase.
#[test]
fn a_request_to_stop_ends_each_phase_on_a_silent_server() {
    for text in [
        "CREATE DATABASE",
        "CREATE TABLE",
        "INSERT BULK",
        "XACT_ABORT",
        "INSERT INTO",
        "DROP DATABASE",
    ] {
        let Some(url) = sql_server_stand_in(&[]) else { return };
        let (url, relay) = Relay::before(&url, Some(text));
        let cancel = Cancel::new();
        let (asks, watched) = (cancel.clone(), Arc::clone(&relay));
        let asking = std::thread::spawn(move || {
            while !watched.is_silent() {
                std::thread::sleep(Duration::from_millis(10));
            }
            asks.cancel(CancelReason::Interrupt);
        });
        let left = match prepare(&url, &cancel) {
            Err(error) => error,
            Ok(instance) => {
                let ended = load(instance.as_ref(), &cancel);
                let is_last = text == "DROP DATABASE";
                assert_eq!(ended.is_ok(), is_last, "{text}: {ended:?}");
                instance.remove().unwrap_err()
            }
        };
        asking.join().unwrap();
        assert!(matches!(left, EngineError::Remains { .. }), "{text}: {left:?}");
        assert!(left.to_string().contains("database steelbench on 127.0.0.1"), "{left}");
    }
}

#[test]
fn a_server_that_is_down_is_not_a_failure_of_a_trial() {
    let Some(url) = sql_server_stand_in(&[]) else { return };
    let (url, relay) = Relay::before(&url, None);
    relay.refuse(true);
    let error = prepare(&url, &Cancel::new()).err().unwrap();
    assert!(matches!(error, EngineError::Unreachable { .. }), "{error:?}");
    relay.refuse(false);
    let instance = prepare(&url, &Cancel::new()).unwrap();
    load(instance.as_ref(), &Cancel::new()).unwrap();
    instance.remove().unwrap();
}

/// Without VIEW SERVER STATE one sees one's own session only, without an error.
#[test]
fn sessions_of_a_load_that_are_hidden_have_no_figures() {
    let Some(url) = sql_server_that_hides_sessions() else { return };
    let instance = prepare(&url, &Cancel::new()).unwrap();
    instance.parts().tables.unwrap().create(work()).unwrap();
    let mut collector = instance.wait_collector().unwrap();
    let set = instance.connect(CONNECTIONS).unwrap();
    collector.start().unwrap();
    let collected = collector.stop().unwrap();
    assert!(collected.waits.iter().all(|wait| wait.class == WaitClass::Client), "{collected:?}");
    let lost = collected.lost.join("\n");
    assert!(
        lost.contains("CPU time of sessions: sys.dm_exec_sessions: this login sees 0 of 40"),
        "{lost}"
    );
    drop(set);
    instance.remove().unwrap();
}
