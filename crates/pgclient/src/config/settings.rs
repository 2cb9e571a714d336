//! The values of the keywords, from text, service, variables and defaults.

use super::keyword::{self, KEYWORDS};
use super::{ConfigError, Environment, service, text, url};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::str::FromStr;

/// Values by keyword. An empty value keeps the environment's out, and then counts as none.
#[derive(Debug, Default)]
pub struct Settings(BTreeMap<&'static str, String>);

impl Settings {
    /// From a URL, from pairs, or from the name of a database.
    pub fn from_text(text: &str) -> Result<Self, ConfigError> {
        let pairs = if let Some(rest) = url::after_scheme(text) {
            url::pairs(rest)?
        } else if text.contains('=') {
            text::pairs(text)?
        } else if text.trim().is_empty() {
            Vec::new()
        } else {
            vec![("dbname".to_owned(), text.trim().to_owned())]
        };
        let mut settings = Self::default();
        for (name, value) in pairs {
            settings.0.insert(keyword::find(&name)?.name, value);
        }
        Ok(settings)
    }

    /// Adds what is not given yet: first the service's values, then the variables'.
    pub fn complete(&mut self, environment: &Environment) -> Result<(), ConfigError> {
        let given = |keyword: &str, variable: &str| {
            let value = self.0.get(keyword).map(String::as_str).or_else(|| environment.variable(variable));
            value.filter(|value| !value.is_empty()).map(str::to_owned)
        };
        if let Some(name) = given("service", "PGSERVICE") {
            let file = given("servicefile", "PGSERVICEFILE");
            for (keyword, value) in service::read(&name, file.map(Into::into), environment)? {
                self.0.entry(keyword::find(&keyword)?.name).or_insert(value);
            }
        }
        for keyword in KEYWORDS {
            if let Some(value) = keyword.variable.and_then(|name| environment.variable(name)) {
                self.0.entry(keyword.name).or_insert_with(|| value.to_owned());
            }
            if let Some(value) = self.0.get(keyword.name) {
                keyword.check(value)?;
            }
        }
        Ok(())
    }

    /// Whether there is a value that is not empty.
    pub fn is_set(&self, keyword: &str) -> bool {
        self.0.get(keyword).is_some_and(|value| !value.is_empty())
    }

    /// The value, when there is one that is not empty.
    pub fn take(&mut self, keyword: &'static str) -> Option<String> {
        self.0.remove(keyword).filter(|value| !value.is_empty())
    }

    pub fn number<T: FromStr<Err: Display>>(
        &mut self,
        keyword: &'static str,
    ) -> Result<Option<T>, ConfigError> {
        let parse = |value: String| {
            value.trim().parse().map_err(|error| ConfigError::Value {
                keyword,
                reason: format!("`{value}` is not a number that it can have: {error}"),
            })
        };
        self.take(keyword).map(parse).transpose()
    }

    /// A number for which what is not positive means the system's default.
    pub fn positive(&mut self, keyword: &'static str) -> Result<Option<u64>, ConfigError> {
        Ok(self.number::<i32>(keyword)?.filter(|number| *number > 0).map(|number| number as u64))
    }

    pub fn choice<T: Copy>(
        &mut self,
        keyword: &'static str,
        choices: &[(&str, T)],
        default: T,
    ) -> Result<T, ConfigError> {
        let Some(value) = self.take(keyword) else { return Ok(default) };
        choices.iter().find(|(name, _)| *name == value).map(|(_, choice)| *choice).ok_or_else(|| {
            let names: Vec<_> = choices.iter().map(|(name, _)| *name).collect();
            ConfigError::Value { keyword, reason: format!("`{value}` is none of {}", names.join(", ")) }
        })
    }
}
