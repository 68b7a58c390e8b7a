//! Packets and the pieces they are made of.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use windlass_ports::database::{DatabaseAddress, DatabaseFailure, Listening};

use crate::connect::{self, Wire, unexpected};

/// A packet this long is continued by the next one.
const FULL: usize = 0xff_ffff;

/// Packets over a connection, numbered per exchange.
pub struct Packets {
    wire: Wire,
    listening: Listening,
    sequence: u8,
    largest: usize,
}

impl Packets {
    pub fn new(wire: Wire, listening: Listening, byte_limit: usize) -> Self {
        Self {
            wire,
            listening,
            sequence: 0,
            largest: byte_limit.saturating_add(1 << 20),
        }
    }

    /// The same exchange over TLS.
    pub async fn secured(self, address: &DatabaseAddress) -> Result<Self, DatabaseFailure> {
        Ok(Self {
            wire: connect::secure(self.wire, address).await?,
            ..self
        })
    }

    /// Starts a new exchange.
    pub fn restart(&mut self) {
        self.sequence = 0;
    }

    /// The next packet.
    pub async fn read(&mut self) -> Result<Vec<u8>, DatabaseFailure> {
        let mut payload = Vec::new();
        loop {
            let mut header = [0_u8; 4];
            self.wire
                .read_exact(&mut header)
                .await
                .map_err(|error| connect::unreachable(&self.listening, error))?;
            let [a, b, c, sequence] = header;
            let length = usize::from(a) | usize::from(b) << 8 | usize::from(c) << 16;
            self.sequence = sequence.wrapping_add(1);
            let start = payload.len();
            if start + length > self.largest {
                return Err(unexpected(format!(
                    "one message has more than {} bytes; select less",
                    self.largest
                )));
            }
            payload.resize(start + length, 0);
            self.wire
                .read_exact(&mut payload[start..])
                .await
                .map_err(|error| connect::unreachable(&self.listening, error))?;
            if length < FULL {
                return Ok(payload);
            }
        }
    }

    /// Sends a packet.
    pub async fn write(&mut self, payload: &[u8]) -> Result<(), DatabaseFailure> {
        let mut framed = Vec::with_capacity(payload.len() + 4);
        let mut chunks: Vec<&[u8]> = payload.chunks(FULL).collect();
        // An exact multiple, nothing at all included, ends with an empty packet.
        if payload.len().is_multiple_of(FULL) {
            chunks.push(&[]);
        }
        for chunk in chunks {
            let length = u32::try_from(chunk.len()).unwrap_or(0).to_le_bytes();
            framed.extend_from_slice(&length[..3]);
            framed.push(self.sequence);
            framed.extend_from_slice(chunk);
            self.sequence = self.sequence.wrapping_add(1);
        }
        let sent = async {
            self.wire.write_all(&framed).await?;
            self.wire.flush().await
        };
        sent.await
            .map_err(|error| connect::unreachable(&self.listening, error))
    }
}

/// A packet being read; what is missing is a broken packet.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], DatabaseFailure> {
        if count > self.0.len() {
            return Err(unexpected("a packet that is too short"));
        }
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        Ok(taken)
    }

    pub fn byte(&mut self) -> Result<u8, DatabaseFailure> {
        Ok(self.take(1)?[0])
    }

    pub fn number(&mut self, bytes: usize) -> Result<u64, DatabaseFailure> {
        Ok(self
            .take(bytes)?
            .iter()
            .rev()
            .fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Up to the next NUL, or to the end.
    pub fn text(&mut self) -> String {
        let end = self.0.iter().position(|byte| *byte == 0);
        let (text, rest) = match end {
            Some(end) => (&self.0[..end], &self.0[end + 1..]),
            None => (self.0, &self.0[self.0.len()..]),
        };
        self.0 = rest;
        String::from_utf8_lossy(text).into_owned()
    }

    /// A number that says by its first byte how long it is; none for NULL.
    pub fn length(&mut self) -> Result<Option<u64>, DatabaseFailure> {
        Ok(Some(match self.byte()? {
            0xfb => return Ok(None),
            0xfc => self.number(2)?,
            0xfd => self.number(3)?,
            0xfe => self.number(8)?,
            0xff => return Err(unexpected("an invalid length")),
            small => u64::from(small),
        }))
    }

    /// Bytes with their length before them; none for NULL.
    pub fn field(&mut self) -> Result<Option<&'a [u8]>, DatabaseFailure> {
        match self.length()? {
            None => Ok(None),
            Some(length) => self
                .take(usize::try_from(length).unwrap_or(usize::MAX))
                .map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lengths_of_every_size() {
        for (bytes, expected) in [
            (&[0x05][..], Some(5)),
            (&[0xfb], None),
            (&[0xfc, 1, 2], Some(0x201)),
            (&[0xfd, 1, 2, 3], Some(0x30201)),
            (&[0xfe, 1, 0, 0, 0, 0, 0, 0, 1], Some(0x0100_0000_0000_0001)),
        ] {
            assert_eq!(Reader(bytes).length().unwrap(), expected);
        }
        assert!(Reader(&[0xff]).length().is_err());
        assert!(Reader(&[]).length().is_err());
        assert!(Reader(&[0x05, 1]).field().is_err());
    }

    proptest! {
        #[test]
        fn no_packet_panics(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let mut reader = Reader(&bytes);
            while reader.field().is_ok() && !reader.0.is_empty() {}
            let _ = Reader(&bytes).text();
        }
    }

    #[tokio::test]
    async fn packets_come_back_whatever_their_length() {
        for length in [0, 1, FULL - 1, FULL, FULL + 1] {
            let (left, right) = tokio::io::duplex(1 << 16);
            let place = Listening::Socket("test".into());
            let mut sender = Packets::new(Box::new(left), place.clone(), 2 * FULL);
            let mut receiver = Packets::new(Box::new(right), place, 2 * FULL);
            let payload = vec![7_u8; length];
            let (sent, received) = tokio::join!(sender.write(&payload), receiver.read());
            sent.unwrap();
            assert_eq!(received.unwrap().len(), length);
        }
    }
}
