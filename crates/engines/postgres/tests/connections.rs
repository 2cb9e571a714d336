//! The connections of a load thread, served with `io_uring(7)` and, where that is forbidden, with
//! epoll.

use engine::{Answer, ConnectionSet, Done, EngineError, Folders, Instance};
use experiment::{Configuration, Value};
use postgres::POSTGRES;
use postgres::client::Client;
use postgres::server::Installation;
use std::io;
use std::thread;
use std::time::Instant;
use testing::installed::{LONG, folder, installations, private, until};
use testing::postgres_client::{Server, bindirs};
use work::{
    Cancel, CancelReason, Column, DataType, Key, Operation, Request, Statement, Storage, Table,
    Work,
};

/// How a thread's connections have to do its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Ring,
    Epoll,
}

fn configuration(installation: &Installation) -> Configuration {
    let text = |text: String| Value::Text(text);
    let settings = [
        ("target.bindir", text(installation.bindir.display().to_string())),
        ("target.version", text(installation.version.to_string())),
        ("target.settings.fsync", Value::Bool(false)),
    ];
    Configuration {
        settings: settings.map(|(path, value)| (path.to_owned(), value)).into(),
        ..Configuration::default()
    }
}

/// Makes `io_uring_setup(2)` fail on this thread, as containers do.
fn forbid_rings() {
    let code = |code: u32, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf, k };
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut filter = [
        // The number of the system call comes first.
        code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        code(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, libc::SYS_io_uring_setup as u32),
        code(libc::BPF_RET | libc::BPF_K, 0, refuse),
        code(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: plain numbers, and a program that lives through the call.
    let result = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
    };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
}

/// Rings that this process has.
fn rings() -> usize {
    let files = std::fs::read_dir("/proc/self/fd").unwrap();
    let links = files.filter_map(|file| std::fs::read_link(file.unwrap().path()).ok());
    links.filter(|link| link.as_os_str() == "anon_inode:[io_uring]").count()
}

/// Returns whether the kernel permits the rings of connections: from Linux 6.1 on.
fn offers_rings() -> bool {
    // SAFETY: without parameters the call fails: with EFAULT where it is allowed.
    let result = unsafe { libc::syscall(libc::SYS_io_uring_setup, 1, std::ptr::null::<u8>()) };
    let allowed = result == -1 && io::Error::last_os_error().raw_os_error() == Some(libc::EFAULT);
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap();
    let mut numbers = release.split(['.', '-']).map_while(|number| number.parse::<u32>().ok());
    allowed && (numbers.next(), numbers.next()) >= (Some(6), Some(1))
}

/// The answers to `count` requests, by connection.
fn answers(connection_set: &mut dyn ConnectionSet, count: usize) -> Vec<Result<Done, EngineError>> {
    let (mut answers, begin): (Vec<Answer>, _) = (Vec::new(), Instant::now());
    while answers.len() < count {
        assert!(begin.elapsed() < LONG, "{} of {count} answers", answers.len());
        connection_set.wait(None, &mut answers).unwrap();
    }
    answers.sort_by_key(|answer| answer.connection);
    answers.into_iter().map(|answer| answer.result).collect()
}

/// Runs a text on a connection; the number of rows and the last row's first cell.
fn query(
    connection_set: &mut dyn ConnectionSet,
    connection: usize,
    sql: &str,
) -> Result<(u64, String), EngineError> {
    connection_set.send(connection, &execute(sql, true))?;
    let results = answers(connection_set, 1).remove(0)?.results.remove(0);
    Ok((results.rows, results.last[0].clone().unwrap_or_default()))
}

fn keys(first: u128, count: u128) -> Vec<Key> {
    (first..first + count).map(Key).collect()
}

fn execute(sql: &str, results: bool) -> Request<'_> {
    Request::Execute { statement: Statement::Text(sql), parameters: &[], results }
}

fn copy(keys: &[Key]) -> Request<'_> {
    Request::Bulk { operation: 0, file: 0, keys }
}

fn batch(keys: &[Key], pipelined: bool) -> Request<'_> {
    Request::Batch { operation: 0, file: 0, keys, pipelined }
}

/// A table of keys, and inserts into it.
fn work() -> Work {
    let column = Column::new("c1", DataType::Uuid);
    let table = Table {
        name: "mybigtable",
        columns: vec![column],
        key: &["c1"],
        storage: Storage::default(),
    };
    let operations = vec![Operation::Insert { table: 0, columns: vec!["c1"] }];
    Work { tables: vec![table], operations, ..Work::default() }
}

/// More than a socket holds, in both directions, and many exchanges, at the same time.
fn moves_more_than_a_socket_holds(connection_set: &mut dyn ConnectionSet, admin: &mut Client) {
    for round in 1..=2 {
        let base = round * 1_000_000;
        let (pipelined, copied) = (keys(base, 10_000), keys(base + 100_000, 50_000));
        let single = keys(base + 500_000, 300);
        connection_set.send(0, &batch(&pipelined, true)).unwrap();
        connection_set.send(1, &copy(&copied)).unwrap();
        connection_set.send(2, &batch(&single, false)).unwrap();
        let sql = "SELECT i, repeat('x', 40) FROM generate_series(1, 60000) i";
        connection_set.send(3, &execute(sql, true)).unwrap();
        let mut done: Vec<Done> =
            answers(connection_set, 4).into_iter().map(Result::unwrap).collect();
        let results = done.remove(3).results;
        assert_eq!((results[0].rows, results[0].last[0].as_deref()), (60_000, Some("60000")));
        let rows = admin.query("SELECT count(*) FROM steelbench.mybigtable", &[]).unwrap();
        let count: u128 = rows.first().unwrap().get(0).unwrap().parse().unwrap();
        assert_eq!(count, 60_300 * round);
    }
    let (rows, cell) = query(connection_set, 3, "SELECT repeat('y', 3000000)").unwrap();
    assert_eq!((rows, cell.len(), cell.trim_matches('y')), (1, 3_000_000, ""));
}

/// The server refuses with much of the request unsent: it reads on, and the connection lives.
fn goes_on_after_a_refusal(connection_set: &mut dyn ConnectionSet) {
    let many = keys(1, 200_000);
    query(connection_set, 1, "BEGIN; ALTER TABLE mybigtable RENAME TO away; COMMIT; SELECT 1")
        .unwrap();
    connection_set.send(0, &copy(&many)).unwrap();
    let error = answers(connection_set, 1).remove(0).unwrap_err().to_string();
    assert!(error.contains("does not exist"), "{error}");
    assert_eq!(query(connection_set, 0, "SELECT 7").unwrap(), (1, "7".into()));
    query(connection_set, 1, "BEGIN; ALTER TABLE away RENAME TO mybigtable; COMMIT; SELECT 1")
        .unwrap();
}

/// Ends the backend that has run this last, and waits until it is gone.
fn terminate(admin: &mut Client, like: &str) {
    let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE $1 AND pid \
               <> pg_backend_pid()";
    assert!(until(|| admin.query(sql, &[Some(like)]).unwrap().len() == 1));
    assert!(until(|| admin.query(sql, &[Some(like)]).unwrap().is_empty()));
}

/// A connection that is lost, in a request or between two, reports why; the others continue.
fn tells_of_lost_connections(connection_set: &mut dyn ConnectionSet, admin: &mut Client) {
    connection_set.send(0, &execute("SELECT pg_sleep(600)", false)).unwrap();
    let mut none = Vec::new();
    connection_set.wait(Some(0), &mut none).unwrap();
    terminate(admin, "SELECT pg_sleep(600)%");
    let error = answers(connection_set, 1).remove(0).unwrap_err().to_string();
    assert!(error.contains("terminating connection"), "{error}");
    query(connection_set, 1, "SELECT 'idle'").unwrap();
    terminate(admin, "SELECT 'idle'%");
    let error = query(connection_set, 1, "SELECT 1").unwrap_err().to_string();
    assert!(error.contains("terminating connection"), "{error}");
    assert_eq!(query(connection_set, 2, "SELECT 8").unwrap(), (1, "8".into()));
}

fn serves(instance: &dyn Instance, admin: &mut Client, way: Way) {
    if way == Way::Epoll {
        forbid_rings();
        assert!(!offers_rings());
    }
    let mut connection_set = instance.connect(4).unwrap();
    assert_eq!(rings(), usize::from(way == Way::Ring));
    moves_more_than_a_socket_holds(connection_set.as_mut(), admin);
    admin.batch("TRUNCATE steelbench.mybigtable").unwrap();
    goes_on_after_a_refusal(connection_set.as_mut());
    tells_of_lost_connections(connection_set.as_mut(), admin);
    // Gone in the middle of requests: on the connection set's thread, and after it, on another one.
    let sleep = execute("SELECT pg_sleep(1)", false);
    for there in [true, false] {
        let mut connection_set = instance.connect(4).unwrap();
        for connection in 0..4 {
            connection_set.send(connection, &sleep).unwrap();
        }
        connection_set.wait(Some(0), &mut Vec::new()).unwrap();
        if there {
            drop(connection_set);
        } else {
            thread::scope(|scope| scope.spawn(|| drop(connection_set)).join().unwrap());
        }
    }
}

#[test]
fn connection_sets_serve_their_connections_with_io_uring_and_where_that_is_forbidden_with_epoll() {
    let ways = if offers_rings() {
        vec![Way::Ring, Way::Epoll]
    } else {
        println!("SKIPPED: the kernel offers no rings; epoll alone is tested");
        vec![Way::Epoll]
    };
    for installation in installations() {
        let folder = folder();
        let place = Folders {
            directory: folder.path().into(),
            volumes: Vec::new(),
            permits: engine::Permits::default(),
            cgroup_joins: Vec::new(),
        };
        let mut host = (POSTGRES.host)(place);
        for way in &ways {
            let instance = host.prepare(&configuration(&installation), 8, &Cancel::new()).unwrap();
            instance.create(work()).unwrap();
            let (_, config) = private(folder.path()).unwrap();
            let mut admin = Client::connect(&config).unwrap();
            thread::scope(|scope| {
                let run = scope.spawn(|| serves(instance.as_ref(), &mut admin, *way));
                run.join().unwrap();
            });
            drop(admin);
            instance.remove().unwrap();
        }
    }
}

/// Administration waits for another session when the trial is asked to stop: the schema is dropped
/// over a new connection, once the old one has ended, also when the target is only dropped.
#[test]
fn a_stopped_trial_leaves_nothing_on_a_server_by_url() {
    let endings: [fn(Box<dyn Instance>); 2] = [|instance| instance.remove().unwrap(), drop];
    for (bin, end) in bindirs().iter().flat_map(|bin| endings.map(|end| (bin, end))) {
        let server = Server::start(bin, "", &[]);
        let mut owner = server.connect();
        let url = ("target.url".to_owned(), Value::Text(server.conninfo()));
        let settings = Configuration { settings: [url].into(), ..Configuration::default() };
        let folder = folder();
        let place = Folders {
            directory: folder.path().join("host"),
            volumes: Vec::new(),
            permits: engine::Permits::default(),
            cgroup_joins: Vec::new(),
        };
        let (cancel, mut host) = (Cancel::new(), (POSTGRES.host)(place));
        let instance = host.prepare(&settings, 2, &cancel).unwrap();
        // The name of the table is taken until this transaction ends.
        owner.batch("BEGIN; CREATE TABLE steelbench.mybigtable (c1 int)").unwrap();
        let stopped = thread::scope(|scope| {
            let created = scope.spawn(|| instance.create(work()));
            let waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted";
            let mut other = server.connect();
            assert!(until(|| other.cell(waiting).unwrap().as_deref() == Some("1")));
            cancel.cancel(CancelReason::Interrupt);
            created.join().unwrap()
        });
        assert!(matches!(stopped, Err(EngineError::Cancelled)), "{stopped:?}");
        owner.batch("ROLLBACK").unwrap();
        end(instance);
        let left = "SELECT (SELECT count(*) FROM pg_namespace WHERE nspname = 'steelbench') + \
                    (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory')";
        assert!(until(|| owner.cell(left).unwrap().as_deref() == Some("0")));
    }
}
