//! Elements of a configuration, and why it cannot be converted.

use inspection::xml::XmlError;
use roxmltree::Node;

/// Why a configuration cannot be converted. The text of the file is not repeated.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BenchBaseError {
    /// Not XML.
    #[error("line {line}, column {column}: not valid XML")]
    Xml {
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
    },
    /// Larger than any configuration.
    #[error(transparent)]
    Large(XmlError),
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
        /// The name.
        element: &'static str,
        /// The cause.
        message: &'static str,
    },
}

/// The trimmed text of the first child with this name that is not of another workload.
pub fn text_of<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let child = node.children().find(|child| child.has_tag_name(name))?;
    child.text().map(str::trim).filter(|text| !text.is_empty())
}

/// Names of the elements in a node, without the known ones.
pub fn others<'a>(node: Node<'a, '_>, known: &[&str]) -> impl Iterator<Item = &'a str> {
    let names = node.children().filter(Node::is_element).map(|child| child.tag_name().name());
    names.filter(|name| !known.contains(name))
}
