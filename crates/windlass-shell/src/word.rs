//! Words: quotes removed, and whether what is left is certain.

use tree_sitter::Node;

use crate::{
    model::{ConcernKind, Kind, Word},
    tree,
    walk::Walker,
};

/// A word while its pieces are put together.
#[derive(Default)]
struct Builder {
    /// Each letter, and whether a quote or a backslash takes its meaning away.
    letters: Vec<(char, bool)>,
    has_expansion: bool,
    /// Whether a letter ends the word to a shell and did not to the grammar.
    is_overlong: bool,
}

impl Builder {
    fn quoted(&mut self, text: &str) {
        self.letters
            .extend(text.chars().map(|letter| (letter, true)));
    }

    fn unquoted(&mut self, text: &str) {
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\\' => match letters.next() {
                    Some('\n') => {}
                    Some(escaped) => self.letters.push((escaped, true)),
                    None => self.letters.push(('\\', true)),
                },
                other => {
                    self.is_overlong |= other.is_whitespace() || "'\";&|()<>`".contains(other);
                    self.letters.push((other, false));
                }
            }
        }
    }

    /// Text between double quotes, where a backslash escapes only what means something there.
    fn double_quoted(&mut self, text: &str) {
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter == '\\' {
                match letters.next_if(|next| matches!(next, '$' | '`' | '"' | '\\' | '\n')) {
                    Some('\n') => {}
                    Some(escaped) => self.letters.push((escaped, true)),
                    None => self.letters.push(('\\', true)),
                }
            } else {
                self.is_overlong |= letter == '"';
                self.letters.push((letter, true));
            }
        }
    }

    fn expansion(&mut self, shape: &str) {
        self.has_expansion = true;
        self.quoted(shape);
    }

    fn finish(self) -> Word {
        let bare = |wanted: &[char]| {
            self.letters
                .iter()
                .any(|(letter, is_quoted)| !is_quoted && wanted.contains(letter))
        };
        let text: String = self.letters.iter().map(|(letter, _)| *letter).collect();
        let has_braces = bare(&['{']) && bare(&['}']) && (bare(&[',']) || text.contains(".."));
        // A lone bracket is the name of a command.
        let is_pattern = bare(&['*', '?']) || (bare(&['[']) && text != "[");
        let kind = if self.has_expansion {
            Kind::Expansion
        } else if is_pattern || has_braces {
            Kind::Glob
        } else if self.letters.first() == Some(&('~', false)) {
            Kind::Tilde
        } else {
            Kind::Literal
        };
        Word { text, kind }
    }
}

impl<'a> Walker<'a> {
    /// The word a node is, with the commands inside it listed.
    pub(crate) fn word(&mut self, node: Node<'_>) -> Word {
        let mut builder = Builder::default();
        self.piece(node, &mut builder);
        if builder.is_overlong {
            self.concern(ConcernKind::Syntax, self.text(node));
        }
        builder.finish()
    }

    fn piece(&mut self, node: Node<'_>, builder: &mut Builder) {
        let text = self.text(node);
        match node.kind() {
            "raw_string" => {
                builder.quoted(
                    text.get(1..text.len().saturating_sub(1))
                        .unwrap_or_default(),
                );
            }
            "ansi_c_string" => {
                let inner = text
                    .get(2..text.len().saturating_sub(1))
                    .unwrap_or_default();
                match ansi_c(inner) {
                    Some(decoded) => builder.quoted(&decoded),
                    None => builder.expansion("$''"),
                }
            }
            "string" => self.string(node, builder),
            "translated_string" => {
                // Its translation may be anything.
                builder.has_expansion = true;
                for part in tree::children(node) {
                    if part.kind() == "string" {
                        self.string(part, builder);
                    }
                }
            }
            "command_name" => {
                for part in tree::children(node) {
                    self.piece(part, builder);
                }
            }
            "concatenation" => {
                let mut end = node.start_byte();
                for part in tree::children(node) {
                    let gap = self.line.get(end..part.start_byte()).unwrap_or_default();
                    if !gap.replace("\\\n", "").is_empty() {
                        self.concern(ConcernKind::Syntax, text);
                    }
                    end = part.end_byte();
                    self.piece(part, builder);
                }
            }
            "simple_expansion" => builder.expansion(text),
            "expansion" => {
                let name = text
                    .strip_prefix("${")
                    .and_then(|rest| rest.strip_suffix('}'));
                let is_name =
                    |name: &str| name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
                match name {
                    Some(name) if is_name(name) => builder.expansion(&format!("${name}")),
                    _ => builder.expansion("${}"),
                }
                self.inside(node);
            }
            "command_substitution" => {
                builder.expansion("$()");
                self.visit(node);
            }
            "process_substitution" => {
                builder.expansion(if text.starts_with('>') { ">()" } else { "<()" });
                self.visit(node);
            }
            "arithmetic_expansion" => {
                builder.expansion("$(())");
                self.visit(node);
            }
            "brace_expression" => builder.unquoted(text),
            "word"
            | "number"
            | "extglob_pattern"
            | "regex"
            | "test_operator"
            | "variable_name"
            | "special_variable_name" => {
                if node.child_count() > 0 {
                    builder.expansion("${}");
                    self.inside(node);
                } else {
                    builder.unquoted(text);
                }
            }
            _ if !node.is_named() => builder.unquoted(text),
            _ => {
                builder.expansion("${}");
                self.concern(ConcernKind::Syntax, text);
                self.inside(node);
            }
        }
    }

    /// The tree leaves blanks out of strings, so the text is what lies between the expansions.
    fn string(&mut self, node: Node<'_>, builder: &mut Builder) {
        let whole = node.byte_range();
        if self.text(node).starts_with('$') {
            builder.has_expansion = true;
        }
        let open = self.text(node).find('"').unwrap_or(0) + 1;
        let mut at = whole.start + open;
        let end = whole.end.saturating_sub(1);
        for part in tree::children(node) {
            if !part.is_named() || part.kind() == "string_content" {
                continue;
            }
            if let Some(before) = self.line.get(at..part.start_byte()) {
                builder.double_quoted(before);
            }
            at = part.end_byte();
            self.piece(part, builder);
        }
        if let Some(rest) = self.line.get(at..end) {
            builder.double_quoted(rest);
        }
    }
}

/// The text of `$'…'`; none where it has an escape that shells read differently.
fn ansi_c(text: &str) -> Option<String> {
    let mut decoded = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            decoded.push(letter);
            continue;
        }
        let escape = letters.next()?;
        let mut digits = |most: usize, radix: u32, first: &str| {
            let mut number = first.to_owned();
            while number.len() < most
                && let Some(digit) = letters.next_if(|letter| letter.is_digit(radix))
            {
                number.push(digit);
            }
            u32::from_str_radix(&number, radix)
                .ok()
                .and_then(char::from_u32)
        };
        let meant = match escape {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'e' | 'E' => '\u{1b}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            '\\' | '\'' | '"' | '?' => escape,
            'x' => digits(2, 16, "")?,
            'u' => digits(4, 16, "")?,
            'U' => digits(8, 16, "")?,
            '0'..='7' => digits(3, 8, &escape.to_string())?,
            _ => return None,
        };
        // A zero ends the word; bytes that are no ASCII are no characters by themselves.
        if meant == '\0' || (escape == 'x' && !meant.is_ascii()) {
            return None;
        }
        decoded.push(meant);
    }
    Some(decoded)
}
