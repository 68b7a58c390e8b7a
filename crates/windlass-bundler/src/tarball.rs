//! One file out of an npm tarball: gunzip, then walk the headers of the archive.
//!
//! The caller has checked the tarball's hash. Reading is bounded anyway.

use std::io::Read as _;

use flate2::read::GzDecoder;

/// The blocks of an archive.
const BLOCK: usize = 512;
/// Larger than any package that is fetched, unpacked.
const MOST_BYTES: u64 = 128 << 20;

/// The content of a file; none when the tarball has no such file or is none.
pub fn file(tarball: &[u8], path: &str) -> Option<Vec<u8>> {
    let mut archive = Vec::new();
    GzDecoder::new(tarball)
        .take(MOST_BYTES)
        .read_to_end(&mut archive)
        .ok()?;
    let wanted = format!("package/{path}");
    let mut at = 0;
    while let Some(header) = archive.get(at..at + BLOCK) {
        let name = text(header.get(..100)?);
        if name.is_empty() {
            return None;
        }
        let size = octal(header.get(124..136)?)?;
        let start = at + BLOCK;
        let end = start.checked_add(size)?;
        // A plain file is `0`, or NUL in archives of old.
        if name == wanted && matches!(header.get(156), Some(b'0' | 0)) {
            return archive.get(start..end).map(<[u8]>::to_vec);
        }
        at = end.checked_next_multiple_of(BLOCK)?;
    }
    None
}

/// A field that ends at its first NUL.
fn text(field: &[u8]) -> &str {
    let end = field
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(field.len());
    field
        .get(..end)
        .and_then(|bytes| std::str::from_utf8(bytes).ok())
        .unwrap_or_default()
}

fn octal(field: &[u8]) -> Option<usize> {
    usize::from_str_radix(text(field).trim(), 8).ok()
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::Write as _;

    use flate2::{Compression, write::GzEncoder};
    use proptest::prelude::*;

    use super::*;

    /// A tarball as npm writes it.
    pub(crate) fn tarball(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        for (path, content) in files {
            let mut header = [0; BLOCK];
            let name = format!("package/{path}");
            header[..name.len()].copy_from_slice(name.as_bytes());
            let size = format!("{:011o}", content.len());
            header[124..135].copy_from_slice(size.as_bytes());
            header[156] = b'0';
            gzip.write_all(&header).unwrap();
            gzip.write_all(content).unwrap();
            let rest = content.len().next_multiple_of(BLOCK) - content.len();
            gzip.write_all(&vec![0; rest]).unwrap();
        }
        gzip.write_all(&[0; 2 * BLOCK]).unwrap();
        gzip.finish().unwrap()
    }

    #[test]
    fn a_file_is_found_behind_others() {
        let packed = tarball(&[("package.json", b"{}"), ("bin/a", &[7; 1000]), ("z", b"")]);
        assert_eq!(file(&packed, "bin/a"), Some(vec![7; 1000]));
        assert_eq!(file(&packed, "z"), Some(Vec::new()));
        assert_eq!(file(&packed, "bin"), None);
        assert_eq!(file(&packed[..packed.len() / 2], "bin/a"), None);
        assert_eq!(file(b"not gzip", "bin/a"), None);
    }

    proptest! {
        #[test]
        fn no_bytes_break_it(bytes: Vec<u8>) {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
            gzip.write_all(&bytes).unwrap();
            file(&gzip.finish().unwrap(), "a");
            file(&bytes, "a");
        }
    }
}
