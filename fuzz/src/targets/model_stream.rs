//! A model's stream: any bytes, in any pieces, give the same answer or the same error, whatever the
//! wire format.

use windlass_llm::{EventReader, ReplyBuilder};
use windlass_ports::{Piece, WireFormat};

const LIMIT: usize = 512;

/// The answer, and the text that was heard on the way.
fn read<'a>(wire: WireFormat, pieces: impl Iterator<Item = &'a [u8]>) -> (String, String) {
    let mut reader = EventReader::new(LIMIT);
    let mut builder = ReplyBuilder::new(wire, "model");
    let mut events = Vec::new();
    let mut heard = String::new();
    let mut hear = |piece: Piece<'_>| {
        if let Piece::Text(text) = piece {
            heard.push_str(text);
        }
    };
    for piece in pieces {
        let read = reader.push(piece, &mut events);
        for event in events.drain(..) {
            assert!(event.len() <= LIMIT, "an event beyond the limit");
            if let Err(error) = builder.event(&event, &mut hear) {
                return (error.to_string(), heard);
            }
        }
        if let Err(error) = read {
            return (error.to_string(), heard);
        }
    }
    if let Some(open) = reader.finish()
        && let Err(error) = builder.last_event(&open, &mut hear)
    {
        return (error.to_string(), heard);
    }
    assert_eq!(builder.text(), heard, "heard another text");
    match builder.finish() {
        Ok(reply) => (format!("{reply:?}"), heard),
        Err(error) => (error.to_string(), heard),
    }
}

pub fn run(data: &[u8]) {
    let [wire, size, bytes @ ..] = data else {
        return;
    };
    let wire = match wire % 4 {
        0 => WireFormat::ChatCompletions,
        1 => WireFormat::Responses,
        2 => WireFormat::Messages,
        _ => WireFormat::Gemini,
    };
    let whole = read(wire, std::iter::once(bytes));
    let pieces = read(wire, bytes.chunks(usize::from(*size).max(1)));
    assert_eq!(whole, pieces, "the answer depends on how the bytes arrive");
}
