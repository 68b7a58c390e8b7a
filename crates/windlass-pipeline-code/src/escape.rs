//! Text of a spec, made safe for the place it is put into. One function per place.
//!
//! Nothing here decides what is written; it only makes sure that it stays what it is: text.

pub use windlass_pipeline_design::sql::ident as sql_name;

/// Characters that change how a line is read without being seen; they are written as escapes.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// A TypeScript or JavaScript string, quotes included.
pub fn ts_string(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Never `</script>` inside of a page.
            '<' => out.push_str("\\u003c"),
            c if c.is_control() || is_invisible(c) => {
                out.push_str(&format!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Text between two tags. Plain words stay as they are, everything else becomes an expression.
pub fn jsx_text(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || " ,.:!?()-".contains(c);
    if !text.is_empty() && text.trim() == text && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("{{{}}}", ts_string(text))
    }
}

/// The value of an attribute, quotes or braces included.
pub fn jsx_attribute(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || " ,.:!?()'/*-".contains(c);
    if text.chars().all(plain) {
        format!("\"{text}\"")
    } else {
        format!("{{{}}}", ts_string(text))
    }
}

/// A property in front of its colon: `title`, `"größe"`.
pub fn ts_key(name: &str) -> String {
    // A modifier in a type may be a name, and not every parser knows it.
    const MODIFIERS: &[&str] = &[
        "abstract",
        "accessor",
        "constructor",
        "declare",
        "get",
        "new",
        "override",
        "readonly",
        "set",
        "static",
    ];
    if is_identifier(name) && !MODIFIERS.contains(&name) {
        name.to_owned()
    } else {
        ts_string(name)
    }
}

/// A property behind its object: `.title`, `["größe"]`.
pub fn ts_access(name: &str) -> String {
    if is_identifier(name) {
        format!(".{name}")
    } else {
        format!("[{}]", ts_string(name))
    }
}

/// Whether a name needs no quotes as a property.
pub fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Text within a comment of TypeScript or CSS: one line that cannot end the comment.
pub fn comment(text: &str) -> String {
    one_line(text).replace("*/", "* /").replace("</", "< /")
}

/// One line, without characters that are not seen.
pub fn one_line(text: &str) -> String {
    let clean: String = text
        .chars()
        .map(|c| {
            if c.is_control() || is_invisible(c) {
                ' '
            } else {
                c
            }
        })
        .collect();
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text or an attribute of HTML.
pub fn html(text: &str) -> String {
    one_line(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// A string of SQL, quotes included. PostgreSQL has no text with a zero byte.
pub fn sql_string(text: &str) -> String {
    let text = text.replace('\0', "");
    if !text.chars().any(|c| c.is_control() || is_invisible(c)) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    // What is not seen is written as an escape.
    let mut out = String::from("U&'");
    for c in text.chars() {
        match c {
            '\'' => out.push_str("''"),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() || is_invisible(c) => {
                out.push_str(&format!("\\{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out + "'"
}

/// Text within a comment of SQL: one line.
pub fn sql_comment(text: &str) -> String {
    one_line(text)
}

/// Text within a paragraph or a table cell of Markdown.
pub fn markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        if "\\`*_{}[]<>#|~&$!".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Text within a code span of Markdown; a fence longer than any run of backticks inside.
pub fn markdown_code(text: &str) -> String {
    let text = one_line(text).replace('|', "\\|");
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let fence = "`".repeat(longest + 1);
    if text.starts_with('`') || text.ends_with('`') {
        format!("{fence} {text} {fence}")
    } else {
        format!("{fence}{text}{fence}")
    }
}

/// A string of CSS, quotes included.
pub fn css_string(text: &str) -> String {
    let clean: String = one_line(text)
        .chars()
        .filter(|c| !matches!(c, '"' | '\\' | '<'))
        .collect();
    format!("\"{clean}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        for (text, ts, jsx, attribute) in [
            (
                "My quizzes",
                r#""My quizzes""#,
                "My quizzes",
                r#""My quizzes""#,
            ),
            (
                "</script>",
                r#""\u003c/script>""#,
                r#"{"\u003c/script>"}"#,
                r#"{"\u003c/script>"}"#,
            ),
            (
                "${x} `y`",
                r#""${x} `y`""#,
                r#"{"${x} `y`"}"#,
                r#"{"${x} `y`"}"#,
            ),
            ("{x}", r#""{x}""#, r#"{"{x}"}"#, r#"{"{x}"}"#),
            ("a\"b\\", r#""a\"b\\""#, r#"{"a\"b\\"}"#, r#"{"a\"b\\"}"#),
            (
                "a\nb\u{202e}",
                r#""a\nb\u202e""#,
                r#"{"a\nb\u202e"}"#,
                r#"{"a\nb\u202e"}"#,
            ),
            ("it's", r#""it's""#, r#"{"it's"}"#, r#""it's""#),
            ("🎲", "\"🎲\"", "{\"🎲\"}", "{\"🎲\"}"),
            ("", "\"\"", "{\"\"}", "\"\""),
        ] {
            assert_eq!(ts_string(text), ts);
            assert_eq!(jsx_text(text), jsx);
            assert_eq!(jsx_attribute(text), attribute);
        }
        assert_eq!(comment("a */ b\nc"), "a * / b c");
        assert_eq!(html("a<b & \"c\""), "a&lt;b &amp; &quot;c&quot;");
        assert_eq!(sql_string("it's; drop table x"), "'it''s; drop table x'");
        assert_eq!(sql_string("a\nb\\'"), r"U&'a\000ab\\'''");
        assert_eq!(sql_name("order"), "\"order\"");
        assert_eq!(sql_name("title"), "title");
        assert_eq!(sql_name("a\"b"), "\"a\"\"b\"");
        assert_eq!(markdown("a | b_c <x>\n# d"), "a \\| b\\_c \\<x\\> \\# d");
        assert_eq!(markdown_code("a`b|c"), "``a`b\\|c``");
        assert_eq!(css_string("Inter\"; } x{"), "\"Inter; } x{\"");
        assert_eq!(
            (ts_key("title"), ts_key("größe")),
            ("title".to_owned(), "\"größe\"".to_owned())
        );
        assert_eq!(
            (ts_access("a1"), ts_access("1a")),
            (".a1".to_owned(), "[\"1a\"]".to_owned())
        );
    }
}
