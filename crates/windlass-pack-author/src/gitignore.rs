//! The lines pack puts into an ignore file of git. Pure: text in, text out.
//!
//! Pack's own lines stand between two markers, so that they can be brought up to date later.
//! A line that is there anyway, put by hand or by agentpack, is not repeated.

/// The line before pack's lines.
pub const BLOCK_START: &str = "# >>> agentpack";
/// The line behind them.
pub const BLOCK_END: &str = "# <<< agentpack";

/// The text with these lines at its end, where they are missing. `None`: all are there.
pub(crate) fn with_lines(text: &str, lines: &[&str]) -> Option<String> {
    let missing: Vec<&str> = lines
        .iter()
        .copied()
        .filter(|line| !text.lines().any(|there| there.trim() == *line))
        .collect();
    if missing.is_empty() {
        return None;
    }
    Some(appended(text, &missing))
}

/// Whether pack's lines are in the text.
pub(crate) fn has_block(text: &str) -> bool {
    Block::find(text).is_some()
}

/// The text with exactly these lines as pack's. Lines that are there outside of the block are
/// left out of it; a block without lines goes. `None`: nothing is to be changed.
pub(crate) fn with_block(text: &str, lines: &[String]) -> Option<String> {
    let mut edited = one_block(text, lines)?;
    // There may be more than one block; each round takes markers away or changes nothing.
    while let Some(again) = one_block(&edited, lines) {
        edited = again;
    }
    (edited != text).then_some(edited)
}

fn one_block(text: &str, lines: &[String]) -> Option<String> {
    let block = Block::find(text);
    let (before, after) = match &block {
        Some(block) => (&text[..block.start], &text[block.end..]),
        None => (text, ""),
    };
    let own: Vec<&str> = lines
        .iter()
        .map(String::as_str)
        .filter(|line| {
            let mut others = before.lines().chain(after.lines());
            !others.any(|there| there.trim() == *line)
        })
        .collect();
    let mut new = Vec::new();
    if !own.is_empty() {
        new.push(BLOCK_START);
        new.extend(own);
        new.push(BLOCK_END);
    }
    let edited = match block {
        None if new.is_empty() => return None,
        None => appended(text, &new),
        Some(_) => {
            let newline = newline(text);
            let mut edited = before.to_owned();
            for line in new {
                edited.push_str(line);
                edited.push_str(newline);
            }
            edited.push_str(after);
            edited
        }
    };
    (edited != text).then_some(edited)
}

/// Where pack's lines are, markers included.
struct Block {
    start: usize,
    end: usize,
}

impl Block {
    /// The first closing marker, and the last opening one before it: a marker that a user
    /// left alone must not swallow lines that are not ours.
    fn find(text: &str) -> Option<Self> {
        let mut start = None;
        let mut offset = 0;
        for line in text.split_inclusive('\n') {
            let end = offset + line.len();
            match line.trim() {
                BLOCK_START => start = Some(offset),
                BLOCK_END => {
                    if let Some(start) = start {
                        return Some(Self { start, end });
                    }
                }
                _ => {}
            }
            offset = end;
        }
        None
    }
}

fn appended(text: &str, lines: &[&str]) -> String {
    let newline = newline(text);
    let mut edited = text.to_owned();
    if !edited.is_empty() && !edited.ends_with('\n') {
        edited.push_str(newline);
    }
    for line in lines {
        edited.push_str(line);
        edited.push_str(newline);
    }
    edited
}

fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The pattern that matches exactly one path below the top of a repository. `None` for a path
/// that no line can hold.
pub(crate) fn pattern(path: &str, directory: bool) -> Option<String> {
    if path.contains(['\n', '\r']) {
        return None;
    }
    let mut pattern = String::with_capacity(path.len() + 2);
    pattern.push('/');
    for part in path.chars() {
        if matches!(part, '*' | '?' | '[' | '\\') {
            pattern.push('\\');
        }
        pattern.push(part);
    }
    if directory {
        pattern.push('/');
    } else if pattern.ends_with(' ') {
        // A blank at the end would be dropped.
        pattern.pop();
        pattern.push_str("\\ ");
    }
    Some(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn bare_lines_are_added_once() {
        assert_eq!(with_lines("", &["a", "b"]).unwrap(), "a\nb\n");
        assert_eq!(with_lines("x\n a \n", &["a", "b"]).unwrap(), "x\n a \nb\n");
        assert_eq!(with_lines("x", &["a"]).unwrap(), "x\na\n");
        assert_eq!(with_lines("x\r\n", &["a"]).unwrap(), "x\r\na\r\n");
        assert_eq!(with_lines("b\na", &["a", "b"]), None);
    }

    #[test]
    fn the_block_is_created_changed_and_removed() {
        let block = "# >>> agentpack\na\n# <<< agentpack\n";
        for (text, wanted, expected) in [
            ("", &["a"][..], Some(block.to_owned())),
            ("x", &["a"], Some(format!("x\n{block}"))),
            (block, &["a"], None),
            ("a\n", &["a"], None),
            ("a\n", &[], None),
            (
                "x\n# >>> agentpack\na\nold\n# <<< agentpack\ny\n",
                &["a"],
                Some(format!("x\n{block}y\n")),
            ),
            (
                "x\n# >>> agentpack\nold\n# <<< agentpack\ny\n",
                &[],
                Some("x\ny\n".to_owned()),
            ),
            (
                "a\n# >>> agentpack\na\n# <<< agentpack\n",
                &["a"],
                Some("a\n".to_owned()),
            ),
            (
                "# >>> agentpack\r\n# <<< agentpack\r\n",
                &["a"],
                Some("# >>> agentpack\r\na\r\n# <<< agentpack\r\n".to_owned()),
            ),
        ] {
            assert_eq!(
                with_block(text, &lines(wanted)),
                expected,
                "{text:?} {wanted:?}"
            );
        }
    }

    #[test]
    fn a_marker_left_alone_swallows_nothing() {
        let text = "# >>> agentpack\nmine\n";
        let once = with_block(text, &lines(&["a"])).unwrap();
        assert_eq!(once, format!("{text}# >>> agentpack\na\n# <<< agentpack\n"));
        let twice = with_block(&once, &lines(&["b"])).unwrap();
        assert!(twice.starts_with(text), "{twice}");
        assert!(!has_block("# <<< agentpack\n# >>> agentpack\n"));
    }

    #[test]
    fn patterns_mean_one_path() {
        for (path, directory, expected) in [
            ("AGENTS.md", false, Some("/AGENTS.md")),
            (".codex/skills/a b", true, Some("/.codex/skills/a b/")),
            ("#x", false, Some("/#x")),
            ("a[1]*?", false, Some("/a\\[1]\\*\\?")),
            ("end ", false, Some("/end\\ ")),
            ("two\nlines", false, None),
        ] {
            assert_eq!(pattern(path, directory).as_deref(), expected, "{path:?}");
        }
    }

    proptest! {
        #[test]
        fn other_lines_stay_and_a_second_time_changes_nothing(
            text in "(([a-c*#!/ ]{0,4}|# >>> agentpack|# <<< agentpack)\n){0,8}",
            wanted in proptest::collection::vec("[a-d/]{1,3}", 0..4),
        ) {
            let mut wanted = wanted;
            wanted.sort();
            wanted.dedup();
            let edited = with_block(&text, &wanted).unwrap_or_else(|| text.clone());
            prop_assert_eq!(with_block(&edited, &wanted), None);
            for line in &wanted {
                prop_assert!(edited.lines().any(|there| there.trim() == line));
            }
            if !has_block(&text) {
                prop_assert!(edited.starts_with(&text));
            }
        }
    }
}
