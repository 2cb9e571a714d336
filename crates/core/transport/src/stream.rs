use crate::Patience;
use rustix::event::PollFlags;
use rustix::net::{RecvFlags, SendFlags};
use rustls::ClientConnection;
use socket2::{SockAddr, Socket};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};

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
    /// For how long what blocks waits for the other end.
    pub patience: Patience,
}

impl Stream {
    /// A connected socket in blocking mode. When it is dropped, it sends the protocol's `goodbye`.
    pub fn new(socket: Socket, goodbye: &'static [u8]) -> Self {
        Self { socket, tls: None, unread: VecDeque::new(), goodbye, patience: Patience::default() }
    }

    /// Connects. Fails with [`ErrorKind::TimedOut`] or [`Stopped`](crate::Stopped) when the
    /// patience ends first, which also holds for what blocks later.
    pub fn connect(
        address: &SockAddr,
        goodbye: &'static [u8],
        patience: Patience,
    ) -> io::Result<Self> {
        let mut stream = Self::new(patience.connect(address)?, goodbye);
        stream.patience = patience;
        Ok(stream)
    }

    /// The socket, to wait on or to set its options.
    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Returns whether the connection is encrypted.
    pub fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    /// Returns whether encrypted bytes wait for the socket.
    pub fn wants_write(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.wants_write())
    }

    /// Reads what is there, without waiting; 0 when the server has closed the connection. Fails
    /// with [`ErrorKind::WouldBlock`] when nothing is there, and with
    /// [`ErrorKind::InvalidData`] when it cannot be decrypted.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.unread.is_empty() {
            return self.unread.read(buffer);
        }
        let mut socket = Calls(&self.socket);
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
            tls.process_new_packets()
                .map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        }
    }

    /// Reads what is there, and waits for it as long as the patience lasts.
    pub fn read_blocking(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.read(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(PollFlags::IN)?,
                result => return result,
            }
        }
    }

    /// Writes as much as the socket takes, or as TLS buffers, without waiting. Fails with
    /// [`ErrorKind::WouldBlock`] when it takes nothing.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else {
            return Calls(&self.socket).write(bytes);
        };
        let taken = tls.writer().write(bytes)?;
        match self.flush() {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error),
            _ if taken == 0 && !bytes.is_empty() => Err(ErrorKind::WouldBlock.into()),
            _ => Ok(taken),
        }
    }

    /// Sends the encrypted bytes that wait, if any; fails with [`ErrorKind::WouldBlock`] when some
    /// still wait.
    pub fn flush(&mut self) -> io::Result<()> {
        if let Some(tls) = &mut self.tls {
            while tls.wants_write() {
                tls.write_tls(&mut Calls(&self.socket))?;
            }
        }
        Ok(())
    }

    /// Writes all of it, and waits for it as long as the patience lasts: for messages that fit into
    /// a socket's buffer.
    pub fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() || self.wants_write() {
            let written =
                if bytes.is_empty() { self.flush().map(|()| 0) } else { self.write(bytes) };
            match written {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => self.wait(PollFlags::OUT)?,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Waits until the socket takes more, or has something to read, which the server may want read
    /// first, as long as the patience lasts.
    pub fn wait_for_room(&self) -> io::Result<()> {
        self.wait(PollFlags::IN | PollFlags::OUT)
    }

    fn wait(&self, events: PollFlags) -> io::Result<()> {
        self.patience.wait(&self.socket, events)
    }

    /// Encrypts from now on: blocks until the handshake is done, as long as the patience lasts.
    /// When the handshake fails, a [`rustls::Error`] is inside the error.
    pub fn encrypt(&mut self, mut tls: ClientConnection) -> io::Result<()> {
        while tls.is_handshaking() {
            match tls.complete_io(&mut Calls(&self.socket)) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let writes =
                        if tls.wants_write() { PollFlags::OUT } else { PollFlags::empty() };
                    self.wait(PollFlags::IN | writes)?;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                result => drop(result?),
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

/// A socket whose calls do not wait.
struct Calls<'a>(&'a Socket);

impl Read for Calls<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (read, _) = rustix::net::recv(self.0, buffer, RecvFlags::DONTWAIT)?;
        Ok(read)
    }
}

impl Write for Calls<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::net::send(self.0, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
