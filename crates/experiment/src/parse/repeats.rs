//! How often each configuration is run.

use super::sections::Values;
use crate::document::{Content, Node};
use crate::error::Errors;
use crate::experiment::{Blocks, Repeats};
use crate::file::{BLOCKS, BLOCKS_MAX, BLOCKS_MIN, BLOCKS_UNTIL, RETRIES, SEED};
use std::ops::Range;

/// More trials than this are a mistake: at a second each they take eleven days.
const TRIALS_MAX: u64 = 1_000_000;

const PARTS: [&str; 3] = ["min", "max", "until"];

pub fn read(root: &Node, core: &Values, errors: &mut Errors) -> Repeats {
    let given = root.value("repeats").and_then(|node| node.value("blocks"));
    let adaptive =
        given.filter(|node| !node.entries().is_empty()).and_then(|node| adaptive(node, core, errors));
    Repeats {
        blocks: adaptive.unwrap_or(Blocks::Fixed(BLOCKS.of(core))),
        seed: SEED.of(core),
        retries: RETRIES.of(core),
    }
}

/// `{ min, max, until }`; a part that is there and cannot be read is an error already.
fn adaptive(table: &Node, core: &Values, errors: &mut Errors) -> Option<Blocks> {
    let missing: Vec<&str> = PARTS.into_iter().filter(|part| table.get(part).is_none()).collect();
    if !missing.is_empty() {
        let message = format!(
            "{} missing; adaptive repeats are written {{ min = 3, max = 20, until = \"2%\" }}",
            missing.join(", ")
        );
        errors.add(&table.span, BLOCKS.path(), message);
        return None;
    }
    let (min, max, until) = (BLOCKS_MIN.of(core)?, BLOCKS_MAX.of(core)?, BLOCKS_UNTIL.of(core)?);
    let span = |part: &str| table.value(part).map_or(0..0, |node| node.span.clone());
    if min > max {
        errors.add(&span("min"), BLOCKS_MIN.path(), format!("{min} is more than max, which is {max}"));
    }
    if until <= 0.0 {
        let message = "no interval is that narrow; allowed are shares above 0, as \"2%\"";
        errors.add(&span("until"), BLOCKS_UNTIL.path(), message);
    }
    Some(Blocks::Adaptive { min, max, until })
}

/// Blocks and configurations can each be all right and be too many together.
pub fn check_number_of_trials(root: &Node, repeats: Repeats, configurations: usize, errors: &mut Errors) {
    let blocks = repeats.blocks.max();
    let trials = u64::from(blocks) * configurations as u64;
    if trials > TRIALS_MAX {
        let message = format!(
            "{configurations} configurations in {blocks} blocks are {trials} trials; at most {TRIALS_MAX} are possible"
        );
        errors.add(&span_of_number(root), BLOCKS.path(), message);
    }
}

/// The number of blocks, or of most blocks.
fn span_of_number(root: &Node) -> Range<usize> {
    let blocks = root.value("repeats").and_then(|node| node.value("blocks"));
    let number = blocks.map(|node| match node.content {
        Content::Table(_) => node.value("max").unwrap_or(node),
        _ => node,
    });
    number.map_or(0..0, |node| node.span.clone())
}
