//! Prerequisites of trials on a server by URL.

use crate::engine::SqlServer;
use crate::not_built::NOT_BUILT;
#[cfg(not(feature = "driver"))]
use crate::not_built::trials::preflight;
use crate::settings::URL;
#[cfg(feature = "driver")]
use crate::target::preflight;
use engine::{
    EngineError, Folders, Need, NoPlan, PlanRequest, Planned, Preflight, Prerequisites, Result,
};
use experiment::Configuration;
use work::Stop;

/// The variable of `sqlcmd` that names a server.
const SERVER_VARIABLE: &str = "SQLCMDSERVER";

impl Prerequisites for SqlServer {
    fn missing(&self, configuration: &Configuration) -> Option<String> {
        if cfg!(not(feature = "driver")) {
            return Some(NOT_BUILT.into());
        }
        let is_named =
            configuration.get(URL).is_some() || std::env::var_os(SERVER_VARIABLE).is_some();
        let path = URL.path();
        (!is_named).then(|| {
            format!("no SQL Server given; set {path} or the environment variable {SERVER_VARIABLE}")
        })
    }

    fn preflight(&self, needs: &[Need<'_>], _: &Folders, stop: &Stop) -> Preflight {
        preflight(needs, stop)
    }

    fn plan_by_url(
        &self,
        _: &Configuration,
        _: &[PlanRequest],
        _: &Stop,
    ) -> Option<Result<Vec<Result<Planned, NoPlan>>>> {
        // Trials work in a database that the run creates.
        let what = "statements of a database that does not exist yet";
        Some(Err(EngineError::Unsupported { engine: "SQL Server", what }))
    }
}
