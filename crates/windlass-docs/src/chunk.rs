//! A chunk: what stands under one heading, the unit that is found and cited.

/// Code in a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Code {
    /// The word behind the fence; empty for none.
    pub language: String,
    pub text: String,
}

/// A passage, in the order of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Passage {
    /// A paragraph, a list item or a table row: something that can be quoted by itself.
    Statement(String),
    Code(Code),
}

/// What stands under one heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    /// The heading without markup.
    pub heading: String,
    /// The headings above it, outermost first, the page's own heading left out.
    pub parents: Vec<String>,
    /// The part of a link behind `#`.
    pub anchor: String,
    pub passages: Vec<Passage>,
}

impl Chunk {
    pub(crate) fn statements(&self) -> impl Iterator<Item = &str> {
        self.passages.iter().filter_map(|passage| match passage {
            Passage::Statement(text) => Some(text.as_str()),
            Passage::Code(_) => None,
        })
    }

    pub(crate) fn code(&self) -> impl Iterator<Item = &Code> {
        self.passages.iter().filter_map(|passage| match passage {
            Passage::Code(code) => Some(code),
            Passage::Statement(_) => None,
        })
    }
}
