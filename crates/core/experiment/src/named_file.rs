use crate::read::{SOURCE_BYTES_MAX, read_text};
use observations::{FileRecord, hexadecimal, redacted, sha256};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The suffixes of the names of programs that an interpreter is given.
const PROGRAMS: [&str; 4] = ["sh", "sql", "py", "fio"];

/// A file that an experiment names, as it was read: what it holds is part of the experiment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedFile {
    /// Source of the name: the path of a setting, a hook of a volume, or an option of a quick
    /// command.
    pub named_by: String,
    /// The path as named.
    pub path: String,
    /// The folder from which a relative path counts; empty: that in which Steelbench runs.
    pub folder: PathBuf,
    /// The content; of data nothing.
    pub content: String,
    /// True if it is used in place, so that it can change during a run.
    pub is_program: bool,
    data: Option<Data>,
}

/// Facts about a file whose content is not kept: too large, not text, or a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Data {
    sha256: String,
    stamps: Vec<Stamp>,
}

/// Length and time of change (seconds, nanoseconds), which tell a file from a later version of it
/// without reading it.
type Stamp = (u64, i64, i64);

impl NamedFile {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, is not UTF-8, or is larger than [`SOURCE_BYTES_MAX`].
    pub fn read(named_by: &str, path: &str, folder: &Path) -> io::Result<Self> {
        let content = read_text(&folder.join(path), SOURCE_BYTES_MAX)?;
        let (named_by, path, folder) = (named_by.to_owned(), path.to_owned(), folder.to_path_buf());
        Ok(Self { named_by, path, folder, content, ..Self::default() })
    }

    /// Reads a file, or all files of a folder whose names end in `.sql`, in the order of their
    /// names.
    ///
    /// # Errors
    /// When one cannot be read, is not UTF-8, or is larger than [`SOURCE_BYTES_MAX`]; when a
    /// folder has no such file.
    pub fn read_all(named_by: &str, path: &str, folder: &Path) -> io::Result<Vec<Self>> {
        let place = folder.join(path);
        if !place.is_dir() {
            return Ok(vec![Self::read(named_by, path, folder)?]);
        }
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&place)? {
            names.extend(entry?.file_name().into_string().ok());
        }
        names.retain(|name| {
            let suffix = Path::new(name).extension();
            suffix.is_some_and(|suffix| suffix.eq_ignore_ascii_case("sql"))
        });
        names.sort();
        if names.is_empty() {
            return Err(io::Error::other("this folder has no file whose name ends in .sql"));
        }
        let paths = names.iter().map(|name| Path::new(path).join(name).display().to_string());
        paths.map(|path| Self::read(named_by, &path, folder)).collect()
    }

    /// Reads a file that programs will use from where it lies, or a folder of files. A text of at
    /// most [`SOURCE_BYTES_MAX`] is kept, of anything else its hash.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn used_in_place(named_by: &str, path: &str, folder: &Path) -> io::Result<Self> {
        let folder = folder.to_path_buf();
        let file = Self {
            named_by: named_by.into(),
            path: path.into(),
            folder,
            is_program: true,
            ..Self::default()
        };
        let place = file.place();
        match read_text(&place, SOURCE_BYTES_MAX) {
            Ok(content) => Ok(Self { content, ..file }),
            Err(error) if is_data(&error) => {
                let stamps = stamps(&place)?;
                let data = Some(Data { sha256: hash_of_data(&place)?, stamps });
                Ok(Self { data, ..file })
            }
            Err(error) => Err(error),
        }
    }

    /// Where it lies.
    pub fn place(&self) -> PathBuf {
        self.folder.join(&self.path)
    }

    /// The files that a script for psql reads in its turn, as far as it names them: those of `\i`
    /// and `\copy`, and what these read.
    pub fn included(&self) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        let mut unread = vec![self.clone()];
        while let Some(script) = unread.pop() {
            for path in names_in_meta_commands(&script.content) {
                // From the folder that psql runs in, or that of the script (`\ir`).
                let nearby = Path::new(&script.path).parent().map(|folder| folder.join(path));
                let paths = [Some(PathBuf::from(path)), nearby].into_iter().flatten();
                let Some(path) = paths.map(|path| path.display().to_string()).find(|path| {
                    let metadata = self.folder.join(path).metadata();
                    metadata.is_ok_and(|found| found.is_file())
                }) else {
                    continue;
                };
                if path == self.path || found.iter().any(|known| known.path == path) {
                    continue;
                }
                if let Ok(file) = Self::used_in_place(&self.named_by, &path, &self.folder) {
                    unread.push(file.clone());
                    found.push(file);
                }
            }
        }
        found
    }

    /// The programs that a shell command names by their path: text files that can be executed, that
    /// begin with `#!`, or whose name ends as those of scripts do. Files that the command writes to
    /// (`> made.sql`) and files that a variable names do not count.
    pub fn in_command(named_by: &str, command: &str) -> Vec<Self> {
        let separates = |c: char| c.is_whitespace() || ";|&()<\"'`=".contains(c);
        let (mut written, mut words) = (Vec::new(), Vec::new());
        for (part, text) in command.split('>').enumerate() {
            let mut of_part = text.split(separates).filter(|word| !word.is_empty());
            written.extend(of_part.next().filter(|_| part > 0));
            words.extend(text.split(separates).filter(|word| !word.is_empty()));
        }
        let mut files: Vec<Self> = Vec::new();
        for word in words {
            if !written.contains(&word) && files.iter().all(|file| file.path != word) {
                files.extend(Self::program(named_by, word));
            }
        }
        files
    }

    fn program(named_by: &str, path: &str) -> Option<Self> {
        // Devices and pipes are not even opened.
        let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        let file = Self { is_program: true, ..Self::read(named_by, path, Path::new("")).ok()? };
        let ending = Path::new(path).extension().and_then(|ending| ending.to_str());
        let is_program = metadata.permissions().mode() & 0o111 != 0
            || file.content.starts_with("#!")
            || ending.is_some_and(|ending| PROGRAMS.contains(&ending));
        is_program.then_some(file)
    }

    /// Returns whether the file still has this content; for data, whether it was written to.
    pub fn is_unchanged(&self) -> bool {
        match &self.data {
            Some(data) => stamps(&self.place()).is_ok_and(|now| now == data.stamps),
            None => read_text(&self.place(), SOURCE_BYTES_MAX).is_ok_and(|now| now == self.content),
        }
    }

    /// SHA-256 of the content in hexadecimal; of a folder, of the names and hashes of its files.
    pub fn sha256(&self) -> String {
        match &self.data {
            Some(data) => data.sha256.clone(),
            None => sha256([&self.content]),
        }
    }

    /// Returns the record that is kept with a run.
    pub fn record(&self) -> FileRecord {
        FileRecord {
            named_by: self.named_by.clone(),
            path: self.path.clone(),
            sha256: self.sha256(),
            content: redacted(&self.content),
        }
    }
}

/// Returns whether a file is usable but cannot be kept as text.
fn is_data(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::FileTooLarge | ErrorKind::InvalidData | ErrorKind::IsADirectory
    )
}

fn stamps(place: &Path) -> io::Result<Vec<Stamp>> {
    files_of(place)?
        .iter()
        .map(|file| file.metadata().map(|found| (found.len(), found.mtime(), found.mtime_nsec())))
        .collect()
}

/// A file, or those in a folder by their names.
fn files_of(place: &Path) -> io::Result<Vec<PathBuf>> {
    if !place.is_dir() {
        return Ok(vec![place.into()]);
    }
    let mut files: Vec<PathBuf> =
        place.read_dir()?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.retain(|file| file.is_file());
    files.sort();
    Ok(files)
}

fn hash_of_data(place: &Path) -> io::Result<String> {
    if !place.is_dir() {
        return hash_of_file(place);
    }
    let mut lines = Vec::new();
    for file in files_of(place)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        lines.push(format!("{}  {name}\n", hash_of_file(&file)?));
    }
    Ok(sha256(lines))
}

/// SHA-256 of a file's content, in hexadecimal; reads a part of it at a time.
///
/// # Errors
/// When it cannot be read.
pub fn hash_of_file(place: &Path) -> io::Result<String> {
    let (mut file, mut hash, mut buffer) = (File::open(place)?, Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            length => hash.update(&buffer[..length]),
        }
    }
}

/// Returns the arguments of `\i` and similar commands of a script, and the words of `\copy`, one of
/// which is a file.
fn names_in_meta_commands(script: &str) -> impl Iterator<Item = &str> {
    let lines = script.lines().filter_map(|line| line.trim_start().strip_prefix('\\'));
    let words = lines.filter_map(|line| {
        let (command, rest) = line.split_once(|c: char| c.is_whitespace())?;
        ["i", "ir", "include", "include_relative", "copy"].contains(&command).then_some(rest)
    });
    words
        .flat_map(|rest| rest.split(|c: char| c.is_whitespace() || "'\";".contains(c)))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::NamedFile;
    use std::fs;
    use std::io::ErrorKind;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_command_names_the_programs_that_it_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        for (name, content) in [
            ("a.sh", "true\n"),
            ("b", "#!/bin/sh\n"),
            ("c", "true\n"),
            ("d", "true\n"),
            ("e.sql", "SELECT 1"),
            ("log.sh", ""),
            ("binary", "\0"),
        ] {
            fs::write(path(name), content).unwrap();
        }
        fs::write(path("binary"), [0x7f, 0xff]).unwrap();
        for executable in ["c", "binary"] {
            fs::set_permissions(path(executable), fs::Permissions::from_mode(0o755)).unwrap();
        }
        let command = format!(
            "X='{}' sh {} && {} -f {};{} <{} 2>&1 >{} || . {}; {} /dev/null {}",
            path("missing"),
            path("a.sh"),
            path("b"),
            path("e.sql"),
            path("c"),
            path("d"),
            path("log.sh"),
            path("a.sh"),
            path("binary"),
            folder.path().display(),
        );
        let found = NamedFile::in_command("hooks.before_run", &command);
        let names: Vec<&str> =
            found.iter().map(|file| file.path.rsplit('/').next().unwrap()).collect();
        assert_eq!(names, ["a.sh", "b", "e.sql", "c"]);
    }

    #[test]
    fn a_folder_stands_for_its_sql_files_in_the_order_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        let all = || NamedFile::read_all("workload.files", "queries", folder.path());
        assert_eq!(all().unwrap_err().kind(), ErrorKind::NotFound);
        fs::create_dir(folder.path().join("queries")).unwrap();
        assert!(all().unwrap_err().to_string().contains("no file whose name ends in .sql"));
        for name in ["b.sql", "a.sql", "c.txt"] {
            fs::write(folder.path().join("queries").join(name), name).unwrap();
        }
        let read = all().unwrap();
        let paths: Vec<&str> = read.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["queries/a.sql", "queries/b.sql"]);
        assert!(read.iter().all(|file| file.path.ends_with(&file.content)));
    }

    #[test]
    fn the_hash_is_that_of_sha256sum_and_passwords_are_not_kept() {
        let file = |content: &str| NamedFile { content: content.into(), ..NamedFile::default() };
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(file("abc").sha256(), abc);
        let record = file("PGPASSWORD=secret psql postgres://u:secret@h/d\n").record();
        assert_eq!(record.content, "PGPASSWORD=****** psql postgres://u:******@h/d\n");
    }
}
