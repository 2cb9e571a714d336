//! Names of the functions in a program or library.

use object::{Object, ObjectSegment, ObjectSymbol, ReadCache, ReadRef, SymbolKind};
use std::fs::File;
use std::path::PathBuf;

/// Where distributions put the symbols that they have stripped, by build id; see gdb's manual, "Debugging
/// Information in Separate Files".
const DEBUG_FOLDER: &str = "/usr/lib/debug/.build-id";

/// Functions of a file, by address.
#[derive(Default)]
pub(super) struct Elf {
    segments: Vec<Segment>,
    /// Ascending.
    functions: Vec<Function>,
}

/// A part of the file that is loaded.
struct Segment {
    offset: u64,
    length: u64,
    address: u64,
}

struct Function {
    start: u64,
    /// Behind its last byte.
    end: u64,
    name: String,
}

impl Elf {
    /// Reads the symbols of a file, and those that were stripped from it where they are installed. A file that cannot
    /// be read has none.
    pub fn read(file: File) -> Self {
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
            Segment { offset, length, address: segment.address() }
        });
        Self { segments: segments.collect(), functions: ordered(functions) }
    }

    /// Name of the function at a position in the file.
    pub fn find(&self, offset: u64) -> Option<&str> {
        let segment =
            self.segments.iter().find(|part| (part.offset..part.offset + part.length).contains(&offset))?;
        let address = offset - segment.offset + segment.address;
        let after = self.functions.partition_point(|function| function.start <= address);
        let function = self.functions.get(after.checked_sub(1)?)?;
        (address < function.end).then_some(function.name.as_str())
    }
}

fn functions<'data, R: ReadRef<'data>>(object: &object::File<'data, R>) -> Vec<Function> {
    let function = |symbol: object::Symbol<'data, '_, R>| {
        let is_code = matches!(symbol.kind(), SymbolKind::Text | SymbolKind::Unknown);
        let (name, start) = (symbol.name().ok()?, symbol.address());
        (is_code && symbol.is_definition() && !name.is_empty()).then(|| Function {
            start,
            end: start + symbol.size(),
            name: name.to_owned(),
        })
    };
    object.symbols().chain(object.dynamic_symbols()).filter_map(function).collect()
}

/// By address, each address once; what has no length, written in assembler, reaches to the next one.
fn ordered(mut functions: Vec<Function>) -> Vec<Function> {
    // Of several names the longest function, then the plainest name: `read`, not `__GI___libc_read`.
    let plainness = |name: &str| (name.starts_with('_'), name.len());
    functions.sort_by(|a, b| {
        let by_name = || plainness(&a.name).cmp(&plainness(&b.name)).then_with(|| a.name.cmp(&b.name));
        a.start.cmp(&b.start).then_with(|| b.end.cmp(&a.end)).then_with(by_name)
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
    let hex: Vec<String> = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let hex = hex.concat();
    let (folder, rest) = hex.split_at_checked(2)?;
    File::open(PathBuf::from(DEBUG_FOLDER).join(folder).join(format!("{rest}.debug"))).ok()
}
