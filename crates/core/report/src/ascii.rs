//! For terminals without Unicode.

use crate::model::{Block, Chart, Document};
use crate::{Style, Text, terminal};

/// [`terminal`] in ASCII alone: words for signs, plain marks for bars, `?` for what has no
/// likeness.
pub fn ascii(document: &Document, width: usize, style: Style) -> String {
    let mut document = document.clone();
    spell(&mut document.title);
    for section in &mut document.sections {
        spell(&mut section.heading);
        section.blocks.iter_mut().for_each(block);
    }
    // Bars are drawn and names cut by the renderer: each such sign has a mark of the same width,
    // but for the one `±` that a bar's figure may have.
    let marks = terminal(&document, width.saturating_sub(1), style);
    marks
        .chars()
        .flat_map(|sign| if sign == '±' { vec!['+', '-'] } else { vec![mark(sign)] })
        .collect()
}

fn block(block: &mut Block) {
    match block {
        Block::Line(line) => spell(&mut line.text),
        Block::Table(table) => {
            *table = table.with_texts(|text: Text| {
                let mut text = text;
                spell(&mut text);
                text
            });
        }
        Block::Chart(figure) => chart(figure),
        Block::Figure(figure) => figure.chart.iter_mut().for_each(chart),
        Block::Picture(..) | Block::Listing(_) | Block::Fold(..) => {}
    }
}

fn chart(chart: &mut Chart) {
    spell(&mut chart.title);
    spell(&mut chart.unit);
    for group in &mut chart.groups {
        spell(&mut group.label);
        group.bars.iter_mut().for_each(|bar| {
            spell(&mut bar.label);
            spell(&mut bar.note);
        });
    }
}

/// Before texts are laid out: a sign may become several.
fn spell(text: &mut Text) {
    if !text.as_str().is_ascii() {
        *text = text
            .as_str()
            .chars()
            .map(|sign| match sign {
                '±' => "+-".to_owned(),
                'µ' | 'μ' => "u".to_owned(),
                '–' | '—' | '−' => "-".to_owned(),
                '×' => "x".to_owned(),
                '…' => "...".to_owned(),
                other_mark => mark(other_mark).to_string(),
            })
            .collect::<String>()
            .into();
    }
}

/// The mark for a sign of a chart.
fn mark(sign: char) -> char {
    match sign {
        ascii if ascii.is_ascii() => ascii,
        '…' => '~',
        '│' => '|',
        '▐' | '▓' | '▄' | '▅' => '+',
        '░' | '▂' | '▃' => '-',
        '▁' | '▏' | '▎' | '▍' => '.',
        '▌' | '▋' => '=',
        '▊' | '▉' | '█' | '▆' | '▇' => '#',
        _ => '?',
    }
}
