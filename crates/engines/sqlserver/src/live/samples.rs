//! Activity of sessions, sample by sample.

use super::client::Client;
use super::views;
use crate::{PageId, class};
use engine::Rows;
use engine::view::shown;
use observations::{ActivityCell, WaitedResource, order};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

/// Distinct resources that are remembered in an interval; further ones are counted together.
const RESOURCES_MAX: usize = 50_000;
/// Of these, those that are recorded.
const RESOURCES_KEPT: usize = 200;
/// Hot pages whose table is looked up.
const OWNERS_MAX: usize = 5;
/// Kind of processes that work for clients.
const SESSION: &str = "session";

/// Key of a session's samples.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct SampleKey {
    wait_type: Option<String>,
    state: String,
    query_id: Option<i64>,
    application: String,
    user: String,
    database: String,
}

/// The samples of an interval.
#[derive(Debug, Default)]
pub struct Samples {
    /// Samples taken.
    pub polls: u64,
    /// Samples that were due while one before took too long.
    pub missed: u64,
    /// Why no more are taken.
    pub failed: Option<String>,
    doing: HashMap<SampleKey, u64>,
    /// By type of wait and what was waited for: samples, and most sessions at a time.
    resources: BTreeMap<(String, String), (u64, u64)>,
}

impl Samples {
    /// Takes in a sample: the rows of [`super::views::REQUESTS`].
    pub fn add(&mut self, rows: &Rows) {
        self.polls += 1;
        let mut met: BTreeMap<(String, String), u64> = BTreeMap::new();
        for row in rows.iter() {
            let state = row.text("status");
            // Only a suspended task waits; one that is runnable waits for a processor.
            let wait_type =
                row.get("wait_type").filter(|_| state == "suspended").map(str::to_owned);
            if let (Some(wait_type), Some(resource)) = (&wait_type, row.get("wait_resource"))
                && !resource.trim().is_empty()
            {
                *met.entry((wait_type.clone(), resource.trim().to_owned())).or_insert(0) += 1;
            }
            let doing = SampleKey {
                wait_type,
                state,
                query_id: row.parse("query_id").filter(|id| *id != 0),
                application: row.text("program_name"),
                user: row.text("login_name"),
                database: row.text("database_name"),
            };
            *self.doing.entry(doing).or_insert(0) += 1;
        }
        for (key, sessions) in met {
            if self.resources.len() < RESOURCES_MAX || self.resources.contains_key(&key) {
                let (samples, most) = self.resources.entry(key).or_insert((0, 0));
                *samples += sessions;
                *most = sessions.max(*most);
            }
        }
    }

    /// The samples summed by identical contents; each stands for its part of `elapsed_s`.
    pub fn cells(&self, elapsed_s: f64) -> Vec<ActivityCell> {
        let sample_s = elapsed_s / self.polls.max(1) as f64;
        let mut doing: Vec<(&SampleKey, u64)> =
            self.doing.iter().map(|(doing, samples)| (doing, *samples)).collect();
        order::sort(&mut doing, &|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
        doing
            .into_iter()
            .map(|(doing, samples)| ActivityCell {
                process: SESSION.into(),
                for_client: true,
                class: doing.wait_type.as_deref().map(class),
                wait_type: doing.wait_type.clone(),
                idle: false,
                state: doing.state.clone(),
                query_id: doing.query_id,
                application: doing.application.clone(),
                user: doing.user.clone(),
                database: doing.database.clone(),
                samples,
                seconds: samples as f64 * sample_s,
            })
            .collect()
    }

    /// Returns the awaited resources, most samples first.
    pub fn resources(&self) -> Vec<WaitedResource> {
        let mut resources: Vec<WaitedResource> = self
            .resources
            .iter()
            .map(|((wait_type, resource), (samples, most))| {
                let page =
                    resource.parse::<PageId>().ok().filter(|_| wait_type.starts_with("PAGELATCH_"));
                let allocation = page.filter(|page| page.kind().is_allocation);
                let tempdb =
                    allocation.filter(|page| page.is_tempdb()).map_or("", |_| " of tempdb");
                WaitedResource {
                    wait_type: wait_type.clone(),
                    class: class(wait_type),
                    resource: resource.clone(),
                    kind: page.map(|page| format!("{} page", page.kind().name)),
                    remedy: allocation.map(|_| format!("more data files{tempdb}")),
                    samples: *samples,
                    sessions_max: *most,
                }
            })
            .collect();
        order::by_key(&mut resources, &|resource| Reverse(resource.samples));
        resources.truncate(RESOURCES_KEPT);
        resources
    }
}

/// Names the table of each hot page that holds rows; returns the reason where it cannot be found.
pub(crate) fn name_pages(client: &mut Client, resources: &mut [WaitedResource]) -> Option<String> {
    let page = |waited_resource: &WaitedResource| {
        waited_resource.resource.parse::<PageId>().ok().filter(|_| waited_resource.kind.is_some())
    };
    let hot =
        resources.iter_mut().filter_map(|resource| Some((page(resource)?, &mut resource.kind)));
    for (page, kind) in hot.filter(|(page, _)| !page.kind().is_allocation).take(OWNERS_MAX) {
        let sql = views::page_owner(page.database, page.file, page.page);
        let why = match shown("sys.dm_db_page_info", client.query(&sql)) {
            Ok(Ok(rows)) => {
                *kind = owner(&rows).or(kind.take());
                continue;
            }
            Ok(Err(why)) => why.to_string(),
            Err(why) => why.to_string(),
        };
        return Some(format!("Tables of hot pages: {why}."));
    }
    None
}

/// `page of dbo.orders, index 1`, of the rows of [`views::page_owner`].
fn owner(rows: &Rows) -> Option<String> {
    let row = rows.first()?;
    let owner = row.get("owner").filter(|owner| !owner.is_empty())?;
    Some(format!("page of {owner}, index {}", row.get("index_id")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::rows::rows;

    const HEAD: &str = "session_id | status | wait_type | wait_resource | query_id | \
                        database_name | login_name | program_name";

    /// Study S1d: 13 sessions waited with `PAGELATCH_UP` on 5:1:1520544, a few seconds later on
    /// 5:1:1544808.
    #[test]
    fn the_published_hot_pages_are_found_by_what_they_are_for() {
        let mut samples = Samples::default();
        for page in ["5:1:1520544", "5:1:1520544", "5:1:1544808"] {
            let waiting = (51..64).map(|session| {
                format!("{session} | suspended | PAGELATCH_UP | {page} | 42 | shop | sa | load\n")
            });
            let others = "64 | suspended | PAGELATCH_SH | 5:1:900 | 42 | shop | sa | load\n65 | \
                          running | - | - | 42 | shop | sa | load\n66 | runnable | PAGELATCH_UP | \
                          5:1:1520544 | 42 | shop | sa | load\n67 | suspended | PAGEIOLATCH_EX | \
                          5:1:8088 | 0 | shop | sa | load\n";
            samples.add(&rows(&format!("{HEAD}\n{}{others}", waiting.collect::<String>())));
        }
        let resources = samples.resources();
        let rows: Vec<_> = resources
            .iter()
            .map(|resource| {
                (
                    &*resource.resource,
                    resource.kind.as_deref(),
                    resource.remedy.as_deref(),
                    resource.samples,
                    resource.sessions_max,
                )
            })
            .collect();
        assert_eq!(
            rows,
            [
                ("5:1:1520544", Some("PFS page"), Some("more data files"), 26, 13),
                ("5:1:1544808", Some("PFS page"), Some("more data files"), 13, 13),
                ("5:1:8088", None, None, 3, 1),
                ("5:1:900", Some("data or index page"), None, 3, 1),
            ],
            "a page that is read from disk is not hot, and who is runnable does not wait for a \
             page"
        );
        let cells = samples.cells(6.0);
        assert_eq!(cells.iter().map(|cell| cell.samples).sum::<u64>(), 3 * 17);
        assert_eq!((cells[0].samples, cells[0].seconds, cells[0].query_id), (39, 78.0, Some(42)));
        assert!(cells.iter().any(|cell| cell.state == "runnable" && cell.wait_type.is_none()));
    }
}
