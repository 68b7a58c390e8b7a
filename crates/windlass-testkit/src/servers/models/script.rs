//! What a double answers, in words that every wire format has.

/// What a model says, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// A thought; the server signs it.
    Thought(String),
    /// A thought that only the server can read.
    Sealed(String),
    /// Words.
    Text(String),
    /// A call: id, tool, the text of the arguments. An empty id is none.
    Call(String, String, String),
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// As it should.
    Done,
    /// At the limit; a call at the end is half said.
    Length,
    /// The model or a filter declines.
    Refused,
    /// The server wants to be asked to go on.
    Paused,
}

/// One answer of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelTurn {
    /// What it says.
    pub said: Vec<Said>,
    /// How it ends.
    pub ended: Ended,
    /// Tokens: read without a cache, read from it, put into it, written.
    pub tokens: [u64; 4],
}

impl Default for ModelTurn {
    fn default() -> Self {
        Self {
            said: Vec::new(),
            ended: Ended::Done,
            tokens: [20, 100, 30, 7],
        }
    }
}

impl ModelTurn {
    /// An answer of words.
    pub fn of(text: &str) -> Self {
        Self::default().says(text)
    }

    /// With words.
    pub fn says(self, text: &str) -> Self {
        self.with(Said::Text(text.to_owned()))
    }

    /// With a thought.
    pub fn thinks(self, text: &str) -> Self {
        self.with(Said::Thought(text.to_owned()))
    }

    /// With a sealed thought.
    pub fn thinks_sealed(self, data: &str) -> Self {
        self.with(Said::Sealed(data.to_owned()))
    }

    /// With a call.
    pub fn calls(self, id: &str, name: &str, arguments: &str) -> Self {
        self.with(Said::Call(
            id.to_owned(),
            name.to_owned(),
            arguments.to_owned(),
        ))
    }

    /// Ends so.
    pub fn ends(mut self, ended: Ended) -> Self {
        self.ended = ended;
        self
    }

    /// Whether it asks for calls.
    pub fn has_calls(&self) -> bool {
        self.said.iter().any(|said| matches!(said, Said::Call(..)))
    }

    /// The last part, where the answer stopped within it.
    pub(super) fn half_said(&self) -> Option<usize> {
        (self.ended == Ended::Length)
            .then(|| self.said.len().checked_sub(1))
            .flatten()
    }

    fn with(mut self, said: Said) -> Self {
        self.said.push(said);
        self
    }
}

/// What goes wrong within a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The connection breaks after so many bytes.
    Broken(usize),
    /// The stream ends after so many bytes as if it were complete.
    EndsEarly(usize),
    /// After so many events the server says that it is overloaded.
    Overloaded(usize),
    /// After so many events the server says that the request is invalid.
    Invalid(usize),
}

/// What a double does with a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scripted {
    /// Answers.
    Turn(ModelTurn),
    /// Begins to answer, and has trouble.
    Troubled(ModelTurn, Trouble),
    /// Answers with a status, headers and a body.
    Status(u16, Vec<(String, String)>, String),
}

impl Scripted {
    /// A status with an error as this wire format words it.
    pub fn status(status: u16) -> Self {
        Self::Status(status, Vec::new(), String::new())
    }

    /// The same with a header.
    pub fn with_header(status: u16, name: &str, value: &str) -> Self {
        Self::Status(
            status,
            vec![(name.to_owned(), value.to_owned())],
            String::new(),
        )
    }
}

impl From<ModelTurn> for Scripted {
    fn from(turn: ModelTurn) -> Self {
        Self::Turn(turn)
    }
}
