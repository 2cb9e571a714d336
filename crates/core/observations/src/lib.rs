//! The nouns that cross rooms: what a trial saw, what a run recorded, what a run announces.
//!
//! Plain data with serde and no I/O, and arithmetic that several rooms need on it. Data flows one
//! way through them: a probe fills [`Observations`], the store keeps them in a [`TrialRecord`],
//! analysis reads a whole [`Recording`] back. [`Event`] is what a run announces while it works.

mod device_use;
mod digest;
mod event;
mod fact;
mod figures;
mod folded;
mod health;
mod histogram;
mod interval;
mod named;
pub mod number;
pub mod order;
mod percentile;
mod profile;
mod query_record;
pub mod range;
mod record;
mod redact;
mod role;
mod secret;
mod series;
mod server_activity;
mod survey;
mod trial;
mod value;
mod volume;
mod volume_facts;
mod wait;
pub mod wait_type;

pub use device_use::{DeviceUse, bytes_agree, device_bytes, write_copies};
pub use digest::{fnv1a, fnv1a_64, hexadecimal, sha256};
pub use event::{Event, RunEnd, Tally, TrialRef};
pub use fact::{
    FactFamily, FactName, INITIAL_CONNECTION_TIME, SCRIPT_CHECKS, SCRIPT_COUNTS, SCRIPT_SHARES,
};
pub use health::{LoadHealth, MachineLoad, Warning, WarningKind};
pub use histogram::{HIGHEST_NS, Histogram, HistogramError, SLOTS, slot};
pub use interval::Interval;
pub use percentile::{BEYOND_MIN, Percentile};
pub use profile::{Frame, Profile, Stack, UNKNOWN};
pub use query_record::{CountedStatement, QueryInterval};
pub use record::{
    AdaptiveRepeats, ConfigurationRecord, EngineVersion, Environment, FactorRecord, FailureKind,
    FileRecord, GitState, HookOutput, LevelRecord, RATE_AT_MOST, Recording, RunRecord, TrialRecord,
    TrialStatus, UnmeasuredTable, VolumeEnvironment,
};
pub use redact::{holds_secret, names_secret, redact_json, redacted, redacted_message, secrets_in};
pub use role::{Role, Roles};
pub use secret::Secret;
pub use series::{Amounts, Series, add_by_interval};
pub use server_activity::{
    ActivityCell, ActivityPart, ActivityRecord, BlockedTime, CounterColumn, CounterReadings,
    CounterRow, CounterTable, CounterUnit, ProcessUse, Sampling, ServerActivity, TaskSession,
    WaitingTask,
};
pub use survey::{
    Advice, Cache, Database, Extension, Limits, Memory, Mitigation, NumaNode, Processors,
    ServerSetting, Survey, SurveyedMachine, SurveyedServer, SystemSetting, Unread, Weight,
};
pub use trial::{
    Direction, Fact, Latency, Observations, QueryPlan, Response, ScriptStatement, TimeUse, Work,
};
pub use value::{FromValue, Value};
pub use volume::{Throttle, UnknownLimit, VolumeNames};
pub use volume_facts::{
    ArrayFacts, DeviceFacts, LoopFacts, MappedFacts, MountFacts, PartitionFacts, VolumeFacts,
};
pub use wait::{Operation, Wait, WaitClass, WaitSource, WaitedResource, shown};
