//! `docs/reference/exit-codes.md`.

use std::path::PathBuf;

use super::{BANNER, Document};
use crate::exit;

pub(super) fn document() -> Document {
    let mut page =
        format!("{BANNER}# Exit codes\n\n| exit code | meaning | error codes |\n|---|---|---|\n");
    for (exit, meaning, codes) in exit::meanings() {
        let codes: Vec<String> = codes
            .iter()
            .map(|code| format!("[`{name}`](errors/{name}.md)", name = code.name))
            .collect();
        page.push_str(&format!("| {exit} | {meaning} | {} |\n", codes.join(", ")));
    }
    (PathBuf::from("docs/reference/exit-codes.md"), page)
}
