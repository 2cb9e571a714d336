//! Connection strings: `host=db1 dbname='my db'` and
//! `postgres://user:password@host:port,host:port/database?keyword=value&...`

use crate::ConfigError;
use std::iter::Peekable;
use std::str::Chars;

/// Keywords with their values.
pub type Pairs = Vec<(String, String)>;

/// The pairs in order. Values are bare words or in single quotes; a backslash takes the next
/// character literally in both.
pub fn pairs(text: &str) -> Result<Pairs, ConfigError> {
    let mut pairs = Vec::new();
    let mut rest = text.chars().peekable();
    loop {
        skip_space(&mut rest);
        if rest.peek().is_none() {
            return Ok(pairs);
        }
        let mut name = String::new();
        while let Some(c) = rest.next_if(|c| *c != '=' && !c.is_ascii_whitespace()) {
            name.push(c);
        }
        skip_space(&mut rest);
        if rest.next() != Some('=') {
            return Err(ConfigError::Syntax(format!("`{name}` is not followed by `=`")));
        }
        skip_space(&mut rest);
        let value = value(&mut rest)
            .ok_or_else(|| ConfigError::Syntax(format!("the quotes of `{name}`'s value do not end")))?;
        pairs.push((name, value));
    }
}

fn skip_space(rest: &mut Peekable<Chars<'_>>) {
    while rest.next_if(char::is_ascii_whitespace).is_some() {}
}

fn value(rest: &mut Peekable<Chars<'_>>) -> Option<String> {
    let quoted = rest.next_if_eq(&'\'').is_some();
    let mut value = String::new();
    while let Some(c) = rest.next_if(|c| quoted || !c.is_ascii_whitespace()) {
        match c {
            '\'' if quoted => return Some(value),
            '\\' => value.extend(rest.next()),
            c => value.push(c),
        }
    }
    (!quoted).then_some(value)
}

/// A value as [`pairs`] reads it.
pub fn quoted(value: &str) -> String {
    let special = |c: char| c.is_ascii_whitespace() || c == '\'' || c == '\\';
    if value.is_empty() || value.contains(special) {
        format!("'{}'", value.replace('\\', r"\\").replace('\'', r"\'"))
    } else {
        value.to_owned()
    }
}

/// What follows the scheme, when it is ours.
pub fn after_scheme(text: &str) -> Option<&str> {
    text.strip_prefix("postgresql://").or_else(|| text.strip_prefix("postgres://"))
}

/// The parts of a URL as keywords and values, percent-decoded. What is absent or empty is left out.
pub fn url_pairs(rest: &str) -> Result<Pairs, ConfigError> {
    let mut pairs = Pairs::new();
    let (before_query, query) = rest.split_once('?').unwrap_or((rest, ""));
    // A slash ends the hosts, but a unix socket's directory has its slashes encoded.
    let (authority, database) = before_query.split_once('/').unwrap_or((before_query, ""));
    let (login, hosts) = match authority.split_once('@') {
        Some((login, hosts)) => (login, hosts),
        None => ("", authority),
    };
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    push(&mut pairs, "user", user)?;
    push(&mut pairs, "password", password)?;
    let (hosts, ports): (Vec<_>, Vec<_>) = hosts.split(',').map(host_and_port).collect::<Result<_, _>>()?;
    push(&mut pairs, "host", &list(&hosts))?;
    push(&mut pairs, "port", &list(&ports))?;
    push(&mut pairs, "dbname", database)?;
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        push_parameter(&mut pairs, parameter)?;
    }
    Ok(pairs)
}

fn push(pairs: &mut Pairs, keyword: &str, value: &str) -> Result<(), ConfigError> {
    if !value.is_empty() {
        pairs.push((keyword.to_owned(), decoded(value)?));
    }
    Ok(())
}

/// Nothing where all are empty, so that the environment can say it.
fn list(parts: &[&str]) -> String {
    if parts.iter().all(|part| part.is_empty()) { String::new() } else { parts.join(",") }
}

fn host_and_port(part: &str) -> Result<(&str, &str), ConfigError> {
    let Some(rest) = part.strip_prefix('[') else {
        return Ok(part.split_once(':').unwrap_or((part, "")));
    };
    let syntax = |reason| ConfigError::Syntax(format!("{reason} `{part}`"));
    let (host, after) =
        rest.split_once(']').ok_or_else(|| syntax("no closing bracket in the IPv6 address"))?;
    if host.is_empty() {
        return Err(syntax("the IPv6 address is empty:"));
    }
    match after.strip_prefix(':') {
        Some(port) => Ok((host, port)),
        None if after.is_empty() => Ok((host, "")),
        None => Err(syntax("a port or nothing can follow the IPv6 address:")),
    }
}

fn push_parameter(pairs: &mut Pairs, parameter: &str) -> Result<(), ConfigError> {
    let (keyword, value) = parameter
        .split_once('=')
        .ok_or_else(|| ConfigError::Syntax(format!("`{parameter}` is not followed by `=`")))?;
    if value.contains('=') {
        let reason = format!("the value of `{keyword}` has another `=`; write it as %3D");
        return Err(ConfigError::Syntax(reason));
    }
    let (keyword, value) = (decoded(keyword)?, decoded(value)?);
    // What JDBC says.
    match (keyword.as_str(), value.as_str()) {
        ("ssl", "true") => pairs.push(("sslmode".to_owned(), "require".to_owned())),
        _ => pairs.push((keyword, value)),
    }
    Ok(())
}

/// The text itself may be a password: errors do not repeat it.
fn decoded(text: &str) -> Result<String, ConfigError> {
    let syntax = |reason: &str| ConfigError::Syntax(reason.to_owned());
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            None => {
                return Err(syntax("`%` is not followed by two hexadecimal digits; write it as %25"));
            }
            Some(0) => return Err(syntax("%00 is not allowed")),
            Some(byte) => bytes.push(byte),
        }
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).map_err(|_| syntax("percent-encoded text is not UTF-8"))
}
