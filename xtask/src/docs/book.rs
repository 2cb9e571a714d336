//! The book as HTML, by mdBook.

use crate::process::{output, root, target};
use std::process::Command;

/// Builds the book into the target folder; without mdBook this is skipped with the reason.
pub fn build() -> Result<(), String> {
    if let Err(cause) = Command::new("mdbook").arg("--version").output() {
        println!("SKIPPED: the book is not built: mdbook: {cause}");
        return Ok(());
    }
    let folder = target().join("book");
    let mut build = Command::new("mdbook");
    build.arg("build").arg(root().join("docs")).arg("--dest-dir").arg(&folder);
    output(&mut build)?;
    println!("{}", folder.join("index.html").display());
    Ok(())
}
