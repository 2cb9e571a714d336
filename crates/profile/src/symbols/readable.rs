//! Names as their authors wrote them.

/// A symbol of Rust or C++ as written, without what only tells versions apart; anything else as it is.
pub(super) fn readable(symbol: &str) -> String {
    if let Ok(name) = rustc_demangle::try_demangle(symbol) {
        return format!("{name:#}");
    }
    let cpp = symbol.starts_with("_Z").then(|| cpp_demangle::Symbol::new(symbol).ok()?.demangle().ok());
    cpp.flatten().unwrap_or_else(|| symbol.to_owned())
}

#[cfg(test)]
mod tests {
    use super::readable;

    #[test]
    fn names_of_three_languages() {
        // Published: the documentation of rustc-demangle; the Itanium C++ ABI, section 5.1.
        assert_eq!(readable("_ZN3foo3barE"), "foo::bar");
        assert_eq!(readable("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"), "core::fmt::Formatter::pad");
        assert_eq!(readable("_Z1fv"), "f()");
        assert_eq!(readable("sqlite3_step"), "sqlite3_step");
        assert_eq!(readable("_Zzz"), "_Zzz");
    }
}
