//! One socket, encrypted or not.

use bytes::{Buf, BytesMut};
use rustls::ClientConnection;
use socket2::Socket;
use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

/// A connection that is logged in, read and written without blocking.
///
/// For plain connections [`read`](Self::read) and [`write`](Self::write) are one system call each.
/// With TLS the file descriptor may have nothing to read while decrypted bytes wait, so read
/// until [`io::ErrorKind::WouldBlock`]; and what was written may wait for the socket, so call
/// [`flush`](Self::flush) when it can be written, as long as [`wants_write`](Self::wants_write).
///
/// Dropping it says goodbye to the server.
#[derive(Debug)]
pub struct Transport {
    socket: Socket,
    tls: Option<Box<ClientConnection>>,
    /// Received before anyone asked; read first.
    early: BytesMut,
}

impl AsFd for Transport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Transport {
    pub(crate) fn new(socket: Socket) -> Self {
        Self { socket, tls: None, early: BytesMut::new() }
    }

    /// The socket, to wait on. It is in blocking mode; the calls here do not block nevertheless.
    pub fn fd(&self) -> RawFd {
        self.socket.as_raw_fd()
    }

    /// Whether the connection is encrypted.
    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Whether encrypted bytes wait for the socket to take them.
    pub fn wants_write(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Reads what is there; 0 when the server has closed the connection.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when nothing is there; [`io::ErrorKind::InvalidData`] when it
    /// cannot be decrypted; what the socket says.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read_flagged(buffer, libc::MSG_DONTWAIT)
    }

    /// Writes as much as the socket takes, or as TLS buffers.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when it takes nothing; what the socket says.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.tls.is_none() {
            return Flagged(&self.socket, libc::MSG_DONTWAIT).write(bytes);
        }
        let taken = self.tls.as_mut().map_or(Ok(0), |tls| tls.writer().write(bytes))?;
        match self.flush() {
            Err(error) if error.kind() != io::ErrorKind::WouldBlock => return Err(error),
            _ => {}
        }
        if taken == 0 && !bytes.is_empty() { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(taken) }
    }

    /// Sends the encrypted bytes that wait; nothing to do on a plain connection.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] when some still wait; what the socket says.
    pub fn flush(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            while tls.wants_write() {
                tls.write_tls(&mut Flagged(&self.socket, libc::MSG_DONTWAIT))?;
            }
        }
        Ok(())
    }

    /// Reads what is there, and waits for it up to the read timeout.
    pub(crate) fn read_blocking(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.read_flagged(buffer, 0) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    fn read_flagged(&mut self, buffer: &mut [u8], flags: i32) -> io::Result<usize> {
        if !self.early.is_empty() {
            let count = buffer.len().min(self.early.len());
            self.early.copy_to_slice(&mut buffer[..count]);
            return Ok(count);
        }
        let mut socket = Flagged(&self.socket, flags);
        let Some(tls) = &mut self.tls else { return socket.read(buffer) };
        loop {
            match tls.reader().read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                // PostgreSQL's messages have lengths: an end without TLS's goodbye is an end.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(0),
                result => return result,
            }
            if tls.read_tls(&mut socket)? == 0 {
                return Ok(0);
            }
            tls.process_new_packets().map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        }
    }

    /// Writes all of it, waiting as long as it takes: for messages that fit into a socket's buffer.
    pub(crate) fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() || self.wants_write() {
            let written = if bytes.is_empty() { self.flush().map(|()| 0) } else { self.write(bytes) };
            match written {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wait_for_room(None)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until the socket takes more, or has something to read, which it may first want read.
    pub(crate) fn wait_for_room(&self, timeout: Option<Duration>) -> io::Result<()> {
        let mut poll = libc::pollfd { fd: self.fd(), events: libc::POLLIN | libc::POLLOUT, revents: 0 };
        let timeout_ms = timeout.map_or(-1, |timeout| timeout.as_millis().clamp(1, 1 << 30) as i32);
        // SAFETY: one valid pollfd that lives through the call.
        match unsafe { libc::poll(&raw mut poll, 1, timeout_ms) } {
            0 => Err(io::ErrorKind::TimedOut.into()),
            -1 => match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => Ok(()),
                error => Err(error),
            },
            _ => Ok(()),
        }
    }

    pub(crate) fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        // Zero means forever to the system.
        self.socket.set_read_timeout(timeout.map(|timeout| timeout.max(Duration::from_millis(1))))
    }

    pub(crate) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Encrypts from now on: blocks until the handshake is done.
    pub(crate) fn encrypt(&mut self, mut tls: ClientConnection) -> io::Result<()> {
        while tls.is_handshaking() {
            match tls.complete_io(&mut Flagged(&self.socket, 0)) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => drop(result?),
            }
        }
        self.tls = Some(Box::new(tls));
        Ok(())
    }

    /// The certificate that the server showed.
    pub(crate) fn server_certificate(&self) -> Option<&[u8]> {
        Some(self.tls.as_ref()?.peer_certificates()?.first()?)
    }

    /// Puts back what was received and not understood yet.
    pub(crate) fn unread(&mut self, bytes: BytesMut) {
        self.early = bytes;
    }
}

impl Drop for Transport {
    fn drop(&mut self) {
        let mut goodbye = BytesMut::new();
        postgres_protocol::message::frontend::terminate(&mut goodbye);
        // A server that cannot hear it notices that the socket is closed.
        let _ = self.write(&goodbye);
        if let Some(tls) = &mut self.tls {
            tls.send_close_notify();
        }
        let _ = self.flush();
    }
}

/// A socket whose calls have flags.
struct Flagged<'a>(&'a Socket, i32);

impl Read for Flagged<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let buffer: *mut [u8] = buffer;
        // SAFETY: bytes are valid as maybe uninitialised ones, and the call below only writes
        // initialised ones.
        let buffer = unsafe { &mut *(buffer as *mut [MaybeUninit<u8>]) };
        self.0.recv_with_flags(buffer, self.1)
    }
}

impl Write for Flagged<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send_with_flags(bytes, self.1 | libc::MSG_NOSIGNAL)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
