//! A profile as a tree: whose children are what it called.

use observations::{Frame, Profile};
use serde::Serialize;

/// A function in the place where it was called, with everything below it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlameNode {
    /// Name of the function; of the root `all`.
    pub function: String,
    /// Its module; empty of the root.
    pub module: String,
    /// Whether it runs in the kernel.
    pub kernel: bool,
    /// Samples here or below.
    pub samples: u64,
    /// Samples here.
    pub own: u64,
    /// What it called, by name: the order says nothing about time.
    pub children: Vec<FlameNode>,
}

impl FlameNode {
    /// Levels from here to the deepest one, this one included.
    pub fn depth(&self) -> usize {
        1 + self.children.iter().map(Self::depth).max().unwrap_or(0)
    }

    fn root() -> Self {
        let (function, module) = ("all".to_owned(), String::new());
        Self { function, module, kernel: false, samples: 0, own: 0, children: Vec::new() }
    }

    fn child(&mut self, frame: &Frame, module: &str) -> &mut Self {
        let same = |child: &Self| {
            child.function == frame.function && child.module == module && child.kernel == frame.kernel
        };
        let at = self.children.iter().position(same).unwrap_or_else(|| {
            let (function, module) = (frame.function.clone(), module.to_owned());
            let (samples, own, children) = (0, 0, Vec::new());
            self.children.push(Self { function, module, kernel: frame.kernel, samples, own, children });
            self.children.len() - 1
        });
        &mut self.children[at]
    }

    fn sort(&mut self) {
        self.children.sort_by(|a, b| (&a.function, &a.module).cmp(&(&b.function, &b.module)));
        self.children.iter_mut().for_each(Self::sort);
    }
}

/// The tree of all stacks.
pub fn flame(profile: &Profile) -> FlameNode {
    let mut root = FlameNode::root();
    for stack in &profile.stacks {
        root.samples += stack.samples;
        let mut node = &mut root;
        for frame in profile.frames_of(stack) {
            node = node.child(frame, profile.module_of(frame));
            node.samples += stack.samples;
        }
        node.own += stack.samples;
    }
    root.sort();
    root
}
