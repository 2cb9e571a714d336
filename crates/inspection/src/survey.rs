//! Surveys of servers: what they are and how they are set, advice on them, and files of both.

mod file;

pub use file::{Capture, SurveyFileError, capture_json, parse_survey, read_capture, survey_json};

use command_line::Context;
use engine::{Server, ServerError};
use observations::{Advice, Survey, SurveyedServer, Unread};
use work::Stop;

/// A surveyed server, and which of its items could not be read.
pub type Surveyed = (SurveyedServer, Vec<Unread>);

/// The survey of an engine's servers.
#[derive(Debug, Clone, Copy)]
pub struct ServerSurvey {
    /// Reads what a server is and how it is set, and which items could not be read. Changes nothing
    /// and reads no table.
    pub read: fn(&dyn Server, &Stop) -> Result<Surveyed, ServerError>,
    /// Advice on a server, and on the machine that it runs on.
    pub advice: fn(&SurveyedServer, &Survey) -> Vec<Advice>,
}

/// Reads what a server is and how it is set, and which items could not be read.
///
/// # Errors
/// When the server cannot be reached, refuses, or does not answer in time or before the user asks
/// to stop; when servers of its engine are not surveyed.
pub fn of_server(
    context: &Context,
    server: &dyn Server,
    stop: &Stop,
) -> Result<Surveyed, ServerError> {
    let engine = server.engine();
    let survey = context.registry.adapter::<ServerSurvey>(engine);
    let unknown = || ServerError::new(format!("servers of {engine} are not surveyed"));
    (survey.ok_or_else(unknown)?.read)(server, stop)
}

/// The advice on the servers of a survey.
pub fn advice(context: &Context, survey: &Survey) -> Vec<Advice> {
    let servers = survey.servers.iter().filter_map(|server| {
        let adapter = context.registry.adapter::<ServerSurvey>(&server.engine)?;
        Some((adapter.advice)(server, survey))
    });
    servers.flatten().collect()
}
