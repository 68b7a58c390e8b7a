//! A heading whose level skips one is lifted, with everything below it.

use super::{Fixing, Rewrite};

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let document = fixing.document;
    let mut text = document.text.clone();
    let mut notes = Vec::new();
    let mut levels = Vec::with_capacity(document.headings.len());
    let mut above = 1_usize;
    // The lifts in force: below a heading of this level, by so much.
    let mut lifts: Vec<(usize, usize)> = Vec::new();
    for heading in &document.headings {
        while lifts
            .last()
            .is_some_and(|(level, _)| heading.level <= *level)
        {
            lifts.pop();
        }
        let by: usize = lifts.iter().map(|(_, by)| by).sum();
        let mut level = heading.level.saturating_sub(by).max(1);
        if level > above + 1 {
            lifts.push((heading.level, level - above - 1));
            // Siblings of the lifted one are lifted with it.
            if let Some((level, _)) = lifts.last_mut() {
                *level = heading.level - 1;
            }
            level = above + 1;
        }
        above = level;
        levels.push(level);
    }
    for (heading, level) in document.headings.iter().zip(levels).rev() {
        let source = &document.text[heading.range.clone()];
        let hashes = source.bytes().take_while(|b| *b == b'#').count();
        if hashes > 0 && level != heading.level {
            let start = heading.range.start;
            text.replace_range(start..start + hashes, &"#".repeat(level));
            notes.push(format!("“{}” is now of level {level}.", heading.text));
        }
    }
    notes.reverse();
    Rewrite::own(fixing, text, notes)
}
