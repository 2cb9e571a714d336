//! The nouns of a statement: blocks, tables, conditions, orders.

use inspection::sql_tree::Comparison;

/// A SELECT, UPDATE or DELETE: the statement itself or a part of it.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Block {
    /// The tables that it names, in their order.
    pub sources: Vec<Source>,
    /// Conditions that all have to hold.
    pub conditions: Vec<Condition>,
    /// The branches of each OR, where each branch is one condition.
    pub alternatives: Vec<Vec<Condition>>,
    /// The order; empty where it has none, or one that is not by columns alone.
    pub order: Vec<Sorting>,
    /// True when it has conditions that were not understood.
    pub has_others: bool,
    /// True when only the first rows are wanted.
    pub is_limited: bool,
    /// True when rows are skipped first.
    pub has_offset: bool,
    /// True when rows are put together: the rows that it returns are not the rows that it keeps.
    pub gathers: bool,
    /// True of the statement itself.
    pub is_top: bool,
}

/// A table in a list of tables.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Source {
    /// The schema that is named.
    pub schema: Option<String>,
    /// The name without quotes.
    pub name: String,
    /// The other name.
    pub alias: Option<String>,
}

/// A column as a statement names it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnName {
    /// The table or its other name.
    pub qualifier: Option<String>,
    /// The name without quotes.
    pub name: String,
}

/// A side of a comparison that depends on columns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Operand {
    /// The columns in it.
    pub columns: Vec<ColumnName>,
    /// The text without qualifiers.
    pub text: String,
    /// True of a column alone.
    pub is_plain: bool,
    /// True when it contains a parameter, whose value is not known.
    pub has_parameter: bool,
}

/// A part of an order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Sorting {
    /// A column or an expression.
    pub operand: Operand,
    /// True when it runs down.
    pub descending: bool,
}

/// The other side of a comparison.
#[derive(Debug, Clone, PartialEq)]
pub enum Other {
    /// A value; its text where it is one literal.
    Value(Option<String>),
    /// Columns.
    Operand(Operand),
    /// The result of a query.
    Query,
}

/// A comparison.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// The side with columns.
    pub operand: Operand,
    /// The method of its comparison.
    pub comparison: Comparison,
    /// With what.
    pub other: Other,
}

impl Block {
    /// The condition, where it is all that there is.
    pub(super) fn only_condition(mut self) -> Option<Condition> {
        let is_simple = self.alternatives.is_empty() && !self.has_others;
        self.conditions.pop().filter(|_| is_simple && self.conditions.is_empty())
    }
}

impl Source {
    /// Returns true when a qualifier means this table.
    pub fn is(&self, qualifier: &str) -> bool {
        self.alias.as_deref().unwrap_or(&self.name).eq_ignore_ascii_case(qualifier)
    }
}
