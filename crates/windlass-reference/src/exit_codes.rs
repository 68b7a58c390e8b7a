//! `docs/reference/exit-codes.md`.

use std::path::PathBuf;

use windlass_types::Code;

use super::{BANNER, Document};

pub(super) fn document(meanings: &[(u8, String, Vec<&'static Code>)]) -> Document {
    let mut page =
        format!("{BANNER}# Exit codes\n\n| exit code | meaning | error codes |\n|---|---|---|\n");
    for (exit, meaning, codes) in meanings {
        let codes: Vec<String> = codes
            .iter()
            .map(|code| format!("[`{name}`](errors/{name}.md)", name = code.name))
            .collect();
        page.push_str(&format!("| {exit} | {meaning} | {} |\n", codes.join(", ")));
    }
    (PathBuf::from("docs/reference/exit-codes.md"), page)
}
