//! A private server as studies use it ([`PrivateServer`]): its client programs, copies of it, its
//! failures, and the sockets of its relays. One that was disturbed is spent: the next trial has a
//! new one.

use crate::files::clone_folder;
use crate::private::{Product, Server, Stop};
use engine::{
    AdminSession, ConnectionSet, Disturbance, EngineError, Node, PrivateFacts, PrivateServer,
    Program, ProgramNames, Result, Route, lock,
};
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;
use work::Cancel;

/// The folder of a relay's socket, in that of the server's. Its name and that of the socket are no
/// longer than the room that `files` leaves for names.
const RELAY: &str = "r";
/// Names of sockets there: both ends of the way beside the server's.
const SOCKETS: [&str; 2] = ["c", "s"];

/// A product with client programs.
pub trait Clients: Product {
    /// Name of the socket in its folder.
    const SOCKET: &'static str;
    /// The superuser of its private servers.
    const SUPERUSER: &'static str;
    /// The database in which trials work.
    const DATABASE: &'static str;

    /// Returns how to connect in a database.
    fn in_database(config: Self::Config, database: &str) -> Self::Config;
    /// Opens a session for administration in the schema of trials; an answer may take this long.
    fn admin_session(
        config: Self::Config,
        answer: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<Box<dyn AdminSession>>;
    /// Opens a connection as those of loads; the login may take this long.
    fn load_session(
        config: &Self::Config,
        patience: Duration,
        cancel: &Cancel,
    ) -> Result<Box<dyn ConnectionSet>>;
    /// Returns the variables by which client programs find it.
    fn environment(config: &Self::Config) -> Vec<(String, Option<String>)>;
    /// Finds a client program of the server's version.
    fn client_program(&self, program: ProgramNames) -> Result<Program>;
}

/// A private server.
pub struct ServerNode<P: Product> {
    server: Arc<Mutex<Server<P>>>,
    /// The folder of its sockets: connecting does not wait for its lock.
    sockets: PathBuf,
    route: OnceLock<Route>,
    cancel: Cancel,
    copies: Mutex<Vec<Weak<Mutex<Server<P>>>>>,
}

impl<P: Product> ServerNode<P> {
    /// Returns a server for studies.
    pub fn new(server: &Arc<Mutex<Server<P>>>, cancel: &Cancel) -> Self {
        Self {
            server: Arc::clone(server),
            sockets: lock(server).sockets().to_path_buf(),
            route: OnceLock::new(),
            cancel: cancel.clone(),
            copies: Mutex::default(),
        }
    }

    /// Returns the sockets of a way beside the server's over its link, which are in this folder;
    /// [`Node::route_beside`] has them from then on.
    ///
    /// # Errors
    /// When one that was left cannot be removed.
    pub fn add_route_beside(&self, folder: &Path) -> Result<Route> {
        let [relay, server] = SOCKETS.map(|name| folder.join(name));
        for path in [&relay, &server] {
            crate::process::removed(path, std::fs::remove_file(path))?;
        }
        Ok(self.route.get_or_init(|| Route { relay, server }).clone())
    }

    /// Returns the bytes that its copies have allocated.
    pub fn bytes_of_copies(&self) -> u64 {
        let copies = lock(&self.copies).clone();
        copies.iter().filter_map(Weak::upgrade).map(|copy| lock(&copy).space_bytes()).sum()
    }
}

impl<P: Clients> Node for ServerNode<P> {
    fn disturb(&self, by: Disturbance) -> Result<()> {
        let mut server = lock(&self.server);
        server.is_spent = true;
        match by {
            Disturbance::Kill => server.kill(),
            Disturbance::Freeze => {
                server.freeze();
                Ok(())
            }
            Disturbance::ShutDown => server.stop(Stop::Clean, &self.cancel),
        }
    }

    fn spend(&self) {
        lock(&self.server).is_spent = true;
    }

    fn connect(&self, is_relayed: bool, patience: Duration) -> Result<Box<dyn ConnectionSet>> {
        let relayed = self.sockets.join(RELAY);
        let sockets: &Path = if is_relayed { &relayed } else { &self.sockets };
        P::load_session(&P::config(sockets), patience, &self.cancel)
    }

    fn route(&self) -> Result<Route> {
        let folder = self.sockets.join(RELAY);
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(EngineError::at(&folder)(error));
            }
            _ => {}
        }
        let relay = folder.join(P::SOCKET);
        // One that was left by a relay whose process was killed.
        crate::process::removed(&relay, std::fs::remove_file(&relay))?;
        Ok(Route { relay, server: self.sockets.join(P::SOCKET) })
    }

    fn route_beside(&self) -> Option<Route> {
        self.route.get().cloned()
    }
}

impl<P: Clients> PrivateServer for ServerNode<P> {
    fn facts(&self) -> PrivateFacts {
        let server = lock(&self.server);
        PrivateFacts {
            user: P::SUPERUSER,
            database: P::DATABASE,
            folder: server.layout.directory.clone(),
            data_directory: server.data_directory().to_path_buf(),
            log_directory: server.options.log_directory.clone(),
        }
    }

    fn session(
        &self,
        database: Option<&str>,
        answer: Option<Duration>,
        cancel: &Cancel,
    ) -> Result<Box<dyn AdminSession>> {
        let config = P::in_database(P::config(&self.sockets), database.unwrap_or(P::DATABASE));
        let session = P::admin_session(config, answer, cancel);
        session.map_err(|error| lock(&self.server).with_log(error))
    }

    fn environment(&self, database: Option<&str>) -> Vec<(String, Option<String>)> {
        let config = P::in_database(P::config(&self.sockets), database.unwrap_or(P::DATABASE));
        P::environment(&config)
    }

    fn program(&self, program: ProgramNames) -> Result<Program> {
        let product = lock(&self.server).options.product.clone();
        product.client_program(program)
    }

    fn copy(
        &self,
        folder: &Path,
        from: Option<&Path>,
        finish: &dyn Fn(&Path) -> Result<()>,
    ) -> Result<Box<dyn PrivateServer>> {
        // In a statement: the lock is held until its end.
        let (options, settings) = {
            let server = lock(&self.server);
            (server.options_in(folder), server.in_force.clone())
        };
        options.account.make_folder(folder)?;
        let mut copy = Server::with_data(options, |options, data| {
            from.map_or(Ok(()), |from| clone_folder(from, data, &options.account))?;
            finish(data)?;
            options.account.chown_below(data)
        })?;
        copy.in_force = settings;
        let copy = Arc::new(Mutex::new(copy));
        lock(&self.copies).push(Arc::downgrade(&copy));
        Ok(Box::new(Self::new(&copy, &self.cancel)))
    }

    fn start(&self, more: &[(&str, String)], cancel: &Cancel) -> Result<()> {
        let mut server = lock(&self.server);
        if server.is_running() {
            return Ok(());
        }
        let mut settings = server.in_force.clone().unwrap_or_default();
        settings.extend(more.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        server.start_with(settings, cancel)
    }

    fn log_tail(&self, lines: usize) -> String {
        lock(&self.server).log_tail(lines)
    }

    fn remove(self: Box<Self>) -> Result<()> {
        let mut server = lock(&self.server);
        server.clear()?;
        let folder = &server.layout.directory;
        crate::process::removed(folder, std::fs::remove_dir(folder))
    }
}
