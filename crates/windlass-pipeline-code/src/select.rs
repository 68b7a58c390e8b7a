//! `target_files`: which of the files are wanted, by path or by pattern.

use windlass_pipeline_design::model::InputProblem;

const FIELD: &str = "target_files";

/// Whether a path fits a pattern: `*` within a folder, `**` across folders, `?` one character.
fn fits(pattern: &str, path: &str) -> bool {
    fn step(pattern: &[u8], path: &[u8]) -> bool {
        match pattern {
            [] => path.is_empty(),
            [b'*', b'*', b'/', rest @ ..] => {
                step(rest, path)
                    || path
                        .iter()
                        .enumerate()
                        .any(|(at, byte)| *byte == b'/' && step(rest, &path[at + 1..]))
            }
            [b'*', b'*', rest @ ..] => (0..=path.len()).any(|at| step(rest, &path[at..])),
            [b'*', rest @ ..] => {
                let end = path
                    .iter()
                    .position(|byte| *byte == b'/')
                    .unwrap_or(path.len());
                (0..=end).any(|at| step(rest, &path[at..]))
            }
            [b'?', rest @ ..] => {
                matches!(path, [byte, tail @ ..] if *byte != b'/' && step(rest, tail))
            }
            [byte, rest @ ..] => {
                matches!(path, [first, tail @ ..] if first == byte && step(rest, tail))
            }
        }
    }
    step(pattern.as_bytes(), path.as_bytes())
}

/// Longer patterns or ones with many stars would take long to compare.
const LONGEST: usize = 300;
const MOST_STARS: usize = 8;

fn refuse(at: usize, pattern: &str) -> Option<InputProblem> {
    let problem = |constraint: &str, message: String| {
        Some(InputProblem::new(
            format!("/{FIELD}/{at}"),
            constraint,
            message,
        ))
    };
    let windows = pattern.as_bytes().get(1) == Some(&b':');
    if pattern.trim().is_empty() {
        return problem("minLength", "an empty path names no file".to_owned());
    }
    if pattern.len() > LONGEST || pattern.matches('*').count() > MOST_STARS {
        return problem(
            "maxLength",
            format!("a path has at most {LONGEST} characters and {MOST_STARS} stars"),
        );
    }
    if pattern.starts_with('/') || pattern.contains('\\') || windows {
        return problem(
            "relative_path",
            format!("{pattern:?} is not relative to the project; write src/… instead"),
        );
    }
    if pattern.split('/').any(|part| part == "..") {
        return problem(
            "relative_path",
            format!("{pattern:?} leads out of the project; write it without .."),
        );
    }
    None
}

/// The places of the wanted files; all of them when nothing is asked for.
pub(crate) fn select(patterns: &[String], paths: &[&str]) -> Result<Vec<usize>, InputProblem> {
    if patterns.is_empty() {
        return Ok((0..paths.len()).collect());
    }
    for (at, pattern) in patterns.iter().enumerate() {
        if let Some(problem) = refuse(at, pattern) {
            return Err(problem);
        }
    }
    // `[id]` is part of many paths, so brackets mean themselves.
    let matches = |pattern: &str, path: &str| {
        let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
        pattern == path || fits(pattern, path)
    };
    let unknown: Vec<&str> = patterns
        .iter()
        .map(String::as_str)
        .filter(|pattern| !paths.iter().any(|path| matches(pattern, path)))
        .collect();
    if !unknown.is_empty() {
        return Err(InputProblem::new(
            FIELD,
            "known_path",
            format!(
                "no file of the project fits {}; `known` lists its files",
                unknown.join(", ")
            ),
        )
        .with("unknown", unknown)
        .with("known", paths.to_vec()));
    }
    Ok((0..paths.len())
        .filter(|at| patterns.iter().any(|pattern| matches(pattern, paths[*at])))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATHS: [&str; 5] = [
        "README.md",
        "src/app/api/quizzes/[id]/route.ts",
        "src/app/api/quizzes/route.ts",
        "src/lib/a.ts",
        "src/lib/b.tsx",
    ];

    fn chosen(patterns: &[&str]) -> Result<Vec<usize>, InputProblem> {
        let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
        select(&patterns, &PATHS)
    }

    #[test]
    fn patterns_choose_files() {
        for (patterns, expected) in [
            (&[][..], vec![0, 1, 2, 3, 4]),
            (&["README.md"], vec![0]),
            (&["./README.md"], vec![0]),
            (&["src/lib/*"], vec![3, 4]),
            (&["src/lib/?.ts"], vec![3]),
            (&["**/route.ts"], vec![1, 2]),
            (&["src/**"], vec![1, 2, 3, 4]),
            (&["**/*.md", "src/lib/a.ts"], vec![0, 3]),
            (&["src/app/api/quizzes/[id]/route.ts"], vec![1]),
            (&["**"], vec![0, 1, 2, 3, 4]),
        ] {
            assert_eq!(chosen(patterns), Ok(expected), "{patterns:?}");
        }
    }

    #[test]
    fn missing_columns_are_reported() {
        let problem = chosen(&["src/lib/*", "nope.ts", "*.rs"]).unwrap_err();
        assert_eq!(problem.field, "target_files");
        assert_eq!(
            problem.details["unknown"],
            serde_json::json!(["nope.ts", "*.rs"])
        );
        assert_eq!(problem.details["known"].as_array().map(Vec::len), Some(5));
        for bad in [
            "/etc/passwd",
            "../x",
            "src/../../x",
            "C:/x",
            "src\\x",
            "",
            " ",
            &"*".repeat(9),
        ] {
            let problem = chosen(&[bad]).unwrap_err();
            assert_eq!(problem.field, "/target_files/0", "{bad}");
        }
    }
}
