//! What surrounds a connection string: variables, the home folder, the user.

use std::collections::BTreeMap;
use std::env;
use std::ffi::CStr;
use std::path::{Path, PathBuf};

/// Variables that libpq turns into settings of the session.
const SESSION: [(&str, &str); 3] = [("PGDATESTYLE", "datestyle"), ("PGTZ", "timezone"), ("PGGEQO", "geqo")];

/// Where [`Config::parse_in`](crate::Config::parse_in) finds what the text leaves open.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    home: Option<PathBuf>,
    user: String,
}

impl Environment {
    /// This process's.
    pub fn of_process() -> Self {
        let variables = env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| name.starts_with("PG"));
        Self { variables: variables.collect(), home: env::home_dir(), user: user_name().unwrap_or_default() }
    }

    /// No variables.
    pub fn new(user: &str, home: &Path) -> Self {
        Self { variables: BTreeMap::new(), home: Some(home.to_owned()), user: user.to_owned() }
    }

    /// With one variable more.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// A file in the home folder.
    pub(crate) fn in_home(&self, name: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(name))
    }

    /// The name of the user who runs this process.
    pub fn user(&self) -> &str {
        &self.user
    }

    pub(super) fn session_settings(&self) -> Vec<(&'static str, String)> {
        let value = |variable| self.variable(variable).filter(|value| !value.is_empty()).map(str::to_owned);
        SESSION.iter().filter_map(|(variable, setting)| Some((*setting, value(variable)?))).collect()
    }
}

/// The name of the user who runs us, from the system and not from a variable, as libpq does it.
fn user_name() -> Option<String> {
    let mut buffer = vec![0; 16 << 10];
    // SAFETY: all zeroes is a valid passwd: integers and null pointers.
    let mut entry: libc::passwd = unsafe { std::mem::zeroed() };
    let mut found = std::ptr::null_mut();
    // SAFETY: `entry`, `buffer` and `found` are valid for writing, and the buffer's length is right.
    let status = unsafe {
        let user = libc::geteuid();
        libc::getpwuid_r(user, &raw mut entry, buffer.as_mut_ptr(), buffer.len(), &raw mut found)
    };
    if status != 0 || found.is_null() {
        return None;
    }
    // SAFETY: an entry that was found has a name, ended by a zero, inside `buffer`, which lives.
    let name = unsafe { CStr::from_ptr(entry.pw_name) };
    Some(name.to_str().ok()?.to_owned())
}
