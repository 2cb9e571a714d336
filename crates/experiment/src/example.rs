//! A commented experiment file, made from the same tables that parse it.

use crate::file_settings::{OBSERVE, SETTINGS};
use crate::{Catalog, Kind, Setting};
use std::fmt::Write as _;

/// What the example gives instead of leaving it out.
const GIVEN: &[(&str, &str)] = &[
    ("experiment.name", "\"my-experiment\""),
    ("experiment.question", "\"How many data files does this load want on this machine?\""),
    ("workload.rows", "\"100k\""),
    ("repeats.blocks", "5"),
    ("repeats.seed", "1"),
];

const FACTORS: &str = "
# Anything above can be varied: its dotted path, with a list of levels. Every combination is run.
[factors]
\"target.data_files\" = [1, 2, 4]

# Several settings under one name form a level of a factor of your own:
# [[level]]
# factor = \"log\"
# name = \"synced\"
# set = { \"target.settings.journal_mode\" = \"wal\", \"target.settings.synchronous\" = \"full\" }

# Combinations to leave out:
# [[exclude]]
# \"target.data_files\" = [2, 4]
# \"log\" = \"synced\"

# Places for data, named by target.volume; the commands see the settings as STEELBENCH_... variables:
# [[volume]]
# name = \"fast\"
# path = \"/mnt/fast\"
# prepare = \"mkfs.xfs -f /dev/nvme1n1 && mount /dev/nvme1n1 /mnt/fast\"
# cleanup = \"umount /mnt/fast\"

# A step that a person has to do when a factor's level changes:
# [[manual]]
# factor = \"log\"
# text = \"Plug in the drive for {level}, then go on.\"
";

const REPORT: &str = "
[report]
# The configuration that the others are compared with.
baseline = { \"target.data_files\" = 1 }
";

/// A commented experiment file for this engine and probe, which can be run as it is.
pub fn example(catalog: &Catalog, engine: &str, probe: &str) -> String {
    let mut text = String::from(
        "# An experiment: what is asked, of which engine, with which load, and what is varied.\n\
         # Lines behind a # are settings with their defaults. Counts, sizes and times can be written as\n\
         # \"320k\", \"4 GiB\", \"250 ms\".\n",
    );
    let owned = |owners: &[(&'static str, &'static [Setting])], name: &str| {
        owners.iter().find(|(owner, _)| *owner == name).map_or(&[] as &[Setting], |(_, settings)| settings)
    };
    section(&mut text, "experiment", SETTINGS, &[]);
    section(&mut text, "target", owned(&catalog.engines, engine), &[("engine", engine)]);
    section(&mut text, "workload", owned(&catalog.probes, probe), &[("probe", probe)]);
    section(&mut text, "observe", OBSERVE, &[]);
    text.push_str(FACTORS);
    for name in ["repeats", "order", "limits", "hooks"] {
        section(&mut text, name, SETTINGS, &[]);
    }
    text.push_str(REPORT);
    text
}

fn section(text: &mut String, name: &str, settings: &[Setting], selected: &[(&str, &str)]) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "\n[{name}]");
    for (key, value) in selected {
        let _ = writeln!(text, "{key} = \"{value}\"");
    }
    for setting in settings {
        let Some(key) = setting.path.strip_prefix(name).and_then(|key| key.strip_prefix('.')) else {
            continue;
        };
        let given = GIVEN.iter().find(|(path, _)| *path == setting.path).map(|(_, value)| *value);
        let key = if key.ends_with(".*") { key.replace('*', "NAME") } else { key.to_owned() };
        let _ = writeln!(text, "# {}", setting.doc);
        let _ = match given {
            Some(value) => writeln!(text, "{key} = {value}"),
            None => writeln!(text, "# {key} = {}", placeholder(setting)),
        };
    }
}

fn placeholder(setting: &Setting) -> String {
    match (setting.default, setting.kind) {
        (Some(default), Kind::Bool | Kind::Count { .. }) => default.into(),
        (Some(default), Kind::Choice(words)) => format!("\"{default}\"    # {}", words.join(" | ")),
        (Some(default), _) => format!("\"{default}\""),
        (None, Kind::Count { .. }) => "\"100k\"".into(),
        (None, Kind::Size { .. }) => "\"4 GiB\"".into(),
        (None, Kind::Duration) => "\"10 s\"".into(),
        (None, Kind::Rate) => "\"100/s\"".into(),
        (None, Kind::Share) => "\"2%\"".into(),
        (None, Kind::Bool) => "true".into(),
        (None, Kind::TextList) => "[\"...\"]".into(),
        (None, Kind::Text | Kind::Choice(_) | Kind::Scalar) => "\"...\"".into(),
    }
}
