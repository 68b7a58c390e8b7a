//! File modes in the formats: octal text with four digits, as in `"0755"`.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The permission bits of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileMode(u32);

impl FileMode {
    /// What a new file gets, before the umask.
    pub const REGULAR: Self = Self(0o644);
    /// What a new executable file gets, before the umask.
    pub const EXECUTABLE: Self = Self(0o755);

    /// The permission bits of a `st_mode`; the file type is left out.
    pub const fn new(bits: u32) -> Self {
        Self(bits & 0o7777)
    }

    /// The mode of a new file.
    pub const fn of_new(executable: bool) -> Self {
        if executable {
            Self::EXECUTABLE
        } else {
            Self::REGULAR
        }
    }

    /// The bits.
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Whether the owner may execute the file; the only bit that is compared.
    pub const fn is_executable(self) -> bool {
        self.0 & 0o100 != 0
    }
}

impl fmt::Display for FileMode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:04o}", self.0)
    }
}

/// The text is not an octal mode.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not a file mode (octal digits, for example \"0755\")")]
pub struct ParseModeError(String);

impl FromStr for FileMode {
    type Err = ParseModeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match u32::from_str_radix(text, 8) {
            Ok(bits) if digits && bits <= 0o7777 => Ok(Self(bits)),
            _ => Err(ParseModeError(text.to_owned())),
        }
    }
}

impl Serialize for FileMode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for FileMode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_and_read_back() {
        for (mode, text) in [
            (FileMode::REGULAR, "0644"),
            (FileMode::EXECUTABLE, "0755"),
            (FileMode::new(0o100_600), "0600"),
            (FileMode::new(0o4755), "4755"),
        ] {
            assert_eq!(mode.to_string(), text);
            assert_eq!(text.parse::<FileMode>().unwrap(), mode);
        }
        for text in ["", "0999", "+755", "10000", "rwx", "0o755"] {
            assert!(text.parse::<FileMode>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_the_owner_decides() {
        assert!(FileMode::new(0o700).is_executable());
        assert!(!FileMode::new(0o611).is_executable());
    }
}
