//! Whatever is written, reading it ends with an experiment or with errors that can be shown.

use crate::common::{DESIGN, EVERYTHING, catalog, parse};
use experiment::{Plan, changes};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Pieces that mutations insert: meaningful to TOML or to experiment files.
const PIECES: &[&str] = &[
    "",
    " ",
    "\n",
    "=",
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "\"",
    "'",
    "\"\"\"",
    ",",
    ".",
    "#",
    "-",
    "0",
    "-1",
    "9223372036854775807",
    "1e308",
    "nan",
    "-inf",
    "true",
    "2026-01-01T00:00:00Z",
    "[]",
    "{}",
    "[[1], 2]",
    "\"\"",
    "\"1e400 GiB\"",
    "\"-0 %\"",
    "\"____\"",
    "\\u0000",
    "ß",
    "\u{202e}",
    "日本語",
    "\r\n",
    "\u{feff}",
    "[factors]",
    "[[exclude]]",
    "[[level]]",
    "\"target.data_files\" = ",
    "target.engine = \"server\"",
    "\"target.engine\" = [\"sqlite\", \"server\"]",
    "name = ",
    "set = {}",
    "blocks = {}",
    "factor = \"log\"",
    "volume = ",
    "throttle = { bandwidth = \"1 MB/s\" }",
    "hard_to_change = [\"log\"]",
];

fn below(random: &mut Xoshiro256PlusPlus, end: usize) -> usize {
    (random.next_u64() % end.max(1) as u64) as usize
}

/// Replaces, repeats, removes or moves pieces of the text.
fn mutate(text: &str, random: &mut Xoshiro256PlusPlus) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..=below(random, 4) {
        let start = below(random, characters.len());
        let length = below(random, 30).min(characters.len() - start);
        let piece: Vec<char> = match below(random, 4) {
            0 => Vec::new(),
            1 => {
                let other = below(random, characters.len());
                characters[other..(other + 30).min(characters.len())].to_vec()
            }
            _ => PIECES[below(random, PIECES.len())].chars().collect(),
        };
        let length = if below(random, 2) == 0 { 0 } else { length };
        characters.splice(start..start + length, piece);
    }
    characters.into_iter().collect()
}

/// Swaps whole values for other pieces, so that the text stays TOML more often.
fn mutate_value(text: &str, random: &mut Xoshiro256PlusPlus) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=below(random, 3) {
        let line = below(random, lines.len());
        match (below(random, 3), lines[line].split_once(" = ")) {
            (0, _) => {
                let other = below(random, lines.len());
                lines.swap(line, other);
            }
            (_, Some((key, _))) => {
                lines[line] = format!("{key} = {}", PIECES[below(random, PIECES.len())]);
            }
            _ => lines[line].clear(),
        }
    }
    lines.join("\n")
}

#[test]
fn ten_thousand_mutations_do_not_panic() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let original = parse(EVERYTHING).unwrap();
    let (mut right, mut semantic) = (0, 0);
    for number in 0..10_000 {
        let text = [DESIGN, EVERYTHING][number % 2];
        let source = if number % 3 == 0 {
            mutate(text, &mut random)
        } else {
            mutate_value(text, &mut random)
        };
        match parse(&source) {
            Ok(experiment) => {
                right += 1;
                // What is right has to be so for all that comes after.
                let plan = Plan::new(&experiment);
                assert!(!experiment.configurations.is_empty() && !plan.is_empty());
                assert_eq!(plan.block(0, 1).len(), plan.group(0).len());
                let _ = changes(&original, &experiment, &catalog());
            }
            Err(errors) => {
                assert!(!errors.errors.is_empty());
                semantic += usize::from(errors.errors.iter().any(|error| !error.path.is_empty()));
                for error in &errors.errors {
                    let line = source.split('\n').nth(error.line - 1);
                    let characters = line.expect("the line exists").chars().count();
                    assert!(
                        error.column <= characters + 1 && error.length >= 1,
                        "{error:?}\n{source}"
                    );
                    assert!(!error.message.is_empty());
                }
                let rendered = errors.render("mutated.toml", &source);
                // The first twenty are shown, then how many there are more.
                assert!(rendered.lines().count() >= 5 * errors.errors.len().min(20));
                assert!(rendered.chars().all(|c| c == '\n' || !c.is_control()));
            }
        }
    }
    // The mutations reach all of it: files that stay right, and errors beyond those of TOML itself.
    assert!(right > 300 && semantic > 2000, "{right} right, {semantic} wrong beyond syntax");
}
