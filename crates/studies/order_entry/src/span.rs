//! The time that a group of connections worked.

/// Time from the first start to the last end, in nanoseconds on the load's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Span(pub Option<[u64; 2]>);

impl Span {
    /// Includes a start or an end.
    pub fn note(&mut self, now_ns: u64) {
        let [first, last] = self.0.unwrap_or([now_ns; 2]);
        self.0 = Some([first.min(now_ns), last.max(now_ns)]);
    }

    /// Includes another group.
    pub fn add(&mut self, other: Self) {
        other.0.into_iter().flatten().for_each(|ns| self.note(ns));
    }

    /// The seconds; 0 when nothing was done.
    pub fn seconds(self) -> f64 {
        self.0.map_or(0.0, |[first, last]| (last - first) as f64 / 1e9)
    }

    /// Seconds by which it ends after another one; `None` when one of them did nothing.
    pub fn ends_after(self, other: Self) -> Option<f64> {
        let ([_, span], [_, other]) = (self.0?, other.0?);
        Some(span.saturating_sub(other) as f64 / 1e9)
    }
}

#[cfg(test)]
mod tests {
    use super::Span;

    fn span(times_ns: &[u64]) -> Span {
        let mut span = Span::default();
        for ns in times_ns {
            span.note(*ns);
        }
        span
    }

    fn millis(seconds: f64) -> i64 {
        (seconds * 1e3).round() as i64
    }

    #[test]
    fn a_span_covers_what_it_has_seen() {
        let (mut long, short) = (span(&[2_000_000_000, 5_500_000_000]), span(&[3_000_000_000]));
        assert_eq!([long, short].map(|span| millis(span.seconds())), [3_500, 0]);
        assert_eq!(long.ends_after(short).map(millis), Some(2_500));
        assert_eq!(short.ends_after(long).map(millis), Some(0));
        assert_eq!(Span::default().ends_after(long), None);
        long.add(span(&[1_000_000_000]));
        long.add(Span::default());
        assert_eq!(millis(long.seconds()), 4_500);
    }
}
