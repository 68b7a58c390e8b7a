//! Percent-encoding of texts that become part of an address.

/// The text as one part of a path or query: everything but unreserved characters is encoded.
pub fn part(text: &str) -> String {
    encode(text.as_bytes(), |_| false)
}

/// A path: as [`part`], with `/` kept.
pub fn path(bytes: &[u8]) -> String {
    encode(bytes, |byte| byte == b'/')
}

fn encode(bytes: &[u8], keep: impl Fn(u8) -> bool) -> String {
    let mut encoded = String::with_capacity(bytes.len());
    for &byte in bytes {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || keep(byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_unreserved_characters_stay() {
        assert_eq!(part("a/b c.é~1"), "a%2Fb%20c.%C3%A9~1");
        assert_eq!(path(b"/a b/%/\xff"), "/a%20b/%25/%FF");
    }
}
