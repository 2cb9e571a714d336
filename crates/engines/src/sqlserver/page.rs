//! What kind of page a SQL Server session waits for: page resources such as `5:1:1520544`.

use std::{fmt, str::FromStr};

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

/// What a page is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PageKind {
    /// Page 0: file header.
    FileHeader,
    /// Page free space: which pages are allocated and how full they are.
    Pfs,
    /// Global allocation map: which extents are free.
    Gam,
    /// Shared global allocation map: which extents hold pages of several objects.
    Sgam,
    /// Differential changed map.
    Dcm,
    /// Bulk changed (minimally logged) map.
    Bcm,
    /// Boot page of the database.
    Boot,
    /// Anything else: data or index.
    Data,
}

impl PageKind {
    /// The name printed: `PFS`, `GAM`, ...
    pub fn name(self) -> &'static str {
        match self {
            Self::FileHeader => "file header",
            Self::Pfs => "PFS",
            Self::Gam => "GAM",
            Self::Sgam => "SGAM",
            Self::Dcm => "DCM",
            Self::Bcm => "BCM",
            Self::Boot => "boot",
            Self::Data => "data or index",
        }
    }

    /// Whether sessions meet here only to allocate or free pages.
    pub fn is_allocation(self) -> bool {
        matches!(self, Self::Pfs | Self::Gam | Self::Sgam)
    }
}

impl PageId {
    /// What the page is for.
    ///
    /// The intervals of PFS and maps share a factor, so that from page 516,855,552 (3.9 TB) on a few
    /// numbers fit both rules; PFS is returned there.
    pub fn kind(self) -> PageKind {
        let page = self.page;
        let is_map = |first: u32, offset: u32| {
            page == first || (page >= MAP_INTERVAL && page % MAP_INTERVAL == offset)
        };
        match page {
            0 => PageKind::FileHeader,
            9 if self.file == 1 => PageKind::Boot,
            _ if page == 1 || page.is_multiple_of(PFS_INTERVAL) => PageKind::Pfs,
            _ if is_map(2, 0) => PageKind::Gam,
            _ if is_map(3, 1) => PageKind::Sgam,
            _ if is_map(6, 6) => PageKind::Dcm,
            _ if is_map(7, 7) => PageKind::Bcm,
            _ => PageKind::Data,
        }
    }

    /// Whether the page belongs to tempdb.
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
#[error("{0:?} names no page: expected database:file:page, such as 5:1:1520544")]
pub struct NotAPage(String);

impl FromStr for PageId {
    type Err = NotAPage;

    /// Reads `5:1:1520544`, `PAGE: 5:1:1520544` and `5:1:1520544 (detail)`, as the different views print it.
    fn from_str(text: &str) -> Result<Self, NotAPage> {
        let error = || NotAPage(text.to_owned());
        let rest = text.trim();
        let rest = rest.strip_prefix("PAGE:").unwrap_or(rest);
        let mut parts = rest.split_whitespace().next().ok_or_else(error)?.split(':');
        let mut next =
            || parts.next().filter(|part| part.bytes().all(|b| b.is_ascii_digit())).ok_or_else(error);
        let id = Self {
            database: next()?.parse().map_err(|_| error())?,
            file: next()?.parse().map_err(|_| error())?,
            page: next()?.parse().map_err(|_| error())?,
        };
        if parts.next().is_some() { Err(error()) } else { Ok(id) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(page: u32) -> PageKind {
        PageId { database: 5, file: 1, page }.kind()
    }

    /// Study S1d: 13 sessions waited on these two pages.
    #[test]
    fn published_hot_pages_are_pfs() {
        for text in ["5:1:1520544", "5:1:1544808", "PAGE: 5:1:1520544"] {
            let page: PageId = text.parse().unwrap();
            assert_eq!((page.database, page.file), (5, 1));
            assert_eq!(page.kind(), PageKind::Pfs, "{text}");
            assert!(page.kind().is_allocation() && !page.is_tempdb());
        }
        assert_eq!("5:1:1520544".parse::<PageId>().unwrap().to_string(), "5:1:1520544");
        assert_eq!(1_520_544 / PFS_INTERVAL, 188);
    }

    #[test]
    fn follows_the_documented_intervals() {
        for (page, expected) in [
            (0, PageKind::FileHeader),
            (1, PageKind::Pfs),
            (2, PageKind::Gam),
            (3, PageKind::Sgam),
            (6, PageKind::Dcm),
            (7, PageKind::Bcm),
            (8, PageKind::Data),
            (9, PageKind::Boot),
            (8_088, PageKind::Pfs),
            (8_089, PageKind::Data),
            (511_232, PageKind::Gam),
            (511_233, PageKind::Sgam),
            (511_235, PageKind::Data),
            (511_238, PageKind::Dcm),
            (511_239, PageKind::Bcm),
            (1_022_464, PageKind::Gam),
            (1_022_465, PageKind::Sgam),
            (516_855_552, PageKind::Pfs),
        ] {
            assert_eq!(kind(page), expected, "page {page}");
        }
        assert_eq!(PageId { database: 5, file: 3, page: 9 }.kind(), PageKind::Data);
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
