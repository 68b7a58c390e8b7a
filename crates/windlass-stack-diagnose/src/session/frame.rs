//! Frames of the multiplexer inside a port session, as bytes: eight bytes of header, little-endian,
//! then the data.
//!
//! Agents that forward to other hosts use this (smux, version 1). Of its streams only one is
//! used: a session per connection keeps a slow connection from holding up the others. What it
//! gives over plain bytes is the news that the other side has closed.

const VERSION: u8 = 1;
pub(crate) const HEADER: usize = 8;
/// The one stream: the first a client opens.
pub(crate) const STREAM: u32 = 3;

/// What a frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// A stream begins.
    Open,
    /// A stream ends.
    Close,
    /// Bytes of a stream.
    Data,
    /// Nothing; a sign of life, which is answered.
    Idle,
}

const COMMANDS: [Command; 4] = [Command::Open, Command::Close, Command::Data, Command::Idle];

/// A frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) command: Command,
    pub(crate) stream: u32,
    pub(crate) data: Vec<u8>,
}

impl Frame {
    /// One without data.
    pub(crate) const fn bare(command: Command, stream: u32) -> Self {
        Self {
            command,
            stream,
            data: Vec::new(),
        }
    }

    /// The frame as bytes. Data beyond what a frame can hold is cut; nobody here gives so much.
    pub(crate) fn write(&self) -> Vec<u8> {
        let length = u16::try_from(self.data.len()).unwrap_or(u16::MAX);
        let number = COMMANDS.iter().position(|known| *known == self.command);
        let mut bytes = vec![VERSION, u8::try_from(number.unwrap_or(3)).unwrap_or(3)];
        bytes.extend(length.to_le_bytes());
        bytes.extend(self.stream.to_le_bytes());
        bytes.extend(&self.data[..usize::from(length)]);
        bytes
    }
}

/// Puts frames together from pieces.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    pending: Vec<u8>,
}

impl Frames {
    /// Takes a piece; returns the frames that are complete now, `None` for bytes that are not frames.
    pub(crate) fn feed(&mut self, piece: &[u8]) -> Option<Vec<Frame>> {
        self.pending.extend_from_slice(piece);
        let mut frames = Vec::new();
        let mut rest = self.pending.as_slice();
        while let Some((header, after)) = rest.split_first_chunk::<HEADER>() {
            let [version, command, l0, l1, s0, s1, s2, s3] = *header;
            if version != VERSION {
                return None;
            }
            let command = *COMMANDS.get(usize::from(command))?;
            let length = usize::from(u16::from_le_bytes([l0, l1]));
            let Some((data, after)) = after.split_at_checked(length) else {
                break;
            };
            frames.push(Frame {
                command,
                stream: u32::from_le_bytes([s0, s1, s2, s3]),
                data: data.to_vec(),
            });
            rest = after;
        }
        let used = self.pending.len() - rest.len();
        self.pending.drain(..used);
        Some(frames)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_frame_is_laid_out_as_published() {
        let frame = Frame {
            command: Command::Data,
            stream: STREAM,
            data: b"hi".to_vec(),
        };
        assert_eq!(frame.write(), [1, 2, 2, 0, 3, 0, 0, 0, b'h', b'i']);
        assert_eq!(
            Frame::bare(Command::Idle, 0).write(),
            [1, 3, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(Frames::default().feed(&[2, 0, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(Frames::default().feed(&[1, 9, 0, 0, 0, 0, 0, 0]), None);
    }

    proptest! {
        #[test]
        fn read_back_however_it_is_cut(
            given in prop::collection::vec((0_usize..4, any::<u32>(), prop::collection::vec(any::<u8>(), 0..300)), 0..8),
            cut in 1_usize..50,
        ) {
            let given: Vec<Frame> = given
                .into_iter()
                .map(|(command, stream, data)| Frame { command: COMMANDS[command], stream, data })
                .collect();
            let bytes: Vec<u8> = given.iter().flat_map(Frame::write).collect();
            let mut frames = Frames::default();
            let mut read = Vec::new();
            for piece in bytes.chunks(cut) {
                read.extend(frames.feed(piece).unwrap());
            }
            prop_assert_eq!(read, given);
        }

        #[test]
        fn no_bytes_break_it(pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..8)) {
            let mut frames = Frames::default();
            for piece in pieces {
                if frames.feed(&piece).is_none() {
                    break;
                }
            }
        }
    }
}
