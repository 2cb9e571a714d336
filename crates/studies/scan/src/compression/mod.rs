//! Costs and savings of compression, from runs of probes that fill, scan, read and
//! update tables.

pub mod analysis;
mod section;

use self::analysis::compression;

report::sections! {
    /// The sections of reports.
    pub const SECTIONS = |summary| {
        Headline compression: &compression(summary) => section::sections [screen];
    }
}
