//! Arrows between crates: cli -> tools, studies, designs -> inspection -> core and engines -> core,
//! never back, and never sideways between two tools, two studies or two engines; in core only
//! downwards. A guest's folder may hold a crate of its data plane, which only the guest uses.

use super::workspace::{Crate, Tier, Workspace};

/// The crates of core from the top of the data flow to its bottom. Analysis and reports never touch
/// an engine.
const CORE: [&str; 15] = [
    "command_line",
    "runner",
    "report",
    "analysis",
    "store",
    "probe",
    "datasets",
    "engine",
    "transport",
    "work",
    "observe",
    "experiment",
    "statistics",
    "observations",
    "parquet_files",
];

/// The crate that every engine may use: private servers, servers by URL, sampling, connections of
/// helper programs.
const SHARED: &str = "servers";

pub fn check(workspace: &Workspace) -> Vec<String> {
    let mut wrong = Vec::new();
    for user in &workspace.crates {
        if user.tier == Tier::Core && place(&user.name).is_none() {
            wrong
                .push(format!("{}: not in the order of core (xtask/src/tidy/edges.rs)", user.name));
        }
        if user.tier != Tier::Cli && user.name != name(user) {
            wrong.push(format!("{}: expected a crate named {}", user.folder, name(user)));
        }
        let used = user.uses.iter().filter_map(|name| workspace.named(name));
        let forbidden = used.filter(|used| !is_allowed(user, used));
        wrong.extend(
            forbidden.map(|used| format!("crate {} must not use crate {}", user.name, used.name)),
        );
    }
    wrong
}

/// The name of a crate: that of its folder, in a guest's folder after the guest's.
fn name(member: &Crate) -> String {
    let parts = if member.guest().is_some() { 2 } else { 1 };
    let mut folders: Vec<&str> = member.folder.rsplit('/').take(parts).collect();
    folders.reverse();
    folders.join("_")
}

fn place(name: &str) -> Option<usize> {
    CORE.iter().position(|core| *core == name)
}

fn is_allowed(user: &Crate, used: &Crate) -> bool {
    match (user.tier, used.tier) {
        (Tier::Aside, _) | (Tier::Tools | Tier::Studies, Tier::Inspection) => true,
        _ if used.guest().is_some() => used.guest() == Some(&user.folder),
        (_, Tier::Aside) => false,
        (Tier::Core, Tier::Core) => place(&user.name) < place(&used.name),
        (Tier::Engines, Tier::Engines) => used.name == SHARED,
        (Tier::Cli, _) | (_, Tier::Core) => user.tier != used.tier,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Crate, Tier, is_allowed, name};

    #[test]
    fn arrows_point_from_the_binary_to_the_core() {
        let member = |name: &str, tier| Crate {
            name: name.into(),
            folder: String::new(),
            tier,
            uses: Vec::new(),
            sources: Vec::new(),
        };
        let [cli, tool, study] =
            [Tier::Cli, Tier::Tools, Tier::Studies].map(|tier| member("a", tier));
        let [engine, servers] = ["sqlite", "servers"].map(|name| member(name, Tier::Engines));
        let inspection = member("inspection", Tier::Inspection);
        let [runner, store] = ["runner", "store"].map(|name| member(name, Tier::Core));
        let testing = member("testing", Tier::Aside);
        let [disk, disk_io] = [("disk", "disk"), ("disk_io", "disk/io")].map(|(name, folder)| {
            let folder = format!("crates/studies/{folder}");
            Crate { folder, ..member(name, Tier::Studies) }
        });
        assert_eq!([name(&disk), name(&disk_io)], ["disk", "disk_io"]);
        for (user, used) in [
            (&cli, &tool),
            (&cli, &study),
            (&tool, &store),
            (&study, &runner),
            (&tool, &inspection),
            (&inspection, &store),
            (&engine, &servers),
            (&runner, &store),
            (&testing, &engine),
            (&disk, &disk_io),
            (&disk_io, &store),
            (&testing, &disk_io),
        ] {
            assert!(is_allowed(user, used), "{} {}", user.name, used.name);
        }
        for (user, used) in [
            (&store, &runner),
            (&store, &engine),
            (&store, &inspection),
            (&engine, &inspection),
            (&inspection, &engine),
            (&servers, &engine),
            (&tool, &tool),
            (&study, &tool),
            (&study, &engine),
            (&cli, &testing),
            (&study, &disk_io),
            (&cli, &disk_io),
            (&disk_io, &disk),
            (&disk_io, &engine),
        ] {
            assert!(!is_allowed(user, used), "{} {}", user.name, used.name);
        }
    }
}
