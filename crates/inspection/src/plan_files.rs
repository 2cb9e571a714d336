//! Execution plans in files, of any engine.

use crate::Inspection;
use crate::plans::{PlanError, Statement};
use thiserror::Error;

/// An error of reading a file as plans.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanFileError {
    /// No engine recognises it.
    #[error("not a known plan format; expected one of {formats}")]
    Unknown {
        /// The formats of all engines.
        formats: String,
    },
    /// It is encoded in another way.
    #[error("the text is neither UTF-8 nor UTF-16")]
    Encoding,
    /// An engine recognises it and cannot read it.
    #[error(transparent)]
    Plan(PlanError),
}

/// The statements of a file with their plans, in its order, read by the inspection that recognises
/// its contents.
///
/// # Errors
/// When none does, or the plans are damaged.
pub fn read<'a>(
    inspections: impl Iterator<Item = (&'a str, &'a Inspection)>,
    bytes: &[u8],
) -> Result<Vec<Statement>, PlanFileError> {
    let text = decoded(bytes)?;
    // The indent of the first line tells where the plan begins.
    let text = text.trim_end();
    let formats: Vec<_> = inspections
        .filter_map(|(engine, inspection)| Some((engine, inspection.plans.as_ref()?)))
        .collect();
    let known = formats.iter().find(|(_, formats)| (formats.recognise)(text));
    match known.map(|(engine, formats)| (engine, (formats.read)(text))) {
        Some((engine, Ok(mut statements))) => {
            for statement in &mut statements {
                (*engine).clone_into(&mut statement.engine);
            }
            Ok(statements)
        }
        Some((_, Err(error))) if error != PlanError::Unknown => Err(PlanFileError::Plan(error)),
        _ => {
            let names: Vec<&str> = formats.iter().map(|(_, formats)| formats.names).collect();
            Err(PlanFileError::Unknown { formats: names.join("; ") })
        }
    }
}

/// Decodes by the byte order mark, or by where the zeros of ASCII characters are. An XML
/// declaration often names a false encoding: a tool has converted the text since.
fn decoded(bytes: &[u8]) -> Result<String, PlanFileError> {
    let utf16 = |unit: fn([u8; 2]) -> u16, bytes: &[u8]| {
        let units: Vec<u16> = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
        String::from_utf16(&units).map_err(|_| PlanFileError::Encoding)
    };
    match bytes {
        [0xFF, 0xFE, rest @ ..] => utf16(u16::from_le_bytes, rest),
        [0xFE, 0xFF, rest @ ..] => utf16(u16::from_be_bytes, rest),
        [0xEF, 0xBB, 0xBF, rest @ ..] => utf8(rest),
        [first, 0, ..] if first.is_ascii() => utf16(u16::from_le_bytes, bytes),
        [0, first, ..] if first.is_ascii() => utf16(u16::from_be_bytes, bytes),
        _ => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> Result<String, PlanFileError> {
    String::from_utf8(bytes.to_vec()).map_err(|_| PlanFileError::Encoding)
}

#[cfg(test)]
mod tests {
    use super::{PlanFileError, decoded};

    #[test]
    fn the_bytes_tell_the_encoding() {
        let text = "<?xml version=\"1.0\" encoding=\"utf-16\"?><a>é</a>";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for bytes in [
            text.as_bytes().to_vec(),
            [b"\xEF\xBB\xBF".as_slice(), text.as_bytes()].concat(),
            [b"\xFF\xFE".as_slice(), &little].concat(),
            [b"\xFE\xFF".as_slice(), &big].concat(),
            little,
            big,
        ] {
            assert_eq!(decoded(&bytes).as_deref(), Ok(text));
        }
        assert_eq!(decoded(b"caf\xE9 <"), Err(PlanFileError::Encoding));
    }
}
