//! Where sessions waited: the nine-column table.

mod table;

pub use table::{Averages, HEADINGS, WaitOptions, WaitRow, WaitTable};
