//! Whether a server's processes are processes of this machine.

use super::server::parent;
use observe::process_title;
use pgclient::Client;

/// Whether the process of this session is one of this machine: the connection is local, and the process with its
/// number calls itself a session of this user.
pub fn is_local(client: &Client, user: &str) -> bool {
    let title = client.is_local().then(|| process_title(client.backend_pid())).flatten();
    title.is_some_and(|title| title.starts_with("postgres:") && title.split(' ').any(|word| word == user))
}

/// The first process of the server, where it is one of this machine: it starts those of sessions.
pub fn first_process(client: &Client, user: &str) -> Option<i32> {
    is_local(client, user).then(|| parent(client.backend_pid())).flatten()
}
