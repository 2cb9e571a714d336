//! XML from outside, read in linear time. The parser compares each attribute of an element with all
//! before it, and copies the namespaces of an element into each one in it that declares another.

use roxmltree::Document;
use thiserror::Error;

/// Attributes of an element; ShowPlan has up to 40.
const ATTRIBUTES_MAX: usize = 1_000;
/// Declarations of namespaces; a document has one or two.
const NAMESPACES_MAX: usize = 1_000;
/// Elements, comments and ends of elements: 100 bytes of memory each.
const TAGS_MAX: usize = 4_000_000;

/// An error of reading XML.
#[derive(Debug, Error)]
pub enum XmlError {
    /// It has more parts of a kind than are read.
    #[error("line {line}: more than {most} {name}; only smaller XML documents are read")]
    TooMany {
        /// Line, from 1.
        line: usize,
        /// The kind.
        name: &'static str,
        /// The limit.
        most: usize,
    },
    /// Not XML.
    #[error(transparent)]
    Damaged(#[from] roxmltree::Error),
}

/// Parses a document.
///
/// # Errors
/// When it is not XML, or too large.
pub fn parse(text: &str) -> Result<Document<'_>, XmlError> {
    let (mut line, mut namespaces) = (1, 0);
    for (tags, tag) in text.split('<').enumerate() {
        let attributes = attributes(tag);
        namespaces += tag.matches("xmlns").count();
        let counts = [
            (attributes, "attributes in an element", ATTRIBUTES_MAX),
            (namespaces, "namespaces", NAMESPACES_MAX),
            (tags, "elements", TAGS_MAX),
        ];
        if let Some((_, name, most)) = counts.into_iter().find(|(count, _, most)| count > most) {
            return Err(XmlError::TooMany { line, name, most });
        }
        line += tag.matches('\n').count();
    }
    Ok(Document::parse(text)?)
}

/// The number of attributes in a tag, of which the text begins behind its `<`.
fn attributes(tag: &str) -> usize {
    let (mut quote, mut count) = (None, 0);
    for byte in tag.bytes() {
        match (quote, byte) {
            (None, b'>') => break,
            (None, b'=') => count += 1,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if open == byte => quote = None,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::{XmlError, parse};

    #[test]
    fn attributes_and_namespaces_have_a_limit() {
        let attributes = |count: usize| {
            let all: Vec<String> = (0..count).map(|at| format!(" a{at}='='")).collect();
            all.concat()
        };
        let element = |attributes: String| format!("<a>\n<b{attributes}>c = d</b></a>");
        assert!(parse(&element(attributes(1_000))).is_ok());
        let namespaces: Vec<String> =
            (0..2_000).map(|at| format!("<a xmlns:n{at}='n{at}'>")).collect();
        for (text, says) in [
            (element(attributes(200_000)), "line 2: more than 1000 attributes in an element"),
            (namespaces.concat(), "line 1: more than 1000 namespaces"),
            ("<a/>".repeat(4_000_001), "line 1: more than 4000000 elements"),
        ] {
            let error = parse(&text).unwrap_err();
            assert!(error.to_string().contains(says), "{error}");
        }
        // Quotes and signs in texts and values are not attributes.
        let statement = format!("<a b='{}'>{}</a>", "\"= ".repeat(2_000), "= '".repeat(2_000));
        assert!(parse(&statement).is_ok());
        assert!(matches!(parse("<a"), Err(XmlError::Damaged(_))));
    }
}
