//! A thread that does jobs one at a time, and the line of those that wait for it.

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use tokio::sync::oneshot;

/// Jobs that wait; of more, the oldest is dropped.
const WAITING_MAX: usize = 16;

/// A job with the sender of its result.
type Job = Box<dyn FnOnce() + Send>;

/// The thread. It takes the newest job first: connections that ask for many pages without reading
/// them delay another client by at most one of these pages.
pub struct Worker(Arc<Line>);

#[derive(Default)]
struct Line {
    jobs: Mutex<VecDeque<Job>>,
    came: Condvar,
}

/// The result of a job.
#[derive(Debug)]
pub struct Done<T> {
    pub result: T,
    /// Others waited already when this job came.
    pub is_crowded: bool,
}

/// Reasons why a job has no result.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Undone {
    /// Newer jobs took its place.
    Dropped,
    Panicked,
}

impl Worker {
    /// Starts the thread, which ends with the process.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(name: &str) -> io::Result<Self> {
        let line = Arc::<Line>::default();
        let shared = Arc::clone(&line);
        Builder::new().name(name.into()).spawn(move || {
            loop {
                shared.next()();
            }
        })?;
        Ok(Self(line))
    }

    /// Waits for the result of a job.
    ///
    /// # Errors
    /// When it was dropped or has panicked.
    pub async fn result<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<Done<T>, Undone> {
        let (reply, answer) = oneshot::channel();
        let is_crowded = self.0.push(Box::new(move || {
            // A closed connection does not wait for it.
            if !reply.is_closed() {
                let _ = reply.send(catch_unwind(AssertUnwindSafe(job)));
            }
        }));
        match answer.await {
            Ok(Ok(result)) => Ok(Done { result, is_crowded }),
            Ok(Err(_)) => Err(Undone::Panicked),
            Err(_) => Err(Undone::Dropped),
        }
    }
}

impl Line {
    fn jobs(&self) -> MutexGuard<'_, VecDeque<Job>> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job; returns true when others wait.
    fn push(&self, job: Job) -> bool {
        let mut jobs = self.jobs();
        let is_crowded = !jobs.is_empty();
        if jobs.len() == WAITING_MAX {
            jobs.pop_front();
        }
        jobs.push_back(job);
        self.came.notify_one();
        is_crowded
    }

    fn next(&self) -> Job {
        let mut jobs = self.jobs();
        loop {
            if let Some(job) = jobs.pop_back() {
                return job;
            }
            jobs = self.came.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Undone, WAITING_MAX, Worker};
    use std::sync::mpsc;

    #[test]
    fn the_newest_job_is_next_and_the_oldest_of_too_many_is_dropped() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let worker = std::sync::Arc::new(Worker::start("test").unwrap());
        let (begun, begins) = mpsc::channel();
        let (open, gate) = mpsc::channel::<()>();
        let (sender, receiver) = mpsc::channel();
        runtime.block_on(async {
            let shared = worker.clone();
            let first = tokio::spawn(async move {
                shared
                    .result(move || (begun.send(()), gate.recv()))
                    .await
                    .map(|done| done.is_crowded)
            });
            tokio::task::yield_now().await;
            begins.recv().unwrap();
            let waiting: Vec<_> = (0..WAITING_MAX + 2)
                .map(|number| {
                    let (worker, sender) = (worker.clone(), sender.clone());
                    let job = move || sender.send(number);
                    tokio::spawn(
                        async move { worker.result(job).await.map(|done| done.is_crowded) },
                    )
                })
                .collect();
            tokio::task::yield_now().await;
            open.send(()).unwrap();
            assert_eq!(first.await.unwrap(), Ok(false));
            let mut ended = Vec::new();
            for handle in waiting {
                ended.push(handle.await.unwrap());
            }
            assert_eq!(ended[..2], [Err(Undone::Dropped), Err(Undone::Dropped)]);
            assert!(ended[2..].iter().all(|result| *result == Ok(true)), "{ended:?}");
        });
        let order: Vec<usize> = receiver.try_iter().collect();
        assert_eq!(order, (2..WAITING_MAX + 2).rev().collect::<Vec<_>>());
    }

    #[test]
    fn a_job_that_panics_does_not_end_the_thread() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let worker = Worker::start("test").unwrap();
        runtime.block_on(async {
            let ended = worker.result(|| panic!("a page")).await.map(|_: super::Done<()>| ());
            assert_eq!(ended, Err(Undone::Panicked));
            assert_eq!(worker.result(|| 7).await.map(|done| done.result), Ok(7));
        });
    }
}
