//! Recognizes files that Steelbench wrote by their content: only these are overwritten.

use std::io::{Read, Result, Seek};

/// In the head of every page:
/// <https://html.spec.whatwg.org/multipage/semantics.html#meta-generator>.
pub(crate) const GENERATOR: &str = "<meta name=\"generator\" content=\"Steelbench\">";
/// In the first element of every flame graph.
pub const SVG_GENERATOR: &str = "data-generator=\"Steelbench\"";
/// The bytes of a page that its head reaches at least.
const HEAD_BYTES: usize = 1024;
/// The author of every workbook.
pub(crate) const AUTHOR: &str = "Steelbench";

/// Returns whether Steelbench wrote the file: a page or flame graph that names it as generator, a
/// workbook with it as author, or a JSON object with one of its schemas. An empty file holds
/// nothing to lose and counts as ours.
///
/// # Errors
/// When the file cannot be read.
pub fn is_ours(mut file: impl Read + Seek) -> Result<bool> {
    let mut start = Vec::new();
    file.by_ref().take(HEAD_BYTES as u64).read_to_end(&mut start)?;
    match start.first() {
        None => Ok(true),
        Some(b'<') => Ok(contains(&start, GENERATOR) || contains(&start, SVG_GENERATOR)),
        Some(b'{') => {
            file.read_to_end(&mut start)?;
            Ok(contains(&start, "\"schema\":\"steelbench/"))
        }
        Some(b'P') => {
            Ok(author(file).is_some_and(|text| text.contains(&format!(">{AUTHOR}</dc:creator>"))))
        }
        Some(_) => Ok(false),
    }
}

fn contains(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

/// The part of a workbook that names its author; `None` when it is not a workbook.
fn author(file: impl Read + Seek) -> Option<String> {
    let mut archive = zip::ZipArchive::new(file).ok()?;
    let mut text = String::new();
    archive.by_name("docProps/core.xml").ok()?.take(64 << 10).read_to_string(&mut text).ok()?;
    Some(text)
}
