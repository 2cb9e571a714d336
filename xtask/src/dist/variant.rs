//! Variants of the package: the usual one runs on every Linux, that with SQL Server's driver on the
//! kind of system that built it.

/// A selection of features with its own package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// Needs the C library alone.
    Usual,
    /// Needs OpenSSL and Kerberos too, whose versions differ between distributions: a `.deb` for
    /// the Debian that built it.
    SqlServer,
}

impl Variant {
    const ALL: [Self; 2] = [Self::Usual, Self::SqlServer];

    /// Finds a variant by the name that the command line has for it.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|variant| variant.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Usual => "usual",
            Self::SqlServer => "sqlserver",
        }
    }

    /// The optional features that it includes, as cargo reads them: other crates have features of
    /// the same names.
    pub fn features(self) -> &'static str {
        match self {
            Self::Usual => "",
            Self::SqlServer => "steelbench/sqlserver",
        }
    }

    /// The name of its package.
    pub fn package(self) -> &'static str {
        match self {
            Self::Usual => "steelbench",
            Self::SqlServer => "steelbench-sqlserver",
        }
    }

    /// Returns the package that cannot be installed beside it, as both have the same program.
    pub fn other(self) -> &'static str {
        match self {
            Self::Usual => Self::SqlServer.package(),
            Self::SqlServer => Self::Usual.package(),
        }
    }
}
