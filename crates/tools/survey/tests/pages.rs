//! Inventories as pages and as files.

use inspection::survey::{parse_survey, survey_json};
use observations::{
    Advice, Cache, Database, NumaNode, ServerSetting, Survey, SurveyedServer, SystemSetting,
    Unread, VolumeFacts,
};
use report::{Block, ChartKind, Style, json, terminal};
use survey::{anonymous, merge};

fn setting(name: &str, value: Option<&str>) -> SystemSetting {
    SystemSetting { name: name.into(), value: value.map(str::to_owned) }
}

/// A machine of two sockets with a server.
fn machine(host: &str) -> Survey {
    let mut survey =
        Survey { taken_ms: 1_700_000_000_000, steelbench: "0.1.0".into(), ..Survey::default() };
    let machine = &mut survey.machine;
    machine.host = Some(host.into());
    machine.processors.logical = Some(32);
    machine.processors.cores = Some(16);
    machine.processors.sockets = Some(2);
    machine.processors.smt = Some("on".into());
    machine.processors.caches =
        vec![Cache { level: 3, kind: "Unified".into(), bytes: 30 << 20, instances: 2 }];
    let node = |node| NumaNode {
        node,
        cpus: "0-7".into(),
        cpu_count: 8,
        memory_bytes: Some(32 << 30),
        distances: vec![10, 21],
    };
    machine.nodes = vec![node(0), node(1)];
    machine.memory.total_bytes = Some(64 << 30);
    survey.settings = vec![
        setting("vm.swappiness", Some("60")),
        setting("vm.dirty_ratio", None),
        setting("fs.file-max", Some("9")),
    ];
    let server_setting = |name: &str, value: Option<&str>, unit: Option<&str>| ServerSetting {
        name: name.into(),
        value: value.map(str::to_owned),
        unit: unit.map(str::to_owned),
        default: value.map(str::to_owned),
        source: "configuration file".into(),
        is_changed: true,
        ..ServerSetting::default()
    };
    survey.servers = vec![SurveyedServer {
        engine: "postgres".into(),
        address: "host=here port=5432".into(),
        version: "PostgreSQL 17.2".into(),
        is_local: true,
        settings: vec![
            server_setting("shared_buffers", Some("16384"), Some("8kB")),
            server_setting("primary_conninfo", None, None),
            server_setting("wal_buffers", Some("-1"), Some("8kB")),
            server_setting("max_parallel_workers_per_gather", Some("4"), None),
        ],
        databases: vec![Database { name: "shop".into(), bytes: None }],
        ..SurveyedServer::default()
    }];
    survey
}

fn advice(survey: &Survey) -> Vec<Advice> {
    let of_server = |server| (inspection::postgres::survey::SURVEY.advice)(server, survey);
    survey::advice(survey, survey.servers.iter().flat_map(of_server).collect())
}

fn text(survey: &Survey) -> String {
    terminal(&survey::page(survey, &advice(survey)), 100, Style::Plain)
}

#[test]
fn a_page_says_what_is_known_and_what_is_not() {
    let page = text(&machine("db1"));
    let expected = [
        "db1 on 2023-11-14 22:13 UTC",
        "Topology: 32 logical CPUs on 16 cores in 2 sockets; SMT on",
        "Caches: L3 2 x 30.0 MiB",
        "CPU model: unknown",
        "vm.swappiness = 60 (preference for swapping program memory",
        "recommended: low (1 to 10) where there is swap",
        "Unreadable here: vm.dirty_ratio.",
        "PostgreSQL 17.2 at host=here port=5432",
        "text, not recorded",
        "shop size not permitted",
        "128 MiB",
    ];
    for part in expected {
        assert!(page.contains(part), "{part}\n{page}");
    }
    assert!(page.contains("0-7") && page.contains("10 21"), "both nodes: {page}");
    assert!(!page.contains("-1 8kB"), "-1 has no unit: {page}");
    // Nothing is known of an empty inventory, and nothing fails.
    let nothing = text(&Survey::default());
    assert!(nothing.contains("Memory: unknown") && nothing.contains("No findings"), "{nothing}");
}

#[test]
fn advice_comes_before_the_inventory_and_problems_of_servers_first() {
    let mut survey = machine("db1");
    survey.settings.push(setting("vm.zone_reclaim_mode", Some("1")));
    survey.servers[0].settings.push(ServerSetting {
        name: "fsync".into(),
        value: Some("off".into()),
        ..ServerSetting::default()
    });
    let page = text(&survey);
    let place = |part: &str| page.find(part).unwrap_or_else(|| panic!("{part}\n{page}"));
    let order = [
        "Advice",
        "Problem: PostgreSQL 17.2",
        "Problem: vm.zone_reclaim_mode",
        "Note: ",
        "The machine",
    ];
    assert!(order.map(place).is_sorted(), "{page}");
    assert!(
        place("The machine") < place("Topology: ") && page.matches("Advice").count() == 1,
        "{page}"
    );
}

#[test]
fn a_pipe_gets_whole_tables_and_a_terminal_what_fits() {
    let mut survey = machine("db1");
    let name = "a_setting_with_a_name_that_takes_much_room_on_every_terminal_".repeat(3);
    survey.settings.push(setting(&name, Some("9")));
    let document = survey::page(&survey, &advice(&survey));
    let piped = terminal(&document, 100, Style::Piped);
    assert!(piped.lines().any(|line| line.starts_with(&format!("{name}  9"))), "{piped}");
    assert!(!piped.contains('…') && !piped.contains("hidden"), "{piped}");
    let shown = terminal(&document, 100, Style::Plain);
    assert!(
        shown.lines().all(|line| line.chars().count() <= 100 || !line.contains("  9")),
        "{shown}"
    );
    assert_ne!(piped, shown);
}

#[test]
fn hostile_names_reach_no_terminal() {
    let evil = "x\u{1b}]0;owned\u{7}\u{202e}\n| y";
    let mut survey = machine(evil);
    survey.machine.kernel = Some(evil.into());
    survey.machine.processors.model = Some(evil.into());
    survey.machine.nodes[0].cpus = evil.into();
    survey.settings.push(setting("clocksource.current", Some(evil)));
    survey.settings.push(setting(evil, Some(evil)));
    survey.volumes.push(VolumeFacts { path: evil.into(), ..VolumeFacts::default() });
    survey.unread.push(Unread { what: evil.into(), why: evil.into() });
    let server = &mut survey.servers[0];
    server.version = evil.into();
    server.address = evil.into();
    server.databases[0].name = evil.into();
    server.settings[0].value = Some(evil.into());
    server.settings[1].source = evil.into();
    let merged = survey::merged(&merge(&[survey.clone(), machine("b"), machine("c")]));
    let pages = [text(&survey), terminal(&merged, 100, Style::Plain), report::markdown(&merged)];
    for page in pages {
        assert!(
            page.chars().all(|sign| sign == '\n' || !(sign.is_control() || sign == '\u{202e}')),
            "{page:?}"
        );
        assert!(page.contains("\\u{1b}"), "{page}");
    }
}

#[test]
fn a_file_is_read_as_it_was_written() {
    let mut survey = machine("db1");
    survey.machine.limits.locked_bytes = Some(u64::MAX);
    survey.unread.push(Unread { what: "x".into(), why: "y".into() });
    let written = survey_json(&survey, &advice(&survey)).unwrap();
    assert_eq!((&written["schema"], &written["kind"]), (&"steelbench/1".into(), &"survey".into()));
    assert_eq!(written["machine"]["processors"]["cores"], 16);
    assert_eq!(written["settings"][1]["value"], serde_json::Value::Null, "not 0");
    assert_eq!(parse_survey(&written.to_string()).unwrap(), survey);

    let mut newer = written.clone();
    newer["machine"]["quantum"] = true.into();
    newer["new"] = 1.into();
    newer["machine"].as_object_mut().unwrap().remove("limits");
    assert!(
        parse_survey(&newer.to_string()).is_ok(),
        "unknown fields are ignored, missing ones are not known"
    );
}

#[test]
fn what_is_no_inventory_says_so() {
    let cases = [
        ("", "not an inventory"),
        ("{", "not an inventory"),
        ("[]", "not an inventory"),
        ("null", "not an inventory"),
        ("{}", "something else"),
        (r#"{"schema":"steelbench/1","kind":"summary"}"#, "of kind \"summary\""),
        (r#"{"schema":"steelbench/2","kind":"survey"}"#, "schema \"steelbench/2\""),
        (
            r#"{"schema":"steelbench/1","kind":"survey","machine":{"memory":{"total_bytes":-1}}}"#,
            "-1",
        ),
        (r#"{"schema":"steelbench/1","kind":"survey","settings":7}"#, "7"),
    ];
    for (text, part) in cases {
        let message = parse_survey(text).unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    }
    let deep = "[".repeat(100_000);
    assert!(parse_survey(&deep).is_err(), "no stack is used up");
}

#[test]
fn forty_machines_have_a_row_each_and_charts_that_add_up() {
    let mut all: Vec<Survey> = (0..40).map(|number| machine(&format!("db{number}"))).collect();
    for (number, survey) in all.iter_mut().enumerate() {
        survey.settings[0].value = Some(if number < 2 { "60" } else { "1" }.into());
        survey.machine.processors.cores = Some(if number % 2 == 0 { 16 } else { 48 });
        survey.servers[0].settings[3].value = Some((number % 4 * 2).to_string());
    }
    let merged = merge(&all);
    let document = survey::merged(&merged);
    let blocks = || document.sections.iter().flat_map(|section| &section.blocks);
    let charts: Vec<_> = blocks()
        .filter_map(|block| if let Block::Chart(chart) = block { Some(chart) } else { None })
        .collect();
    let sums: Vec<f64> = charts
        .iter()
        .map(|chart| chart.groups.iter().flat_map(|group| &group.bars).map(|bar| bar.value).sum())
        .collect();
    assert_eq!(sums, [40.0, 40.0], "machines by cores, servers by parallelism");
    assert!(charts.iter().all(|chart| chart.kind == ChartKind::Bars));
    let labels: Vec<&str> = charts[1].groups.iter().map(|group| group.label.as_str()).collect();
    assert_eq!(labels, ["16 cores, 2 NUMA nodes", "48 cores, 2 NUMA nodes"]);
    assert_eq!(charts[1].groups[0].bars[0].label.as_str(), "0 (not parallel)");

    let page = terminal(&document, 100, Style::Plain);
    assert!(page.starts_with("40 machines, 40 servers"), "{page}");
    assert!(page.contains("2 of 40 have vm.swappiness 60; 38 have 1."), "{page}");
    assert!(page.contains("db0, db1"), "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 100), "{page}");
    assert_eq!(report::markdown(&document).matches("PostgreSQL 17.2").count(), 40);

    anonymous(&mut all);
    let page = terminal(&survey::merged(&merge(&all)), 100, Style::Plain);
    assert!(page.contains("machine 40") && !page.contains("db1"), "{page}");
    let json = json::object("survey_merge", &merged, serde_json::Value::Null).unwrap();
    assert_eq!(
        (&json["kind"], json["machines"].as_array().unwrap().len()),
        (&"survey_merge".into(), 40)
    );
}
