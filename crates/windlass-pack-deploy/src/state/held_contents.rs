//! Contents in memory, so that one that was read is not read again before it is written.

use std::{collections::HashMap, sync::Arc};

use windlass_types::Digest;

/// Contents up to this many bytes in all are held.
const MOST: usize = 64 * 1024 * 1024;

/// Contents by digest, up to a bound; the ones beyond it are read again where they are needed.
#[derive(Clone, Debug, Default)]
pub struct HeldContents {
    contents: HashMap<Digest, Arc<[u8]>>,
    bytes: usize,
}

impl HeldContents {
    /// The bytes of a digest, if they are held.
    pub(crate) fn get(&self, digest: &Digest) -> Option<&Arc<[u8]>> {
        self.contents.get(digest)
    }

    /// Holds a content, if there is room. The caller has compared it with the digest.
    pub fn hold(&mut self, digest: Digest, bytes: impl AsRef<[u8]> + Into<Arc<[u8]>>) {
        let len = bytes.as_ref().len();
        if self.bytes + len <= MOST && !self.contents.contains_key(&digest) {
            self.bytes += len;
            self.contents.insert(digest, bytes.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beyond_the_bound_is_not_held() {
        let mut held = HeldContents::default();
        let large = vec![0; MOST - 3];
        held.hold(Digest::of(&large), large.as_slice());
        held.hold(Digest::of(b"abcd"), *b"abcd");
        held.hold(Digest::of(b"abc"), *b"abc");
        held.hold(Digest::of(b"abc"), *b"abc");
        assert!(held.get(&Digest::of(&large)).is_some());
        assert!(held.get(&Digest::of(b"abcd")).is_none());
        assert_eq!(
            held.get(&Digest::of(b"abc")).map(|bytes| &**bytes),
            Some(&b"abc"[..])
        );
    }
}
