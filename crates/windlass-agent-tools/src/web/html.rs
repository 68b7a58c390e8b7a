//! HTML as Markdown, simply: what a reader of the page would see, in order.
//!
//! One pass, linear, without a tree: a page is untrusted text that is to be read, not rendered. What
//! is hidden on the page is left out, because a person would not see it.

use url::Url;

/// Elements whose content is no text of the page.
const SKIPPED: [&str; 14] = [
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "head",
    "select", "audio", "video", "dialog",
];
/// Elements without an end.
const VOID: [&str; 13] = [
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track",
    "wbr",
];
/// Elements that begin and end a paragraph.
const BLOCKS: [&str; 24] = [
    "p",
    "div",
    "section",
    "article",
    "main",
    "header",
    "footer",
    "nav",
    "aside",
    "ul",
    "ol",
    "dl",
    "dt",
    "dd",
    "table",
    "thead",
    "tbody",
    "form",
    "fieldset",
    "figure",
    "figcaption",
    "address",
    "details",
    "summary",
];

/// Elements nested deeper are not told apart, so that no end is looked for long.
const DEEPEST: usize = 512;

/// The text of a page.
pub(super) fn markdown(html: &str, base: &Url) -> String {
    let mut page = Page {
        base,
        told: String::new(),
        open: Vec::new(),
        hidden: None,
        links: Vec::new(),
        lists: Vec::new(),
        in_pre: 0,
    };
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        page.text(text);
        rest = page.tag(tag);
    }
    page.text(rest);
    tidy(&page.told)
}

struct Page<'a> {
    base: &'a Url,
    told: String,
    open: Vec<String>,
    /// How many elements were open when a hidden one began.
    hidden: Option<usize>,
    /// Where links began, and where they lead.
    links: Vec<(usize, Option<String>)>,
    /// Lists that are open: the next number of ordered ones.
    lists: Vec<Option<u32>>,
    in_pre: usize,
}

impl Page<'_> {
    fn text(&mut self, text: &str) {
        if self.hidden.is_some() || text.is_empty() {
            return;
        }
        let text = decoded(text);
        if self.in_pre > 0 {
            self.told.push_str(&text);
            return;
        }
        for letter in text.chars() {
            if letter.is_whitespace() {
                if !self.told.ends_with([' ', '\n']) {
                    self.told.push(' ');
                }
            } else if !windlass_text::is_hidden(letter) {
                self.told.push(letter);
            }
        }
    }

    /// Takes what begins with `<`; returns what follows it.
    fn tag<'t>(&mut self, text: &'t str) -> &'t str {
        if let Some(comment) = text.strip_prefix("<!--") {
            return comment.find("-->").map_or("", |end| &comment[end + 3..]);
        }
        let is_markup = text
            .as_bytes()
            .get(1)
            .is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?'));
        if !is_markup {
            self.text("&lt;");
            return &text[1..];
        }
        let Some(end) = tag_end(text) else {
            return "";
        };
        let inside = &text[1..end];
        let rest = &text[end + 1..];
        let (is_end, inside) = match inside.strip_prefix('/') {
            Some(inside) => (true, inside),
            None => (false, inside),
        };
        let name_end = inside
            .find(|letter: char| letter.is_whitespace() || letter == '/')
            .unwrap_or(inside.len());
        let name = inside[..name_end].to_ascii_lowercase();
        if is_end {
            self.end(&name);
            return rest;
        }
        let attributes = Attributes(&inside[name_end..]);
        self.begin(&name, &attributes);
        // Their content is no markup.
        if matches!(name.as_str(), "script" | "style" | "textarea" | "title") {
            let closing = format!("</{name}");
            let lower = find_ignoring_case(rest, &closing);
            return lower.map_or("", |at| &rest[at..]);
        }
        rest
    }

    fn begin(&mut self, name: &str, attributes: &Attributes<'_>) {
        let is_void = VOID.contains(&name);
        if !is_void && self.open.len() < DEEPEST {
            self.open.push(name.to_owned());
        }
        if self.hidden.is_some() {
            return;
        }
        if !is_void && (SKIPPED.contains(&name) || attributes.hides()) {
            self.hidden = Some(self.open.len());
            return;
        }
        match name {
            "br" => self.told.push('\n'),
            "hr" => self.block("---\n\n"),
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let level = name
                    .as_bytes()
                    .get(1)
                    .map_or(1, |digit| usize::from(digit - b'0'));
                self.block(&format!("{} ", "#".repeat(level)));
            }
            "pre" => {
                self.block("```\n");
                self.in_pre += 1;
            }
            "code" if self.in_pre == 0 => self.told.push('`'),
            "strong" | "b" => self.told.push_str("**"),
            "em" | "i" => self.told.push('*'),
            "blockquote" => self.block("> "),
            "ul" => {
                self.line();
                self.lists.push(None);
            }
            "ol" => {
                self.line();
                self.lists.push(Some(1));
            }
            "li" => {
                self.line();
                let indent = "  ".repeat(self.lists.len().saturating_sub(1).min(8));
                let mark = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{indent}{}. ", *number - 1)
                    }
                    _ => format!("{indent}- "),
                };
                self.told.push_str(&mark);
            }
            "tr" => {
                self.line();
                self.told.push('|');
            }
            "a" => self.links.push((self.told.len(), attributes.value("href"))),
            "img" => {
                if let Some(text) = attributes
                    .value("alt")
                    .filter(|text| !text.trim().is_empty())
                {
                    self.text(&format!("[image: {text}]"));
                }
            }
            _ if BLOCKS.contains(&name) => self.block(""),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        // An end without a beginning means nothing.
        let Some(at) = self.open.iter().rposition(|open| open == name) else {
            return;
        };
        self.open.truncate(at);
        if let Some(depth) = self.hidden {
            if self.open.len() < depth {
                self.hidden = None;
            }
            return;
        }
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "blockquote" => self.block(""),
            "pre" => {
                self.in_pre = self.in_pre.saturating_sub(1);
                self.line();
                self.told.push_str("```\n\n");
            }
            "code" if self.in_pre == 0 => self.told.push('`'),
            "strong" | "b" => self.told.push_str("**"),
            "em" | "i" => self.told.push('*'),
            "ul" | "ol" => {
                self.lists.pop();
                self.line();
            }
            "li" | "tr" => self.line(),
            "td" | "th" => self.told.push_str(" |"),
            "a" => self.link(),
            _ if BLOCKS.contains(&name) => self.block(""),
            _ => {}
        }
    }

    /// The end of a link: its text stands already.
    fn link(&mut self) {
        let Some((start, target)) = self.links.pop() else {
            return;
        };
        let text = self.told.get(start..).unwrap_or_default().trim().to_owned();
        let target = target.and_then(|target| self.base.join(target.trim()).ok());
        let target = target.filter(|target| matches!(target.scheme(), "http" | "https"));
        if let Some(target) = target
            && !text.is_empty()
            && !text.contains('\n')
        {
            let has_space = self
                .told
                .get(start..)
                .is_some_and(|text| text.starts_with(' '));
            self.told.truncate(start);
            let space = if has_space { " " } else { "" };
            self.told.push_str(&format!("{space}[{text}]({target})"));
        }
    }

    fn line(&mut self) {
        if !self.told.is_empty() && !self.told.ends_with('\n') {
            self.told.push('\n');
        }
    }

    fn block(&mut self, begin: &str) {
        self.line();
        if !self.told.is_empty() && !self.told.ends_with("\n\n") {
            self.told.push('\n');
        }
        self.told.push_str(begin);
    }
}

/// Where a tag ends; a `>` in a quoted value is none.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    let mut last = b' ';
    for (at, byte) in text.bytes().enumerate() {
        match (byte, quote) {
            (b'>', None) => return Some(at),
            (b'"' | b'\'', None) if last == b'=' => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            _ => {}
        }
        if !byte.is_ascii_whitespace() {
            last = byte;
        }
    }
    None
}

fn find_ignoring_case(text: &str, sought: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut from = 0;
    while let Some(at) = memchr::memchr(b'<', bytes.get(from..)?) {
        let start = from + at;
        let found = bytes.get(start..start + sought.len())?;
        if found.eq_ignore_ascii_case(sought.as_bytes()) {
            return Some(start);
        }
        from = start + 1;
    }
    None
}

/// The attributes of a tag, as text.
struct Attributes<'a>(&'a str);

impl Attributes<'_> {
    fn each(&self) -> impl Iterator<Item = (String, String)> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '/');
            if rest.is_empty() {
                return None;
            }
            let end = rest
                .find(|letter: char| letter.is_whitespace() || letter == '=')
                .unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            let name = name.to_ascii_lowercase();
            let after = after.trim_start();
            let Some(value) = after.strip_prefix('=') else {
                rest = if end == 0 {
                    after.get(1..).unwrap_or_default()
                } else {
                    after
                };
                return Some((name, String::new()));
            };
            let value = value.trim_start();
            let quote = value
                .chars()
                .next()
                .filter(|first| matches!(first, '"' | '\''));
            let (value, after) = match quote {
                Some(quote) => {
                    let inside = &value[1..];
                    inside.split_once(quote).unwrap_or((inside, ""))
                }
                None => {
                    let end = value.find(char::is_whitespace).unwrap_or(value.len());
                    value.split_at(end)
                }
            };
            rest = after;
            Some((name, decoded(value)))
        })
    }

    fn value(&self, name: &str) -> Option<String> {
        self.each()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// Whether a reader of the page would not see the element.
    fn hides(&self) -> bool {
        self.each().any(|(name, value)| match name.as_str() {
            "hidden" => true,
            "aria-hidden" => value == "true",
            "style" => {
                let plain: String = value
                    .chars()
                    .filter(|letter| !letter.is_whitespace())
                    .flat_map(char::to_lowercase)
                    .collect();
                let hiding = [
                    "display:none",
                    "visibility:hidden",
                    "font-size:0",
                    "opacity:0;",
                ];
                hiding.iter().any(|rule| plain.contains(rule)) || plain.ends_with("opacity:0")
            }
            _ => false,
        })
    }
}

/// Text with character references resolved, the usual ones.
fn decoded(text: &str) -> String {
    /// Longer ones are none.
    const LONGEST: usize = 10;
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = rest.bytes().take(LONGEST).position(|byte| byte == b';');
        match end.and_then(|end| Some((character(&rest[1..end])?, end))) {
            Some((letter, end)) => {
                plain.push(letter);
                rest = &rest[end + 1..];
            }
            None => {
                plain.push('&');
                rest = &rest[1..];
            }
        }
    }
    plain.push_str(rest);
    plain
}

fn character(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(code).filter(|letter| *letter != '\0');
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "copy" => '©',
        "reg" => '®',
        "trade" => '™',
        "hellip" => '…',
        "mdash" => '—',
        "ndash" => '–',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        "laquo" => '«',
        "raquo" => '»',
        "middot" => '·',
        "bull" => '•',
        "times" => '×',
        "rarr" => '→',
        "larr" => '←',
        "euro" => '€',
        _ => return None,
    })
}

/// Without blanks at the ends of lines, and with at most one empty line in a row.
fn tidy(text: &str) -> String {
    let mut tidied = String::with_capacity(text.len());
    let mut empty = 0;
    for line in text.lines() {
        let line = line.trim_end();
        empty = if line.is_empty() { empty + 1 } else { 0 };
        if empty <= 1 && !(tidied.is_empty() && line.is_empty()) {
            tidied.push_str(line);
            tidied.push('\n');
        }
    }
    tidied.truncate(tidied.trim_end().len());
    if !tidied.is_empty() {
        tidied.push('\n');
    }
    tidied
}
