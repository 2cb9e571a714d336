//! One private cluster and its server.

use super::account::Account;
use super::files::{self, clone_folder, write_back};
use super::installation::Installation;
use super::layout::{BASELINE_FILE, Layout, Postmaster, SETTINGS_FILE, make_socket_folder};
use super::leftovers::{free_shared_memory, remove_files};
use super::lifecycle::{LOG_LINES, Stop};
use super::process::Process;
use super::template::{DataOptions, SUPERUSER, Template};
use super::{at, failed};
use crate::postgres::failure::of_client;
use crate::{Cancel, EngineError};
use pgclient::{Client, Config};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{File, Permissions};
use std::io::Read;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a cluster is made with.
#[derive(Debug, Clone)]
pub struct ClusterOptions {
    /// The programs.
    pub installation: Installation,
    /// A directory that the caller has marked as ours; it may hold other things too.
    pub directory: PathBuf,
    /// A directory on another volume, marked as ours, for the log (as `initdb --waldir`).
    pub wal_directory: Option<PathBuf>,
    /// As whom it runs.
    pub account: Account,
    /// What is decided when a cluster is initialised.
    pub data: DataOptions,
    /// Connections of the load that it must have room for.
    pub connections: u32,
    /// Listen on 127.0.0.1 too, with a password.
    pub tcp: bool,
    /// Files of cgroups (`cgroup.procs`) that the server joins before it starts.
    pub cgroups: Vec<PathBuf>,
}

/// How long a login may take on a slow disk; a server that is stopped would take for ever.
const CONNECTING: Duration = Duration::from_secs(60);

/// Of the superuser, over TCP. Never shown.
pub(super) struct Password(pub(super) String);

/// A private cluster. Dropping it stops the server and removes all of it.
#[derive(Debug)]
pub struct Cluster {
    pub(super) options: ClusterOptions,
    pub(super) layout: Layout,
    pub(super) sockets: PathBuf,
    pub(super) port: u16,
    pub(super) password: Option<Password>,
    pub(super) process: Option<Process>,
    /// The settings in force, when they are known.
    pub(super) applied: Option<BTreeMap<String, String>>,
}

impl Cluster {
    /// Makes a cluster by cloning a template; its server is not started yet. The account must reach the
    /// directory and the programs.
    pub fn create(mut options: ClusterOptions, cancel: &Cancel) -> Result<Self, EngineError> {
        options.directory = absolute(&options.directory)?;
        let account = &options.account;
        account.can_run(&options.installation.program("postgres"))?;
        let cache = Template::cache_folder(account)?;
        let template = Template::find_or_make(&cache, &options.installation, account, &options.data, cancel)?;
        let wal_directory = options.wal_directory.as_deref().map(absolute).transpose()?;
        for directory in [Some(&options.directory), wal_directory.as_ref()].into_iter().flatten() {
            open_for(account, directory)?;
        }
        options.wal_directory = wal_directory.map(|directory| directory.join("pg_wal"));
        let layout = Layout::of(&options.directory);
        is_vacant(&layout, options.wal_directory.as_deref())?;
        let password = options.tcp.then(Password::random).transpose()?;
        // From here on, dropping it removes what was made.
        let mut cluster = Self {
            sockets: layout.socket.clone(),
            port: free_port(),
            layout,
            options,
            password,
            process: None,
            applied: None,
        };
        cluster.lay_out(&template)?;
        Ok(cluster)
    }

    fn lay_out(&mut self, template: &Template) -> Result<(), EngineError> {
        let data = &self.layout.data;
        template.clone_to(data, &self.options.account)?;
        if let Some(wal) = &self.options.wal_directory {
            move_wal(&data.join("pg_wal"), wal, &self.options.account)?;
        }
        self.sockets = make_socket_folder(&self.layout, &self.options.account)?;
        let main = data.join("postgresql.conf");
        let included = format!("\ninclude '{BASELINE_FILE}'\ninclude_if_exists '{SETTINGS_FILE}'\n");
        let text = std::fs::read_to_string(&main).map_err(at(&main))?;
        self.options.account.write(&main, &(text + &included))?;
        write_back(data)?;
        self.options.wal_directory.as_deref().map_or(Ok(()), write_back)
    }

    /// How to connect as superuser, over the socket.
    pub fn config(&self) -> Config {
        Config::unix(&self.sockets, self.port, SUPERUSER, SUPERUSER).with_connect_timeout(Some(CONNECTING))
    }

    /// How to connect over TCP, where it was asked for: a connection string, which has a password.
    pub fn tcp_url(&self) -> Option<String> {
        let Password(password) = self.password.as_ref()?;
        Some(format!("postgres://{SUPERUSER}:{password}@127.0.0.1:{}/{SUPERUSER}", self.port))
    }

    /// Opens a connection as superuser. The error has the end of the log when the server has ended.
    pub fn connect(&self) -> Result<Client, EngineError> {
        Client::connect(&self.config()).map_err(|error| {
            let ended = self.process.as_ref().and_then(Process::ended);
            let ended = ended.map(|status| {
                format!("; the server has ended with {status}; its log:\n{}", self.log_tail(LOG_LINES))
            });
            failed("connecting to the server", format!("{error}{}", ended.unwrap_or_default()))
        })
    }

    /// The data directory.
    pub fn data_directory(&self) -> PathBuf {
        self.layout.data.clone()
    }

    /// The programs it was made with.
    pub fn installation(&self) -> &Installation {
        &self.options.installation
    }

    /// As whom it runs; tablespaces must belong to it.
    pub fn account(&self) -> &Account {
        &self.options.account
    }

    /// Writes all dirty pages of the server.
    pub fn checkpoint(&self) -> Result<(), EngineError> {
        self.connect()?.batch("CHECKPOINT").map_err(|error| of_client("CHECKPOINT", &error))
    }

    /// The files of the data directory, the log and the tablespaces.
    pub fn files(&self) -> Result<Vec<PathBuf>, EngineError> {
        files::all(&self.layout.data)
    }

    /// Puts the files out of the operating system's page cache, after a checkpoint if it runs.
    /// What the server has in its shared buffers stays there: stop it before to begin cold.
    pub fn drop_os_cache(&self) -> Result<(), EngineError> {
        if self.is_running() {
            self.checkpoint()?;
        }
        files::evict(&self.files()?)
    }

    /// Bytes allocated by the data directory, the log and the tablespaces.
    pub fn space_bytes(&self) -> u64 {
        self.files().map_or(0, |files| files::allocated_bytes(&files))
    }

    /// Stops the server and removes the cluster; fails when something of it remains.
    pub fn remove(mut self) -> Result<(), EngineError> {
        self.clear()
    }

    fn clear(&mut self) -> Result<(), EngineError> {
        self.stop(Stop::Immediate)?;
        if let Some((key, id)) = Postmaster::of(&self.layout.data).shared_memory {
            free_shared_memory(key, id);
        }
        remove_files(&self.layout, self.options.wal_directory.as_deref())
    }
}

impl Password {
    fn random() -> Result<Self, EngineError> {
        let path = Path::new("/dev/urandom");
        let mut bytes = [0_u8; 16];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut bytes));
        read.map_err(at(path))?;
        Ok(Self(format!("{:032x}", u128::from_ne_bytes(bytes))))
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Password(..)")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // What remains is found by the next run.
        let _ = self.clear();
    }
}

/// Whether nothing is where the cluster is to be: another cluster would be removed with ours.
fn is_vacant(layout: &Layout, wal: Option<&Path>) -> Result<(), EngineError> {
    let places = [&layout.data, &layout.socket, &layout.log].map(PathBuf::as_path);
    match places.into_iter().chain(wal).find(|place| place.symlink_metadata().is_ok()) {
        Some(taken) => Err(at(taken)(std::io::ErrorKind::AlreadyExists.into())),
        None => Ok(()),
    }
}

/// Lets another account through a directory of ours; what the cluster has in it is private.
fn open_for(account: &Account, directory: &Path) -> Result<(), EngineError> {
    if account.is_other() {
        let found = directory.metadata().map_err(at(directory))?;
        let mode = Permissions::from_mode(found.permissions().mode() | 0o111);
        std::fs::set_permissions(directory, mode).map_err(at(directory))?;
    }
    account.can_enter(directory)
}

fn absolute(path: &Path) -> Result<PathBuf, EngineError> {
    path.canonicalize().map_err(at(path))
}

fn move_wal(from: &Path, to: &Path, account: &Account) -> Result<(), EngineError> {
    clone_folder(from, to, account)?;
    std::fs::remove_dir_all(from).map_err(at(from))?;
    symlink(to, from).map_err(at(from))?;
    account.own(from)
}

/// A port that nobody listens on. Without TCP it only names the socket, in a folder of its own.
pub(super) fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    listener.and_then(|listener| listener.local_addr()).map_or(5432, |address| address.port())
}
