use super::facts;
use crate::model::{Cell, Columns, Section, Tone};
use crate::number;
use crate::volume::yes;
use observations::{Extension, ServerSetting, SurveyedServer};

/// Databases that are listed.
const DATABASES: usize = 20;

/// What a server says of itself, and how it is set.
pub(super) fn sections(server: &SurveyedServer) -> Vec<Section> {
    let mut about = Section::new(format!("{} at {}", server.version, server.address));
    let extension = |one: &Extension| format!("{} {}", one.name, one.version);
    let extensions: Vec<String> = server.extensions.iter().map(extension).collect();
    facts(
        &mut about,
        [
            (
                "On this machine",
                Some(if server.is_local { "yes" } else { "not as far as can be seen" }.into()),
            ),
            ("Replica", server.is_replica.map(yes)),
            ("Uses huge pages", server.huge_pages_used.map(yes)),
            ("Extensions", (!extensions.is_empty()).then(|| extensions.join(", "))),
            ("Databases", (!server.databases.is_empty()).then(|| databases(server))),
        ],
    );
    let changed = server.settings.iter().filter(|setting| setting.is_changed || setting.pending_restart);
    let others = server.settings.iter().filter(|setting| !setting.is_changed && !setting.pending_restart);
    let mut sections = vec![about];
    sections.extend(settings("Settings that somebody changed", &changed.collect::<Vec<_>>()));
    sections.extend(settings("Settings as they come", &others.collect::<Vec<_>>()));
    sections
}

fn databases(server: &SurveyedServer) -> String {
    let size = |bytes: Option<u64>| bytes.map_or("size not permitted to read".to_owned(), number::bytes);
    let one = |database: &observations::Database| format!("{} {}", database.name, size(database.bytes));
    let mut listed: Vec<String> = server.databases.iter().take(DATABASES).map(one).collect();
    let rest = server.databases.len().saturating_sub(DATABASES);
    if rest > 0 {
        listed.push(format!("and {} more", number::count(rest as u64)));
    }
    listed.join(", ")
}

fn settings(heading: &str, settings: &[&ServerSetting]) -> Option<Section> {
    if settings.is_empty() {
        return None;
    }
    let mut section = Section::new(heading);
    let mut table = Columns::of(settings);
    table.left("setting", |setting| &setting.name);
    table.left("is", |setting| match &setting.value {
        Some(value) => shown(setting, value).into(),
        None => Cell::new("a text, not recorded", Tone::Muted),
    });
    table.left("default", |setting| setting.default.as_deref().map(|value| shown(setting, value)));
    table
        .name("from", |setting| {
            let file = setting.file.as_ref().map_or_else(String::new, |file| format!(" {file}"));
            let source = format!("{}{file}", setting.source);
            if setting.pending_restart {
                return Cell::new(format!("{source}; waits for a restart"), Tone::Warning);
            }
            source.into()
        })
        .optional(1);
    section.table(table);
    Some(section)
}

/// A value with its unit: memory in units that fit, the rest as it is.
fn shown(setting: &ServerSetting, value: &str) -> String {
    let as_value = ServerSetting { value: Some(value.to_owned()), ..setting.clone() };
    match (as_value.bytes(), &setting.unit) {
        (Some(bytes), _) => number::bytes(bytes),
        _ if value.is_empty() => "(none)".to_owned(),
        (None, Some(unit)) if !value.starts_with('-') => format!("{value} {unit}"),
        _ => value.to_owned(),
    }
}
