use crate::connection::Connection;
use crate::pool::Pool;
use crate::{Stream, Wire};
use io_uring::squeue::{Entry, Flags};
use io_uring::types::{Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, cqueue, opcode};
use std::io;
use std::time::Duration;

/// Most bytes of one send operation.
const SEND_MAX: usize = 1 << 20;

/// Serves plain sockets with `io_uring(7)`: one system call sends all that is to be sent, waits, and
/// receives what has come. A transaction costs a client half to three quarters of the processor time
/// that it costs with epoll, the less the more connections there are.
///
/// It takes Linux 6.1 (`IORING_SETUP_DEFER_TASKRUN`), and the kernel's permission. All of it
/// happens within [`wait`](Self::wait) on the thread that made it.
pub struct Ring {
    /// Dropped before the pool.
    ring: IoUring,
    pool: Pool,
    states: Vec<State>,
    /// Connections that have something to send or to receive.
    due: Vec<usize>,
}

/// What the ring does for a connection.
#[derive(Debug, Clone, Copy, Default)]
struct State {
    /// A receive operation is in flight; it goes on after each completion.
    receives: bool,
    /// Bytes of the last send operation.
    sends: usize,
    /// The socket did not take them all.
    full: bool,
    awaits_room: bool,
}

/// Operations of a connection.
#[derive(Debug, Clone, Copy)]
enum Operation {
    Receive = 0,
    Send = 1,
    /// Wait until the socket takes more.
    AwaitRoom = 2,
}

impl Operation {
    fn user_data(self, number: usize) -> u64 {
        (number as u64) << 2 | self as u64
    }

    fn from_user_data(data: u64) -> (Self, usize) {
        let operation = match data & 3 {
            0 => Self::Receive,
            1 => Self::Send,
            _ => Self::AwaitRoom,
        };
        (operation, (data >> 2) as usize)
    }
}

impl Ring {
    /// A ring for these sockets, which the calling thread alone will use.
    pub fn new(streams: &[&Stream]) -> io::Result<Self> {
        // A connection has at most one operation of each kind at once.
        let entries = (3 * streams.len().max(1)).next_power_of_two() as u32;
        let ring = IoUring::builder()
            .setup_single_issuer()
            .setup_defer_taskrun()
            .setup_submit_all()
            .setup_cqsize((entries + Pool::MOST_FULL).next_power_of_two())
            .build(entries)?;
        let sockets: Vec<i32> = streams.iter().map(|stream| stream.fd()).collect();
        ring.submitter().register_files(&sockets)?;
        let pool = Pool::register(&ring.submitter())?;
        Ok(Self { ring, pool, states: vec![State::default(); streams.len()], due: Vec::new() })
    }

    /// Has the next [`wait`](Self::wait) send what a connection has to send.
    pub fn schedule(&mut self, number: usize) {
        self.due.push(number);
    }

    /// Sends what is to be sent, waits for one of the connections and serves those that have events.
    pub fn wait<W: Wire>(
        &mut self,
        timeout: Duration,
        connections: &mut [Connection<W>],
        mut answer: impl FnMut(usize, W::Answer),
    ) -> io::Result<()> {
        self.submit_due(connections)?;
        let timeout = Timespec::from(timeout);
        match self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&timeout)) {
            Ok(_) => {}
            Err(error) if matches!(error.raw_os_error(), Some(libc::ETIME | libc::EINTR)) => {}
            Err(error) => return Err(error),
        }
        // Send operations complete within the call, so those that failed come first.
        loop {
            let Some(completion) = self.ring.completion().next() else { return Ok(()) };
            let (operation, number) = Operation::from_user_data(completion.user_data());
            let connection = &mut connections[number];
            match operation {
                Operation::Receive => {
                    if let Some(result) = self.received(&completion, number, connection) {
                        answer(number, result);
                    }
                }
                Operation::Send => self.not_sent(completion.result(), number, connection),
                Operation::AwaitRoom => {
                    let state = &mut self.states[number];
                    (state.full, state.awaits_room) = (false, false);
                    self.due.push(number);
                }
            }
        }
    }

    /// A receive operation has completed.
    fn received<W: Wire>(
        &mut self,
        completion: &cqueue::Entry,
        number: usize,
        connection: &mut Connection<W>,
    ) -> Option<W::Answer> {
        let (buffer, result) = (cqueue::buffer_select(completion.flags()), completion.result());
        self.states[number].receives = cqueue::more(completion.flags());
        match (buffer, result) {
            (Some(buffer), 1..) => {
                // SAFETY: this completion hands the buffer out, with so many bytes.
                let answer =
                    unsafe { self.pool.take(buffer, result as usize, |bytes| connection.received(bytes)) };
                if connection.has_unsent() || !self.states[number].receives {
                    self.due.push(number);
                }
                answer
            }
            (_, 0..) => connection.closed(),
            (_, error) => match -error {
                // All buffers were full.
                libc::ENOBUFS | libc::EAGAIN | libc::EINTR => {
                    self.due.push(number);
                    None
                }
                error => connection.lost(&io::Error::from_raw_os_error(error)),
            },
        }
    }

    /// A socket took only so many bytes, or refused with an error. The receive operation reports the
    /// errors that last.
    fn not_sent<W: Wire>(&mut self, result: i32, number: usize, connection: &mut Connection<W>) {
        let state = &mut self.states[number];
        if result >= 0 || [libc::EAGAIN, libc::EINTR].contains(&-result) {
            connection.mark_unsent(state.sends - result.max(0) as usize);
            state.full = true;
            self.due.push(number);
        }
    }

    /// Queues the operations that the due connections need.
    fn submit_due<W: Wire>(&mut self, connections: &mut [Connection<W>]) -> io::Result<()> {
        if !self.ring.submission().is_empty() {
            // Their buffers may be gone by now.
            return Err(io::Error::other("io_uring did not accept all operations"));
        }
        let mut queue = self.ring.submission();
        let mut submit = |entry: Entry| {
            // SAFETY: what is to be sent does not change until `wait` has submitted the entry, and
            // with MSG_DONTWAIT the kernel is done with it by then; entries that were left behind
            // are never submitted. Into the buffers of the pool the kernel writes within
            // io_uring_enter(2) only (IORING_SETUP_DEFER_TASKRUN), that is, within `wait`.
            unsafe { queue.push(&entry) }.map_err(|_| io::Error::other("the submission queue is full"))
        };
        for number in self.due.drain(..) {
            let (state, connection) = (&mut self.states[number], &mut connections[number]);
            let socket = Fixed(number as u32);
            if connection.has_unsent() && !state.awaits_room {
                if !state.full {
                    let unsent = connection.unsent();
                    state.sends = unsent.len().min(SEND_MAX);
                    let send = send(socket, &unsent[..state.sends]);
                    submit(send.user_data(Operation::Send.user_data(number)))?;
                    connection.mark_sent(state.sends);
                }
                if connection.has_unsent() {
                    let room = opcode::PollAdd::new(socket, libc::POLLOUT as u32).build();
                    submit(room.user_data(Operation::AwaitRoom.user_data(number)))?;
                    state.awaits_room = true;
                }
            }
            if !state.receives {
                let receive = opcode::RecvMulti::new(socket, Pool::GROUP).build();
                submit(receive.user_data(Operation::Receive.user_data(number)))?;
                state.receives = true;
            }
        }
        Ok(())
    }
}

/// Sends without waiting. Only a send that is short or fails has a completion.
fn send(socket: Fixed, bytes: &[u8]) -> Entry {
    opcode::Send::new(socket, bytes.as_ptr(), bytes.len() as u32)
        .flags(libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT | libc::MSG_WAITALL)
        .build()
        .flags(Flags::SKIP_SUCCESS)
}
