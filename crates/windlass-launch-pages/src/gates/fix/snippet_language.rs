//! A fence that names another language than the catalogue gets the catalogue's.

use windlass_launch_scout::syntax::canonical;

use super::{Fixing, Rewrite};
use crate::gates::checks::snippet_syntax::from_catalogue;

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let document = fixing.document;
    let mut text = document.text.clone();
    let mut notes = Vec::new();
    for code in document.code.iter().rev() {
        let Some(snippet) = from_catalogue(fixing.input, &code.text) else {
            continue;
        };
        let same = canonical(&snippet.language) == canonical(&code.language);
        if same || !fixing.names(document.line(code.range.start)) {
            continue;
        }
        let start = code.range.start;
        if code.fenced {
            let source = &document.text[code.range.clone()];
            let fence = source
                .bytes()
                .take_while(|b| matches!(b, b'`' | b'~'))
                .count();
            let space = source[fence..].bytes().take_while(|b| *b == b' ').count();
            let range = start + fence..start + fence + space + code.language.len();
            text.replace_range(range, &snippet.language);
        } else {
            let line = document.line_range(document.line(start)).start;
            let block = format!(
                "```{}\n{}\n```\n",
                snippet.language,
                code.text.trim_matches('\n')
            );
            text.replace_range(line..code.range.end, &block);
        }
        notes.push(format!("A fence now says {}.", snippet.language));
    }
    notes.reverse();
    Rewrite::own(fixing, text, notes)
}
