//! Profiles made by hand.

use observations::{Frame, Profile, Stack};

/// Functions of the profiles: name, module, and whether they run in the kernel.
const FUNCTIONS: [(&str, usize, bool); 4] =
    [("main", 0, false), ("parse", 0, false), ("memcpy", 1, false), ("vfs_read", 2, true)];

/// A profile of [`FUNCTIONS`], with stacks of their positions and the samples of each.
pub fn with_stacks(stacks: &[(&[usize], u64)]) -> Profile {
    let frames = FUNCTIONS.iter().map(|&(function, module, kernel)| Frame {
        function: function.into(),
        module,
        kernel,
    });
    let stacks = stacks.iter().map(|&(frames, samples)| Stack { frames: frames.to_vec(), samples });
    Profile {
        target: "test".into(),
        elapsed_s: 10.0,
        hz: 100.0,
        threads: 2,
        modules: vec!["/bin/db".into(), "/lib/libc.so".into(), "[kernel]".into()],
        frames: frames.collect(),
        stacks: stacks.collect(),
        ..Profile::default()
    }
}
