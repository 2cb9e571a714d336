//! Mounts as this process sees them (see proc(5), mountinfo).

use std::path::{Path, PathBuf};

/// A line of the table of mounts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Number of its device, `254:0`; with a 0 in front of the colon, of none.
    pub number: String,
    /// The folder of the file system that is mounted: `/`, unless a part of it is.
    pub root: PathBuf,
    /// Where it is mounted.
    pub folder: PathBuf,
    /// The type: `ext4`.
    pub file_system: String,
    /// The device, for file systems that have one.
    pub source: String,
    /// Options of the mount and of the file system: `rw,relatime,errors=continue`.
    pub options: String,
}

/// All mounts, in the order in which they were made.
pub fn all() -> std::io::Result<Vec<Mount>> {
    let text = std::fs::read_to_string("/proc/self/mountinfo")?;
    Ok(text.lines().filter_map(parse).collect())
}

/// The mount that holds a path; of several on one folder the last, which covers the others.
pub fn holding<'a>(mounts: &'a [Mount], path: &Path) -> Option<&'a Mount> {
    let holding = mounts.iter().filter(|mount| path.starts_with(&mount.folder));
    holding.max_by_key(|mount| mount.folder.components().count())
}

fn parse(line: &str) -> Option<Mount> {
    // A number of optional fields ends with a dash.
    let (mount, file_system) = line.split_once(" - ")?;
    let mut mount = mount.split(' ').skip(2);
    let (number, root) = (mount.next()?, mount.next()?);
    let (folder, of_mount) = (mount.next()?, mount.next()?);
    let mut file_system = file_system.split(' ');
    let (file_system, source, of_file_system) =
        (file_system.next()?, file_system.next()?, file_system.next()?);
    Some(Mount {
        number: number.into(),
        root: unescape(root).into(),
        folder: unescape(folder).into(),
        file_system: file_system.into(),
        source: unescape(source),
        options: both(of_mount, of_file_system),
    })
}

/// The options of a mount and of its file system as one list, as mount(8) shows them: what may be
/// written to neither is read-only.
fn both(of_mount: &str, of_file_system: &str) -> String {
    let mut options: Vec<&str> = of_mount.split(',').collect();
    options.extend(of_file_system.split(',').filter(|option| !["rw", "ro"].contains(option)));
    if of_file_system.split(',').any(|option| option == "ro") {
        options[0] = "ro";
    }
    options.join(",")
}

/// Undoes the octal escapes of blanks and backslashes.
pub(crate) fn unescape(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (escape, plain)| text.replace(escape, plain))
}

#[cfg(test)]
mod tests {
    use super::{Mount, Path, all, holding, parse};

    // The example of proc(5), and mounts as machines have them.
    const TABLE: &str = "\
36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
43 27 0:39 / /mnt/my\\040data rw,relatime - btrfs /dev/loop0 rw,space_cache=v2
44 27 0:40 / /mnt/my rw - tmpfs tmpfs rw
45 27 7:1 / /mnt/my rw - xfs /dev/loop1 ro,noquota
";

    #[test]
    fn finds_the_mount_that_holds_a_path() {
        let mounts: Vec<Mount> = TABLE.lines().filter_map(parse).collect();
        assert_eq!((mounts.len(), mounts[0].root.as_path()), (5, Path::new("/mnt1")));
        assert_eq!(
            (mounts[0].file_system.as_str(), mounts[0].options.as_str()),
            ("ext3", "rw,noatime,errors=continue")
        );
        assert_eq!((mounts[4].number.as_str(), mounts[4].options.as_str()), ("7:1", "ro,noquota"));
        let source =
            |path: &str| holding(&mounts, Path::new(path)).map(|mount| mount.source.as_str());
        assert_eq!(source("/home"), Some("/dev/vda"));
        assert_eq!(source("/mnt/my data/x"), Some("/dev/loop0"));
        assert_eq!(source("/mnt/my/x"), Some("/dev/loop1"));
        assert_eq!(source("/mnt/mything"), Some("/dev/vda"));
    }

    #[test]
    fn this_machine_has_proc() {
        let mounts = all().unwrap();
        assert_eq!(holding(&mounts, Path::new("/proc/self")).unwrap().file_system, "proc");
    }
}
