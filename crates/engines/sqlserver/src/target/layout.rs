//! The database of a trial: its files, and how it is set. Written as statements, and compared with
//! what the server has.

use super::super::dialect::{quote_literal, quote_name};
use super::super::live::views::PAGE_BYTES;
use super::super::settings::{
    DATA_FILES, DATA_GROWTH, DATA_PATH, DATA_SIZE, DELAYED_DURABILITY, FILEGROUP, LOG_GROWTH,
    LOG_PATH, LOG_SIZE, PAGE_VERIFY, READ_COMMITTED_SNAPSHOT, RECOVERY, SNAPSHOT_ISOLATION,
};
use engine::{EngineError, Result, Rows};
use experiment::{Configuration, Invalid, Setting};

/// Name of our database.
pub const DATABASE: &str = "steelbench";

/// The name until it is marked, which says whose it is.
pub const UNMARKED: &str = "steelbench_not_marked_yet";

/// Size of all data files together where only their number is given: the same for each number, so
/// that an experiment on the number does not compare sizes. The server would give each file a size
/// of its own, and it fills files in proportion to what is free in them.
const DATA_BYTES: u64 = 1 << 30;
/// Growth of a data file where only their number is given, the default since SQL Server 2016.
const GROWTH_BYTES: u64 = 64 << 20;

/// The unit of growth
/// (<https://learn.microsoft.com/sql/t-sql/statements/create-database-transact-sql>).
const EXTENT_BYTES: u64 = 64 << 10;
/// The largest number of a size. From there on it is in MB.
const NUMBER_MAX: u64 = i32::MAX as u64;

/// Planned files of a trial's database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    data_files: u32,
    data_paths: Vec<String>,
    data_bytes: Option<u64>,
    data_growth: Option<u64>,
    own_filegroup: bool,
    log_path: Option<String>,
    log_bytes: Option<u64>,
    log_growth: Option<u64>,
}

/// A requested file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSpec {
    name: String,
    path: String,
    bytes: Option<u64>,
    growth: Option<u64>,
    /// The settings that path, size and growth come from.
    settings: [&'static str; 3],
}

/// How the database is set: a clause of `ALTER DATABASE`, and what `sys.databases` has then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseOption {
    /// The setting that asks for it.
    pub setting: &'static str,
    /// Clause after `ALTER DATABASE ... SET`.
    pub clause: String,
    /// Column of `sys.databases`.
    pub column: &'static str,
    /// The text.
    pub value: String,
}

impl Layout {
    /// Reads the layout of a configuration.
    pub fn from_configuration(configuration: &Configuration) -> Self {
        let data_files = configuration.get(DATA_FILES);
        let is_given = configuration.settings.contains_key(DATA_FILES.path());
        let data_bytes = configuration.get(DATA_SIZE).or(is_given.then_some(DATA_BYTES));
        let data_growth = configuration.get(DATA_GROWTH).or(is_given.then_some(GROWTH_BYTES));
        Self {
            data_files,
            data_paths: configuration.get(DATA_PATH),
            data_bytes: data_bytes
                .map(|bytes| whole(bytes.div_ceil(data_files.into()), PAGE_BYTES)),
            data_growth: data_growth.map(|bytes| whole(bytes, EXTENT_BYTES)),
            own_filegroup: configuration.get(FILEGROUP).as_deref() == Some("own"),
            log_path: configuration.get(LOG_PATH),
            log_bytes: configuration.get(LOG_SIZE).map(|bytes| whole(bytes, PAGE_BYTES)),
            log_growth: configuration.get(LOG_GROWTH).map(|bytes| whole(bytes, EXTENT_BYTES)),
        }
    }

    /// Names the sizes that are larger than those of the configuration, a sentence each.
    pub fn rounded(&self, configuration: &Configuration) -> Vec<String> {
        let files = u64::from(self.data_files);
        let sizes = [
            (DATA_SIZE, files, self.data_bytes),
            (DATA_GROWTH, 1, self.data_growth),
            (LOG_SIZE, 1, self.log_bytes),
            (LOG_GROWTH, 1, self.log_growth),
        ];
        let rounded = sizes.into_iter().filter_map(|(setting, files, bytes)| {
            let (setting_bytes, bytes) = configuration.get(setting).zip(bytes)?;
            (bytes * files != setting_bytes).then(|| {
                format!(
                    "{}: rounded up from {setting_bytes} to {} bytes ({files} x {bytes}); the \
                     server keeps sizes in pages of 8 KiB, growth in extents of 64 KiB, and both \
                     in MiB from 2 TiB on",
                    setting.path(),
                    bytes * files
                )
            })
        });
        rounded.collect()
    }

    /// Objects to a first data file that is smaller than that of the server's model database,
    /// which `CREATE DATABASE` refuses (error 1803).
    pub fn too_small(&self, model_bytes: u64) -> Option<Invalid> {
        let bytes = self.data_bytes.filter(|_| !self.own_filegroup)?;
        (bytes < model_bytes).then(|| {
            let message = format!(
                "each of {} data files has {bytes} bytes; the first holds a copy of the server's \
                 model database, of {model_bytes} bytes; set at least {}",
                self.data_files,
                model_bytes * u64::from(self.data_files)
            );
            Invalid::new(DATA_SIZE.path(), message)
        })
    }

    fn names_data(&self) -> bool {
        self.own_filegroup
            || !self.data_paths.is_empty()
            || self.data_bytes.is_some()
            || self.data_growth.is_some()
    }

    fn names_log(&self) -> bool {
        self.log_path.is_some() || self.log_bytes.is_some() || self.log_growth.is_some()
    }

    /// Returns whether files need names, which requires the server's own folders.
    pub fn names_files(&self) -> bool {
        self.names_data() || self.names_log()
    }

    /// The data files, where the server puts files that are given no path in this folder.
    pub fn data(&self, default_path: &str) -> Vec<FileSpec> {
        let count = if self.names_data() { self.data_files } else { 0 };
        let paths =
            if self.data_paths.is_empty() { &[default_path.to_owned()] } else { &*self.data_paths };
        let files = (1..=count).zip(paths.iter().cycle()).map(|(number, path)| FileSpec {
            name: format!("{DATABASE}_{number}"),
            path: within(path, &format!("{DATABASE}_{number}.ndf")),
            bytes: self.data_bytes,
            growth: self.data_growth,
            settings: [DATA_PATH.path(), DATA_SIZE.path(), DATA_GROWTH.path()],
        });
        files.collect()
    }

    /// The log file, where one is described.
    pub fn log(&self, default_path: &str) -> Option<FileSpec> {
        let path = self.log_path.as_deref().unwrap_or(default_path);
        self.names_log().then(|| FileSpec {
            name: format!("{DATABASE}_log"),
            path: within(path, &format!("{DATABASE}.ldf")),
            bytes: self.log_bytes,
            growth: self.log_growth,
            settings: [LOG_PATH.path(), LOG_SIZE.path(), LOG_GROWTH.path()],
        })
    }

    /// The statement that makes the database; `data` and `log`: the server's own folders.
    pub fn create(&self, data: &str, log: &str) -> String {
        let files: Vec<String> = self.data(data).iter().map(FileSpec::sql).collect();
        let files = files.join(", ");
        let on = if self.own_filegroup {
            let path = within(data, &format!("{DATABASE}.mdf"));
            let catalog = format!(
                "(NAME = {}, FILENAME = {})",
                quote_literal(DATABASE),
                quote_literal(&path)
            );
            format!(" ON PRIMARY {catalog}, FILEGROUP [{DATABASE}_data] DEFAULT {files}")
        } else if files.is_empty() {
            String::new()
        } else {
            format!(" ON PRIMARY {files}")
        };
        let log = self.log(log).map(|log| format!(" LOG ON {}", log.sql())).unwrap_or_default();
        format!("CREATE DATABASE {}{on}{log}", quote_name(UNMARKED))
    }

    /// Compares the files that the server has with those that were asked for.
    ///
    /// # Errors
    /// With the setting that did not take.
    pub fn verify(&self, files: &Rows, data: &str, log: &str) -> Result<()> {
        let ignored = |setting: &str, expected: String, got: String| {
            Err(EngineError::SettingIgnored { setting: setting.into(), expected, got })
        };
        let of_data = files.iter().filter(|file| file.get("kind") == Some("0")).count();
        let of_data = of_data - usize::from(self.own_filegroup && of_data > 0);
        if self.names_data() && of_data != self.data_files as usize {
            return ignored(DATA_FILES.path(), self.data_files.to_string(), of_data.to_string());
        }
        for planned in self.data(data).into_iter().chain(self.log(log)) {
            let [path, size, growth] = planned.settings;
            let Some(file) = files.iter().find(|file| file.get("name") == Some(&planned.name))
            else {
                return ignored(path, planned.path, "no such file".into());
            };
            let got = file.text("path");
            if !got.eq_ignore_ascii_case(&planned.path) {
                return ignored(path, planned.path, got);
            }
            let bytes = |column: &str| file.parse::<u64>(column).unwrap_or(0) * PAGE_BYTES;
            if let Some(file_bytes) =
                planned.bytes.filter(|file_bytes| *file_bytes != bytes("pages"))
            {
                return ignored(
                    size,
                    format!("{file_bytes} bytes a file"),
                    format!("{} bytes", bytes("pages")),
                );
            }
            let is_percent = file.get("is_percent") == Some("1");
            let got = bytes("growth_pages");
            if let Some(file_growth) =
                planned.growth.filter(|file_growth| is_percent || *file_growth != got)
            {
                let got = if is_percent { "a percentage".into() } else { format!("{got} bytes") };
                return ignored(growth, format!("{file_growth} bytes"), got);
            }
        }
        Ok(())
    }
}

impl FileSpec {
    fn sql(&self) -> String {
        let Self { name, path, bytes, growth, .. } = self;
        let option = |what: &str, bytes: &Option<u64>| {
            bytes.map(|bytes| format!(", {what} = {}", in_units(bytes))).unwrap_or_default()
        };
        let (size, growth) = (option("SIZE", bytes), option("FILEGROWTH", growth));
        format!(
            "(NAME = {}, FILENAME = {}{size}{growth})",
            quote_literal(name),
            quote_literal(path)
        )
    }
}

/// A size in whole units; a large one is a number of MiB.
fn whole(bytes: u64, unit: u64) -> u64 {
    bytes.next_multiple_of(if bytes >> 10 > NUMBER_MAX { 1 << 20 } else { unit })
}

fn in_units(bytes: u64) -> String {
    if bytes >> 10 > NUMBER_MAX {
        format!("{} MB", bytes >> 20)
    } else {
        format!("{} KB", bytes >> 10)
    }
}

/// A file in a folder of the server's, which may be one of Windows or of Linux.
fn within(folder: &str, file: &str) -> String {
    let separator = if folder.contains('\\') || folder.ends_with(':') { '\\' } else { '/' };
    format!("{}{separator}{file}", folder.trim_end_matches(['\\', '/']))
}

/// How a configuration wants the database set.
pub fn options(configuration: &Configuration) -> Vec<DatabaseOption> {
    let option = |setting, clause: &str, column, value: String| DatabaseOption {
        setting,
        clause: clause.replace('#', &value),
        column,
        value,
    };
    let word = |setting: Setting<Option<String>>, clause, column| {
        let word = configuration.get(setting)?.to_uppercase().replace('-', "_");
        Some(option(setting.path(), clause, column, word))
    };
    let switch = |setting: Setting<Option<bool>>, clause, column| {
        let word = if configuration.get(setting)? { "ON" } else { "OFF" };
        Some(option(setting.path(), clause, column, word.to_owned()))
    };
    let versions = "READ_COMMITTED_SNAPSHOT # WITH ROLLBACK IMMEDIATE";
    let versions = switch(READ_COMMITTED_SNAPSHOT, versions, "is_read_committed_snapshot_on");
    let all = [
        word(RECOVERY, "RECOVERY #", "recovery_model_desc"),
        word(PAGE_VERIFY, "PAGE_VERIFY #", "page_verify_option_desc"),
        word(DELAYED_DURABILITY, "DELAYED_DURABILITY = #", "delayed_durability_desc"),
        switch(SNAPSHOT_ISOLATION, "ALLOW_SNAPSHOT_ISOLATION #", "snapshot_isolation_state_desc"),
        versions.map(|value| DatabaseOption {
            value: u8::from(value.value == "ON").to_string(),
            ..value
        }),
    ];
    all.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::Value;
    use testing::rows::rows;

    fn layout(settings: &[(&str, Value)]) -> Layout {
        Layout::from_configuration(&configuration(settings))
    }

    fn configuration(settings: &[(&str, Value)]) -> Configuration {
        let settings =
            settings.iter().map(|(path, value)| ((*path).to_owned(), value.clone())).collect();
        Configuration { settings, ..Configuration::default() }
    }

    fn text(text: &str) -> Value {
        Value::Text(text.into())
    }

    #[test]
    fn files_of_one_size_go_round_the_folders_and_the_log_has_its_own() {
        assert_eq!(layout(&[]).create("/d", "/l"), "CREATE DATABASE [steelbench_not_marked_yet]");
        let file_layout = layout(&[
            ("target.data_files", Value::Integer(3)),
            ("target.data_path", Value::List(vec![text(r"E:\data\"), text(r"F:\it's")])),
            ("target.data_size", Value::Integer(30 << 20)),
            ("target.data_growth", Value::Integer(0)),
            ("target.log_path", text("G:")),
            ("target.log_size", Value::Integer(256 << 20)),
        ]);
        assert_eq!(
            file_layout.create("/d", "/l"),
            "CREATE DATABASE [steelbench_not_marked_yet] ON PRIMARY (NAME = N'steelbench_1', \
             FILENAME = N'E:\\data\\steelbench_1.ndf', SIZE = 10240 KB, FILEGROWTH = 0 KB), \
             (NAME = N'steelbench_2', FILENAME = N'F:\\it''s\\steelbench_2.ndf', SIZE = 10240 KB, \
             FILEGROWTH = 0 KB), (NAME = N'steelbench_3', FILENAME = \
             N'E:\\data\\steelbench_3.ndf', SIZE = 10240 KB, FILEGROWTH = 0 KB) LOG ON (NAME = \
             N'steelbench_log', FILENAME = N'G:\\steelbench.ldf', SIZE = 262144 KB)"
        );
        let two_files =
            layout(&[("target.data_files", Value::Integer(2)), ("target.filegroup", text("own"))]);
        assert_eq!(
            two_files.create("/d/", "/l"),
            "CREATE DATABASE [steelbench_not_marked_yet] ON PRIMARY (NAME = N'steelbench', \
             FILENAME = N'/d/steelbench.mdf'), FILEGROUP [steelbench_data] DEFAULT \
             (NAME = N'steelbench_1', FILENAME = N'/d/steelbench_1.ndf', SIZE = 524288 KB, \
             FILEGROWTH = 65536 KB), (NAME = \
             N'steelbench_2', FILENAME = N'/d/steelbench_2.ndf', SIZE = 524288 KB, FILEGROWTH = \
             65536 KB)"
        );
    }

    #[test]
    fn all_data_files_have_one_total_size_whatever_their_number() {
        let total = |files: i64, settings: &[(&str, Value)]| {
            let number = [("target.data_files", Value::Integer(files))];
            let file_layout = layout(&[&number[..], settings].concat());
            file_layout.data("/d").iter().map(|file| file.bytes.unwrap()).sum::<u64>()
        };
        for files in [1, 2, 8, 128] {
            assert_eq!(total(files, &[]), 1 << 30);
            assert_eq!(total(files, &[("target.data_size", Value::Integer(2 << 30))]), 2 << 30);
        }
        // A database without any of these settings is the server's own.
        assert!(layout(&[]).data("/d").is_empty());
    }

    #[test]
    fn sizes_are_rounded_up_to_what_the_server_keeps_and_reported() {
        let settings = [
            ("target.data_files", Value::Integer(3)),
            ("target.data_size", Value::Integer(100 << 20)),
            ("target.data_growth", Value::Integer(1 << 20)),
            ("target.log_size", Value::Integer((1 << 20) + 1)),
            ("target.log_growth", Value::Integer(8 << 10)),
        ];
        let file_layout = layout(&settings);
        let sql = file_layout.create("/d", "/l");
        assert!(sql.contains("SIZE = 34136 KB, FILEGROWTH = 1024 KB"), "{sql}");
        assert!(sql.ends_with("SIZE = 1032 KB, FILEGROWTH = 64 KB)"), "{sql}");
        let notes = file_layout.rounded(&configuration(&settings)).join("\n");
        for part in [
            "target.data_size: rounded up from 104857600 to 104865792 bytes (3 x 34955264)",
            "target.log_size: rounded up from 1048577 to 1056768",
            "target.log_growth: rounded up from 8192 to 65536",
        ] {
            assert!(notes.contains(part), "{notes}");
        }
        assert_eq!(notes.lines().count(), 3, "{notes}");
        // 2 TiB are 2,147,483,648 KB, one more than a size may have.
        for (bytes, text) in [
            ((2 << 40) - 8192, "SIZE = 2147483640 KB"),
            (2 << 40, "SIZE = 2097152 MB"),
            ((3 << 40) + 1, "SIZE = 3145729 MB"),
        ] {
            let sql = layout(&[("target.data_size", Value::Integer(bytes))]).create("/d", "/l");
            assert!(sql.contains(text), "{sql}");
        }
    }

    #[test]
    fn the_first_file_has_room_for_the_model_database() {
        let model = 8 << 20;
        let objections_to = |more: &[(&str, Value)]| {
            let files = [
                ("target.data_files", Value::Integer(4)),
                ("target.data_size", Value::Integer(16 << 20)),
            ];
            layout(&[&files[..], more].concat())
        };
        let refused = objections_to(&[]).too_small(model).unwrap();
        assert_eq!(refused.path, "target.data_size");
        assert!(refused.message.ends_with("set at least 33554432"), "{refused:?}");
        assert_eq!(objections_to(&[]).too_small(4 << 20), None);
        // The primary file is another one there.
        assert_eq!(objections_to(&[("target.filegroup", text("own"))]).too_small(model), None);
        assert_eq!(layout(&[]).too_small(model), None);
    }

    #[test]
    fn what_the_server_made_of_it_is_compared_file_by_file() {
        let file_layout = layout(&[
            ("target.data_files", Value::Integer(2)),
            ("target.log_size", Value::Integer(16 << 20)),
        ]);
        let have = |files: &str| {
            file_layout.verify(&rows(files), "/d", "/l").map_err(|error| error.to_string())
        };
        let head = "kind | name | path | pages | growth_pages | is_percent\n";
        let (first, second) = (
            "0 | steelbench_1 | /d/steelbench_1.ndf | 65536 | 8192 | 0\n",
            "0 | steelbench_2 | /D/steelbench_2.ndf | 65536 | 8192 | 0\n",
        );
        let log = "1 | steelbench_log | /l/steelbench.ldf | 2048 | 8192 | 0\n";
        assert_eq!(have(&format!("{head}{first}{second}{log}")), Ok(()));
        for (files, setting) in [
            (format!("{first}{log}"), "target.data_files = 2 had no effect: the engine reports 1"),
            (
                format!("{first}{}{log}", second.replace("| 65536 |", "| 65544 |")),
                "target.data_size",
            ),
            (format!("{first}{}{log}", second.replace("8192 | 0", "10 | 1")), "target.data_growth"),
            (format!("{first}{}{log}", second.replace("/D/", "/e/")), "target.data_path"),
            (format!("{first}{second}"), "target.log_path"),
            (format!("{first}{second}{}", log.replace("2048", "1024")), "target.log_size"),
        ] {
            let error = have(&format!("{head}{files}")).unwrap_err();
            assert!(error.contains(setting), "{error}");
        }
    }

    #[test]
    fn options_are_clauses_and_what_the_catalog_says_then() {
        let with_options = configuration(&[
            ("target.recovery", text("bulk-logged")),
            ("target.page_verify", text("torn-page-detection")),
            ("target.delayed_durability", text("forced")),
            ("target.snapshot_isolation", Value::Bool(true)),
            ("target.read_committed_snapshot", Value::Bool(false)),
        ]);
        let clauses: Vec<_> = options(&with_options)
            .into_iter()
            .map(|option| (option.clause, option.column, option.value))
            .collect();
        let clause_of =
            |clause: &str, column, value: &str| (clause.to_owned(), column, value.to_owned());
        assert_eq!(
            clauses,
            [
                clause_of("RECOVERY BULK_LOGGED", "recovery_model_desc", "BULK_LOGGED"),
                clause_of(
                    "PAGE_VERIFY TORN_PAGE_DETECTION",
                    "page_verify_option_desc",
                    "TORN_PAGE_DETECTION"
                ),
                clause_of("DELAYED_DURABILITY = FORCED", "delayed_durability_desc", "FORCED"),
                clause_of("ALLOW_SNAPSHOT_ISOLATION ON", "snapshot_isolation_state_desc", "ON"),
                clause_of(
                    "READ_COMMITTED_SNAPSHOT OFF WITH ROLLBACK IMMEDIATE",
                    "is_read_committed_snapshot_on",
                    "0"
                ),
            ]
        );
        assert!(options(&configuration(&[])).is_empty());
    }
}
