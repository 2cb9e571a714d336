/// Nanoseconds since the beginning of a run, from the time stamp counter where it can be trusted.
#[derive(Debug)]
pub struct Clock {
    counter: quanta::Clock,
    origin: u64,
}

impl Clock {
    pub fn start() -> Self {
        let counter = quanta::Clock::new();
        let origin = counter.raw();
        Self { counter, origin }
    }

    #[inline]
    pub fn now_ns(&self) -> u64 {
        self.counter.delta_as_nanos(self.origin, self.counter.raw())
    }
}
