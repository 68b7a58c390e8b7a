//! One message of the data channel, as bytes: a fixed header, big-endian, then the payload.

use sha2::{Digest as _, Sha256};

/// Where things stand. The length in the first four bytes is that of the header without the
/// payload's length.
const HEADER: usize = 116;
const KIND: std::ops::Range<usize> = 4..36;
const CREATED: std::ops::Range<usize> = 40..48;
const SEQUENCE: std::ops::Range<usize> = 48..56;
const FLAGS: std::ops::Range<usize> = 56..64;
const ID: std::ops::Range<usize> = 64..80;
const DIGEST: std::ops::Range<usize> = 80..112;
const PAYLOAD_KIND: std::ops::Range<usize> = 112..116;

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// From here to the machine.
    Input,
    /// From the machine to here.
    Output,
    /// A message was taken.
    Acknowledge,
    /// The session is over.
    ChannelClosed,
    /// Anything else; pauses of the service are among it.
    Other,
}

impl Kind {
    /// The name on the wire.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Input => "input_stream_data",
            Self::Output => "output_stream_data",
            Self::Acknowledge => "acknowledge",
            Self::ChannelClosed => "channel_closed",
            Self::Other => "",
        }
    }

    fn named(name: &str) -> Self {
        [
            Self::Input,
            Self::Output,
            Self::Acknowledge,
            Self::ChannelClosed,
        ]
        .into_iter()
        .find(|kind| kind.name() == name)
        .unwrap_or(Self::Other)
    }
}

/// What a payload is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Payload {
    /// Nothing is said.
    None,
    /// Bytes of a program or of a connection.
    Output,
    /// The size of a terminal.
    Size,
    /// What the machine wants settled first.
    HandshakeRequest,
    /// The answer to it.
    HandshakeResponse,
    /// Everything is settled.
    HandshakeComplete,
    /// A test of encryption on top of TLS.
    EncryptionChallenge,
    /// A number that means something; see `flag` in channel.rs.
    Flag,
    /// Anything else.
    Other,
}

const PAYLOADS: &[(u32, Payload)] = &[
    (0, Payload::None),
    (1, Payload::Output),
    (3, Payload::Size),
    (5, Payload::HandshakeRequest),
    (6, Payload::HandshakeResponse),
    (7, Payload::HandshakeComplete),
    (8, Payload::EncryptionChallenge),
    (10, Payload::Flag),
    // Standard error of a session that keeps it apart; one stream is shown.
    (11, Payload::Output),
];

impl Payload {
    fn number(self) -> u32 {
        PAYLOADS
            .iter()
            .find(|(_, kind)| *kind == self)
            .map_or(0, |(number, _)| *number)
    }

    fn numbered(number: u32) -> Self {
        PAYLOADS
            .iter()
            .find(|(known, _)| *known == number)
            .map_or(Self::Other, |(_, kind)| *kind)
    }
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// What it is for.
    pub(crate) kind: Kind,
    /// When it was made, in milliseconds since 1970.
    pub(crate) created: i64,
    /// Its place in the stream.
    pub(crate) sequence: i64,
    /// First and last of a stream.
    pub(crate) flags: u64,
    /// Its id.
    pub(crate) id: [u8; 16],
    /// What the payload is.
    pub(crate) payload_kind: Payload,
    /// The payload.
    pub(crate) payload: Vec<u8>,
}

impl Message {
    /// The message as bytes.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut bytes = vec![0; HEADER];
        bytes[..4].copy_from_slice(&116_u32.to_be_bytes());
        bytes[KIND].fill(b' ');
        let name = self.kind.name().as_bytes();
        bytes[KIND.start..KIND.start + name.len()].copy_from_slice(name);
        bytes[36..40].copy_from_slice(&1_u32.to_be_bytes());
        bytes[CREATED].copy_from_slice(&self.created.to_be_bytes());
        bytes[SEQUENCE].copy_from_slice(&self.sequence.to_be_bytes());
        bytes[FLAGS].copy_from_slice(&self.flags.to_be_bytes());
        bytes[ID].copy_from_slice(&swapped(self.id));
        bytes[DIGEST].copy_from_slice(&Sha256::digest(&self.payload));
        bytes[PAYLOAD_KIND].copy_from_slice(&self.payload_kind.number().to_be_bytes());
        let length = u32::try_from(self.payload.len()).unwrap_or(u32::MAX);
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(&self.payload);
        bytes
    }

    /// Reads a message; `None` for bytes that are none, and for a payload that is not the one
    /// its digest is of.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let header = usize::try_from(u32::from_be_bytes(array(bytes, 0..4)?)).ok()?;
        if header < PAYLOAD_KIND.start {
            return None;
        }
        let length = u32::from_be_bytes(array(bytes, header..header.checked_add(4)?)?);
        let start = header + 4;
        let end = start.checked_add(usize::try_from(length).ok()?)?;
        let payload = bytes.get(start..end)?.to_vec();
        let digest: [u8; 32] = array(bytes, DIGEST)?;
        if digest != [0; 32] && digest[..] != Sha256::digest(&payload)[..] {
            return None;
        }
        let name = String::from_utf8_lossy(bytes.get(KIND)?).into_owned();
        // Older agents leave the payload's kind out of a shorter header.
        let payload_kind = if header >= PAYLOAD_KIND.end {
            Payload::numbered(u32::from_be_bytes(array(bytes, PAYLOAD_KIND)?))
        } else {
            Payload::None
        };
        Some(Self {
            kind: Kind::named(name.trim_matches([' ', '\0'])),
            created: i64::from_be_bytes(array(bytes, CREATED)?),
            sequence: i64::from_be_bytes(array(bytes, SEQUENCE)?),
            flags: u64::from_be_bytes(array(bytes, FLAGS)?),
            id: swapped(array(bytes, ID)?),
            payload_kind,
            payload,
        })
    }

    /// The id, as texts have it.
    pub(crate) fn id_text(&self) -> String {
        uuid(&self.id)
    }
}

/// Sixteen bytes in groups.
pub(crate) fn uuid(bytes: &[u8; 16]) -> String {
    let digits = hex::encode(bytes);
    format!(
        "{}-{}-{}-{}-{}",
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..]
    )
}

/// On the wire the halves of an id stand the other way round.
fn swapped(id: [u8; 16]) -> [u8; 16] {
    let mut other = id;
    other.rotate_left(8);
    other
}

fn array<const N: usize>(bytes: &[u8], range: std::ops::Range<usize>) -> Option<[u8; N]> {
    bytes.get(range)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn read_back(sequence: i64, created: i64, flags: u64, id: [u8; 16], payload: Vec<u8>) {
            let message = Message {
                kind: Kind::Output, created, sequence, flags, id,
                payload_kind: Payload::Output, payload,
            };
            proptest::prop_assert_eq!(Message::read(&message.write()), Some(message));
        }

        #[test]
        fn no_bytes_break_it(bytes: Vec<u8>) {
            let _ = Message::read(&bytes);
        }
    }

    #[test]
    fn a_changed_payload_is_rejected() {
        let message = Message {
            kind: Kind::Output,
            created: 1,
            sequence: 0,
            flags: 0,
            id: [7; 16],
            payload_kind: Payload::Output,
            payload: b"hello".to_vec(),
        };
        let mut bytes = message.write();
        assert_eq!(bytes.len(), 125);
        assert_eq!(&bytes[4..22], b"output_stream_data");
        *bytes.last_mut().unwrap() ^= 1;
        assert_eq!(Message::read(&bytes), None);
    }
}
