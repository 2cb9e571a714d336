use serde::Serialize;

/// How much an advice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Weight {
    /// It costs speed or safety, or distorts measurements.
    Problem,
    /// It is a property to know, or a choice that other loads may make otherwise.
    Note,
}

/// One thing that should be looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Advice {
    /// Name of the rule, the same in every version: `partition-sector`.
    pub rule: &'static str,
    /// How much it matters.
    pub weight: Weight,
    /// What it is about: a device, a mounted folder, a setting, a server.
    pub subject: String,
    /// What was found, with figures.
    pub fact: String,
    /// Why it matters, with the source where there is one.
    pub reason: &'static str,
    /// What to do.
    pub action: String,
}
