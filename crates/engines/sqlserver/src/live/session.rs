//! Sessions of observers: opened to look, asked, and what they were doing when one failed.

use super::answer::ask_with;
use super::client::{Client, Error};
use super::config::Config;
use super::rows::Rows;
use super::views::{self, View};
use engine::ServerError;
use observations::Unread;
use std::time::Duration;
use work::Stop;

/// Timeout for reading the last window after the user asked to stop.
pub const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// Connects to look and change nothing.
pub fn observing(config: &Config, stop: &Stop, linger: Duration) -> Result<Client, ServerError> {
    let mut client = Client::connect(config, stop, linger).map_err(while_doing("connecting"))?;
    client.query(views::SESSION).map_err(while_doing("preparing the connection"))?;
    Ok(client)
}

/// Rows of a view whose statement ends with `end`; where the server refuses it, `unread` gets the
/// reason why `what` is not known.
pub(crate) fn read_view(
    client: &mut Client,
    what: &str,
    view: &View,
    end: &str,
    unread: &mut Vec<Unread>,
) -> Result<Option<Rows>, ServerError> {
    let answer = ask_with(client, view, end).map_err(while_doing("reading its statistics"))?;
    Ok(answer.map_err(|why| unread.push(Unread { what: what.into(), why: why.to_string() })).ok())
}

/// Says what was being done when the server or the connection failed.
pub fn while_doing(doing: &str) -> impl FnOnce(Error) -> ServerError + '_ {
    move |error| ServerError { what: format!("{doing}: {error}"), advice: error.advice() }
}
