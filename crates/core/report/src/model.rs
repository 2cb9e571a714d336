//! The document model, independent of the medium: headings, lines, tables and figures.

pub use crate::table::Columns;
pub(crate) use crate::table::NOTHING;
pub use crate::table::{Align, Cell, Column, Table, Tone};

use crate::{Text, number};
use analysis::{Estimate, Interval};
use serde_json::Value;

/// A report.
#[derive(Clone, Default)]
pub struct Document {
    /// The title.
    pub title: Text,
    /// The parts in order.
    pub sections: Vec<Section>,
}

/// A part with a heading.
#[derive(Clone, Default)]
pub struct Section {
    /// Heading; empty for what belongs to the section before.
    pub heading: Text,
    /// Where it is shown.
    pub medium: Medium,
    /// Where it is on a page.
    pub place: Place,
    /// The name by which a command line asks for it; empty for what is always printed.
    pub name: &'static str,
    /// Entries that a screen has of it, if it has a name: rows of its first table, or lines with
    /// those indented below them.
    pub on_screen: usize,
    /// The content.
    pub blocks: Vec<Block>,
}

/// The media in which a section is shown: a page has figures and room, a text is read from top to
/// bottom.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Medium {
    /// Everywhere.
    #[default]
    Any,
    /// In HTML only.
    Page,
    /// On terminals and in Markdown only.
    Text,
}

/// The place of a section on a page, from top to bottom.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Place {
    /// The question.
    Question,
    /// The sentence that answers it.
    Answer,
    /// The figure that shows it.
    Chart,
    /// The cause, beside the figure where there is room.
    Why,
    /// Limits of the answer.
    Notes,
    /// Below the first view, under a heading that opens and closes it.
    #[default]
    Below,
}

impl Place {
    /// The parts of the first view with the names of their styles.
    pub const FIRST: [(Self, &'static str); 5] = [
        (Self::Question, "question"),
        (Self::Answer, "answer"),
        (Self::Chart, "chart"),
        (Self::Why, "why"),
        (Self::Notes, "notes"),
    ];
}

/// A part of a section.
#[derive(Clone)]
pub enum Block {
    /// A paragraph.
    Line(Line),
    /// A table.
    Table(Table<'static>),
    /// Bars, drawn everywhere.
    Chart(Chart),
    /// A figure for pages; texts have its chart instead, if it has one.
    Figure(Box<Figure>),
    /// A picture as SVG without scripts, with its caption, on pages only. Its texts are escaped:
    /// [`crate::web::text`].
    Picture(String, Text),
    /// Lines of a file or of a program's output as they are, on pages only.
    Listing(Vec<Text>),
    /// Content that a page shows when its heading is opened.
    Fold(Text, Vec<Block>),
}

/// A figure that `report.js` draws.
#[derive(Clone)]
pub struct Figure {
    /// The drawing: `kind` names the function of `report.js` that draws it. Strings in it are
    /// [`Text`]s.
    pub spec: Value,
    /// How to read it.
    pub caption: Text,
    /// The main figures in words, for those who cannot see it.
    pub alternative: Text,
    /// The data.
    pub data: Table<'static>,
    /// Heading of the data.
    pub data_heading: Text,
    /// The chart that terminals and texts draw instead.
    pub chart: Option<Chart>,
}

/// Columns of a label with the blanks behind it.
const LABEL: usize = 7;

/// A paragraph of one sentence or a few; wrapped where it does not fit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    /// The kind of line, printed before it: `Why`; mostly empty.
    pub label: &'static str,
    /// The text.
    pub text: Text,
    /// How it is meant.
    pub tone: Tone,
    /// Spaces before it, and before its continuation: what belongs to the line above is indented.
    pub indent: usize,
}

/// Bars on one axis, which begins at zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// The content, and the better direction.
    pub title: Text,
    /// Unit of all values.
    pub unit: Text,
    /// The direction of bars.
    pub kind: ChartKind,
    /// Bars that belong together.
    pub groups: Vec<BarGroup>,
}

/// The direction of bars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartKind {
    /// To the right; values are not negative.
    Bars,
    /// To both sides of zero: differences in percent.
    Diverging,
    /// From one total to another: the first and the last bar are totals, each bar between them is a
    /// change that begins where the one before ended.
    Waterfall,
    /// Each group is one series, its bars the values of its intervals in order; those of the
    /// warm-up, which come first, are muted.
    OverTime,
}

/// Bars with a heading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BarGroup {
    /// Heading; empty where there is only one group.
    pub label: Text,
    /// The bars in order.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bar {
    /// The label.
    pub label: Text,
    /// The length.
    pub value: f64,
    /// Both ends of the 95 % interval of the value, where it has one.
    pub interval: Option<Interval>,
    /// A further remark: `p99 1.20 ms`.
    pub note: Text,
    /// How it is meant.
    pub tone: Tone,
}

impl Document {
    /// The sections for pages (or for texts) that have anything to show there.
    pub fn sections_for(&self, medium: Medium) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(move |section| {
            let has_content = section.blocks.iter().any(|block| match block {
                Block::Figure(figure) => medium == Medium::Page || figure.chart.is_some(),
                Block::Picture(..) | Block::Listing(_) | Block::Fold(..) => medium == Medium::Page,
                Block::Line(_) | Block::Table(_) | Block::Chart(_) => true,
            });
            has_content && (section.medium == Medium::Any || section.medium == medium)
        })
    }
}

impl Section {
    /// A section without blocks.
    pub fn new(heading: impl Into<Text>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    /// A section of a subject, which its heading names unless it is empty.
    pub fn about(title: &str, subject: &str) -> Self {
        Self::new(if subject.is_empty() { title.to_owned() } else { format!("{title}: {subject}") })
    }

    /// A section that only pages show.
    pub fn page(heading: impl Into<Text>) -> Self {
        Self { medium: Medium::Page, ..Self::new(heading) }
    }

    /// The section at this place of a page.
    #[must_use]
    pub fn at(self, place: Place) -> Self {
        Self { place, ..self }
    }

    /// The section with a name, and the number of its entries on a screen.
    #[must_use]
    pub fn named(self, name: &'static str, on_screen: usize) -> Self {
        Self { name, on_screen, ..self }
    }

    /// The section unless it is empty.
    pub fn unless_empty(self) -> Option<Self> {
        (!self.blocks.is_empty()).then_some(self)
    }

    /// Adds a paragraph.
    pub fn line(&mut self, text: impl Into<Text>) {
        self.toned(text, Tone::Plain);
    }

    /// Adds a paragraph in a tone.
    pub fn toned(&mut self, text: impl Into<Text>, tone: Tone) {
        self.blocks.push(Block::Line(Line { text: text.into(), tone, ..Line::default() }));
    }

    /// Adds a paragraph behind a label.
    pub fn labelled(&mut self, label: &'static str, text: impl Into<Text>, tone: Tone) {
        self.blocks.push(Block::Line(Line { label, text: text.into(), tone, indent: LABEL }));
    }

    /// Adds a note that explains how to read the lines above.
    pub fn note(&mut self, text: impl Into<Text>) {
        self.toned(text, Tone::Muted);
    }

    /// Notes the number of rows that are not shown, if there are any.
    pub fn note_more(&mut self, rows: usize) {
        if rows > 0 {
            self.note(format!("{} more are not shown.", number::count(rows as u64)));
        }
    }

    /// Adds a warning.
    pub fn warn(&mut self, text: impl Into<Text>) {
        self.toned(text, Tone::Warning);
    }

    /// Detail of the line above.
    pub fn detail(&mut self, text: impl Into<Text>) {
        self.indented(2, text, Tone::Muted);
    }

    /// Adds a line that belongs to a line above with less indent; nothing where there is no text.
    pub fn indented(&mut self, indent: usize, text: impl Into<Text>, tone: Tone) {
        let text = text.into();
        if !text.is_empty() {
            self.blocks.push(Block::Line(Line { text, tone, indent, ..Line::default() }));
        }
    }

    /// Adds a table, and a note of what it leaves out.
    pub fn table(&mut self, table: impl Into<Table<'static>>) {
        let table = table.into();
        let shortening = table.shortening();
        self.blocks.push(Block::Table(table));
        if let Some(shortening) = shortening {
            self.note(format!("Shown: {shortening}."));
        }
    }

    /// Adds bars.
    pub fn chart(&mut self, chart: Chart) {
        self.blocks.push(Block::Chart(chart));
    }

    /// Adds a figure for pages.
    pub fn figure(&mut self, mut figure: Figure) {
        if let Some(shortening) = figure.data.shortening() {
            figure.data_heading = format!("{}: {shortening}", figure.data_heading).into();
        }
        self.blocks.push(Block::Figure(Box::new(figure)));
    }
}

impl Bar {
    /// A mean with its interval.
    pub fn from_estimate(estimate: &Estimate) -> Self {
        Self { value: estimate.mean, interval: estimate.interval, ..Self::default() }
    }
}
