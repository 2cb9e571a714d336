//! The time that a server or a program may be silent.

use std::ffi::OsString;
use std::time::Duration;

/// The variable that changes it, in seconds.
pub const SILENCE_VARIABLE: &str = "STEELBENCH_SILENCE_S";

const DEFAULT: Duration = Duration::from_secs(60);

/// The variable has another value than a number of seconds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{SILENCE_VARIABLE}={0}: expected seconds from 0.1 to 86400, such as 60")]
pub struct SilenceError(String);

/// Returns the longest silence of a server that owes an answer, and of a program that works for
/// Steelbench, before they are given up: that of the environment, else 60 s.
///
/// # Errors
/// When the variable has no such number.
pub fn silence_from_environment() -> Result<Duration, SilenceError> {
    std::env::var_os(SILENCE_VARIABLE).map_or(Ok(DEFAULT), |value| parse(&value))
}

/// The longest silence; the default where the environment has no valid one, which the start of the
/// program rejects.
pub fn silence_max() -> Duration {
    silence_from_environment().unwrap_or(DEFAULT)
}

fn parse(value: &OsString) -> Result<Duration, SilenceError> {
    let text = value.to_string_lossy();
    let seconds =
        text.trim().parse::<f64>().ok().filter(|seconds| (0.1..=86_400.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| SilenceError(text.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::parse;
    use std::time::Duration;

    #[test]
    fn seconds_are_positive_numbers_of_a_day_at_most() {
        for (text, seconds) in [("60", 60.0), (" 0.5 ", 0.5), ("86400", 86_400.0)] {
            assert_eq!(parse(&text.into()), Ok(Duration::from_secs_f64(seconds)));
        }
        for text in ["", "0", "-1", "NaN", "inf", "90000", "60s"] {
            let error = parse(&text.into()).unwrap_err().to_string();
            assert!(error.starts_with(&format!("STEELBENCH_SILENCE_S={text}: ")), "{error}");
        }
    }
}
