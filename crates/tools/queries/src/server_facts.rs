//! A server's settings and waits beside its statements, for the workbook.

use engine::{LiveObserver, ServerError};
use inspection::QueryReader;
use inspection::survey::Capture;
use observations::{
    ServerActivity, Survey, SurveyedServer, Wait, WaitClass, WaitSource, number, order,
};

/// Facts of a server that no statement has.
pub(crate) struct ServerFacts {
    /// The settings.
    pub configuration: Result<SurveyedServer, Unknown>,
    /// The waits of its clients.
    pub waits: Result<ServerWaits, Unknown>,
}

/// Waits without those that are idle, and what is known of them.
pub(crate) struct ServerWaits {
    /// The time and the method of the recording.
    pub note: String,
    /// The waits, the longest first.
    pub waits: Vec<Wait>,
    /// True where the time in the run queue is known.
    pub has_signal: bool,
}

/// Why a fact is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// The engine does not record it.
    #[error("not recorded by {0}")]
    NotRecorded(String),
    /// The engine records none since its start, and no interval was observed.
    #[error("{engine} keeps no waits since its start; --seconds N observes those of an interval")]
    NotObserved {
        /// The name of the engine.
        engine: String,
    },
    /// It could not be read.
    #[error("not read: {0}")]
    Unread(String),
    /// It was not asked for, or the file does not have it.
    #[error("not in {0}")]
    NotThere(&'static str),
}

impl ServerFacts {
    /// Facts that are not known: the source has only statements, or the engine has no server.
    pub fn unknown(why: Unknown) -> Self {
        Self { configuration: Err(why.clone()), waits: Err(why) }
    }

    /// The facts in a capture.
    pub fn of_capture(capture: &Capture) -> Self {
        Self {
            configuration: surveyed(Ok(capture.survey.clone())),
            waits: Ok(ServerWaits::observed(&capture.observation.activity)),
        }
    }
}

/// The settings of the one server of a survey.
pub fn surveyed(survey: Result<Survey, ServerError>) -> Result<SurveyedServer, Unknown> {
    let survey = survey.map_err(|error| Unknown::Unread(error.to_string()))?;
    survey.servers.into_iter().next().ok_or(Unknown::NotThere("the survey"))
}

impl ServerWaits {
    /// The waits of an observed interval.
    pub fn observed(activity: &ServerActivity) -> Self {
        let how = activity.counted_in.as_ref().map_or_else(
            || "sampled sessions of clients, idle time left out".to_owned(),
            |view| format!("counted in {view}"),
        );
        let lost = activity.lost.iter().chain(&activity.hidden).map(|why| format!(" {why}"));
        Self::new(
            format!(
                "{} observed; {how}.{}",
                number::seconds(activity.elapsed_s),
                lost.collect::<String>()
            ),
            activity.waits.clone(),
            activity.time_is_exact || activity.counted_in.is_some(),
        )
    }

    /// The waits that a server counts since its start.
    ///
    /// # Errors
    /// When it counts none, or refuses.
    pub fn since_start(reader: &mut dyn QueryReader, engine: &str) -> Result<Self, Unknown> {
        let counted = reader.waits().map_err(|error| Unknown::Unread(error.to_string()))?;
        let waits = counted.ok_or_else(|| Unknown::NotObserved { engine: engine.to_owned() })?;
        // A server that counts its waits exactly tells both parts of each.
        let has_signal = waits.iter().any(|wait| wait.source == WaitSource::Counted);
        Ok(Self::new("Since the server began to count them.".to_owned(), waits, has_signal))
    }

    /// The waits of an interval that ends now.
    ///
    /// # Errors
    /// When the server cannot be observed, or is lost.
    pub fn until_now(
        observer: Result<Box<dyn LiveObserver>, ServerError>,
    ) -> Result<Self, Unknown> {
        let activity = observer.and_then(|mut observer| observer.window());
        Ok(Self::observed(&activity.map_err(|error| Unknown::Unread(error.to_string()))?))
    }

    fn new(note: String, waits: Vec<Wait>, has_signal: bool) -> Self {
        let mut waits: Vec<Wait> =
            waits.into_iter().filter(|wait| wait.class != WaitClass::Idle).collect();
        order::sort(&mut waits, &|a, b| a.wait_type.cmp(&b.wait_type));
        order::largest_first(&mut waits, &|wait| wait.resource_s + wait.signal_s);
        Self { note, waits, has_signal }
    }
}
