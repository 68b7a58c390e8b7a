//! What every operation here works with.

use windlass_pack_deploy::render::RenderInput;
use windlass_pack_model::next_actions::Caller;
use windlass_ports::git::Git;

/// The repository and its surroundings, the git program, the caller and the time.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// The repository, its manifest, machine and project.
    pub input: RenderInput<'a>,
    /// Git.
    pub git: &'a dyn Git,
    /// How the program was called, for suggested commands.
    pub caller: &'a Caller,
    /// Now: RFC 3339, UTC, with nanoseconds.
    pub now: &'a str,
}
