//! Servers that are killed, and servers whose owner is: whether they end, and what they leave.

use postgres::server::{Installation, PostgresProduct, Stop};
use servers::account::Account;
use servers::private::reclaim;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use testing::installed::{LONG, ask, folder, installations, is_alive, options, running, until};
use work::Cancel;

/// Where the process of `holds_a_server_until_killed` makes its cluster.
const HOLDER: &str = "STEELBENCH_TEST_HOLDER";

/// System V segments whose creator is this process, and the POSIX segments that it has mapped.
fn system_v(pid: i32) -> usize {
    let table = std::fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    table.lines().filter(|line| line.split_whitespace().nth(4) == Some(&pid.to_string())).count()
}

fn mapped_posix(pid: i32) -> Vec<PathBuf> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let paths =
        maps.lines().filter_map(|line| line.find("/dev/shm/PostgreSQL").map(|at| &line[at..]));
    paths.map(PathBuf::from).collect()
}

fn kill(pid: i32, signal: libc::c_int) {
    // SAFETY: a system call.
    unsafe { libc::kill(pid, signal) };
}

#[test]
fn nothing_is_left_of_a_server_that_was_killed() {
    for installation in installations() {
        let folder = folder();
        let cluster = running(options(&installation, folder.path()));
        let busy = cluster.connect().unwrap();
        let pid = cluster.pid().unwrap();
        let segments = mapped_posix(pid);
        assert!(!segments.is_empty() && segments.iter().all(|path| path.exists()));
        assert_eq!(system_v(pid), 1);
        kill(pid, libc::SIGKILL);
        assert!(until(|| !cluster.is_running()));
        let error = cluster.connect().unwrap_err().to_string();
        assert!(error.contains("the server has ended with signal: 9"), "{error}");
        cluster.remove().unwrap();
        assert!(segments.iter().all(|path| !path.exists()), "{segments:?}");
        assert_eq!(system_v(pid), 0);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        drop(busy);
    }
}

#[test]
fn a_server_that_was_killed_starts_again() {
    for installation in installations() {
        let folder = folder();
        let mut cluster = running(options(&installation, folder.path()));
        cluster.connect().unwrap().batch("CREATE TABLE t AS SELECT 7 AS n").unwrap();
        kill(cluster.pid().unwrap(), libc::SIGKILL);
        assert!(until(|| !cluster.is_running()));
        cluster.start(&Cancel::new()).unwrap();
        assert_eq!(ask(&cluster, "SELECT n FROM t"), "7");
    }
}

#[test]
#[ignore = "the part of a process that is killed, in the next tests"]
fn holds_a_server_until_killed() {
    let directory = std::env::var(HOLDER).unwrap();
    let installation =
        Installation::find(&[std::env::var("STEELBENCH_TEST_BINDIR").unwrap().into()], None)
            .unwrap();
    // Made by a thread that ends: the server must not end with it.
    let cluster =
        std::thread::spawn(move || running(options(&installation, Path::new(&directory))));
    let cluster = cluster.join().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(cluster.is_running());
    println!("\nserver {}", cluster.pid().unwrap());
    std::thread::sleep(LONG);
}

/// A process that holds a server, and the number of the server.
fn holder(installation: &Installation, directory: &Path) -> (std::process::Child, i32) {
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "server_killed::holds_a_server_until_killed", "--nocapture"])
        .env(HOLDER, directory)
        .env("STEELBENCH_TEST_BINDIR", &installation.bindir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(holder.stdout.take().unwrap()).lines().map_while(Result::ok);
    let pid = lines.find_map(|line| line.strip_prefix("server ")?.parse().ok()).unwrap();
    (holder, pid)
}

#[test]
fn a_server_ends_when_its_owner_is_killed() {
    for installation in installations() {
        let folder = folder();
        let (mut holder, server) = holder(&installation, folder.path());
        assert!(is_alive(server));
        holder.kill().unwrap();
        holder.wait().unwrap();
        assert!(until(|| !is_alive(server)));
    }
}

#[test]
fn a_server_that_outlives_its_owner_is_reclaimed() {
    for installation in installations() {
        let root = folder();
        let long = root.path().join("d".repeat(60)).join("e".repeat(60));
        std::fs::create_dir_all(&long).unwrap();
        let (mut holder, server) = holder(&installation, &long);
        let sockets = std::fs::read_link(long.join("socket")).unwrap();
        let segments = mapped_posix(server);
        // While stopped, it is not notified of its owner's death.
        kill(server, libc::SIGSTOP);
        holder.kill().unwrap();
        holder.wait().unwrap();
        assert!(is_alive(server) && sockets.exists());
        reclaim::<PostgresProduct>(root.path()).unwrap();
        assert!(!is_alive(server) && !sockets.exists());
        assert!(segments.iter().all(|path| !path.exists()), "{segments:?}");
        assert_eq!(system_v(server), 0);
    }
}

#[test]
fn a_server_elsewhere_is_not_touched() {
    for installation in installations() {
        let (ours, theirs) = (folder(), folder());
        let cluster = running(options(&installation, theirs.path()));
        // A private data directory whose note names another server.
        let data = ours.path().join("data");
        std::fs::create_dir_all(data.join("global")).unwrap();
        std::fs::copy(cluster.data_directory().join("PG_VERSION"), data.join("PG_VERSION"))
            .unwrap();
        std::fs::copy(cluster.data_directory().join("postmaster.pid"), data.join("postmaster.pid"))
            .unwrap();
        let segments = mapped_posix(cluster.pid().unwrap());
        reclaim::<PostgresProduct>(ours.path()).unwrap();
        assert!(cluster.is_running());
        assert_eq!(ask(&cluster, "SELECT 1"), "1");
        assert!(segments.iter().all(|path| path.exists()));
    }
}

#[test]
fn a_server_started_by_hand_in_our_directory_is_reclaimed() {
    for installation in installations() {
        let folder = folder();
        let mut cluster = running(options(&installation, folder.path()));
        cluster.stop(Stop::Clean, &Cancel::new()).unwrap();
        let owner = cluster.data_directory().metadata().unwrap();
        let mut command = Command::new(installation.program("postgres"));
        command.arg("-D").arg(cluster.data_directory()).stderr(Stdio::null()).current_dir("/");
        if Account::for_server(None, "postgres").unwrap().is_other() {
            command.uid(owner.uid()).gid(owner.gid());
        }
        let mut server = command.spawn().unwrap();
        let pid = server.id() as i32;
        let note = cluster.data_directory().join("postmaster.pid");
        assert!(until(|| std::fs::read_to_string(&note).is_ok_and(|text| text.contains("ready"))));
        reclaim::<PostgresProduct>(folder.path()).unwrap();
        assert!(!is_alive(pid));
        assert!(server.wait().unwrap().success() || !is_alive(pid));
    }
}
