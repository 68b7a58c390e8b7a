//! XML answers as values, and their text. Not here: which fields an action answers with.

/// One node: text, named children (names may repeat), or a list of `member`s.
#[derive(Clone, Debug)]
pub enum Xml {
    Text(String),
    Element(Element),
    List(Vec<Xml>),
}

/// Named children in the order they are written.
#[derive(Clone, Debug, Default)]
pub struct Element(Vec<(&'static str, Xml)>);

impl Element {
    pub fn new() -> Element {
        Element::default()
    }

    pub fn with(mut self, name: &'static str, value: impl Into<Xml>) -> Element {
        self.0.push((name, value.into()));
        self
    }

    /// A child that is left out when there is no value.
    pub fn maybe(self, name: &'static str, value: Option<impl Into<Xml>>) -> Element {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// A list whose entries are written as `member`.
    pub fn list<T: Into<Xml>>(
        self,
        name: &'static str,
        values: impl IntoIterator<Item = T>,
    ) -> Element {
        let values = values.into_iter().map(Into::into).collect();
        self.with(name, Xml::List(values))
    }

    /// The same child several times, as S3 writes lists.
    pub fn each<T: Into<Xml>>(
        mut self,
        name: &'static str,
        values: impl IntoIterator<Item = T>,
    ) -> Element {
        self.0
            .extend(values.into_iter().map(|value| (name, value.into())));
        self
    }
}

impl From<Element> for Xml {
    fn from(value: Element) -> Xml {
        Xml::Element(value)
    }
}

impl From<&str> for Xml {
    fn from(value: &str) -> Xml {
        Xml::Text(value.to_owned())
    }
}

impl From<&String> for Xml {
    fn from(value: &String) -> Xml {
        Xml::Text(value.clone())
    }
}

impl From<String> for Xml {
    fn from(value: String) -> Xml {
        Xml::Text(value)
    }
}

impl From<bool> for Xml {
    fn from(value: bool) -> Xml {
        Xml::Text(value.to_string())
    }
}

impl From<usize> for Xml {
    fn from(value: usize) -> Xml {
        Xml::Text(value.to_string())
    }
}

/// A whole document with one root element.
pub fn document(root: &str, namespace: &str, body: &Element) -> String {
    let mut text = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{root}");
    if !namespace.is_empty() {
        text.push_str(&format!(" xmlns=\"{namespace}\""));
    }
    text.push('>');
    write_children(&mut text, body);
    text.push_str(&format!("</{root}>"));
    text
}

/// The text of an element's children alone.
pub fn children(element: &Element) -> String {
    let mut text = String::new();
    write_children(&mut text, element);
    text
}

fn write_children(text: &mut String, element: &Element) {
    for (name, value) in &element.0 {
        write_node(text, name, value);
    }
}

fn write_node(text: &mut String, name: &str, value: &Xml) {
    text.push('<');
    text.push_str(name);
    text.push('>');
    match value {
        Xml::Text(content) => escape(text, content),
        Xml::Element(element) => write_children(text, element),
        Xml::List(values) => {
            for value in values {
                write_node(text, "member", value);
            }
        }
    }
    text.push_str("</");
    text.push_str(name);
    text.push('>');
}

fn escape(text: &mut String, content: &str) {
    for character in content.chars() {
        match character {
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '&' => text.push_str("&amp;"),
            '"' => text.push_str("&quot;"),
            '\r' => text.push_str("&#13;"),
            // Not allowed in XML 1.0 in any spelling.
            control if control < ' ' && control != '\n' && control != '\t' => text.push('?'),
            other => text.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_repeat_member_and_text_is_escaped() {
        let body = Element::new()
            .with("A", "1 < 2 & \"3\"")
            .maybe("B", None::<String>)
            .list("C", ["x", "y"])
            .each("D", ["p", "q"])
            .with("E", Element::new().with("F", true));
        insta::assert_snapshot!(document("R", "urn:x", &body), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <R xmlns="urn:x"><A>1 &lt; 2 &amp; &quot;3&quot;</A><C><member>x</member><member>y</member></C><D>p</D><D>q</D><E><F>true</F></E></R>
        "#);
    }
}
