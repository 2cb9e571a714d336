//! Surroundings of the trials: declared volumes with the settings that name them, and repeats.

use super::FileReader;
use super::design::kind;
use crate::configuration::names_volume;
use crate::document::{Content, Node};
use crate::error::Fault;
use crate::experiment::{Blocks, Factor, Repeats, Volume};
use crate::file::{
    BANDWIDTH, BLOCKS, BLOCKS_MAX, BLOCKS_MIN, BLOCKS_UNTIL, MACHINES, PREDICT, PREDICT_AGGREGATE,
    PREDICT_COLD, PREDICT_COLUMNS, PREDICT_NAME, PREDICT_ROWS, PREDICT_ROWS_PER_PAGE,
    READ_BANDWIDTH, READ_IOPS, RETRIES, SEED, SETUPS, VOLUME, VOLUME_CLEANUP, VOLUME_NAME,
    VOLUME_PATH, VOLUME_PREPARE, VOLUME_TIMEOUT_S, WRITE_BANDWIDTH, WRITE_IOPS,
};
use crate::vocabulary::{Values, read_item};
use observations::{Throttle, UnmeasuredTable};

/// More trials than this are a mistake: at a second each they take eleven days.
const TRIALS_MAX: u64 = 1_000_000;

impl FileReader<'_> {
    /// The tables that are not measured.
    pub fn predictions(&mut self) -> Vec<UnmeasuredTable> {
        let tables = self.root.tables("predict").iter();
        tables
            .map(|node| {
                let values = read_item(
                    &mut self.errors,
                    node,
                    "predict",
                    PREDICT,
                    &["name", "rows", "rows_per_page"],
                    &[],
                );
                UnmeasuredTable {
                    name: PREDICT_NAME.value_in(&values),
                    rows: PREDICT_ROWS.value_in(&values),
                    rows_per_page: PREDICT_ROWS_PER_PAGE.value_in(&values),
                    aggregate: PREDICT_AGGREGATE.value_in(&values),
                    columns: PREDICT_COLUMNS.value_in(&values),
                    cold: PREDICT_COLD.value_in(&values),
                }
            })
            .collect()
    }

    pub fn volumes(&mut self) -> Vec<Volume> {
        let mut volumes: Vec<Volume> = Vec::new();
        for node in self.root.tables("volume") {
            let values =
                read_item(&mut self.errors, node, "volume", VOLUME, &["name", "path"], &[]);
            let name = VOLUME_NAME.value_in(&values);
            if name.is_empty() {
                continue;
            }
            if volumes.iter().any(|other| other.name == name) {
                let message = format!("two volumes have the name `{name}`");
                self.errors.add(&node.span_at("name"), VOLUME_NAME.path(), message);
                continue;
            }
            volumes.push(Volume {
                name,
                path: VOLUME_PATH.value_in(&values),
                prepare: VOLUME_PREPARE.value_in(&values),
                cleanup: VOLUME_CLEANUP.value_in(&values),
                hook_timeout_s: VOLUME_TIMEOUT_S.value_in(&values),
                throttle: throttle(&values),
            });
        }
        self.check_volume_names(&volumes);
        volumes
    }

    /// Every volume that a setting or level names must be declared.
    fn check_volume_names(&mut self, volumes: &[Volume]) {
        let declared: Vec<&str> = volumes.iter().map(|volume| volume.name.as_str()).collect();
        let mut settings = self.root.leaves_of("target", "target");
        settings.extend(self.root.leaves_of("factors", ""));
        settings
            .extend(self.root.tables("level").iter().flat_map(|level| level.leaves_of("set", "")));
        settings.retain(|leaf| names_volume(&leaf.path) && self.vocabulary.has(&leaf.path));
        for leaf in settings {
            // The elements of a factor are levels, and each may be a list.
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
                self.errors.add(&node.span, &leaf.path, fault);
            }
        }
    }

    pub fn repeats(&mut self, core: &Values) -> Repeats {
        let block_table = self.root.at(BLOCKS.path()).filter(|node| !node.entries().is_empty());
        Repeats {
            blocks: block_table
                .and_then(|node| self.adaptive(node, core))
                .unwrap_or(Blocks::Fixed(BLOCKS.value_in(core))),
            setups: SETUPS.value_in(core),
            seed: SEED.value_in(core),
            retries: RETRIES.value_in(core),
        }
    }

    /// More than one set-up needs something that is set up, and a block for each.
    pub fn check_setups(&mut self, repeats: &Repeats, hard_to_change: &[usize]) {
        let message = match repeats.blocks {
            _ if repeats.setups == 1 => return,
            _ if hard_to_change.is_empty() => "there is no hard-to-change factor to set up; list \
                                               one in order.hard_to_change"
                .to_owned(),
            Blocks::Adaptive { .. } => "adaptive repeats cannot be divided among set-ups; give \
                                        repeats.blocks as a number"
                .to_owned(),
            Blocks::Fixed(blocks) if blocks < repeats.setups => {
                format!(
                    "{blocks} blocks cannot be divided among {} set-ups; each needs at least one",
                    repeats.setups
                )
            }
            Blocks::Fixed(_) => return,
        };
        self.error_at(SETUPS.path(), message);
    }

    /// Machines divide complete blocks, of which the file gives the number.
    pub fn check_machines(&mut self, core: &Values, repeats: &Repeats, factors: &[Factor]) {
        let Some(machines) = MACHINES.value_in(core) else { return };
        let kind = kind(core);
        let design = self.catalog.designs.find(&kind);
        let message = match repeats.blocks {
            Blocks::Adaptive { .. } => "machines share a fixed number of blocks; give \
                                        repeats.blocks as a number"
                .to_owned(),
            _ if design.is_some_and(|design| !design.shares_blocks()) => {
                format!("the blocks of a {kind} cannot be divided among machines")
            }
            _ if factors.iter().any(|factor| factor.manual.is_some()) => {
                "an agent cannot ask for a manual step; remove [[manual]]".to_owned()
            }
            Blocks::Fixed(blocks) if blocks < machines => {
                format!("{blocks} blocks cannot be divided among {machines} machines")
            }
            Blocks::Fixed(_) => return,
        };
        self.error_at(MACHINES.path(), message);
    }

    /// `{ min, max, until }`; a part that is there and cannot be read is an error already.
    fn adaptive(&mut self, table: &Node, core: &Values) -> Option<Blocks> {
        let mut missing = vec!["min", "max", "until"];
        missing.retain(|part| table.get(part).is_none());
        if !missing.is_empty() {
            let message = format!(
                "{} missing; write adaptive repeats as {{ min = 3, max = 20, until = \"2%\" }}",
                missing.join(", ")
            );
            self.errors.add(&table.span, BLOCKS.path(), message);
            return None;
        }
        let (min, max, until) =
            (BLOCKS_MIN.value_in(core)?, BLOCKS_MAX.value_in(core)?, BLOCKS_UNTIL.value_in(core)?);
        if min > max {
            let message = format!("{min} is above max ({max})");
            self.errors.add(&table.span_at("min"), BLOCKS_MIN.path(), message);
        }
        if until <= 0.0 {
            let message = "must be a share above 0, such as \"2%\"";
            self.errors.add(&table.span_at("until"), BLOCKS_UNTIL.path(), message);
        }
        Some(Blocks::Adaptive { min, max, until })
    }

    /// Blocks and configurations can each be all right and be too many together.
    pub fn check_number_of_trials(&mut self, blocks: u32, configurations: usize) {
        let trials = u64::from(blocks) * configurations as u64;
        if trials > TRIALS_MAX {
            let message = format!(
                "{configurations} configurations in {blocks} blocks are {trials} trials; the \
                 maximum is {TRIALS_MAX}"
            );
            let is_adaptive = self.root.at(BLOCKS_MAX.path()).is_some();
            let number = if is_adaptive { BLOCKS_MAX.path() } else { BLOCKS.path() };
            self.errors.add(&self.root.span_at(number), BLOCKS.path(), message);
        }
    }
}

/// The limits of a volume, if it has any: `bandwidth` applies to each direction without a limit of
/// its own.
fn throttle(values: &Values) -> Option<Throttle> {
    let both = BANDWIDTH.value_in(values);
    let throttle = Throttle {
        read_iops: READ_IOPS.value_in(values),
        write_iops: WRITE_IOPS.value_in(values),
        read_bytes: READ_BANDWIDTH.value_in(values).or(both),
        write_bytes: WRITE_BANDWIDTH.value_in(values).or(both),
    };
    (!throttle.is_empty()).then_some(throttle)
}
