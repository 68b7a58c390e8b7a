//! A model's stream: any bytes, in any pieces, give the same answer or the same error.

use windlass_llm::{EventReader, ReplyBuilder};

const LIMIT: usize = 512;

/// The answer, and the text that was heard on the way.
fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (String, String) {
    let mut reader = EventReader::new(LIMIT);
    let mut builder = ReplyBuilder::new("model");
    let mut events = Vec::new();
    let mut heard = String::new();
    for piece in pieces {
        let read = reader.push(piece, &mut events);
        for event in events.drain(..) {
            assert!(event.len() <= LIMIT, "an event beyond the limit");
            match builder.event(&event) {
                Ok(text) => heard.push_str(&text),
                Err(error) => return (error.to_string(), heard),
            }
        }
        if let Err(error) = read {
            return (error.to_string(), heard);
        }
    }
    if let Some(open) = reader.finish() {
        match builder.last_event(&open) {
            Ok(text) => heard.push_str(&text),
            Err(error) => return (error.to_string(), heard),
        }
    }
    match builder.finish() {
        Ok(reply) => {
            assert!(
                heard.is_empty() || reply.text == heard,
                "heard another text"
            );
            (format!("{reply:?}"), heard)
        }
        Err(error) => (error.to_string(), heard),
    }
}

pub fn run(data: &[u8]) {
    let Some((size, bytes)) = data.split_first() else {
        return;
    };
    let whole = read(std::iter::once(bytes));
    let pieces = read(bytes.chunks(usize::from(*size).max(1)));
    assert_eq!(whole, pieces, "the answer depends on how the bytes arrive");
}
