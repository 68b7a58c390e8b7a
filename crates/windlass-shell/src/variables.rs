//! Variables that change what programs do.
//!
//! The list is of what is harmless, because the list of what is not never ends.

/// Upper-case names that only change how output looks.
const HARMLESS: [&str; 12] = [
    "CI",
    "CLICOLOR",
    "COLUMNS",
    "DEBIAN_FRONTEND",
    "FORCE_COLOR",
    "LANG",
    "LANGUAGE",
    "LINES",
    "NO_COLOR",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "VERBOSE",
];

/// Lower-case names that programs or shells read.
const RISKY_LOWER: [&str; 14] = [
    "http_proxy",
    "https_proxy",
    "ftp_proxy",
    "all_proxy",
    "no_proxy",
    "path",
    "cdpath",
    "fpath",
    "manpath",
    "module_path",
    "prompt",
    "psvar",
    "argv",
    "histchars",
];

/// Whether setting this variable may change what other programs do. Names in lower case belong to
/// the script; of the others only a few are known to be harmless.
pub fn is_risky_variable(name: &str) -> bool {
    let is_lower = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let is_own = !name.is_empty()
        && name.chars().all(|letter| is_lower(letter) || letter == '_')
        && name != "_"
        && !name.starts_with("npm_");
    if is_own {
        return RISKY_LOWER.contains(&name);
    }
    !(HARMLESS.contains(&name) || name.starts_with("LC_"))
}
