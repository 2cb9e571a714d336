//! The random text of TPC-H that comments are cut from (4.2.2.10, 4.2.2.14): the same 300 MB as
//! `dbgen` and the crate `tpchgen` make, which takes longer than all rows of a small scale. So
//! several threads make it.

use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::thread::{Builder, available_parallelism, scope};
use tpchgen::distribution::{Distribution, Distributions};

/// Bytes of the text.
pub(crate) const BYTES: usize = 300 << 20;

/// Bytes that a part has beyond its own: no comment is longer, so that each lies within one part.
const BEYOND: usize = 256;

/// The beginnings of the parts, each with a sentence, and the last random number before that. They
/// were found by making all of the text.
const PARTS: [(usize, u64); 16] = [
    (0, 933_588_178),
    (19_660_810, 563_391_851),
    (39_321_619, 374_858_592),
    (58_982_448, 1_037_153_816),
    (78_643_223, 123_793_686),
    (98_304_011, 181_171_974),
    (117_964_817, 1_062_410_537),
    (137_625_648, 652_432_975),
    (157_286_442, 400_078_567),
    (176_947_229, 46_453_828),
    (196_608_019, 1_105_413_057),
    (216_268_868, 1_956_087_994),
    (235_929_648, 1_407_925_218),
    (255_590_452, 1_660_456_561),
    (275_251_227, 42_055_684),
    (294_912_013, 2_013_011_059),
];

/// A piece of the text.
///
/// # Panics
/// When it does not lie within [`BYTES`], or has more than [`BEYOND`].
pub(crate) fn piece(offset: usize, bytes: usize) -> &'static str {
    static TEXT: OnceLock<Vec<String>> = OnceLock::new();
    let part = PARTS.partition_point(|(first, _)| *first <= offset) - 1;
    let first = offset - PARTS[part].0;
    &TEXT.get_or_init(make)[part][first..first + bytes]
}

/// Makes all parts, as many at a time as there are processors.
fn make() -> Vec<String> {
    let lists = &Lists::new();
    let each = PARTS.len().div_ceil(available_parallelism().map_or(1, usize::from));
    let run = |first: usize| -> Vec<String> {
        (first..PARTS.len().min(first + each)).map(|part| Maker::part(lists, part)).collect()
    };
    scope(|scope| {
        let threads: Vec<_> = (0..PARTS.len())
            .step_by(each)
            .map(|first| {
                // Where the system gives no thread, this one does it.
                let thread =
                    Builder::new().name("text".into()).spawn_scoped(scope, move || run(first));
                thread.map_err(|_| first)
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| match thread {
                Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
                Err(first) => run(first),
            })
            .collect()
    })
}

/// A word with the punctuation behind it, and their length.
type Word = ([u8; 16], usize);

/// Values to draw from, by weight.
struct Lists {
    sentences: Vec<&'static str>,
    noun_phrases: Vec<&'static str>,
    verb_phrases: Vec<&'static str>,
    nouns: Vec<Word>,
    verbs: Vec<Word>,
    adjectives: Vec<Word>,
    adverbs: Vec<Word>,
    auxiliaries: Vec<Word>,
    prepositions: Vec<Word>,
    terminators: Vec<Word>,
}

impl Lists {
    fn new() -> Self {
        let distributions = Distributions::static_default();
        Self {
            sentences: weighted(distributions.grammar(), |form| form),
            noun_phrases: weighted(distributions.noun_phrase(), |form| form),
            verb_phrases: weighted(distributions.verb_phrase(), |form| form),
            nouns: weighted(distributions.nouns(), word),
            verbs: weighted(distributions.verbs(), word),
            adjectives: weighted(distributions.adjectives(), word),
            adverbs: weighted(distributions.adverbs(), word),
            auxiliaries: weighted(distributions.auxiliaries(), word),
            prepositions: weighted(distributions.prepositions(), word),
            terminators: weighted(distributions.terminators(), word),
        }
    }
}

fn weighted<T: Clone>(distribution: &Distribution, of: impl Fn(&'static str) -> T) -> Vec<T> {
    let mut all = Vec::new();
    for (index, value) in distribution.get_values().iter().enumerate() {
        // Weights are those of all values up to this one.
        all.resize(distribution.get_weight(index) as usize, of(value));
    }
    all
}

fn word(text: &'static str) -> Word {
    let mut letters = [b' '; 16];
    letters[..text.len()].copy_from_slice(text.as_bytes());
    (letters, text.len() + 1)
}

/// Makes sentences one behind the other.
struct Maker<'l> {
    lists: &'l Lists,
    random: u64,
    out: Vec<u8>,
}

impl<'l> Maker<'l> {
    fn part(lists: &'l Lists, part: usize) -> String {
        let (first, random) = PARTS[part];
        let end = PARTS.get(part + 1).map_or(BYTES, |(next, _)| *next);
        let bytes = end - first + BEYOND;
        let mut maker = Self { lists, random, out: Vec::with_capacity(bytes + 512) };
        while maker.out.len() < bytes {
            maker.sentence();
        }
        // All letters are ASCII.
        String::from_utf8(maker.out).unwrap_or_default()
    }

    /// Draws by the generator of the specification: the next number is 16,807 times the last one
    /// modulo 2^31 - 1. `dbgen` takes its share of the list in floating point. That comes to
    /// the same: the modulus is a prime, so that no share is a whole number, nor as near to one
    /// as the error of rounding.
    fn draw<T>(&mut self, list: &'l [T]) -> &'l T {
        const MODULUS: u64 = (1 << 31) - 1;
        self.random = self.random * 16_807 % MODULUS;
        &list[(self.random * list.len() as u64 / MODULUS) as usize]
    }

    fn word(&mut self, list: &'l [Word]) {
        let (letters, bytes) = self.draw(list);
        let end = self.out.len() + bytes;
        // All of them, which takes less than to copy as many as there are.
        self.out.extend_from_slice(letters);
        self.out.truncate(end);
    }

    fn sentence(&mut self) {
        let lists = self.lists;
        for part in self.draw(&lists.sentences).bytes() {
            match part {
                b'N' => self.phrase(&lists.noun_phrases),
                b'V' => self.phrase(&lists.verb_phrases),
                b'P' => {
                    self.word(&lists.prepositions);
                    self.out.extend_from_slice(b"the ");
                    self.phrase(&lists.noun_phrases);
                }
                b'T' => {
                    self.out.pop();
                    self.word(&lists.terminators);
                }
                _ => {}
            }
        }
    }

    fn phrase(&mut self, forms: &'l [&'static str]) {
        let lists = self.lists;
        for part in self.draw(forms).bytes() {
            match part {
                b'N' => self.word(&lists.nouns),
                b'V' => self.word(&lists.verbs),
                b'J' => self.word(&lists.adjectives),
                b'D' => self.word(&lists.adverbs),
                b'X' => self.word(&lists.auxiliaries),
                b',' => {
                    self.out.pop();
                    self.out.extend_from_slice(b", ");
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BEYOND, BYTES, PARTS, piece};
    use tpchgen::text::TextPool;

    /// Compares the whole text: parts meet where they should, and the bytes after a part's end are
    /// those at the beginning of the next part.
    #[test]
    fn the_text_is_that_of_tpchgen() {
        let theirs = TextPool::get_or_init_default();
        assert_eq!(theirs.size() as usize, BYTES);
        for first in (0..BYTES).step_by(BEYOND) {
            let bytes = BEYOND.min(BYTES - first);
            let text = theirs.text(first as i32, (first + bytes) as i32);
            assert!(piece(first, bytes) == text, "{first}");
        }
        for (first, _) in &PARTS[1..] {
            assert_eq!(
                piece(first - 1, BEYOND),
                theirs.text(*first as i32 - 1, (first - 1 + BEYOND) as i32)
            );
        }
    }
}
