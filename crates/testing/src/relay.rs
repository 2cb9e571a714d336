//! A relay before a server: passes on what client and server send, changes it, or breaks as
//! networks and machines do.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The sender of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// The program that connects.
    Client,
    /// The server behind the relay.
    Server,
}

/// The fate of bytes.
#[derive(Debug)]
pub enum Fate {
    /// They are passed on.
    Pass,
    /// Passes these on instead.
    Change(Vec<u8>),
    /// Sends these to the sender and nothing to the other side.
    Answer(Vec<u8>),
    /// Nothing is passed on.
    Drop,
    /// Closes both connections.
    Cut,
    /// Nothing of any connection is passed on any more, as when the server's machine hangs.
    Silence,
}

/// Decides about the bytes of one connection.
pub type Judge = Box<dyn FnMut(From, &[u8]) -> Fate + Send>;

/// A relay that lives until the test ends.
#[derive(Debug)]
pub struct Relay {
    address: SocketAddr,
    clients: Mutex<Vec<TcpStream>>,
    is_down: AtomicBool,
    is_silent: AtomicBool,
}

/// Listens at an address and connects each client with this server; `judge` is given the number of
/// the connection, from 0.
pub fn start(
    address: IpAddr,
    server: SocketAddr,
    judge: impl FnMut(usize) -> Judge + Send + 'static,
) -> SocketAddr {
    Relay::start(address, server, judge).address
}

impl Relay {
    /// A relay on 127.0.0.1 before the server of a URL, and its URL.
    pub fn judging(
        url: &str,
        judge: impl FnMut(usize) -> Judge + Send + 'static,
    ) -> (String, Arc<Self>) {
        let (start, rest) = url.rsplit_once(':').unwrap();
        let (port, rest) = rest.split_once('/').unwrap();
        let localhost = IpAddr::from(Ipv4Addr::LOCALHOST);
        let relay = Self::start(localhost, (localhost, port.parse().unwrap()).into(), judge);
        (format!("{start}:{}/{rest}", relay.address.port()), relay)
    }

    /// A relay before the server of a URL, and its URL. The server falls silent once a request has
    /// the text `silenced_by` in UTF-16.
    pub fn before(url: &str, silenced_by: Option<&str>) -> (String, Arc<Self>) {
        let text = silenced_by.map(utf16);
        Self::judging(url, move |_| {
            let text = text.clone();
            Box::new(move |_, bytes| {
                let is_last = text.as_ref().is_some_and(|text| contains(bytes, text));
                if is_last { Fate::Silence } else { Fate::Pass }
            })
        })
    }

    fn start(
        address: IpAddr,
        server: SocketAddr,
        mut judge: impl FnMut(usize) -> Judge + Send + 'static,
    ) -> Arc<Self> {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let relay = Arc::new(Self {
            address: listener.local_addr().unwrap(),
            clients: Mutex::default(),
            is_down: AtomicBool::new(false),
            is_silent: AtomicBool::new(false),
        });
        let shared = Arc::clone(&relay);
        std::thread::spawn(move || {
            for (number, client) in listener.incoming().flatten().enumerate() {
                if shared.is_down.load(Ordering::Relaxed) {
                    continue;
                }
                let Ok(server) = TcpStream::connect(server) else { continue };
                shared.clients.lock().unwrap().push(client.try_clone().unwrap());
                shared.serve(&client, &server, judge(number));
            }
        });
        relay
    }

    fn serve(self: &Arc<Self>, client: &TcpStream, server: &TcpStream, judge: Judge) {
        let judge = Arc::new(Mutex::new(judge));
        for (from, client, other) in
            [(From::Client, client, server), (From::Server, server, client)]
        {
            let (near, other) = (client.try_clone().unwrap(), other.try_clone().unwrap());
            let (relay, judge) = (Arc::clone(self), Arc::clone(&judge));
            std::thread::spawn(move || {
                // A broken connection is the end of it.
                let _ = relay.pump(from, &near, &other, &judge);
                let _ = other.shutdown(Shutdown::Both);
                let _ = near.shutdown(Shutdown::Both);
            });
        }
    }

    fn pump(
        &self,
        from: From,
        mut near: &TcpStream,
        mut other: &TcpStream,
        judge: &Mutex<Judge>,
    ) -> std::io::Result<()> {
        let mut bytes = vec![0; 64 << 10];
        loop {
            let length = near.read(&mut bytes)?;
            let some = &bytes[..length];
            if some.is_empty() {
                return Ok(());
            }
            let fate = (judge.lock().unwrap())(from, some);
            match fate {
                Fate::Silence => self.is_silent.store(true, Ordering::Relaxed),
                Fate::Cut => return Ok(()),
                _ if self.is_silent() => {}
                Fate::Pass => other.write_all(some)?,
                Fate::Change(changed) => other.write_all(&changed)?,
                Fate::Answer(answer) => near.write_all(&answer)?,
                Fate::Drop => {}
            }
        }
    }

    /// True once the server is silent.
    pub fn is_silent(&self) -> bool {
        self.is_silent.load(Ordering::Relaxed)
    }

    /// Closes new connections as they come, or lets them pass again.
    pub fn refuse(&self, is_down: bool) {
        self.is_down.store(is_down, Ordering::Relaxed);
    }

    /// Connections so far.
    pub fn opened(&self) -> usize {
        self.clients.lock().unwrap().len()
    }

    /// Cuts all connections, as when another node takes the server's place.
    pub fn cut(&self) {
        for client in self.clients.lock().unwrap().iter() {
            let _ = client.shutdown(Shutdown::Both);
        }
    }
}

/// Returns true when these bytes have that part.
pub fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len().max(1)).any(|window| window == part)
}

/// A text as SQL Server's protocol spells it.
pub fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}
