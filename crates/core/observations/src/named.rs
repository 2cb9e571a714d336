/// An enum whose variants have names, those of output and files.
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])*
     pub enum $enum:ident { $($(#[$doc:meta])* $variant:ident = $name:literal,)* }) => {
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize,
            serde::Deserialize,
        )]
        $(#[$meta])*
        pub enum $enum {
            $($(#[$doc])* $variant,)*
        }

        impl $enum {
            /// All, in the order in which they are printed.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$variant),*];

            /// The name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }
    };
}
