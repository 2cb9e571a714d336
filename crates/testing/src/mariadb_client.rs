//! A real server to test against, in a directory of its own, stopped and removed when dropped.

use crate::installed::folder;
pub use crate::process::LONG;
use crate::process::wait_for;
use crate::templates::data_directory;
use mariadb::client::{Client, Config};
use servers::account::Account;
use std::fs::File;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A program of MariaDB's packages.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/bin".into()]);
    folders.map(|folder| folder.join(name)).find(|program| program.exists())
}

/// A server that listens on a unix socket and on 127.0.0.1. Its superuser `root` has no password.
pub struct Server {
    /// The port on 127.0.0.1.
    pub port: u16,
    folder: TempDir,
    /// The program and its options, without that of the option file.
    program: PathBuf,
    options: Vec<String>,
    process: Option<Child>,
}

impl Server {
    /// Starts a server with these additional options; prints a note and returns `None` if none is
    /// installed.
    pub fn start(options: &[&str]) -> Option<Self> {
        let Some(installer) = program("mariadb-install-db") else {
            println!("SKIPPED: no MariaDB server is installed");
            return None;
        };
        let mut server = Self::new(program("mariadbd").unwrap(), options);
        // A server that starts removes what another one has as temporary tables in the same folder.
        let mut install = Command::new(installer);
        install.env("TMPDIR", server.folder());
        install.args([
            "--no-defaults",
            "--auth-root-authentication-method=normal",
            "--skip-test-db",
        ]);
        install.args(["--skip-name-resolve", "--innodb-log-file-size=4M"]).args(server.common());
        server.make("", install);
        Some(server)
    }

    /// Creates the client of MySQL.
    pub fn mysql(options: &[&str]) -> Option<Self> {
        let folder = std::env::var_os("STEELBENCH_TEST_MYSQL").filter(|folder| !folder.is_empty());
        let Some(folder) = folder else {
            println!("SKIPPED: no MySQL server is installed");
            return None;
        };
        let mut server = Self::new(PathBuf::from(folder).join("mysqld"), options);
        let mut install = Command::new(&server.program);
        install.args(["--no-defaults", "--initialize-insecure"]).args(server.arguments());
        // Options may shape what it makes.
        server.make(&options.join(" "), install);
        Some(server)
    }

    /// A server of MariaDB and one of MySQL, where they are installed.
    pub fn each() -> Vec<Self> {
        [Self::start(&[]), Self::mysql(&["--local-infile=ON"])].into_iter().flatten().collect()
    }

    /// A server of MySQL that all tests of this executable share. It ends with this process,
    /// however that ends.
    pub fn shared_mysql() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Server>> = OnceLock::new();
        SHARED
            .get_or_init(|| {
                let server = Self::mysql(&["--local-infile=ON"])?;
                let mut undertaker = Command::new("sh");
                undertaker
                    .args(["-c", "cat; kill -9 $0; rm -rf \"$1\""])
                    .arg(server.pid().to_string());
                // Our end of the pipe is closed when we end.
                std::mem::forget(
                    undertaker.arg(server.folder()).stdin(Stdio::piped()).spawn().unwrap(),
                );
                Some(server)
            })
            .as_ref()
    }

    fn new(program: PathBuf, options: &[&str]) -> Self {
        let folder = folder();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let options = options.iter().map(|option| (*option).to_owned()).collect();
        Self { port, folder, program, options, process: None }
    }

    /// Has its installer make the data directory, and starts it.
    fn make(&mut self, options: &str, mut install: Command) {
        give(self.folder());
        let recipe = format!("{} {options}", self.program.display());
        let data = self.folder().join("data");
        data_directory(&recipe, &data, || {
            let made = install.output().unwrap();
            let printed = [made.stdout, made.stderr].concat();
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&printed));
        });
        // MySQL makes a new identity where there is none.
        let _ = std::fs::remove_file(data.join("auto.cnf"));
        self.run();
    }

    fn common(&self) -> Vec<String> {
        let data = format!("--datadir={}", self.folder().join("data").display());
        let account = account();
        let user = account.is_other().then(|| format!("--user={}", account.name));
        [data].into_iter().chain(user).collect()
    }

    /// Returns the server's arguments after its option files.
    pub fn arguments(&self) -> Vec<String> {
        let arguments = [
            "--bind-address=127.0.0.1".to_owned(),
            format!("--port={}", self.port),
            format!("--socket={}", self.socket().display()),
            format!("--pid-file={}", self.folder().join("pid").display()),
            "--innodb-buffer-pool-size=32M".to_owned(),
            "--innodb-flush-log-at-trx-commit=0".to_owned(),
            "--innodb-doublewrite=0".to_owned(),
        ];
        self.common().into_iter().chain(self.options.iter().cloned()).chain(arguments).collect()
    }

    /// Starts it, after [`stop`](Self::stop).
    pub fn run(&mut self) {
        let log = self.folder().join("log");
        let errors = File::options().create(true).append(true).open(&log).unwrap();
        let mut command = Command::new(&self.program);
        command.env("TMPDIR", self.folder()).arg("--no-defaults").args(self.arguments());
        let process = command.stderr(errors).spawn().unwrap();
        let config = self.config();
        wait_for(self.process.insert(process), &log, || Client::connect(&config));
    }

    /// Kills it.
    pub fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            let _ = process.kill();
            let _ = process.wait();
        }
    }

    /// The number of its process.
    pub fn pid(&self) -> i32 {
        self.process.as_ref().unwrap().id() as i32
    }

    /// The folder of its socket and its files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The socket.
    pub fn socket(&self) -> PathBuf {
        self.folder().join("sock")
    }

    /// The superuser, over the unix socket.
    pub fn config(&self) -> Config {
        Config::unix(&self.socket(), "root").with_default_timeout(LONG)
    }

    /// A connection of its superuser.
    pub fn connect(&self) -> Client {
        Client::connect(&self.config()).unwrap()
    }

    /// A URL over the unix socket.
    pub fn url(&self, user: &str) -> String {
        format!("mariadb://{user}@localhost/?socket={}", self.socket().display())
    }

    /// Runs a query with MariaDB's own client over TCP with these options: the first line of rows,
    /// or `Err` with its complaint.
    pub fn mariadb(&self, options: &[String], sql: &str) -> Result<String, String> {
        let mut command = Command::new(program("mariadb").unwrap());
        command.args(["--no-defaults", "--protocol=TCP", "--host=127.0.0.1", "-N", "-e", sql]);
        let output = command.arg(format!("--port={}", self.port)).args(options).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Three sessions in each other's way, while something is done: a client leaves a transaction open,
/// another waits for its row, a third to change the table. `act` gets the numbers of the sessions.
pub fn with_blocked_sessions(config: &Config, act: impl FnOnce([u32; 3])) {
    let connect = || Client::connect(config).unwrap();
    let [mut holder, mut waiter, mut changer] = [(); 3].map(|()| connect());
    let numbers = [&holder, &waiter, &changer].map(Client::connection_id);
    holder
        .run(
            "CREATE DATABASE shop; CREATE TABLE shop.stock (id int PRIMARY KEY, a int); INSERT \
             INTO shop.stock VALUES (7, 1)",
        )
        .unwrap();
    holder.run("BEGIN; UPDATE shop.stock SET a = 2 WHERE id = 7").unwrap();
    let waits = std::thread::spawn(move || {
        waiter.run("UPDATE /* one */ shop.stock SET a = 4711 WHERE id = 7")
    });
    let [_, waiting, changing] = numbers;
    let mut admin = connect();
    // Of these sessions only: the server's own threads wait for locks, too.
    let mut until = |what: &str, condition: &str| {
        let end = Instant::now() + LONG;
        let sql = format!("SELECT count(*) FROM information_schema.{condition}");
        while admin.cell(&sql).unwrap().as_deref() != Some("1") {
            assert!(Instant::now() < end, "{what}: {:?}", admin.query("SHOW FULL PROCESSLIST"));
            // INNODB_TRX is refreshed only if it was not read for a tenth of a second.
            sleep(Duration::from_millis(150));
        }
    };
    until(
        "a session waits for a row",
        &format!("innodb_trx WHERE trx_mysql_thread_id = {waiting} AND trx_state = 'LOCK WAIT'"),
    );
    let changes =
        std::thread::spawn(move || changer.run("ALTER TABLE shop.stock ADD COLUMN b int"));
    until(
        "a session waits for the table",
        &format!("processlist WHERE id = {changing} AND state = 'Waiting for table metadata lock'"),
    );
    act(numbers);
    holder.run("ROLLBACK").unwrap();
    waits.join().unwrap().unwrap();
    changes.join().unwrap().unwrap();
    connect().run("DROP DATABASE shop").unwrap();
}

/// Makes a folder with all that it has the servers' user's.
pub fn give(path: &Path) {
    account().chown_below(path).unwrap();
}

/// Whom servers run as.
fn account() -> Account {
    Account::for_server(None, "mysql").unwrap()
}
