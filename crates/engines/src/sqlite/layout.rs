use super::pragma::Pragmas;
use crate::{Cancel, EngineError, Place};
use experiment::Configuration;
use std::path::PathBuf;

/// How the files are laid out and opened; shared by all sessions.
#[derive(Debug)]
pub struct Layout {
    pub files: Vec<PathBuf>,
    pub attached: bool,
    pub timed: bool,
    pub pragmas: Pragmas,
    pub busy_timeout_s: f64,
    pub growth_bytes: u64,
    pub final_checkpoint: bool,
    /// The second column of the shape that has one row a page.
    pub filler: Option<Vec<u8>>,
    pub cancel: Cancel,
}

impl Layout {
    /// The name by which a session's statements refer to a data file.
    pub fn schema_of(&self, file: usize) -> String {
        if self.attached && file > 0 { format!("f{file}") } else { "main".into() }
    }

    /// The layout that a configuration asks for.
    pub fn of(configuration: &Configuration, place: &Place, cancel: &Cancel) -> Result<Self, EngineError> {
        let mut directories = Vec::new();
        for name in configuration.texts("target.volume") {
            let volume = place.volumes.iter().find(|(known, _)| known == name);
            let (_, directory) = volume.ok_or_else(|| EngineError::Engine {
                doing: format!("placing data files on volume {name}"),
                message: "there is no such volume".into(),
            })?;
            directories.push(directory.clone());
        }
        if directories.is_empty() {
            directories.push(place.directory.clone());
        }
        let count = configuration.integer("target.data_files").unwrap_or(1) as usize;
        let files =
            (0..count).map(|file| directories[file % directories.len()].join(format!("data-{file}.db")));
        Ok(Self {
            files: files.collect(),
            attached: configuration.text("target.open") == "attached",
            timed: configuration.is_on("observe.waits"),
            pragmas: Pragmas::of(configuration),
            busy_timeout_s: configuration.number("target.busy_timeout").unwrap_or(60.0),
            growth_bytes: configuration.integer("target.file_growth").unwrap_or(0),
            final_checkpoint: configuration.flag("target.final_checkpoint"),
            filler: None,
            cancel: cancel.clone(),
        })
    }
}
