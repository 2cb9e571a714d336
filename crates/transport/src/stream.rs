use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::{RecvFlags, SendFlags};
use rustix::time::Timespec;
use rustls::ClientConnection;
use socket2::Socket;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

/// A socket, encrypted or not, for a load that does its own waiting and for a client that blocks.
///
/// For plain sockets [`read`](Self::read) and [`write`](Self::write) are one system call each.
/// With TLS the file descriptor may have nothing to read while decrypted bytes wait, so read
/// until [`ErrorKind::WouldBlock`]; and what was written may wait for the socket, so call
/// [`flush`](Self::flush) when it can be written, as long as [`wants_write`](Self::wants_write).
#[derive(Debug)]
pub struct Stream {
    socket: Socket,
    tls: Option<Box<ClientConnection>>,
    /// Received and put back; read first.
    unread: VecDeque<u8>,
    goodbye: &'static [u8],
}

impl Stream {
    /// A connected socket in blocking mode. When it is dropped, it sends the protocol's `goodbye`.
    pub fn new(socket: Socket, goodbye: &'static [u8]) -> Self {
        Self { socket, tls: None, unread: VecDeque::new(), goodbye }
    }

    /// The socket, to wait on or to set its options.
    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Whether the connection is encrypted.
    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Whether encrypted bytes wait for the socket to take them.
    pub fn wants_write(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Reads what is there, without waiting; 0 when the server has closed the connection. Fails with
    /// [`ErrorKind::WouldBlock`] when nothing is there, and with [`ErrorKind::InvalidData`] when it cannot
    /// be decrypted.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_as(buffer, false)
    }

    /// Reads what is there, and waits for it up to the read timeout ([`ErrorKind::TimedOut`]).
    pub fn read_blocking(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.read_as(buffer, true).map_err(timed_out) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    fn read_as(&mut self, buffer: &mut [u8], waits: bool) -> io::Result<usize> {
        if !self.unread.is_empty() {
            return self.unread.read(buffer);
        }
        let mut socket = Calls { socket: &self.socket, waits };
        let Some(tls) = &mut self.tls else { return socket.read(buffer) };
        loop {
            match tls.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // Messages have lengths: an end without TLS's goodbye is an end.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                result => return result,
            }
            if tls.read_tls(&mut socket)? == 0 {
                return Ok(0);
            }
            tls.process_new_packets().map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        }
    }

    /// Writes as much as the socket takes, or as TLS buffers, without waiting. Fails with
    /// [`ErrorKind::WouldBlock`] when it takes nothing.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return Calls { socket: &self.socket, waits: false }.write(bytes);
        };
        let taken = tls.writer().write(bytes)?;
        match self.flush() {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ if taken == 0 && !bytes.is_empty() => Err(ErrorKind::WouldBlock.into()),
            _ => Ok(taken),
        }
    }

    /// Sends the encrypted bytes that wait, if any; fails with [`ErrorKind::WouldBlock`] when some still
    /// wait.
    pub fn flush(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            while tls.wants_write() {
                tls.write_tls(&mut Calls { socket: &self.socket, waits: false })?;
            }
        }
        Ok(())
    }

    /// Writes all of it, waiting as long as it takes: for messages that fit into a socket's buffer.
    pub fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() || self.wants_write() {
            let written = if bytes.is_empty() { self.flush().map(|()| 0) } else { self.write(bytes) };
            match written {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait_for_room(None)?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until the socket takes more, or has something to read, which the server may want read
    /// first; fails with [`ErrorKind::TimedOut`].
    pub fn wait_for_room(&self, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = timeout.map(|timeout| Timespec {
            tv_sec: timeout.as_secs().min(u32::MAX.into()) as _,
            tv_nsec: timeout.subsec_nanos().into(),
        });
        let mut socket = [PollFd::new(&self.socket, PollFlags::IN | PollFlags::OUT)];
        match poll(&mut socket, timeout.as_ref()) {
            Ok(0) => Err(ErrorKind::TimedOut.into()),
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// How long [`read_blocking`](Self::read_blocking) waits; `None` is for ever.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        // Zero means for ever to the system.
        self.socket.set_read_timeout(timeout.map(|timeout| timeout.max(Duration::from_millis(1))))
    }

    /// Encrypts from now on: blocks until the handshake is done, up to the read timeout for each answer.
    /// When the handshake fails, a [`rustls::Error`] is inside the error.
    pub fn encrypt(&mut self, mut tls: ClientConnection) -> io::Result<()> {
        while tls.is_handshaking() {
            match tls.complete_io(&mut Calls { socket: &self.socket, waits: true }) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => drop(result.map_err(timed_out)?),
            }
        }
        self.tls = Some(Box::new(tls));
        Ok(())
    }

    /// The certificate that the server showed.
    pub fn server_certificate(&self) -> Option<&[u8]> {
        Some(self.tls.as_ref()?.peer_certificates()?.first()?)
    }

    /// Puts back what was received and not understood yet.
    pub fn unread(&mut self, bytes: impl Into<Vec<u8>>) {
        self.unread = VecDeque::from(bytes.into());
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // A server that cannot hear it notices that the socket is closed.
        let _ = self.write(self.goodbye);
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
        }
        let _ = self.flush();
    }
}

/// A socket that waits reports its timeout as a call to repeat.
fn timed_out(error: io::Error) -> io::Error {
    if error.kind() == ErrorKind::WouldBlock { ErrorKind::TimedOut.into() } else { error }
}

/// A socket whose calls wait or not.
struct Calls<'a> {
    socket: &'a Socket,
    waits: bool,
}

impl Read for Calls<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let flags = if self.waits { RecvFlags::empty() } else { RecvFlags::DONTWAIT };
        let (read, _) = rustix::net::recv(self.socket, buffer, flags)?;
        Ok(read)
    }
}

impl Write for Calls<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let flags = if self.waits { SendFlags::empty() } else { SendFlags::DONTWAIT };
        Ok(rustix::net::send(self.socket, bytes, flags | SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
