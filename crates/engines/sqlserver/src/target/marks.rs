//! Notes in our database, as extended properties of it: whose it is, and how the server was set.

use crate::dialect::quote_literal;
use crate::live::client::{Client, Error};

/// The name of our database in statements.
pub const OWN_NAME: &str = "[steelbench]";

/// Notes something in our database, as an extended property of it.
pub fn note(master: &mut Client, name: &str, value: &str) -> Result<(), Error> {
    master.run(&note_in(OWN_NAME, name, value))
}

/// The statement that notes something in a database.
pub fn note_in(database: &str, name: &str, value: &str) -> String {
    let [name, value] = [name, value].map(quote_literal);
    format!("EXEC {database}.sys.sp_addextendedproperty @name = {name}, @value = {value}")
}
