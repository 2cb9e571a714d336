//! A flame graph: its tree, and that as SVG which needs no script, the root on top, what it called
//! below.

use observations::{Frame, Profile, order};
use report::web::text;
use report::{SVG_GENERATOR, number};
use std::fmt::Write;

/// A function in the place where it was called, with everything below it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FlameNode {
    /// Name of the function; of the root `all`.
    pub function: String,
    /// The module; empty of the root.
    pub module: String,
    /// True if it runs in the kernel.
    pub kernel: bool,
    /// Samples here or below.
    pub samples: u64,
    /// Samples here.
    pub hits: u64,
    /// The callees, by name; the order has no meaning in time.
    pub children: Vec<FlameNode>,
}

/// The tree of all stacks.
pub fn flame(profile: &Profile) -> FlameNode {
    let mut root = node("all", "", false);
    for stack in &profile.stacks {
        root.samples = root.samples.saturating_add(stack.samples);
        let mut node = &mut root;
        for frame in profile.frames_of(stack) {
            node = child(node, frame, profile.module_of(frame));
            node.samples = node.samples.saturating_add(stack.samples);
        }
        node.hits = node.hits.saturating_add(stack.samples);
    }
    sort(&mut root);
    root
}

fn node(function: &str, module: &str, kernel: bool) -> FlameNode {
    let (function, module) = (function.to_owned(), module.to_owned());
    FlameNode { function, module, kernel, ..FlameNode::default() }
}

fn child<'n>(parent: &'n mut FlameNode, frame: &Frame, module: &str) -> &'n mut FlameNode {
    let children = &mut parent.children;
    let known = children.iter().position(|child| {
        (&child.function, child.module.as_str(), child.kernel)
            == (&frame.function, module, frame.kernel)
    });
    let at = known.unwrap_or_else(|| {
        children.push(node(&frame.function, module, frame.kernel));
        children.len() - 1
    });
    &mut children[at]
}

fn sort(node: &mut FlameNode) {
    order::sort(&mut node.children, &|a, b| {
        (&a.function, &a.module).cmp(&(&b.function, &b.module))
    });
    node.children.iter_mut().for_each(sort);
}

/// Units of the picture, which is scaled to the page.
const WIDTH: f64 = 1200.0;
const ROW: f64 = 18.0;
/// About the width of a letter.
const LETTER: f64 = 6.6;
/// Anything narrower is not drawn: 0.1 % of all.
const NARROWEST: f64 = WIDTH / 1000.0;

/// The picture alone, also as a file of its own.
pub fn svg(root: &FlameNode) -> String {
    let mut boxes = String::new();
    let levels = draw(&mut boxes, root, root.samples.max(1), 0.0, 0);
    let height = ROW * levels as f64;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" {SVG_GENERATOR} \
         viewBox=\"0 0 {WIDTH} {height}\" width=\"100%\" role=\"img\" \
         aria-label=\"Flame graph of {} samples\" \
         font-family=\"ui-monospace, Menlo, Consolas, monospace\" \
         font-size=\"11\">\n{boxes}</svg>\n",
        root.samples
    )
}

/// Draws a node and what is below it; returns the levels that this takes. Writing to a string
/// cannot fail.
fn draw(out: &mut String, node: &FlameNode, all: u64, left: f64, level: usize) -> usize {
    let width = WIDTH * node.samples as f64 / all as f64;
    let (y, share) = (ROW * level as f64, number::percent(node.samples as f64 / all as f64, 1));
    let module = if node.module.is_empty() { String::new() } else { format!(" ({})", node.module) };
    let says = format!(
        "{}{module}: {share}, {}, {} in itself",
        node.function,
        number::plural(node.samples as usize, "sample"),
        number::count(node.hits)
    );
    let fill = if node.kernel { "var(--c5, #56b4e9)" } else { "var(--c4, #e69f00)" };
    let _ = write!(
        out,
        "<g><title>{}</title><rect x=\"{left:.2}\" y=\"{y}\" width=\"{width:.2}\" \
         height=\"{ROW}\" fill=\"{fill}\" fill-opacity=\".75\" stroke=\"var(--page, #fff)\" \
         stroke-width=\".7\"/>",
        text(&says)
    );
    let fits = (width / LETTER) as usize;
    if fits > 2 {
        let shown: String = if node.function.chars().count() < fits {
            node.function.clone()
        } else {
            node.function.chars().take(fits - 2).chain(['…']).collect()
        };
        let (x, y) = (left + 3.0, y + ROW - 5.5);
        let _ = write!(
            out,
            "<text x=\"{x:.2}\" y=\"{y}\" fill=\"var(--ink, #1b1f24)\">{}</text>",
            text(&shown)
        );
    }
    out.push_str("</g>\n");
    let mut levels = level + 1;
    let mut at = left;
    for child in &node.children {
        let width = WIDTH * child.samples as f64 / all as f64;
        if width >= NARROWEST {
            levels = levels.max(draw(out, child, all, at, level + 1));
        }
        at += width;
    }
    levels
}
