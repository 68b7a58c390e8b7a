//! Where an error is, as `file:line:column` relative to the project: read from the frames that
//! Node and Python report, and from the messages of esbuild.
//!
//! Not here: running them (bundle, function).

use std::path::{Path, PathBuf};

/// Folders of a project whose files are not its own code.
const FOREIGN: [&str; 4] = ["node_modules", ".windlass", "site-packages", ".venv"];

/// The first frame that is in the project's own code; the caller gives the innermost first.
pub(crate) fn first_in<'a>(
    frames: impl IntoIterator<Item = &'a str>,
    project: &Path,
) -> Option<String> {
    let places = frames.into_iter().filter_map(frame);
    places
        .filter_map(|(file, position)| {
            Some((file.strip_prefix(project).ok()?.to_owned(), position))
        })
        .find(|(file, _)| {
            let mut folders = file.iter();
            !folders.any(|folder| FOREIGN.iter().any(|foreign| folder == *foreign))
        })
        .map(|(file, position)| format!("{}:{position}", file.display()))
}

/// The file and the position of a frame.
fn frame(line: &str) -> Option<(PathBuf, String)> {
    let line = line.trim();
    if let Some(python) = line.strip_prefix("File \"") {
        let (file, rest) = python.split_once("\", line ")?;
        let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
        return (!number.is_empty()).then(|| (file.into(), number));
    }
    // `at name (PLACE)`, `at PLACE`, `at async PLACE`, or `PLACE` alone above quoted code.
    let place = match line.rsplit_once('(') {
        Some((_, place)) => place.trim_end_matches(')'),
        None => line.trim_start_matches("at ").trim_start_matches("async "),
    };
    let (file, position) = split_position(place)?;
    if file.starts_with("file://") {
        let url = url::Url::parse(file).ok()?;
        return Some((url.to_file_path().ok()?, position));
    }
    let file = Path::new(file);
    file.is_absolute().then(|| (file.to_owned(), position))
}

/// `file:3:20` and `file:3` as the file and the rest.
fn split_position(place: &str) -> Option<(&str, String)> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let (before, last) = place.rsplit_once(':').filter(|(_, last)| is_number(last))?;
    match before.rsplit_once(':').filter(|(_, line)| is_number(line)) {
        Some((file, line)) => Some((file, format!("{line}:{last}"))),
        None => Some((before, last.to_owned())),
    }
}

/// The errors in what esbuild printed, each as `src/api.ts:3:20: Could not resolve "./x"`.
pub(crate) fn of_bundler(output: &str) -> Vec<String> {
    let blocks = output.split("[ERROR] ").skip(1);
    blocks
        .map(|block| {
            let mut lines = block.lines().filter(|line| !line.trim().is_empty());
            let said = lines.next().unwrap_or_default().trim();
            // The place is the next line; one further down is that of a note.
            let place = lines.next().and_then(|line| {
                let place = line.strip_prefix("    ")?.strip_suffix(':')?;
                split_position(place).map(|_| place)
            });
            match place {
                Some(place) => format!("{place}: {said}"),
                None => said.to_owned(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_frame_of_the_projects_own_code() {
        let project = Path::new("/work/my app");
        for (frames, expected) in [
            (
                vec![
                    "at Module._resolveFilename (node:internal/modules/cjs/loader:1140:15)",
                    "at Object.<anonymous> (/work/my app/node_modules/a/index.js:1:1)",
                    "at Object.<anonymous> (/work/my app/.windlass/dev/dev/build/api/index.cjs:9:1)",
                    "at load (/work/my app/src/api.ts:3:20)",
                    "at main (/work/my app/src/other.ts:1:1)",
                ],
                Some("src/api.ts:3:20"),
            ),
            (
                vec!["at async file:///work/my%20app/odd.mjs:2:7"],
                Some("odd.mjs:2:7"),
            ),
            (
                vec!["/work/my app/e.cjs:2", "foo bar", "    ^^^"],
                Some("e.cjs:2"),
            ),
            (
                vec!["  File \"/work/my app/src/visits.py\", line 12, in <module>\n    import x\n"],
                Some("src/visits.py:12"),
            ),
            (vec!["at /elsewhere/x.js:1:2", "Error: no frame: 3"], None),
            (vec![], None),
        ] {
            let found = first_in(frames.iter().copied(), project);
            assert_eq!(found.as_deref(), expected, "{frames:?}");
        }
    }

    #[test]
    fn errors_of_the_bundler_have_their_place_first() {
        let output = "▲ [WARNING] Something odd [odd]\n\n    src/x.ts:1:0:\n      1 │ x\n\n\
            ✘ [ERROR] Could not resolve \"./missing\"\n\n    src/api.ts:3:20:\n      3 │ import { x } from \"./missing\";\n        ╵                   ~~~~~~~~~~~\n\n  \
            You can mark the path as external:\n\n    src/note.ts:9:9:\n      9 │ y\n\n\
            ✘ [ERROR] Expected \";\" but found \"is\"\n\n    src/a b.ts:1:5:\n      1 │ this is\n\n\
            ✘ [ERROR] Cannot read file: permission denied\n\n3 errors\n";
        assert_eq!(
            of_bundler(output),
            [
                "src/api.ts:3:20: Could not resolve \"./missing\"",
                "src/a b.ts:1:5: Expected \";\" but found \"is\"",
                "Cannot read file: permission denied",
            ]
        );
        assert_eq!(of_bundler("killed\n"), Vec::<String>::new());
    }
}
