use super::connection::{Connection, Progress};
use super::pool::Pool;
use super::task::Texts;
use crate::Answer;
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode};
use std::io;
use std::time::Duration;

/// Bytes that one request to send has at most.
const SEND_MAX: usize = 1 << 20;

/// Serves plain sockets with `io_uring(7)`: one system call sends all that is to be sent, waits, and
/// receives what has come. A transaction costs a client half to three quarters of the processor time
/// that it does with epoll, the less the more connections there are.
///
/// It takes Linux 6.1 (`IORING_SETUP_DEFER_TASKRUN`), and the kernel's permission. All of it
/// happens within [`wait`](Self::wait) on the thread that made it.
pub struct Ring {
    /// Dropped before the pool.
    ring: IoUring,
    pool: Pool,
    slots: Vec<Slot>,
    /// Connections that have something to send or to receive.
    due: Vec<usize>,
}

/// What the ring does for a connection.
#[derive(Debug, Clone, Copy, Default)]
struct Slot {
    /// What comes is received, until further notice.
    receives: bool,
    /// Bytes that the last request to send had.
    sends: usize,
    /// The socket did not take them all.
    full: bool,
    awaits_room: bool,
}

/// What has been asked of the ring, and the connection it is for.
#[derive(Debug, Clone, Copy)]
enum Wish {
    Receive = 0,
    Send = 1,
    Room = 2,
}

impl Wish {
    fn of(self, number: usize) -> u64 {
        (number as u64) << 2 | self as u64
    }

    fn from_user_data(data: u64) -> (Self, usize) {
        let wish = match data & 3 {
            0 => Self::Receive,
            1 => Self::Send,
            _ => Self::Room,
        };
        (wish, (data >> 2) as usize)
    }
}

impl Ring {
    /// A ring for these connections, which the calling thread alone will use.
    pub fn new(connections: &[Connection]) -> io::Result<Self> {
        // At once a connection wishes to receive, to send, and to wait for room at most.
        let entries = (3 * connections.len().max(1)).next_power_of_two() as u32;
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_submit_all()
            .setup_cqsize((entries + Pool::MOST_FULL).next_power_of_two())
            .build(entries)?;
        let sockets: Vec<i32> = connections.iter().map(|one| one.transport().fd()).collect();
        ring.submitter().register_files(&sockets)?;
        let pool = Pool::register(&ring.submitter())?;
        Ok(Self { ring, pool, slots: vec![Slot::default(); connections.len()], due: Vec::new() })
    }

    /// Has a connection's request sent and its answer received.
    pub fn serve(&mut self, number: usize) {
        self.due.push(number);
    }

    /// Sends what is to be sent, waits for one of the connections and goes on with those that can.
    pub fn wait(
        &mut self,
        most: Duration,
        connections: &mut [Connection],
        texts: &Texts,
        answers: &mut Vec<Answer>,
    ) -> io::Result<()> {
        self.wish_all(connections)?;
        let most = Timespec::from(most);
        match self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&most)) {
            Ok(_) => {}
            Err(error) if matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR)) => {}
            Err(error) => return Err(error),
        }
        // Requests to send are over within the call, so that those that failed come first.
        loop {
            let Some(completion) = self.ring.completion().next() else { return Ok(()) };
            let (wish, number) = Wish::from_user_data(completion.user_data());
            let connection = &mut connections[number];
            match wish {
                Wish::Receive => {
                    if let Progress::Over(result) = self.received(&completion, number, connection, texts) {
                        answers.push(Answer { connection: number, result });
                    }
                }
                Wish::Send => self.not_sent(completion.result(), number, connection),
                Wish::Room => {
                    let slot = &mut self.slots[number];
                    (slot.full, slot.awaits_room) = (false, false);
                    self.due.push(number);
                }
            }
        }
    }

    /// A connection has received something.
    fn received(
        &mut self,
        completion: &cqueue::Entry,
        number: usize,
        connection: &mut Connection,
        texts: &Texts,
    ) -> Progress {
        let (buffer, result) = (cqueue::buffer_select(completion.flags()), completion.result());
        self.slots[number].receives = cqueue::more(completion.flags());
        match (buffer, result) {
            (Some(buffer), 1..) => {
                // SAFETY: this completion hands the buffer out, with so many bytes.
                let progress = unsafe {
                    self.pool.take(buffer, result as usize, |bytes| connection.has_received(bytes, texts))
                };
                if connection.has_to_send() || !self.slots[number].receives {
                    self.due.push(number);
                }
                progress
            }
            (_, 0..) => connection.closed(texts),
            (_, error) => match -error {
                // All buffers were full.
                libc::ENOBUFS | libc::EAGAIN | libc::EINTR => {
                    self.due.push(number);
                    Progress::UnderWay
                }
                error => connection.lost(&io::Error::from_raw_os_error(error), texts),
            },
        }
    }

    /// A socket took only so many bytes, or refused with an error: of those that do not pass,
    /// receiving tells.
    fn not_sent(&mut self, result: i32, number: usize, connection: &mut Connection) {
        let slot = &mut self.slots[number];
        if result >= 0 || [libc::EAGAIN, libc::EINTR].contains(&-result) {
            connection.has_not_sent(slot.sends - result.max(0) as usize);
            slot.full = true;
            self.due.push(number);
        }
    }

    /// Wishes for what the due connections need.
    fn wish_all(&mut self, connections: &mut [Connection]) -> io::Result<()> {
        if !self.ring.submission().is_empty() {
            // Their buffers may be gone by now.
            return Err(io::Error::other("io_uring left requests behind"));
        }
        let mut wishes = self.ring.submission();
        let mut wish = |entry: Entry| {
            // SAFETY: what is to be sent does not change until `wait` has submitted the entry, and
            // with MSG_DONTWAIT the kernel is done with it by then; entries that were left behind
            // are never submitted. Into the buffers of the pool the kernel writes within
            // io_uring_enter(2) only (IORING_SETUP_DEFER_TASKRUN), that is, within `wait`.
            unsafe { wishes.push(&entry) }.map_err(|_| io::Error::other("the submission queue is full"))
        };
        for number in self.due.drain(..) {
            let (slot, connection) = (&mut self.slots[number], &mut connections[number]);
            let socket = Fixed(number as u32);
            if connection.has_to_send() && !slot.awaits_room {
                if !slot.full {
                    let unsent = connection.unsent();
                    slot.sends = unsent.len().min(SEND_MAX);
                    wish(send(socket, &unsent[..slot.sends]).user_data(Wish::Send.of(number)))?;
                    connection.has_sent(slot.sends);
                }
                if connection.has_to_send() {
                    let room = opcode::PollAdd::new(socket, libc::POLLOUT as u32).build();
                    wish(room.user_data(Wish::Room.of(number)))?;
                    slot.awaits_room = true;
                }
            }
            if !slot.receives {
                let receive = opcode::RecvMulti::new(socket, Pool::GROUP).build();
                wish(receive.user_data(Wish::Receive.of(number)))?;
                slot.receives = true;
            }
        }
        Ok(())
    }
}

/// Sends without waiting. Success is not told, and all of it is success.
fn send(socket: Fixed, bytes: &[u8]) -> Entry {
    opcode::Send::new(socket, bytes.as_ptr(), bytes.len() as u32)
        .flags(libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT | libc::MSG_WAITALL)
        .build()
        .flags(Flags::SKIP_SUCCESS)
}
