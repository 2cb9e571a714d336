//! Instructions that started processes execute, counted by the processor: a figure that a busy
//! machine hardly changes.

use perf_event::events::{Event, Hardware};
use perf_event::{Builder, Counter, ReadFormat};
use std::io;

/// A counter of the processes that one thread starts.
pub struct Instructions {
    counter: Counter,
    last: u64,
    /// Never switched on. The kernel exchanges the counters of a thread and its child, instead of
    /// reprogramming the processor, when all of them are inherited; a child that executes a
    /// program just then takes the thread's own, whose later children are lost. One counter that
    /// is not inherited prevents the exchange (`perf_event_context_sched_out` in the kernel).
    _guard: Counter,
}

impl Instructions {
    /// Counts instructions in user mode of the processes that the calling thread starts from now
    /// on, each from when it executes a program; with the processes that these start.
    ///
    /// # Errors
    /// Those of the kernel: the processor has no such counter, as in most virtual machines, or it
    /// may not be used.
    pub fn of_started() -> io::Result<Self> {
        Self::count(Hardware::INSTRUCTIONS)
    }

    fn count(event: impl Event + Clone) -> io::Result<Self> {
        let mut guard = Builder::new(event.clone());
        guard.observe_self().any_cpu().exclude_kernel(true);
        let mut builder = Builder::new(event);
        // Copies of a counter that is switched off are switched on by the processes that execute a
        // program, so that the thread itself is not counted.
        builder
            .observe_self()
            .any_cpu()
            .inherit(true)
            .enable_on_exec(true)
            .exclude_kernel(true)
            .read_format(ReadFormat::TOTAL_TIME_ENABLED | ReadFormat::TOTAL_TIME_RUNNING);
        Ok(Self { _guard: guard.build()?, counter: builder.build()?, last: 0 })
    }

    /// Returns the instructions of processes that have ended since the last call. `None`: the
    /// counter had to share its place with others, so that the kernel only estimates them.
    ///
    /// # Errors
    /// When the counter cannot be read.
    pub fn since_last(&mut self) -> io::Result<Option<u64>> {
        let read = self.counter.read_full()?;
        let since = read.count().saturating_sub(self.last);
        self.last = read.count();
        Ok((read.time_running() == read.time_enabled()).then_some(since))
    }
}

#[cfg(test)]
mod tests {
    use super::Instructions;
    use perf_event::events::Software;
    use std::process::Command;
    use std::time::{Duration, Instant};

    /// Nanoseconds on a processor in place of instructions, which virtual machines do not count.
    #[test]
    fn what_started_processes_do_is_counted_and_nothing_else() {
        let Ok(mut counter) = Instructions::count(Software::TASK_CLOCK) else {
            println!("SKIPPED, cannot be here: perf_event_open is not permitted");
            return;
        };
        let begin = Instant::now();
        while begin.elapsed() < Duration::from_millis(20) {}
        assert_eq!(counter.since_last().unwrap(), Some(0), "the thread itself");
        let run = |script: &str| {
            assert!(Command::new("sh").args(["-c", script]).status().unwrap().success());
        };
        run("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");
        let long = counter.since_last().unwrap().unwrap();
        run("true");
        let short = counter.since_last().unwrap().unwrap();
        assert!(short > 0 && long > 2 * short, "{long} {short}");
        // Also of what the processes start.
        run("sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'");
        let nested = counter.since_last().unwrap().unwrap();
        assert!(nested > 2 * short, "{nested} {short} {long}");
    }
}
