//! Texts compared and combined: unified diffs, patches, three-way merges.
//!
//! Pure functions over strings, no IO, no git. Domains use it wherever a person is shown a
//! difference or two edits meet.
