use serde::Serialize;

/// An ability that runs need, and its state on this machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// Name of the ability: an engine, `io_uring`.
    pub name: String,
    /// The state.
    pub state: State,
    /// The finding: a version, a value, the reason for absence.
    pub found: String,
    /// The consequence of a state that is not `Ready`, and the remedy.
    pub remedy: Option<String>,
}

/// The state of an ability.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// It works.
    Ready,
    /// It works with a limitation that measurements can show.
    Limited,
    /// It is absent; everything else works without it.
    Missing,
}

impl State {
    /// The name on the page.
    pub fn label(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Limited => "limited",
            Self::Missing => "missing",
        }
    }
}

impl Check {
    /// An ability that works.
    pub fn ready(name: &str, found: impl Into<String>) -> Self {
        Self { name: name.into(), state: State::Ready, found: found.into(), remedy: None }
    }

    /// An ability that works with a limitation.
    pub fn limited(name: &str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        let (found, remedy) = (found.into(), Some(remedy.into()));
        Self { name: name.into(), state: State::Limited, found, remedy }
    }

    /// An absent ability.
    pub fn missing(name: &str, found: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { state: State::Missing, ..Self::limited(name, found, remedy) }
    }
}
