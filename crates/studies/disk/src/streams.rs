//! From the settings of a trial to its streams, and from these and the target's files to what the
//! I/O engine runs.

use crate::files::COMPRESS;
use crate::settings::{
    ALIGN, BATCH, BLOCK_SIZE, BLOCK_SIZE_MAX, BURST, BURST_EVERY, BYTES, DIRECT, DURATION, FILE,
    IO_ENGINE, MIX, ON, PATTERN, QUEUE_DEPTH, RATE, READS, SETTINGS, SHARE, STREAMS, SYNC,
    SYNC_EVERY, Sync, THREADS, WARMUP, WORKING_SET, key_of, of_streams, pattern_settings,
};
use disk_io::{Arrivals, BlockSize, Durability, Group, Load, Region, Stream};
use engine::file_set::TargetFile;
use engine::{EngineError, FileSet};
use experiment::common::OBSERVE_INTERVAL;
use experiment::{Configuration, FromValue, Invalid, Setting, Value, unknown_name};
use probe::{ProbeError, TrialContext};
use std::time::Duration;

/// Characters of a stream's name: it becomes part of the names of responses.
const NAME_LENGTH_MAX: usize = 60;

/// A stream as it is asked for; which files it gets is known later.
#[derive(Debug, Clone)]
pub(crate) struct StreamPlan {
    pub name: String,
    /// The settings of `[workload]` with the stream's own in their place.
    configuration: Configuration,
    /// Paths of the settings that the stream has of its own.
    paths: Vec<&'static str>,
}

/// The text of a stream for `workload.streams`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamText(pub String);

impl StreamText {
    /// A stream with the settings of its name, if it is that of a pattern, and of `[workload]`.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }

    /// Gives a setting of the stream a value.
    #[must_use]
    pub fn with<T, V>(self, setting: Setting<T>, value: V) -> Self
    where
        T: FromValue + From<V>,
        V: Into<Value>,
    {
        Self(format!("{} {}={}", self.0, key_of(&setting.declaration), value.into()))
    }
}

/// The streams of a configuration, or what is wrong with them.
pub fn streams(configuration: &Configuration) -> Result<Vec<StreamPlan>, Invalid> {
    let streams = configuration.get(STREAMS);
    let (path, texts) = match (configuration.get(MIX), streams.is_empty()) {
        (Some(_), false) => {
            let message = "conflicts with workload.streams; give one of them";
            return Err(Invalid::new(MIX.path(), message));
        }
        (Some(mix), true) => {
            (MIX.path(), mix.streams().iter().map(|name| (*name).to_owned()).collect())
        }
        (None, false) => (STREAMS.path(), streams),
        (None, true) => {
            let configuration = configuration.clone();
            return Ok(vec![StreamPlan { name: "all".into(), configuration, paths: Vec::new() }]);
        }
    };
    let mut streams: Vec<StreamPlan> = Vec::new();
    for text in texts {
        let stream = StreamPlan::read(&text, configuration)
            .map_err(|error| Invalid::new(path, error.to_string()))?;
        if streams.iter().any(|other| other.name == stream.name) {
            return Err(Invalid::new(path, format!("two streams have the name `{}`", stream.name)));
        }
        streams.push(stream);
    }
    let factors = configuration.levels.iter().map(|level| level.factor.as_str());
    if let Some(path) = factors.into_iter().find(|path| {
        of_streams().any(|setting| setting.path == *path)
            && streams.iter().all(|stream| stream.paths.contains(path))
    }) {
        let message = "varying this has no effect: every stream has its own value";
        return Err(Invalid::new(path, message));
    }
    Ok(streams)
}

/// A text that does not describe a stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum StreamError {
    /// A text that begins with a setting.
    #[error("`{0}` must begin with the name of the stream")]
    NoName(String),
    /// A name with other signs, or a long one.
    #[error(
        "`{0}` cannot be a stream name; use at most {NAME_LENGTH_MAX} letters, digits, `-`, \
         `_` and `/`"
    )]
    Name(String),
    /// A word that is not a setting of the stream.
    #[error("stream {name}: {source}")]
    Word {
        /// The stream.
        name: String,
        /// The cause.
        source: WordError,
    },
}

/// A word that is not a setting of a stream.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WordError {
    /// A word without a key.
    #[error("`{0}` is not key=value; write values without blanks: block_size=8KiB")]
    Form(String),
    /// A setting of all streams.
    #[error("`{0}` applies to all streams: give it in [workload]")]
    Common(String),
    /// A key that is none, with what it may have been meant to be.
    #[error("{0}")]
    Unknown(String),
    /// A value that the setting does not take.
    #[error("{key}: {}", source.message)]
    Value {
        /// The key.
        key: String,
        /// The cause.
        source: Invalid,
    },
}

impl StreamPlan {
    /// Reads `log block_size=4KiB on=log`.
    fn read(text: &str, configuration: &Configuration) -> Result<Self, StreamError> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default().trim_end_matches(':');
        if name.is_empty() || name.contains('=') {
            return Err(StreamError::NoName(text.to_owned()));
        }
        let is_wrong = name.contains(|c: char| !(c.is_alphanumeric() || "-_/".contains(c)));
        if is_wrong || name.len() > NAME_LENGTH_MAX {
            return Err(StreamError::Name(name.to_owned()));
        }
        let mut stream =
            Self { name: name.into(), configuration: configuration.clone(), paths: Vec::new() };
        let words: Vec<&str> =
            pattern_settings(name).unwrap_or_default().split_whitespace().chain(words).collect();
        let wrong = |source| StreamError::Word { name: name.into(), source };
        if let Some(word) = words.iter().find(|word| !word.contains('=')) {
            return Err(wrong(WordError::Form((*word).to_owned())));
        }
        for (key, value) in words.iter().filter_map(|word| word.split_once('=')) {
            stream.set(key, value).map_err(wrong)?;
        }
        Ok(stream)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), WordError> {
        let Some(setting) = of_streams().find(|setting| key_of(setting) == key) else {
            if SETTINGS.iter().any(|setting| key_of(setting) == key) {
                return Err(WordError::Common(key.to_owned()));
            }
            let known: Vec<&str> = of_streams().map(key_of).collect();
            return Err(WordError::Unknown(unknown_name("key", key, &known)));
        };
        let value = setting.read(value);
        let value = value.map_err(|source| WordError::Value { key: key.to_owned(), source })?;
        self.configuration.settings.insert(setting.path.into(), value);
        if !self.paths.contains(&setting.path) {
            self.paths.push(setting.path);
        }
        Ok(())
    }

    /// The value of a setting for it.
    pub fn get<T: FromValue>(&self, setting: Setting<T>) -> T {
        self.configuration.get(setting)
    }

    /// Returns whether it runs as fast as it can.
    pub fn is_closed(&self) -> bool {
        self.arrivals() == Arrivals::Closed
    }

    fn read_percent(&self) -> u8 {
        self.get(PATTERN).read_percent(self.get(READS))
    }

    /// Returns whether it writes.
    pub fn writes(&self) -> bool {
        self.read_percent() < 100
    }

    /// The share of common threads; `None`: it has threads of its own. Only a stream itself can say
    /// so.
    fn share(&self) -> Option<u32> {
        self.get(SHARE).filter(|_| self.paths.contains(&SHARE.path()))
    }

    fn block(&self) -> BlockSize {
        let min = self.get(BLOCK_SIZE);
        BlockSize { min, max: self.get(BLOCK_SIZE_MAX).unwrap_or(min) }
    }

    fn durability(&self) -> Durability {
        let every = self.get(SYNC_EVERY);
        match self.get(SYNC) {
            Sync::None => Durability::Never,
            Sync::Fdatasync => Durability::Sync { every, data_only: true },
            Sync::Fsync => Durability::Sync { every, data_only: false },
            Sync::Dsync => Durability::EachWrite,
        }
    }

    fn arrivals(&self) -> Arrivals {
        let every = Duration::from_secs_f64(self.get(BURST_EVERY));
        match (self.get(BURST), self.get(RATE)) {
            (Some(count), _) => Arrivals::Burst { count, every },
            (None, Some(rate)) => Arrivals::Rate(rate),
            (None, None) => Arrivals::Closed,
        }
    }

    /// Returns a contradiction among the settings.
    pub fn objection(&self) -> Option<Invalid> {
        let BlockSize { min, max } = self.block();
        let (depth, batch) = (self.get(QUEUE_DEPTH), self.get(BATCH));
        let (path, message) = if max < min {
            (BLOCK_SIZE_MAX.path(), "smaller than the block size".into())
        } else if self.get(DIRECT) && min % 512 != 0 {
            let message =
                format!("direct I/O needs a multiple of 512, the smallest sector, not {min} bytes");
            (BLOCK_SIZE.path(), message)
        } else if batch > depth {
            (BATCH.path(), format!("more than the {depth} I/Os in flight of a thread"))
        } else if batch > 1 && !self.is_closed() {
            let message = "I/Os timed by rate or burst cannot be submitted in batches";
            (BATCH.path(), message.into())
        } else if self.get(BURST).is_some() && self.get(RATE).is_some() {
            (BURST.path(), "conflicts with workload.rate; give one of them".into())
        } else {
            return None;
        };
        Some(Invalid::new(path, format!("stream {}: {message}", self.name)))
    }

    /// Returns its stream for the I/O engine on these files.
    fn stream(&self, set: &FileSet, compress_percent: u8) -> Result<Stream, ProbeError> {
        let unfit = |message: String| {
            ProbeError::from(EngineError::failed(format!("stream {}", self.name), message))
        };
        let role = self.get(ON);
        let files: Vec<&TargetFile> = set.with_role(role).collect();
        let chosen = match self.get(FILE) {
            None => &files[..],
            Some(number) => files.get(number - 1..number).ok_or_else(|| {
                let (role, all) = (role.name(), files.len());
                unfit(format!("`file` exceeds the number of {role} files, {all}"))
            })?,
        };
        let region = |file: &&TargetFile| match &file.forbidden {
            Some(reason) if self.writes() => Err(unfit(reason.clone())),
            _ if file.size <= set.offset => Err(unfit(format!(
                "{} has {} bytes: no space after target.offset = {}",
                file.path.display(),
                file.size,
                set.offset
            ))),
            _ => {
                let length = file.size - set.offset;
                let length = self.get(WORKING_SET).map_or(length, |most| length.min(most));
                Ok(Region { path: file.path.clone(), start: set.offset, length })
            }
        };
        let regions = chosen.iter().map(region).collect::<Result<_, _>>()?;
        Ok(Stream {
            name: self.name.clone(),
            weight: self.share().unwrap_or(1),
            regions,
            access: self.get(PATTERN).access(),
            read_percent: self.read_percent(),
            block: self.block(),
            align: self.get(ALIGN),
            direct: self.get(DIRECT),
            durability: self.durability(),
            arrivals: self.arrivals(),
            compress_percent,
            bytes: self.get(BYTES),
        })
    }
}

/// The load of a trial. Streams with a share form one group with the threads of `[workload]`; each
/// of the others has a group of its own.
pub fn load(
    context: &TrialContext<'_>,
    streams: &[StreamPlan],
    set: &FileSet,
) -> Result<Load, ProbeError> {
    let compress_percent = (context.configuration.get(COMPRESS) * 100.0).round() as u8;
    let group = |configuration: &Configuration, streams| Group {
        threads: configuration.get(THREADS),
        queue_depth: configuration.get(QUEUE_DEPTH),
        batch: configuration.get(BATCH),
        streams,
    };
    let (mut groups, mut shared) = (Vec::new(), Vec::new());
    for plan in streams {
        let stream = plan.stream(set, compress_percent)?;
        match plan.share() {
            Some(_) => shared.push(stream),
            None => groups.push(group(&plan.configuration, vec![stream])),
        }
    }
    if !shared.is_empty() {
        groups.push(group(context.configuration, shared));
    }
    let seconds = |setting| Duration::from_secs_f64(context.configuration.get(setting));
    Ok(Load {
        groups,
        backend: context.configuration.get(IO_ENGINE).backend(),
        duration: Some(seconds(DURATION)),
        warmup: seconds(WARMUP),
        interval: seconds(OBSERVE_INTERVAL),
        seed: context.seed,
    })
}
