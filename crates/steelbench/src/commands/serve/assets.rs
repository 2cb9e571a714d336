//! Scripts, styles and the icon, all of which are part of this program.

use report::web;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

/// A file that pages load.
#[derive(Debug)]
pub struct Asset {
    name: &'static str,
    /// Its media type.
    pub kind: &'static str,
    pub content: &'static str,
}

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// Scripts and styles in the order in which pages load them.
const ASSETS: [Asset; 8] = [
    Asset { name: "report.css", kind: STYLE, content: web::STYLE },
    Asset { name: "serve.css", kind: STYLE, content: include_str!("assets/serve.css") },
    Asset { name: "d3.js", kind: SCRIPT, content: web::LIBRARIES[0] },
    Asset { name: "plot.js", kind: SCRIPT, content: web::LIBRARIES[1] },
    Asset { name: "report.js", kind: SCRIPT, content: web::SCRIPT },
    Asset { name: "serve.js", kind: SCRIPT, content: include_str!("assets/serve.js") },
    Asset { name: "icon.svg", kind: "image/svg+xml", content: include_str!("assets/icon.svg") },
    Asset { name: "licenses.txt", kind: "text/plain; charset=utf-8", content: web::LICENSES },
];

/// What a name stands for.
pub fn find(name: &str) -> Option<&'static Asset> {
    static KNOWN: [Asset; 8] = ASSETS;
    KNOWN.iter().find(|asset| asset.name == name)
}

/// Elements for the head of a page.
pub fn head() -> String {
    let icon = format!("<link rel=\"icon\" href=\"{}\">\n", address("icon.svg"));
    let style = |name| format!("<link rel=\"stylesheet\" href=\"{}\">\n", address(name));
    icon + &of_kind(STYLE).map(style).collect::<Vec<_>>().concat()
}

/// Elements for the end of a page.
pub fn scripts() -> String {
    let script = |name| format!("<script src=\"{}\"></script>\n", address(name));
    of_kind(SCRIPT).map(script).collect::<Vec<_>>().concat()
}

fn of_kind(kind: &'static str) -> impl Iterator<Item = &'static str> {
    ASSETS.into_iter().filter(move |asset| asset.kind == kind).map(|asset| asset.name)
}

/// Where browsers find an asset: another address in a version of this program that has another content.
fn address(name: &str) -> String {
    static STAMP: LazyLock<u64> = LazyLock::new(|| {
        let mut hasher = DefaultHasher::new();
        for asset in ASSETS {
            asset.content.hash(&mut hasher);
        }
        hasher.finish()
    });
    format!("/assets/{name}?{:x}", *STAMP)
}
