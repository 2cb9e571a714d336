//! Plans in documents: `tree`: operators as a table, with remarks; `page`: the same on a page, with
//! charts; `costs`: costs by published formulas.

mod costs;
mod page;
mod tree;

pub use costs::plan_costs;
pub use page::plan_page;
pub use tree::{grouped, plan_tree};
