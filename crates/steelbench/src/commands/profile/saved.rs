//! Profiles in files.

use crate::exit_code::Failure;
use crate::output;
use observations::Profile;
use std::io::Write;
use std::path::Path;

/// Writes a profile in the format that the name ends in.
pub fn write(profile: &Profile, path: &Path) -> Result<(), Failure> {
    let text = match path.extension().and_then(|ending| ending.to_str()) {
        Some("folded") => report::folded(profile),
        Some("svg") => report::flame::svg(&analysis::flame(profile)),
        _ => format!("{}\n", report::json::samples(profile).map_err(Failure::failed)?),
    };
    output::replace_file(path, |writer| writer.write_all(text.as_bytes()))
}

/// Reads what `profile --output` wrote as JSON.
pub fn read(path: &Path) -> Result<Profile, Failure> {
    let text = std::fs::read(path).map_err(|error| Failure::usage(format!("{}: {error}", path.display())))?;
    let foreign = |what: &str| {
        let how = "`steelbench profile --output FILE.json` writes one";
        Failure::usage(format!("{}: not a profile: {what}; {how}", path.display()))
    };
    let value: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| foreign(&error.to_string()))?;
    if value["kind"] != report::json::SAMPLES {
        return Err(foreign("its kind is another one"));
    }
    let profile: Profile = serde_json::from_value(value).map_err(|error| foreign(&error.to_string()))?;
    if profile.is_consistent() { Ok(profile) } else { Err(foreign("its stacks point to no function")) }
}
