//! Arguments of `cargo xtask dist`.

use super::build::Target;
use super::variant::Variant;
use std::path::PathBuf;

const USAGE: &str = "usage: cargo xtask dist [--check] [--target x86_64 | aarch64] \
                     [--variant usual | sqlserver] [--profile NAME | --binary FILE]";

#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    /// That of this machine, unless one is named.
    pub targets: Vec<Target>,
    pub variant: Variant,
    /// The profile of the build.
    pub profile: String,
    /// A built program to pack in place of a build, to try the packing.
    pub binary: Option<PathBuf>,
    /// Also check what was made.
    pub checks: bool,
}

impl Options {
    pub fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            targets: vec![Target::of_this_machine()],
            variant: Variant::Usual,
            profile: "dist".into(),
            binary: None,
            checks: false,
        };
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if argument == "--check" {
                options.checks = true;
            } else {
                options.set(argument, rest.next().ok_or(USAGE)?)?;
            }
        }
        Ok(options)
    }

    fn set(&mut self, option: &str, value: &str) -> Result<(), String> {
        match option {
            "--target" => self.targets = vec![Target::parse(value).ok_or(USAGE)?],
            "--variant" => {
                self.variant = Variant::parse(value).ok_or(USAGE)?;
                if self.variant == Variant::SqlServer {
                    // It is linked with the libraries of this machine.
                    self.targets = vec![Target::of_this_machine()];
                }
            }
            "--profile" => self.profile = value.into(),
            "--binary" => {
                self.binary = Some(value.into());
                // A given program runs on this machine.
                self.targets = vec![Target::of_this_machine()];
            }
            _ => return Err(USAGE.into()),
        }
        Ok(())
    }

    /// Returns whether nothing is built.
    pub fn is_given_binary(&self) -> bool {
        self.binary.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::{Options, Target};

    fn parse(line: &str) -> Result<Options, String> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::parse(&arguments)
    }

    #[test]
    fn this_machine_is_the_target_unless_one_is_named() {
        assert_eq!(parse("").unwrap().targets, [Target::of_this_machine()]);
        assert_eq!(parse("--target aarch64").unwrap().targets, [Target::Aarch64]);
        let options = parse("--binary a/b --check").unwrap();
        assert_eq!(
            (options.targets.len(), options.checks, options.is_given_binary()),
            (1, true, true)
        );
    }

    #[test]
    fn other_arguments_are_rejected() {
        for wrong in ["--target riscv", "--profile", "--chekc", "--binary", "dist"] {
            assert!(parse(wrong).unwrap_err().starts_with("usage:"), "{wrong}");
        }
    }
}
