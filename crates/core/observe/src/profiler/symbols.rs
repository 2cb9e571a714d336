//! From places to names: of the functions in a program or library, and of the kernel's.

use super::spaces::Modules;
use super::stacks::Place;
use indexmap::IndexSet;
use object::{Object, ObjectSegment, ObjectSymbol, ReadCache, ReadRef, SymbolKind};
use observations::{Frame, Profile, Stack, UNKNOWN};
use std::collections::HashMap;
use std::fs::{self, File};
use std::ops::Range;
use std::path::PathBuf;

/// Share of the samples from which on a module without names is reported.
const WORTH_SAYING: f64 = 0.01;

/// The names of everything that was met. Symbols of a file are read when they are first needed.
pub(crate) struct Symbols {
    modules: Modules,
    files: HashMap<usize, Elf>,
    kernel: Option<Kernel>,
}

impl Symbols {
    pub fn new(modules: Modules) -> Self {
        Self { modules, files: HashMap::new(), kernel: None }
    }

    /// A profile with named stacks; those that have the same names are one. The most frequent one
    /// comes first.
    pub fn profile(mut self, counts: &HashMap<Box<[Place]>, u64>, profile: Profile) -> Profile {
        let (mut modules, mut frames) = (IndexSet::new(), IndexSet::new());
        let mut of_place: HashMap<Place, usize> = HashMap::new();
        let mut stacks: HashMap<Vec<usize>, u64> = HashMap::new();
        // In a fixed order, so that the same samples give the same profile.
        let mut ordered: Vec<_> = counts.iter().collect();
        ordered.sort_by(|a, b| b.1.cmp(a.1).then_with(|| a.0.cmp(b.0)));
        for (places, samples) in ordered {
            let stack: Vec<usize> = places
                .iter()
                .rev()
                .map(&mut |place: &Place| {
                    *of_place.entry(*place).or_insert_with(|| {
                        let (function, module, kernel) = self.name(*place);
                        let module = modules.insert_full(module).0;
                        frames.insert_full(Frame { function, module, kernel }).0
                    })
                })
                .collect();
            *stacks.entry(stack).or_insert(0) += samples;
        }
        let mut stacks: Vec<Stack> =
            stacks.into_iter().map(|(frames, samples)| Stack { frames, samples }).collect();
        stacks.sort_by(|a, b| b.samples.cmp(&a.samples).then_with(|| a.frames.cmp(&b.frames)));
        let (modules, frames) = (modules.into_iter().collect(), frames.into_iter().collect());
        let profile = Profile { modules, frames, stacks, ..profile };
        Profile { missing: nameless(&profile), ..profile }
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
                let Some(((name, _), file)) = self.modules.0.get_index_mut(id) else {
                    return (UNKNOWN.to_owned(), UNKNOWN.to_owned(), false);
                };
                let file = file.take();
                let symbols =
                    self.files.entry(id).or_insert_with(|| file.map(Elf::read).unwrap_or_default());
                let function = symbols.find(offset).map_or(UNKNOWN.to_owned(), readable);
                (function, name.clone(), false)
            }
        }
    }
}

/// Notes the code without names, if it matters.
fn nameless(profile: &Profile) -> Vec<String> {
    let mut missing = Vec::new();
    let all = profile.samples() as f64;
    let counts = profile.self_and_total();
    for (index, frame) in profile.frames.iter().enumerate() {
        let (samples, module) = (counts[index].0, profile.module_of(frame));
        if frame.function != UNKNOWN || !(samples as f64 >= all * WORTH_SAYING && samples > 0) {
            continue;
        }
        let share = format!("{:.0} % of the samples", 100.0 * samples as f64 / all);
        missing.push(match (frame.kernel, module) {
            (true, _) => format!(
                "{share} are in the kernel; /proc/kallsyms hides its names: set \
                 kernel.kptr_restrict to 0 or 1, and have CAP_SYSLOG."
            ),
            (false, UNKNOWN) => format!("{share} are in memory without a known file."),
            (false, "[anonymous]") => {
                format!("{share} are in code generated at run time, which has no names here.")
            }
            (false, "[vdso]") => continue,
            (false, module) => format!(
                "{share} are in functions of {module} without symbols: install its debug \
                 symbols, or build it unstripped."
            ),
        });
    }
    missing.sort();
    missing
}

/// Where distributions put the symbols that they have stripped, by build id; see gdb's manual,
/// "Debugging Information in Separate Files".
const DEBUG_FOLDER: &str = "/usr/lib/debug/.build-id";

/// Functions of a file, by address.
#[derive(Default)]
struct Elf {
    /// Parts of the file that are loaded: where they are in it, and at which address.
    segments: Vec<(Range<u64>, u64)>,
    /// Ascending.
    functions: Vec<Function>,
}

struct Function {
    start: u64,
    /// Behind its last byte.
    end: u64,
    name: String,
}

impl Elf {
    /// Reads the symbols of a file, and those that were stripped from it where they are installed.
    /// A file that cannot be read has none.
    fn read(file: File) -> Self {
        let cache = ReadCache::new(file);
        let Ok(object) = object::File::parse(&cache) else { return Self::default() };
        let mut functions = functions(&object);
        if let Some(debug) = debug_file(&object) {
            let cache = ReadCache::new(debug);
            if let Ok(object) = object::File::parse(&cache) {
                functions.extend(self::functions(&object));
            }
        }
        let segments = object.segments().map(|segment| {
            let (offset, length) = segment.file_range();
            (offset..offset + length, segment.address())
        });
        Self { segments: segments.collect(), functions: ordered(functions) }
    }

    /// Name of the function at a position in the file.
    fn find(&self, offset: u64) -> Option<&str> {
        let (part, loaded_at) = self.segments.iter().find(|(part, _)| part.contains(&offset))?;
        let address = offset - part.start + loaded_at;
        let after = self.functions.partition_point(|function| function.start <= address);
        let function = self.functions.get(after.checked_sub(1)?)?;
        (address < function.end).then_some(function.name.as_str())
    }
}

fn functions<'data, R: ReadRef<'data>>(object: &object::File<'data, R>) -> Vec<Function> {
    object
        .symbols()
        .chain(object.dynamic_symbols())
        .filter_map(|symbol| {
            let is_code = matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Unknown);
            let (name, start) = (symbol.name().ok()?, symbol.address());
            (is_code && symbol.is_definition() && !name.is_empty()).then(|| Function {
                start,
                end: start + symbol.size(),
                name: name.to_owned(),
            })
        })
        .collect()
}

/// By address, each address once; what has no length, written in assembler, reaches to the next
/// one.
fn ordered(mut functions: Vec<Function>) -> Vec<Function> {
    // Of several names the longest function, then the plainest name: `read`, not
    // `__GI___libc_read`.
    let plainness = |name: &str| (name.starts_with('_'), name.len());
    functions.sort_by(|a, b| {
        a.start.cmp(&b.start).then_with(|| b.end.cmp(&a.end)).then_with(|| {
            plainness(&a.name).cmp(&plainness(&b.name)).then_with(|| a.name.cmp(&b.name))
        })
    });
    functions.dedup_by_key(|function| function.start);
    let starts: Vec<u64> = functions.iter().skip(1).map(|next| next.start).collect();
    for (function, next) in functions.iter_mut().zip(starts) {
        if function.end == function.start {
            function.end = next;
        }
    }
    functions
}

fn debug_file<'data, R: ReadRef<'data>>(object: &object::File<'data, R>) -> Option<File> {
    let id = object.build_id().ok()??;
    let hex = observations::hexadecimal(id);
    let (folder, rest) = hex.split_at_checked(2)?;
    File::open(PathBuf::from(DEBUG_FOLDER).join(folder).join(format!("{rest}.debug"))).ok()
}

/// The kernel itself, without its modules.
const KERNEL: &str = "[kernel]";

/// Functions of the kernel and its modules, by address.
struct Kernel {
    /// Ascending: address, name, module.
    functions: Vec<(u64, String, String)>,
}

impl Kernel {
    /// Reads `/proc/kallsyms`, where that is permitted: otherwise all addresses are 0.
    fn read() -> Self {
        Self::parse(&fs::read_to_string("/proc/kallsyms").unwrap_or_default())
    }

    fn parse(symbols: &str) -> Self {
        let mut functions: Vec<_> = symbols.lines().filter_map(parse_line).collect();
        functions.sort_by_key(|function| function.0);
        functions.dedup_by_key(|function| function.0);
        Self { functions }
    }

    /// Function and module at an address. Addresses are all that the kernel tells: what comes
    /// before the next name belongs to a function.
    fn find(&self, address: u64) -> (&str, &str) {
        let after = self.functions.partition_point(|function| function.0 <= address);
        match after.checked_sub(1).and_then(|index| self.functions.get(index)) {
            Some((_, name, module)) => (name, module),
            None => (UNKNOWN, KERNEL),
        }
    }
}

/// `ffffffff81000000 T _stext` or `ffffffffc0000000 t ext4_read [ext4]`, of code.
fn parse_line(line: &str) -> Option<(u64, String, String)> {
    let mut fields = line.split_ascii_whitespace();
    let (address, kind, name) = (fields.next()?, fields.next()?, fields.next()?);
    let address = u64::from_str_radix(address, 16).ok().filter(|address| *address != 0)?;
    let module = fields.next().unwrap_or(KERNEL);
    matches!(kind, "t" | "T" | "w" | "W").then(|| (address, name.to_owned(), module.to_owned()))
}

/// A symbol of Rust or C++ as written, without what only tells versions apart; anything else as it
/// is.
fn readable(symbol: &str) -> String {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return format!("{name:#}");
    }
    let cpp =
        symbol.starts_with("_Z").then(|| cpp_demangle::Symbol::new(symbol).ok()?.demangle().ok());
    cpp.flatten().unwrap_or_else(|| symbol.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_named_by_what_begins_before_it() {
        let kernel = Kernel::parse("30 t b [ext4]\n10 T a\n20 D data\n00 T hidden\njunk\n");
        assert_eq!(kernel.find(0x10), ("a", "[kernel]"));
        assert_eq!(kernel.find(0x2f), ("a", "[kernel]"));
        assert_eq!(kernel.find(0x31), ("b", "[ext4]"));
        assert_eq!(kernel.find(0xf), (UNKNOWN, "[kernel]"));
        assert_eq!(Kernel::parse("0 T a\n0 T b\n").find(0x10), (UNKNOWN, "[kernel]"));
    }

    #[test]
    fn names_of_three_languages() {
        // Published: the documentation of rustc-demangle; the Itanium C++ ABI, section 5.1.
        assert_eq!(readable("_ZN3foo3barE"), "foo::bar");
        assert_eq!(
            readable("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"),
            "core::fmt::Formatter::pad"
        );
        assert_eq!(readable("_Z1fv"), "f()");
        assert_eq!(readable("sqlite3_step"), "sqlite3_step");
        assert_eq!(readable("_Zzz"), "_Zzz");
    }
}
