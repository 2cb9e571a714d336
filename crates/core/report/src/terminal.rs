use crate::Text;
use crate::chart::{self, ChartRow};
use crate::model::{Align, Block, Chart, Column, Document, Line, Medium, Table, Tone};
use crate::table::Shortening;
use crate::text::{cut, filled};
use std::collections::BTreeSet;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Between columns, as the published tables have it.
pub(crate) const GAP: usize = 2;
/// A name is cut to no less than this.
const NAME_MIN: usize = 8;

/// Medium and colour; the caller decides about colour (`NO_COLOR`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Text only.
    Plain,
    /// Text only, for a file or a program: tables are as wide as they have to be, and nothing in
    /// them is cut.
    Piped,
    /// ANSI colours.
    Colour,
}

/// The report for a terminal of `width` columns.
///
/// Lines are wrapped. A table that does not fit loses its optional columns (and says which). Then
/// long names are cut, in their middle where they begin alike. If that is not enough, or would make
/// rows look the same, each row becomes a list.
pub fn terminal(document: &Document, width: usize, style: Style) -> String {
    let mut out = Terminal { text: String::new(), width: width.max(20), style };
    out.heading(document.title.as_str());
    for section in document.sections_for(Medium::Text) {
        if !section.heading.is_empty() {
            out.text.push('\n');
            out.heading(section.heading.as_str());
        }
        for block in &section.blocks {
            match block {
                Block::Line(line) => out.line(line),
                Block::Table(table) => out.table(table),
                Block::Chart(chart) => out.chart(chart),
                Block::Figure(figure) => figure.chart.iter().for_each(|chart| out.chart(chart)),
                Block::Picture(..) | Block::Listing(_) | Block::Fold(..) => {}
            }
        }
    }
    out.text
}

struct Terminal {
    text: String,
    width: usize,
    style: Style,
}

impl Terminal {
    fn heading(&mut self, text: &str) {
        if !text.is_empty() {
            for line in wrap(text, self.width) {
                self.end_line(&[self.bold(&line)]);
            }
        }
    }

    fn line(&mut self, line: &Line) {
        let parts = wrap(line.text.as_str(), self.width.saturating_sub(line.indent));
        for (row, part) in parts.iter().enumerate() {
            let before = filled(if row == 0 { line.label } else { "" }, line.indent);
            self.end_line(&[self.paint(&before, Tone::Muted), self.paint(part, line.tone)]);
        }
    }

    fn table(&mut self, table: &Table) {
        let headings: Vec<Text> = table.columns.iter().map(Column::heading).collect();
        let rows: Vec<Vec<(Text, Tone)>> = table
            .rows()
            .map(|row| row.iter().map(|cell| (cell.text(), cell.tone)).collect())
            .collect();
        let room = if self.style == Style::Piped { usize::MAX } else { self.width };
        let Some(layout) = TableLayout::for_table(table, &headings, &rows, room) else {
            return self.lists(&headings, &rows);
        };
        self.row(&layout, |column: &ShownColumn| (&headings[column.position], None));
        for row in &rows {
            self.row(&layout, |column| (&row[column.position].0, Some(row[column.position].1)));
        }
        if !layout.left_out.is_empty() {
            let names = layout.left_out.join(", ");
            let note = format!("(columns hidden at this width: {names})");
            for line in wrap(&note, self.width) {
                self.end_line(&[self.paint(&line, Tone::Muted)]);
            }
        }
    }

    /// Each row as a list of headings and cells, below its first cell.
    fn lists(&mut self, headings: &[Text], rows: &[Vec<(Text, Tone)>]) {
        for (i, (heading, (text, tone))) in
            rows.iter().flat_map(|row| headings.iter().zip(row).enumerate())
        {
            let text = if heading.is_empty() || text.is_empty() {
                text.clone()
            } else {
                Text::from(format!("{heading}: {text}"))
            };
            if !text.is_empty() {
                let indent = if i == 0 { 0 } else { 2 };
                self.line(&Line { text, tone: *tone, indent, ..Line::default() });
            }
        }
    }

    fn chart(&mut self, chart: &Chart) {
        self.heading(chart.heading().as_str());
        for row in chart::rows(chart, self.width) {
            match row {
                ChartRow::Group(label) => {
                    for part in wrap(&label, self.width) {
                        self.end_line(&[part]);
                    }
                }
                ChartRow::Bar { label, bar, figure, note, tone } => {
                    let gap = if bar.is_empty() { "" } else { "  " };
                    let (text, blanks) = figure.split_at(figure.trim_end().len());
                    let (bar, text) = (self.paint(&bar, tone), self.paint(text, tone));
                    let parts = ["  ", &label, "  ", &bar, gap, &text, blanks, &note];
                    self.end_line(&parts.map(str::to_owned));
                }
            }
        }
    }

    /// A cell without a tone is a heading.
    fn row<'r>(
        &mut self,
        layout: &TableLayout,
        cell: impl Fn(&ShownColumn) -> (&'r Text, Option<Tone>),
    ) {
        let mut parts = Vec::new();
        for column in &layout.columns {
            let (text, tone) = cell(column);
            let text = (column.cut)(text, column.width);
            let room = " ".repeat(column.width.saturating_sub(text.width()));
            let painted = tone.map_or_else(|| self.bold(&text), |tone| self.paint(&text, tone));
            match column.of.align {
                Align::Left => parts.extend([painted, room]),
                Align::Right => parts.extend([room, painted]),
            }
            parts.push(" ".repeat(GAP));
        }
        self.end_line(&parts);
    }

    /// Writes a line without blanks at its end.
    fn end_line(&mut self, parts: &[String]) {
        let end = parts.iter().rposition(|part| !part.trim().is_empty()).map_or(0, |last| last + 1);
        parts[..end].iter().for_each(|part| self.text.push_str(part));
        self.text.push('\n');
    }

    fn bold(&self, text: &str) -> String {
        self.escape(text, "1")
    }

    fn paint(&self, text: &str, tone: Tone) -> String {
        match tone {
            Tone::Plain => text.to_owned(),
            Tone::Good => self.escape(text, "32"),
            Tone::Bad => self.escape(text, "31"),
            Tone::Warning => self.escape(text, "33"),
            Tone::Muted => self.escape(text, "2"),
        }
    }

    fn escape(&self, text: &str, code: &str) -> String {
        if self.style != Style::Colour || text.is_empty() {
            text.to_owned()
        } else {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        }
    }
}

/// The columns that are shown, and how wide.
struct TableLayout<'a> {
    columns: Vec<ShownColumn<'a>>,
    left_out: Vec<String>,
}

struct ShownColumn<'a> {
    position: usize,
    width: usize,
    of: &'a Column,
    cut: fn(&str, usize) -> String,
}

impl<'a> TableLayout<'a> {
    /// `None`: there is no room for it, or not enough to tell the rows apart.
    fn for_table(
        table: &'a Table,
        headings: &[Text],
        rows: &[Vec<(Text, Tone)>],
        room: usize,
    ) -> Option<Self> {
        let columns = table
            .columns
            .iter()
            .enumerate()
            .map(|(position, column)| {
                let cells = rows.iter().map(|row| row[position].0.width());
                let width = cells.chain([headings[position].width()]).max().unwrap_or(0);
                ShownColumn { position, width, of: column, cut: cut_settings }
            })
            .collect();
        let mut layout = Self { columns, left_out: Vec::new() };
        layout.leave_out(headings, room);
        layout.narrow(room);
        (layout.width() <= room && layout.tell_apart(rows)).then_some(layout)
    }

    fn width(&self) -> usize {
        let columns: usize = self.columns.iter().map(|column| column.width + GAP).sum();
        columns.saturating_sub(GAP)
    }

    fn leave_out(&mut self, headings: &[Text], room: usize) {
        while self.width() > room {
            let last = self.columns.iter().map(|column| column.of.optional).max().unwrap_or(0);
            if last == 0 {
                return;
            }
            for out in self.columns.extract_if(.., |column| column.of.optional == last) {
                self.left_out.push(headings[out.position].to_string());
            }
        }
    }

    /// Takes from the widest column of names until the table fits.
    fn narrow(&mut self, room: usize) {
        let mut excess = self.width().saturating_sub(room);
        while excess > 0 {
            let names = self.columns.iter_mut();
            let names = names.filter(|column| column.of.shortening != Shortening::Never);
            let Some(widest) =
                names.max_by_key(|column| column.width).filter(|c| c.width > NAME_MIN)
            else {
                return;
            };
            widest.width -= 1;
            excess -= 1;
        }
    }

    /// Cuts names in their middle where cut at their end they would look the same. Returns whether
    /// the rows, which the first column names, look as different as they are.
    fn tell_apart(&mut self, rows: &[Vec<(Text, Tone)>]) -> bool {
        for (place, column) in self.columns.iter_mut().enumerate() {
            let names: BTreeSet<&str> =
                rows.iter().map(|row| row[column.position].0.as_str()).collect();
            let ways: &[fn(&str, usize) -> String] = match column.of.shortening {
                Shortening::Statement => &[cut_in_middle, cut],
                _ => &[cut_settings, cut, cut_in_middle],
            };
            let found = ways.iter().copied().find(|cut| {
                names.iter().map(|name| cut(name, column.width)).collect::<BTreeSet<_>>().len()
                    == names.len()
            });
            match found {
                Some(found) => column.cut = found,
                None if place == 0 => return false,
                None => column.cut = ways[0],
            }
        }
        true
    }
}

/// Fewest columns of the name of a setting in a label: its first and last letters.
const SETTING_MIN: usize = 7;

/// A label (`a_long_setting=1 another=2`) in at most `width` columns: the longest names of settings
/// lose letters from their middle, and the levels stay. A text that is still too long, or has no
/// levels, is cut at its end.
fn cut_settings(label: &str, width: usize) -> String {
    let settings: Vec<(&str, &str)> =
        label.split(' ').map(|word| word.split_at(word.find('=').unwrap_or(0))).collect();
    let mut widths: Vec<usize> = settings.iter().map(|(name, _)| name.width()).collect();
    for _ in width..label.width() {
        match widths.iter_mut().max() {
            Some(longest) if *longest > SETTING_MIN => *longest -= 1,
            _ => return cut(label, width),
        }
    }
    let settings = settings.iter().zip(widths);
    let words = settings.map(|((name, level), width)| cut_in_middle(name, width) + level);
    words.collect::<Vec<_>>().join(" ")
}

/// The beginning and the end of a text, in at most `width` columns.
fn cut_in_middle(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let end: String =
        cut(&text.chars().rev().collect::<String>(), width / 2).chars().rev().collect();
    let beginning = cut(text, width - end.width() + 1);
    beginning.trim_end_matches('…').to_owned() + &end
}

/// Wraps lines to this width: the rest of a wider one follows below, indented.
pub fn wrapped(lines: &str, width: usize) -> String {
    let broken = lines.lines().flat_map(|line| {
        if line.width() <= width {
            return vec![line.to_owned()];
        }
        let indent = " "
            .repeat((line.len() - line.trim_start_matches(' ').len() + CONTINUED).min(width / 2));
        let mut pieces = wrap(line, width - indent.len()).into_iter();
        let first = pieces.next().unwrap_or_default();
        std::iter::once(first)
            .chain(pieces.map(move |piece| format!("{indent}{piece}")))
            .collect::<Vec<_>>()
    });
    broken.map(|line| line + "\n").collect()
}

/// Columns by which continued lines are indented.
const CONTINUED: usize = 4;

/// Breaks at blanks, but not between a number and its unit or within `p = 0.012`, and words that
/// are longer than a line.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match words.last_mut() {
            Some(last)
                if last.ends_with(|c: char| c.is_ascii_digit()) && is_unit(word)
                    || is_statistic(last, word) =>
            {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    let words = words.into_iter().flat_map(|word| pieces(&word, width));
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(&word);
            }
            _ => lines.push(word),
        }
    }
    lines
}

/// A word in pieces that fit: a figure that is too long for a line is parted from its unit, a name
/// anywhere.
fn pieces(word: &str, width: usize) -> Vec<String> {
    if word.width() <= width {
        return vec![word.to_owned()];
    }
    let mut pieces: Vec<String> = Vec::new();
    for part in word.split(' ') {
        let mut piece = String::new();
        for character in part.chars() {
            if piece.width() + character.width().unwrap_or(0) > width && !piece.is_empty() {
                pieces.push(std::mem::take(&mut piece));
            }
            piece.push(character);
        }
        pieces.push(piece);
    }
    pieces
}

/// Returns whether a word continues an equation: `p`, `=`, `0.012`.
fn is_statistic(before: &str, word: &str) -> bool {
    let letter = before.trim_start_matches('(');
    let begins = letter.len() == 1 && letter.ends_with(|c: char| c.is_ascii_alphabetic());
    begins && matches!(word, "=" | "<") || before.ends_with(" =") || before.ends_with(" <")
}

fn is_unit(word: &str) -> bool {
    matches!(
        word.trim_end_matches(|c: char| c.is_ascii_punctuation() && c != '%'),
        "%" | "s" | "ms" | "us" | "ns"
    )
}

#[cfg(test)]
mod tests {
    use super::{Style, cut, cut_in_middle, terminal, wrap};
    use crate::model::{Block, Document, Section};
    use crate::table::Columns;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn what_goes_on_below_is_indented() {
        let lines =
            "space: a trial needs 46.1 MiB at least\n  1. a=1 b=2 c=3 d=4 (baseline)\n\nshort\n";
        let wrapped = super::wrapped(lines, 24);
        assert_eq!(
            wrapped,
            "space: a trial needs\n    46.1 MiB at least\n  1. a=1 b=2 c=3\n      d=4 \
             (baseline)\n\nshort\n"
        );
    }

    #[test]
    fn wraps_at_blanks_but_not_before_a_unit() {
        assert_eq!(
            wrap("client 0.5 % + unaccounted 2.0 %", 12),
            ["client 0.5 %", "+", "unaccounted", "2.0 %"]
        );
        assert_eq!(wrap("(1755 s).", 9), ["(1755 s)."]);
        assert_eq!(wrap("(1755 s).", 6), ["(1755", "s)."]);
        assert_eq!(wrap("a incomprehensibilities b", 8), ["a", "incompre", "hensibil", "ities b"]);
        assert_eq!(wrap("F = 4.21, p < 0.001", 9), ["F = 4.21,", "p < 0.001"]);
        assert_eq!(wrap("", 8), [""]);
    }

    #[test]
    fn labels_keep_their_levels() {
        let label = "autovacuum_vacuum_insert_scale_factor=0.1 max_parallel_workers=12 jit=on";
        let short = super::cut_settings(label, 50);
        assert_eq!(short, "autovacuu…e_factor=0.1 max_paral…workers=12 jit=on");
        assert!(short.width() <= 50);
        assert_eq!(super::cut_settings(label, 30), "auto…tor=0.1 max_…rs=12 jit=on");
        assert_eq!(super::cut_settings(label, 28), "autovacuum_vacuum_insert_sc…");
        assert_eq!(super::cut_settings("without a level", 8), "without…");
    }

    #[test]
    fn cuts_to_the_width_that_a_terminal_gives_it() {
        assert_eq!(cut("data_files", 10), "data_files");
        assert_eq!(cut("data_files", 6), "data_…");
        let wide = cut("大きさ大きさ", 6);
        assert_eq!((wide.as_str(), wide.width()), ("大き…", 5));
    }

    /// Two rows as they are shown on a terminal of this width.
    fn shown(names: [&'static str; 2], width: usize) -> Vec<String> {
        let mut columns = Columns::for_rows(names);
        columns.name("configuration", |name: &&str| (*name).to_owned());
        columns.right("reads/s", |_| "1,000".to_owned());
        let section = Section { blocks: vec![Block::Table(columns.into())], ..Section::default() };
        let text = terminal(
            &Document { sections: vec![section], ..Document::default() },
            width,
            Style::Plain,
        );
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn cut_names_tell_rows_apart_or_each_row_is_a_list() {
        let names = ["volume=this disk data_files=1", "volume=this disk data_files=4"];
        let other_begin = ["this disk of the machine", "cloud disk of the machine"];
        assert_eq!(
            shown(other_begin, 22)[1..],
            ["this disk of…    1,000", "cloud disk o…    1,000"]
        );
        assert_eq!(
            shown(names, 27)[1..],
            ["volume=th…_files=1    1,000", "volume=th…_files=4    1,000"]
        );
        let same_ends = ["volume=none work=load blocks=1", "volume=none work=scan blocks=1"];
        assert_eq!(
            shown(same_ends, 26),
            [
                "configuration: volume=none",
                "work=load blocks=1",
                "  reads/s: 1,000",
                "configuration: volume=none",
                "work=scan blocks=1",
                "  reads/s: 1,000"
            ]
        );
        assert_eq!(cut_in_middle("data_files", 10), "data_files");
        assert_eq!(cut_in_middle("data_files", 7), "data…es");
        assert_eq!(cut_in_middle("大きさ大きさ", 6).width(), 5);
    }
}
