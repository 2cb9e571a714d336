use crate::error::{Fault, Problem};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Where a variable's value is kept: its position in the list of all variables of a mix.
pub(super) type Slot = usize;

/// The variables of a mix, and while it is parsed, what is known about their use.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: Vec<String>,
    slots: HashMap<String, Slot>,
    /// True if some command is known to set the variable.
    assigned: Vec<bool>,
    /// Prefixes of `\gset` and `\aset`: any variable that begins so may be set by them.
    prefixes: BTreeSet<String>,
    uses: Vec<Use>,
    /// Counters: the script that adds to one, and its name.
    counters: Vec<(usize, String)>,
    /// Position of the script that is being parsed.
    script: usize,
}

/// A use of a variable that has to make sense once all scripts are known.
#[derive(Debug)]
struct Use {
    slot: Slot,
    script: usize,
    offset: usize,
    /// `:name` in quotes of a statement to be prepared, where no value can be put. Else its value
    /// is needed.
    quoted: bool,
}

impl Names {
    /// The slot of a variable, a new one if need be.
    pub fn slot(&mut self, name: &str) -> Slot {
        if let Some(known) = self.slots.get(name) {
            return *known;
        }
        self.slots.insert(name.to_owned(), self.names.len());
        self.names.push(name.to_owned());
        self.assigned.push(false);
        self.names.len() - 1
    }

    /// As [`Self::slot`], of a variable that something sets.
    pub fn assign(&mut self, name: &str) -> Slot {
        let slot = self.slot(name);
        self.assigned[slot] = true;
        slot
    }

    /// As [`Self::slot`], of a variable whose value is needed at this place.
    pub fn value(&mut self, name: &str, offset: usize) -> Slot {
        self.note(name, offset, false)
    }

    /// As [`Self::slot`], of a variable that is mentioned at this place.
    pub fn note(&mut self, name: &str, offset: usize, quoted: bool) -> Slot {
        let slot = self.slot(name);
        self.uses.push(Use { slot, script: self.script, offset, quoted });
        slot
    }

    /// The position of a counter of this script, a new one if need be.
    pub fn counter(&mut self, name: &str) -> usize {
        let script = self.script;
        let index = self.counters.iter().position(|(of, known)| *of == script && known == name);
        index.unwrap_or_else(|| {
            self.counters.push((script, name.to_owned()));
            self.counters.len() - 1
        })
    }

    /// The counters with their scripts, by position.
    pub fn counters(&self) -> &[(usize, String)] {
        &self.counters
    }

    pub fn note_prefix(&mut self, prefix: &str) {
        self.prefixes.insert(prefix.to_owned());
    }

    /// Returns whether `\gset` or `\aset` may set it: one of their prefixes starts its name.
    fn has_prefix(&self, name: &str) -> bool {
        let ends = name.char_indices().map(|(at, _)| at).chain([name.len()]);
        !self.prefixes.is_empty()
            && ends.into_iter().any(|end| self.prefixes.contains(&name[..end]))
    }

    pub fn begin_script(&mut self, script: usize) {
        self.script = script;
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn name(&self, slot: Slot) -> &str {
        &self.names[slot]
    }

    pub fn not_set(&self, slot: Slot) -> Fault {
        Fault::NotSet(self.names[slot].clone())
    }

    /// The variable that a column is stored into; `None` when no script mentions it.
    pub fn find_prefixed(&self, prefix: &str, column: &str) -> Option<Slot> {
        self.names.iter().position(|known| known.strip_prefix(prefix) == Some(column))
    }

    /// Objects to variables that nothing sets, and to those in quotes; with the position of the
    /// script.
    pub fn check(&self) -> Result<(), (usize, Problem)> {
        let used: HashSet<Slot> =
            self.uses.iter().filter(|place| !place.quoted).map(|place| place.slot).collect();
        for place in &self.uses {
            let name = &self.names[place.slot];
            let set = self.assigned[place.slot] || self.has_prefix(name);
            let fault = if place.quoted && (self.assigned[place.slot] || used.contains(&place.slot))
            {
                Fault::Quoted(name.clone())
            } else if !place.quoted && !set {
                self.never_set(name)
            } else {
                continue;
            };
            return Err((place.script, Problem { offset: place.offset, fault }));
        }
        Ok(())
    }

    fn never_set(&self, name: &str) -> Fault {
        let known = self.names.iter().zip(&self.assigned).filter(|(_, assigned)| **assigned);
        let known = known.map(|(known, _)| known.clone()).collect();
        Fault::NeverSet { name: name.to_owned(), known }
    }
}

/// Returns whether this can be a variable's name: letters of any language, digits and underscores,
/// the first not a digit.
pub(super) fn is_name(text: &str) -> bool {
    text.bytes().next().is_some_and(begins_name) && text.bytes().all(continues_name)
}

/// Returns whether a name can start with this byte.
pub(super) fn begins_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || !byte.is_ascii()
}

/// Returns whether a name can continue with this byte.
pub(super) fn continues_name(byte: u8) -> bool {
    begins_name(byte) || byte.is_ascii_digit()
}
