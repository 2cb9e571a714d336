//! `steelbench serve`: recorded runs in the browser. Requests are answered here: GET alone, and
//! only from pages of our own.
//!
//! - `tool`: arguments; `server`: connections; `routes`: addresses; `guard`: requests that are
//!   refused
//! - `views`: the pages; `page`: their common parts; `run_list`: entries of the list of runs
//! - `site`: what all pages share; `library`: results files
//! - `worker`: builds one page at a time
//!
//! Sections and figures are those of the HTML report. `assets/serve.js` asks every two seconds
//! whether the files have changed and then updates the page.

mod guard;
mod library;
mod page;
mod routes;
mod run_list;
mod server;
mod site;
mod tool;
mod views;
mod worker;

pub use tool::Serve;
