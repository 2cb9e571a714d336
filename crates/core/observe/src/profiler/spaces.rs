//! The file at each address of each process.

use crate::processes;
use indexmap::IndexMap;
use std::collections::HashMap;
use std::fs::{self, File};
use std::path::Path;

/// Position of a file in [`Modules`].
pub(crate) type ModuleId = usize;

/// Files that are executed by name and inode, in the order in which they were met, and what the
/// kernel calls memory without one (`[vdso]`). Opened when it was met: a process that has ended
/// takes its view of the file system along.
#[derive(Default)]
pub(crate) struct Modules(pub IndexMap<(String, u64), Option<File>>);

/// A file at an address.
#[derive(Debug, Clone)]
struct Mapping {
    start: u64,
    end: u64,
    offset: u64,
    module: ModuleId,
}

/// A file that comes to be at an address.
#[derive(Debug)]
pub(crate) struct MappedFile {
    pub start: u64,
    pub length: u64,
    pub offset: u64,
    pub name: String,
    pub inode: u64,
}

/// The addresses of all processes.
#[derive(Default)]
pub(crate) struct Spaces {
    of: HashMap<i32, Vec<Mapping>>,
}

impl Modules {
    fn id(&mut self, pid: i32, name: &str, inode: u64) -> ModuleId {
        let name = match name {
            // Code of a just-in-time compiler has no file.
            "" | "//anon" => "[anonymous]",
            name => name,
        };
        let module = self.0.entry((name.to_owned(), inode));
        let id = module.index();
        module.or_insert_with(|| open(pid, name));
        id
    }
}

/// The file as the process sees it, or as we do when the process has gone.
fn open(pid: i32, name: &str) -> Option<File> {
    if !name.starts_with('/') || name.ends_with(" (deleted)") {
        return None;
    }
    let seen_by_process = processes::path(pid, &format!("root{name}"));
    let paths = [&seen_by_process, Path::new(name)];
    paths
        .into_iter()
        .filter(|path| fs::metadata(path).is_ok_and(|found| found.is_file()))
        .find_map(|path| File::open(path).ok())
}

impl Spaces {
    /// Reads what is mapped already: `/proc/<pid>/maps`, see proc(5).
    pub fn read(&mut self, pid: i32, modules: &mut Modules) {
        let Some(maps) = processes::text(pid, "maps") else { return };
        for line in maps.lines() {
            if let Some((start, end, offset, inode, name)) = parse_line(line) {
                let module = modules.id(pid, name, inode);
                self.of.entry(pid).or_default().push(Mapping { start, end, offset, module });
            }
        }
    }

    /// A file came to be at an address, in the place of what was there.
    pub fn map(&mut self, pid: i32, file: MappedFile, modules: &mut Modules) {
        let MappedFile { start, length, offset, name, inode } = file;
        let module = modules.id(pid, &name, inode);
        let mapping = Mapping { start, end: start.saturating_add(length), offset, module };
        let space = self.of.entry(pid).or_default();
        space.retain(|other| other.start < mapping.start || other.end > mapping.end);
        space.push(mapping);
    }

    /// A process began as a copy of another one.
    pub fn fork(&mut self, pid: i32, parent: i32) {
        let space = self.of.get(&parent).cloned().unwrap_or_default();
        self.of.insert(pid, space);
    }

    /// A process executes another program, or has ended.
    pub fn clear(&mut self, pid: i32) {
        self.of.remove(&pid);
    }

    /// Module and position in its file of the code at an address. The last mapping counts: the
    /// kernel does not report unmapping.
    pub fn find(&self, pid: i32, address: u64) -> Option<(ModuleId, u64)> {
        let space = self.of.get(&pid)?;
        let found =
            space.iter().rev().find(|mapping| (mapping.start..mapping.end).contains(&address))?;
        Some((found.module, address - found.start + found.offset))
    }
}

/// `7f1c-7f2c r-xp 00026000 fd:00 1234    /usr/lib/libc.so.6`, of what can be executed.
fn parse_line(line: &str) -> Option<(u64, u64, u64, u64, &str)> {
    let mut fields = line.splitn(6, ' ');
    let mut field = || fields.next();
    let (range, rights, offset, _device, inode) =
        (field()?, field()?, field()?, field()?, field()?);
    if !rights.contains('x') {
        return None;
    }
    let (start, end) = range.split_once('-')?;
    let hex = |text| u64::from_str_radix(text, 16).ok();
    Some((
        hex(start)?,
        hex(end)?,
        hex(offset)?,
        inode.parse().ok()?,
        field().unwrap_or_default().trim_start(),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_kernel_are_read_with_blanks_in_names() {
        let line = "7f1c-7f2c r-xp 00026000 fd:00 1234                       /a b/lib (deleted)";
        assert_eq!(parse_line(line), Some((0x7f1c, 0x7f2c, 0x26000, 1234, "/a b/lib (deleted)")));
        assert_eq!(
            parse_line("7f1c-7f2c r-xp 00000000 00:00 0 "),
            Some((0x7f1c, 0x7f2c, 0, 0, ""))
        );
        assert_eq!(parse_line("7f1c-7f2c r--p 00026000 fd:00 1234 /a"), None);
        assert_eq!(parse_line("junk"), None);
    }

    #[test]
    fn what_came_last_is_there_and_copies_are_apart() {
        let (mut spaces, mut modules) = (Spaces::default(), Modules::default());
        let file = |start, length, offset, name: &str, inode| MappedFile {
            start,
            length,
            offset,
            name: name.to_owned(),
            inode,
        };
        spaces.map(1, file(0x1000, 0x1000, 0, "a", 1), &mut modules);
        spaces.map(1, file(0x3000, 0x1000, 0x500, "b", 2), &mut modules);
        spaces.fork(2, 1);
        spaces.map(1, file(0x1800, 0x100, 0, "c", 3), &mut modules);
        let found = |spaces: &Spaces, pid, address| {
            let (module, offset) = spaces.find(pid, address)?;
            Some((modules.0.get_index(module)?.0.0.clone(), offset))
        };
        assert_eq!(found(&spaces, 1, 0x1010), Some(("a".into(), 0x10)));
        assert_eq!(found(&spaces, 1, 0x1810), Some(("c".into(), 0x10)));
        assert_eq!(found(&spaces, 2, 0x1810), Some(("a".into(), 0x810)));
        assert_eq!(found(&spaces, 2, 0x3010), Some(("b".into(), 0x510)));
        assert_eq!(found(&spaces, 1, 0x2000), None);
        spaces.clear(1);
        assert_eq!(found(&spaces, 1, 0x1010), None);
    }

    #[test]
    fn our_own_code_is_in_our_own_program() {
        let (mut spaces, mut modules) = (Spaces::default(), Modules::default());
        let pid = std::process::id() as i32;
        spaces.read(pid, &mut modules);
        let here = our_own_code_is_in_our_own_program as fn() as usize as u64;
        let (module, _) = spaces.find(pid, here).unwrap();
        let ((name, _), file) = modules.0.get_index(module).unwrap();
        assert_eq!(Path::new(name), std::env::current_exe().unwrap());
        assert!(file.is_some());
    }
}
