//! Raw HTML taken apart: comments, tags, attributes and the text between.

use std::ops::Range;

/// A piece of HTML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Comment,
    /// A tag; a script or a style with all it holds.
    Tag,
    Text,
}

/// The pieces of some HTML, in order; together they are all of it.
pub(crate) fn pieces(html: &str) -> Vec<(Range<usize>, Piece)> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < html.len() {
        let rest = &html[at..];
        let (length, piece) = if rest.starts_with("<!--") {
            (comment_length(rest), Piece::Comment)
        } else if rest.starts_with('<') {
            let name = tag_name(rest);
            let length = match name.as_str() {
                "script" | "style" if !rest.starts_with("</") => {
                    let close = format!("</{name}>");
                    let lower = rest.to_ascii_lowercase();
                    lower.find(&close).map(|at| at + close.len())
                }
                _ => rest.find('>').map(|at| at + 1),
            };
            (length.unwrap_or(rest.len()), Piece::Tag)
        } else {
            (rest.find('<').unwrap_or(rest.len()), Piece::Text)
        };
        found.push((at..at + length, piece));
        at += length;
    }
    found
}

/// `<!-->` and `<!--->` are whole comments.
fn comment_length(html: &str) -> usize {
    for short in ["<!-->", "<!--->"] {
        if html.starts_with(short) {
            return short.len();
        }
    }
    let start = "<!--".len();
    html[start..]
        .find("-->")
        .map_or(html.len(), |at| start + at + "-->".len())
}

/// The tags in some HTML, each with where it begins. One that is not closed goes to the end.
pub fn tags(html: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = html[at..].find('<').map(|offset| at + offset) {
        let rest = &html[start..];
        if rest.starts_with("<!--") {
            at = start + comment_length(rest);
            continue;
        }
        if !rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
        {
            at = start + 1;
            continue;
        }
        let end = start + tag_length(rest);
        found.push((start, &html[start..end]));
        at = end;
    }
    found
}

/// A `>` within quotes closes no tag.
fn tag_length(html: &str) -> usize {
    let mut quote = None;
    for (offset, c) in html.char_indices().skip(1) {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, '>') => return offset + 1,
            _ => {}
        }
    }
    html.len()
}

/// The name of a tag, lower case, without the slash.
pub fn tag_name(tag: &str) -> String {
    tag.trim_start_matches('<')
        .trim_start_matches('/')
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_ascii_lowercase()
}

/// An attribute's value in an HTML tag; `Some("")` when it has none.
pub fn attribute<'t>(tag: &'t str, name: &str) -> Option<&'t str> {
    let lower = tag.to_ascii_lowercase();
    let mut from = 0;
    while let Some(at) = lower[from..].find(name).map(|offset| from + offset) {
        from = at + name.len();
        let before = lower[..at].chars().next_back();
        let after = lower[from..].trim_start();
        let bounded = before.is_some_and(|c| c.is_whitespace() || c == '"' || c == '\'');
        if !bounded || after.starts_with(|c: char| c.is_alphanumeric() || c == '-') {
            continue;
        }
        let rest = tag[from..].trim_start();
        let Some(value) = rest.strip_prefix('=') else {
            return Some("");
        };
        let value = value.trim_start();
        return Some(match value.chars().next() {
            Some(quote @ ('"' | '\'')) => value[1..].split(quote).next().unwrap_or_default(),
            _ => value
                .split(|c: char| c.is_whitespace() || c == '>')
                .next()
                .unwrap_or_default(),
        });
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes() {
        assert_eq!(attribute("<img src=a alt=\"b c\">", "alt"), Some("b c"));
        assert_eq!(attribute("<img data-alt='x'>", "alt"), None);
        assert_eq!(attribute("<input disabled>", "disabled"), Some(""));
    }

    #[test]
    fn html_is_parsed() {
        let html = "<p>A <!-- c --> b</p><SCRIPT>if (a < b) x();</Script><!--> d <e";
        let shown: Vec<(&str, Piece)> = pieces(html)
            .into_iter()
            .map(|(range, piece)| (&html[range], piece))
            .collect();
        assert_eq!(
            shown,
            [
                ("<p>", Piece::Tag),
                ("A ", Piece::Text),
                ("<!-- c -->", Piece::Comment),
                (" b", Piece::Text),
                ("</p>", Piece::Tag),
                ("<SCRIPT>if (a < b) x();</Script>", Piece::Tag),
                ("<!-->", Piece::Comment),
                (" d ", Piece::Text),
                ("<e", Piece::Tag),
            ]
        );
        let tags: Vec<&str> = tags("<a title='>' href=x>1 < 2</a>")
            .into_iter()
            .map(|(_, tag)| tag)
            .collect();
        assert_eq!(tags, ["<a title='>' href=x>", "</a>"]);
    }
}
