//! Configurations of BenchBase as experiment files. User names become part of a URL; passwords and
//! the values of elements without a counterpart are not even read.

mod target;
mod workload;

use roxmltree::{Document, Node};
use std::fmt::Write as _;
use target::Target;
use workload::Workload;

/// An experiment file that has been made of a configuration.
pub struct Converted {
    /// Name of the ready experiment whose scripts it uses.
    pub scripts: Option<&'static str>,
    /// Name of the experiment.
    pub name: String,
    /// Text of the file.
    pub text: String,
    /// Parts of the configuration without a counterpart.
    pub lacking: Vec<String>,
}

/// Why a configuration cannot be converted. The text of the file is not repeated.
#[derive(Debug, thiserror::Error)]
pub enum BenchBaseError {
    /// Not XML.
    #[error("line {line}, column {column}: not valid XML")]
    Xml {
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
    },
    /// Another kind of file.
    #[error("no configuration of BenchBase: the outermost element is not <parameters>")]
    OtherFile,
    /// The transactions of no known workload.
    #[error(
        "<transactiontypes> are those of no workload with a counterpart: tpcc, tpch, ycsb, \
         smallbank, tatp"
    )]
    OtherWorkload,
    /// A database without an engine.
    #[error("<type> is not one with an engine: POSTGRES, MYSQL, MARIADB, SQLSERVER, SQLITE")]
    OtherDatabase,
    /// An element that is missing, or has a value that it cannot have.
    #[error("<{element}>: {message}")]
    Element {
        /// Its name.
        element: &'static str,
        /// The cause.
        message: &'static str,
    },
}

/// Returns whether a text is such a configuration, or at least XML.
pub fn is_xml(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

/// Elements that decide something, or that need no counterpart: batches and threads of the loader
/// are ours, and connections that are lost end a trial.
const KNOWN: &[&str] = &[
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
pub fn convert(text: &str) -> Result<Converted, BenchBaseError> {
    let document = Document::parse(text.trim_start_matches('\u{feff}')).map_err(|error| {
        let place = error.pos();
        BenchBaseError::Xml { line: place.row, column: place.col }
    })?;
    let root = document.root_element();
    if !root.has_tag_name("parameters") {
        return Err(BenchBaseError::OtherFile);
    }
    let mut lacking = Vec::new();
    let others = root.children().filter(|own| own.is_element() && !KNOWN.contains(&name_of(own)));
    lacking.extend(others.map(|own| format!("<{}>", name_of(&own))));
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
    Ok(Converted { scripts: workload.kind.scripts(), name, text, lacking })
}

fn name_of<'a>(node: &Node<'a, '_>) -> &'a str {
    node.tag_name().name()
}

/// The trimmed text of the first child with this name that is not of another workload.
fn text_of<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let child = node.children().find(|own| own.has_tag_name(name))?;
    child.text().map(str::trim).filter(|text| !text.is_empty())
}
