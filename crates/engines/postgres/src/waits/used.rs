//! A load's use of pages, of CPUs outside its sessions, and of storage.

use crate::client::Client;
use crate::connecting::is_local;
use engine::{EngineUse, PageUse};
use observe::processes::parent;
use servers::administration::SCHEMA;

/// First version whose sessions report their counters on request: before it a second of work could
/// be missing.
const REPORTS_SINCE: u32 = 150_000;

/// First version with a view of the checkpointer.
const CHECKPOINTER_SINCE: u32 = 170_000;

/// Counters that only grow.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Used(EngineUse);

impl Used {
    /// Reads them; of a server whose processes we cannot see, only the pages of the tables and
    /// indexes in our schema. Workers of parallel queries have ended when their query has, and
    /// the server has waited for them: what they used is that of the children of the server's
    /// first process.
    pub(super) fn read(client: &mut Client, user: &str, sessions: &[i32]) -> Self {
        let first = if is_local(client, user) { parent(client.backend_pid()) } else { None };
        Self(EngineUse {
            worker_cpu_s: first.and_then(observe::ended_children_cpu_s),
            pages: (client.server_version() >= REPORTS_SINCE).then(|| pages(client)).flatten(),
            disk_read_bytes: first.and_then(|first| {
                sessions.iter().copied().chain([first]).map(observe::storage_read_bytes).sum()
            }),
            kernel_cpu_s: None,
            checkpoints: checkpoints(client),
        })
    }

    /// Returns the use since an earlier reading.
    pub(super) fn since(self, earlier: &Self) -> EngineUse {
        let cpu_s = self.0.worker_cpu_s.zip(earlier.0.worker_cpu_s);
        let both = self.0.pages.zip(earlier.0.pages);
        let bytes = self.0.disk_read_bytes.zip(earlier.0.disk_read_bytes);
        let checkpoints = self.0.checkpoints.zip(earlier.0.checkpoints);
        EngineUse {
            worker_cpu_s: cpu_s.map(|(now, then)| now - then).filter(|more| *more >= 0.0),
            pages: both.and_then(|(now, then)| {
                let (hits, reads) =
                    (now.hits.checked_sub(then.hits)?, now.reads.checked_sub(then.reads)?);
                Some(PageUse { hits, reads })
            }),
            disk_read_bytes: bytes.and_then(|(now, then)| now.checked_sub(then)),
            kernel_cpu_s: None,
            checkpoints: checkpoints.and_then(|(now, then)| now.checked_sub(then)),
        }
    }
}

/// Checkpoints since the server's statistics began.
fn checkpoints(client: &mut Client) -> Option<u64> {
    let sql = if client.server_version() >= CHECKPOINTER_SINCE {
        "SELECT num_timed + num_requested FROM pg_stat_checkpointer"
    } else {
        "SELECT checkpoints_timed + checkpoints_req FROM pg_stat_bgwriter"
    };
    client.query(sql, &[]).ok()?.first()?.parse(0)
}

fn pages(client: &mut Client) -> Option<PageUse> {
    let sum =
        |what: &str| format!("coalesce(sum(heap_blks_{what} + coalesce(idx_blks_{what}, 0)), 0)");
    let sql = format!(
        "SELECT {}, {} FROM pg_statio_user_tables WHERE schemaname = '{SCHEMA}'",
        sum("hit"),
        sum("read")
    );
    let rows = client.query(&sql, &[]).ok()?;
    let row = rows.first()?;
    Some(PageUse { hits: row.parse(0)?, reads: row.parse(1)? })
}
