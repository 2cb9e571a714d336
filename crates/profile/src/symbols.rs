//! From places to names.

mod elf;
mod kernel;
mod readable;

use crate::spaces::Modules;
use crate::stacks::Place;
use elf::Elf;
use kernel::Kernel;
use observations::{Frame, Profile, Stack, UNKNOWN};
use readable::readable;
use std::collections::HashMap;
use std::hash::Hash;

/// Share of the samples from which on it is said that a module has no names.
const WORTH_SAYING: f64 = 0.01;

/// The names of everything that was met. Symbols of a file are read when they are first needed.
pub(crate) struct Symbols {
    modules: Modules,
    files: HashMap<u32, Elf>,
    kernel: Option<Kernel>,
}

/// Distinct values by their position.
struct Distinct<T> {
    all: Vec<T>,
    known: HashMap<T, usize>,
}

impl<T: Clone + Eq + Hash> Distinct<T> {
    fn new() -> Self {
        Self { all: Vec::new(), known: HashMap::new() }
    }

    fn position(&mut self, value: T) -> usize {
        if let Some(position) = self.known.get(&value) {
            return *position;
        }
        self.all.push(value.clone());
        self.known.insert(value, self.all.len() - 1);
        self.all.len() - 1
    }
}

impl Symbols {
    pub fn new(modules: Modules) -> Self {
        Self { modules, files: HashMap::new(), kernel: None }
    }

    /// The stacks with names; stacks that have the same names are one. The most frequent one comes first.
    pub fn profile(mut self, counts: &HashMap<Box<[Place]>, u64>) -> Profile {
        let (mut modules, mut frames) = (Distinct::new(), Distinct::new());
        let mut of_place: HashMap<Place, usize> = HashMap::new();
        let mut stacks: HashMap<Vec<usize>, u64> = HashMap::new();
        // In a fixed order, so that the same samples give the same profile.
        let mut ordered: Vec<_> =
            counts.iter().map(|(places, samples)| (places.to_vec(), *samples)).collect();
        ordered.sort_by(|(a, a_samples), (b, b_samples)| {
            b_samples.cmp(a_samples).then_with(|| order(a).cmp(&order(b)))
        });
        for (places, samples) in ordered {
            let mut named = |place: &Place| {
                *of_place.entry(*place).or_insert_with(|| {
                    let (function, module, kernel) = self.name(*place);
                    frames.position(Frame { function, module: modules.position(module), kernel })
                })
            };
            let stack: Vec<usize> = places.iter().rev().map(&mut named).collect();
            *stacks.entry(stack).or_insert(0) += samples;
        }
        let mut stacks: Vec<Stack> =
            stacks.into_iter().map(|(frames, samples)| Stack { frames, samples }).collect();
        stacks.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.frames.cmp(&b.frames)));
        let mut profile = Profile { modules: modules.all, frames: frames.all, stacks, ..Profile::default() };
        profile.missing = nameless(&profile);
        profile
    }

    /// Function, module, and whether it is the kernel.
    fn name(&mut self, place: Place) -> (String, String, bool) {
        match place {
            Place::Nowhere => (UNKNOWN.to_owned(), UNKNOWN.to_owned(), false),
            Place::Kernel(address) => {
                let (function, module) = self.kernel.get_or_insert_with(Kernel::read).find(address);
                (function.to_owned(), module.to_owned(), true)
            }
            Place::File(id, offset) => {
                let Some(module) = self.modules.all.get_mut(id as usize) else {
                    return (UNKNOWN.to_owned(), UNKNOWN.to_owned(), false);
                };
                let file = module.file.take();
                let symbols = self.files.entry(id).or_insert_with(|| file.map(Elf::read).unwrap_or_default());
                let function = symbols.find(offset).map_or(UNKNOWN.to_owned(), readable);
                (function, module.name.clone(), false)
            }
        }
    }
}

/// What has no names, as far as it matters.
fn nameless(profile: &Profile) -> Vec<String> {
    let mut missing = Vec::new();
    let all = profile.samples() as f64;
    let matters = |samples: u64| samples as f64 >= all * WORTH_SAYING && samples > 0;
    let own = profile.self_and_total();
    for (index, frame) in profile.frames.iter().enumerate() {
        let (samples, module) = (own[index].0, profile.module_of(frame));
        if frame.function != UNKNOWN || !matters(samples) {
            continue;
        }
        let share = format!("{:.0} % of the samples", 100.0 * samples as f64 / all);
        missing.push(match (frame.kernel, module) {
            (true, _) => format!(
                "{share} are in the kernel, whose names /proc/kallsyms does not show: set kernel.kptr_restrict to \
                 0 or 1, and have CAP_SYSLOG."
            ),
            (false, UNKNOWN) => format!("{share} are in memory that belongs to no known file."),
            (false, "[anonymous]") => {
                format!("{share} are in code that was made at run time, which has no names here.")
            }
            (false, "[vdso]") => continue,
            (false, module) => format!(
                "{share} are in functions of {module} that it has no symbols for: install its debug symbols, or \
                 build it without stripping them."
            ),
        });
    }
    missing.sort();
    missing
}

/// Something to sort places by.
fn order(places: &[Place]) -> Vec<(u64, u64)> {
    let key = |place: &Place| match place {
        Place::Nowhere => (u64::MAX, 0),
        Place::Kernel(address) => (u64::MAX - 1, *address),
        Place::File(module, offset) => ((*module).into(), *offset),
    };
    places.iter().map(key).collect()
}
