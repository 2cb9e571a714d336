//! From the settings of a trial to its streams, whose texts are read here.

use super::named::{MIXES, PATTERNS};
use super::pattern::Pattern;
use super::settings::{OF_STREAMS, SETTINGS, of_stream};
use disk_io::{Arrivals, BlockSize, Durability};
use engines::Role;
use experiment::{Configuration, Invalid, nearest};
use std::time::Duration;

/// Characters of a stream's name: it becomes part of the names of responses.
const NAME_LENGTH_MAX: usize = 60;

/// A stream as it is asked for; which files it gets is known later.
#[derive(Debug, Clone)]
pub struct StreamPlan {
    pub name: String,
    /// The settings of `[workload]` with the stream's own in their place.
    configuration: Configuration,
    /// Keys that the stream has of its own.
    own: Vec<String>,
}

/// The streams of a configuration, or what is wrong with them.
pub fn streams(configuration: &Configuration) -> Result<Vec<StreamPlan>, Invalid> {
    let mix = MIXES.iter().find(|(name, _)| *name == configuration.text("workload.mix"));
    let given = configuration.texts("workload.streams");
    let (path, texts) = match (mix, given.is_empty()) {
        (Some(_), false) => {
            let message = "workload.streams is given too; give one of them";
            return Err(Invalid::new("workload.mix", message));
        }
        (Some((_, streams)), true) => ("workload.mix", streams.to_vec()),
        (None, false) => ("workload.streams", given),
        (None, true) => {
            let configuration = configuration.clone();
            return Ok(vec![StreamPlan { name: "all".into(), configuration, own: Vec::new() }]);
        }
    };
    let mut streams: Vec<StreamPlan> = Vec::new();
    for text in texts {
        let stream = StreamPlan::read(text, configuration).map_err(|message| Invalid::new(path, message))?;
        if streams.iter().any(|other| other.name == stream.name) {
            return Err(Invalid::new(path, format!("two streams have the name `{}`", stream.name)));
        }
        streams.push(stream);
    }
    let no_effect = |path: &&str| {
        let key = path.strip_prefix("workload.").unwrap_or(path);
        OF_STREAMS.contains(&key) && streams.iter().all(|stream| stream.own.iter().any(|own| own == key))
    };
    let factors = configuration.levels.iter().map(|level| level.factor.as_str());
    if let Some(path) = factors.into_iter().find(no_effect) {
        let message = "varying this changes nothing: every stream has a value of its own";
        return Err(Invalid::new(path, message));
    }
    Ok(streams)
}

impl StreamPlan {
    /// Reads `log block_size=4KiB on=log`.
    fn read(text: &str, configuration: &Configuration) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default().trim_end_matches(':');
        let wrong = |c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '/'));
        if name.is_empty() || name.contains('=') {
            return Err(format!("`{text}` does not begin with the name of the stream"));
        }
        if name.contains(wrong) || name.len() > NAME_LENGTH_MAX {
            return Err(format!(
                "`{name}` cannot be the name of a stream; allowed are letters, digits, `-`, `_` and `/`, at most {NAME_LENGTH_MAX}"
            ));
        }
        let mut stream = Self { name: name.into(), configuration: configuration.clone(), own: Vec::new() };
        let named = PATTERNS.iter().find(|named| named.name == name);
        for (key, value) in named.map(|named| named.settings).unwrap_or_default() {
            stream.set(key, value)?;
        }
        let words: Vec<&str> = words.collect();
        if let Some(word) = words.iter().find(|word| !word.contains('=')) {
            return Err(format!(
                "stream {name}: `{word}` is not of the form key=value; values have no blanks: block_size=8KiB"
            ));
        }
        for (key, value) in words.iter().filter_map(|word| word.split_once('=')) {
            stream.set(key, value).map_err(|message| format!("stream {name}: {message}"))?;
        }
        Ok(stream)
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let Some(setting) = of_stream(key) else {
            let elsewhere =
                SETTINGS.iter().any(|setting| setting.path.strip_prefix("workload.") == Some(key));
            return Err(match nearest(key, OF_STREAMS) {
                _ if elsewhere => format!("`{key}` holds for all streams together: give it in [workload]"),
                Some(near) => format!("unknown key `{key}`; did you mean `{near}`?"),
                None => format!("unknown key `{key}`; known: {}", OF_STREAMS.join(", ")),
            });
        };
        let value = setting.read(value).map_err(|message| format!("{key}: {message}"))?;
        self.configuration.settings.insert(setting.path.into(), value);
        if !self.own.iter().any(|own| own == key) {
            self.own.push(key.into());
        }
        Ok(())
    }

    fn count(&self, key: &str) -> Option<u64> {
        self.configuration.integer(key)
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.configuration.number(key)
    }

    pub fn threads(&self) -> u32 {
        self.count("workload.threads").unwrap_or(1) as u32
    }

    pub fn queue_depth(&self) -> u32 {
        self.count("workload.queue_depth").unwrap_or(1) as u32
    }

    pub fn batch(&self) -> u32 {
        self.count("workload.batch").unwrap_or(1) as u32
    }

    pub fn pattern(&self) -> Pattern {
        Pattern::from_name(self.configuration.text("workload.pattern"))
    }

    pub fn read_percent(&self) -> u8 {
        self.pattern().read_percent(self.number("workload.reads").unwrap_or(0.7))
    }

    pub fn role(&self) -> Role {
        Role::from_name(self.configuration.text("workload.on"))
    }

    /// The one file of its role that it works on, from 0; `None`: all of them.
    pub fn file(&self) -> Option<usize> {
        Some(self.count("workload.file")? as usize - 1)
    }

    /// Its share of common threads; `None`: it has threads of its own. Only a stream itself can say so.
    pub fn share(&self) -> Option<u32> {
        self.own
            .iter()
            .any(|own| own == "share")
            .then(|| self.count("workload.share"))?
            .map(|share| share as u32)
    }

    pub fn direct(&self) -> bool {
        self.configuration.flag("workload.direct")
    }

    pub fn working_set(&self) -> Option<u64> {
        self.count("workload.working_set")
    }

    pub fn align(&self) -> Option<u64> {
        self.count("workload.align")
    }

    pub fn bytes(&self) -> Option<u64> {
        self.count("workload.bytes")
    }

    pub fn block(&self) -> BlockSize {
        let min = self.count("workload.block_size").unwrap_or(8192) as u32;
        let max = self.count("workload.block_size_max").map_or(min, |max| max as u32);
        BlockSize { min, max }
    }

    pub fn durability(&self) -> Durability {
        let every = self.count("workload.sync_every").unwrap_or(1) as u32;
        match self.configuration.text("workload.sync") {
            "dsync" => Durability::EachWrite,
            "fsync" => Durability::Sync { every, data_only: false },
            "fdatasync" => Durability::Sync { every, data_only: true },
            _ => Durability::Never,
        }
    }

    pub fn arrivals(&self) -> Arrivals {
        let every = Duration::from_secs_f64(self.number("workload.burst_every").unwrap_or(1.0));
        match (self.count("workload.burst"), self.number("workload.rate")) {
            (Some(count), _) => Arrivals::Burst { count, every },
            (None, Some(rate)) => Arrivals::Rate(rate),
            (None, None) => Arrivals::Closed,
        }
    }

    /// What contradicts itself.
    pub fn objection(&self) -> Option<Invalid> {
        let BlockSize { min, max } = self.block();
        let object = |key: &str, message: String| {
            Some(Invalid::new(format!("workload.{key}"), format!("stream {}: {message}", self.name)))
        };
        if max < min {
            return object("block_size_max", "smaller than the block size".into());
        }
        if self.direct() && min % 512 != 0 {
            let message =
                format!("{min} bytes is not a multiple of 512, the smallest sector, which direct I/O needs");
            return object("block_size", message);
        }
        if self.batch() > self.queue_depth() {
            return object(
                "batch",
                format!("more than the {} I/Os that a thread keeps under way", self.queue_depth()),
            );
        }
        if self.batch() > 1 && self.arrivals() != Arrivals::Closed {
            return object(
                "batch",
                "I/Os that begin by the clock, with rate or burst, are not gathered".into(),
            );
        }
        if self.configuration.value("workload.burst").is_some()
            && self.configuration.value("workload.rate").is_some()
        {
            return object("burst", "workload.rate is given too; give one of them".into());
        }
        None
    }
}
