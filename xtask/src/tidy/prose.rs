//! The prose in a file of source: comments, doc comments and texts, as words and sentences.

use super::source::{Kind, Piece, pieces};

/// Where a passage is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Comment,
    DocComment,
    Text,
}

/// Consecutive lines of a comment, or a string literal.
#[derive(Debug)]
pub struct Passage {
    pub place: Place,
    pub sentences: Vec<Vec<Word>>,
}

/// A word without its punctuation.
#[derive(Debug)]
pub struct Word {
    pub text: String,
    pub line: usize,
    /// Punctuation follows it.
    pub ends_clause: bool,
}

/// All prose of a file.
pub fn passages(text: &str) -> Vec<Passage> {
    let mut passages = Vec::new();
    let mut comment: Vec<Piece> = Vec::new();
    for piece in pieces(text) {
        match piece.kind {
            Kind::Comment => {
                let is_continued = comment.last().is_none_or(|last| {
                    last.line + 1 == piece.line && place(last.text) == place(piece.text)
                });
                if !is_continued {
                    passages.extend(of_comment(&std::mem::take(&mut comment)));
                }
                comment.push(piece);
            }
            Kind::Other if piece.text.trim().is_empty() => {}
            kind => {
                passages.extend(of_comment(&std::mem::take(&mut comment)));
                if kind == Kind::Text {
                    passages.extend(of_text(piece));
                }
            }
        }
    }
    passages.extend(of_comment(&comment));
    passages
}

fn place(comment: &str) -> Place {
    let is_doc = comment.starts_with("//!")
        || comment.starts_with("///") && !comment.starts_with("////")
        || comment.starts_with("/**")
        || comment.starts_with("/*!");
    if is_doc { Place::DocComment } else { Place::Comment }
}

fn of_comment(pieces: &[Piece]) -> Option<Passage> {
    let place = place(pieces.first()?.text);
    let mut sentences = Sentences::default();
    let mut is_code = false;
    for piece in pieces {
        for (at, line) in piece.text.lines().enumerate() {
            let line = line.trim_start().trim_start_matches(['/', '!', '*']).trim();
            if line.starts_with("```") {
                is_code = !is_code;
                sentences.end();
            } else if !is_code {
                if line.is_empty() || line.starts_with(['-', '*', '|', '#']) {
                    sentences.end();
                }
                sentences.add(line, piece.line + at);
            }
        }
    }
    Some(Passage { place, sentences: sentences.finish() })
}

/// A text without spaces is a name, and one with line ends of its own is a document: neither is a
/// sentence.
fn of_text(piece: Piece) -> Option<Passage> {
    let begin = piece.text.find('"')? + 1;
    let is_raw = piece.text.starts_with(['r', 'b', 'c']);
    let inside = piece.text[begin..].trim_end_matches('#');
    let inside = inside.strip_suffix('"').unwrap_or(inside);
    if !inside.contains(' ') {
        return None;
    }
    let mut sentences = Sentences::default();
    let mut is_continued = false;
    for (at, line) in inside.split('\n').enumerate() {
        if !is_continued {
            sentences.end();
        }
        is_continued = !is_raw && line.ends_with('\\');
        let line = line.trim_end_matches('\\');
        for (number, part) in line.split("\\n").enumerate() {
            if number > 0 {
                sentences.end();
            }
            sentences.add(part, piece.line + at);
        }
    }
    Some(Passage { place: Place::Text, sentences: sentences.finish() })
}

#[derive(Default)]
struct Sentences {
    ended: Vec<Vec<Word>>,
    open: Vec<Word>,
    /// Between two backticks, or two quotes that are part of a text.
    is_quoted: bool,
}

impl Sentences {
    fn add(&mut self, line: &str, number: usize) {
        for part in line.split_whitespace() {
            let ticks = part.matches('`').count();
            let is_quoted = self.is_quoted || ticks > 0;
            self.is_quoted ^= ticks % 2 == 1;
            let bare = part.trim_matches(|c: char| !c.is_alphanumeric());
            let is_end = part.trim_end_matches([')', '"', '`', '*']).ends_with(['.', '!', '?']);
            if bare.is_empty() && !is_quoted {
                if let Some(last) = self.open.last_mut() {
                    last.ends_clause = true;
                }
                if is_end {
                    self.end();
                }
                continue;
            }
            self.open.push(Word {
                // A quotation is a word of the sentence and not one of its language.
                text: if is_quoted { "`".into() } else { bare.to_lowercase() },
                line: number,
                ends_clause: part.ends_with(|c: char| c.is_ascii_punctuation()),
            });
            if is_end && !self.is_quoted {
                self.end();
            }
        }
    }

    fn end(&mut self) {
        self.is_quoted = false;
        if !self.open.is_empty() {
            self.ended.push(std::mem::take(&mut self.open));
        }
    }

    fn finish(mut self) -> Vec<Vec<Word>> {
        self.end();
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, passages};

    fn joined(words: &[super::Word]) -> String {
        words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    fn read(text: &str) -> Vec<(Place, Vec<String>)> {
        let all = passages(text).into_iter();
        all.map(|comment| {
            (comment.place, comment.sentences.iter().map(|words| joined(words)).collect())
        })
        .collect()
    }

    #[test]
    fn comments_continue_over_lines_and_quotations_are_one_word() {
        let text =
            "/// Returns the\n/// first. `a b` too\n///\n/// - item\nfn f() {} // why\n// not";
        assert_eq!(
            read(text),
            [
                (
                    Place::DocComment,
                    vec!["returns the first".into(), "` ` too".into(), "item".into()]
                ),
                (Place::Comment, vec!["why not".into()]),
            ]
        );
    }

    #[test]
    fn texts_continue_after_a_backslash() {
        let text = "f(\"the first \\\n    part\\nand more\", \"name\", r\"a b\nc\");";
        assert_eq!(
            read(text),
            [
                (Place::Text, vec!["the first part".into(), "and more".into()]),
                (Place::Text, vec!["a b".into(), "c".into()]),
            ]
        );
    }
}
