//! A relay before a server, which breaks as networks and machines do.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Passes connections on to a server until they are cut, as when another node takes its place, or
/// until the server falls silent, as when its machine hangs.
#[derive(Debug, Default)]
pub struct Relay {
    port: u16,
    streams: Mutex<Vec<TcpStream>>,
    is_down: AtomicBool,
    is_silent: AtomicBool,
    /// A text of requests with which the server falls silent.
    silenced_by: Option<String>,
}

impl Relay {
    /// A relay before the server of a URL, and its URL. The server falls silent when a request has
    /// the text `silenced_by`.
    pub fn before(url: &str, silenced_by: Option<&str>) -> (String, Arc<Self>) {
        let (start, rest) = url.rsplit_once(':').unwrap();
        let (port, rest) = rest.split_once('/').unwrap();
        let relay = Self::start(port.parse().unwrap(), silenced_by);
        (format!("{start}:{}/{rest}", relay.port), relay)
    }

    fn start(to: u16, silenced_by: Option<&str>) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let silenced_by = silenced_by.map(str::to_owned);
        let relay = Arc::new(Self { port, silenced_by, ..Self::default() });
        let own = Arc::clone(&relay);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if !own.is_down.load(Ordering::Relaxed) {
                    own.serve(client, TcpStream::connect(("127.0.0.1", to)).unwrap());
                }
            }
        });
        relay
    }

    fn serve(self: &Arc<Self>, client: TcpStream, server: TcpStream) {
        self.streams.lock().unwrap().push(client.try_clone().unwrap());
        let streams =
            [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)];
        for (mut from, mut to) in streams {
            let own = Arc::clone(self);
            std::thread::spawn(move || {
                let mut bytes = vec![0; 1 << 16];
                while let Ok(read @ 1..) = from.read(&mut bytes) {
                    own.listen(&bytes[..read]);
                    if !own.is_silent.load(Ordering::Relaxed)
                        && to.write_all(&bytes[..read]).is_err()
                    {
                        break;
                    }
                }
                let _ = to.shutdown(Shutdown::Both);
            });
        }
    }

    /// Falls silent with a text. Requests are UTF-16.
    fn listen(&self, bytes: &[u8]) {
        let Some(text) = &self.silenced_by else { return };
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        if bytes.windows(units.len().max(1)).any(|window| window.starts_with(&units)) {
            self.is_silent.store(true, Ordering::Relaxed);
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
        self.streams.lock().unwrap().len()
    }

    /// Cuts all connections.
    pub fn cut(&self) {
        for stream in self.streams.lock().unwrap().iter() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}
