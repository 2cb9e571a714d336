//! A proxy in front of a server, which does what a test says with what clients send.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use testing::relay::{self, Fate, From, contains, utf16};

/// A treatment of bytes that a client has sent.
#[derive(Clone)]
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
        contains(self.bytes, text.as_bytes()) || contains(self.bytes, &utf16(text))
    }
}

/// A proxy on 127.0.0.1 that lives until the test ends.
pub struct Proxy {
    pub port: u16,
    /// Everything that clients have sent.
    traffic: Arc<Mutex<Vec<u8>>>,
}

impl Proxy {
    /// To the server at this port.
    pub fn start(to: u16, decide: impl Fn(&Sent<'_>) -> Act + Send + Sync + 'static) -> Self {
        let localhost = IpAddr::from(Ipv4Addr::LOCALHOST);
        let received = Arc::<Mutex<Vec<u8>>>::default();
        let (shared, decide) = (Arc::clone(&received), Arc::new(decide));
        let address = relay::start(localhost, (localhost, to).into(), move |_| {
            let (received, decide) = (Arc::clone(&shared), Arc::clone(&decide));
            let (mut is_first, mut last) = (true, Act::Pass);
            Box::new(move |from, bytes| {
                if from == From::Server {
                    return if matches!(last, Act::Pass) { Fate::Pass } else { Fate::Drop };
                }
                received.lock().unwrap().extend(bytes);
                match last {
                    Act::Swallow => return Fate::Drop,
                    Act::Answer(_) => return Fate::Cut,
                    Act::Pass | Act::PassLast => {}
                }
                let act = decide(&Sent { bytes, is_first });
                is_first = false;
                if !matches!(act, Act::Pass) {
                    last = act.clone();
                }
                match act {
                    Act::Pass | Act::PassLast => Fate::Pass,
                    Act::Swallow => Fate::Drop,
                    Act::Answer(answer) => Fate::Answer(answer),
                }
            })
        });
        Self { port: address.port(), traffic: received }
    }

    /// Returns whether a client has sent these bytes.
    pub fn has_heard(&self, part: &[u8]) -> bool {
        contains(&self.traffic.lock().unwrap(), part)
    }
}
