//! The progress through the files of a set-up, by our own process or a program that it started.

use engine::setup::Setup;
use experiment::Configuration;
use observations::Event;
use observe::processes;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Between two announcements.
const EVERY: Duration = Duration::from_secs(1);

/// The files of a configuration's set-up, while its target is prepared.
pub struct Reading<'a> {
    engine: &'static str,
    files: Vec<SetupFile>,
    announce: &'a mut (dyn FnMut(Event) + Send),
    last: Instant,
    announced: String,
}

struct SetupFile {
    /// As it is named.
    name: String,
    /// The place, without links.
    place: PathBuf,
    bytes: u64,
}

impl<'a> Reading<'a> {
    /// Begins; nothing is announced of a configuration without a set-up.
    pub fn begin(
        engine: &'static str,
        configuration: &Configuration,
        announce: &'a mut (dyn FnMut(Event) + Send),
    ) -> Self {
        let setup = Setup::from_settings(configuration);
        let named = setup.iter().flat_map(|setup| setup.dump.iter().chain(&setup.sql));
        let files = named.filter_map(|file| {
            let place = file.place().canonicalize().ok()?;
            let bytes = place.metadata().ok().filter(std::fs::Metadata::is_file)?.len();
            Some(SetupFile { name: file.path.clone(), place, bytes })
        });
        let files = files.collect();
        Self { engine, files, announce, last: Instant::now(), announced: String::new() }
    }

    /// Announces how far it has come, where that has changed.
    pub fn look(&mut self) {
        if self.files.is_empty() || self.last.elapsed() < EVERY {
            return;
        }
        self.last = Instant::now();
        let us = std::process::id() as i32;
        let ours = processes::all().filter(|pid| {
            let parent = processes::parent(*pid);
            *pid == us || parent == Some(us) || parent.and_then(processes::parent) == Some(us)
        });
        let ours: Vec<i32> = ours.collect();
        let read = self.files.iter().filter_map(|file| {
            let at = ours.iter().filter_map(|pid| position(*pid, &file.place)).max()?;
            Some(format!("{}, {} % read", file.name, at.min(file.bytes) * 100 / file.bytes.max(1)))
        });
        let text = format!("preparing {}: {}", self.engine, read.collect::<Vec<_>>().join("; "));
        if !text.ends_with(": ") && text != self.announced {
            (self.announce)(Event::Step { text: text.clone() });
            self.announced = text;
        }
    }
}

/// Returns the position of a process in a file that it has open.
fn position(pid: i32, file: &Path) -> Option<u64> {
    let open = processes::open_files(pid).filter(|(_, target)| target == file);
    let positions = open.filter_map(|(number, _)| {
        processes::value(pid, &format!("fdinfo/{number}"), "pos")?.parse().ok()
    });
    positions.max()
}
