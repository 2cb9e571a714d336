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

/// The text before `://`, empty if it is not a scheme.
fn scheme(url: &str) -> &str {
    let scheme = url.split_once("://").map(|(scheme, _)| scheme);
    scheme
        .filter(|scheme| {
            scheme.chars().all(|sign| sign.is_ascii_alphanumeric() || "+.-".contains(sign))
        })
        .unwrap_or_default()
}
