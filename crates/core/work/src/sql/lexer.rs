//! The tokens of SQL text, by the rules of each engine.

use std::iter::FusedIterator;

/// An engine's rules for quotes, comments and names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// Chapter 4.1 of PostgreSQL's documentation.
    Postgres,
    /// <https://mariadb.com/kb/en/string-literals/>, `identifier-names` and `comment-syntax`. With
    /// `ANSI_QUOTES` a name in double quotes is taken for a literal.
    MariaDb,
    /// <https://learn.microsoft.com/en-us/sql/t-sql/data-types/constants-transact-sql>
    SqlServer,
    /// <https://www.sqlite.org/lang_keywords.html>
    Sqlite,
}

/// A token's part of speech.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// White space, with ends of lines.
    Space,
    /// Without the end of its line.
    Comment,
    /// A text in quotes. A prefix, such as `E` or `N`, is a word before it.
    Literal,
    /// A name in quotes, backticks or brackets.
    Name,
    /// A number of any base, with fraction and exponent; of SQL Server also an amount of money.
    Number,
    /// A keyword, a plain name or a parameter such as `$1` or `@p`.
    Word,
    /// Any other character, alone.
    Sign,
}

/// A piece of SQL text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// The part of speech.
    pub kind: Kind,
    /// The text, with quotes.
    pub text: &'a str,
    /// The offset in bytes.
    pub at: usize,
    /// False of a literal, a name or a comment whose end is missing.
    pub is_closed: bool,
}

impl Token<'_> {
    /// The offset behind it.
    pub fn end(&self) -> usize {
        self.at + self.text.len()
    }

    /// Compares a word with a keyword, which has no case.
    pub fn is_keyword(&self, keyword: &str) -> bool {
        self.kind == Kind::Word && self.text.eq_ignore_ascii_case(keyword)
    }

    /// True of the parameters `$1`, `$2` and so on.
    pub fn is_numbered_parameter(&self) -> bool {
        self.text.strip_prefix('$').is_some_and(|number| {
            !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    }
}

/// Splits a text; the tokens' texts together are the text.
pub fn tokens(text: &str, syntax: Syntax) -> Tokens<'_> {
    Tokens { text, at: 0, syntax, may_escape: false }
}

/// Iterates over the tokens of a text.
#[derive(Debug, Clone)]
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
    syntax: Syntax,
    /// The token before is the `E` of PostgreSQL's literals with escapes.
    may_escape: bool,
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let rest = &self.text[self.at..];
        let (kind, length) = self.measure(rest, rest.chars().next()?);
        let text = &rest[..length.unwrap_or(rest.len())];
        let token = Token { kind, text, at: self.at, is_closed: length.is_some() };
        self.at = token.end();
        self.may_escape = self.syntax == Syntax::Postgres && token.is_keyword("e");
        Some(token)
    }
}

impl FusedIterator for Tokens<'_> {}

impl Tokens<'_> {
    /// The kind of the token that a text begins with, and its length unless its end is missing.
    fn measure(&self, rest: &str, first: char) -> (Kind, Option<usize>) {
        use Syntax::{MariaDb, Postgres, SqlServer, Sqlite};
        let syntax = self.syntax;
        let has_brackets = matches!(syntax, SqlServer | Sqlite);
        let is_word = |c: char| {
            c.is_alphanumeric()
                || matches!(c, '_' | '$')
                || (has_brackets && matches!(c, '@' | '#'))
        };
        let while_true =
            |is_part: &dyn Fn(char) -> bool| Some(rest.find(|c| !is_part(c)).unwrap_or(rest.len()));
        match first {
            '\'' => {
                let has_escapes = self.may_escape || syntax == MariaDb;
                (Kind::Literal, quoted(rest, Quote { end: '\'', has_escapes, is_doubled: true }))
            }
            '"' if syntax == MariaDb => (
                Kind::Literal,
                quoted(rest, Quote { end: '"', has_escapes: true, is_doubled: true }),
            ),
            '"' => {
                (Kind::Name, quoted(rest, Quote { end: '"', has_escapes: false, is_doubled: true }))
            }
            '`' if syntax != Postgres => {
                (Kind::Name, quoted(rest, Quote { end: '`', has_escapes: false, is_doubled: true }))
            }
            '[' if has_brackets => {
                let is_doubled = syntax == SqlServer;
                (Kind::Name, quoted(rest, Quote { end: ']', has_escapes: false, is_doubled }))
            }
            '$' if syntax == SqlServer => (Kind::Number, Some(1 + number(&rest[1..]))),
            '$' if syntax == Postgres && dollar_tag(rest).is_some() => {
                let tag = dollar_tag(rest).unwrap_or_default();
                let body = &rest[tag.len()..];
                (Kind::Literal, body.find(tag).map(|length| length + 2 * tag.len()))
            }
            '#' if syntax == MariaDb => (Kind::Comment, while_true(&|c| c != '\n')),
            '-' if rest.starts_with("--") => (Kind::Comment, while_true(&|c| c != '\n')),
            '/' if rest.starts_with("/*") => {
                (Kind::Comment, comment(rest, matches!(syntax, Postgres | SqlServer)))
            }
            '0'..='9' => (Kind::Number, Some(number(rest))),
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                (Kind::Number, Some(number(rest)))
            }
            c if c.is_whitespace() => (Kind::Space, while_true(&char::is_whitespace)),
            c if is_word(c) => (Kind::Word, while_true(&is_word)),
            c => (Kind::Sign, Some(c.len_utf8())),
        }
    }
}

/// The rules inside a pair of quotes.
#[derive(Clone, Copy)]
struct Quote {
    end: char,
    /// A backslash takes the next character along.
    has_escapes: bool,
    /// Two of the closing quote are one inside.
    is_doubled: bool,
}

fn quoted(text: &str, quote: Quote) -> Option<usize> {
    let mut rest = text.char_indices().skip(1).peekable();
    while let Some((at, c)) = rest.next() {
        if c == '\\' && quote.has_escapes {
            rest.next();
        } else if c == quote.end {
            let doubled = rest.next_if(|(_, next)| quote.is_doubled && *next == quote.end);
            if doubled.is_none() {
                return Some(at + 1);
            }
        }
    }
    None
}

fn comment(text: &str, is_nested: bool) -> Option<usize> {
    let (mut depth, mut at) = (0_u32, 0);
    loop {
        let rest = &text[at..];
        if rest.starts_with("/*") && (is_nested || depth == 0) {
            depth += 1;
            at += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += rest.chars().next()?.len_utf8();
        }
    }
}

/// The `$tag$` that a text begins with.
fn dollar_tag(text: &str) -> Option<&str> {
    let length = text[1..].find('$')?;
    let name = &text[1..=length];
    let is_tag = !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    is_tag.then(|| &text[..length + 2])
}

/// Digits of any base, a fraction, an exponent with its sign.
fn number(text: &str) -> usize {
    let mut before = '0';
    let end = text.find(|c: char| {
        let exponent_sign = matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
        before = c;
        !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_') || exponent_sign)
    });
    end.unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::{Kind, Syntax, tokens};

    const ALL: [Syntax; 4] = [Syntax::Postgres, Syntax::MariaDb, Syntax::SqlServer, Syntax::Sqlite];

    /// Tokens without spaces, each with a letter for its kind; open ones with an exclamation mark.
    fn spelled(text: &str, syntax: Syntax) -> String {
        let mut out = Vec::new();
        for token in tokens(text, syntax).filter(|token| token.kind != Kind::Space) {
            let kind = match token.kind {
                Kind::Space => ' ',
                Kind::Comment => 'c',
                Kind::Literal => 'l',
                Kind::Name => 'n',
                Kind::Number => 'd',
                Kind::Word => 'w',
                Kind::Sign => 's',
            };
            let open = if token.is_closed { "" } else { "!" };
            out.push(format!("{kind}{open}:{}", token.text));
        }
        out.join(" ")
    }

    #[test]
    fn quotes_and_comments_are_those_of_the_engine() {
        use Syntax::{MariaDb, Postgres, SqlServer, Sqlite};
        for (syntax, text, expected) in [
            (Postgres, r"E'a\';' 'a\' x", r"w:E l:'a\';' l:'a\' w:x"),
            (Postgres, "$$;$$ $a$;$$;$a$ $1 a$b$", "l:$$;$$ l:$a$;$$;$a$ w:$1 w:a$b$"),
            (Postgres, "/* /* */ */ \"a\"\"b\" `", "c:/* /* */ */ n:\"a\"\"b\" s:`"),
            (Postgres, "a[1:2] -- x\n;", "w:a s:[ d:1 s:: d:2 s:] c:-- x s:;"),
            (Postgres, ":name::text \\gset", "s:: w:name s:: s:: w:text s:\\ w:gset"),
            (
                MariaDb,
                "\"a\\\"\" 'it\\'s' `a``b` # x\n1",
                "l:\"a\\\"\" l:'it\\'s' n:`a``b` c:# x d:1",
            ),
            (MariaDb, "/* /* */ $b$ [", "c:/* /* */ w:$b$ s:["),
            (SqlServer, "[a]]b] N'' @p1 #t $4.50", "n:[a]]b] w:N l:'' w:@p1 w:#t d:$4.50"),
            (Sqlite, "[a]] `b` :x @y", "n:[a] s:] n:`b` s:: w:x w:@y"),
            (Sqlite, "0xFF 1_000 .5 1. 1e-7 Käse1", "d:0xFF d:1_000 d:.5 d:1. d:1e-7 w:Käse1"),
        ] {
            assert_eq!(spelled(text, syntax), expected, "{syntax:?} {text}");
        }
    }

    #[test]
    fn a_text_that_was_cut_ends_in_an_open_token() {
        for text in ["'a", "\"a", "/* a", "/*", "'a''", "'"] {
            for syntax in ALL {
                let last = tokens(text, syntax).last().unwrap();
                assert!(!last.is_closed && last.text == text, "{syntax:?} {text}");
            }
        }
        assert_eq!(spelled("$x$ a $y$", Syntax::Postgres), "l!:$x$ a $y$");
        assert_eq!(spelled("E'\\", Syntax::Postgres), "w:E l!:'\\");
        assert_eq!(spelled("-- a", Syntax::Postgres), "c:-- a");
    }

    /// Every text of four of these pieces, of which some are cut.
    #[test]
    fn the_tokens_of_any_text_are_the_text() {
        let pieces =
            ["'", "\"", "`", "[", "]", "$", "a", "1", ".", "-", "/", "*", "\\", "e", "ö", "\n"];
        for number in 0..pieces.len().pow(4) {
            let mut text = String::new();
            let mut left = number;
            for _ in 0..4 {
                text.push_str(pieces[left % pieces.len()]);
                left /= pieces.len();
            }
            for syntax in ALL {
                let mut at = 0;
                for token in tokens(&text, syntax) {
                    assert!(token.at == at && !token.text.is_empty(), "{text:?}");
                    assert_eq!(token.text, &text[at..token.end()], "{text:?}");
                    at = token.end();
                }
                assert_eq!(at, text.len(), "{text:?}");
            }
        }
    }
}
