//! Zips whose bytes depend on their entries alone: sorted, one time for all, two modes.
//!
//! And the reading of what a zip made elsewhere says of its size.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use fs_err as fs;

use crate::package::stage::{Body, Entry};

/// 1980-01-01 00:00, the first time a zip can say.
const DATE: u16 = 0x0021;
/// Names are UTF-8.
const FLAGS: u16 = 1 << 11;
/// Made on Unix, so that modes are honoured.
const MADE_BY: u16 = (3 << 8) | 20;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;
/// More entries need another format, which Lambda would take no happier.
pub(crate) const MOST_ENTRIES: usize = 65_535;

/// Writes a zip; returns the size of all entries together. Entries are sorted and have
/// different paths.
pub(crate) fn write(entries: &[Entry], out: &mut impl Write) -> io::Result<u64> {
    let mut directory = Vec::new();
    let mut offset = 0_u64;
    let mut unzipped = 0_u64;
    for entry in entries {
        let bytes = match &entry.body {
            Body::File(source) => fs::read(source)?,
            Body::Bytes(bytes) => bytes.clone(),
        };
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
        encoder.write_all(&bytes)?;
        let packed = encoder.finish()?;
        let (method, data) = match packed.len() < bytes.len() {
            true => (DEFLATED, &packed),
            false => (STORED, &bytes),
        };
        let mut common = Vec::new();
        for half in [20, FLAGS, method, 0, DATE] {
            common.extend(u16::to_le_bytes(half));
        }
        common.extend(crc32fast::hash(&bytes).to_le_bytes());
        common.extend(small(data.len() as u64)?.to_le_bytes());
        common.extend(small(bytes.len() as u64)?.to_le_bytes());
        let name = entry.path.as_bytes();
        let name_length = u16::try_from(name.len())
            .map_err(|_| io::Error::other(format!("the path {} is too long", entry.path)))?;
        common.extend(name_length.to_le_bytes());
        common.extend([0; 2]);

        out.write_all(b"PK\x03\x04")?;
        out.write_all(&common)?;
        out.write_all(name)?;
        out.write_all(data)?;

        let mode: u32 = if entry.executable {
            0o100_755
        } else {
            0o100_644
        };
        directory.extend(b"PK\x01\x02");
        directory.extend(MADE_BY.to_le_bytes());
        directory.extend(&common);
        directory.extend([0; 6]);
        directory.extend((mode << 16).to_le_bytes());
        directory.extend(small(offset)?.to_le_bytes());
        directory.extend(name);

        offset += (4 + common.len() + name.len() + data.len()) as u64;
        unzipped += bytes.len() as u64;
    }
    let count = u16::try_from(entries.len())
        .map_err(|_| io::Error::other("a zip has at most 65,535 entries"))?;
    out.write_all(&directory)?;
    out.write_all(b"PK\x05\x06\0\0\0\0")?;
    out.write_all(&count.to_le_bytes())?;
    out.write_all(&count.to_le_bytes())?;
    out.write_all(&small(directory.len() as u64)?.to_le_bytes())?;
    out.write_all(&small(offset)?.to_le_bytes())?;
    out.write_all(&[0; 2])?;
    Ok(unzipped)
}

fn small(value: u64) -> io::Result<u32> {
    u32::try_from(value).map_err(|_| io::Error::other("a zip of more than 4 GB"))
}

/// The size of all entries of a zip together, as its directory says; `None` when it is no zip.
pub(crate) fn unzipped_size(zip: &[u8]) -> Option<u64> {
    let end = zip.len().checked_sub(22)?;
    // A comment of up to 64 KB may stand behind the end.
    let end = (end.saturating_sub(65_535)..=end)
        .rev()
        .find(|at| zip.get(*at..at + 4) == Some(b"PK\x05\x06"))?;
    let count = half(zip, end + 10)?;
    let mut at = usize::try_from(word(zip, end + 16)?).ok()?;
    let mut total = 0_u64;
    for _ in 0..count {
        if zip.get(at..at + 4) != Some(b"PK\x01\x02") {
            return None;
        }
        total += u64::from(word(zip, at + 24)?);
        let behind = half(zip, at + 28)? + half(zip, at + 30)? + half(zip, at + 32)?;
        at += 46 + behind;
    }
    Some(total)
}

fn half(bytes: &[u8], at: usize) -> Option<usize> {
    let it = bytes.get(at..at.checked_add(2)?)?;
    Some(usize::from(u16::from_le_bytes(it.try_into().ok()?)))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let it = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(it.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(path: &str, bytes: &[u8]) -> Entry {
        Entry {
            path: path.to_owned(),
            body: Body::Bytes(bytes.to_vec()),
            executable: path.ends_with(".sh"),
        }
    }

    #[test]
    fn size_is_read_back_and_only_zips_have_one() {
        let entries = [
            entry("a.txt", &[7; 5_000]),
            entry("b.sh", b"#!"),
            entry("日/é", b""),
        ];
        let mut zip = Vec::new();
        assert_eq!(write(&entries, &mut zip).unwrap(), 5_002);
        assert_eq!(unzipped_size(&zip), Some(5_002));
        assert!(zip.len() < 600);
        zip.extend(b"a comment behind");
        assert_eq!(unzipped_size(&zip), Some(5_002));
        assert_eq!(unzipped_size(b"PK\x03\x04"), None);
        assert_eq!(unzipped_size(&[0; 100]), None);
        assert_eq!(unzipped_size(&zip[..zip.len() - 60]), None);
    }

    proptest! {
        #[test]
        fn damaged_zips_never_panic(mut noise in proptest::collection::vec(any::<u8>(), 0..200), at in 0_usize..200) {
            if at + 4 <= noise.len() {
                noise[at..at + 4].copy_from_slice(b"PK\x05\x06");
            }
            let _ = unzipped_size(&noise);
        }
    }
}
