//! Screens of runs in pages: their frame is the one that the program prints now. Figures and what
//! follows from them differ from run to run.

use super::program::Program;
use crate::markdown::{Kind, Page};
use crate::process::root;

/// The settings that make the run of a check short, in place of those of the file.
const SHORT: [(&str, &str); 3] = [("rows", "200"), ("blocks", "2"), ("duration", "\"1s\"")];

/// A screen in a page.
struct Transcript<'p> {
    /// Line of the page on which it begins.
    number: usize,
    /// The name of the experiment.
    name: &'p str,
    lines: Vec<&'p str>,
}

/// The screens of a page whose frame differs from that of the program.
pub fn check(page: &Page, program: &Program) -> Result<Vec<String>, String> {
    let mut wrong = Vec::new();
    for Transcript { number, name, lines } in transcripts(page) {
        let place = format!("{}:{number}", page.name);
        let Some(source) = experiment(page, name) else {
            wrong.push(format!("{place}: no experiment is called {name}"));
            continue;
        };
        let shown = program.show(name, &shortened(&source))?;
        let [written, printed] = [frame(lines), frame(shown.screen.lines())];
        if written != printed {
            let [written, printed] = [written, printed].map(|frame| frame.join("\n    "));
            wrong.push(format!(
                "{place}: the page has\n    {written}\n  the program prints\n    {printed}"
            ));
        }
    }
    Ok(wrong)
}

fn transcripts(page: &Page) -> Vec<Transcript<'_>> {
    let mut transcripts: Vec<Transcript<'_>> = Vec::new();
    let mut is_open = false;
    for line in page.lines() {
        let text = line.text.trim_start();
        if line.kind == Kind::Code && is_title(text) {
            let name = text.split_whitespace().next().unwrap_or_default();
            transcripts.push(Transcript { number: line.number, name, lines: Vec::new() });
            is_open = true;
        }
        is_open &= matches!(line.kind, Kind::Code | Kind::Blank) && !text.starts_with("```");
        if let Some(transcript) = transcripts.last_mut().filter(|_| is_open) {
            transcript.lines.push(text);
        }
    }
    transcripts
}

/// `first     10 trials in 5 blocks, 3 s, run 1`.
fn is_title(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    matches!(words[..], [_, _, "trials" | "trial", "in", _, "blocks," | "block,", ..])
}

/// The experiment file: the one in the page, or a ready one.
fn experiment(page: &Page, name: &str) -> Option<String> {
    let named = |text: &str| text.contains(&format!("name = \"{name}\"\n"));
    let in_page = page.text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
    let in_page = in_page.filter(|text| named(text)).map(str::to_owned).next();
    in_page
        .or_else(|| std::fs::read_to_string(root().join(format!("experiments/{name}.toml"))).ok())
}

fn shortened(source: &str) -> String {
    let lines = source.lines().map(|line| {
        let setting = line.split('=').next().unwrap_or_default().trim();
        let short = SHORT.iter().find(|(name, _)| *name == setting);
        short.map_or_else(|| line.to_owned(), |(name, value)| format!("{name} = {value}"))
    });
    lines.map(|line| line + "\n").collect()
}

/// The words that do not follow from figures: the title without its figures, the question, the
/// headings and the first word of each row, and where the rest is.
fn frame<'l>(lines: impl IntoIterator<Item = &'l str>) -> Vec<String> {
    let lines: Vec<&str> = lines.into_iter().map(str::trim).collect();
    let mut parts = lines.split(|line| line.is_empty());
    let mut frame = Vec::new();
    for (row, line) in parts.next().into_iter().flatten().enumerate() {
        // The time of a run may be in minutes and seconds.
        let title = line.split(',').next().unwrap_or_default();
        frame.push(if row == 0 { without_figures(title) } else { (*line).to_owned() });
    }
    for (row, line) in parts.next().into_iter().flatten().enumerate() {
        let words: Vec<&str> = line.split_whitespace().collect();
        frame.push(if row == 0 { words.join(" ") } else { words[0].to_owned() });
    }
    let more: Vec<&str> =
        lines.iter().copied().skip_while(|line| !line.starts_with("More ")).collect();
    frame.push(more.join(" ").split_whitespace().collect::<Vec<_>>().join(" "));
    frame
}

fn without_figures(text: &str) -> String {
    let words = text.split_whitespace();
    let words = words.filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{experiment, frame, shortened, transcripts};
    use crate::markdown::Page;

    const PAGE: &str = "A run:\n\n    first     10 trials in 5 blocks, 2 min 3 s, run 1\n    Is it \
                        faster?\n\n    level          elapsed  vs a\n    a      █████   1.0 s  \
                        baseline\n    b      ██      0.4 s  2.5x\n\n    b is faster.\n\n    More   \
                        steelbench show first --full |\n           why\n\nText.\n\n```toml\nname = \
                        \"first\"\nrows = 9\n```\n";

    #[test]
    fn a_frame_has_no_figures() {
        let page = Page { name: "page.md".into(), text: PAGE.into() };
        let all = transcripts(&page);
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].number, all[0].name), (3, "first"));
        let expected = [
            "first trials in blocks",
            "Is it faster?",
            "level elapsed vs a",
            "a",
            "b",
            "More steelbench show first --full | why",
        ];
        assert_eq!(frame(all[0].lines.iter().copied()), expected);
        let source = experiment(&page, "first").unwrap();
        assert_eq!(shortened(&source), "name = \"first\"\nrows = 200\n");
    }
}
