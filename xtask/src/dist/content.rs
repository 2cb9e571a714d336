//! The files that all packages of a target contain, in a folder as they lie on a system.

use super::build::{Build, Target};
use super::failure::{self, Failure};
use super::metadata::Metadata;
use super::release::Release;
use super::{notices, sbom, target_folder};
use crate::process::{output, root};
use std::path::{Path, PathBuf};
use std::process::Command;

pub const DOC: &str = "usr/share/doc/steelbench";
const DATA: &str = "usr/share/steelbench";
const MAN: &str = "usr/share/man";

/// Completions of a shell, and where it looks for them.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "usr/share/bash-completion/completions/steelbench"),
    ("zsh", "usr/share/zsh/site-functions/_steelbench"),
    ("fish", "usr/share/fish/vendor_completions.d/steelbench.fish"),
];

/// Files of the repository beside docs and experiments.
const DOCUMENTS: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"];

#[derive(Debug)]
pub struct Content {
    pub target: Target,
    /// Holds `usr`.
    pub root: PathBuf,
    /// Paths of the files from there, sorted.
    pub files: Vec<PathBuf>,
    /// The bill of materials, which is also one of the files.
    pub sbom: String,
}

impl Content {
    /// Puts all files into the folder.
    pub fn stage(release: &Release, build: &Build, metadata: &Metadata) -> Result<Self, Failure> {
        let staged = target_folder(build.target).join("root");
        let _ = std::fs::remove_dir_all(&staged);
        failure::copy(&build.program, &staged.join("usr/bin/steelbench"))?;
        write_pages(release, build, &staged)?;
        for (shell, path) in COMPLETIONS {
            let mut completions = Command::new(&build.runs_here);
            let text =
                output(completions.args(["completions", shell])).map_err(Failure::Process)?;
            failure::write(&staged.join(path), text)?;
        }
        copy_documents(&staged)?;
        let sbom = sbom::write(release, build.target, metadata)?;
        failure::write(&staged.join(DOC).join("steelbench.cdx.json"), &sbom)?;
        let notices = notices::write(metadata)?;
        failure::write(&staged.join(DOC).join("third-party-notices.txt"), notices)?;
        let files = failure::files_below(&staged)?
            .iter()
            .filter_map(|path| path.strip_prefix(&staged).ok())
            .map(Path::to_path_buf)
            .collect();
        Ok(Self { target: build.target, root: staged, files, sbom })
    }

    /// Returns whether a file of the content is a program.
    pub fn is_program(path: &Path) -> bool {
        path.starts_with("usr/bin") || path.extension().is_some_and(|extension| extension == "sh")
    }
}

fn write_pages(release: &Release, build: &Build, staged: &Path) -> Result<(), Failure> {
    let pages = target_folder(build.target).join("pages");
    let _ = std::fs::remove_dir_all(&pages);
    let mut man = Command::new(&build.runs_here);
    man.arg("man").arg(&pages).env("SOURCE_DATE_EPOCH", &release.epoch);
    output(&mut man).map_err(Failure::Process)?;
    for page in failure::files_below(&pages)? {
        let chapter = page.extension().unwrap_or_default().to_string_lossy().into_owned();
        let name = page.file_name().unwrap_or_default();
        failure::copy(&page, &staged.join(MAN).join(format!("man{chapter}")).join(name))?;
    }
    Ok(())
}

/// Copies what git knows of docs and experiments.
fn copy_documents(staged: &Path) -> Result<(), Failure> {
    let mut git = Command::new("git");
    let files = output(git.args(["ls-files", "docs", "experiments"]).current_dir(root()));
    let files = files.map_err(Failure::Process)?;
    for file in files.lines().chain(DOCUMENTS) {
        let folder = if file.starts_with("experiments/") { DATA } else { DOC };
        failure::copy(&root().join(file), &staged.join(folder).join(file))?;
    }
    Ok(())
}
