/// How often a thread has left its processor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Switches {
    /// Because it had to wait for something.
    pub voluntary: u64,
    /// Because another thread was given the processor, or it was offered to others.
    pub involuntary: u64,
}

impl Switches {
    /// Those of the calling thread so far; 0 when the system does not tell.
    pub fn of_this_thread() -> Self {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: `usage` is a valid place for the result, and zeroed is a valid value of it.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
            usage.assume_init()
        };
        Self { voluntary: usage.ru_nvcsw as u64, involuntary: usage.ru_nivcsw as u64 }
    }

    /// Those since an earlier reading.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            voluntary: self.voluntary.saturating_sub(earlier.voluntary),
            involuntary: self.involuntary.saturating_sub(earlier.involuntary),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Switches;
    use std::time::Duration;

    #[test]
    fn sleeping_is_a_voluntary_switch() {
        let before = Switches::of_this_thread();
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(Switches::of_this_thread().since(before).voluntary >= 3);
    }
}
