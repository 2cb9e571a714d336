//! Private clusters on real servers, of every version that is installed.

use engine::EngineError;
use postgres::server::{
    DataOptions, Installation, PostgresProduct, PrivateServer, ServerOptions, Stop, checkpoint,
    drop_os_cache,
};
use servers::account::Account;
use servers::files::clone_folder;
use servers::private::find_or_make;
use std::fs::Permissions;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use testing::installed::{ask, folder, installations, is_alive, options, running, started};
use work::{Cancel, CancelReason};

#[test]
fn a_server_is_created_asked_and_removed() {
    for installation in installations() {
        let folder = folder();
        let mut cluster = running(options(&installation, folder.path()));
        let version = installation.version;
        assert_eq!(
            ask(&cluster, "SHOW server_version_num"),
            format!("{}", version.major * 10_000 + version.minor)
        );
        for (setting, expected) in [
            ("fsync", "on"),
            ("track_io_timing", "on"),
            ("track_wal_io_timing", "on"),
            ("cluster_name", "steelbench"),
            ("listen_addresses", ""),
            ("server_encoding", "UTF8"),
            ("max_connections", "100"),
        ] {
            assert_eq!(ask(&cluster, &format!("SHOW {setting}")), expected, "{setting}");
        }
        let pid = cluster.pid().unwrap();
        let owner = std::fs::metadata(format!("/proc/{pid}")).unwrap().uid();
        assert_ne!(owner, 0);
        let data = cluster.data_directory().metadata().unwrap();
        assert_eq!((data.uid(), data.mode() & 0o777), (owner, 0o700));
        assert_eq!(folder.path().join("socket").metadata().unwrap().mode() & 0o777, 0o700);
        assert!(cluster.log_tail(5).contains("ready to accept connections"));

        let before = started(&cluster);
        cluster.restart(false, &Cancel::new()).unwrap();
        assert_ne!(started(&cluster), before);
        assert!(!cluster.log_tail(50).contains("not properly shut down"));
        cluster.stop(Stop::Crash, &Cancel::new()).unwrap();
        assert!(!cluster.is_running());
        cluster.start(&Cancel::new()).unwrap();
        assert!(cluster.log_tail(50).contains("not properly shut down"));

        let pid = cluster.pid().unwrap();
        cluster.remove().unwrap();
        assert!(!is_alive(pid));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn there_is_room_for_the_connections_asked_for() {
    for installation in installations() {
        let folder = folder();
        let cluster = running({
            let mut options = options(&installation, folder.path());
            options.connections = 120;
            options
        });
        let clients: Vec<_> = (0..120).map(|_| cluster.connect().unwrap()).collect();
        assert_eq!(
            ask(
                &cluster,
                "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
            ),
            "121"
        );
        drop(clients);
    }
}

#[test]
fn the_log_can_be_on_another_volume() {
    for installation in installations() {
        let (folder, elsewhere) = (folder(), folder());
        let mut made = options(&installation, folder.path());
        made.log_directory = Some(elsewhere.path().into());
        made.product.data.wal_segment_mb = Some(4);
        let cluster = running(made);
        let link = cluster.data_directory().join("pg_wal");
        assert_eq!(
            std::fs::read_link(&link).unwrap(),
            elsewhere.path().canonicalize().unwrap().join("pg_wal")
        );
        assert_eq!(ask(&cluster, "SHOW wal_segment_size"), "4MB");
        let before = cluster.space_bytes();
        cluster
            .connect()
            .unwrap()
            .batch("CREATE TABLE t AS SELECT generate_series(1, 300000) AS n")
            .unwrap();
        let segments = std::fs::read_dir(elsewhere.path().join("pg_wal")).unwrap().flatten();
        assert!(segments.filter(|entry| entry.file_name().len() == 24).count() > 1);
        // The table has 10 MB, its log more.
        assert!(cluster.space_bytes() > before + (20 << 20));
        cluster.remove().unwrap();
        assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    }
}

#[test]
fn files_of_tablespaces_count_and_leave_the_page_cache() {
    for installation in installations() {
        let folder = tempfile::tempdir_in(".").unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let space = folder.path().join("space");
        std::fs::create_dir(&space).unwrap();
        let made = options(&installation, folder.path());
        made.account.chown(&space).unwrap();
        let cluster = match PrivateServer::create(made, &Cancel::new()) {
            Err(error) if error.to_string().contains("who has no access to") => {
                println!("SKIPPED: {error}");
                return;
            }
            cluster => cluster,
        };
        let mut cluster = cluster.unwrap();
        cluster.start(&Cancel::new()).unwrap();
        let place = space.canonicalize().unwrap();
        let mut client = cluster.connect().unwrap();
        client.batch(&format!("CREATE TABLESPACE s LOCATION '{}'", place.display())).unwrap();
        let before = cluster.space_bytes();
        client
            .batch("CREATE TABLE t TABLESPACE s AS SELECT generate_series(1, 300000) AS n")
            .unwrap();
        let rows = client.query("SELECT pg_relation_filepath('t')", &[]).unwrap();
        let name = rows.iter().next().unwrap().get(0).unwrap().to_owned();
        let path = cluster.data_directory().join(name).canonicalize().unwrap();
        assert!(path.starts_with(&place));
        let file = std::fs::File::open(path).unwrap();
        assert!(cluster.space_bytes() > before + (10 << 20));
        checkpoint(&cluster, &Cancel::new()).unwrap();
        observe::page_cache::load(&file).unwrap();
        assert!(observe::page_cache::resident_bytes(&file).unwrap() > 10 << 20);
        drop_os_cache(&cluster, &Cancel::new()).unwrap();
        let volume = ("here".to_owned(), place.clone());
        if observe::environment::capture(&[volume]).volumes[0].file_system.as_deref()
            == Some("tmpfs")
        {
            println!("SKIPPED: files on tmpfs cannot leave the page cache");
            continue;
        }
        assert_eq!(observe::page_cache::resident_bytes(&file).unwrap(), 0);
    }
}

#[test]
fn a_template_is_made_once() {
    for installation in installations() {
        let folder = folder();
        let account = Account::for_server(None, "postgres").unwrap();
        let cache = folder.path().join("cache");
        std::fs::create_dir(&cache).unwrap();
        account.chown(&cache).unwrap();
        let find = |data: &DataOptions| {
            let product =
                PostgresProduct { installation: installation.clone(), data: data.clone() };
            let options = ServerOptions { product, ..options(&installation, &cache) };
            find_or_make(&cache, &options, &Cancel::new()).unwrap()
        };
        // Two at once: one makes it, the other waits for it.
        let plain = DataOptions::default();
        let mut new = std::thread::scope(|scope| {
            let others: Vec<_> = (0..2).map(|_| scope.spawn(|| find(&plain).is_new)).collect();
            others.into_iter().map(|other| other.join().unwrap()).collect::<Vec<bool>>()
        });
        new.sort_unstable();
        assert_eq!(new, [false, true]);
        let template = find(&plain);
        assert!(!template.is_new);
        assert!(find(&DataOptions { checksums: Some(true), ..plain.clone() }).is_new);

        let copy = folder.path().join("copy");
        clone_folder(&template.data, &copy, &account).unwrap();
        assert!(matches!(
            clone_folder(&template.data, &copy, &account),
            Err(EngineError::File { .. })
        ));
        let control = |data: &Path| {
            let output =
                Command::new(installation.program("pg_controldata")).arg(data).output().unwrap();
            String::from_utf8(output.stdout).unwrap()
        };
        assert!(control(&copy).contains("shut down"), "{}", control(&copy));
        assert_eq!(copy.join("global/pg_control").metadata().unwrap().mode() & 0o777, 0o600);

        // An incomplete one is made again, unless it is being copied.
        drop(template);
        let made = std::fs::read_dir(&cache)
            .unwrap()
            .flatten()
            .map(|entry| entry.path().join(".steelbench-template"));
        made.filter(|marker| marker.exists())
            .for_each(|marker| std::fs::remove_file(marker).unwrap());
        assert!(find(&plain).is_new);
    }
}

#[test]
fn checksums_are_as_asked_for() {
    for installation in installations() {
        for (checksums, expected) in [(Some(true), "on"), (Some(false), "off")] {
            let folder = folder();
            let mut made = options(&installation, folder.path());
            made.product.data.checksums = checksums;
            assert_eq!(ask(&running(made), "SHOW data_checksums"), expected);
        }
    }
}

#[test]
fn initdb_says_what_it_objects_to() {
    for installation in installations() {
        let folder = folder();
        let mut made = options(&installation, folder.path());
        made.product.data.wal_segment_mb = Some(3);
        let error = PrivateServer::create(made, &Cancel::new()).unwrap_err().to_string();
        assert!(
            error.contains("initdb") && error.contains("power of two")
                || error.contains("power of 2"),
            "{error}"
        );
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn a_directory_with_a_long_path_has_its_sockets_elsewhere() {
    for installation in installations() {
        let folder = folder();
        let long = folder.path().join("d".repeat(60)).join("e".repeat(60));
        std::fs::create_dir_all(&long).unwrap();
        let cluster = running(options(&installation, &long));
        let short = std::fs::read_link(long.join("socket")).unwrap();
        assert_eq!(short.metadata().unwrap().mode() & 0o777, 0o700);
        assert!(
            std::fs::read_dir(&short)
                .unwrap()
                .flatten()
                .any(|entry| entry.file_type().unwrap().is_socket())
        );
        assert_eq!(ask(&cluster, "SELECT 1"), "1");
        cluster.remove().unwrap();
        assert!(!short.exists());
        assert_eq!(std::fs::read_dir(&long).unwrap().count(), 0);
    }
}

#[test]
fn it_does_not_listen_on_tcp_where_a_password_would_be_needed() {
    // An address of this machine that no other test listens on.
    let [high, low] = (std::process::id() as u16).to_be_bytes();
    let address = format!("127.{high}.{low}.1");
    let connect = |password: &str| {
        let url = format!("postgres://postgres:{password}@{address}/postgres");
        postgres::client::Client::connect(&postgres::client::Config::parse(&url).unwrap())
    };
    for installation in installations() {
        let folder = folder();
        let mut cluster = running(options(&installation, folder.path()));
        assert_eq!(ask(&cluster, "SHOW listen_addresses"), "");
        assert!(connect("right").is_err());
        let mut admin = cluster.connect().unwrap();
        admin.batch(&format!("ALTER SYSTEM SET listen_addresses = '{address}'")).unwrap();
        admin.batch("ALTER ROLE postgres PASSWORD 'right'").unwrap();
        cluster.restart(false, &Cancel::new()).unwrap();
        let mut client = connect("right").unwrap();
        assert_eq!(client.cell("SELECT host(inet_server_addr())").unwrap(), Some(address.clone()));
        assert!(connect("wrong").unwrap_err().to_string().contains("password"));
    }
}

#[test]
fn only_directories_that_the_server_can_reach_will_do() {
    let account = Account::for_server(None, "postgres").unwrap();
    if !account.is_other() {
        println!("SKIPPED: only root runs servers as another user");
        return;
    }
    for installation in installations() {
        let folder = folder();
        let closed = folder.path().join("closed");
        let inside = closed.join("inside");
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
        let error = PrivateServer::create(options(&installation, &inside), &Cancel::new())
            .unwrap_err()
            .to_string();
        let closed = closed.canonicalize().unwrap();
        assert!(error.contains(&format!("who has no access to {};", closed.display())), "{error}");
        assert!(error.contains(&format!("chmod o+x {}", closed.display())), "{error}");
        assert_eq!(std::fs::read_dir(&inside).unwrap().count(), 0);
    }
}

#[test]
fn accounts_that_will_not_do_are_refused() {
    let message = |user| Account::for_server(Some(user), "postgres").unwrap_err().to_string();
    if !Account::for_server(None, "postgres").unwrap().is_other() {
        assert!(message("root").contains("only root can"));
        return;
    }
    assert!(message("root").contains("refuses to run as root"));
    assert!(message("no-such-user-here").contains("this user does not exist"));
}

#[test]
fn finds_installations_and_says_what_is_missing() {
    let all = installations();
    // The named folders go before others that the program searches.
    let Some(newest) = all.iter().max_by_key(|installation| installation.version) else { return };
    let bindirs: Vec<PathBuf> =
        all.iter().map(|installation| installation.bindir.clone()).collect();
    for installation in &all {
        let (exact, major) =
            (installation.version.to_string(), installation.version.major.to_string());
        assert_eq!(&Installation::find(&bindirs, Some(&exact)).unwrap(), installation);
        assert_eq!(&Installation::find(&bindirs, Some(&major)).unwrap(), installation);
        assert_eq!(
            &Installation::find(std::slice::from_ref(&installation.bindir), None).unwrap(),
            installation
        );
        let report = Command::new(installation.program("pg_config")).arg("--version").output();
        if let Ok(report) = report {
            let report = String::from_utf8(report.stdout).unwrap();
            assert!(report.contains(&format!("PostgreSQL {exact}")), "{report}");
        }
    }
    assert_eq!(&Installation::find(&bindirs, None).unwrap(), newest);
    // A link to a program is that program.
    let folder = folder();
    std::os::unix::fs::symlink(newest.program("postgres"), folder.path().join("postgres")).unwrap();
    assert_eq!(&Installation::find(&[folder.path().into()], None).unwrap(), newest);
    let empty = folder.path().join("empty");
    let places: Vec<PathBuf> = bindirs.iter().cloned().chain([empty.clone()]).collect();
    let error = Installation::find(&places, Some("99")).unwrap_err().to_string();
    for part in [
        "PostgreSQL 99",
        &newest.version.to_string(),
        "postgresql-99",
        &empty.display().to_string(),
    ] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[test]
fn a_cluster_is_not_made_over_another() {
    for installation in installations() {
        let folder = folder();
        let cluster = running(options(&installation, folder.path()));
        let error = PrivateServer::create(options(&installation, folder.path()), &Cancel::new())
            .unwrap_err();
        assert!(matches!(error, EngineError::File { .. }), "{error}");
        assert_eq!(ask(&cluster, "SELECT 1"), "1");
    }
}

#[test]
fn the_server_and_its_children_are_in_the_cgroup_from_the_start() {
    let parents = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/blkio"];
    let name = format!("steelbench-test-{}", std::process::id());
    let group = parents
        .iter()
        .map(|parent| Path::new(parent).join(&name))
        .find(|group| std::fs::create_dir(group).is_ok() && group.join("cgroup.procs").exists());
    let Some(group) = group else {
        println!("SKIPPED: no cgroup can be made here");
        return;
    };
    for installation in installations() {
        let folder = folder();
        let mut made = options(&installation, folder.path());
        made.cgroups = vec![group.join("cgroup.procs")];
        let cluster = running(made);
        let members = std::fs::read_to_string(group.join("cgroup.procs")).unwrap();
        let members: Vec<i32> = members.lines().map(|line| line.parse().unwrap()).collect();
        let backend =
            ask(&cluster, "SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'");
        assert!(members.contains(&cluster.pid().unwrap()));
        assert!(members.contains(&backend.parse().unwrap()));
        assert!(!members.contains(&(std::process::id() as i32)));
        cluster.remove().unwrap();
    }
    std::fs::remove_dir(group).unwrap();
}

#[test]
fn a_start_stops_on_request() {
    for installation in installations() {
        let folder = folder();
        let mut cluster =
            PrivateServer::create(options(&installation, folder.path()), &Cancel::new()).unwrap();
        let cancel = Cancel::new();
        cancel.cancel(CancelReason::Interrupt);
        assert!(matches!(cluster.start(&cancel), Err(EngineError::Cancelled)));
        assert!(!cluster.is_running());
        cluster.start(&Cancel::new()).unwrap();
    }
}
