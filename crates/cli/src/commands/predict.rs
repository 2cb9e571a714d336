//! `steelbench predict`

use crate::args::Predict;
use crate::exit_code::{ExitCode, Failure};
use crate::{output, results};

/// Says what a model of a recorded run predicts for other numbers of connections and other
/// resources.
pub fn predict(arguments: &Predict) -> Result<ExitCode, Failure> {
    let (path, recording) = results::read(&arguments.recorded)?;
    let summary = results::summary(&recording, &path);
    let predicted = summary.what_if(&arguments.set).map_err(Failure::usage)?;
    output::show(
        arguments.form,
        || report::json::prediction(&predicted),
        || report::prediction(&recording.run.name, &predicted),
    )
}
