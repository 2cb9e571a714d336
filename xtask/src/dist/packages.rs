//! `.deb` and `.rpm` of a target, by cargo-deb and cargo-generate-rpm, and their checks.

use super::build::{GLIBC, Target};
use super::content::{Content, DOC};
use super::failure::{self, Failure};
use super::release::Release;
use super::tools::{Tools, is_on_path};
use super::variant::Variant;
use crate::process::{cargo, output};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whom a package names as its maintainer.
const MAINTAINER: &str = "Steelbench authors <steelbench@users.noreply.github.com>";

const REPOSITORY: &str = "https://github.com/steelbench/steelbench";

const SUMMARY: &str = "database performance laboratory";

const DESCRIPTION: &str = "\
Steelbench measures which storage, layout, setting, engine or index of a
database is faster, by how much, how certain that is, and why. An experiment
file names factors and levels; Steelbench runs all configurations in random
order with repeats, records waits, CPU and I/O, and reports the best one.
SQLite is built in. PostgreSQL, MariaDB, MySQL and DuckDB are used where
they are installed.";

/// Licence texts in the form of Debian.
const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Steelbench
Source: https://github.com/steelbench/steelbench
Comment: /usr/share/doc/steelbench/third-party-notices.txt has the licences of
 all libraries in the program.

Files: *
Copyright: Steelbench authors
License: MIT or Apache-2.0
";

/// Remarks of lintian that are accepted, each with its reason.
fn overrides(variant: Variant) -> String {
    format!(
        "# Packages are for direct installation; no bug of Debian's archive asks for one.\n{}: \
         initial-upload-closes-no-bugs\n",
        variant.package()
    )
}

/// A package of cargo whose manifest lists the content: both tools read such a manifest.
pub struct Project {
    folder: PathBuf,
    target: Target,
}

impl Project {
    pub fn write(release: &Release, content: &Content) -> Result<Self, Failure> {
        let folder = content.root.with_file_name("project");
        let _ = std::fs::remove_dir_all(&folder);
        failure::write(&folder.join("src/main.rs"), "fn main() {}\n")?;
        failure::write(&folder.join("copyright"), copyright()?)?;
        failure::write(&folder.join("overrides"), overrides(release.variant))?;
        failure::write(&folder.join("changelog"), changelog(release))?;
        failure::write(&folder.join("Cargo.toml"), manifest(release, content))?;
        Ok(Self { folder, target: content.target })
    }

    /// Writes the `.deb` to a folder; returns its name.
    pub fn write_deb(
        &self,
        release: &Release,
        tools: &Tools,
        to: &Path,
    ) -> Result<String, Failure> {
        let mut deb = cargo(&["deb", "--no-build", "--no-strip", "--offline", "--quiet"]);
        deb.args(["--target", self.target.triple(), "--output"]).arg(to);
        self.run(deb, release, tools)?;
        find(to, "cargo-deb", self.debian_ending())
    }

    /// Writes the `.rpm` to a folder; returns its name.
    pub fn write_rpm(
        &self,
        release: &Release,
        tools: &Tools,
        to: &Path,
    ) -> Result<String, Failure> {
        let mut rpm = cargo(&["generate-rpm", "--auto-req", "disabled"]);
        // All rpm since RHEL 7 read xz.
        rpm.args(["--payload-compress", "xz"]);
        rpm.args(["--arch", self.target.name(), "--output"]).arg(to);
        self.run(rpm, release, tools)?;
        find(to, "cargo-generate-rpm", ".rpm")
    }

    fn run(&self, mut tool: Command, release: &Release, tools: &Tools) -> Result<(), Failure> {
        tool.current_dir(&self.folder)
            .env("PATH", &tools.path)
            .env("SOURCE_DATE_EPOCH", &release.epoch);
        output(&mut tool).map(|_| ()).map_err(Failure::Process)
    }

    fn debian_ending(&self) -> &'static str {
        match self.target {
            Target::X86_64 => "_amd64.deb",
            Target::Aarch64 => "_arm64.deb",
        }
    }
}

/// Returns the name of the file that a tool wrote to a folder.
fn find(folder: &Path, program: &'static str, ending: &'static str) -> Result<String, Failure> {
    let files = failure::files_below(folder)?;
    let names = files.iter().filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
    let mut found = names.filter(|name| name.ends_with(ending));
    found.next().ok_or_else(|| Failure::NoPackage { program, ending, folder: folder.into() })
}

/// The notice of Debian with the text of the MIT licence; systems have that of Apache-2.0.
fn copyright() -> Result<String, Failure> {
    let text = failure::read(&crate::process::root().join("LICENSE-MIT"))?;
    let mut notice = String::from(COPYRIGHT);
    for line in text.trim().lines() {
        let _ = writeln!(notice, " {}", if line.is_empty() { "." } else { line });
    }
    notice += " .\n The text of Apache-2.0 is in /usr/share/common-licenses/Apache-2.0.\n";
    Ok(notice)
}

fn changelog(release: &Release) -> String {
    let Release { version, date, variant, .. } = release;
    let package = variant.package();
    format!(
        "{package} ({version}-1) unstable; urgency=medium\n\n  * Release {version}; CHANGELOG.md \
         lists the changes.\n\n -- {MAINTAINER}  {date}\n"
    )
}

fn manifest(release: &Release, content: &Content) -> String {
    let Release { version, variant, .. } = release;
    let (package, other) = (variant.package(), variant.other());
    let depends = match variant {
        Variant::Usual => format!("libc6 (>= {GLIBC})"),
        // Those of the libraries that the program is linked with.
        Variant::SqlServer => "$auto".into(),
    };
    let mut deb = String::new();
    let mut rpm = String::new();
    for file in &content.files {
        let mode = if Content::is_program(file) { "755" } else { "644" };
        let from = content.root.join(file);
        let (from, file) = (from.display(), file.display());
        // Debian's own copyright file has these texts.
        if !file.to_string().contains("/LICENSE-") {
            let to = file
                .to_string()
                .replace("zsh/site-functions", "zsh/vendor-completions")
                .replace("CHANGELOG.md", "changelog");
            let _ = writeln!(deb, "    [\"{from}\", \"{to}\", \"{mode}\"],");
        }
        let is_doc = file.to_string().starts_with(DOC);
        let _ = writeln!(
            rpm,
            "    {{ source = \"{from}\", dest = \"/{file}\", mode = \"{mode}\", doc = {is_doc} }},"
        );
    }
    format!(
        r#"[package]
name = "{package}"
version = "{version}"
edition = "2021"
license = "MIT OR Apache-2.0"
description = "{SUMMARY}"
repository = "{REPOSITORY}"

[workspace]

[package.metadata.deb]
maintainer = "{MAINTAINER}"
license-file = ["copyright", "0"]
changelog = "changelog"
section = "database"
priority = "optional"
depends = "{depends}"
conflicts = "{other}"
extended-description = """
{DESCRIPTION}"""
assets = [
    ["overrides", "usr/share/lintian/overrides/{package}", "644"],
{deb}]

[package.metadata.generate-rpm]
summary = "{SUMMARY}"
require-sh = false
assets = [
{rpm}]

[package.metadata.generate-rpm.requires]
glibc = ">= {GLIBC}"
"#
    )
}

/// Runs lintian: its errors and warnings are fixed, or explained in the overrides.
pub fn check_deb(deb: &Path) -> Result<(), Failure> {
    if !is_on_path("lintian") {
        println!("SKIPPED: lintian is not installed");
        return Ok(());
    }
    let mut lintian = Command::new("lintian");
    lintian.args(["--allow-root", "--fail-on", "error,warning"]).arg(deb);
    output(&mut lintian).map_err(Failure::Process)?;
    println!("passed: lintian");
    Ok(())
}

/// Compares the files that rpm lists with the content.
pub fn check_rpm(rpm: &Path, content: &Content) -> Result<(), Failure> {
    if !is_on_path("rpm") {
        println!("SKIPPED: rpm is not installed");
        return Ok(());
    }
    let list = output(Command::new("rpm").arg("-qlp").arg(rpm)).map_err(Failure::Process)?;
    let mut listed: Vec<&str> = list.lines().map(|line| line.trim_start_matches('/')).collect();
    listed.sort_unstable();
    let mut wrong = Vec::new();
    let staged = content.files.iter().map(|file| file.display().to_string());
    let staged: Vec<String> = staged.collect();
    for file in &staged {
        if !listed.contains(&file.as_str()) {
            wrong.push(format!("the .rpm lacks {file}"));
        }
    }
    for file in listed.iter().filter(|file| !staged.iter().any(|name| name == *file)) {
        wrong.push(format!("the .rpm has {file}, which was not staged"));
    }
    Failure::unless_empty(wrong)?;
    println!("passed: rpm -qlp lists the {} files", listed.len());
    Ok(())
}
