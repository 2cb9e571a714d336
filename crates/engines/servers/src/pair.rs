//! A private server that a study disturbs, and its replica: `Parts::nodes` lets a study kill,
//! freeze, replicate and promote. Such a server is spent: the next trial has a new one. The replica
//! is a folder in the marked folder of its primary.

use crate::files::Layout;
use crate::private::{Options, Product, Server, Stop};
use engine::nodes::Route;
use engine::{
    AdminSession, ConnectionSet, Disturbance, EngineError, Node, Nodes, Program, ProgramNames,
    Result, Results, lock,
};
use std::fs::DirBuilder;
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use work::Cancel;

/// The folder of a replica, in the marked directory of its primary.
const REPLICA: &str = "replica";
/// The folder of a relay's socket, in that of the server's. Its name and that of the socket are no
/// longer than the room that `files` leaves for names.
const RELAY: &str = "r";
/// Names of sockets there: both ends of the way beside the server's.
const SOCKETS: [&str; 2] = ["c", "s"];

/// A product with client programs, which replicates.
pub trait Replicating: Product {
    /// Name of the socket in its folder.
    const SOCKET: &'static str;
    /// The superuser of its private servers.
    const SUPERUSER: &'static str;
    /// The database in which trials work.
    const DATABASE: &'static str;

    /// Returns how to connect in a database.
    fn in_database(config: Self::Config, database: &str) -> Self::Config;
    /// Opens a session for administration, whose answers may take as long as they do.
    fn admin_session(config: Self::Config, cancel: &Cancel) -> Result<Box<dyn AdminSession>>;
    /// Returns the variables by which client programs find it.
    fn environment(config: &Self::Config) -> Vec<(String, Option<String>)>;
    /// Finds a client program of the server's version.
    fn client_program(&self, program: ProgramNames) -> Result<Program>;

    /// Makes a replica of a running server, starts it, and waits until it follows.
    fn replicate(
        primary: &mut Server<Self>,
        options: Options<Self>,
        cancel: &Cancel,
    ) -> Result<Server<Self>>;
    /// Lets commits on a server wait for its replica.
    fn confirm(primary: &Server<Self>, replica: &Server<Self>, cancel: &Cancel) -> Result<()>;
    /// Shuts a server down once its replica has received all of its log.
    fn hand_over(
        primary: &mut Server<Self>,
        _replica: &Server<Self>,
        cancel: &Cancel,
    ) -> Result<()> {
        primary.stop(Stop::Clean, cancel)
    }
    /// Makes a replica a primary that accepts writes.
    fn promote(replica: &Server<Self>, cancel: &Cancel) -> Result<()>;
    /// Opens a session in the schema of trials; the login may take this long.
    fn session(
        config: &Self::Config,
        patience: Duration,
        cancel: &Cancel,
    ) -> Result<Box<dyn ConnectionSet>>;
    /// Runs a query in the schema of trials.
    fn ask(config: &Self::Config, sql: &str, cancel: &Cancel) -> Result<Results>;
}

/// A server, and the folder of its sockets: connecting does not wait for its lock.
pub(crate) struct Member<P: Product> {
    pub(crate) server: Arc<Mutex<Server<P>>>,
    pub(crate) sockets: PathBuf,
}

/// A private server and its replica.
pub struct Pair<P: Product> {
    pub(crate) primary: Member<P>,
    replica: OnceLock<Member<P>>,
    route: OnceLock<Route>,
    pub(crate) cancel: Cancel,
}

impl<P: Product> Pair<P> {
    /// Returns the pair of a server that has no replica yet.
    pub fn new(primary: &Arc<Mutex<Server<P>>>, cancel: &Cancel) -> Self {
        let sockets = lock(primary).sockets().to_path_buf();
        let primary = Member { server: Arc::clone(primary), sockets };
        let (replica, route) = (OnceLock::new(), OnceLock::new());
        Self { primary, replica, route, cancel: cancel.clone() }
    }

    /// Returns the sockets of a way beside the server's over its link, which are in this folder;
    /// [`Nodes::route_beside`] has them from then on.
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

    /// Kills both servers and removes the replica.
    ///
    /// # Errors
    /// When something of them remains.
    pub fn end(&self) -> Result<()> {
        lock(&self.primary.server).kill()?;
        let Some(replica) = self.replica.get() else { return Ok(()) };
        let mut server = lock(&replica.server);
        server.kill()?;
        server.clear()?;
        remove_folder(&server.layout)
    }

    /// Returns the bytes that the replica has allocated.
    pub fn replica_bytes(&self) -> u64 {
        self.replica.get().map_or(0, |replica| lock(&replica.server).space_bytes())
    }

    fn member(&self, node: Node) -> Result<&Member<P>> {
        match node {
            Node::Primary => Ok(&self.primary),
            Node::Replica => self.replica.get().ok_or_else(|| {
                EngineError::failed("looking for the replica", "the primary has none yet")
            }),
        }
    }
}

/// Removes the folder of a replica, which is empty then.
pub(crate) fn remove_folder(layout: &Layout) -> Result<()> {
    let folder = &layout.directory;
    crate::process::removed(folder, std::fs::remove_dir(folder))
}

impl<P: Product> Drop for Pair<P> {
    fn drop(&mut self) {
        if let Some(replica) = self.replica.get() {
            // Without its primary nothing is served; removing it would wait for a frozen one.
            let _ = lock(&replica.server).kill();
        }
    }
}

impl<P: Replicating> Nodes for Pair<P> {
    fn disturb(&self, node: Node, by: Disturbance) -> Result<()> {
        let mut server = lock(&self.member(node)?.server);
        server.is_spent = true;
        match by {
            Disturbance::Kill => server.kill(),
            Disturbance::Freeze => {
                server.freeze();
                Ok(())
            }
            Disturbance::ShutDown => match self.replica.get() {
                Some(replica) if node == Node::Primary => {
                    P::hand_over(&mut server, &lock(&replica.server), &self.cancel)
                }
                _ => server.stop(Stop::Clean, &self.cancel),
            },
        }
    }

    fn start(&self, node: Node) -> Result<()> {
        lock(&self.member(node)?.server).start(&self.cancel)
    }

    fn attach_replica(&self, confirms: bool) -> Result<()> {
        let mut primary = lock(&self.primary.server);
        // Its settings change.
        primary.is_spent = true;
        let directory = primary.layout.directory.join(REPLICA);
        // In a folder that is marked as ours. One that was left is empty.
        let _ = std::fs::remove_dir(&directory);
        primary.options.account.make_folder(&directory)?;
        let options = primary.options_in(&directory);
        let replica = P::replicate(&mut primary, options, &self.cancel)?;
        if confirms {
            P::confirm(&primary, &replica, &self.cancel)?;
        }
        let sockets = replica.sockets().to_path_buf();
        let member = Member { server: Arc::new(Mutex::new(replica)), sockets };
        self.replica
            .set(member)
            .map_err(|_| EngineError::failed("making a replica", "the server has one already"))
    }

    fn promote(&self) -> Result<()> {
        P::promote(&lock(&self.member(Node::Replica)?.server), &self.cancel)
    }

    fn session(
        &self,
        node: Node,
        is_relayed: bool,
        patience: Duration,
    ) -> Result<Box<dyn ConnectionSet>> {
        let sockets = &self.member(node)?.sockets;
        let relayed = sockets.join(RELAY);
        let sockets: &Path = if is_relayed { &relayed } else { sockets };
        P::session(&P::config(sockets), patience, &self.cancel)
    }

    fn ask(&self, node: Node, sql: &str) -> Result<Results> {
        P::ask(&P::config(&self.member(node)?.sockets), sql, &self.cancel)
    }

    fn route(&self, node: Node) -> Result<Route> {
        let sockets = &self.member(node)?.sockets;
        let folder = sockets.join(RELAY);
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(EngineError::at(&folder)(error));
            }
            _ => {}
        }
        let relay = folder.join(P::SOCKET);
        // One that was left by a relay whose process was killed.
        crate::process::removed(&relay, std::fs::remove_file(&relay))?;
        Ok(Route { relay, server: sockets.join(P::SOCKET) })
    }

    fn route_beside(&self) -> Option<Route> {
        self.route.get().cloned()
    }
}
