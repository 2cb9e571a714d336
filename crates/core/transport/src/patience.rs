use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::time::Timespec;
use socket2::{Domain, SockAddr, Socket, Type};
use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};
use work::Stop;

/// The interval at which one who waits looks whether to stop.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The time after which a socket is tried again whose server has no room for more connections.
const TRY_AGAIN: Duration = Duration::from_millis(10);

/// A wait that ended because the user asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stopped on request")]
pub struct Stopped;

impl Stopped {
    /// Returns whether this caused an operation to fail.
    pub fn is_cause_of(error: &io::Error) -> bool {
        error.get_ref().and_then(|cause| cause.downcast_ref::<Self>()).is_some()
    }
}

/// The time to wait for the other end of a connection; by default for ever.
#[derive(Debug, Clone, Default)]
pub struct Patience {
    /// The time when it ends ([`ErrorKind::TimedOut`]), and the time allowed.
    limit: Option<(Instant, Duration)>,
    /// The stop that may end it early ([`Stopped`]), and the time for which it continues then.
    pub stop: Option<(Stop, Duration)>,
    stop_since: Cell<Option<Instant>>,
}

impl Patience {
    /// A timeout from now on; a request to stop ends it immediately.
    pub fn for_time(time: Option<Duration>, stop: Option<Stop>) -> Self {
        let mut patience =
            Self { stop: stop.map(|stop| (stop, Duration::ZERO)), ..Self::default() };
        patience.restart(time);
        patience
    }

    /// So much from now on.
    pub fn restart(&mut self, time: Option<Duration>) {
        self.limit = time.and_then(|time| Some((Instant::now().checked_add(time)?, time)));
    }

    /// Returns the time to wait before the next look; fails when it has ended.
    fn slice(&self) -> io::Result<Option<Duration>> {
        let now = Instant::now();
        let left = self.limit.map(|(until, _)| until.saturating_duration_since(now));
        if let Some((until, time)) = self.limit
            && until <= now
        {
            let text = format!("no answer within {} s", time.as_secs_f64());
            return Err(io::Error::new(ErrorKind::TimedOut, text));
        }
        let Some((stop, grace)) = &self.stop else { return Ok(left) };
        if self.stop_since.get().is_none() && stop.is_asked() {
            self.stop_since.set(Some(now));
        }
        if self.stop_since.get().is_some_and(|since| now.duration_since(since) >= *grace) {
            return Err(io::Error::other(Stopped));
        }
        Ok(Some(left.unwrap_or(LOOK_EVERY).min(LOOK_EVERY)))
    }

    /// Waits for one of these events of a socket.
    pub(crate) fn wait(&self, socket: &Socket, events: PollFlags) -> io::Result<()> {
        loop {
            let slice = self.slice()?.map(|slice| Timespec {
                tv_sec: slice.as_secs().min(u32::MAX.into()) as _,
                tv_nsec: slice.subsec_nanos().into(),
            });
            match poll(&mut [PollFd::new(socket, events)], slice.as_ref()) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// A socket that is connected to this address.
    pub(crate) fn connect(&self, address: &SockAddr) -> io::Result<Socket> {
        let socket = Socket::new(Domain::from(i32::from(address.family())), Type::STREAM, None)?;
        socket.set_nonblocking(true)?;
        loop {
            self.slice()?;
            match socket.connect(address) {
                Ok(()) => break,
                Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {
                    self.wait(&socket, PollFlags::OUT)?;
                    socket.take_error()?.map_or(Ok(()), Err)?;
                    break;
                }
                // The queue of a unix socket is full, which no event will report to be over.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(TRY_AGAIN);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        socket.set_nonblocking(false)?;
        Ok(socket)
    }
}
