//! Words of command lines that stand somewhere in a text.

use super::quotes::{Quote, after_blanks, quote, quoted};
use std::ops::Range;

/// A word without its quotes.
#[derive(Debug, Default)]
pub struct Word {
    pub text: Vec<char>,
    /// Where each of its characters stands.
    pub places: Vec<usize>,
}

impl Word {
    fn extend(&mut self, chars: &[char], places: Range<usize>) {
        self.text.extend_from_slice(&chars[places.clone()]);
        self.places.extend(places);
    }
}

/// The depth of a quote that a shell has between two others: `'\''`, `'"'"'`.
const BETWEEN: usize = usize::MAX;

/// The words after the name of a program, which ends at `end`: to the end of its command, or of the
/// text or the list that holds it.
pub fn arguments(chars: &[char], start: usize, end: usize) -> Vec<Word> {
    let around = enclosing(chars, start);
    let after = quote(chars, end).filter(|(quote, _)| Some(*quote) == around);
    match after.map(|(_, after)| after_blanks(chars, after)) {
        // ["program", "word", ...]
        Some(comma) if chars.get(comma) == Some(&',') => list(chars, comma),
        // "program" word ...
        Some(blank) => Line { chars, around: None }.words(blank),
        None => Line { chars, around }.words(end),
    }
}

fn list(chars: &[char], mut comma: usize) -> Vec<Word> {
    let mut words = Vec::new();
    while chars.get(comma) == Some(&',') {
        let start = comma + 1;
        let start = start + chars[start..].iter().take_while(|c| c.is_whitespace()).count();
        let Some(inner) = quoted(chars, start) else { break };
        let mut word = Word::default();
        word.extend(chars, inner.clone());
        if !word.text.is_empty() {
            words.push(word);
        }
        comma = after_blanks(chars, inner.end + inner.start - start);
    }
    words
}

/// The quote that a place of a line is in.
fn enclosing(chars: &[char], at: usize) -> Option<Quote> {
    let mut closing = None;
    for place in (0..at).rev().take_while(|place| chars[*place] != '\n') {
        let mark = chars[place];
        if !"'\"".contains(mark) {
            continue;
        }
        let depth = chars[..place].iter().rev().take_while(|c| **c == '\\').count();
        let quote = Quote { mark, depth };
        let before = chars[..place - depth].last();
        if closing == Some(quote) {
            closing = None;
        } else if closing.is_none() {
            if before.is_none_or(|c| c.is_whitespace() || "=([{,:;&|>'\"".contains(*c)) {
                return Some(quote);
            }
            closing = Some(quote);
        }
    }
    None
}

/// A command line in a text.
struct Line<'a> {
    chars: &'a [char],
    around: Option<Quote>,
}

impl Line<'_> {
    fn words(&self, mut at: usize) -> Vec<Word> {
        let mut words = Vec::new();
        let mut is_ended = false;
        while !is_ended && at < self.chars.len() {
            let mut word = Word::default();
            (at, is_ended) = self.word(at, &mut word);
            if !word.text.is_empty() {
                words.push(word);
            }
            at += 1;
        }
        words
    }

    /// Reads a word, perhaps an empty one. Returns where it ends, and whether its line ends there.
    fn word(&self, mut at: usize, word: &mut Word) -> (usize, bool) {
        let mut open: Option<Quote> = None;
        while let Some(c) = self.chars.get(at) {
            match self.quote(at) {
                Some((quote, after)) if open == Some(quote) => (open, at) = (None, after),
                Some((quote, _)) if self.is_around(quote) => return (at, true),
                Some((quote, after)) if open.is_none() && self.is_closed(quote, after) => {
                    (open, at) = (Some(quote), after);
                }
                Some((_, after)) => {
                    word.extend(self.chars, at..after);
                    at = after;
                }
                None if *c == '\n' => return (at, true),
                None if open.is_none() && (c.is_whitespace() || "<>".contains(*c)) => {
                    return (at, false);
                }
                None if open.is_none() && ";|&`)".contains(*c) => return (at, true),
                None => {
                    // What a backslash escapes is part of the word.
                    let escapes = *c == '\\' && open.is_none_or(|open| open.mark == '"');
                    let length = 1 + usize::from(escapes && at + 1 < self.chars.len());
                    word.extend(self.chars, at..at + length);
                    at += length;
                }
            }
        }
        (at, true)
    }

    /// A quote at a place, and where what it holds begins.
    fn quote(&self, at: usize) -> Option<(Quote, usize)> {
        let is_single = self.around == Some(Quote { mark: '\'', depth: 0 });
        let between = [&['\'', '\\', '\'', '\''][..], &['\'', '"', '\'', '"', '\'']];
        let between = between.iter().find(|signs| is_single && self.chars[at..].starts_with(signs));
        between.map_or_else(
            || quote(self.chars, at),
            |signs| Some((Quote { mark: '\'', depth: BETWEEN }, at + signs.len())),
        )
    }

    /// Returns whether this quote ends what is around the line.
    fn is_around(&self, quote: Quote) -> bool {
        self.around.is_some_and(|around| around.mark == quote.mark && quote.depth <= around.depth)
    }

    /// Returns whether an opening quote is closed in this line.
    fn is_closed(&self, opening: Quote, after: usize) -> bool {
        let mut at = after;
        while at < self.chars.len() && self.chars[at] != '\n' {
            let Some((quote, after)) = self.quote(at) else {
                at += 1;
                continue;
            };
            if quote == opening || self.is_around(quote) {
                return quote == opening;
            }
            at = after;
        }
        false
    }
}
