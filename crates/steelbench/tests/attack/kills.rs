//! kill -9 at random moments: what was recorded stays, the run goes on, and nothing is left.

use crate::arena::{Arena, Limits, USUAL, campaign};
use crate::common::scripted;
use rusqlite::Connection;
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use std::time::Duration;

/// Trials of both configurations.
const TRIALS: i64 = 2 * 30;

fn ask(arena: &Arena, sql: &str) -> Result<String, String> {
    let file = Connection::open(arena.path("results/t.steelbench")).map_err(|error| error.to_string())?;
    let answer = file.query_row(sql, [], |row| row.get::<_, rusqlite::types::Value>(0));
    answer.map(|value| format!("{value:?}")).map_err(|error| format!("{sql}: {error}"))
}

#[test]
fn kills() {
    campaign("kills", 4, |random| {
        let arena = Arena::new();
        let engine = *random.of(&["null", "sqlite"]);
        let file = scripted(30, if engine == "null" { "real_delay = \"1 ms\"" } else { "" }, "");
        let file = file.replace("\"null\"", &format!("{engine:?}")).replace("rows = 10\n", "rows = 50\n");
        arena.write("e.toml", file.as_bytes());
        for _ in 0..8 {
            let mut command = arena.lab.command(&["run", "e.toml"]);
            command.current_dir(arena.path("")).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
            let mut child = command.spawn().unwrap();
            std::thread::sleep(Duration::from_millis(random.below(400) as u64));
            let _ = child.kill();
            child.wait().unwrap();
        }
        let last = arena.run(&["run", "e.toml"], Limits { time: 4 * USUAL.time, ..USUAL })?;
        if !last.status.success() {
            return Err(format!("does not go on: {}", last.text()));
        }
        let whole = [
            ("PRAGMA integrity_check", "Text(\"ok\")".to_owned()),
            ("SELECT count(*) FROM pragma_foreign_key_check", "Integer(0)".to_owned()),
            ("SELECT count(*) FROM trials WHERE status = 'done'", format!("Integer({TRIALS})")),
            (
                "SELECT count(DISTINCT block || ' ' || configuration) FROM trials",
                format!("Integer({TRIALS})"),
            ),
            ("SELECT count(*) FROM runs", "Integer(1)".to_owned()),
        ];
        for (sql, expected) in whole {
            let answer = ask(&arena, sql)?;
            if answer != expected {
                return Err(format!("{engine}: {sql}: {answer}, not {expected}"));
            }
        }
        arena.is_clean()
    });
}
