//! Files that `capture` wrote.

use crate::Failure;
use report::json::Capture;
use serde::de::DeserializeOwned;
use std::path::Path;

/// No capture comes near to this size.
const FILE_BYTES_MAX: u64 = 256 << 20;

/// Reads a capture; `None` of a file that is not called like one.
pub fn read<Q: DeserializeOwned>(name: &str) -> Option<Result<Capture<Q>, Failure>> {
    let path = Path::new(name);
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    if !is_json {
        return None;
    }
    let text = experiment::read_text(path, FILE_BYTES_MAX)
        .map_err(|error| Failure::usage(format!("{name}: {error}")));
    Some(text.and_then(|text| {
        report::json::read_capture(&text)
            .map_err(|error| Failure::usage(format!("{name}: {error}")))
    }))
}
