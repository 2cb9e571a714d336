//! A connection of a relay: two sockets, and the bytes on their way in both directions.

use super::toxics::Toxics;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::SeedableRng as _;
use rustix::event::epoll::EventFlags;
use socket2::Socket;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::Shutdown;
use std::time::{Duration, Instant};

/// Bytes that are on their way in a direction at most: then the sender waits.
const ON_THEIR_WAY_MAX: usize = 256 << 10;
/// Bytes that are read at a time.
pub const READ_MAX: usize = 64 << 10;

/// The parts that all connections share.
pub(crate) struct Passing<'a> {
    pub toxics: &'a Toxics,
    /// Room for what is read.
    pub room: &'a mut [u8],
    pub now: Instant,
}

/// An end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Client = 0,
    Server = 1,
}

impl Side {
    pub fn of_number(number: u64) -> Self {
        if number == 0 { Self::Client } else { Self::Server }
    }

    pub fn number(self) -> u64 {
        self as u64
    }
}

/// A socket, and what the kernel has last said of it.
#[derive(Debug)]
struct End {
    socket: Socket,
    can_read: bool,
    can_write: bool,
}

/// Bytes on their way.
#[derive(Debug)]
struct Piece {
    due: Instant,
    bytes: Vec<u8>,
    /// Bytes that have been passed on.
    passed: usize,
}

/// A direction.
#[derive(Debug, Default)]
struct Way {
    pieces: VecDeque<Piece>,
    bytes: usize,
    /// When the line has sent what it has.
    free: Option<Instant>,
    /// When the end of the connection is passed on, once it was read.
    ends: Option<Instant>,
    has_ended: bool,
}

#[derive(Debug)]
pub struct Link {
    /// Client and server.
    ends: [End; 2],
    /// From the client, from the server.
    ways: [Way; 2],
    reset_at: Option<Instant>,
    /// The earliest timer that is set.
    timer: Option<Instant>,
    random: SplitMix64,
}

impl Link {
    pub fn new(client: Socket, server: Socket, toxics: &Toxics, number: u64) -> Self {
        // Nothing is known of the sockets until the first event.
        let end = |socket| End { socket, can_read: false, can_write: false };
        Self {
            ends: [end(client), end(server)],
            ways: [Way::default(), Way::default()],
            reset_at: toxics.reset_peer.map(|after| Instant::now() + after),
            timer: None,
            random: SplitMix64::seed_from_u64(number),
        }
    }

    /// Notes an event of a socket.
    pub fn note(&mut self, side: Side, flags: EventFlags) {
        let end = &mut self.ends[side as usize];
        end.can_read |= flags
            .intersects(EventFlags::IN | EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
        end.can_write |= flags.intersects(EventFlags::OUT | EventFlags::ERR);
    }

    /// Returns whether a timer at this time is missing, and notes it.
    pub fn sets_timer(&mut self, due: Instant) -> bool {
        let is_new = self.timer.is_none_or(|timer| due < timer);
        if is_new {
            self.timer = Some(due);
        }
        is_new
    }

    /// Passes on what is due. Returns when there is more to do without an event.
    ///
    /// # Errors
    /// When a socket fails, or the connection is to be reset.
    pub fn pass(&mut self, passing: &mut Passing<'_>) -> io::Result<Option<Instant>> {
        let now = passing.now;
        if self.timer.is_some_and(|timer| timer <= now) {
            self.timer = None;
        }
        if self.reset_at.is_some_and(|at| at <= now) {
            return Err(ErrorKind::ConnectionReset.into());
        }
        let mut next = self.reset_at;
        for side in [Side::Client, Side::Server] {
            let due = self.pass_from(side, passing)?;
            next = [next, due].into_iter().flatten().min();
        }
        Ok(next)
    }

    fn pass_from(&mut self, side: Side, passing: &mut Passing<'_>) -> io::Result<Option<Instant>> {
        let [client, server] = &mut self.ends;
        let (from, to) = if side == Side::Client { (client, server) } else { (server, client) };
        let way = &mut self.ways[side as usize];
        loop {
            let is_full = way.read(from, side, &mut self.random, passing)?;
            let due = way.write(to, passing.now)?;
            // What was written has made room.
            if !is_full || way.bytes >= ON_THEIR_WAY_MAX {
                return Ok(due);
            }
        }
    }

    /// Returns whether both directions have ended.
    pub fn is_over(&self) -> bool {
        self.ways.iter().all(|way| way.has_ended)
    }

    /// Resets both ends.
    pub fn reset(self) {
        for end in &self.ends {
            // A unix socket has no such state: it is closed.
            let _ = end.socket.set_linger(Some(Duration::ZERO));
        }
    }
}

impl Way {
    /// Reads what is there. Returns whether it stopped because too much is on its way.
    fn read(
        &mut self,
        from: &mut End,
        side: Side,
        random: &mut SplitMix64,
        passing: &mut Passing<'_>,
    ) -> io::Result<bool> {
        let Passing { toxics, now, .. } = *passing;
        while from.can_read && self.ends.is_none() {
            if self.bytes >= ON_THEIR_WAY_MAX {
                return Ok(true);
            }
            match (&from.socket).read(passing.room) {
                Ok(0) => {
                    let last = self.pieces.back().map_or(now, |piece| piece.due);
                    self.ends = Some(last.max(now) + toxics.slow_close);
                }
                Ok(count) => {
                    let delay = toxics.delay(side == Side::Server, random);
                    self.add(&passing.room[..count], toxics, delay, now);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => from.can_read = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    fn add(&mut self, bytes: &[u8], toxics: &Toxics, delay: Duration, now: Instant) {
        for bytes in bytes.chunks(toxics.piece(READ_MAX)) {
            let sent =
                self.free.map_or(now, |free| free.max(now)) + toxics.transmission(bytes.len());
            self.free = Some(sent);
            // Bytes do not overtake each other.
            let before = self.pieces.back().map_or(now, |piece| piece.due);
            self.bytes += bytes.len();
            let due = before.max(sent + delay);
            self.pieces.push_back(Piece { due, bytes: bytes.to_vec(), passed: 0 });
        }
    }

    /// Writes what is due. Returns when the next piece, or the end, is.
    fn write(&mut self, to: &mut End, now: Instant) -> io::Result<Option<Instant>> {
        while let Some(piece) = self.pieces.front_mut() {
            if piece.due > now {
                return Ok(Some(piece.due));
            }
            if !to.can_write {
                return Ok(None);
            }
            match (&to.socket).write(&piece.bytes[piece.passed..]) {
                Ok(count) => {
                    piece.passed += count;
                    self.bytes -= count;
                    if piece.passed == piece.bytes.len() {
                        self.pieces.pop_front();
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => to.can_write = false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        match self.ends {
            Some(due) if due > now => Ok(Some(due)),
            Some(_) if !self.has_ended => {
                self.has_ended = true;
                // The other end may be gone.
                let _ = to.socket.shutdown(Shutdown::Write);
                Ok(None)
            }
            _ => Ok(None),
        }
    }
}
