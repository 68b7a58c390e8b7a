//! Ids in the form of a random UUID (version 4) that follow from what they name, so that
//! anyone who makes them again makes the same.

use windlass_types::Digest;

/// The id of what these parts name together.
pub(crate) fn uuid_of(parts: &[&[u8]]) -> String {
    let digest = Digest::of_parts(parts);
    let mut bytes = [0_u8; 16];
    bytes.copy_from_slice(&digest.as_bytes()[..16]);
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let (a, rest) = hex.split_at(8);
    let (b, rest) = rest.split_at(4);
    let (c, rest) = rest.split_at(4);
    let (d, e) = rest.split_at(4);
    format!("{a}-{b}-{c}-{d}-{e}")
}

/// Reads the text form of a UUID of version 4; given in lower case.
pub(crate) fn parse_uuid4(text: &str) -> Option<String> {
    let fits = text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            14 => byte == b'4',
            19 => matches!(byte.to_ascii_lowercase(), b'8' | b'9' | b'a' | b'b'),
            _ => byte.is_ascii_hexdigit(),
        });
    fits.then(|| text.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_can_be_read() {
        let made = uuid_of(&[b"run", b"launch"]);
        assert_eq!(parse_uuid4(&made), Some(made.clone()));
        assert_eq!(made, uuid_of(&[b"run", b"launch"]));
        assert_ne!(made, uuid_of(&[b"run", b"gate"]));
    }

    #[test]
    fn only_version_four_is_taken() {
        for (text, good) in [
            ("0b5c2b1e-7a4f-4c1d-9e57-2f0a6b7c8d9e", true),
            ("0B5C2B1E-7A4F-4C1D-BE57-2F0A6B7C8D9E", true),
            ("0b5c2b1e-7a4f-1c1d-9e57-2f0a6b7c8d9e", false),
            ("0b5c2b1e-7a4f-4c1d-7e57-2f0a6b7c8d9e", false),
            ("0b5c2b1e7a4f4c1d9e572f0a6b7c8d9e", false),
            ("0b5c2b1e-7a4f-4c1d-9e57-2f0a6b7c8d9", false),
            ("{0b5c2b1e-7a4f-4c1d-9e57-2f0a6b7c8d9}", false),
            ("", false),
        ] {
            assert_eq!(parse_uuid4(text).is_some(), good, "{text}");
        }
    }
}
