//! Reading a patch by its structure: a hunk's header says how many lines are its own, and
//! nothing inside a hunk is ever taken for a header.

use std::iter::{Enumerate, Peekable};
use std::str::SplitInclusive;

use crate::patch::{Hunk, HunkLine, Patch};
use crate::path;

/// Why a text is not a patch of one file. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatchError {
    /// No `--- ` line followed by a `+++ ` line.
    #[error("the patch has no file header: a `--- a/<path>` line followed by `+++ b/<path>`")]
    NoHeader,
    /// A binary patch, or a note that binary files differ.
    #[error("line {line}: the patch is of a binary file")]
    Binary {
        /// Where.
        line: usize,
    },
    /// A second file begins.
    #[error("line {line}: the patch changes more than one file")]
    SeveralFiles {
        /// Where.
        line: usize,
    },
    /// The path in a header cannot be read.
    #[error("line {line}: `{text}` names no path")]
    BadPath {
        /// Where.
        line: usize,
        /// The header.
        text: String,
    },
    /// A line that should be a hunk's header is none.
    #[error("line {line}: `{text}` is not a hunk header like `@@ -1,3 +1,4 @@`")]
    BadHunkHeader {
        /// Where.
        line: usize,
        /// What stands there.
        text: String,
    },
    /// The file header is followed by nothing.
    #[error("line {line}: no hunk follows the file header")]
    NoHunks {
        /// Where a hunk should begin.
        line: usize,
    },
    /// The patch ends in the middle of a hunk.
    #[error(
        "line {line}: the patch ends inside the hunk `{header}`; lines missing of the file \
         before: {before_missing}, after: {after_missing}"
    )]
    Truncated {
        /// The last line.
        line: usize,
        /// The hunk.
        header: String,
        /// Lines of the file before that are missing.
        before_missing: usize,
        /// Lines of the file after that are missing.
        after_missing: usize,
    },
    /// A line that does not fit into its hunk, by its first character or by the hunk's counts.
    #[error("line {line}: `{text}` does not fit into the hunk `{header}`")]
    Misfit {
        /// Where.
        line: usize,
        /// What stands there.
        text: String,
        /// The hunk.
        header: String,
    },
    /// Something follows a hunk that is complete by its header.
    #[error("line {line}: `{text}` follows the hunk `{header}`, which is complete by its header")]
    AfterHunk {
        /// Where.
        line: usize,
        /// What stands there.
        text: String,
        /// The hunk.
        header: String,
    },
    /// `\ No newline at end of file` where the file cannot end.
    #[error("line {line}: `\\ No newline` where the file does not end")]
    StrayEnd {
        /// Where.
        line: usize,
    },
}

/// Reads a unified diff of one file. What precedes the file header (`diff --git`, `index`, a
/// mail) is skipped; a mail signature after the last hunk is too.
pub fn parse_patch(text: &str) -> Result<Patch, PatchError> {
    let mut reader = Reader {
        lines: text.split_inclusive('\n').enumerate().peekable(),
        count: text.split_inclusive('\n').count(),
    };
    let (before_path, after_path) = reader.header()?;
    let hunks = reader.hunks()?;
    Ok(Patch {
        before_path,
        after_path,
        hunks,
    })
}

struct Reader<'a> {
    lines: Peekable<Enumerate<SplitInclusive<'a, char>>>,
    count: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<(usize, &'a str)> {
        self.lines.next().map(|(index, line)| (index + 1, line))
    }

    fn peek(&mut self) -> Option<(usize, &'a str)> {
        self.lines.peek().map(|&(index, line)| (index + 1, line))
    }

    fn header(&mut self) -> Result<(Option<String>, Option<String>), PatchError> {
        let mut announced = false;
        while let Some((line, text)) = self.next() {
            if text.starts_with("diff --git ") {
                if announced {
                    return Err(PatchError::SeveralFiles { line });
                }
                announced = true;
            }
            let shown = shown(text);
            if shown == "GIT binary patch"
                || shown.starts_with("Binary files ") && shown.ends_with(" differ")
            {
                return Err(PatchError::Binary { line });
            }
            let Some(before) = text.strip_prefix("--- ") else {
                continue;
            };
            let Some((after_line, after_text)) = self.peek() else {
                continue;
            };
            let Some(after) = after_text.strip_prefix("+++ ") else {
                continue;
            };
            self.next();
            let read = |line, text: &str| {
                path::read(text).ok_or_else(|| PatchError::BadPath {
                    line,
                    text: text.trim().to_owned(),
                })
            };
            return Ok((read(line, before)?, read(after_line, after)?));
        }
        Err(PatchError::NoHeader)
    }

    fn hunks(&mut self) -> Result<Vec<Hunk>, PatchError> {
        let mut hunks: Vec<Hunk> = Vec::new();
        let mut file_ended = false;
        while let Some((line, text)) = self.next() {
            if !text.starts_with("@@ ") {
                let Some(last) = hunks.last() else {
                    return Err(bad_hunk_header(line, text));
                };
                self.after_hunk(line, text, last)?;
                break;
            }
            if file_ended {
                return Err(PatchError::StrayEnd { line: line - 1 });
            }
            let (hunk, ended) = self.hunk(line, text)?;
            file_ended = ended;
            hunks.push(hunk);
        }
        if hunks.is_empty() {
            return Err(PatchError::NoHunks {
                line: self.count + 1,
            });
        }
        Ok(hunks)
    }

    /// Whether what follows the last hunk may be ignored.
    fn after_hunk(&mut self, line: usize, text: &str, last: &Hunk) -> Result<(), PatchError> {
        let next_is_header =
            |reader: &mut Self| reader.peek().is_some_and(|(_, t)| t.starts_with("+++ "));
        if text.starts_with("diff --git ") || text.starts_with("--- ") && next_is_header(self) {
            return Err(PatchError::SeveralFiles { line });
        }
        // The signature that `git format-patch` adds.
        if shown(text) == "-- " {
            return Ok(());
        }
        let mut rest = Some((line, text));
        while let Some((line, text)) = rest {
            if !shown(text).is_empty() {
                return Err(PatchError::AfterHunk {
                    line,
                    text: shown(text).to_owned(),
                    header: last.header.clone(),
                });
            }
            rest = self.next();
        }
        Ok(())
    }

    /// One hunk, and whether a side of it ends without a newline.
    fn hunk(&mut self, patch_line: usize, text: &str) -> Result<(Hunk, bool), PatchError> {
        let header = HunkHeader::read(text).ok_or_else(|| bad_hunk_header(patch_line, text))?;
        let (mut before_left, mut after_left) = (header.before_length, header.after_length);
        let (mut before_ended, mut after_ended) = (false, false);
        let mut lines: Vec<HunkLine> = Vec::new();
        loop {
            let complete = before_left == 0 && after_left == 0;
            if complete && !self.peek().is_some_and(|(_, text)| text.starts_with('\\')) {
                break;
            }
            let Some((line, text)) = self.next() else {
                return Err(PatchError::Truncated {
                    line: self.count,
                    header: header.shown,
                    before_missing: before_left,
                    after_missing: after_left,
                });
            };
            let misfit = || PatchError::Misfit {
                line,
                text: shown(text).to_owned(),
                header: header.shown.clone(),
            };
            let (sign, content) = match text.as_bytes().first() {
                Some(b'\\') => {
                    let (ends_before, ends_after) = lines
                        .last_mut()
                        .and_then(HunkLine::end_file)
                        .ok_or(PatchError::StrayEnd { line })?;
                    before_ended |= ends_before;
                    after_ended |= ends_after;
                    continue;
                }
                Some(sign @ (b' ' | b'-' | b'+')) => (*sign, &text[1..]),
                // Editors that cut blanks at line ends also cut the sign of an empty line.
                Some(b'\n') | Some(b'\r') if text.trim().is_empty() => (b' ', text),
                _ => return Err(misfit()),
            };
            let mut content = content.to_owned();
            if !content.ends_with('\n') {
                // The patch itself lacks its last newline; the file's is marked by `\ No newline`.
                content.push('\n');
            }
            let parsed = match sign {
                b'-' => HunkLine::Removed(content),
                b'+' => HunkLine::Added(content),
                _ => HunkLine::Context(content),
            };
            let (in_before, in_after) = parsed.sides();
            if in_before && before_ended || in_after && after_ended {
                return Err(PatchError::StrayEnd { line: line - 1 });
            }
            before_left = before_left
                .checked_sub(usize::from(in_before))
                .ok_or_else(misfit)?;
            after_left = after_left
                .checked_sub(usize::from(in_after))
                .ok_or_else(misfit)?;
            lines.push(parsed);
        }
        let hunk = Hunk {
            patch_line,
            header: header.shown,
            before_start: header.before_start,
            lines,
        };
        Ok((hunk, before_ended || after_ended))
    }
}

impl HunkLine {
    /// Whether the line is part of the file before, and of the file after.
    fn sides(&self) -> (bool, bool) {
        match self {
            Self::Context(_) => (true, true),
            Self::Removed(_) => (true, false),
            Self::Added(_) => (false, true),
        }
    }

    /// Takes the newline away and says which sides end here; `None` if it had none.
    fn end_file(&mut self) -> Option<(bool, bool)> {
        let (Self::Context(text) | Self::Removed(text) | Self::Added(text)) = self;
        (text.pop() == Some('\n')).then(|| self.sides())
    }
}

struct HunkHeader {
    shown: String,
    before_start: usize,
    before_length: usize,
    after_length: usize,
}

impl HunkHeader {
    fn read(text: &str) -> Option<Self> {
        let inner = text.strip_prefix("@@ -")?;
        let (ranges, _) = inner.split_once(" @@")?;
        let (before, after) = ranges.split_once(" +")?;
        let (before_start, before_length) = range(before)?;
        let (_, after_length) = range(after)?;
        (before_length > 0 || after_length > 0).then(|| Self {
            shown: format!("@@ -{ranges} @@"),
            before_start,
            before_length,
            after_length,
        })
    }
}

/// `7` is one line, `7,3` are three.
fn range(text: &str) -> Option<(usize, usize)> {
    // No file has more lines than fit into 32 bits; more would overflow later sums.
    let number = |digits: &str| -> Option<usize> {
        let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
        let number: u32 = digits.parse().ok()?;
        plain.then(|| usize::try_from(number).ok()).flatten()
    };
    let (start, length) = match text.split_once(',') {
        Some((start, length)) => (number(start)?, number(length)?),
        None => (number(text)?, 1),
    };
    // Line 0 exists only as the place before the first line.
    (start > 0 || length == 0).then_some((start, length))
}

fn bad_hunk_header(line: usize, text: &str) -> PatchError {
    PatchError::BadHunkHeader {
        line,
        text: shown(text).to_owned(),
    }
}

fn shown(line: &str) -> &str {
    line.trim_end_matches(['\n', '\r'])
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
