//! The terminal as a screen of lines: taken from the user, drawn, and given back.

use report::text::{beginning, filled};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use std::fmt::Write as _;
use std::io::{self, Write as _, stdin, stdout};
use std::iter::repeat_n;
use std::time::Duration;
use terminal_size::terminal_size;
use unicode_width::UnicodeWidthStr;

/// The key Esc.
pub(crate) const ESCAPE: char = '\u{1b}';
/// The keys Ctrl-C.
pub(crate) const INTERRUPT: char = '\u{3}';

/// How a part of a line looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Look {
    #[default]
    Plain,
    Bold,
    Dim,
    /// With the colours of text and background exchanged.
    Selected,
    /// In a colour of ECMA-48: 31 is red.
    Colour(u8),
}

/// A part of a line. Its text has no control characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub text: String,
    pub look: Look,
}

/// A line of the screen.
pub(crate) type Line = Vec<Span>;

/// A part of a line with a look.
pub(crate) fn span(text: impl Into<String>, look: Look) -> Span {
    Span { text: text.into(), look }
}

/// Cuts or fills a text to a number of columns.
pub(crate) fn fitted(text: &str, columns: usize) -> String {
    filled(beginning(text, columns), columns)
}

/// The terminal of this process; dropping this gives it back as it was.
pub(crate) struct Screen {
    /// The terminal's modes before.
    modes: Termios,
    /// Columns and lines of what was drawn last.
    drawn: (usize, usize),
    has_colours: bool,
}

impl Screen {
    /// Takes over the terminal: keys come one by one, and its contents come back at the end.
    ///
    /// # Errors
    /// When standard input is not a terminal.
    pub(crate) fn open() -> io::Result<Self> {
        let modes = tcgetattr(stdin())?;
        let mut raw = modes.clone();
        raw.make_raw();
        tcsetattr(stdin(), OptionalActions::Flush, &raw)?;
        // <https://no-color.org>
        let has_colours = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let screen = Self { modes, drawn: (0, 0), has_colours };
        // Its own screen, without a cursor, and without lines that go on in the next one.
        show("\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l")?;
        Ok(screen)
    }

    /// Returns the numbers of columns and lines; those of an old terminal where it has no size.
    pub(crate) fn size() -> (usize, usize) {
        terminal_size().map_or((80, 24), |(columns, lines)| (columns.0.into(), lines.0.into()))
    }

    /// Shows lines from the top; a line ends at the number of columns.
    pub(crate) fn draw(&mut self, lines: &[Line], columns: usize) -> io::Result<()> {
        let mut text = String::new();
        let size = (columns, lines.len());
        if size != self.drawn {
            text.push_str("\u{1b}[2J");
            self.drawn = size;
        }
        for (row, line) in lines.iter().enumerate() {
            let _ = write!(text, "\u{1b}[{};1H", row + 1);
            let mut left = columns;
            for Span { text: words, look } in line {
                let shown = beginning(words, left);
                left -= shown.width();
                match self.code(*look) {
                    Some(code) => {
                        let _ = write!(text, "\u{1b}[{code}m{shown}\u{1b}[0m");
                    }
                    None => text.push_str(shown),
                }
            }
            text.extend(repeat_n(' ', left));
        }
        show(&text)
    }

    /// The parameter of SGR (ECMA-48, 8.3.117) for a look.
    fn code(&self, look: Look) -> Option<u8> {
        match look {
            Look::Plain => None,
            Look::Bold => Some(1),
            Look::Dim => Some(2),
            Look::Selected => Some(7),
            Look::Colour(code) => self.has_colours.then_some(code),
        }
    }

    /// Waits for a key; `None` if the time passes, or for a key without a character.
    ///
    /// # Errors
    /// When the terminal is gone.
    pub(crate) fn key(patience: Duration) -> io::Result<Option<char>> {
        let input = stdin();
        let patience = Timespec::try_from(patience).map_err(io::Error::other)?;
        match poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&patience)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        // A key without a character of its own sends several, which come together.
        let mut bytes = [0; 32];
        let length = rustix::io::read(&input, &mut bytes)?;
        Ok(match &bytes[..length] {
            [] => return Err(io::ErrorKind::UnexpectedEof.into()),
            [0x1b, _, ..] => None,
            [byte, ..] => Some(char::from(*byte)),
        })
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        // The program ends here, or with the error that ends it.
        let _ = show("\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l");
        let _ = tcsetattr(stdin(), OptionalActions::Flush, &self.modes);
    }
}

/// Writes to the terminal.
fn show(text: &str) -> io::Result<()> {
    let mut output = stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::fitted;

    #[test]
    fn a_text_fits_its_columns() {
        assert_eq!(fitted("lock", 6), "lock  ");
        assert_eq!(fitted("locks", 3), "loc");
        // Wide characters take two columns, and none is cut in half.
        assert_eq!(fitted("表表", 3), "表 ");
        assert_eq!(fitted("", 0), "");
    }
}
