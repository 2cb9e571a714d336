use super::Value;
use super::function::Function;
use super::names::Slot;

/// An expression of `\set`, `\if` or `\elif`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expression {
    Constant(Value),
    Variable(Slot),
    Not(Box<Self>),
    /// The right side is not looked at when the left one decides.
    And(Box<[Self; 2]>),
    Or(Box<[Self; 2]>),
    /// Whether the operand is this very constant: NULL, TRUE or FALSE.
    Is(Box<Self>, Value),
    Binary(Operator, Box<[Self; 2]>),
    Call(Function, Vec<Self>),
    Case {
        /// Conditions and what they give.
        branches: Vec<[Self; 2]>,
        otherwise: Option<Box<Self>>,
    },
}

/// An operator of two values, NULL if one of them is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    BitOr,
    BitXor,
    BitAnd,
    ShiftLeft,
    ShiftRight,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}
