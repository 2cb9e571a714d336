//! The cells of the wait table exactly as the published studies print them.

use super::WaitRow;
use observations::number::fixed;

/// The nine columns.
pub const HEADINGS: [&str; 9] = [
    "WaitType",
    "Wait_S",
    "Resource_S",
    "Signal_S",
    "WaitCount",
    "Percentage",
    "AvgWait_S",
    "AvgRes_S",
    "AvgSig_S",
];

impl WaitRow {
    /// The nine cells; empty where the engine does not count waits.
    pub fn cells(&self) -> [String; 9] {
        let average = |pick: fn(&super::Averages) -> f64| {
            self.average.as_ref().map_or_else(String::new, |average| format_average(pick(average)))
        };
        [
            self.wait_type.clone(),
            format_seconds(self.wait_s),
            format_seconds(self.resource_s),
            format_seconds(self.signal_s),
            self.count.map_or_else(String::new, format_count),
            format_percentage(self.percentage),
            average(|a| a.wait_s),
            average(|a| a.resource_s),
            average(|a| a.signal_s),
        ]
    }
}

/// Seconds: two decimals, trailing zeros dropped (`16976`, `3152.3`).
pub fn format_seconds(seconds: f64) -> String {
    trim(fixed(seconds, 2))
}

/// Seconds for each wait: four decimals, trailing zeros dropped (`0.016`, `0`).
pub fn format_average(seconds: f64) -> String {
    trim(fixed(seconds, 4))
}

/// Percent: always two decimals (`19.10`).
pub fn format_percentage(percent: f64) -> String {
    fixed(percent, 2)
}

/// Number of waits: a whole number, also where it is the mean of several trials.
pub fn format_count(count: f64) -> String {
    fixed(count, 0)
}

fn trim(text: String) -> String {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_published() {
        assert_eq!(format_seconds(16976.0), "16976");
        assert_eq!(format_seconds(3152.3), "3152.3");
        assert_eq!(format_seconds(100.0), "100");
        assert_eq!(format_seconds(-0.001), "0");
        assert_eq!(format_average(0.016), "0.016");
        assert_eq!(format_average(0.000_001_2), "0");
        assert_eq!(format_percentage(19.1), "19.10");
        assert_eq!(format_count(45_295_507.0), "45295507");
        assert_eq!(format_seconds(f64::NAN), "NaN");
    }
}
