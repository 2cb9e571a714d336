//! Links between pages: their files and anchors exist, and the book lists every page of docs.

use crate::markdown::{Kind, Line, Page};
use crate::process::root;
use std::path::{Component, Path, PathBuf};

const SUMMARY: &str = "docs/SUMMARY.md";

/// Every link that leads nowhere, and every page that the book lacks.
pub fn check(pages: &[Page]) -> Vec<String> {
    let mut wrong: Vec<String> = pages.iter().flat_map(|page| check_page(page, pages)).collect();
    let Some(summary) = pages.iter().find(|page| page.name == SUMMARY) else {
        return wrong;
    };
    let listed: Vec<String> = targets(summary).iter().map(|link| path_of(summary, link)).collect();
    for page in pages.iter().filter(|page| page.name.starts_with("docs/")) {
        if page.name != SUMMARY && !listed.contains(&page.name) {
            wrong.push(format!("{}: {SUMMARY} does not list it", page.name));
        }
    }
    wrong
}

fn check_page(page: &Page, pages: &[Page]) -> Vec<String> {
    let mut wrong = Vec::new();
    for link in targets(page).into_iter().filter(|link| !link.target.contains("://")) {
        let path = path_of(page, &link);
        let place = format!("{}:{}", page.name, link.number);
        if !root().join(&path).exists() {
            wrong.push(format!("{place}: {path} does not exist"));
        } else if let (Some((_, anchor)), Some(linked)) =
            (link.target.split_once('#'), pages.iter().find(|page| page.name == path))
            && !anchors(linked).iter().any(|known| known == anchor)
        {
            wrong.push(format!("{place}: {path} has no heading #{anchor}"));
        }
    }
    wrong
}

struct Link<'a> {
    number: usize,
    target: &'a str,
}

fn targets(page: &Page) -> Vec<Link<'_>> {
    let lines = page.lines();
    let mut links = Vec::new();
    for Line { number, text, .. } in lines.into_iter().filter(|line| line.kind != Kind::Code) {
        let parts = text.split("](").skip(1);
        links.extend(
            parts
                .filter_map(|rest| rest.split_once(')'))
                .map(|(target, _)| Link { number, target }),
        );
    }
    links
}

/// The path from the root of the file that a link names.
fn path_of(page: &Page, link: &Link<'_>) -> String {
    let file = link.target.split('#').next().unwrap_or_default();
    if file.is_empty() {
        return page.name.clone();
    }
    let folder = Path::new(&page.name).parent().unwrap_or_else(|| Path::new(""));
    let mut path = PathBuf::new();
    for part in folder.join(file).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path.display().to_string()
}

/// Anchors of headings, as GitHub and mdBook form them.
fn anchors(page: &Page) -> Vec<String> {
    let headings = page.lines().into_iter().filter(|line| line.kind == Kind::Heading);
    headings.map(|line| anchor(line.text.trim_start_matches('#').trim())).collect()
}

fn anchor(heading: &str) -> String {
    let kept = heading.to_lowercase().replace(' ', "-");
    kept.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

#[cfg(test)]
mod tests {
    use super::{anchor, check};
    use crate::markdown::Page;

    fn page(name: &str, text: &str) -> Page {
        Page { name: name.into(), text: text.into() }
    }

    #[test]
    fn anchors_are_those_of_github() {
        assert_eq!(
            anchor("Trying an advice: `steelbench queries try`"),
            "trying-an-advice-steelbench-queries-try"
        );
    }

    #[test]
    fn dead_links_anchors_and_unlisted_pages_are_found() {
        let pages = [
            page("docs/SUMMARY.md", "- [a](loads.md)"),
            page("docs/loads.md", "# A b\n[x](#a-b) [y](#c) [z](../docs/missing.md)"),
            page("docs/waits.md", ""),
        ];
        let expected = [
            "docs/loads.md:2: docs/loads.md has no heading #c",
            "docs/loads.md:2: docs/missing.md does not exist",
            "docs/waits.md: docs/SUMMARY.md does not list it",
        ];
        assert_eq!(check(&pages), expected);
    }
}
