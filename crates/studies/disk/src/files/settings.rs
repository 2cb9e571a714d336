//! The settings of plain files.

use engine::file_set::CACHE;
use experiment::{Kind, choice, settings};

const SIZE: Kind = Kind::Size { min: 512, max: 1 << 50 };

choice! {
    /// Treatment of the data files before the measurement.
    pub enum Precondition {
        /// They are filled.
        None = "none",
        /// They are overwritten until the throughput is steady.
        Steady = "steady",
    }
}

settings! {
    /// The settings of a target of plain files.
    pub const SETTINGS = [CACHE];
    /// Number of data files that Steelbench creates.
    pub DATA_FILES: usize = "target.data_files", Kind::Count { min: 1, max: 1024 }, "1" => Layout;
    /// Size of each data and backup file; Steelbench fills them before the measurement.
    pub FILE_SIZE: u64 = "target.file_size", SIZE, "1 GiB", Value "\"256 MiB\"";
    /// Volume (or list of volumes, round robin) for the data files; default: the results
    /// directory's file system.
    pub VOLUME: Vec<String> = "target.volume", Kind::TextList => DataPlace @Trial;
    /// Volume for the log file; default: that of the first data file.
    pub LOG_VOLUME: Option<String> = "target.log_volume", Kind::Text => LogPlace @Trial;
    /// Size of the log file, if a stream uses it.
    pub LOG_SIZE: u64 = "target.log_size", SIZE, "256 MiB";
    /// Volume for the backup file; default: that of the first data file.
    pub BACKUP_VOLUME: Option<String> = "target.backup_volume", Kind::Text => BackupPlace @Trial;
    /// Existing files or block devices to use instead of new data files. Allow writing to them on
    /// the command line: --overwrite FILE, --destroy /dev/X.
    pub PATHS: Vec<String> = "target.paths", Kind::TextList => DataPlace;
    /// Existing file or block device to use instead of a new log file.
    pub LOG_PATH: Option<String> = "target.log_path", Kind::Text => LogPlace;
    /// Existing file or block device to use instead of a new backup file.
    pub BACKUP_PATH: Option<String> = "target.backup_path", Kind::Text => BackupPlace;
    /// Bytes to skip at the beginning of each file or device, such as a partition's offset.
    pub OFFSET: u64 = "target.offset", Kind::Size { min: 0, max: 1 << 50 }, "0";
    /// Compressible share of the data, for drives and file systems that compress.
    pub COMPRESS: f64 = "target.compress", Kind::Share, "0%";
    /// steady: after filling, overwrite the data files at random until the throughput is steady, as
    /// on a drive in use. Takes long and wears the drive.
    pub PRECONDITION: Precondition = "target.precondition", Precondition::KIND, "none";
    /// Longest time of pre-conditioning; if it is not steady by then, trials carry a warning.
    pub PRECONDITION_TIME: f64 = "target.precondition_time", Kind::PositiveDuration, "10 min";
}
