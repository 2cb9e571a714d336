//! The program for an old C library, without symbols.

use super::failure::{self, Failure};
use super::options::Options;
use super::release::Release;
use super::target_folder;
use super::tools::Tools;
use super::variant::Variant;
use crate::process::{cargo, output, root, succeed, target};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The C library that programs must run with: that of Debian 10, RHEL 8 and Ubuntu 20.04 or newer.
pub const GLIBC: Version = Version { major: 2, minor: 28 };

/// A version of the C library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    pub major: u32,
    pub minor: u32,
}

impl Version {
    /// Reads `2.28` or `2.2.5`, without its third number.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.').map(str::parse);
        Some(Self { major: numbers.next()?.ok()?, minor: numbers.next()?.ok()? })
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A kind of machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    X86_64,
    Aarch64,
}

impl Target {
    pub const ALL: [Self; 2] = [Self::X86_64, Self::Aarch64];

    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|target| target.name() == name)
    }

    pub fn of_this_machine() -> Self {
        if cfg!(target_arch = "aarch64") { Self::Aarch64 } else { Self::X86_64 }
    }

    /// The name in triples and in `.rpm`.
    pub fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Aarch64 => "aarch64",
        }
    }

    pub fn triple(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64-unknown-linux-gnu",
            Self::Aarch64 => "aarch64-unknown-linux-gnu",
        }
    }

    /// Returns why this machine cannot build for it.
    pub fn obstacle(self, options: &Options) -> Option<String> {
        let mut rustc = Command::new("rustc");
        rustc.args(["--print", "target-libdir", "--target", self.triple()]).current_dir(root());
        let folder = output(&mut rustc).unwrap_or_default();
        let is_installed = options.is_given_binary() || Path::new(folder.trim()).is_dir();
        (!is_installed).then(|| {
            format!("Rust's libraries are not installed: rustup target add {}", self.triple())
        })
    }
}

/// A built program.
#[derive(Debug)]
pub struct Build {
    pub target: Target,
    /// Without symbols.
    pub program: PathBuf,
    /// A program of the same source that runs here, which writes pages and completions.
    pub runs_here: PathBuf,
}

impl Build {
    pub fn make(
        options: &Options,
        release: &Release,
        tools: &Tools,
        target: Target,
    ) -> Result<Self, Failure> {
        let built = match &options.binary {
            Some(binary) => binary.clone(),
            None => build(options, release, tools, target)?,
        };
        let program = target_folder(target).join("steelbench");
        failure::create_folder(&target_folder(target))?;
        strip(&built, &program)?;
        let runs_here = if target == Target::of_this_machine() {
            program.clone()
        } else {
            // Packed before, or else built for this machine.
            let text = target_folder(Target::of_this_machine()).join("steelbench");
            if text.exists() { text } else { build_for_this_machine(release)? }
        };
        Ok(Self { target, program, runs_here })
    }
}

/// Builds the program with the C library that it must run with; returns it.
fn build(
    options: &Options,
    release: &Release,
    tools: &Tools,
    build_target: Target,
) -> Result<PathBuf, Failure> {
    let features = release.variant.features();
    let mut build = match release.variant {
        Variant::Usual => {
            let triple = format!("{}.{GLIBC}", build_target.triple());
            let mut zigbuild = cargo(&["zigbuild"]);
            zigbuild.args(["--target", &triple]);
            zigbuild
        }
        Variant::SqlServer => cargo(&["build", "--target", build_target.triple()]),
    };
    build.args(["--locked", "--package", "steelbench", "--features", features]);
    build.args(["--profile", &options.profile]);
    // Paths of this machine must not get into the program.
    let cargo_home = release.cargo_home.display();
    let remap = format!(
        "--remap-path-prefix={}=/steelbench\u{1f}--remap-path-prefix={cargo_home}=/cargo",
        root().display()
    );
    build
        .env("PATH", &tools.path)
        .env("CARGO_ENCODED_RUSTFLAGS", remap)
        .env("STEELBENCH_COMMIT", &release.commit)
        .env("SOURCE_DATE_EPOCH", &release.epoch);
    succeed(&mut build).map_err(Failure::Process)?;
    let folder = if options.profile == "dev" { "debug" } else { &options.profile };
    Ok(target().join(build_target.triple()).join(folder).join("steelbench"))
}

fn build_for_this_machine(release: &Release) -> Result<PathBuf, Failure> {
    let mut build = cargo(&["build", "--quiet", "--locked", "--package", "steelbench"]);
    succeed(build.args(["--features", release.variant.features()])).map_err(Failure::Process)?;
    Ok(target().join("debug/steelbench"))
}

/// Copies a program without symbols: by a tool of Rust, which knows programs of all machines.
fn strip(built: &Path, program: &Path) -> Result<(), Failure> {
    let rustc = |question: &str| {
        let mut rustc = Command::new("rustc");
        output(rustc.args(["--print", question]).current_dir(root())).map_err(Failure::Process)
    };
    let sysroot = PathBuf::from(rustc("sysroot")?.trim());
    let tool = format!("lib/rustlib/{}/bin/rust-objcopy", rustc("host-tuple")?.trim());
    let mut strip = Command::new(sysroot.join(tool));
    strip.arg("--strip-all").args([built, program]).env("LD_LIBRARY_PATH", sysroot.join("lib"));
    succeed(&mut strip).map_err(Failure::Process)
}

#[cfg(test)]
mod tests {
    use super::{GLIBC, Version};

    #[test]
    fn versions_are_ordered_by_number() {
        assert!(Version::parse("2.9").unwrap() < GLIBC);
        assert_eq!(Version::parse("2.2.5").unwrap(), Version { major: 2, minor: 2 });
        assert!(Version::parse("2.100").unwrap() > GLIBC);
        assert_eq!(Version::parse("PRIVATE"), None);
    }
}
