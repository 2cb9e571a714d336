/// A function of expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Abs,
    Debug,
    Double,
    Exp,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Int,
    Least,
    Ln,
    Mod,
    Permute,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Sqrt,
}

/// How a function is written and called.
pub(super) struct Signature {
    pub name: &'static str,
    pub function: Function,
    /// Fewest arguments.
    pub min: usize,
    /// Most arguments.
    pub max: usize,
    /// The last argument may be left out and is `:default_seed` then.
    pub seeded: bool,
}

const fn plain(name: &'static str, function: Function, arguments: usize) -> Signature {
    Signature { name, function, min: arguments, max: arguments, seeded: false }
}

const fn seeded(name: &'static str, function: Function, arguments: usize) -> Signature {
    Signature { name, function, min: arguments - 1, max: arguments, seeded: true }
}

const fn variadic(name: &'static str, function: Function) -> Signature {
    Signature { name, function, min: 1, max: usize::MAX, seeded: false }
}

/// All functions, by name.
pub(super) const FUNCTIONS: &[Signature] = &[
    plain("abs", Function::Abs, 1),
    plain("debug", Function::Debug, 1),
    plain("double", Function::Double, 1),
    plain("exp", Function::Exp, 1),
    variadic("greatest", Function::Greatest),
    seeded("hash", Function::HashMurmur2, 2),
    seeded("hash_fnv1a", Function::HashFnv1a, 2),
    seeded("hash_murmur2", Function::HashMurmur2, 2),
    plain("int", Function::Int, 1),
    variadic("least", Function::Least),
    plain("ln", Function::Ln, 1),
    plain("mod", Function::Mod, 2),
    seeded("permute", Function::Permute, 3),
    plain("pi", Function::Pi, 0),
    plain("pow", Function::Power, 2),
    plain("power", Function::Power, 2),
    plain("random", Function::Random, 2),
    plain("random_exponential", Function::RandomExponential, 3),
    plain("random_gaussian", Function::RandomGaussian, 3),
    plain("random_zipfian", Function::RandomZipfian, 3),
    plain("sqrt", Function::Sqrt, 1),
];

/// The function with this name, in any case.
pub(super) fn by_name(name: &str) -> Option<&'static Signature> {
    FUNCTIONS.iter().find(|signature| signature.name.eq_ignore_ascii_case(name))
}
