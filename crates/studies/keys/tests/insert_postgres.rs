//! The insert probe on real servers: what it reports is what is in the tables.

use testing::installed as servers;

use engine::{EngineError, Folders, Host};
use experiment::{Configuration, Value};
use keys::insert::Insert;
use observations::Observations;
use postgres::POSTGRES;
use postgres::client::Client;
use postgres::server::Installation;
use probe::{Probe as _, ProbeError, Target, TrialContext};
use std::path::Path;
use std::process::Command;
use work::Cancel;

fn text(text: &str) -> Value {
    Value::Text(text.into())
}

fn configuration(installation: &Installation, workload: &[(&str, Value)]) -> Configuration {
    let mut settings: std::collections::BTreeMap<String, Value> = [
        ("target.bindir", text(installation.bindir.to_str().unwrap())),
        ("target.version", text(&installation.version.to_string())),
        ("target.settings.fsync", Value::Bool(false)),
        ("workload.connections", Value::Integer(4)),
        ("workload.rows", Value::Integer(2000)),
        ("workload.rows_per_transaction", Value::Integer(50)),
    ]
    .map(|(path, value)| (path.into(), value))
    .into();
    settings.extend(workload.iter().map(|(path, value)| ((*path).to_owned(), value.clone())));
    Configuration { settings, ..Configuration::default() }
}

/// Runs a trial and lets a check look at the server before what the trial made is removed.
fn measured(
    host: &mut dyn Host,
    configuration: &Configuration,
    check: impl FnOnce(Result<Observations, ProbeError>),
) {
    let cancel = Cancel::new();
    assert_eq!(
        (
            Insert.plan(configuration, &Target::for_engine(&POSTGRES, configuration)),
            (POSTGRES.validate)(
                configuration,
                Insert.connections(configuration),
                &Insert.tables(configuration)
            )
        ),
        (Vec::new(), Vec::new())
    );
    let instance = host.prepare(configuration, Insert.connections(configuration), &cancel).unwrap();
    check(Insert.run(&TrialContext {
        disturbances: &[],
        generation: probe::generation::Generation::Here,
        storage: &[],
        configuration,
        instance: instance.as_ref(),
        target: Target::for_engine(&POSTGRES, configuration),
        seed: 42,
        cancel: &cancel,
        progress: &|_| {},
    }));
    instance.remove().unwrap();
}

/// A host whose place is this folder, with volumes in folders of their names.
fn host(folder: &Path, volumes: &[&str]) -> Box<dyn Host> {
    let volumes = volumes.iter().map(|name| ((*name).to_owned(), folder.join(name))).collect();
    (POSTGRES.host)(Folders {
        directory: folder.into(),
        volumes,
        permits: engine::Permits::default(),
        cgroup_joins: Vec::new(),
    })
}

/// The first row of an answer, columns joined by a space.
fn row(client: &mut Client, sql: &str) -> String {
    let rows = client.query(sql, &[]).unwrap();
    let row = rows.first().unwrap();
    (0..).map_while(|column| row.get(column)).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_reported_row_is_in_the_table_whatever_the_method_files_shape_and_order() {
    for installation in servers::installations() {
        let folder = servers::folder();
        let mut host = host(folder.path(), &[]);
        let mut cases = Vec::new();
        for method in ["statements", "pipelined", "copy", "procedure"] {
            for (files, shape, order, initial) in [
                (1, "mybigtable", "random", 0),
                (1, "mybigtable", "sequential", 300),
                (4, "mybigtable", "random", 300),
                (4, "mybigtable", "sequential", 0),
                (1, "one-row-per-page", "random", 300),
                (4, "one-row-per-page", "sequential", 300),
            ] {
                cases.push((method, files, shape, order, initial));
            }
        }
        for (method, files, shape, order, initial) in cases {
            let case = configuration(
                &installation,
                &[
                    ("workload.method", text(method)),
                    ("target.data_files", Value::Integer(files)),
                    ("workload.shape", text(shape)),
                    ("workload.key", text(order)),
                    ("workload.initial_rows", Value::Integer(initial)),
                ],
            );
            let name = format!("{} {method} {files} {shape} {order}", installation.version);
            measured(host.as_mut(), &case, |observations| {
                let work = observations.unwrap().work;
                assert_eq!((work.amount, work.transactions), (2000, 40), "{name}");
                assert_eq!(
                    (work.errors, work.retries, work.unit.as_str()),
                    (0, 0, "row"),
                    "{name}"
                );
                let (_, config) = servers::private(folder.path()).unwrap();
                check_table(
                    &mut Client::connect(&config).unwrap(),
                    shape,
                    order,
                    method,
                    files,
                    initial,
                    &name,
                );
            });
        }
        let (pid, config) = servers::private(folder.path()).unwrap();
        let mut client = Client::connect(&config).unwrap();
        assert_eq!(
            row(&mut client, "SELECT count(*) FROM pg_namespace WHERE nspname = 'steelbench'"),
            "0"
        );
        drop((client, host));
        assert!(!servers::is_alive(pid));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "files remain");
    }
}

/// Rows, files, keys, pages and transactions are those that were asked for.
fn check_table(
    client: &mut Client,
    shape: &str,
    order: &str,
    method: &str,
    files: i64,
    initial: i64,
    name: &str,
) {
    let table = if shape == "mybigtable" { "mybigtable" } else { "onerowperpage" };
    client.batch("SET search_path = steelbench").unwrap();
    let rows =
        format!("SELECT count(*), count(DISTINCT c1), count(DISTINCT tableoid) FROM {table}");
    let all = 2000 + initial;
    assert_eq!(row(client, &rows), format!("{all} {all} {files}"), "{name}");
    // Another transaction has the initial rows.
    let of_50 = format!(
        "SELECT count(*) FROM (SELECT xmin FROM {table} GROUP BY xmin HAVING count(*) = 50) \
         transactions"
    );
    assert_eq!(row(client, &of_50), "40", "{name}");
    let key = match shape {
        "mybigtable" => "('x' || right(replace(c1::text, '-', ''), 16))::bit(64)::bigint",
        _ => "c1",
    };
    let small =
        row(client, &format!("SELECT count(*) FROM {table} WHERE {key} BETWEEN 0 AND 10000"));
    assert_eq!(small, if order == "sequential" { all.to_string() } else { "0".into() }, "{name}");
    if order == "sequential" && method != "procedure" {
        let range = row(client, &format!("SELECT min({key}), max({key}) FROM {table}"));
        assert_eq!(range, format!("0 {}", all - 1), "{name}");
    } else if shape == "mybigtable" && order == "random" {
        let version_4 = row(
            client,
            &format!("SELECT count(*) FROM {table} WHERE substr(c1::text, 15, 1) = '4'"),
        );
        assert_eq!(version_4, all.to_string(), "{name}");
    }
    let pages = format!("SELECT count(DISTINCT (tableoid, (ctid::text::point)[0])) FROM {table}");
    let pages: i64 = row(client, &pages).parse().unwrap();
    if shape == "mybigtable" {
        // 160 bytes and a row's header on pages of 8 KiB, less than full at the end of each file.
        assert!(pages * 30 < all + 30 * files * 4, "{name}: {pages} pages");
    } else {
        assert_eq!(pages, all, "{name}");
    }
}

#[test]
fn data_files_go_round_robin_to_the_volumes_and_the_log_to_its_own() {
    for installation in servers::installations() {
        let folder = servers::folder();
        for volume in ["a", "b", "log"] {
            std::fs::create_dir(folder.path().join(volume)).unwrap();
        }
        let mut host = host(folder.path(), &["a", "b", "log"]);
        let volumes = Value::List(vec![text("a"), text("b")]);
        let placed = configuration(
            &installation,
            &[
                ("target.data_files", Value::Integer(5)),
                ("target.volume", volumes),
                ("target.log_volume", text("log")),
                ("target.final_checkpoint", Value::Bool(true)),
            ],
        );
        measured(host.as_mut(), &placed, |observations| {
            observations.unwrap();
            let (_, config) = servers::private(folder.path()).unwrap();
            let mut client = Client::connect(&config).unwrap();
            for file in 0..5 {
                // A table and its index: both in the tablespace, which is a folder on the volume.
                let place = row(
                    &mut client,
                    &format!(
                        "SELECT DISTINCT pg_tablespace_location(reltablespace) FROM pg_class
                         WHERE relname IN ('mybigtable_{file}', 'mybigtable_{file}_pkey')"
                    ),
                );
                let volume = folder.path().join(if file % 2 == 0 { "a" } else { "b" });
                assert_eq!(
                    Path::new(&place),
                    volume.canonicalize().unwrap().join(format!("data-{file}"))
                );
                let bytes = row(
                    &mut client,
                    &format!(
                        "SELECT pg_relation_filepath('steelbench.mybigtable_{file}'),
                                pg_relation_size('steelbench.mybigtable_{file}')"
                    ),
                );
                let (path, bytes) = bytes.split_once(' ').unwrap();
                let found = std::fs::metadata(folder.path().join("data").join(path)).unwrap();
                assert_eq!((found.len().to_string().as_str(), found.len() > 0), (bytes, true));
            }
            // The checkpoint at the end leaves nothing to recover of the hundreds of kB that were
            // logged.
            let left = "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn) < 50000 FROM \
                        pg_control_checkpoint()";
            assert_eq!(row(&mut client, left), "t");
            let wal = row(&mut client, "SELECT pg_walfile_name(pg_current_wal_lsn())");
            assert!(folder.path().join("log/pg_wal").join(wal).is_file());
        });
        for volume in ["a", "b"] {
            assert_eq!(
                std::fs::read_dir(folder.path().join(volume)).unwrap().count(),
                0,
                "{volume}"
            );
        }
        drop(host);
        assert_eq!(std::fs::read_dir(folder.path().join("log")).unwrap().count(), 0);
    }
}

/// A small file system in memory; unmounted when dropped.
struct SmallDisk<'a>(&'a Path);

impl<'a> SmallDisk<'a> {
    /// `None`, with a word about it, where we may not mount.
    #[allow(clippy::print_stdout, reason = "a test speaks on its standard output")]
    fn mount(path: &'a Path, megabytes: u32) -> Option<Self> {
        std::fs::create_dir(path).unwrap();
        let size = format!("size={megabytes}m,mode=755");
        let output = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "none"])
            .arg(path)
            .output()
            .unwrap();
        if !output.status.success() {
            println!(
                "SKIPPED: mounting a small disk: {}",
                String::from_utf8_lossy(&output.stderr).trim()
            );
            return None;
        }
        Some(Self(path))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_is_told_and_leaves_the_server_in_order() {
    for installation in servers::installations() {
        let folder = servers::folder();
        let path = folder.path().join("small");
        let Some(_disk) = SmallDisk::mount(&path, 8) else { return };
        let mut host = host(folder.path(), &["small"]);
        let many = [
            ("target.volume", text("small")),
            ("workload.rows", Value::Integer(200_000)),
            ("workload.method", text("copy")),
        ];
        measured(host.as_mut(), &configuration(&installation, &many), |observations| {
            let error = observations.unwrap_err();
            assert!(matches!(error, ProbeError::Engine(EngineError::DiskFull { .. })), "{error}");
            let text = error.to_string();
            assert!(
                text.contains("No space left on device") && text.contains("the disk is full"),
                "{text}"
            );
        });
        let few = [("target.volume", text("small")), ("workload.rows", Value::Integer(2000))];
        measured(host.as_mut(), &configuration(&installation, &few), |observations| {
            assert_eq!(observations.unwrap().work.amount, 2000);
        });
    }
}
