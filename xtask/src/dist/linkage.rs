//! The libraries and versions of the C library that a program needs.

use super::build::{Build, GLIBC, Version};
use super::failure::Failure;
use object::elf::FileHeader64;
use object::read::elf::{FileHeader, Sym};
use object::{Endianness, elf};
use std::path::Path;

/// Parts of the C library.
const LIBC: [&str; 6] =
    ["libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libutil.so.1"];

/// Versions of symbols by the library that has them.
#[derive(Debug, Default, PartialEq, Eq)]
struct Linkage {
    libraries: Vec<String>,
    /// The newest version of the C library that a symbol needs, and one such symbol.
    newest: Option<Newest>,
}

#[derive(Debug, PartialEq, Eq)]
struct Newest {
    version: Version,
    symbol: String,
}

/// Checks that a built program needs the C library alone, and no newer one than it may. A
/// program that was built for this machine need not be portable: it is only described.
pub fn check(build: &Build, must_be_portable: bool) -> Result<(), Failure> {
    let linkage = Linkage::read(&build.program)?;
    let mut wrong: Vec<String> = linkage
        .libraries
        .iter()
        .filter(|name| !LIBC.contains(&name.as_str()) && !name.starts_with("ld-linux"))
        .map(|name| format!("the program needs {name}"))
        .collect();
    if let Some(Newest { version, symbol }) = &linkage.newest {
        if *version > GLIBC {
            wrong.push(format!("{symbol} needs glibc {version}, newer than {GLIBC}"));
        }
        println!("{}: symbols up to GLIBC_{version} ({symbol})", build.target.triple());
    }
    if must_be_portable {
        return Failure::unless_empty(wrong);
    }
    for program in &wrong {
        println!("accepted of a program for this machine: {program}");
    }
    Ok(())
}

impl Linkage {
    fn read(program: &Path) -> Result<Self, Failure> {
        let bytes = std::fs::read(program)
            .map_err(|cause| Failure::File { path: program.into(), cause })?;
        Self::parse(&bytes).map_err(|cause| Failure::Binary { path: program.into(), cause })
    }

    fn parse(bytes: &[u8]) -> object::Result<Self> {
        let header = FileHeader64::<Endianness>::parse(bytes)?;
        let endian = header.endian()?;
        let sections = header.sections(endian, bytes)?;
        let mut linkage = Self::default();
        let dynamic = sections.dynamic_table(endian, bytes)?;
        for entry in dynamic.dynamics() {
            if entry.d_tag.get(endian) == elf::DT_NEEDED {
                let name = dynamic.strings().get(entry.d_val.get(endian) as u32);
                let name = String::from_utf8_lossy(name.unwrap_or_default()).into_owned();
                linkage.libraries.push(name);
            }
        }
        let versions = sections.versions(endian, bytes)?;
        let symbols = sections.symbols(endian, bytes, elf::SHT_DYNSYM)?;
        for (index, symbol) in symbols.enumerate() {
            let Some(versions) = &versions else { continue };
            let at = versions.version_index(endian, index).index();
            let Some(version) = versions.version(at)? else { continue };
            let version = String::from_utf8_lossy(version.name());
            let Some(version) = version.strip_prefix("GLIBC_").and_then(Version::parse) else {
                continue;
            };
            if linkage.newest.as_ref().is_none_or(|newest| newest.version < version) {
                let symbol = symbol.name(endian, symbols.strings())?;
                let symbol = String::from_utf8_lossy(symbol).into_owned();
                linkage.newest = Some(Newest { version, symbol });
            }
        }
        Ok(linkage)
    }
}

#[cfg(test)]
mod tests {
    use super::Linkage;
    use crate::process::output;
    use std::process::Command;

    /// Compares with the linker's own tool on the program that runs this test.
    #[test]
    fn the_newest_version_is_that_of_objdump() {
        let program = std::env::current_exe().unwrap();
        let Ok(printed) = output(Command::new("objdump").arg("-T").arg(&program)) else {
            println!("SKIPPED: objdump is not installed");
            return;
        };
        let versions = printed.split("GLIBC_").skip(1);
        let versions = versions.filter_map(|rest| {
            super::Version::parse(rest.split(|c: char| c == ')' || c.is_whitespace()).next()?)
        });
        let linkage = Linkage::read(&program).unwrap();
        assert_eq!(linkage.newest.unwrap().version, versions.max().unwrap());
        assert!(linkage.libraries.contains(&"libc.so.6".to_owned()), "{:?}", linkage.libraries);
    }
}
