use super::MixError;
use super::builtin::BUILTINS;

/// A script that has not been parsed, and how often it is to run compared with others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Names it in messages and results.
    pub name: String,
    /// The script.
    pub text: String,
    /// It is chosen with a probability of this divided by the sum of all weights.
    pub weight: u32,
}

/// The largest weight.
pub(super) const FILE_WEIGHT_MAX: u32 = i32::MAX as u32;

/// The weight of a script that none is given for.
const WEIGHT_DEFAULT: u32 = 1;

impl Source {
    /// A built-in script by its name or a beginning that no other has, with a weight behind an `@`:
    /// `tpcb-like`, `select@9`.
    ///
    /// # Errors
    /// When there is none, or more than one, or what follows the `@` is not a weight.
    pub fn builtin(argument: &str) -> Result<Self, MixError> {
        let (name, weight) = parse_file_argument(argument)?;
        let names: Vec<&str> = BUILTINS.iter().map(|(name, _)| *name).collect();
        let mut fitting = BUILTINS.iter().filter(|(known, _)| known.starts_with(name));
        match (fitting.next(), fitting.next()) {
            (Some((name, text)), None) => {
                Ok(Self { name: (*name).to_owned(), text: (*text).to_owned(), weight })
            }
            (None, _) => Err(MixError::Builtin(experiment::unknown_name("built-in script", name, &names))),
            (Some(first), Some(second)) => Err(MixError::Builtin(format!(
                "`{name}` is the beginning of several built-in scripts: {}, {}",
                first.0, second.0
            ))),
        }
    }
}

/// Takes `file.sql@3` apart into the file and its weight, which is 1 if none is given.
///
/// # Errors
/// When what follows the last `@` is not a weight.
pub fn parse_file_argument(argument: &str) -> Result<(&str, u32), MixError> {
    let Some((file, weight)) = argument.rsplit_once('@') else { return Ok((argument, WEIGHT_DEFAULT)) };
    let weight = weight.parse().ok().filter(|weight| *weight <= FILE_WEIGHT_MAX);
    match weight {
        Some(weight) if !file.is_empty() => Ok((file, weight)),
        _ => Err(MixError::Weight(argument.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Source, parse_file_argument};

    #[test]
    fn weights_follow_the_last_at_sign() {
        assert_eq!(parse_file_argument("a.sql").unwrap(), ("a.sql", 1));
        assert_eq!(parse_file_argument("a.sql@0").unwrap(), ("a.sql", 0));
        assert_eq!(parse_file_argument("a@b.sql@12").unwrap(), ("a@b.sql", 12));
        for wrong in ["a@b.sql", "a@", "@3", "a@-1", "a@2147483648", "a@1.5"] {
            assert!(parse_file_argument(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn built_in_scripts_go_by_a_beginning_that_no_other_has() {
        assert_eq!(Source::builtin("sel@9").unwrap().name, "select-only");
        assert_eq!(Source::builtin("sel@9").unwrap().weight, 9);
        assert_eq!(Source::builtin("t").unwrap().name, "tpcb-like");
        let ambiguous = Source::builtin("s").unwrap_err().to_string();
        assert!(ambiguous.contains("simple-update") && ambiguous.contains("select-only"), "{ambiguous}");
        let unknown = Source::builtin("tpcb_like").unwrap_err().to_string();
        assert!(unknown.contains("did you mean `tpcb-like`?"), "{unknown}");
    }
}
