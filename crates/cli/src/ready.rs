//! Ready experiments that the binary contains, and their list.

use command_line::ready::{Ready, ReadyFile};

/// All of them with the scripts that they name, by folder and name; `build.rs` writes the table.
pub const READY: &[Ready] = include!(concat!(env!("OUT_DIR"), "/ready.rs"));

/// The names by folder, a line each.
pub fn list(experiments: &[Ready]) -> String {
    let line = |of_folder: &[Ready]| {
        let names: Vec<&str> = of_folder.iter().map(|ready| ready.name).collect();
        format!("{:<17} {}\n", of_folder[0].folder, names.join(", "))
    };
    experiments.chunk_by(|ready, next| ready.folder == next.folder).map(line).collect()
}
