//! Packages for strangers: archives, `.deb` and `.rpm` for an old C library, with their checks.

mod archive;
mod build;
mod clean_root;
mod content;
mod failure;
mod linkage;
mod metadata;
mod notices;
mod options;
mod packages;
mod recipes;
mod release;
mod sbom;
mod source;
mod tools;
mod variant;

use crate::process::target;
use build::{Build, Target};
use failure::Failure;
use options::Options;
use release::Release;
use std::path::{Path, PathBuf};
use variant::Variant;

/// Builds and packs; see the help of xtask for `arguments`.
pub fn run(arguments: &[String]) -> Result<(), String> {
    let options = Options::parse(arguments)?;
    make(&options).map_err(|failure| failure.to_string())
}

fn make(options: &Options) -> Result<(), Failure> {
    let release = Release::read(options.variant)?;
    let tools = tools::install(options)?;
    if options.checks {
        source::check(&tools, options.variant.features())?;
    }
    let output = target().join("dist").join(release.name());
    let _ = std::fs::remove_dir_all(&output);
    failure::create_folder(&output)?;
    let mut files = Vec::new();
    for &target in &options.targets {
        if let Some(cause) = target.obstacle(options) {
            println!("SKIPPED: {}: {cause}", target.triple());
            continue;
        }
        files.extend(pack(options, &release, &tools, target, &output)?);
    }
    if release.variant == Variant::Usual {
        files.extend(recipes::write(&release, &output)?);
    }
    archive::write_sums(&output, &files)?;
    print_sizes(&output, &files)
}

/// Builds the files of a target; returns their names in the folder.
fn pack(
    options: &Options,
    release: &Release,
    tools: &tools::Tools,
    target: Target,
    output: &Path,
) -> Result<Vec<String>, Failure> {
    let build = Build::make(options, release, tools, target)?;
    let must_be_portable = release.variant == Variant::Usual && !options.is_given_binary();
    linkage::check(&build, must_be_portable)?;
    let metadata = metadata::Metadata::read(target, release.variant)?;
    let content = content::Content::stage(release, &build, &metadata)?;
    let made = Made::write(release, tools, &content, output)?;
    if options.checks {
        let again = target_folder(target).join("again");
        let _ = std::fs::remove_dir_all(&again);
        failure::create_folder(&again)?;
        Made::write(release, tools, &content, &again)?.check_equality(output, &again)?;
        sbom::validate(tools, &output.join(&made.sbom))?;
        packages::check_deb(&output.join(&made.deb))?;
        if let Some(rpm) = &made.rpm {
            packages::check_rpm(&output.join(rpm), &content)?;
        }
        clean_root::check(&output.join(&made.deb), target)?;
    }
    Ok(made.names().cloned().collect())
}

/// The files of a target, by their names.
struct Made {
    sbom: String,
    deb: String,
    /// Only of programs that need the C library alone, as the next one.
    rpm: Option<String>,
    archive: Option<String>,
}

impl Made {
    fn write(
        release: &Release,
        tools: &tools::Tools,
        content: &content::Content,
        output: &Path,
    ) -> Result<Self, Failure> {
        let name = format!("{}-{}", release.name(), content.target.triple());
        let sbom = format!("{name}.cdx.json");
        failure::write(&output.join(&sbom), &content.sbom)?;
        let project = packages::Project::write(release, content)?;
        let deb = project.write_deb(release, tools, output)?;
        let mut made = Self { sbom, deb, rpm: None, archive: None };
        if release.variant == Variant::Usual {
            made.rpm = Some(project.write_rpm(release, tools, output)?);
            let archive = format!("{name}.tar.xz");
            archive::write(release, content, &output.join(&archive))?;
            made.archive = Some(archive);
        }
        Ok(made)
    }

    fn names(&self) -> impl Iterator<Item = &String> {
        [&self.sbom, &self.deb].into_iter().chain(&self.rpm).chain(&self.archive)
    }

    /// Compares what was made twice from one binary.
    fn check_equality(&self, output: &Path, again: &Path) -> Result<(), Failure> {
        let differing: Vec<String> = self
            .names()
            .filter(|name| {
                let read = |folder: &Path| std::fs::read(folder.join(name)).unwrap_or_default();
                read(output) != read(again)
            })
            .map(|name| format!("{name}: two packings of one binary differ"))
            .collect();
        Failure::unless_empty(differing)?;
        println!("passed: a second packing makes the same files");
        Ok(())
    }
}

/// The folder of everything that is only needed while a target is packed.
fn target_folder(target: Target) -> PathBuf {
    crate::process::target().join("dist/work").join(target.triple())
}

fn print_sizes(output: &Path, files: &[String]) -> Result<(), Failure> {
    println!("{}", output.display());
    for name in files {
        let path = output.join(name);
        let bytes = path.metadata().map_err(|cause| Failure::File { path, cause })?.len();
        println!("{:>12.1} KiB  {name}", bytes as f64 / 1024.0);
    }
    Ok(())
}
