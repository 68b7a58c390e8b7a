//! Texts that are hard on line-based code: signs, headers, CRLF, no last newline, repetition.

use proptest::prelude::*;

const LINES: [&str; 16] = [
    "a",
    "b",
    "c",
    "",
    " ",
    "-- x",
    "++ x",
    "--- a/x",
    "+++ b/x",
    "@@ -1,2 +1,2 @@",
    "\\ No newline at end of file",
    "diff --git a/x b/x",
    "GIT binary patch",
    "crlf\r",
    "ä\u{2028}ö",
    "lone\rreturn",
];

/// A text of a few lines; the last one may lack its newline.
pub fn text() -> impl Strategy<Value = String> {
    (
        prop::collection::vec(prop::sample::select(&LINES[..]), 0..24),
        any::<bool>(),
    )
        .prop_map(|(lines, complete)| {
            let mut text = lines.join("\n");
            if complete && !lines.is_empty() {
                text.push('\n');
            }
            text
        })
}

/// Two texts: the second is the first with some lines replaced.
pub fn edited() -> impl Strategy<Value = (String, String)> {
    (
        text(),
        prop::collection::vec((any::<prop::sample::Index>(), text()), 0..3),
    )
        .prop_map(|(before, edits)| {
            let mut lines: Vec<String> = before.split_inclusive('\n').map(str::to_owned).collect();
            for (at, new) in edits {
                if lines.is_empty() {
                    lines.push(new);
                } else {
                    let at = at.index(lines.len());
                    lines[at] = new;
                }
            }
            (before, lines.concat())
        })
}
