//! A recording with something in every field, of any size, the same each time.

use observations::{
    AdaptiveRepeats, ConfigurationRecord, DeviceUse, EngineVersion, Environment, Fact,
    FactorRecord, FailureKind, FileRecord, Frame, GitState, Histogram, HookOutput, Latency,
    LevelRecord, LoadHealth, MachineLoad, Observations, Operation, Profile, QueryPlan, Recording,
    Response, Role, RunRecord, ScriptStatement, Series, Stack, TimeUse, TrialRecord, TrialStatus,
    Value, VolumeEnvironment, Wait, WaitClass, WaitSource, WaitedResource, Warning, WarningKind,
    Work,
};

/// A plan with two factors and three configurations, without trials.
pub fn plan() -> Recording {
    let levels = ["1", "4", "16"];
    Recording {
        run: RunRecord {
            id: 1,
            name: "random-insert".into(),
            question: Some("How many data files? — Größe, 大きさ".into()),
            source: "[experiment]\nname = \"random-insert\"\n".into(),
            seed: u64::MAX,
            response: Some("throughput".into()),
            baseline: Some(2),
            equivalence_margin: 0.02,
            adaptive: Some(AdaptiveRepeats { min: 3, max: 20, until: 0.02 }),
            started_ms: 1_700_000_000_123,
            steelbench: "0.1.0".into(),
            label: Some("after \"patch\"".into()),
            git: Some(GitState {
                commit: "0123456789abcdef".repeat(3)[..40].into(),
                changed: Some(true),
            }),
        },
        environments: vec![environment()],
        factors: vec![
            FactorRecord {
                name: "target.data_files".into(),
                levels: levels.map(String::from).to_vec(),
                numeric: Some(vec![1.0, 4.0, 16.0]),
                hard_to_change: false,
            },
            FactorRecord {
                name: "layout".into(),
                levels: vec!["data + \"log\", apart".into()],
                numeric: None,
                hard_to_change: true,
            },
        ],
        configurations: levels
            .map(|level| ConfigurationRecord {
                key: format!("key-{level}"),
                label: format!("data_files={level} layout=data + \"log\", apart"),
                levels: vec![
                    LevelRecord { factor: "target.data_files".into(), level: level.into() },
                    LevelRecord { factor: "layout".into(), level: "data + \"log\", apart".into() },
                ],
                settings: [
                    ("target.data_files".into(), Value::from_json(level).unwrap()),
                    ("workload.key".into(), Value::Text("random".into())),
                ]
                .into(),
            })
            .to_vec(),
        roles: [("target.data_files", Role::Layout), ("workload.key", Role::Operation)]
            .into_iter()
            .collect(),
        files: vec![FileRecord {
            named_by: "workload.script".into(),
            path: "scripts/größe.sql".into(),
            sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad".into(),
            content: "SELECT 1;\n\tSELECT 'ü';".into(),
        }],
        trials: Vec::new(),
        checks: Vec::new(),
    }
}

fn environment() -> Environment {
    Environment {
        host: Some("bench".into()),
        cpus: 8,
        memory_bytes: Some(u64::MAX),
        volumes: vec![VolumeEnvironment {
            name: "ssd".into(),
            rotational: Some(false),
            ..VolumeEnvironment::default()
        }],
        engines: [(
            "sqlite".to_owned(),
            EngineVersion { version: "3.50.4".into(), options: vec!["A=1".into()] },
        )]
        .into(),
        steelbench: "0.1.0".into(),
        ..Environment::default()
    }
}

/// Trial `i` (from 0) of the plan: every ninth failed having seen nothing, every tenth failed
/// midway.
pub fn trial(i: usize) -> TrialRecord {
    let cause = "disk I/O error: \"no space\",\nreally".to_owned();
    let status = if i % 9 == 8 || i % 10 == 9 {
        TrialStatus::Failed { cause, kind: FailureKind::Error }
    } else {
        TrialStatus::Done
    };
    TrialRecord {
        configuration: i % 3,
        block: (i / 3 + 1) as u32,
        setup: (i / 6 + 1) as u32,
        sequence: i as u32 + 1,
        attempt: 1 + (i % 2) as u32,
        started_ms: 1_700_000_000_000 + i as i64,
        wall_s: 5.0 + i as f64 / 7.0,
        status,
        observations: (i % 9 != 8).then(|| observations(i)),
        hooks: vec![HookOutput {
            hook: "before_trial".into(),
            command: "sync; echo 3".into(),
            exit_code: if i.is_multiple_of(2) { Some(-1) } else { None },
            elapsed_s: 0.1 + 0.2,
            output: "line\n\u{1b}[31mred\0\n".into(),
        }],
        machine: Some("db-1".into()),
    }
}

fn query_plan(i: usize) -> QueryPlan {
    let plan = QueryPlan::new("scan", format!("SCAN t {i}")).estimated(Some(i as f64), None);
    plan.analyzed(i.is_multiple_of(2).then(|| "took 3 ms".into()))
}

#[expect(clippy::too_many_lines, reason = "one list of steps, wrapped at 100 columns")]
fn observations(i: usize) -> Observations {
    let x = 1.0 + i as f64 / 3.0;
    let mut histogram = Histogram::default();
    (0..320).for_each(|n| histogram.record(1_000_000 + n * n * 1_000 + i as u64));
    Observations {
        timeout_s: (i % 10 == 9).then_some(4.5),
        elapsed_s: x,
        connections: 16,
        work: Work {
            unit: "row".into(),
            amount: i64::MAX as u64,
            transactions: 320,
            errors: 2,
            retries: 7,
        },
        responses: (0..10)
            .map(|n: usize| match n % 2 {
                _ if n == 8 => Response::percentile("latency_p95", "ms", 1e6, &histogram, 95.0),
                0 => Response::lower(&format!("time_{n}"), "s", x / 9.0),
                _ => Response::higher(&format!("rate_{n}"), "rows/s", x * 1e9).in_steps_of(x / 7.0),
            })
            .collect(),
        facts: vec![Fact { name: "sockets".into(), unit: String::new(), value: x }],
        plans: vec![query_plan(i)],
        latencies: ["transaction", "service"]
            .map(|name| Latency { name: name.into(), histogram: histogram.clone() })
            .to_vec(),
        statements: (0..3).map(|n| statement(n, x)).collect(),
        waits: waits(x),
        resources: vec![WaitedResource {
            wait_type: "WAIT_4".into(),
            class: WaitClass::Latch,
            resource: format!("5:1:{}", 8088 * i),
            kind: i.is_multiple_of(2).then(|| "PFS page".into()),
            remedy: i.is_multiple_of(2).then(|| "more data files".into()),
            samples: 26 + i as u64,
            sessions_max: 13,
        }],
        time: TimeUse {
            session_s: 16.0 * x,
            cpu_s: x,
            cpu_user_s: i.is_multiple_of(2).then_some(x / 3.0),
            sampled_running_s: Some(x / 5.0),
        },
        operations: (0..15)
            .map(|n: u64| Operation {
                name: format!("OPERATION_{n}"),
                count: n,
                bytes: i64::MAX as u64 - n,
                wall_s: x / 11.0,
            })
            .collect(),
        series: vec![Series {
            name: "throughput".into(),
            unit: "rows/s".into(),
            start_s: -2.0,
            interval_s: 1.0,
            values: (0..8).map(|n| f64::from(n) * x / 3.0).collect(),
        }],
        load: LoadHealth {
            client_share: 0.013,
            run_delay_share: 1.0 / 3.0,
            sends_intended: 320,
            sends_missed: 1,
            sends_late: Some(17),
            schedule_s: Some(9.5),
            free_until_s: Some(9.25),
            send_delay_us_max: 12_345,
        },
        machine: MachineLoad { cpus: 8, busy_s: x, own_s: x / 1.1, steal_s: 1e-300, iowait_s: 0.0 },
        devices: ["vda", "loop3"].map(|name| device(name, x)).to_vec(),
        profile: i.is_multiple_of(3).then(|| profile(x)),
        warnings: warnings(x),
        synthetic: i.is_multiple_of(2),
    }
}

fn warnings(x: f64) -> Vec<Warning> {
    let kinds = [
        WarningKind::LoadLimited,
        WarningKind::OtherLoad,
        WarningKind::Steal,
        WarningKind::CacheState,
        WarningKind::Short,
        WarningKind::Unaccounted,
        WarningKind::NotObserved,
        WarningKind::IoErrors,
        WarningKind::NotSteady,
        WarningKind::DeviceDisagrees,
        WarningKind::OtherPlan,
        WarningKind::Fallback,
    ];
    kinds.map(|kind| Warning { kind, detail: format!("{x} of 16") }).to_vec()
}

fn statement(n: u64, x: f64) -> ScriptStatement {
    ScriptStatement {
        script: "scripts/größe.sql".into(),
        text: format!("SELECT {n},\n\t'ü';"),
        count: (1 << 53) + n,
        wall_s: x / 13.0,
        wall_s_max: x / 17.0,
        failures: n,
        retries: n + 1,
    }
}

fn waits(x: f64) -> Vec<Wait> {
    let classes = WaitClass::ALL.into_iter().cycle();
    classes
        .take(15)
        .enumerate()
        .map(|(n, class)| Wait {
            wait_type: format!("WAIT_{n}"),
            class,
            count: (n != 3).then_some((1 << 53) + 1 + n as u64),
            resource_s: x / (n + 1) as f64,
            signal_s: x / 1e6,
            source: match n {
                4 => WaitSource::Sampled { hz: 99.7, samples: Some(12), error_s: Some(x / 7.0) },
                5 => WaitSource::Server { counter: "pg_stat_wal".into(), error_s: None },
                _ => WaitSource::Counted,
            },
        })
        .collect()
}

fn profile(x: f64) -> Profile {
    let frame =
        |function: &str, module, kernel| Frame { function: function.into(), module, kernel };
    Profile {
        target: "pid 7 (a \"b\")".into(),
        elapsed_s: x,
        hz: 99.0,
        threads: 16,
        lost: 3,
        profiler_cpu_s: x / 1e3,
        modules: vec!["/bin/a".into(), "[kernel]".into()],
        frames: vec![
            frame("main", 0, false),
            frame("step, \"two\"", 0, false),
            frame("vfs_read", 1, true),
        ],
        stacks: vec![
            Stack { frames: vec![0, 1, 1, 2], samples: 40 },
            Stack { frames: vec![0, 1], samples: 20 },
            Stack { frames: vec![0], samples: 4 },
        ],
        missing: vec!["Something.".into()],
    }
}

fn device(name: &str, x: f64) -> DeviceUse {
    DeviceUse {
        volume: "data, log".into(),
        device: name.into(),
        reads: 1_000,
        read_bytes: 8_192_000,
        read_s: x / 3.0,
        writes: 4_000,
        write_bytes: i64::MAX as u64,
        write_s: x * 2.0,
        flushes: 7,
        flush_s: x / 1e3,
        busy_s: x * 0.9,
        queue_s: x * 31.7,
        elapsed_s: x,
    }
}

/// The plan with `trials` trials.
pub fn recording(trials: usize) -> Recording {
    Recording { trials: (0..trials).map(trial).collect(), ..plan() }
}
