//! Checksums of files.

/// Returns the CRC-32 of some bytes.
pub fn checksum(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}
