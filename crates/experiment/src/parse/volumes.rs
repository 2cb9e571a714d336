//! Declared volumes, and the settings that name them.

use super::sections::{Values, read_item};
use super::{leaves, list};
use crate::Value;
use crate::configuration::names_volume;
use crate::document::{Content, Leaf, Node};
use crate::error::{Errors, Fault};
use crate::experiment::{Factor, Throttle, Volume};
use crate::file::{
    BANDWIDTH, READ_BANDWIDTH, READ_IOPS, VOLUME, VOLUME_CLEANUP, VOLUME_NAME, VOLUME_PATH, VOLUME_PREPARE,
    VOLUME_TIMEOUT_S, WRITE_BANDWIDTH, WRITE_IOPS,
};
use crate::setting::Known;

pub fn read(root: &Node, known: &Known, errors: &mut Errors) -> Vec<Volume> {
    let mut volumes: Vec<Volume> = Vec::new();
    for node in list(root, "volume") {
        let values = read_item(node, "volume", VOLUME, &["name", "path"], &[], errors);
        let name = VOLUME_NAME.of(&values);
        if name.is_empty() {
            continue;
        }
        if volumes.iter().any(|other| other.name == name) {
            let span = node.value("name").map_or(0..0, |node| node.span.clone());
            errors.add(&span, "volume.name", format!("there are two volumes with the name `{name}`"));
            continue;
        }
        volumes.push(Volume {
            name,
            path: VOLUME_PATH.of(&values),
            prepare: VOLUME_PREPARE.of(&values),
            cleanup: VOLUME_CLEANUP.of(&values),
            hook_timeout_s: VOLUME_TIMEOUT_S.of(&values),
            throttle: throttle(&values),
        });
    }
    check_names(root, &volumes, known, errors);
    volumes
}

/// The limits of a volume, if it has any: `bandwidth` holds for the direction that has none of its own.
fn throttle(values: &Values) -> Option<Throttle> {
    let both = BANDWIDTH.of(values);
    let throttle = Throttle {
        read_iops: READ_IOPS.of(values),
        write_iops: WRITE_IOPS.of(values),
        read_bytes: READ_BANDWIDTH.of(values).or(both),
        write_bytes: WRITE_BANDWIDTH.of(values).or(both),
    };
    throttle.limits().next().map(|_| throttle)
}

/// A factor that chooses between volumes is hard to change when a command prepares or cleans one of
/// them: a drive is formatted as seldom as possible. Such factors come after the declared ones.
pub fn mark_hard_to_change(volumes: &[Volume], factors: &mut [Factor], hard_to_change: &mut Vec<usize>) {
    let has_commands = |name: &Value| {
        let volume = volumes.iter().find(|volume| volume.name == name.to_string());
        volume.is_some_and(|volume| volume.prepare.is_some() || volume.cleanup.is_some())
    };
    for (position, factor) in factors.iter_mut().enumerate().filter(|(_, factor)| !factor.hard_to_change) {
        let mut set = factor.levels.iter().flat_map(|level| &level.set);
        if set.any(|(path, value)| names_volume(path) && value.elements().iter().any(has_commands)) {
            factor.hard_to_change = true;
            hard_to_change.push(position);
        }
    }
}

/// Every volume that a setting or level names must be declared.
fn check_names(root: &Node, volumes: &[Volume], known: &Known, errors: &mut Errors) {
    let declared: Vec<&str> = volumes.iter().map(|volume| volume.name.as_str()).collect();
    let linked = list(root, "level").iter().flat_map(|level| leaves(level.value("set"), ""));
    let settings: Vec<Leaf<'_>> = leaves(root.value("target"), "target")
        .into_iter()
        .chain(leaves(root.value("factors"), ""))
        .chain(linked)
        .filter(|leaf| names_volume(&leaf.path) && known.has(&leaf.path))
        .collect();
    for leaf in settings {
        // Of a factor the elements are levels, of which each may be a list.
        for node in leaf.node.elements().iter().flat_map(Node::elements) {
            let Content::Text(name) = &node.content else { continue };
            if name.trim().is_empty() || declared.contains(&name.as_str()) {
                continue;
            }
            let fault = if declared.is_empty() {
                let help = format!("add a [[volume]] with name = \"{name}\" and its path");
                Fault::with_help(format!("volume `{name}` is not declared"), help)
            } else {
                Fault::unknown("volume", name, &declared)
            };
            errors.add(&node.span, &leaf.path, fault);
        }
    }
}
