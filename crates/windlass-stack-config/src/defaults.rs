//! Defaults of properties, as functions that serde and the schema take them from.

/// A number.
pub(crate) fn number<const N: u32>() -> u32 {
    N
}

/// `true`.
pub(crate) fn yes() -> bool {
    true
}

/// `/`.
pub(crate) fn root_path() -> String {
    "/".to_owned()
}

/// The directory of the config.
pub(crate) fn here() -> String {
    ".".to_owned()
}

/// Every origin.
pub(crate) fn any_origin() -> Vec<String> {
    vec!["*".to_owned()]
}
