//! The engine whose server a URL names.

use crate::{Engine, Server, ServerError, Servers};

/// The server that a URL names, of the engine that has its scheme.
///
/// # Errors
/// When these engines do not have the scheme, or the URL is wrong.
pub fn by_url(engines: &[&Engine], url: &str) -> Result<Box<dyn Server>, ServerError> {
    let (_, servers) = find(engines, url)?;
    servers.by_url(url)
}

/// The engine whose server a URL or a connection string names; of a text without a scheme, the
/// engine that takes such texts.
///
/// # Errors
/// When these engines do not have the scheme.
pub fn engine_by_url<'e>(engines: &[&'e Engine], url: &str) -> Result<&'e Engine, ServerError> {
    find(engines, url).map(|(engine, _)| engine)
}

fn find<'e>(
    engines: &[&'e Engine],
    url: &str,
) -> Result<(&'e Engine, &'e dyn Servers), ServerError> {
    let scheme = scheme(url);
    let all = || engines.iter().filter_map(|engine| Some((*engine, engine.servers?)));
    let found = all()
        .find(|(_, servers)| servers.is_connection_string(url))
        .or_else(|| all().find(|(_, servers)| servers.url_schemes().contains(&scheme)));
    found.ok_or_else(|| {
        let known: Vec<String> = all()
            .flat_map(|(_, servers)| servers.url_schemes())
            .filter(|known| !known.is_empty())
            .map(|known| format!("{known}://"))
            .collect();
        let known = known.join(", ");
        ServerError::new(format!("unknown URL scheme {scheme}://; expected one of {known}"))
    })
}

/// Parameters of URLs that name no file of a password, a key or a certificate.
const HARMLESS: [&str; 9] = [
    "application_name",
    "connect-timeout",
    "connect_timeout",
    "encrypt",
    "host",
    "port",
    "socket",
    "ssl-mode",
    "sslmode",
];

/// Returns whether a URL says only where a server is and who logs in: what it leaves open, as
/// passwords, comes from this machine's own environment and files.
pub fn names_only_server(url: &str) -> bool {
    let (place, parameters) = url.split_once('?').unwrap_or((url, ""));
    let is_odd = |text: &str| text.contains(|c: char| c.is_whitespace() || ";={}'\"".contains(c));
    let is_harmless = |parameter: &str| {
        let pair = parameter.split_once('=');
        pair.is_some_and(|(name, value)| HARMLESS.contains(&name) && !is_odd(value))
    };
    (url.is_empty() || !scheme(url).is_empty())
        && !is_odd(place)
        && parameters.split('&').filter(|parameter| !parameter.is_empty()).all(is_harmless)
}

/// The text before `://`, empty if it is not a scheme.
fn scheme(url: &str) -> &str {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme
        .filter(|scheme| {
            scheme.chars().all(|sign| sign.is_ascii_alphanumeric() || "+.-".contains(sign))
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::names_only_server;

    #[test]
    fn urls_that_name_a_file_or_have_another_form_name_more_than_a_server() {
        for url in [
            "",
            "postgres://you@db:5433/shop",
            "postgres://you@/shop?host=%2Frun%2Fpg&sslmode=require",
            "mariadb://you@db/?socket=/run/mysqld.sock",
        ] {
            assert!(names_only_server(url), "{url}");
        }
        for url in [
            "shop",
            "host=db passfile=/home/you/.pgpass",
            "postgres://db/shop?passfile=/home/you/.netrc",
            "postgres://db/shop?sslmode=require&servicefile=x",
            "mariadb://db/?ssl-key=/home/you/key",
            "mssql://db;PasswordFile=/home/you/token",
            "mssql://db/?encrypt=yes;PasswordFile=token",
            "Server=db;PasswordFile=token",
            "mssql://db/?PasswordFile=token",
        ] {
            assert!(!names_only_server(url), "{url}");
        }
    }
}
