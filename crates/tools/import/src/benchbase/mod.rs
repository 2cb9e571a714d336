//! Configurations of BenchBase as experiment files. User names become part of a URL; passwords and
//! the values of elements without a counterpart are not even read.

mod element;
mod target;
mod workload;

use element::{BenchBaseError, others};
use inspection::xml::{self, XmlError};
use std::fmt::Write as _;
use target::Target;
use workload::Workload;

/// An experiment file that has been made of a configuration.
pub struct Conversion {
    /// Name of the ready experiment whose scripts it uses.
    pub scripts: Option<&'static str>,
    /// Name of the experiment.
    pub name: String,
    /// Text of the file.
    pub text: String,
    /// Parts of the configuration without a counterpart.
    pub lacking: Vec<String>,
}

/// Returns whether a text is such a configuration, or at least XML.
pub(crate) fn is_xml(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

/// Elements that decide something, or that need no counterpart: batches and threads of the loader
/// are ours, and connections that are lost end a trial.
const ELEMENTS: &[&str] = &[
    "type",
    "driver",
    "url",
    "username",
    "password",
    "isolation",
    "scalefactor",
    "terminals",
    "works",
    "transactiontypes",
    "retries",
    "randomSeed",
    "batchsize",
    "loaderThreads",
    "reconnectOnConnectionFailure",
];

/// Converts a configuration.
///
/// # Errors
/// When it is not one, or has no counterpart.
pub fn convert(text: &str) -> Result<Conversion, BenchBaseError> {
    let document =
        xml::parse(text.trim_start_matches('\u{feff}')).map_err(|error| match error {
            XmlError::Damaged(error) => {
                let place = error.pos();
                BenchBaseError::Xml { line: place.row, column: place.col }
            }
            error @ XmlError::TooMany { .. } => BenchBaseError::Large(error),
        })?;
    let root = document.root_element();
    if !root.has_tag_name("parameters") {
        return Err(BenchBaseError::OtherFile);
    }
    let mut lacking = Vec::new();
    lacking.extend(others(root, ELEMENTS).map(|name| format!("<{name}>")));
    let target = Target::read(root, &mut lacking)?;
    let workload = Workload::read(root, &mut lacking)?;
    let name = format!("benchbase-{}", workload.kind.theirs());
    let mut text = String::from("# Made of a configuration of BenchBase by `steelbench import`.\n");
    for part in &lacking {
        let _ = writeln!(text, "# Without a counterpart: {part}.");
    }
    let _ = write!(
        text,
        "\n[experiment]\nname = \"{name}\"\nquestion = \"How much work a second, and how long does \
         it take?\"\n\n{target}\n{workload}\n[repeats]\nblocks = 3\n"
    );
    Ok(Conversion { scripts: workload.kind.scripts(), name, text, lacking })
}
