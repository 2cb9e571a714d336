//! What a client asks for, and links that ask for it: everything that a page depends on is in its address.

use super::page::Refusal;
use form_urlencoded::{Serializer, parse};

/// The parameters of an address in their order; those that no page knows are ignored.
#[derive(Debug)]
pub struct Query(Vec<(String, String)>);

/// A run as addresses name it: `NAME@3`.
#[derive(Debug, Clone, Copy)]
pub struct RunName<'a> {
    pub file: &'a str,
    pub run: i64,
}

impl Query {
    pub fn of(raw: &str) -> Self {
        Self(parse(raw.as_bytes()).into_owned().collect())
    }

    /// Every value of a parameter that says anything.
    pub fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        let own = self.0.iter().filter(move |(key, _)| key == name);
        own.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// A parameter without which there is no answer; `what` says in words what is missing.
    pub fn need(&self, name: &str, what: &str) -> Result<&str, Refusal> {
        self.get(name).ok_or_else(|| Refusal::wrong(format!("The address does not say {what} (`{name}=`).")))
    }

    /// The number of a run; `None` means the latest.
    pub fn run(&self) -> Result<Option<i64>, Refusal> {
        let number = |text: &str| {
            text.parse().map_err(|_| Refusal::wrong(format!("`run={text}` is not the number of a run.")))
        };
        self.get("run").map(number).transpose()
    }

    /// A parameter that names a run.
    pub fn run_name(&self, name: &str, what: &str) -> Result<RunName<'_>, Refusal> {
        let text = self.need(name, what)?;
        let parts = text.rsplit_once('@').and_then(|(file, run)| Some((file, run.parse().ok()?)));
        parts.map(|(file, run)| RunName { file, run }).ok_or_else(|| {
            Refusal::wrong(format!("`{name}={text}` does not name a run: a name, @ and its number."))
        })
    }
}

/// An address with parameters; still to be escaped where it is put into HTML.
pub fn address(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut query = Serializer::new(String::new());
    query.extend_pairs(parameters);
    format!("{path}?{}", query.finish())
}

#[cfg(test)]
mod tests {
    use super::{Query, address};

    #[test]
    fn what_is_put_into_an_address_is_read_from_it() {
        let odd = "a&b=c d+e%2f/..\"<ü>#?@3";
        let link = address("/run", &[("file", odd), ("only", odd), ("only", "x")]);
        assert!(link.is_ascii() && !link.contains(['"', '<', ' ', '#']), "{link}");
        let query = Query::of(link.strip_prefix("/run?").unwrap());
        assert_eq!(query.get("file"), Some(odd));
        assert_eq!(query.all("only").collect::<Vec<_>>(), [odd, "x"]);
        let run = query.run_name("file", "which").unwrap();
        assert_eq!((run.file, run.run), (&odd[..odd.len() - 2], 3));
    }

    #[test]
    fn what_says_nothing_is_not_there() {
        let query = Query::of("a=&run=x&b=t%FF@two&=");
        assert_eq!(query.get("a"), None);
        assert!(query.need("a", "which").is_err());
        assert!(query.run().is_err());
        assert!(query.run_name("b", "which").is_err());
        assert_eq!(Query::of("").run().ok(), Some(None));
    }
}
