//! Kinds of values of settings.

/// The values that a setting accepts, and how text is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// `true` or `false`.
    Bool,
    /// A whole number within these bounds; `"320k"`, `"2 million"` and `"1_000"` are read too.
    Count {
        /// Smallest allowed.
        min: i64,
        /// Largest allowed.
        max: i64,
    },
    /// Bytes within these bounds: `"4 KiB"`, `"1 GB"` (10^9) or a number of bytes.
    Size {
        /// Smallest allowed.
        min: i64,
        /// Largest allowed.
        max: i64,
    },
    /// Bytes a second: `"125 MB/s"` (10^6), `"64 MiB/s"` or a number of bytes; from 4096 to 10^15.
    Bandwidth,
    /// Seconds: `"250 ms"`, `"5 s"`, `"2 min"`, `"1 h"` or a number of seconds; from 0 to 1000
    /// days.
    Duration,
    /// A duration above 0.
    PositiveDuration,
    /// A rate a second: `"5000/s"`, `"5k/s"`, `"30/min"` or a number; above 0, from 10^-6 to 10^9.
    Rate,
    /// A share: `"2%"` or 0.02; from 0 to 1.
    Share,
    /// A number within these bounds, also with decimal places.
    Number {
        /// Smallest allowed.
        min: f64,
        /// Largest allowed.
        max: f64,
    },
    /// Free text.
    Text,
    /// Free text, which may be empty.
    MaybeEmptyText,
    /// Text or a list of texts.
    TextList,
    /// Text or a list of numbers and texts.
    ScalarList,
    /// A choice of these words.
    Choice(&'static [&'static str]),
    /// A boolean, number or text that only the engine can judge.
    Scalar,
}
