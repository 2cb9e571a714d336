//! Plans of statements (EXPLAIN output): from a server over a connection on which they are altered,
//! in an altered results file, and in files with foreign plans.

use crate::attack::arena::{Arena, Random, Tries, USUAL, campaign};
use crate::servers::by_url::{OWNER, Server, bindirs};
use rusqlite::Connection;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Plans as engines print them.
const PLANS: [&str; 4] = [
    "Finalize Aggregate  (cost=1000.00..1000.01 rows=1 width=8) (actual time=3.100..3.101 rows=1 \
     loops=1)\n  Buffers: shared hit=5 read=37\n  ->  Gather  (cost=0.00..900.00 rows=2 width=8) \
     (actual time=0.5..3.0 rows=3 loops=1)\n        Workers Planned: 2\n        Workers Launched: \
     2\n        ->  Parallel Seq Scan on synthetic  (cost=0.00..800.00 rows=833 width=4) (actual \
     time=0.01..1.2 rows=667 loops=3)\n              Filter: (c2 < 20000000)\nPlanning Time: 0.05 \
     ms\nExecution Time: 3.2 ms",
    r#"[{"Plan": {"Node Type": "Aggregate", "Strategy": "Plain", "Plan Rows": 1,
        "Actual Total Time": 3.1, "Shared Hit Blocks": 5,
        "Plans": [{"Node Type": "Index Only Scan", "Index Name": "synthetic_pkey",
        "Heap Fetches": 0, "Plans": []}]}, "Triggers": [], "Execution Time": 3.2}]"#,
    "QUERY PLAN\n|--SCAN synthetic USING COVERING INDEX i\n|--CORRELATED SCALAR SUBQUERY 1\n|  \
     `--SEARCH t USING INTEGER PRIMARY KEY (rowid=?)\n`--USE TEMP B-TREE FOR GROUP BY",
    "┌───────────────────────────┐\n│    UNGROUPED_AGGREGATE    │\n│    ────────────────────   \
     │\n│        Aggregates:        \
     │\n└─────────────┬─────────────┘\n┌─────────────┴─────────────┐\n│         SEQ_SCAN          \
     │\n│      ~2000 rows (0.00s)   │\n└───────────────────────────┘",
];

const PIECES: &[&[u8]] = &[
    b"\0",
    b"\x1b[2J",
    b"\x1b]0;x\x07",
    b"\xc2\x9b31m",
    b"\xe2\x80\xae",
    b"\xff\xfe",
    b"<script>alert(1)</script>",
    b"\"></pre><img src=x onerror=alert(1)>",
    b"\n\n\n",
    b"\r",
    b"\t",
    b"->  ",
    b"(actual time=nan..inf rows=-1 loops=0)",
    b"-1",
    b"NaN",
    b"18446744073709551616",
    b"1e999",
    b"{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"=cmd|x",
    b"\xf0\x9f\x92\xa9",
    b"e\xcc\x81\xcc\x81\xcc\x81\xcc\x81",
];

/// A plan with something else in it, or something that is only large.
fn plan(random: &mut Random) -> Vec<u8> {
    match random.below(20) {
        0 => Vec::new(),
        1 => b"x".repeat(100_000),
        2 => b"  ->  Scan\n".repeat(20_000),
        3 => (0..500)
            .flat_map(|depth| format!("{}->  Scan\n", " ".repeat(depth)).into_bytes())
            .collect(),
        4 => [b"{\"Plans\": [".repeat(10_000), b"]}".repeat(10_000)].concat(),
        _ => {
            let plan = random.pick(&PLANS).as_bytes();
            random.mutate(plan, PIECES)
        }
    }
}

/// A proxy in front of a server that answers EXPLAIN in its place.
struct Proxy {
    port: u16,
    says: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Proxy {
    fn start(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let relay = Self { port: listener.local_addr().unwrap().port(), says: Arc::default() };
        let says = relay.says.clone();
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                let (says, requested) = (says.clone(), Arc::<AtomicBool>::default());
                let ends = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let forwarded = requested.clone();
                std::thread::spawn(move || forward(ends.0, ends.1, &forwarded));
                std::thread::spawn(move || answer(server, client, &says, &requested));
            }
        });
        relay
    }
}

/// Forwards the client's messages unchanged; notes when it asks for a plan.
fn forward(mut client: TcpStream, mut server: TcpStream, requested: &AtomicBool) {
    let mut buffer = [0; 16 << 10];
    while let Ok(count @ 1..) = client.read(&mut buffer) {
        if buffer[..count].windows(9).any(|window| window == b"EXPLAIN (") {
            requested.store(true, Ordering::SeqCst);
        }
        if server.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = server.shutdown(Shutdown::Both);
}

/// Forwards the server's answer, with the rows of a plan replaced.
fn answer(
    mut server: TcpStream,
    mut client: TcpStream,
    says: &Mutex<Vec<Vec<u8>>>,
    requested: &AtomicBool,
) {
    let mut rows_sent = false;
    let mut head = [0; 5];
    while server.read_exact(&mut head).is_ok() {
        let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut body = vec![0; length.saturating_sub(4)];
        if server.read_exact(&mut body).is_err() {
            break;
        }
        let is_asked = requested.load(Ordering::SeqCst);
        let message = match head[0] {
            b'D' if is_asked && rows_sent => continue,
            b'D' if is_asked => {
                rows_sent = true;
                let rows = says.lock().unwrap().clone();
                rows.iter().flat_map(|row| data_row(row)).collect()
            }
            _ => [&head[..], &body].concat(),
        };
        if head[0] == b'Z' {
            requested.store(false, Ordering::SeqCst);
            rows_sent = false;
        }
        if client.write_all(&message).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
}

/// `DataRow` of one column.
fn data_row(text: &[u8]) -> Vec<u8> {
    let length = text.len() as u32;
    [b"D".as_slice(), &(length + 10).to_be_bytes(), &[0, 1], &length.to_be_bytes(), text].concat()
}

fn scans(target: &str) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\n{target}\n[workload]\nprobe = \"scan\"\nrows = \
         100\nscans = 2\nanalyze = true\n[factors]\n\"workload.aggregates\" = [\"count\", \
         \"sum\"]\n[repeats]\nblocks = 2\n[limits]\ntrial_time = \"20 s\"\n"
    )
}

/// Commands that read a recording.
const READERS: &[&[&str]] = &[
    &["show", "t"],
    &["show", "t", "--json"],
    &["show", "t", "--md"],
    &["report", "t"],
    &["compare", "t", "aggregates=count", "aggregates=sum"],
    &["export", "t", "--format", "csv"],
    &["export", "t", "--format", "json"],
    &["export", "t", "--format", "xlsx"],
    &["export", "t", "--format", "parquet"],
];

fn read_some(arena: &Arena, random: &mut Random) -> Result<(), String> {
    for _ in 0..3 {
        let reader: &[&str] = random.pick::<&[&str]>(READERS);
        let outcome = arena.run(reader, USUAL)?;
        if !outcome.status.success() {
            return Err(outcome.text());
        }
    }
    let page = std::fs::read_to_string(arena.path("results/t.html")).unwrap_or_default();
    match ["<script>alert(1)", "<img src=x"].iter().find(|markup| page.contains(**markup)) {
        Some(markup) => Err(format!("the report has {markup}")),
        None => arena.is_clean(),
    }
}

#[test]
fn explain_outputs() {
    let arena = Arena::new();
    let servers: Vec<Server> = bindirs()
        .iter()
        .map(|bin| Server::start(bin, "host all all 127.0.0.1/32 trust", &[]))
        .collect();
    let between: Vec<Proxy> = servers.iter().map(|server| Proxy::start(server.port)).collect();
    arena.write("e.toml", scans("engine = \"sqlite\"").as_bytes());
    let recorded = arena.run(&["run", "e.toml"], USUAL).unwrap();
    assert!(recorded.status.success(), "{}", recorded.text());
    let whole = std::fs::read(arena.path("results/t.steelbench")).unwrap();
    campaign("explain_outputs", Tries { short: 2, full: 300 }, |random| {
        if random.below(3) > 0 || between.is_empty() {
            arena.write("results/t.steelbench", &whole);
            let (text, analysis) = (plan(random), plan(random));
            let texts = [text, analysis].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
            let file = Connection::open(arena.path("results/t.steelbench")).unwrap();
            let failed = |error: rusqlite::Error| error.to_string();
            let sql = "UPDATE trial_plans SET analysis = ?1, hash = 'x' WHERE trial % 2 = 0";
            file.execute(sql, [&texts[1]]).map_err(failed)?;
            file.execute("INSERT INTO plan_texts VALUES ('x', ?1)", [&texts[0]]).map_err(failed)?;
            drop(file);
            return read_some(&arena, random);
        }
        let server = random.pick(&between);
        *server.says.lock().unwrap() = (0..=random.below(3)).map(|_| plan(random)).collect();
        let url = format!(
            "host=127.0.0.1 port={} user={OWNER} dbname=postgres sslmode=disable",
            server.port
        );
        arena.write("e.toml", scans(&format!("engine = \"postgres\"\nurl = \"{url}\"")).as_bytes());
        let outcome = arena.run(&["run", "e.toml", "--fresh"], USUAL)?;
        if !matches!(outcome.status.code(), Some(0 | 1)) {
            return Err(outcome.text());
        }
        read_some(&arena, random)
    });
}

/// Files that `plan` reads, of each format.
const FILES: [&str; 9] = [
    include_str!("../../../inspection/tests/sqlserver/plans/own.sqlplan"),
    include_str!("../../../inspection/tests/postgres/plans/pg-join.txt"),
    include_str!("../../../inspection/tests/postgres/plans/pg-join.json"),
    include_str!("../../../inspection/tests/postgres/plans/pg-sub.json"),
    include_str!("../../../inspection/tests/postgres/plans/pg-sub.txt"),
    include_str!("../../../inspection/tests/postgres/plans/pg-auto-explain.log"),
    include_str!("../../../inspection/tests/mariadb/plans/ma-derived.json"),
    include_str!("../../../inspection/tests/mariadb/plans/ma-join.json"),
    include_str!("../../../inspection/tests/mariadb/plans/ma-update.txt"),
];

/// A file with something else in it, in another encoding, or nested without an end.
fn plan_file(random: &mut Random) -> Vec<u8> {
    let depth = 1_000 + random.below(50_000);
    match random.below(30) {
        0 => [b"<ShowPlanXML><Statements>".as_slice(), &b"<RelOp><Top>".repeat(depth)].concat(),
        1 => [b"[{\"Plan\": ".as_slice(), &b"{\"Plans\": [".repeat(depth), &b"]}".repeat(depth)]
            .concat(),
        2 => b"<!DOCTYPE a [<!ENTITY b \"&b;&b;\"><!ENTITY f \
               SYSTEM \"/etc/passwd\">]><ShowPlanXML>&b;&f;</ShowPlanXML>"
            .to_vec(),
        3 => (0..depth)
            .flat_map(|depth| {
                format!("{}->  Limit  (cost=0..1 rows=1 width=4)\n", " ".repeat(depth % 300))
                    .into_bytes()
            })
            .collect(),
        4 | 5 => random.pick(&FILES).encode_utf16().flat_map(u16::to_le_bytes).collect(),
        _ => {
            let file = random.pick(&FILES).as_bytes();
            random.mutate(file, PIECES)
        }
    }
}

#[test]
fn plan_files() {
    let arena = Arena::new();
    campaign("plan_files", Tries { short: 20, full: 1000 }, |random| {
        arena.write("a.sqlplan", &plan_file(random));
        arena.write("b.json", &plan_file(random));
        let forms: &[&[&str]] = &[&[], &["--json"], &["--md", "--literals"]];
        let form: &[&str] = random.pick::<&[&str]>(forms);
        arena.run(&[&["plan", "a.sqlplan", "b.json"], form].concat(), USUAL)?;
        arena.is_clean()
    });
}
