//! `postgres://user:password@host:port,host:port/database?keyword=value&...`

use super::ConfigError;

type Pairs = Vec<(String, String)>;

/// What follows the scheme, when it is ours.
pub fn after_scheme(text: &str) -> Option<&str> {
    text.strip_prefix("postgresql://").or_else(|| text.strip_prefix("postgres://"))
}

/// The parts of a URL as keywords and values, percent-decoded. What is absent or empty is left out.
pub fn pairs(rest: &str) -> Result<Pairs, ConfigError> {
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
    push_hosts(&mut pairs, hosts)?;
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

fn push_hosts(pairs: &mut Pairs, text: &str) -> Result<(), ConfigError> {
    let mut hosts = Vec::new();
    let mut ports = Vec::new();
    for part in text.split(',') {
        let (host, port) = host_and_port(part)?;
        hosts.push(host);
        ports.push(port);
    }
    push(pairs, "host", &list(&hosts))?;
    push(pairs, "port", &list(&ports))
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

fn decoded(text: &str) -> Result<String, ConfigError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        // The text itself may be a password: it is not repeated.
        let digits = after.get(..2).and_then(|digits| str::from_utf8(digits).ok());
        let byte = digits
            .filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|digits| u8::from_str_radix(digits, 16).ok())
            .ok_or_else(|| {
                ConfigError::Syntax("`%` is not followed by two hexadecimal digits; write it as %25".into())
            })?;
        if byte == 0 {
            return Err(ConfigError::Syntax("%00 is not allowed".into()));
        }
        bytes.push(byte);
        rest = &after[2..];
    }
    String::from_utf8(bytes).map_err(|_| ConfigError::Syntax("percent-encoded text is not UTF-8".into()))
}
