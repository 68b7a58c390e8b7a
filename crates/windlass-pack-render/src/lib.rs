//! From a config repository to the files every target should hold.
//!
//! Resolve → layer → check → render, in memory and once. Reads the repository, writes nothing.
//! Comparing the result with the disk is `windlass-pack-deploy`'s work.
