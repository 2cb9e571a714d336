//! What is shown, independent of where: headings, lines, tables and figures.

use crate::{Text, number};
use analysis::{Comparison, Estimate, FlameNode, Standing};
use serde_json::Value;

/// What is printed where there is nothing to print.
pub(crate) const NOTHING: &str = "-";

/// A report.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// What it is about.
    pub title: Text,
    /// Its parts in order.
    pub sections: Vec<Section>,
}

/// A part with a heading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Section {
    /// Heading; empty for what belongs to the section before.
    pub heading: Text,
    /// Where it is shown.
    pub medium: Medium,
    /// What it says.
    pub blocks: Vec<Block>,
}

/// Where a section is shown: a page has figures and room, a text is read from top to bottom.
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

/// What a section is made of.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A paragraph.
    Line(Line),
    /// A table.
    Table(Table),
    /// Bars, drawn everywhere.
    Chart(Chart),
    /// A figure for pages; texts have its chart instead, if it has one.
    Figure(Box<Figure>),
    /// A flame graph, on pages only.
    Flame(Box<FlameNode>),
}

/// A figure that `report.js` draws.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What to draw: `kind` names the function of `report.js` that draws it. Strings in it are [`Text`]s.
    pub spec: Value,
    /// How to read it.
    pub caption: Text,
    /// The main figures in words, for those who cannot see it.
    pub alternative: Text,
    /// Its data.
    pub data: Table,
    /// What the data is, or what of it is shown.
    pub data_heading: Text,
    /// What texts draw instead.
    pub chart: Option<Chart>,
}

/// A paragraph of one sentence or a few; wrapped where it does not fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What it says.
    pub text: Text,
    /// How it is meant.
    pub tone: Tone,
    /// Spaces before it, and before its continuation: what belongs to the line above is indented.
    pub indent: usize,
}

/// How a text is meant; a renderer without colour ignores it, so it never carries information alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// As it is.
    #[default]
    Plain,
    /// Better, or the best.
    Good,
    /// Worse, or failed.
    Bad,
    /// To be careful with.
    Warning,
    /// Detail.
    Muted,
}

/// A table. All rows have as many cells as there are columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Table {
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows.
    pub rows: Vec<Vec<Cell>>,
    /// Whether the table is a published format that must not be changed to fit.
    pub fixed: bool,
}

/// A column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Column {
    /// Heading.
    pub heading: Text,
    /// Where its cells begin or end.
    pub align: Align,
    /// Whether it holds names, which may be cut where there is no room; figures may not.
    pub names: bool,
    /// Where there is no room: columns with the highest number are left out first; 0 always stays.
    pub optional: u8,
}

/// Alignment of a column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Align {
    /// Names, and figures with intervals.
    #[default]
    Left,
    /// Plain numbers.
    Right,
}

/// A cell.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Cell {
    /// What it says.
    pub text: Text,
    /// How it is meant.
    pub tone: Tone,
}

/// Bars on one axis, which begins at zero.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What is shown, and which way is better.
    pub title: Text,
    /// Unit of all values.
    pub unit: Text,
    /// Which way bars go.
    pub kind: ChartKind,
    /// Bars that belong together.
    pub groups: Vec<BarGroup>,
}

/// Which way bars go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChartKind {
    /// To the right; values are not negative.
    Bars,
    /// To both sides of zero: differences in percent.
    Diverging,
    /// From one total to another: the first and the last bar are totals, each bar between them is a change that
    /// begins where the one before ended.
    Waterfall,
    /// Each group is one series, its bars the values of its intervals in order; those of the warm-up, which come
    /// first, are muted.
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
    /// What it is of.
    pub label: Text,
    /// Its length.
    pub value: f64,
    /// Both ends of the 95 % interval of the value, where it has one.
    pub interval: Option<(f64, f64)>,
    /// What else is to be said of it: `p99 1.20 ms`.
    pub note: Text,
    /// How it is meant.
    pub tone: Tone,
}

impl Document {
    /// The sections for pages (or for texts) that have anything to show there.
    pub fn sections_for(&self, medium: Medium) -> impl Iterator<Item = &Section> {
        let shown = move |block: &Block| match block {
            Block::Figure(figure) => medium == Medium::Page || figure.chart.is_some(),
            Block::Flame(_) => medium == Medium::Page,
            Block::Line(_) | Block::Table(_) | Block::Chart(_) => true,
        };
        let fits = move |section: &&Section| section.medium == Medium::Any || section.medium == medium;
        self.sections.iter().filter(fits).filter(move |section| section.blocks.iter().any(shown))
    }
}

impl Section {
    pub(crate) fn new(heading: impl Into<Text>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    /// One that only pages show.
    pub(crate) fn page(heading: impl Into<Text>) -> Self {
        Self { medium: Medium::Page, ..Self::new(heading) }
    }

    /// The section unless it is empty.
    pub(crate) fn unless_empty(self) -> Option<Self> {
        (!self.blocks.is_empty()).then_some(self)
    }

    pub(crate) fn line(&mut self, text: impl Into<Text>) {
        self.toned(text, Tone::Plain);
    }

    pub(crate) fn toned(&mut self, text: impl Into<Text>, tone: Tone) {
        self.blocks.push(Block::Line(Line { text: text.into(), tone, indent: 0 }));
    }

    /// Detail of the line above.
    pub(crate) fn detail(&mut self, text: impl Into<Text>) {
        self.blocks.push(Block::Line(Line { text: text.into(), tone: Tone::Muted, indent: 2 }));
    }

    pub(crate) fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    pub(crate) fn chart(&mut self, chart: Chart) {
        self.blocks.push(Block::Chart(chart));
    }

    pub(crate) fn figure(&mut self, figure: Figure) {
        self.blocks.push(Block::Figure(Box::new(figure)));
    }
}

impl Column {
    pub(crate) fn left(heading: impl Into<Text>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    pub(crate) fn name(heading: impl Into<Text>) -> Self {
        Self { names: true, ..Self::left(heading) }
    }

    pub(crate) fn right(heading: impl Into<Text>) -> Self {
        Self { align: Align::Right, ..Self::left(heading) }
    }

    pub(crate) fn optional(self, order: u8) -> Self {
        Self { optional: order, ..self }
    }
}

impl Cell {
    pub(crate) fn new(text: impl Into<Text>, tone: Tone) -> Self {
        Self { text: text.into(), tone }
    }

    pub(crate) fn plain(text: impl Into<Text>) -> Self {
        Self::new(text, Tone::Plain)
    }

    /// A mean with its interval.
    pub(crate) fn estimate(estimate: Option<&Estimate>) -> Self {
        Self::plain(estimate.map_or_else(|| NOTHING.to_owned(), number::estimate))
    }

    /// How much better; green or red only where that is supported.
    pub(crate) fn comparison(comparison: &Comparison, unit: &str) -> Self {
        let tone = match comparison.supported() {
            false => Tone::Muted,
            true if comparison.is_better() => Tone::Good,
            true => Tone::Bad,
        };
        Self::new(number::comparison(comparison, unit), tone)
    }

    /// Whether it is the best, or as good.
    pub(crate) fn standing(standing: Standing) -> Self {
        match standing {
            Standing::Best => Self::new("best", Tone::Good),
            Standing::AsGoodAsBest => Self::new("=", Tone::Good),
            Standing::Worse | Standing::Unknown => Self::plain(""),
        }
    }
}
