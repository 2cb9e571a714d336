//! A man in the middle: passes on what client and server send, and changes it.

use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The sender of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    Client,
    Server,
}

/// The fate of bytes.
pub enum Fate {
    Pass,
    /// Passes these on instead.
    Change(Vec<u8>),
    /// Sends these to the sender and nothing to the other side.
    Answer(Vec<u8>),
    Drop,
    /// Closes both connections.
    Cut,
}

/// Decides about the bytes of one connection.
pub type Judge = Box<dyn FnMut(From, &[u8]) -> Fate + Send>;

/// Listens at an address and connects each client with this server; `judge` is given the number of
/// the connection, from 0.
pub fn start(
    address: IpAddr,
    server: SocketAddr,
    mut judge: impl FnMut(usize) -> Judge + Send + 'static,
) -> SocketAddr {
    let listener = TcpListener::bind((address, 0)).unwrap();
    let own = listener.local_addr().unwrap();
    thread::spawn(move || {
        for (number, client) in listener.incoming().flatten().enumerate() {
            let Ok(server) = TcpStream::connect(server) else { continue };
            let judge = Arc::new(Mutex::new(judge(number)));
            for (from, own, other) in
                [(From::Client, &client, &server), (From::Server, &server, &client)]
            {
                let (own, other) = (own.try_clone().unwrap(), other.try_clone().unwrap());
                let judge = Arc::clone(&judge);
                thread::spawn(move || {
                    // A broken connection is the end of it.
                    let _ = pump(from, &own, &other, &judge);
                    let _ = other.shutdown(Shutdown::Both);
                    let _ = own.shutdown(Shutdown::Both);
                });
            }
        }
    });
    own
}

fn pump(
    from: From,
    mut own: &TcpStream,
    mut other: &TcpStream,
    judge: &Mutex<Judge>,
) -> std::io::Result<()> {
    let mut bytes = [0; 16 << 10];
    loop {
        let length = own.read(&mut bytes)?;
        let some = &bytes[..length];
        if some.is_empty() {
            return Ok(());
        }
        let fate = (judge.lock().unwrap())(from, some);
        match fate {
            Fate::Pass => other.write_all(some)?,
            Fate::Change(changed) => other.write_all(&changed)?,
            Fate::Answer(answer) => own.write_all(&answer)?,
            Fate::Drop => {}
            Fate::Cut => return Ok(()),
        }
    }
}

/// Returns true when these bytes have that part.
pub fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len().max(1)).any(|window| window == part)
}
