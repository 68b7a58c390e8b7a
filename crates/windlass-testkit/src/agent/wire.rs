//! Messages of the data channel and frames of its multiplexer, byte by byte as published.

use sha2::{Digest as _, Sha256};

/// Kinds of payloads.
pub(super) const OUTPUT: u32 = 1;
pub(super) const HANDSHAKE_REQUEST: u32 = 5;
pub(super) const HANDSHAKE_RESPONSE: u32 = 6;
pub(super) const HANDSHAKE_COMPLETE: u32 = 7;
pub(super) const FLAG: u32 = 10;

/// Commands of frames.
pub(super) const OPEN: u8 = 0;
pub(super) const CLOSE: u8 = 1;
pub(super) const DATA: u8 = 2;
pub(super) const IDLE: u8 = 3;

/// A message that was received.
pub(super) struct Message {
    pub(super) kind: String,
    pub(super) sequence: i64,
    pub(super) id: String,
    pub(super) payload_kind: u32,
    pub(super) payload: Vec<u8>,
}

pub(super) fn message(kind: &str, sequence: i64, payload_kind: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = 116_u32.to_be_bytes().to_vec();
    bytes.extend(format!("{kind:<32}").bytes());
    bytes.extend(1_u32.to_be_bytes());
    bytes.extend(0_u64.to_be_bytes());
    bytes.extend(sequence.to_be_bytes());
    bytes.extend(u64::from(sequence == 0).to_be_bytes());
    bytes.extend([u8::try_from(sequence % 251).unwrap(); 16]);
    bytes.extend(Sha256::digest(payload));
    bytes.extend(payload_kind.to_be_bytes());
    bytes.extend(u32::try_from(payload.len()).unwrap().to_be_bytes());
    bytes.extend(payload);
    bytes
}

pub(super) fn read(bytes: &[u8]) -> Message {
    let text = |range: std::ops::Range<usize>| {
        let text = String::from_utf8(bytes[range].to_vec()).unwrap();
        text.trim_end().to_owned()
    };
    let payload = bytes[120..].to_vec();
    assert_eq!(bytes[..4], 116_u32.to_be_bytes());
    assert_eq!(bytes[80..112], Sha256::digest(&payload)[..]);
    let length = u32::from_be_bytes(bytes[116..120].try_into().unwrap());
    assert_eq!(usize::try_from(length).unwrap(), payload.len());
    Message {
        kind: text(4..36),
        sequence: i64::from_be_bytes(bytes[48..56].try_into().unwrap()),
        id: bytes[64..80].iter().map(|it| format!("{it:02x}")).collect(),
        payload_kind: u32::from_be_bytes(bytes[112..116].try_into().unwrap()),
        payload,
    }
}

pub(super) fn frame(command: u8, stream: u32, data: &[u8]) -> Vec<u8> {
    let mut bytes = vec![1, command];
    bytes.extend(u16::try_from(data.len()).unwrap().to_le_bytes());
    bytes.extend(stream.to_le_bytes());
    bytes.extend(data);
    bytes
}

/// Takes whole frames off the front: command, stream, data.
pub(super) fn frames(pending: &mut Vec<u8>) -> Vec<(u8, u32, Vec<u8>)> {
    let mut frames = Vec::new();
    while pending.len() >= 8 {
        assert_eq!(pending[0], 1, "the version of a frame");
        let length = usize::from(u16::from_le_bytes([pending[2], pending[3]]));
        if pending.len() < 8 + length {
            break;
        }
        let stream = u32::from_le_bytes(pending[4..8].try_into().unwrap());
        frames.push((pending[1], stream, pending[8..8 + length].to_vec()));
        pending.drain(..8 + length);
    }
    frames
}
