//! Whether the syntax tree accounts for the whole line.
//!
//! A grammar for editors is lenient: it drops text, reads `a(b)` as two commands and leaves
//! substitutions inside words. A shell is not, so each of those is found here by looking at the
//! line itself.

use std::{collections::HashSet, ops::Range};

use tree_sitter::Node;

use crate::{model::ConcernKind, tree};

/// Letters that are not seen or change the direction of what is.
fn is_invisible(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Characters that a reader of the line does not see as what they are.
pub(crate) fn odd_character(line: &str) -> Option<char> {
    line.chars().find(|letter| {
        let is_blank = matches!(letter, ' ' | '\t' | '\n');
        (!is_blank && (letter.is_control() || letter.is_whitespace())) || is_invisible(*letter)
    })
}

/// What the tree does not account for, with its place.
pub(crate) fn unaccounted(root: Node<'_>, line: &str) -> Option<(ConcernKind, Range<usize>)> {
    let facts = Facts::of(root, line);
    facts
        .fault
        .clone()
        .or_else(|| facts.continuation(line))
        .or_else(|| facts.touching_words(line))
        .or_else(|| facts.gap(line))
        .or_else(|| facts.hidden_expansion(line))
        .map(|range| (ConcernKind::Syntax, range))
}

/// What one pass over the tree collects.
#[derive(Default)]
struct Facts {
    fault: Option<Range<usize>>,
    /// Text that some token accounts for.
    covered: Vec<Range<usize>>,
    /// Text in which a dollar and a backtick mean themselves.
    quoted: Vec<Range<usize>>,
    /// Where expansions that the tree knows start.
    expansions: Vec<usize>,
    /// Text between double quotes, and that of heredocs.
    strings: Vec<Range<usize>>,
    /// The words of commands and redirections.
    words: Vec<Range<usize>>,
}

impl Facts {
    fn of(root: Node<'_>, line: &str) -> Self {
        let mut facts = Self::default();
        tree::every(root, |node| facts.look(node, line));
        facts.covered.sort_by_key(|range| range.start);
        facts.quoted.sort_by_key(|range| range.start);
        facts.expansions.sort_unstable();
        facts
    }

    fn look(&mut self, node: Node<'_>, line: &str) -> bool {
        let range = node.byte_range();
        if has_words(node.kind()) {
            let parts = tree::children(node).into_iter();
            let words = parts.filter(|part| is_word(part.kind()));
            self.words.extend(words.map(|word| word.byte_range()));
        }
        if node.is_error() || node.is_missing() {
            self.fault.get_or_insert(range.clone());
        }
        // Never within a character.
        if line.get(range.clone()).is_none() {
            self.fault.get_or_insert(0..line.len());
        }
        // A token that took in more than itself hides what it took.
        let is_token = !node.is_named() && node.child_count() == 0;
        if is_token && slice(line, range.clone()).trim() != node.kind() {
            self.fault.get_or_insert(range.clone());
        }
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if node.kind() == "file_descriptor" && !is_number(slice(line, range.clone())) {
            self.fault.get_or_insert(range.clone());
        }
        match node.kind() {
            "raw_string" | "ansi_c_string" | "heredoc_start" | "heredoc_end" => {
                if node.kind() == "ansi_c_string" && !ends_once(slice(line, range.clone())) {
                    self.fault.get_or_insert(range.clone());
                }
                self.quoted.push(range.clone());
                self.covered.push(range);
                return false;
            }
            "comment" => {
                if !starts_a_comment(line, range.start) {
                    self.fault.get_or_insert(range.clone());
                }
                self.quoted.push(range.clone());
                self.covered.push(range);
                return false;
            }
            "string" | "heredoc_body" => {
                self.strings.push(range.clone());
                self.covered.push(range);
            }
            "heredoc_redirect" => {
                let parts = tree::children(node);
                let delimiter = parts.iter().find(|part| part.kind() == "heredoc_start");
                let is_quoted =
                    delimiter.is_some_and(|start| is_quoted(slice(line, start.byte_range())));
                let body = parts.iter().find(|part| part.kind() == "heredoc_body");
                let end = parts.iter().find(|part| part.kind() == "heredoc_end");
                let is_sound = match (delimiter, end) {
                    (Some(start), Some(end)) => {
                        let between = line.get(start.end_byte()..end.start_byte());
                        let end = slice(line, end.byte_range()).trim();
                        ends_where_a_shell_does(slice(line, start.byte_range()), between, end)
                    }
                    _ => false,
                };
                if !is_sound {
                    self.fault.get_or_insert(range);
                }
                if let (true, Some(body)) = (is_quoted, body) {
                    self.quoted.push(body.byte_range());
                }
            }
            "program"
            | "compound_statement"
            | "subshell"
            | "do_group"
            | "else_clause"
            | "elif_clause"
            | "if_statement"
            | "case_item"
            | "command_substitution"
            | "process_substitution" => self.separators(node, line),
            "!" | "{" if !is_followed_by_blank(line, &range) => {
                // `!x` and `{x` are words to a shell.
                let is_keyword = !node.is_named() && node.child_count() == 0;
                if is_keyword && !is_inside_expansion(node) {
                    self.fault.get_or_insert(range.clone());
                }
                self.covered.push(range);
            }
            "command_name" | "concatenation" => {}
            _ if node.child_count() == 0 => {
                // A token may start with the blanks before it.
                let text = slice(line, range.clone());
                let token = text.trim_start();
                let is_token = !node.is_named();
                // Before a quote a dollar is part of the quote.
                let next = line.as_bytes().get(range.end);
                let is_of_quote = token == "$" && matches!(next, Some(b'"' | b'\''));
                let is_expansion = token.starts_with(['$', '`']) || token.ends_with('(');
                if is_token && is_expansion && !is_of_quote {
                    self.expansions.push(range.start + text.len() - token.len());
                }
                self.covered.push(range);
            }
            _ => {}
        }
        true
    }

    /// Two statements with nothing between them are one to a shell, or an error.
    fn separators(&mut self, node: Node<'_>, line: &str) {
        let parts = tree::children(node);
        for pair in parts.windows(2) {
            let [before, after] = pair else { continue };
            if !is_statement(before.kind()) || !is_statement(after.kind()) {
                continue;
            }
            let gap = line.get(before.end_byte()..after.start_byte());
            let gap = gap.unwrap_or_default().replace("\\\n", "");
            let ends_a_line = slice(line, before.byte_range()).ends_with('\n');
            if !gap.contains('\n') && !ends_a_line {
                self.fault.get_or_insert(after.byte_range());
            }
        }
    }

    /// Two words without a blank between them are one to a shell.
    fn touching_words(&self, line: &str) -> Option<Range<usize>> {
        let starts: HashSet<usize> = self.words.iter().map(|word| word.start).collect();
        let touches = |word: &&Range<usize>| {
            // A number right before a redirection is its descriptor.
            let next = line.as_bytes().get(word.end);
            let text = line.get((*word).clone()).unwrap_or_default();
            let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
            let is_descriptor = is_number && matches!(next, Some(b'<' | b'>'));
            !word.is_empty() && (is_descriptor || starts.contains(&word.end))
        };
        self.words.iter().find(touches).cloned()
    }

    /// A line that continues joins the words around its end, which the tree takes for two. Only
    /// after a blank, and after something, both mean the same.
    fn continuation(&self, line: &str) -> Option<Range<usize>> {
        let bytes = line.as_bytes();
        line.match_indices("\\\n").find_map(|(at, text)| {
            let is_text = |ranges: &[Range<usize>]| ranges.iter().any(|range| range.contains(&at));
            if is_escaped(bytes, at) || is_text(&self.quoted) || is_text(&self.strings) {
                return None;
            }
            let before = line.get(..at).unwrap_or_default();
            let start = before.rfind('\n').map_or(0, |newline| newline + 1);
            let so_far = before.get(start..).unwrap_or_default();
            let is_plain = so_far.ends_with([' ', '\t']) && !so_far.trim().is_empty();
            (!is_plain).then_some(at..at + text.len())
        })
    }

    /// Text that no token accounts for.
    fn gap(&self, line: &str) -> Option<Range<usize>> {
        let mut end = 0;
        let whole = line.len()..line.len();
        for range in self.covered.iter().chain([&whole]) {
            if let Some(text) = line.get(end..range.start)
                && !is_blank(text)
            {
                return Some(end..range.start);
            }
            end = end.max(range.end);
        }
        None
    }

    /// A dollar or a backtick that means something to a shell and that the tree took for text.
    fn hidden_expansion(&self, line: &str) -> Option<Range<usize>> {
        let mut quoted = self.quoted.iter().peekable();
        let bytes = line.as_bytes();
        for (at, byte) in bytes.iter().enumerate() {
            while quoted.next_if(|range| range.end <= at).is_some() {}
            let next = bytes.get(at + 1).copied().unwrap_or(b' ');
            let is_special = match byte {
                b'`' => true,
                b'$' if b"\"'".contains(&next) => {
                    !self.strings.iter().any(|string| string.contains(&at))
                }
                b'$' => next.is_ascii_alphanumeric() || b"_({[@*#?$!-".contains(&next),
                _ => false,
            };
            if !is_special
                || quoted.peek().is_some_and(|range| range.contains(&at))
                || self.expansions.binary_search(&at).is_ok()
                || is_escaped(bytes, at)
            {
                continue;
            }
            return Some(at..at + 1);
        }
        None
    }
}

fn slice(line: &str, range: Range<usize>) -> &str {
    line.get(range).unwrap_or_default()
}

/// Whether a heredoc's delimiter makes its text literal.
pub(crate) fn is_quoted(delimiter: &str) -> bool {
    delimiter.contains(['\'', '"', '\\'])
}

/// Whether a heredoc's delimiter is plain and does not stand alone on a line before its end.
fn ends_where_a_shell_does(delimiter: &str, between: Option<&str>, end: &str) -> bool {
    let quotes: &[char] = &['\'', '"'];
    let name = delimiter.strip_prefix('\\').unwrap_or(delimiter);
    let name = match quotes.iter().find(|quote| name.starts_with(**quote)) {
        Some(quote) => name.trim_matches(*quote),
        None => name,
    };
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-. !".contains(letter);
    let mut lines = between.unwrap_or_default().lines().skip(1);
    !name.is_empty()
        && name == end
        && name.chars().all(is_plain)
        && !lines.any(|line| line == name || line.trim_start_matches('\t') == name)
}

/// Whether the text of `$'…'` has no quote inside that ends it earlier.
fn ends_once(text: &str) -> bool {
    let inner = text
        .get(2..text.len().saturating_sub(1))
        .unwrap_or_default();
    let mut letters = inner.chars();
    while let Some(letter) = letters.next() {
        match letter {
            // A backslash at the end would take the last quote away.
            '\\' if letters.next().is_none() => return false,
            '\'' => return false,
            _ => {}
        }
    }
    true
}

fn is_followed_by_blank(line: &str, range: &Range<usize>) -> bool {
    let next = line.as_bytes().get(range.end);
    next.is_none_or(|byte| b" \t\n".contains(byte))
}

/// `${!x}`, `[ ! -f x ]` and brace expansions have such characters, too.
fn is_inside_expansion(node: Node<'_>) -> bool {
    node.parent().is_some_and(|parent| {
        matches!(
            parent.kind(),
            "expansion"
                | "concatenation"
                | "brace_expression"
                | "unary_expression"
                | "command_name"
                | "parenthesized_expression"
        )
    })
}

fn is_escaped(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(..at).unwrap_or_default();
    let backslashes = before.iter().rev().take_while(|byte| **byte == b'\\');
    backslashes.count() % 2 == 1
}

/// Whether a `#` here starts a comment to a shell, too.
fn starts_a_comment(line: &str, at: usize) -> bool {
    let bytes = line.as_bytes();
    let Some(before) = at.checked_sub(1) else {
        return true;
    };
    bytes
        .get(before)
        .is_some_and(|byte| b" \t\n;&|()".contains(byte))
        && !is_escaped(bytes, before)
}

fn is_blank(text: &str) -> bool {
    let text = text.replace("\\\n", "");
    text.chars()
        .all(|letter| matches!(letter, ' ' | '\t' | '\n'))
}

fn has_words(kind: &str) -> bool {
    matches!(
        kind,
        "command"
            | "declaration_command"
            | "unset_command"
            | "file_redirect"
            | "herestring_redirect"
            | "heredoc_redirect"
            | "for_statement"
            | "case_statement"
            | "array"
    )
}

fn is_word(kind: &str) -> bool {
    matches!(
        kind,
        "word"
            | "command_name"
            | "string"
            | "raw_string"
            | "ansi_c_string"
            | "translated_string"
            | "concatenation"
            | "simple_expansion"
            | "expansion"
            | "command_substitution"
            | "process_substitution"
            | "arithmetic_expansion"
            | "brace_expression"
            | "number"
            | "variable_assignment"
            | "variable_name"
            | "heredoc_start"
            | "regex"
            | "extglob_pattern"
            | "$"
    )
}

fn is_statement(kind: &str) -> bool {
    matches!(
        kind,
        "command"
            | "declaration_command"
            | "unset_command"
            | "test_command"
            | "negated_command"
            | "pipeline"
            | "list"
            | "redirected_statement"
            | "subshell"
            | "compound_statement"
            | "if_statement"
            | "while_statement"
            | "for_statement"
            | "c_style_for_statement"
            | "case_statement"
            | "function_definition"
            | "variable_assignment"
            | "variable_assignments"
    )
}
