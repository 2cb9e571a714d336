use super::{list, tree::Tree};
use observations::Limits;
use std::path::{Path, PathBuf};

/// The first version of control groups has no word for "no limit": a number of bytes that no machine has.
const NO_LIMIT_BYTES: u64 = 1 << 60;

/// The soft limit of this process on a resource; `u64::MAX` is no limit.
pub(super) fn of_process(resource: libc::__rlimit_resource_t) -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a valid place for the answer.
    let rc = unsafe { libc::getrlimit(resource, &raw mut limit) };
    (rc == 0).then_some(limit.rlim_cur)
}

/// What the control groups that this process is in allow (Documentation/admin-guide/cgroup-v2.rst,
/// cgroup-v1). The narrowest limit on the way up to the root counts.
pub(super) fn of_groups(tree: &Tree) -> Limits {
    let groups = tree.if_there("proc/self/cgroup").unwrap_or_default();
    let status = tree.if_there("proc/self/status").unwrap_or_default();
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let mut limits = Limits {
        allowed_cpus: allowed.and_then(list::count).filter(|count| *count > 0),
        ..Limits::default()
    };
    for group in groups.lines() {
        // Hierarchy, controllers, path: `0::/user.slice`, `4:memory:/docker/1`.
        let mut parts = group.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        for folder in folders(controllers, path) {
            narrow(&mut limits, tree, &folder);
        }
    }
    limits
}

/// The folders of a group and of those above it.
fn folders(controllers: &str, path: &str) -> Vec<PathBuf> {
    let mounts: Vec<PathBuf> = match controllers {
        // Beside controllers of the first version, the second is mounted below.
        "" => vec!["sys/fs/cgroup".into(), "sys/fs/cgroup/unified".into()],
        controllers => vec![Path::new("sys/fs/cgroup").join(controllers)],
    };
    // A path that climbs out of what we see, `/../..`, names no folder here.
    let path = Path::new(path.trim_start_matches('/'));
    let above = || path.ancestors().filter(|path| !path.starts_with(".."));
    mounts.iter().flat_map(|mount| above().map(|path| mount.join(path))).collect()
}

fn narrow(limits: &mut Limits, tree: &Tree, folder: &Path) {
    let text = |name: &str| tree.if_there(folder.join(name));
    let bytes = [text("memory.max"), text("memory.limit_in_bytes")].into_iter().flatten();
    let bytes = bytes.filter_map(|text| text.parse().ok()).filter(|bytes| *bytes < NO_LIMIT_BYTES);
    limits.memory_bytes = limits.memory_bytes.into_iter().chain(bytes).min();

    // `max 100000`, or two files, in which -1 is no limit.
    let second = || text("cpu.max");
    let first = || Some(format!("{} {}", text("cpu.cfs_quota_us")?, text("cpu.cfs_period_us")?));
    let Some(quota) = second().or_else(first) else { return };
    let mut numbers = quota.split_ascii_whitespace().map(str::parse::<f64>);
    if let (Some(Ok(quota)), Some(Ok(period))) = (numbers.next(), numbers.next())
        && quota > 0.0
        && period > 0.0
    {
        limits.cpus = Some(limits.cpus.map_or(quota / period, |least| least.min(quota / period)));
    }
}
