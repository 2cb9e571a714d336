//! Variables of MariaDB's programs (<https://mariadb.com/kb/en/mariadb-environment-variables/>).

use std::ffi::OsString;

/// The variables and the home directory that a configuration is completed from.
#[derive(Clone, Default)]
pub struct Environment {
    /// Names and values.
    pub variables: Vec<(String, OsString)>,
}

impl Environment {
    /// Variables of this process.
    pub fn of_process() -> Self {
        let known = [
            "HOME",
            "USER",
            "LOGNAME",
            "MYSQL_PWD",
            "MYSQL_HOST",
            "MYSQL_TCP_PORT",
            "MYSQL_UNIX_PORT",
        ];
        Self {
            variables: known
                .into_iter()
                .filter_map(|name| Some((name.to_owned(), std::env::var_os(name)?)))
                .collect(),
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<String> {
        let found = self.variables.iter().find(|(known, _)| known == name)?;
        found.1.to_str().filter(|text| !text.is_empty()).map(str::to_owned)
    }
}
