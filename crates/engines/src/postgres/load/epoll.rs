use super::connection::{Connection, Progress};
use super::task::Texts;
use crate::{Answer, Done, EngineError};
use rustix::event::epoll::{self, EventFlags};
use rustix::fd::OwnedFd;
use rustix::time::Timespec;
use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

/// Events that are looked at in one go.
const EVENTS: usize = 64;

/// Events of a socket whose other end is closed.
const ENDS: EventFlags = EventFlags::RDHUP.union(EventFlags::HUP).union(EventFlags::ERR);

/// Serves sockets with epoll(7): a system call for each thing sent, received and waited for.
pub struct Epoll {
    epoll: OwnedFd,
    /// Connections whose sockets are full, and are watched for room.
    full: Vec<bool>,
}

impl Epoll {
    /// Watches what these connections receive.
    pub fn new(connections: &[Connection]) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        for (number, connection) in (0..).zip(connections) {
            let data = epoll::EventData::new_u64(number);
            epoll::add(&epoll, connection.transport(), data, flags(false))?;
        }
        Ok(Self { epoll, full: vec![false; connections.len()] })
    }

    /// Sends what a connection has to send.
    pub fn send(
        &mut self,
        number: usize,
        connection: &mut Connection,
        texts: &Texts,
    ) -> Result<(), EngineError> {
        let sent = connection.send().and_then(|()| self.watch_room(number, connection));
        sent.or_else(|error| connection.last_words(&error, texts))
    }

    /// Watches a socket for room while it is full.
    fn watch_room(&mut self, number: usize, connection: &Connection) -> io::Result<()> {
        let full = connection.has_to_send();
        if full != self.full[number] {
            let data = epoll::EventData::new_u64(number as u64);
            epoll::modify(&self.epoll, connection.transport(), data, flags(full))?;
            self.full[number] = full;
        }
        Ok(())
    }

    /// Waits for one of the connections and goes on with those that can.
    pub fn wait(
        &mut self,
        most: Duration,
        connections: &mut [Connection],
        texts: &Texts,
        answers: &mut Vec<Answer>,
    ) -> io::Result<()> {
        let most = Timespec { tv_sec: most.as_secs() as _, tv_nsec: most.subsec_nanos().into() };
        let mut room = [const { MaybeUninit::<epoll::Event>::uninit() }; EVENTS];
        let events = match epoll::wait(&self.epoll, &mut room, Some(&most)) {
            Ok((events, _)) => events,
            Err(rustix::io::Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        for event in events {
            let (number, flags) = (event.data.u64() as usize, event.flags);
            let connection = &mut connections[number];
            if let Some(result) = self.go_on(number, connection, flags.intersects(ENDS), texts) {
                answers.push(Answer { connection: number, result });
            }
        }
        Ok(())
    }

    /// Sends and receives what can be; the result when the request is over.
    fn go_on(
        &mut self,
        number: usize,
        connection: &mut Connection,
        ends: bool,
        texts: &Texts,
    ) -> Option<Result<Done, EngineError>> {
        if self.full[number]
            && let Err(error) = self.send(number, connection, texts)
        {
            return Some(Err(error));
        }
        match connection.receive(texts, ends) {
            Progress::Over(result) => Some(result),
            // The next exchange of the request.
            Progress::UnderWay if !self.full[number] && connection.has_to_send() => {
                self.send(number, connection, texts).err().map(Err)
            }
            Progress::UnderWay => None,
        }
    }
}

/// Each event is told once: what a socket has received is then read to the end.
fn flags(full: bool) -> EventFlags {
    let mut flags = EventFlags::IN | EventFlags::RDHUP | EventFlags::ET;
    flags.set(EventFlags::OUT, full);
    flags
}
