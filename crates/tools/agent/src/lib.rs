//! `steelbench agent`, and `run --agents`: load generators in other processes, over NATS.
//!
//! - `message`: what coordinator and agents say to each other, and how large it may be;
//!   `offenders`: peers that exceed it
//! - `nats`: the client protocol of the broker; `bus`: the connection to it
//! - `bundle`: the experiment, which the broker gets once and keeps for the agents (`JetStream`)
//! - `broker`: a private nats-server of one run; `launch`: local agents, and agents over ssh
//! - `clock`: offset between the clocks of coordinator and agent
//! - `agent`: the process that waits for work; `part`: its part of a trial's load; `block`: whole
//!   blocks of a plan
//! - `fleet`: the coordinator's view of all agents; `lead`: a trial's load on them; `machines`: the
//!   blocks of a plan on them
//! - `machine_effects`: how machines that share a plan differ; `machine_section`: its section
//! - `network`: traffic of the machine's interfaces
//! - `arguments`: options of `run`; `token`: the secret that admits to the broker

mod agent;
mod arguments;
mod block;
mod broker;
mod bundle;
mod bus;
mod clock;
mod error;
mod fleet;
mod launch;
mod lead;
pub mod machine_effects;
mod machine_section;
mod machines;
mod message;
mod nats;
mod network;
mod offenders;
mod part;
mod token;

pub use agent::Agent;
pub use arguments::RUN_OPTIONS;

report::sections! {
    /// The sections of runs whose plan several machines share.
    pub const SECTIONS = |summary| {
        Factors machines: machine_effects::machine_effects(summary.recording).as_ref()
            => machine_section::sections;
    }
}
