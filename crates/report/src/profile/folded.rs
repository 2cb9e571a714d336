//! One line a stack, as flame graph tools read it.

use crate::Text;
use observations::Profile;
use std::fmt::Write;

/// Functions from the outermost caller to the one that ran, separated by semicolons, a blank, and the number of
/// samples; `_[k]` marks the kernel's. The format of `stackcollapse`, which flamegraph.pl, inferno and speedscope
/// read.
pub fn folded(profile: &Profile) -> String {
    let mut lines = String::new();
    for stack in &profile.stacks {
        let names = profile.frames_of(stack).map(|frame| {
            let name = Text::from(frame.function.as_str()).as_str().replace(';', ":");
            if frame.kernel { format!("{name}_[k]") } else { name }
        });
        let names: Vec<String> = names.collect();
        // Writing to a string cannot fail.
        let _ = writeln!(lines, "{} {}", names.join(";"), stack.samples);
    }
    lines
}
