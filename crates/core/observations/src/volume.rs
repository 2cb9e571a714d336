use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Upper limits of a volume's device per second; at least one is set. Files and exports have its
/// text: `reads 3000 IOPS, writes 125000000 bytes/s`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Throttle {
    /// Reads a second.
    pub read_iops: Option<u64>,
    /// Writes a second.
    pub write_iops: Option<u64>,
    /// Bytes read a second.
    pub read_bytes: Option<u64>,
    /// Bytes written a second.
    pub write_bytes: Option<u64>,
}

/// Text that is not a limit of a throttle.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is not a limit of a throttle")]
pub struct UnknownLimit(String);

impl Throttle {
    /// Returns whether there is no limit.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Throttle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits = [
            self.read_iops.map(|limit| format!("reads {limit} IOPS")),
            self.write_iops.map(|limit| format!("writes {limit} IOPS")),
            self.read_bytes.map(|limit| format!("reads {limit} bytes/s")),
            self.write_bytes.map(|limit| format!("writes {limit} bytes/s")),
        ];
        f.write_str(&limits.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

impl FromStr for Throttle {
    type Err = UnknownLimit;

    fn from_str(text: &str) -> Result<Self, UnknownLimit> {
        let mut throttle = Self::default();
        for limit in text.split(", ") {
            let unknown = || UnknownLimit(limit.to_owned());
            let [way, amount, unit] = limit.split(' ').collect::<Vec<_>>()[..] else {
                return Err(unknown());
            };
            let field = match (way, unit) {
                ("reads", "IOPS") => &mut throttle.read_iops,
                ("writes", "IOPS") => &mut throttle.write_iops,
                ("reads", "bytes/s") => &mut throttle.read_bytes,
                ("writes", "bytes/s") => &mut throttle.write_bytes,
                _ => return Err(unknown()),
            };
            *field = Some(amount.parse().map_err(|_| unknown())?);
        }
        Ok(throttle)
    }
}

impl TryFrom<String> for Throttle {
    type Error = UnknownLimit;

    fn try_from(text: String) -> Result<Self, UnknownLimit> {
        text.parse()
    }
}

impl From<Throttle> for String {
    fn from(throttle: Throttle) -> Self {
        throttle.to_string()
    }
}

/// Separates names in a text.
const SEPARATOR: &str = ", ";

/// Volumes on the same device. Files and exports have its text: `data, log`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct VolumeNames(Vec<String>);

impl VolumeNames {
    /// Returns the names in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns whether there are several.
    pub fn are_several(&self) -> bool {
        self.0.len() > 1
    }

    /// Returns whether this volume is among them. The path of an existing file can contain what
    /// separates names.
    pub fn contains(&self, name: &str) -> bool {
        self.iter().any(|volume| volume == name)
            || name.contains(SEPARATOR) && self.to_string() == name
    }
}

impl<'a> FromIterator<&'a str> for VolumeNames {
    fn from_iter<T: IntoIterator<Item = &'a str>>(names: T) -> Self {
        Self(names.into_iter().map(str::to_owned).collect())
    }
}

impl From<&str> for VolumeNames {
    fn from(text: &str) -> Self {
        text.split(SEPARATOR).filter(|_| !text.is_empty()).collect()
    }
}

impl From<String> for VolumeNames {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

impl From<VolumeNames> for String {
    fn from(names: VolumeNames) -> Self {
        names.to_string()
    }
}

impl fmt::Display for VolumeNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(SEPARATOR))
    }
}

#[cfg(test)]
mod tests {
    use super::{Throttle, VolumeNames};

    #[test]
    fn recorded_limits_are_read() {
        let text = "reads 3000 IOPS, writes 1500 IOPS, writes 125000000 bytes/s";
        let throttle: Throttle = text.parse().unwrap();
        let expected = Throttle {
            read_iops: Some(3000),
            write_iops: Some(1500),
            write_bytes: Some(125_000_000),
            read_bytes: None,
        };
        assert_eq!(throttle, expected);
        assert_eq!(throttle.to_string(), text);
        assert_eq!(serde_json::to_value(throttle).unwrap(), text);
        for other in ["", "reads", "reads x IOPS", "syncs 3 IOPS", "reads 3 IOPS,writes 3 IOPS"] {
            assert!(other.parse::<Throttle>().is_err(), "{other}");
        }
    }

    #[test]
    fn names_are_read_from_their_text() {
        for text in ["data, log", "", "/dev/sdb", "a,b", ", "] {
            let names: VolumeNames = text.into();
            assert_eq!(names.to_string(), text);
            assert!(text.is_empty() || names.contains(text), "{text}");
        }
        let names: VolumeNames = "data, log".into();
        assert!(names.contains("log") && !names.contains("da") && names.are_several());
        assert_eq!(VolumeNames::default(), "".into());
    }
}
