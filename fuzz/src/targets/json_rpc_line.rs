//! The JSON-RPC line reader: any bytes, in any chunks, give the same frames and no panic.

use crate::parsers::wire::FrameReader;

const LIMIT: usize = 512;

fn frames(chunks: impl Iterator<Item = Vec<u8>>) -> Vec<String> {
    let mut reader = FrameReader::new(LIMIT);
    let mut seen = Vec::new();
    for chunk in chunks {
        reader.push(&chunk);
        while let Some(frame) = reader.next_frame() {
            seen.push(format!("{frame:?}"));
        }
    }
    if let Some(frame) = reader.finish() {
        seen.push(format!("{frame:?}"));
    }
    seen
}

pub fn run(data: &[u8]) {
    let Some((size, bytes)) = data.split_first() else {
        return;
    };
    let whole = frames(std::iter::once(bytes.to_vec()));
    let pieces = frames(bytes.chunks(usize::from(*size).max(1)).map(<[u8]>::to_vec));
    assert_eq!(whole, pieces, "framing depends on how the bytes arrive");
}
