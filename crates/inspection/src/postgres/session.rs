//! Sessions that examine a server.

use engine::AdminSession;
use engine::server::MARK;

/// Keeps the statements of a session out of the server's statistics, which superusers may.
pub fn leave_no_statistics(session: &mut dyn AdminSession) {
    let _ = session.run(&format!("SET /* {MARK} */ pg_stat_statements.track = 'none'"));
}
