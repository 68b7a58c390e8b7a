//! Markdown in pieces: headings, paragraphs, lists, tables, blocks; text of the spec is escaped.

/// A document in the making.
pub(super) struct Document(String);

/// Text of the spec inside a paragraph, a list item or a cell: one line that is only text.
pub(super) fn text(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in raw.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        match c {
            '|' | '*' | '`' | '[' | ']' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    // A line that begins like a heading, a list or a quote is none.
    if out.starts_with(['#', '>', '-', '+']) {
        out.insert(0, '\\');
    }
    out
}

/// Code inside a line.
pub(super) fn code(raw: &str) -> String {
    let raw = raw.replace('`', "'").replace('|', "\\|");
    if raw.is_empty() {
        String::new()
    } else {
        format!("`{raw}`")
    }
}

impl Document {
    pub(super) fn new(title: &str) -> Self {
        Self(format!("# {}\n", text(title)))
    }

    pub(super) fn section(&mut self, title: &str) {
        self.0.push_str(&format!("\n## {title}\n"));
    }

    pub(super) fn subsection(&mut self, title: &str) {
        self.0.push_str(&format!("\n### {}\n", text(title)));
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        self.0.push_str(&format!("\n{text}\n"));
    }

    pub(super) fn list(&mut self, items: impl IntoIterator<Item = String>) {
        let mut first = true;
        for item in items {
            if first {
                self.0.push('\n');
                first = false;
            }
            self.0.push_str(&format!("- {item}\n"));
        }
    }

    pub(super) fn numbered(&mut self, items: impl IntoIterator<Item = String>) {
        for (at, item) in items.into_iter().enumerate() {
            if at == 0 {
                self.0.push('\n');
            }
            self.0.push_str(&format!("{}. {item}\n", at + 1));
        }
    }

    /// A table; one line instead when it has no rows.
    pub(super) fn table(&mut self, head: &[&str], rows: Vec<Vec<String>>, none: &str) {
        if rows.is_empty() {
            self.paragraph(none);
            return;
        }
        self.0.push_str(&format!("\n| {} |\n", head.join(" | ")));
        self.0
            .push_str(&format!("|{}\n", " --- |".repeat(head.len())));
        for row in rows {
            self.0.push_str(&format!("| {} |\n", row.join(" | ")));
        }
    }

    pub(super) fn block(&mut self, language: &str, content: &str) {
        self.0.push_str(&format!(
            "\n```{language}\n{}\n```\n",
            content.trim_end().replace("```", "'''")
        ));
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_the_spec_stays_text() {
        for (raw, expected) in [
            ("a | b", "a \\| b"),
            ("<script>", "&lt;script>"),
            ("# not a heading", "\\# not a heading"),
            ("two\nlines", "two lines"),
            ("`x` *y*", "\\`x\\` \\*y\\*"),
        ] {
            assert_eq!(text(raw), expected);
        }
        assert_eq!(code("a`b|c"), "`a'b\\|c`");
    }
}
