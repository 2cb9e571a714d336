use crate::named;
use std::collections::BTreeMap;

named! {
    /// The part that a setting plays in an experiment. A setting declares it, the run records it,
    /// and analysis asks for it: so analysis needs no path.
    #[serde(rename_all = "snake_case")]
    pub enum Role {
        /// Sessions or threads that work at the same time.
        Concurrency = "concurrency",
        /// I/Os that each thread keeps in flight.
        QueueDepth = "queue_depth",
        /// Starts a second of an open loop; without it the loop is closed.
        ArrivalRate = "arrival_rate",
        /// Which data the trial works on: data set, size, seed.
        DataIdentity = "data_identity",
        /// Which part of the data a unit of work touches, and what it computes.
        Operation = "operation",
        /// On how many files, and in which form, data is kept.
        Layout = "layout",
        /// Where data is.
        DataPlace = "data_place",
        /// Where the log is.
        LogPlace = "log_place",
        /// Where backups go.
        BackupPlace = "backup_place",
        /// State of the caches when the measurement begins.
        Cache = "cache",
        /// How long, how often or how much is measured.
        Measurement = "measurement",
        /// Survival of a crash, and time of writing.
        Durability = "durability",
        /// The engine under test and its version.
        Engine = "engine",
    }
}

/// The settings of a run that have a role, by dotted path: those that its engines and probes
/// declare, given or not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roles(BTreeMap<String, Role>);

impl Roles {
    /// The role of a setting; `None` where it declares none.
    pub fn role(&self, path: &str) -> Option<Role> {
        self.0.get(path).copied()
    }

    /// Returns whether a setting has one of these roles.
    pub fn has(&self, path: &str, roles: &[Role]) -> bool {
        self.role(path).is_some_and(|role| roles.contains(&role))
    }

    /// Paths of the settings with one of these roles, role by role.
    pub fn paths<'a>(&'a self, roles: &'a [Role]) -> impl Iterator<Item = &'a str> {
        roles.iter().flat_map(|requested| {
            let with_role = self.0.iter().filter(move |(_, role)| *role == requested);
            with_role.map(|(path, _)| path.as_str())
        })
    }

    /// Paths and roles in the order of the paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Role)> {
        self.0.iter().map(|(path, role)| (path.as_str(), *role))
    }

    /// Returns whether no setting has a role, as in runs of versions before roles.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<P: Into<String>> FromIterator<(P, Role)> for Roles {
    fn from_iter<I: IntoIterator<Item = (P, Role)>>(all: I) -> Self {
        Self(all.into_iter().map(|(path, role)| (path.into(), role)).collect())
    }
}
