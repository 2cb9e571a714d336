//! Pages, and what kind of page a session waits for.

use std::fmt;
use std::str::FromStr;

/// Pages that one page-free-space (PFS) page describes.
const PFS_INTERVAL: u32 = 8_088;
/// Pages that one allocation map (GAM, SGAM, DCM, BCM) describes: 63,904 extents of 8 pages.
const MAP_INTERVAL: u32 = 511_232;
/// The database of temporary objects.
const TEMPDB: u16 = 2;

/// A page as wait statistics name it: `database:file:page`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PageId {
    /// Database number; 2 is tempdb.
    pub database: u16,
    /// File number within the database.
    pub file: u16,
    /// Page number within the file.
    pub page: u32,
}

/// Kind of a page.
#[derive(Debug, PartialEq, Eq)]
pub struct PageKind {
    /// The name printed: `PFS`, `GAM`, ...
    pub name: &'static str,
    /// True if sessions use it only to allocate or free pages.
    pub is_allocation: bool,
    /// The first page of this kind in a file, and the interval of the others with their place in
    /// it.
    first: u32,
    others: Option<(u32, u32)>,
}

/// The intervals of PFS and maps share a factor, so that from page 516,855,552 (3.9 TB) on a few
/// numbers fit both rules: PFS comes first.
static KINDS: [PageKind; 6] = [
    kind("file header", false, 0, None),
    // Which pages are allocated and how full they are.
    kind("PFS", true, 1, Some((PFS_INTERVAL, 0))),
    // Which extents are free, and which hold pages of several objects.
    kind("GAM", true, 2, Some((MAP_INTERVAL, 0))),
    kind("SGAM", true, 3, Some((MAP_INTERVAL, 1))),
    // Extents changed since a full backup, and those changed with minimal logging.
    kind("DCM", false, 6, Some((MAP_INTERVAL, 6))),
    kind("BCM", false, 7, Some((MAP_INTERVAL, 7))),
];
/// Of the first file only.
static BOOT: PageKind = kind("boot", false, 9, None);
static DATA: PageKind = kind("data or index", false, 0, None);

const fn kind(
    name: &'static str,
    is_allocation: bool,
    first: u32,
    others: Option<(u32, u32)>,
) -> PageKind {
    PageKind { name, is_allocation, first, others }
}

impl PageKind {
    fn fits(&self, page: u32) -> bool {
        page == self.first
            || self.others.is_some_and(|(interval, at)| page >= interval && page % interval == at)
    }
}

impl PageId {
    /// Returns the kind of the page.
    pub fn kind(self) -> &'static PageKind {
        if (self.file, self.page) == (1, BOOT.first) {
            return &BOOT;
        }
        KINDS.iter().find(|kind| kind.fits(self.page)).unwrap_or(&DATA)
    }

    /// Returns whether the page belongs to tempdb.
    pub fn is_tempdb(self) -> bool {
        self.database == TEMPDB
    }
}

impl fmt::Display for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.database, self.file, self.page)
    }
}

/// A text that names no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a page; expected database:file:page, such as 5:1:1520544")]
pub struct NotAPage(String);

impl FromStr for PageId {
    type Err = NotAPage;

    /// Reads `5:1:1520544`, `PAGE: 5:1:1520544` and `5:1:1520544 (detail)`, as the different views
    /// print it.
    fn from_str(text: &str) -> Result<Self, NotAPage> {
        let rest = text.trim();
        let id = rest
            .strip_prefix("PAGE:")
            .unwrap_or(rest)
            .split_whitespace()
            .next()
            .unwrap_or_default();
        let parts = id
            .split(':')
            .map(|part| part.parse::<u32>().ok().filter(|_| !part.starts_with('+')))
            .collect::<Option<_>>();
        parts
            .and_then(|parts: Vec<u32>| {
                let [database, file, page] = parts[..] else { return None };
                Some(Self {
                    database: database.try_into().ok()?,
                    file: file.try_into().ok()?,
                    page,
                })
            })
            .ok_or_else(|| NotAPage(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(page: u32) -> &'static str {
        PageId { database: 5, file: 1, page }.kind().name
    }

    /// Study S1d: 13 sessions waited on these two pages.
    #[test]
    fn published_hot_pages_are_pfs() {
        for text in ["5:1:1520544", "5:1:1544808", "PAGE: 5:1:1520544"] {
            let page: PageId = text.parse().unwrap();
            assert_eq!((page.database, page.file), (5, 1));
            assert_eq!(page.kind().name, "PFS", "{text}");
            assert!(page.kind().is_allocation && !page.is_tempdb());
        }
        assert_eq!("5:1:1520544".parse::<PageId>().unwrap().to_string(), "5:1:1520544");
        assert_eq!(1_520_544 / PFS_INTERVAL, 188);
    }

    #[test]
    fn follows_the_documented_intervals() {
        for (page, expected) in [
            (0, "file header"),
            (1, "PFS"),
            (2, "GAM"),
            (3, "SGAM"),
            (6, "DCM"),
            (7, "BCM"),
            (8, "data or index"),
            (9, "boot"),
            (8_088, "PFS"),
            (8_089, "data or index"),
            (511_232, "GAM"),
            (511_233, "SGAM"),
            (511_235, "data or index"),
            (511_238, "DCM"),
            (511_239, "BCM"),
            (1_022_464, "GAM"),
            (1_022_465, "SGAM"),
            (516_855_552, "PFS"),
        ] {
            assert_eq!(kind(page), expected, "page {page}");
        }
        assert_eq!(PageId { database: 5, file: 3, page: 9 }.kind().name, "data or index");
        assert!("2:1:1".parse::<PageId>().unwrap().is_tempdb());
    }

    #[test]
    fn rejects_what_is_no_page() {
        for text in [
            "",
            "5:1",
            "5:1:2:3",
            "5:1:x",
            "5:-1:2",
            "70000:1:1",
            "5:1:99999999999",
            "KEY: 5:1",
            "+5:1:1",
            "::",
        ] {
            assert!(text.parse::<PageId>().is_err(), "{text}");
        }
    }
}
