//! A proxy in front of a server, which does what a test says with what clients send.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A treatment of bytes that a client has sent.
pub enum Act {
    /// They are passed on.
    Pass,
    /// They are passed on, and no answer is from then on.
    PassLast,
    /// Nothing of this connection is passed on any more.
    Swallow,
    /// Nothing is passed on, and this is the answer. The connection ends after the client's next
    /// bytes.
    Answer(Vec<u8>),
}

/// Bytes that a client sent.
pub struct Sent<'a> {
    pub bytes: &'a [u8],
    /// They are the first of their connection.
    pub is_first: bool,
}

impl Sent<'_> {
    /// Returns whether they have this text, also in UTF-16.
    pub fn has(&self, text: &str) -> bool {
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let has = |part: &[u8]| self.bytes.windows(part.len()).any(|window| window == part);
        has(text.as_bytes()) || has(&wide)
    }
}

type Decide = dyn Fn(&Sent<'_>) -> Act + Send + Sync;

/// A proxy on 127.0.0.1 that lives until the test ends.
pub struct Proxy {
    pub port: u16,
    /// Everything that clients have sent.
    heard: Arc<Mutex<Vec<u8>>>,
}

impl Proxy {
    /// To the server at this port.
    pub fn start(to: u16, decide: impl Fn(&Sent<'_>) -> Act + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, heard) = (listener.local_addr().unwrap().port(), Arc::default());
        let proxy = Self { port, heard };
        let (heard, decide) = (Arc::clone(&proxy.heard), Arc::new(decide));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", to)) else { continue };
                let session = Session { client, server, is_cut: Arc::default() };
                let (heard, decide) = (Arc::clone(&heard), Arc::clone(&decide));
                std::thread::spawn(move || session.serve(&heard, &*decide));
            }
        });
        proxy
    }

    /// Returns whether a client has sent these bytes.
    pub fn has_heard(&self, part: &[u8]) -> bool {
        self.heard.lock().unwrap().windows(part.len()).any(|window| window == part)
    }
}

struct Session {
    client: TcpStream,
    server: TcpStream,
    /// No answer of the server is passed on.
    is_cut: Arc<AtomicBool>,
}

impl Session {
    fn serve(mut self, heard: &Mutex<Vec<u8>>, decide: &Decide) {
        let (mut from, mut to) =
            (self.server.try_clone().unwrap(), self.client.try_clone().unwrap());
        let is_cut = Arc::clone(&self.is_cut);
        std::thread::spawn(move || {
            let mut bytes = vec![0; 64 << 10];
            while let Ok(count @ 1..) = from.read(&mut bytes) {
                if !is_cut.load(Ordering::SeqCst) && to.write_all(&bytes[..count]).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(Shutdown::Both);
        });
        let (mut bytes, mut is_first, mut is_swallowed, mut is_answered) =
            (vec![0; 64 << 10], true, false, false);
        while let Ok(count @ 1..) = self.client.read(&mut bytes) {
            let bytes = &bytes[..count];
            heard.lock().unwrap().extend(bytes);
            if is_answered {
                break;
            }
            if is_swallowed {
                continue;
            }
            let act = decide(&Sent { bytes, is_first });
            is_first = false;
            is_swallowed = matches!(act, Act::Swallow);
            is_answered = matches!(act, Act::Answer(_));
            let is_last = is_swallowed || is_answered || matches!(act, Act::PassLast);
            self.is_cut.fetch_or(is_last, Ordering::SeqCst);
            let done = match act {
                Act::Pass | Act::PassLast => self.server.write_all(bytes),
                Act::Swallow => Ok(()),
                Act::Answer(answer) => self.client.write_all(&answer),
            };
            if done.is_err() {
                break;
            }
        }
        let _ = self.server.shutdown(Shutdown::Both);
        let _ = self.client.shutdown(Shutdown::Both);
    }
}
