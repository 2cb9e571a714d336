//! Passing bytes between a program and a server.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::time::Timespec;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use transport::Stream;

/// Bytes on their way in one direction.
const BUFFER_BYTES: usize = 64 << 10;

/// The interval at which a session without bytes looks whether the relay is over.
const LOOK_EVERY: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// Bytes that were read and are not written yet.
struct Buffer {
    bytes: Box<[u8]>,
    from: usize,
    to: usize,
}

impl Buffer {
    fn new() -> Self {
        Self { bytes: vec![0; BUFFER_BYTES].into(), from: 0, to: 0 }
    }

    fn is_empty(&self) -> bool {
        self.from == self.to
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.from..self.to]
    }

    /// Reads where all is written. Returns how many bytes came, 0 at the end; `None`: it would have
    /// to wait.
    fn fill(
        &mut self,
        read: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<Option<usize>> {
        if !self.is_empty() {
            return Ok(None);
        }
        let count = without_waiting(read(&mut self.bytes))?;
        if let Some(count) = count {
            (self.from, self.to) = (0, count);
        }
        Ok(count)
    }

    /// Writes some of what waits. Returns how many bytes went; `None`: it would have to wait.
    fn drain(
        &mut self,
        write: impl FnOnce(&[u8]) -> io::Result<usize>,
    ) -> io::Result<Option<usize>> {
        if self.is_empty() {
            return Ok(None);
        }
        let count = without_waiting(write(self.rest()))?;
        self.from += count.unwrap_or(0);
        Ok(count)
    }
}

/// The result of a call that does not wait; `None`: it would have to.
fn without_waiting(result: io::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            Ok(None)
        }
        result => result.map(Some),
    }
}

/// Passes bytes in both directions until one side ends or the relay is over.
///
/// # Errors
/// When a side is lost.
pub fn pump(mut program: &UnixStream, server: &mut Stream, is_over: &AtomicBool) -> io::Result<()> {
    program.set_nonblocking(true)?;
    let (mut to_server, mut to_program) = (Buffer::new(), Buffer::new());
    while !is_over.load(Ordering::Relaxed) {
        let from_program = to_server.fill(|bytes| program.read(bytes))?;
        if from_program == Some(0) {
            return Ok(());
        }
        let sent = to_server.drain(|bytes| server.write(bytes))?;
        let from_server = to_program.fill(|bytes| server.read(bytes))?;
        if from_server == Some(0) {
            // The server's last words are with the program already: none wait here.
            return Ok(());
        }
        let written = to_program.drain(|bytes| program.write(bytes))?;
        if [from_program, sent, from_server, written].iter().all(Option::is_none) {
            wait(program, server, &to_server, &to_program)?;
            without_waiting(server.flush().map(|()| 1))?;
        }
    }
    Ok(())
}

/// Waits until one of the two sides can do what is missing.
fn wait(
    program: &UnixStream,
    server: &Stream,
    to_server: &Buffer,
    to_program: &Buffer,
) -> io::Result<()> {
    let when = |flags: PollFlags, is_wanted: bool| {
        if is_wanted { flags } else { PollFlags::empty() }
    };
    let of_program =
        when(PollFlags::IN, to_server.is_empty()) | when(PollFlags::OUT, !to_program.is_empty());
    let of_server = when(PollFlags::IN, to_program.is_empty())
        | when(PollFlags::OUT, !to_server.is_empty() || server.wants_write());
    // One that is not waited for would report its end again and again.
    let mut sides = Vec::with_capacity(2);
    if !of_program.is_empty() {
        sides.push(PollFd::new(program, of_program));
    }
    if !of_server.is_empty() {
        sides.push(PollFd::new(server.socket(), of_server));
    }
    match poll(&mut sides, Some(&LOOK_EVERY)) {
        Err(error) if error != rustix::io::Errno::INTR => Err(error.into()),
        _ => Ok(()),
    }
}
