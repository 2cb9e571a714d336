//! PostgreSQL and MariaDB for end-to-end tests.

pub mod mariadb_load;
pub mod private;
pub mod proxy;

pub use testing::{installed, mariadb_client as mariadb, postgres_client as by_url};

use crate::common::{Lab, SmallDisk, wait_until};
use postgres::client::{Client, Config};
use std::fs::Permissions;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

/// Says that a session of a load is working, and that its waits are observed: before that, it
/// prepares.
pub const LOAD_RUNS: &str = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'steelbench \
                             load' AND state = 'active'
     AND EXISTS (SELECT 1 FROM pg_stat_activity WHERE application_name = 'steelbench observer')";

/// The major versions that are installed, as a list of the experiment file. `None`, with a word
/// about it, when there are none.
pub fn versions() -> Option<String> {
    let majors: Vec<String> =
        installed::installations().iter().map(|found| found.version.major.to_string()).collect();
    (!majors.is_empty()).then(|| format!("[{}]", majors.join(", ")))
}

/// The newest of them, as such a list.
pub fn newest(versions: &str) -> String {
    format!("[{}]", versions.trim_matches(['[', ']']).rsplit(", ").next().unwrap())
}

/// A lab that the accounts of servers can reach.
pub fn lab(file: &str) -> Lab {
    let lab = Lab::with(file);
    std::fs::set_permissions(lab.path(""), Permissions::from_mode(0o755)).unwrap();
    lab
}

/// A file in which the account of servers can write what a script has it say.
pub fn create_log(lab: &Lab) {
    lab.write("said", "");
    std::fs::set_permissions(lab.path("said"), Permissions::from_mode(0o666)).unwrap();
}

/// A statement that has a private server append a row of this query to that file.
pub fn say(lab: &Lab, query: &str) -> String {
    format!("COPY ({query}) TO PROGRAM 'cat >> {}';\n", lab.path("said").display())
}

/// An experiment on private servers of these versions; `target` and `workload` are lines of these
/// sections, `factors` comes after that of the versions.
pub fn managed(blocks: u32, versions: &str, [target, workload, factors]: [&str; 3]) -> String {
    format!(
        "[experiment]\nname = \"t\"\n[target]\nengine = \"postgres\"\nsettings.fsync = \
         false\n{target}\n[workload]\n{workload}\n[repeats]\nblocks = \
         {blocks}\n[factors]\n\"target.version\" = {versions}\n{factors}"
    )
}

/// An insert load of this duration.
pub fn inserts(seconds: f64) -> String {
    format!(
        "probe = \"insert\"\nconnections = 2\nduration = \"{seconds} s\"\nrows_per_transaction = \
         10"
    )
}

/// A script that runs once.
pub const ONCE: &str = "probe = \"script\"\nscript = \"script.sql\"\nconnections = \
                        1\ntransactions = 1\nprotocol = \"simple\"";

/// The private server of a run that is going on: its first process, and how to connect.
pub fn private(lab: &Lab) -> Option<(i32, Config)> {
    private_in(&lab.path("results/t.steelbench.work"))
}

/// Returns the private server of a run that works in this folder.
pub fn private_in(folder: &Path) -> Option<(i32, Config)> {
    let folders = std::fs::read_dir(folder).ok()?;
    folders.flatten().find_map(|folder| installed::private(&folder.path()))
}

/// The private server of a run that is going on, with its first process, once a load works on it;
/// it is another one than `not`.
pub fn running_load(lab: &Lab, not: Option<i32>) -> (i32, Client) {
    let connect = || {
        let (pid, config) = private(lab).filter(|(pid, _)| Some(*pid) != not)?;
        Some((pid, Client::connect(&config).ok()?))
    };
    let runs = |client: &mut Client| Some(!client.query(LOAD_RUNS, &[]).ok()?.is_empty());
    once("a load runs on a private server", connect, runs)
}

/// Returns the private server of a run and a connection to it, once `says` is true. `says` returns
/// `None` for a lost connection: the server was restarted with other settings or replaced.
pub fn once<C>(
    what: &str,
    mut connect: impl FnMut() -> Option<(i32, C)>,
    says: impl Fn(&mut C) -> Option<bool>,
) -> (i32, C) {
    let mut found = None;
    wait_until(what, || {
        if found.is_none() {
            found = connect();
        }
        let message = found.as_mut().and_then(|(_, client)| says(client));
        if message.is_none() {
            found = None;
        }
        message == Some(true)
    });
    found.unwrap()
}

/// Waits until a load works on a server by URL.
pub fn await_load(config: &Config) {
    let mut client = Client::connect(config).unwrap();
    wait_until("a load runs", || !client.query(LOAD_RUNS, &[]).unwrap().is_empty());
}

/// Sends a signal to a process, which may have ended by itself since it was seen: workers come and
/// go.
pub fn kill(pid: i32, signal: libc::c_int) {
    // SAFETY: a system call; the number was read from the server that is to be hit.
    let sent = unsafe { libc::kill(pid, signal) } == 0;
    let error = std::io::Error::last_os_error();
    assert!(sent || error.raw_os_error() == Some(libc::ESRCH), "{error}");
}

/// The records of servers whose settings are changed.
pub fn records(lab: &Lab) -> Vec<PathBuf> {
    let entries =
        std::fs::read_dir(lab.path("state/steelbench/servers")).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect()
}

/// Processes with their working directory or an argument in a folder of the lab: servers of the
/// run, while there are any.
pub fn processes(lab: &Lab) -> Vec<i32> {
    let folder = lab.path("").canonicalize().unwrap();
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let concerned = |pid: &i32| {
        let process = Path::new("/proc").join(pid.to_string());
        let works_there =
            std::fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder));
        let command = std::fs::read(process.join("cmdline")).unwrap_or_default();
        let is_ours = String::from_utf8_lossy(&command).contains(folder.to_str().unwrap());
        (works_there || is_ours) && installed::is_alive(*pid)
    };
    numbers.filter(concerned).collect()
}

/// No process and no folder of a run is left.
#[track_caller]
pub fn nothing_is_left(lab: &Lab) {
    assert_eq!((processes(lab), lab.work_folders()), (Vec::new(), Vec::new()));
}

/// Configuration, status and number of trials.
pub const BY_CONFIGURATION: &str = "SELECT c.label, t.status, count(*) FROM trials t JOIN \
                                    configurations c ON c.id = t.configuration
     GROUP BY 1, 2 ORDER BY 1, 2";

/// Why trials failed, in the order in which they did.
pub fn causes(lab: &Lab) -> Vec<String> {
    lab.rows("t", "SELECT cause FROM trials WHERE status = 'failed' ORDER BY id")
}

/// The level that a factor had in each trial, in the order of the trials.
pub fn levels(lab: &Lab, factor: &str) -> Vec<String> {
    let sql = format!(
        "SELECT l.level FROM trials t JOIN configuration_levels l ON l.configuration = \
         t.configuration
         WHERE l.factor = '{factor}' ORDER BY t.id"
    );
    lab.rows("t", &sql)
}

/// A small disk as the place of nothing, of the data and of the log.
pub const PLACES_ON_A_SMALL_DISK: &str = "[[volume]]\nname = \"small\"\npath \
     = \"small\"\n[[level]]\nfactor = \"place\"\nname = \"default\"\nset = {}\n[[level]]\nfactor \
     = \"place\"\nname = \"data\"\nset = { \"target.volume\" = \"small\" }\n[[level]]\nfactor \
     = \"place\"\nname = \"log\"\nset = { \"target.log_volume\" = \"small\" }\n";

/// Runs an experiment with [`PLACES_ON_A_SMALL_DISK`], which is too small for its rows.
pub fn only_trials_on_the_small_disk_fail(lab: &Lab, disk: &str) {
    std::fs::create_dir(lab.path("small")).unwrap();
    let Some(_disk) = SmallDisk::mount(lab.path("small"), disk) else { return };
    lab.run(1);
    for row in lab.rows("t", BY_CONFIGURATION) {
        assert_eq!(row.ends_with("|done|1"), row.contains("place=default"), "{row}");
    }
    for cause in causes(lab) {
        // Who sees it first: the server, or our watch over the volumes.
        let messages = ["the disk is full", "No space left on device", "a volume is nearly full"];
        assert!(messages.iter().any(|part| cause.contains(part)), "{cause}");
    }
    assert_eq!(std::fs::read_dir(lab.path("small")).unwrap().count(), 0);
    nothing_is_left(lab);
}

/// A server that says nothing after what `login` says. Tells of everybody who waits for it.
pub fn silent(
    login: impl Fn(&mut TcpStream) -> std::io::Result<()> + Copy + Send + 'static,
) -> (u16, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, receiver) = channel();
    std::thread::spawn(move || {
        for mut socket in listener.incoming().flatten() {
            let tell = tell.clone();
            std::thread::spawn(move || {
                login(&mut socket)?;
                tell.send(()).unwrap_or_default();
                while socket.read(&mut [0; 10_000])? > 0 {}
                std::io::Result::Ok(())
            });
        }
    });
    (port, receiver)
}
