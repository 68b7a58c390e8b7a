//! Bounds on what is read: beyond them a line is not understood.

/// The longest line.
pub const MAX_BYTES: usize = 64 * 1024;
/// The most simple commands of a line, those inside others included.
pub const MAX_COMMANDS: usize = 512;
/// How deep commands may run commands: `sudo sh -c "timeout 5 ls"` is three levels.
pub const MAX_LEVEL: usize = 5;
/// How deep groups, loops and substitutions may be nested.
pub const MAX_NESTING: usize = 60;
/// The most redirections of a command, those of the groups around it included.
pub(crate) const MAX_REDIRECTS: usize = 64;
/// The most concerns that are listed; one is enough to ask.
pub(crate) const MAX_CONCERNS: usize = 64;
/// How often the parser may report before it is stopped: about a hundred operations each.
pub(crate) const MAX_REPORTS: u32 = 40_000;
