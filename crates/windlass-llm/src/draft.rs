//! An answer while it arrives: parts in order, bounded in size, told to the listener as they grow.
//!
//! A call leaves it only when its wire format said that the call is complete and that the message
//! ended as it should. Not here: any wire format.

use std::collections::HashSet;

use windlass_ports::{
    FinishReason, ModelError, ModelReply, Part, Piece, Thinking, ToolCall, Usage,
};

use crate::MAX_ANSWER;

/// What a part counts without content, so that empty ones cannot fill the memory.
const EMPTY_PART: usize = 64;

/// Is told each piece as it arrives.
pub(crate) type Ear<'a> = &'a mut dyn FnMut(Piece<'_>);

/// How a message ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub reason: FinishReason,
    /// Whether the server finished it: calls of a message that was stopped are not to be executed.
    pub is_regular: bool,
}

impl End {
    pub const fn regular(reason: FinishReason) -> Self {
        Self {
            reason,
            is_regular: true,
        }
    }

    pub const fn stopped(reason: FinishReason) -> Self {
        Self {
            reason,
            is_regular: false,
        }
    }
}

/// A part and what is known of it.
struct Open {
    part: Part,
    /// Only calls are ever incomplete.
    is_complete: bool,
    /// A call is told once its name is known.
    is_told: bool,
}

/// Collects the parts of an answer. A part is named by its place.
pub(crate) struct Draft {
    /// The model that answers, as its server names it.
    pub model: String,
    parts: Vec<Open>,
    /// The ids that calls have, here and earlier in the conversation.
    taken: HashSet<String>,
    size: usize,
}

impl Draft {
    pub fn new(model: &str, taken: HashSet<String>) -> Self {
        Self {
            model: model.to_owned(),
            parts: Vec::new(),
            taken,
            size: 0,
        }
    }

    pub fn open_text(&mut self) -> Result<usize, ModelError> {
        self.open(Part::text(""), true)
    }

    pub fn open_thinking(&mut self, thinking: Thinking) -> Result<usize, ModelError> {
        self.grow(thinking.sealed.as_ref().map_or(0, String::len))?;
        self.open(Part::Thinking(thinking), true)
    }

    /// Begins a call. One without an id, or with one that another call has, gets an id that
    /// depends on nothing but the conversation, so that a repetition gives the same.
    pub fn open_call(&mut self, id: &str, name: &str, ear: Ear<'_>) -> Result<usize, ModelError> {
        self.grow(id.len() + name.len())?;
        let id = match id.is_empty() || self.taken.contains(id) {
            true => self.free_id(),
            false => id.to_owned(),
        };
        self.taken.insert(id.clone());
        let place = self.open(Part::ToolCall(ToolCall::new(id, "", "")), false)?;
        self.name_call(place, name, ear);
        Ok(place)
    }

    fn free_id(&self) -> String {
        let mut number = self.taken.len();
        loop {
            let id = format!("call_{number}");
            if !self.taken.contains(&id) {
                return id;
            }
            number += 1;
        }
    }

    /// Names a call, unless it has a name: some servers repeat it with every piece.
    pub fn name_call(&mut self, place: usize, name: &str, ear: Ear<'_>) {
        let Some(open) = self.parts.get_mut(place) else {
            return;
        };
        let Part::ToolCall(call) = &mut open.part else {
            return;
        };
        if call.name.is_empty() {
            name.clone_into(&mut call.name);
        }
        if !open.is_told && !call.name.is_empty() {
            open.is_told = true;
            let ToolCall { id, name, .. } = &*call;
            ear(Piece::Call { id, name });
        }
    }

    /// Adds to a part: words, a thought, or the arguments of a call.
    pub fn push(&mut self, place: usize, piece: &str, ear: Ear<'_>) -> Result<(), ModelError> {
        if piece.is_empty() {
            return Ok(());
        }
        self.grow(piece.len())?;
        match self.parts.get_mut(place).map(|open| &mut open.part) {
            Some(Part::Text { text }) => {
                text.push_str(piece);
                ear(Piece::Text(piece));
            }
            Some(Part::Thinking(thinking)) => {
                thinking.text.push_str(piece);
                ear(Piece::Thinking(piece));
            }
            Some(Part::ToolCall(call)) => call.arguments.push_str(piece),
            Some(Part::Image(_) | Part::Document(_) | Part::ToolResult(_)) | None => {}
        }
        Ok(())
    }

    /// Adds to the signature of a thought.
    pub fn sign(&mut self, place: usize, signature: &str) -> Result<(), ModelError> {
        if signature.is_empty() {
            return Ok(());
        }
        self.grow(signature.len())?;
        if let Some(Part::Thinking(thinking)) = self.parts.get_mut(place).map(|it| &mut it.part) {
            let held = thinking.signature.get_or_insert_default();
            held.push_str(signature);
        }
        Ok(())
    }

    /// The thought at this place.
    pub fn thinking(&mut self, place: usize) -> Option<&mut Thinking> {
        match &mut self.parts.get_mut(place)?.part {
            Part::Thinking(thinking) => Some(thinking),
            _ => None,
        }
    }

    /// The call at this place.
    pub fn call(&mut self, place: usize) -> Option<&mut ToolCall> {
        match &mut self.parts.get_mut(place)?.part {
            Part::ToolCall(call) => Some(call),
            _ => None,
        }
    }

    /// Says that a call is complete.
    pub fn close_call(&mut self, place: usize) {
        if let Some(open) = self.parts.get_mut(place) {
            open.is_complete = true;
        }
        if let Some(call) = self.call(place)
            && call.arguments.is_empty()
        {
            call.arguments.push_str("{}");
        }
    }

    /// Says that every call so far is complete.
    pub fn close_calls(&mut self) {
        for place in 0..self.parts.len() {
            self.close_call(place);
        }
    }

    /// Whether it asks for calls.
    pub fn has_calls(&self) -> bool {
        let is_call = |open: &Open| matches!(open.part, Part::ToolCall(_));
        self.parts.iter().any(is_call)
    }

    /// The words so far.
    pub fn text(&self) -> String {
        let words = self.parts.iter().filter_map(|open| match &open.part {
            Part::Text { text } => Some(text.as_str()),
            _ => None,
        });
        words.collect()
    }

    /// The reply. A message that its server finished with a call half said is no answer.
    pub fn finish(self, end: End, usage: Option<Usage>) -> Result<ModelReply, ModelError> {
        if end.is_regular && self.parts.iter().any(|open| !open.is_complete) {
            return Err(ModelError::cut("the message ended within a call"));
        }
        let parts = self.parts.into_iter().map(|open| open.part);
        let is_kept = |part: &Part| match part {
            Part::Text { text } => !text.is_empty(),
            Part::Thinking(thinking) => *thinking != Thinking::default(),
            Part::ToolCall(_) => end.is_regular,
            Part::Image(_) | Part::Document(_) | Part::ToolResult(_) => true,
        };
        Ok(ModelReply {
            parts: parts.filter(is_kept).collect(),
            finish_reason: end.reason,
            usage,
            model: self.model,
        })
    }

    fn open(&mut self, part: Part, is_complete: bool) -> Result<usize, ModelError> {
        self.grow(EMPTY_PART)?;
        self.parts.push(Open {
            part,
            is_complete,
            is_told: false,
        });
        Ok(self.parts.len() - 1)
    }

    fn grow(&mut self, bytes: usize) -> Result<(), ModelError> {
        self.size = self.size.saturating_add(bytes);
        match self.size > MAX_ANSWER {
            true => Err(ModelError::TooLarge { limit: MAX_ANSWER }),
            false => Ok(()),
        }
    }
}
