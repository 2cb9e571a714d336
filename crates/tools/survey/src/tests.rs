use crate::meanings::meaning;
use crate::merge::{Merged, OddOne, anonymous, merge};
use observations::{
    Advice, Database, NumaNode, ServerSetting, Survey, SurveyedServer, SystemSetting, Weight,
};

const GIB: u64 = 1 << 30;

fn set(survey: &mut Survey, name: &str, value: &str) {
    survey.settings.retain(|setting| setting.name != name);
    survey.settings.push(SystemSetting { name: name.into(), value: Some(value.into()) });
}

/// A machine without findings.
fn machine(host: &str, cores: u32, nodes: u32, gib: u64) -> Survey {
    let mut survey = Survey::default();
    let machine = &mut survey.machine;
    machine.host = Some(host.into());
    (machine.processors.cores, machine.processors.logical) = (Some(cores), Some(cores));
    machine.processors.sockets = Some(nodes);
    machine.nodes = (0..nodes).map(|node| NumaNode { node, ..NumaNode::default() }).collect();
    machine.memory.total_bytes = Some(gib * GIB);
    machine.memory.available_bytes = Some(gib * GIB);
    machine.memory.swap_bytes = Some(GIB);
    machine.clock_synchronized = Some(true);
    let calm = [
        ("vm.swappiness", "1"),
        ("vm.dirty_background_bytes", "268435456"),
        ("vm.overcommit_memory", "2"),
    ];
    for (name, value) in calm {
        set(&mut survey, name, value);
    }
    survey
}

fn server_setting(name: &str, value: &str, unit: Option<&str>) -> ServerSetting {
    ServerSetting {
        name: name.into(),
        value: Some(value.into()),
        unit: unit.map(str::to_owned),
        source: "default".into(),
        ..ServerSetting::default()
    }
}

/// A local server of 16 GiB of shared buffers with nothing to be said on a machine of 64.
fn server(per_gather: &str) -> SurveyedServer {
    let settings = [
        ("shared_buffers", "2097152", Some("8kB")),
        ("effective_cache_size", "6291456", Some("8kB")),
        ("work_mem", "4096", Some("kB")),
        ("max_connections", "100", None),
        ("max_worker_processes", "64", None),
        ("max_parallel_workers", "64", None),
        ("max_parallel_workers_per_gather", per_gather, None),
        ("fsync", "on", None),
        ("full_page_writes", "on", None),
        ("track_io_timing", "on", None),
    ];
    SurveyedServer {
        engine: "postgres".into(),
        address: "host=db port=5432".into(),
        version: "PostgreSQL 17.2".into(),
        is_local: true,
        huge_pages_used: Some(true),
        settings: settings.map(|(name, value, unit)| server_setting(name, value, unit)).into(),
        ..SurveyedServer::default()
    }
}

fn change(server: &mut SurveyedServer, name: &str, value: &str) {
    let setting = server.settings.iter_mut().find(|setting| setting.name == name).unwrap();
    setting.value = Some(value.into());
}

/// Returns the findings with the advice of the servers' engines.
fn advice(survey: &Survey) -> Vec<Advice> {
    let of_server = |server| (inspection::postgres::survey::SURVEY.advice)(server, survey);
    crate::advice(survey, survey.servers.iter().flat_map(of_server).collect())
}

fn rules(survey: &Survey) -> Vec<&'static str> {
    advice(survey).iter().map(|advice| advice.rule).collect()
}

#[test]
fn a_calm_machine_and_one_that_tells_nothing_get_no_advice() {
    let mut survey = machine("calm", 32, 2, 64);
    survey.servers.push(server("2"));
    assert_eq!(rules(&survey), [""; 0]);
    assert_eq!(rules(&Survey::default()), [""; 0]);
    let untold = Survey { servers: vec![SurveyedServer::default()], ..Survey::default() };
    assert_eq!(rules(&untold), [""; 0]);
}

#[test]
fn each_rule_of_the_machine_finds_what_it_looks_for_and_only_then() {
    let with = |changes: &[(&str, &str)]| {
        let mut survey = machine("m", 32, 2, 64);
        for (name, value) in changes {
            set(&mut survey, name, value);
        }
        survey
    };
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("vm.swappiness", "60")], "swappiness"),
        (&[("vm.zone_reclaim_mode", "1")], "zone-reclaim"),
        (&[("kernel.numa_balancing", "1")], "numa-balancing"),
        (&[("clocksource.current", "hpet")], "clock-source"),
        (&[("cpufreq.governor", "powersave")], "governor"),
        (&[("cpufreq.governor", "performance (31), powersave (1)")], "governor"),
        (&[("fs.aio-nr", "65000"), ("fs.aio-max-nr", "65536")], "aio-limit"),
        (&[("transparent_hugepage.enabled", "always")], "transparent-huge-pages"),
        (
            &[
                ("transparent_hugepage.enabled", "madvise"),
                ("transparent_hugepage.defrag", "always"),
            ],
            "huge-page-defrag",
        ),
        // 10 % of 64 GiB.
        (
            &[("vm.dirty_background_bytes", "0"), ("vm.dirty_background_ratio", "10")],
            "unwritten-data",
        ),
    ];
    for (changes, rule) in cases {
        assert_eq!(rules(&with(changes)), [*rule], "{changes:?}");
    }
    let fine: &[&[(&str, &str)]] = &[
        &[("vm.swappiness", "10")],
        &[("vm.zone_reclaim_mode", "0"), ("kernel.numa_balancing", "0")],
        &[("clocksource.current", "tsc")],
        &[("cpufreq.governor", "performance")],
        &[("fs.aio-nr", "0"), ("fs.aio-max-nr", "0")],
        &[("transparent_hugepage.enabled", "never"), ("transparent_hugepage.defrag", "always")],
        &[("vm.dirty_background_bytes", "0"), ("vm.dirty_background_ratio", "1")],
        &[("vm.swappiness", "\u{1b}[31m"), ("vm.zone_reclaim_mode", "-1"), ("fs.aio-nr", "NaN")],
    ];
    for changes in fine {
        assert_eq!(rules(&with(changes)), [""; 0], "{changes:?}");
    }

    // Without swap the swappiness has no effect; with one node there is no zone reclaim.
    let mut small = machine("small", 4, 1, 8);
    small.machine.memory.swap_bytes = Some(0);
    for name in ["vm.swappiness", "vm.zone_reclaim_mode", "kernel.numa_balancing"] {
        set(&mut small, name, "60");
    }
    assert_eq!(rules(&small), [""; 0]);
    small.machine.limits.memory_bytes = Some(GIB);
    small.machine.limits.cpus = Some(1.5);
    small.machine.steal_share = Some(0.2);
    small.machine.clock_synchronized = Some(false);
    assert_eq!(
        rules(&small),
        ["memory-limit", "processor-limit", "stolen-time", "clock-synchronized"]
    );
}

#[test]
fn each_rule_of_servers_finds_what_it_looks_for() {
    let cases: &[(&[(&str, &str)], &str)] = &[
        (&[("fsync", "off")], "postgres-fsync"),
        (&[("full_page_writes", "off")], "postgres-full-page-writes"),
        (&[("max_parallel_workers_per_gather", "65")], "postgres-parallel-limit"),
        (&[("max_worker_processes", "8")], "postgres-parallel-limit"),
        (&[("shared_buffers", "16384")], "postgres-shared-buffers-small"),
        (&[("shared_buffers", "4194304")], "postgres-shared-buffers-large"),
        (&[("effective_cache_size", "16777216")], "postgres-cache-size"),
        (&[("work_mem", "1048576")], "postgres-session-memory"),
        (&[("max_parallel_workers", "8")], "postgres-workers"),
        (&[("track_io_timing", "off")], "postgres-io-timing"),
    ];
    for (changes, rule) in cases {
        let mut survey = machine("m", 32, 2, 64);
        survey.servers.push(server("2"));
        for (name, value) in *changes {
            change(&mut survey.servers[0], name, value);
        }
        assert_eq!(rules(&survey), [*rule], "{changes:?}");
        // What is about the machine is not said of a server elsewhere.
        survey.servers[0].is_local = false;
        let stays = ["fsync", "full-page", "parallel-limit", "io-timing"]
            .iter()
            .any(|part| rule.contains(part));
        assert_eq!(rules(&survey).len(), usize::from(stays), "{changes:?}");
    }
    let mut survey = machine("m", 32, 2, 64);
    survey.servers.push(server("2"));
    set(&mut survey, "vm.overcommit_memory", "0");
    set(&mut survey, "transparent_hugepage.enabled", "always");
    survey.servers[0].huge_pages_used = Some(false);
    change(&mut survey.servers[0], "max_connections", "500");
    survey.servers[0].settings[0].pending_restart = true;
    let found = advice(&survey);
    // 500 x 16 GiB / 512 = 15.6 GiB of page tables.
    assert!(
        found
            .iter()
            .any(|finding| finding.rule == "postgres-huge-pages"
                && finding.fact.contains("15.6 GiB")),
        "{found:?}"
    );
    assert_eq!(
        rules(&survey),
        [
            "postgres-pending-restart",
            "transparent-huge-pages",
            "postgres-huge-pages",
            "postgres-overcommit"
        ]
    );
    assert!(found.is_sorted_by_key(|finding| finding.weight) && found[0].weight == Weight::Problem);
    assert!(found[1].action.contains("this PostgreSQL server"));
    assert!(found.iter().all(|finding| !finding.reason.is_empty() && !finding.action.is_empty()));
}

/// 40 machines: 20 of 16 cores and 2 nodes, 20 of 64 cores and 4; two with another swappiness, one
/// with another kernel, a third of the servers set by hand.
fn forty() -> Vec<Survey> {
    (0..40)
        .rev()
        .map(|number: u32| {
            let (cores, nodes) = if number < 20 { (16, 2) } else { (64, 4) };
            let mut survey = machine(&format!("db{number}"), cores, nodes, 64);
            survey.machine.kernel =
                Some(if number == 7 { "Linux 5.10" } else { "Linux 6.1" }.into());
            set(&mut survey, "vm.swappiness", if [3, 30].contains(&number) { "60" } else { "1" });
            set(&mut survey, "fs.file-max", &number.to_string());
            let mut server = server(if number.is_multiple_of(3) { "8" } else { "2" });
            if number.is_multiple_of(3) {
                let setting = server
                    .settings
                    .iter_mut()
                    .find(|setting| setting.name == "max_parallel_workers_per_gather");
                setting.unwrap().is_changed = true;
            }
            server.databases.push(Database { name: format!("customers{number}"), bytes: Some(1) });
            server.is_local = number != 39;
            survey.servers.push(server);
            survey
        })
        .collect()
}

fn odd<'a>(merged: &'a Merged, what: &str) -> &'a OddOne {
    merged
        .odd
        .iter()
        .find(|entry| entry.what == what)
        .unwrap_or_else(|| panic!("{what}: {:?}", merged.odd))
}

#[test]
fn forty_machines_are_laid_side_by_side() {
    let merged = merge(&forty());
    let names: Vec<&str> = merged.machines.iter().map(|machine| machine.name.as_str()).collect();
    assert_eq!((names.len(), &names[..3], names[39]), (40, &["db0", "db1", "db2"][..], "db39"));
    assert_eq!(merged.machines[0].servers[0].shared_buffers_bytes, Some(16 * GIB));

    let parallelism = &merged.parallelism;
    assert_eq!((parallelism.servers, parallelism.unplaced, parallelism.at_default), (39, 1, 26));
    let groups: Vec<_> = parallelism
        .groups
        .iter()
        .map(|group| (group.cores, group.numa_nodes, group.values.clone()))
        .collect();
    // Of 0..20, seven are multiples of 3; of 20..39, six: 21, 24, 27, 30, 33, 36.
    assert_eq!(groups, [(16, 2, vec![(2, 13), (8, 7)]), (64, 4, vec![(2, 13), (8, 6)])]);

    let swappiness = odd(&merged, "vm.swappiness");
    assert_eq!((swappiness.of, swappiness.usual.as_str(), swappiness.usual_count), (40, "1", 38));
    assert_eq!(
        (swappiness.held.value.as_str(), &swappiness.held.holders[..]),
        ("60", &["db3".into(), "db30".into()][..])
    );
    assert_eq!(odd(&merged, "kernel").held.holders, ["db7"]);
    assert!(merged.odd.is_sorted_by_key(|entry| entry.held.holders.len()));
    let differing: Vec<&str> =
        merged.differences.iter().map(|difference| difference.what.as_str()).collect();
    let expected = [
        "NUMA nodes",
        "cores",
        "kernel",
        "postgres max_parallel_workers_per_gather",
        "sockets",
        "vm.swappiness",
    ];
    assert_eq!(
        differing, expected,
        "equal settings and settings of each machine do not count as differences"
    );
    let cores = &merged.differences[1];
    assert!(
        cores.of == 40 && cores.values.iter().all(|held| held.holders.len() == 20),
        "no odd machine: {cores:?}"
    );
}

#[test]
fn anonymous_machines_have_no_names_anywhere() {
    let mut surveys = forty();
    anonymous(&mut surveys);
    let text = format!("{surveys:?}") + &serde_json::to_string(&merge(&surveys)).unwrap();
    for name in ["db0", "db39", "host=db", "customers"] {
        assert!(!text.contains(name), "{name}");
    }
    assert_eq!(merge(&surveys).machines[39].name, "machine 40");
}

#[test]
fn few_machines_and_equal_names() {
    let mut two = [machine("same", 4, 1, 8), machine("same", 8, 1, 8)];
    let merged = merge(&two);
    assert_eq!(
        merged.machines.iter().map(|machine| machine.name.as_str()).collect::<Vec<_>>(),
        ["same", "same (2)"]
    );
    assert_eq!((merged.differences.len(), merged.odd.len()), (1, 0), "of two, none is odd");
    two[0].machine.host = None;
    two[0].servers.push(server("2"));
    assert_eq!(
        merge(&two).machines[0].name,
        "host=db port=5432",
        "as a capture of this server is named"
    );
    two[0].servers.clear();
    assert_eq!(merge(&two).machines[1].name, "unnamed");
    let three = [machine("a", 4, 1, 8), machine("b", 4, 1, 8), machine("c", 8, 1, 8)];
    assert_eq!(merge(&three).odd.len(), 1);
    assert_eq!(merge(&[]).machines.len(), 0);
}

#[test]
fn what_is_said_of_a_setting_is_said_once() {
    assert!(meaning("vm.swappiness").unwrap().advice.contains("low"));
    assert_eq!(meaning("vm.nonsense"), None);
}

#[test]
fn names_are_sorted_as_people_do_it() {
    let names =
        ["db10", "db2", "a", "db2-b", "db", "db99999999999999999999999999999999999999999", "7"];
    let merged = merge(&names.map(|name| machine(name, 4, 1, 8)));
    let sorted: Vec<&str> = merged.machines.iter().map(|machine| machine.name.as_str()).collect();
    assert_eq!(
        sorted,
        ["7", "a", "db", "db2", "db2-b", "db10", "db99999999999999999999999999999999999999999"]
    );
}
