use crate::connection::{Connection, Received};
use crate::{Stream, Wire};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::time::Timespec;
use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

/// Events that are fetched at once.
const EVENTS: usize = 64;

/// Events of a socket whose other end is closed.
const CLOSING: EventFlags = EventFlags::RDHUP.union(EventFlags::HUP).union(EventFlags::ERR);

/// Serves sockets with epoll(7): a system call for each thing sent, received and waited for.
pub struct Epoll {
    epoll: OwnedFd,
    /// Connections whose sockets are full, and are watched for room.
    full: Vec<bool>,
    /// Connections that have more to read than fitted into their turn, which no event will report
    /// again.
    rest: Vec<usize>,
}

impl Epoll {
    /// Watches what these sockets receive.
    pub fn new(streams: &[&Stream]) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (number, stream) in (0..).zip(streams) {
            epoll::add(&epoll, stream.socket(), EventData::new_u64(number), flags(false))?;
        }
        Ok(Self { epoll, full: vec![false; streams.len()], rest: Vec::new() })
    }

    /// Sends what a connection has left to send; the answer when that fails.
    pub fn send<W: Wire>(
        &mut self,
        number: usize,
        connection: &mut Connection<W>,
    ) -> Option<W::Answer> {
        let sent = connection.send().and_then(|()| self.watch_room(number, connection));
        sent.err().and_then(|error| connection.send_failed(&error))
    }

    /// Watches a socket for room while it is full.
    fn watch_room<W: Wire>(&mut self, number: usize, connection: &Connection<W>) -> io::Result<()> {
        let full = connection.has_unsent();
        if full != self.full[number] {
            let data = EventData::new_u64(number as u64);
            epoll::modify(&self.epoll, connection.stream().socket(), data, flags(full))?;
            self.full[number] = full;
        }
        Ok(())
    }

    /// Waits for one of the connections and serves those that have events.
    pub fn wait<W: Wire>(
        &mut self,
        timeout: Duration,
        connections: &mut [Connection<W>],
        mut answer: impl FnMut(usize, W::Answer),
    ) -> io::Result<()> {
        let rest = std::mem::take(&mut self.rest);
        let timeout = if rest.is_empty() { timeout } else { Duration::ZERO };
        let timeout = Timespec::try_from(timeout).ok();
        let mut room = [const { MaybeUninit::<epoll::Event>::uninit() }; EVENTS];
        let events = match epoll::wait(&self.epoll, &mut room, timeout.as_ref()) {
            Ok((events, _)) => events,
            Err(Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for event in events {
            let (number, flags) = (event.data.u64() as usize, event.flags);
            if let Some(result) =
                self.serve(number, &mut connections[number], flags.intersects(CLOSING))
            {
                answer(number, result);
            }
        }
        for number in rest {
            if let Some(result) = self.serve(number, &mut connections[number], true) {
                answer(number, result);
            }
        }
        Ok(())
    }

    /// Sends and receives what can be; the answer when the request is over.
    fn serve<W: Wire>(
        &mut self,
        number: usize,
        connection: &mut Connection<W>,
        closing: bool,
    ) -> Option<W::Answer> {
        if self.full[number]
            && let Some(failure) = self.send(number, connection)
        {
            return Some(failure);
        }
        match connection.receive(closing) {
            // The next exchange of the request.
            Received::All(None) if !self.full[number] && connection.has_unsent() => {
                self.send(number, connection)
            }
            Received::All(answer) => answer,
            Received::Part => {
                self.rest.push(number);
                None
            }
        }
    }
}

/// Edge-triggered: each event is reported once, so what a socket has received is read to the end.
fn flags(full: bool) -> EventFlags {
    let mut flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
    flags.set(EventFlags::OUT, full);
    flags
}
