//! The socket of a relay: its folder, which only this account can enter, and its threads.

use super::pump::pump;
use engine::{EngineError, Result, lock};
use observe::processes;
use std::fs::DirBuilder;
use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, Builder, JoinHandle};
use std::time::{Duration, Instant};
use transport::Stream;
use work::Stop;

/// The prefix of the names of the folders; the number of the process and another number follow.
const FOLDER: &str = "steelbench-relay-";
/// The path of a socket has at most 107 bytes (unix(7)); this leaves room for what follows.
const PARENT_BYTES_MAX: usize = 50;
/// The time after which a connection is accepted again that could not be.
const ACCEPT_AGAIN: Duration = Duration::from_millis(20);
/// Time that a session has to end: one that logs in on a silent server does not notice the end.
const END_MAX: Duration = Duration::from_secs(3);
const END_AGAIN: Duration = Duration::from_millis(5);
/// Folders of one process at most.
const FOLDERS_MAX: u32 = 1000;

/// The beginning of a connection in a program's protocol.
pub trait Handshake: Send + Sync + 'static {
    /// Name of the socket in the folder of the relay.
    const SOCKET: &'static str;

    /// Answers the login of a program by one on the server. Returns the connection there; `None`
    /// where the program wants none. `over` ends each wait for the server: the program is gone.
    ///
    /// # Errors
    /// When the program is lost. A server that refuses the login is an answer to the program.
    fn admit(&self, program: &mut UnixStream, over: &Stop) -> io::Result<Option<Stream>>;
}

/// A socket for helper programs. Dropped, it ends their connections.
#[derive(Debug)]
pub struct Relay {
    folder: PathBuf,
    socket: PathBuf,
    sessions: Arc<Sessions>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Sessions {
    is_over: Arc<AtomicBool>,
    all: Mutex<Vec<(UnixStream, JoinHandle<()>)>>,
}

impl Relay {
    /// Makes the socket and serves it.
    ///
    /// # Errors
    /// When the folder, the socket or the thread cannot be made.
    pub fn start<H: Handshake>(protocol: H) -> Result<Self> {
        let folder = make_folder()?;
        let socket = folder.join(H::SOCKET);
        let sessions = Arc::new(Sessions::default());
        let mut relay = Self { folder, socket, sessions, accepting: None };
        let listener = UnixListener::bind(&relay.socket).map_err(EngineError::at(&relay.socket))?;
        let sessions = Arc::clone(&relay.sessions);
        let accepting = Builder::new()
            .name("relay".into())
            .spawn(move || accept(&listener, protocol, &sessions));
        relay.accepting = Some(accepting.map_err(|error| EngineError::no_thread(&error))?);
        Ok(relay)
    }

    /// The folder of the socket.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The socket.
    pub fn socket(&self) -> &Path {
        &self.socket
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.sessions.is_over.store(true, Ordering::Relaxed);
        if let Some(accepting) = self.accepting.take() {
            // It waits for a connection.
            if UnixStream::connect(&self.socket).is_ok() {
                let _ = accepting.join();
            }
        }
        // Sessions on the server have ended when this returns: they would be in the way.
        for (program, thread) in lock(&self.sessions.all).drain(..) {
            let _ = program.shutdown(Shutdown::Both);
            let begun = Instant::now();
            while !thread.is_finished() && begun.elapsed() < END_MAX {
                thread::sleep(END_AGAIN);
            }
        }
        // What cannot be removed goes when the next relay starts.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn accept(listener: &UnixListener, protocol: impl Handshake, sessions: &Arc<Sessions>) {
    let protocol = Arc::new(protocol);
    for program in listener.incoming() {
        if sessions.is_over.load(Ordering::Relaxed) {
            return;
        }
        let Ok(program) = program else {
            // No descriptor is free, for now.
            thread::sleep(ACCEPT_AGAIN);
            continue;
        };
        let (Ok(stream), protocol) = (program.try_clone(), Arc::clone(&protocol)) else { continue };
        let own_sessions = Arc::clone(sessions);
        if let Ok(thread) = Builder::new().name("relay session".into()).spawn(move || {
            // The program reports what it misses.
            let _ = serve(program, &*protocol, &own_sessions.is_over);
        }) {
            lock(&sessions.all).push((stream, thread));
        }
    }
}

fn serve(
    mut program: UnixStream,
    protocol: &impl Handshake,
    is_over: &Arc<AtomicBool>,
) -> io::Result<()> {
    let flag = Arc::clone(is_over);
    let over = Stop::when(move || flag.load(Ordering::Relaxed));
    let result = match protocol.admit(&mut program, &over)? {
        Some(mut server) => pump(&program, &mut server, is_over),
        None => Ok(()),
    };
    // A copy is kept, with which the socket would stay open.
    program.shutdown(Shutdown::Both)?;
    result
}

/// Makes a folder that no other account can enter. Folders of processes that were killed go.
fn make_folder() -> Result<PathBuf> {
    let short =
        Some(std::env::temp_dir()).filter(|path| path.as_os_str().len() <= PARENT_BYTES_MAX);
    let parent = short.unwrap_or_else(|| "/tmp".into());
    remove_left(&parent);
    let pid = std::process::id();
    for number in 0..FOLDERS_MAX {
        let path = parent.join(format!("{FOLDER}{pid}-{number}"));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(EngineError::at(&path)(error)),
        }
    }
    Err(EngineError::at(&parent)(ErrorKind::AlreadyExists.into()))
}

/// Removes the folders of relays whose process is gone.
fn remove_left(parent: &Path) {
    let us = rustix::process::geteuid().as_raw();
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let numbers = name.to_str().and_then(|name| name.strip_prefix(FOLDER));
        let pid = numbers.and_then(|rest| rest.split('-').next()?.parse().ok());
        let is_left = pid.is_some_and(|pid| !processes::is_alive(pid));
        let is_ours =
            entry.metadata().is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == us);
        if is_left && is_ours {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Handshake, Relay};
    use std::io;
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc::{Sender, channel};
    use std::thread;
    use std::time::Duration;
    use transport::Stream;
    use work::Stop;

    /// A handshake with a server that never answers.
    struct Silent(Sender<()>);

    impl Handshake for Silent {
        const SOCKET: &'static str = "silent";

        fn admit(&self, _: &mut UnixStream, over: &Stop) -> io::Result<Option<Stream>> {
            let _ = self.0.send(());
            while !over.is_asked() {
                thread::sleep(Duration::from_millis(5));
            }
            Ok(None)
        }
    }

    #[test]
    fn a_relay_ends_while_it_logs_in_on_a_server_that_never_answers() {
        let long = Duration::from_secs(60);
        let (sender, receiver) = channel();
        let relay = Relay::start(Silent(sender)).unwrap();
        let _program = UnixStream::connect(relay.socket()).unwrap();
        receiver.recv_timeout(long).unwrap();
        let folder = relay.folder().to_owned();
        let (ended, ends) = channel();
        thread::spawn(move || {
            drop(relay);
            let _ = ended.send(());
        });
        ends.recv_timeout(long).expect("the relay never ends");
        assert!(!folder.exists());
    }
}
