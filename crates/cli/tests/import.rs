//! `steelbench import`: what other tools measured is compared and reported as measured elsewhere.

use crate::common::Lab;
use serde_json::Value;

fn pgbench(tps: f64) -> String {
    format!(
        "pgbench (15.14)\ntransaction type: <builtin: TPC-B (sort of)>\nscaling factor: 10\nquery \
         mode: simple\nnumber of clients: 8\nnumber of threads: 2\nduration: 10 s\nnumber of \
         transactions actually processed: {}\nnumber of failed transactions: 0 (0.000%)\nlatency \
         average = {} ms\ninitial connection time = 7.001 ms\ntps = {tps} (without initial \
         connection time)\n",
        (tps * 10.0) as u64,
        8_000.0 / tps
    )
}

#[test]
fn runs_of_pgbench_are_compared_as_if_they_were_ours() {
    let lab = Lab::new();
    let mut arguments = vec!["import", "--factor", "shared_buffers"];
    let files: Vec<String> = [("1GB", 800.0), ("4GB", 1_600.0)]
        .into_iter()
        .flat_map(|(label, tps)| (0..4).map(move |at| (label, tps, at)))
        .map(|(label, tps, at)| {
            let name = format!("{label}-{at}.txt");
            lab.write(&name, &pgbench(tps * (1.0 + 0.01 * f64::from(at))));
            format!("{label}={name}")
        })
        .collect();
    arguments.extend(files.iter().map(String::as_str));
    let stdout = lab.steelbench(&arguments).expect(0).stdout;
    assert!(stdout.contains("8 trials of 2 configurations, measured elsewhere"), "{stdout}");
    let shown = lab.steelbench(&["show", "imported", "--full"]).expect(0).stdout;
    for part in ["measured elsewhere", "shared_buffers=4GB", "2.00x", "throughput"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let compared =
        lab.steelbench(&["compare", "shared_buffers=1GB", "shared_buffers=4GB"]).expect(0).stdout;
    assert!(compared.contains("2.00x"), "{compared}");
    lab.steelbench(&["report", "imported"]).expect(0);
    let json = lab.steelbench(&["show", "imported", "--json"]).expect(0).stdout;
    assert!(
        serde_json::from_str::<Value>(&json).unwrap().to_string().contains("measured elsewhere")
    );
}

/// Figures of a trial as the results file has them.
fn responses(lab: &Lab, arguments: &[&str]) -> Vec<(String, f64)> {
    let _ = std::fs::remove_file(lab.path("r.steelbench"));
    lab.steelbench(&[&["import", "--results", "r.steelbench"], arguments].concat()).expect(0);
    let store = store::Store::open(lab.path("r.steelbench")).unwrap();
    let recording = store.read(1).unwrap();
    let trials = recording.trials.iter().zip(1..);
    trials
        .flat_map(|(trial, number)| {
            let observations = trial.observations.clone().unwrap();
            let waits = observations
                .waits
                .into_iter()
                .map(|wait| (wait.wait_type, wait.resource_s + wait.signal_s));
            let responses =
                observations.responses.into_iter().map(|response| (response.name, response.value));
            responses
                .chain(waits)
                .map(move |(name, value)| (format!("{number} {name}"), value))
                .collect::<Vec<_>>()
        })
        .collect()
}

fn near(found: &[(String, f64)], expected: &[(&str, f64)]) {
    for (name, value) in expected {
        let entry = found.iter().find(|entry| entry.0 == *name);
        let entry = entry.unwrap_or_else(|| panic!("{name} is not in {found:?}"));
        assert!((entry.1 - value).abs() < 2e-3 * value.abs() + 1e-9, "{name}: {} {value}", entry.1);
    }
}

#[test]
fn each_load_generator_has_its_figures() {
    let lab = Lab::new();
    lab.write(
        "log",
        "0 1 2000 0 1700000000 2000\n0 2 4000 0 1700000000 6000 7\n\
                      1 1 failed 0 1700000000 7000\n1 2 4000 0 1700000000 10000\n",
    );
    near(&responses(&lab, &["log"]), &[("1 throughput", 300.0), ("1 latency_p50", 4.0)]);
    lab.write(
        "sysbench.txt",
        "Number of threads: 4\n\nSQL statistics:\n    transactions:                        10000  \
         (1000.50 per sec.)\n    queries:                             200000 (20010.00 per \
         sec.)\n\nGeneral statistics:\n    total time:                          9.9950s\n    total \
         number of events:              10000\n\nLatency (ms):\n         avg:                   \
         3.99\n         95th percentile:                        5.67\n",
    );
    near(
        &responses(&lab, &["a=sysbench.txt"]),
        &[("1 throughput", 1000.5), ("1 queries", 20_010.0), ("1 latency_p95", 5.67)],
    );
    lab.write(
        "h.log",
        "Vuser 1:16 Active Virtual Users configured\nVuser 1:TEST RESULT : System achieved 23456 \
         NOPM from 54321 PostgreSQL TPM\n",
    );
    near(&responses(&lab, &["h.log"]), &[("1 new_orders", 23_456.0), ("1 transactions", 54_321.0)]);
    lab.write(
        "hyperfine.json",
        r#"{"results": [{"command": "a", "mean": 1.5, "times": [1.0, 2.0],
            "parameters": {"n": "1"}},
            {"command": "b", "mean": 3.0, "times": [3.0], "parameters": {"n": "2"}}]}"#,
    );
    near(
        &responses(&lab, &["hyperfine.json"]),
        &[("1 elapsed", 1.0), ("2 elapsed", 2.0), ("3 elapsed", 3.0)],
    );
    lab.write(
        "fio.json",
        r#"{"fio version": "fio-3.33", "jobs": [{"jobname": "r", "read": {"total_ios": 100,
            "iops": 5000.0, "bw": 20000, "bw_bytes": 20480000, "runtime": 1000, "clat_ns":
            {"mean": 190000.0, "percentile": {"99.000000": 400000}}},
            "write": {"total_ios": 0}}]}"#,
    );
    near(
        &responses(&lab, &["fio.json"]),
        &[("1 read_iops", 5_000.0), ("1 read_throughput", 20.48), ("1 read_latency_p99", 400.0)],
    );
    lab.write(
        "t.csv",
        "layout,sessions,block,throughput (tx/s),latency p99 (ms)\n\
        heap,1,1,100,5\nheap,1,2,110,6\nclustered,1,1,200,3\nclustered,1,2,210,2\n",
    );
    near(
        &responses(&lab, &["t.csv", "--factor", "layout", "--factor", "sessions"]),
        &[("2 throughput", 110.0), ("4 latency_p99", 2.0)],
    );
}

#[test]
fn two_snapshots_of_waits_have_the_waits_between_them() {
    let lab = Lab::new();
    lab.write(
        "before.csv",
        "wait_type,waiting_tasks_count,wait_time_ms,max_wait_time_ms,\
        signal_wait_time_ms\nWRITELOG,10,1000,9,100\nLAZYWRITER_SLEEP,5,90000,9,0\n",
    );
    lab.write(
        "after.csv",
        "wait_type,waiting_tasks_count,wait_time_ms,max_wait_time_ms,\
        signal_wait_time_ms\nWRITELOG,20,3000,9,600\nLAZYWRITER_SLEEP,9,190000,9,0\n\
        LCK_M_X,1,500,9,0\n",
    );
    let waits = responses(&lab, &["--seconds", "10", "before.csv,after.csv"]);
    near(
        &waits,
        &[
            ("1 wait_time", 2.5),
            ("1 waiting_sessions", 0.25),
            ("1 WRITELOG", 2.0),
            ("1 LCK_M_X", 0.5),
        ],
    );
    assert_eq!(waits.len(), 4, "benign waits are left out: {waits:?}");
    lab.steelbench(&["show", "r.steelbench", "--full"]).expect(0).shows("WRITELOG");
    lab.write("pg1.csv", "pid,event_type,event,queryid,count\n1,IO,WALSync,0,100\n1,,,0,7\n");
    lab.write(
        "pg2.csv",
        "pid,event_type,event,queryid,count\n1,IO,WALSync,0,150\n2,IO,WALSync,0,50\n",
    );
    near(&responses(&lab, &["pg1.csv,pg2.csv"]), &[("1 IO:WALSync", 1.0)]);
}

#[test]
fn damaged_files_are_refused_with_their_line() {
    let lab = Lab::new();
    lab.write("bad.csv", "configuration,throughput\na,1\nb,many\n");
    lab.write("other.txt", "hello\n");
    lab.write("reset1.csv", "wait_type,waiting_tasks_count,wait_time_ms\nLCK_M_X,9,100\n");
    lab.write("reset2.csv", "wait_type,waiting_tasks_count,wait_time_ms\nLCK_M_X,1,10\n");
    lab.write("ok.csv", "configuration,throughput\na,1\n");
    for (arguments, why) in [
        (vec!["bad.csv"], "line 3: expected a number for throughput, found \"many\""),
        (vec!["other.txt"], "unknown format"),
        (vec!["gone.txt"], "gone.txt"),
        (vec!["reset1.csv,reset2.csv"], "counts less in the second snapshot"),
        (vec!["ok.csv", "--response", "latency"], "expected one of throughput"),
    ] {
        let ended = lab.steelbench(&[vec!["import"], arguments].concat());
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.stderr.contains(why), "{}", ended.stderr);
    }
}

/// hyperfine's JSON with a number of runs.
fn runs(count: usize) -> String {
    let times = vec!["0.1"; count].join(",");
    format!("{{\"results\": [{{\"command\": \"a\", \"times\": [{times}]}}]}}")
}

#[test]
fn many_runs_are_imported_up_to_a_limit() {
    let lab = Lab::new();
    lab.write("runs.json", &runs(20_000));
    lab.steelbench(&["import", "runs.json"]).expect(0).shows("20000 trials of 1 configurations");
    let table = |rows: usize| {
        let rows = (0..rows).map(|row| format!("c{row},1\n")).collect::<Vec<_>>().concat();
        format!("configuration,elapsed (s)\n{rows}")
    };
    lab.write("levels.csv", &table(20_000));
    lab.steelbench(&["import", "levels.csv"])
        .expect(0)
        .shows("20000 trials of 20000 configurations");
    lab.write("more.json", &runs(100_001));
    lab.write("more.csv", &table(100_001));
    lab.write("long.json", &format!("{{\"fio version\": \"{}\"}}", "3".repeat(33 << 20)));
    for (files, says) in [
        (&["more.json"][..], "more.json: more than 100000 trials"),
        (&["more.csv"], "more.csv: more than 100000 trials"),
        (&["runs.json"; 6], "runs.json: more than 100000 trials"),
        (&["long.json"], "larger than 32 MiB"),
    ] {
        lab.steelbench(&[&["import"], files].concat()).expect(2).says(says);
    }
}

#[test]
fn a_refused_import_leaves_nothing() {
    let lab = Lab::new();
    let sysbench = |events: &str| {
        format!(
            "SQL statistics:\n    transactions: 100 (10.0 per sec.)\nGeneral statistics:\n    \
             total time: 10s\n    total number of events: {events}\n"
        )
    };
    let huge = "9".repeat(320);
    let attributes = (0..200_000).map(|at| format!(" a{at}=''")).collect::<Vec<_>>().concat();
    for (name, text, says) in [
        ("s.txt", sysbench(&"9".repeat(30)), "transactions: 1000000000000000000000000000000 is"),
        ("t.txt", sysbench("1").replace("10.0", &huge), "throughput: inf is out of range"),
        ("p.txt", format!("tps = {huge}\n"), "throughput: inf is out of range"),
        ("p.log", "0 1 2000 0 1700000000 2000\n".repeat(3) + "x\n", "line 4"),
        ("c.csv", "configuration,elapsed (s)\na,1\na,1e308\n".to_owned(), "line 3"),
        ("c.xml", format!("<parameters><a{attributes}/></parameters>"), "line 1: more than 1000"),
    ] {
        lab.write(name, &text);
        let files = || std::fs::read_dir(lab.path("")).unwrap().count();
        let before = files();
        lab.steelbench(&["import", name]).expect(2).says(says);
        assert_eq!(files(), before, "{name}");
    }
}

/// A configuration of BenchBase.
fn benchbase(database: [&str; 2], scale: &str, weights: &str, names: &[&str]) -> String {
    let types = names
        .iter()
        .map(|name| format!("<transactiontype><name>{name}</name></transactiontype>"))
        .collect::<Vec<_>>()
        .concat();
    format!(
        "<?xml version=\"1.0\"?>\n<parameters>\n<type>{}</type>\n<url>{}</url>\n\
         <username>the user</username>\n<password>Geh&amp;eim</password>\n\
         <isolation>TRANSACTION_READ_COMMITTED</isolation>\n<scalefactor>{scale}</scalefactor>\n\
         <sessionsetupfile>Geh</sessionsetupfile>\n<terminals>7</terminals>\n<works><work>\n\
         <time>90</time><warmup>5</warmup><rate>250</rate><weights>{weights}</weights>\n\
         </work></works>\n<transactiontypes>{types}</transactiontypes>\n</parameters>\n",
        database[0], database[1]
    )
}

/// Configurations of BenchBase become experiments that can be checked; no password gets into them.
#[test]
fn configurations_of_benchbase_become_experiments() {
    const SQLITE: [&str; 2] = ["SQLITE", "jdbc:sqlite:Geh.db"];
    const ORDERS: [&str; 5] = ["NewOrder", "Payment", "OrderStatus", "Delivery", "StockLevel"];
    const TATP: [&str; 7] = [
        "DeleteCallForwarding",
        "GetAccessData",
        "GetNewDestination",
        "GetSubscriberData",
        "InsertCallForwarding",
        "UpdateLocation",
        "UpdateSubscriberData",
    ];
    const YCSB: [&str; 6] = [
        "ReadRecord",
        "InsertRecord",
        "ScanRecord",
        "UpdateRecord",
        "DeleteRecord",
        "ReadModifyWriteRecord",
    ];
    const BANK: [&str; 6] = [
        "Amalgamate",
        "Balance",
        "DepositChecking",
        "SendPayment",
        "TransactSavings",
        "WriteCheck",
    ];
    let written = |scale: &str, weights: &str, names: &[&str]| {
        let lab = Lab::new();
        lab.write("c.xml", &benchbase(SQLITE, scale, weights, names));
        let stdout = lab.steelbench(&["import", "c.xml"]).expect(0).stdout;
        assert!(stdout.contains("Without a counterpart: <sessionsetupfile>"), "{stdout}");
        let file = stdout.split_whitespace().nth(1).unwrap().trim_end_matches('.').to_owned();
        lab.steelbench(&["check", &file]).expect(0);
        let text = lab.read(&file);
        assert!(!text.contains("Geh") && !stdout.contains("Geh"), "{text}");
        (text, stdout)
    };
    for (scale, weights, names, parts) in [
        ("2", "45,43,4,4,4", &ORDERS[..], &["warehouses = 2", "duration = \"90 s\""][..]),
        (
            "0.1",
            "2, 35, 10, 35, 2, 14, 2",
            &TATP,
            &["rows = 10000\n", "a = 65535", "35\",", "250/s"],
        ),
        ("20", "50,5,15,10,10,10", &YCSB, &["rows = 20000", "ycsb-read.sql@50", ":inserted"]),
        ("0.01", "15,15,15,25,15,15", &BANK, &["rows = 10000", "send-payment.sql@25", ":paid_in"]),
        ("0.1", "1,0,1", &["Q1", "Q2", "Q6"], &["scale = 0.1", "[\"Q1\", \"Q6\"]", "streams = 7"]),
    ] {
        let (text, message) = written(scale, weights, names);
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.contains("warmup") || text.contains("streams"), "{text}");
        assert_eq!(
            message.contains("transaction DeleteRecord"),
            names.len() == 6 && names[0] == "ReadRecord"
        );
    }
}

#[test]
fn urls_of_benchbase_lose_their_passwords() {
    for (kind, text, expected) in [
        (
            "POSTGRES",
            "jdbc:postgresql://a:Geh@db.example:5433/bank?user=u&amp;password=Geheim",
            "url = \"postgresql://the%20user@db.example:5433/bank\"",
        ),
        (
            "SQLSERVER",
            "jdbc:sqlserver://localhost:1433;encrypt=false;database=bank;password=Geheim;",
            "url = \"sqlserver://the%20user@localhost:1433/bank\"",
        ),
        (
            "MYSQL",
            "jdbc:mysql://localhost:3306/bank?sslMode=DISABLED",
            "settings.transaction_isolation = \"read-committed\"",
        ),
    ] {
        let lab = Lab::new();
        lab.write(
            "c.xml",
            &benchbase(
                [kind, text],
                "1",
                "45,43,4,4,4",
                &["NewOrder", "Payment", "OrderStatus", "Delivery", "StockLevel"],
            ),
        );
        let stdout = lab.steelbench(&["import", "c.xml"]).expect(0).stdout;
        let text = lab.read("benchbase-tpcc.toml");
        assert!(text.contains(expected) && !text.contains("Geh"), "{text}");
        assert!(!stdout.contains("Geh"), "{stdout}");
    }
}

/// Errors name the element or the place, and repeat nothing of the file.
#[test]
fn wrong_configurations_of_benchbase_are_refused_without_their_text() {
    let right = benchbase(["POSTGRES", "jdbc:postgresql://h/d"], "1", "1", &["Q1"]);
    for (text, says) in [
        (right.replace("&amp;eim", "&eim;"), "not valid XML"),
        (
            right.replace("<parameters>", "<other>").replace("</parameters>", "</other>"),
            "<parameters>",
        ),
        (right.replace("POSTGRES", "ORACLE"), "<type>"),
        (right.replace(">Q1<", ">Q23<"), "<transactiontypes>"),
        (right.replace("<weights>1<", "<weights>1,2<"), "<weights>: there is not one for each"),
        (right.replace("<terminals>7<", "<terminals>Geh<"), "<terminals>: expected a number"),
        (right.replace("jdbc:postgresql://h/d", "Geheim"), "<url>: expected jdbc:"),
    ] {
        let lab = Lab::new();
        lab.write("c.xml", &text);
        let ended = lab.steelbench(&["import", "c.xml"]).expect(2).says(says);
        assert!(!ended.stderr.contains("Geh") && !ended.stderr.contains("eim"), "{ended:?}");
    }
}
