//! The experiment and the files that it names, which the broker's `JetStream` holds for the agents:
//! the coordinator sends them once, whatever the number of agents.
//!
//! Requests and answers: <https://docs.nats.io/reference/reference-protocols/nats_api_reference>.

use crate::bus::Sender;
use crate::error::AgentError;
use crate::message::BundleName;
use experiment::{Configuration, Experiment, FileErrors, NamedFile};
use observations::sha256;
use probe::Probe;
use runner::Registry;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::sync::Arc;

/// Bytes of a piece: brokers take messages of 1 MiB by default.
const PIECE_BYTES: usize = 512 << 10;
/// Most pieces of a bundle.
const PIECES_MAX: u32 = 128;
/// The broker drops a bundle after this time, should its run be killed: ten days.
const AGE_MAX_NS: u64 = 10 * 86_400 * 1_000_000_000;

/// An experiment with the files that its trials read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bundle {
    /// The experiment file.
    source: String,
    /// Contents of files by the path that names them.
    files: BTreeMap<String, String>,
}

impl Bundle {
    /// Collects an experiment and the files of its configurations.
    pub fn from_experiment(experiment: &Experiment) -> Self {
        let read = experiment.configurations.iter().flat_map(|configuration| &configuration.files);
        let files = read.filter(|file| !file.content.is_empty());
        let files = files.map(|file| (file.path.clone(), file.content.clone())).collect();
        Self { source: experiment.source.clone(), files }
    }

    /// Puts it into a stream of the broker that is this run's own.
    ///
    /// # Errors
    /// When the broker has no `JetStream`, or no room.
    pub fn send(&self, sender: &Sender, run: &str) -> Result<BundleName, AgentError> {
        let bytes = serde_json::to_vec(self)
            .map_err(|error| AgentError::Unreadable { cause: error.to_string() })?;
        let pieces = bytes.len().div_ceil(PIECE_BYTES) as u32;
        if pieces > PIECES_MAX {
            let bytes_max = PIECES_MAX as usize * PIECE_BYTES;
            return Err(AgentError::TooLarge { bytes: bytes.len(), bytes_max });
        }
        let name = BundleName {
            stream: stream(run),
            subject: format!("steelbench.bundle.{run}"),
            pieces,
            sha256: sha256([&bytes]),
        };
        let made = json!({
            "name": name.stream,
            "description": "made by steelbench; dropped at the end of its run",
            "subjects": [format!("{}.*", name.subject)],
            "storage": "file",
            "max_msgs_per_subject": 1,
            "max_bytes": 2 * PIECES_MAX as usize * PIECE_BYTES,
            "max_age": AGE_MAX_NS,
            "allow_direct": true,
        });
        let subject = format!("$JS.API.STREAM.CREATE.{}", name.stream);
        api(sender, "creating a stream", subject, &made)?;
        for (number, piece) in bytes.chunks(PIECE_BYTES).enumerate() {
            let subject = format!("{}.{number}", name.subject);
            let answer = sender.request("sending the experiment", subject, piece.to_vec())?;
            accepted(&answer.payload)?;
        }
        Ok(name)
    }

    /// Takes it from the broker.
    ///
    /// # Errors
    /// When it is not there, or not the one that was sent.
    pub fn fetch(sender: &Sender, name: &BundleName) -> Result<Self, AgentError> {
        let mut bytes = Vec::new();
        for number in 0..name.pieces.min(PIECES_MAX) {
            let subject = format!("$JS.API.DIRECT.GET.{}.{}.{number}", name.stream, name.subject);
            let answer = sender.request("fetching the experiment", subject, Vec::new())?;
            if answer.is_missing || answer.payload.len() > PIECE_BYTES {
                return Err(AgentError::DamagedBundle);
            }
            bytes.extend_from_slice(&answer.payload);
        }
        if sha256([&bytes]) != name.sha256 {
            return Err(AgentError::DamagedBundle);
        }
        serde_json::from_slice(&bytes)
            .map_err(|error| AgentError::Unreadable { cause: error.to_string() })
    }

    /// Writes the files into a folder, and reads the experiment there. It has to be permitted
    /// first: its engines load their libraries to validate it.
    ///
    /// # Errors
    /// When a file lies outside of the experiment's folder, this version of Steelbench does not
    /// accept the experiment, or it is not permitted.
    pub fn experiment(
        &self,
        registry: Registry,
        folder: &Path,
        permit: impl FnOnce(&Experiment) -> Result<(), AgentError>,
    ) -> Result<Experiment, AgentError> {
        for (path, content) in &self.files {
            let mut parts = Path::new(path).components();
            if !parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
                let message = "is not in the folder of the experiment: agents cannot get it";
                return Err(AgentError::Order(format!("{path} {message}")));
            }
            let place = folder.join(path);
            let at = |source| AgentError::File { path: place.clone(), source };
            std::fs::create_dir_all(place.parent().unwrap_or(folder)).map_err(at)?;
            std::fs::write(&place, content).map_err(at)?;
        }
        let parsed = experiment::parse(&self.source, &registry.catalog());
        let mut parsed = parsed.map_err(|errors| self.refused(&errors))?;
        parsed.folder = folder.to_path_buf();
        permit(&parsed)?;
        runner::load(registry, parsed).map_err(|errors| self.refused(&errors))
    }

    fn refused(&self, errors: &FileErrors) -> AgentError {
        let message = errors.render("the experiment", &self.source);
        AgentError::Order(format!("this agent does not accept the experiment: {message}"))
    }

    /// Returns the configurations of the experiment, validated as those of a file are, with the
    /// files that their probes read.
    ///
    /// # Errors
    /// When this version of Steelbench does not accept it.
    pub fn configurations(&self, registry: Registry) -> Result<Vec<Configuration>, AgentError> {
        let parsed = experiment::parse(&self.source, &registry.catalog());
        let parsed = parsed.map_err(|errors| self.refused(&errors))?;
        let mut configurations = parsed.configurations;
        for configuration in &mut configurations {
            let Some(probe) = probe(registry, configuration) else { continue };
            for (named_by, path) in probe.files(configuration) {
                let Some(content) = self.files.get(&path).cloned() else { continue };
                let mut file = NamedFile::default();
                (file.named_by, file.path, file.content) = (named_by.to_owned(), path, content);
                configuration.files.push(Arc::new(file));
            }
        }
        Ok(configurations)
    }
}

/// The probe of a configuration.
pub fn probe(registry: Registry, configuration: &Configuration) -> Option<&'static dyn Probe> {
    registry.probe(&configuration.get(experiment::common::PROBE))
}

/// The objection to an order for a configuration that this version does not find.
pub const NO_CONFIGURATION: &str = "its experiment has no such configuration";

/// Returns an error if the owner does not permit a probe.
pub fn permit(allowed: &[String], probe: &str) -> Result<(), AgentError> {
    let cause = || AgentError::Order(format!("its owner does not permit the probe {probe}"));
    if allowed.iter().any(|name| name == probe) { Ok(()) } else { Err(cause()) }
}

/// Returns the error for what an experiment reaches beyond its trials, if it does.
pub fn refuse(cause: Option<String>) -> Result<(), AgentError> {
    let refused = |cause| format!("{cause}, which its owner has to permit by --allow command");
    cause.map_or(Ok(()), |cause| Err(AgentError::Order(refused(cause))))
}

/// Drops the stream of a run.
pub(crate) fn drop_stream(sender: &Sender, run: &str) {
    let subject = format!("$JS.API.STREAM.DELETE.{}", stream(run));
    let _ = sender.request("dropping the stream", subject, Vec::new());
}

/// Returns the fingerprint of an experiment's configurations.
pub fn plan_of(experiment: &Experiment) -> String {
    sha256(experiment.configurations.iter().map(|configuration| configuration.key() + "\n"))
}

fn stream(run: &str) -> String {
    format!("STEELBENCH_{run}")
}

fn api(
    sender: &Sender,
    doing: &'static str,
    subject: String,
    body: &Value,
) -> Result<(), AgentError> {
    let answer = sender.request(doing, subject, body.to_string().into_bytes());
    let answer = answer.map_err(|error| AgentError::NoJetStream { cause: error.to_string() })?;
    accepted(&answer.payload)
}

/// An error if `JetStream` says one.
fn accepted(answer: &[u8]) -> Result<(), AgentError> {
    let no_jet_stream = |cause: String| AgentError::NoJetStream { cause };
    let answer: Value =
        serde_json::from_slice(answer).map_err(|error| no_jet_stream(error.to_string()))?;
    match answer.pointer("/error/description").and_then(Value::as_str) {
        Some(cause) => Err(no_jet_stream(cause.to_owned())),
        None => Ok(()),
    }
}
