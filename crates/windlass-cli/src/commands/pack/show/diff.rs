//! Unified diffs, coloured by line.

use serde::Deserialize;

use super::View;
use crate::output::Tone;

/// One file of a preview.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::commands::pack) struct DiffFile {
    target: String,
    root: String,
    path: String,
    op: String,
    unified: Option<String>,
}

/// Every diff, each under the path of its file.
pub(in crate::commands::pack) fn diffs(files: &[DiffFile], view: &View) -> String {
    let mut text = String::new();
    for file in files {
        let whole = format!("{}/{}", file.root.trim_end_matches('/'), file.path);
        let heading = format!("{} {}", file.target, view.path(&whole));
        text.push_str(&format!("{}\n", view.paint.text(Tone::Strong, &heading)));
        match &file.unified {
            Some(unified) => {
                for line in unified.lines() {
                    text.push_str(&view.paint.text(tone(line), &safe(line)));
                    text.push('\n');
                }
            }
            None if file.op == "delete" => {
                text.push_str(&format!("{}\n", view.paint.text(Tone::Bad, "deleted")));
            }
            None => text.push_str("too long or not text; no diff\n"),
        }
        text.push('\n');
    }
    text
}

fn tone(line: &str) -> Tone {
    match line.as_bytes() {
        _ if line.starts_with("--- ") || line.starts_with("+++ ") => Tone::Strong,
        [b'@', b'@', ..] => Tone::Active,
        [b'+', ..] => Tone::Good,
        [b'-', ..] => Tone::Bad,
        [b'\\', ..] => Tone::Dim,
        _ => Tone::Plain,
    }
}

/// A line that cannot move the cursor; tabs stay.
fn safe(line: &str) -> String {
    line.chars()
        .map(|character| match character {
            '\t' => '\t',
            other if other.is_control() => '\u{fffd}',
            other => other,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::plain, *};
    use crate::output::{Captured, ColorChoice, Options};

    fn files() -> Vec<DiffFile> {
        serde_json::from_value(json!([
            { "target": "codex", "root": "/home/ada/.codex", "path": "AGENTS.md", "op": "update",
              "unified": "--- a/AGENTS.md\n+++ b/AGENTS.md\n@@ -1 +1 @@\n-old\n+new\u{1b}[2J\n\\ No newline at end of file\n" },
            { "target": "codex", "root": "/home/ada/.codex", "path": "old.md", "op": "delete" },
            { "target": "codex", "root": "/home/ada/.codex", "path": "logo.png", "op": "create" },
        ]))
        .unwrap()
    }

    #[test]
    fn diffs_are_shown_under_their_file() {
        insta::assert_snapshot!(diffs(&files(), &plain()), @r"
        codex ~/.codex/AGENTS.md
        --- a/AGENTS.md
        +++ b/AGENTS.md
        @@ -1 +1 @@
        -old
        +new�[2J
        \ No newline at end of file

        codex ~/.codex/old.md
        deleted

        codex ~/.codex/logo.png
        too long or not text; no diff
        ");
    }

    #[test]
    fn added_and_removed_lines_have_colour() {
        let painted = Captured::with(Options {
            color: ColorChoice::Always,
            ..Options::default()
        });
        let view = View {
            paint: painted.printer.paint(),
            ..plain()
        };
        let shown = diffs(&files(), &view);
        assert!(shown.contains("\u{1b}[32m+new"), "{shown:?}");
        assert!(shown.contains("\u{1b}[1m\u{1b}[31m-old"), "{shown:?}");
    }
}
