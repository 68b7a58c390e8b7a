//! The files that `init` and `bootstrap` write, as texts to be filled in.
//!
//! Command lines in them begin with the name the program was started under.

/// Text for a new config repository.
pub(crate) const BASE_AGENTS: &str = include_str!("templates/base-agents.md");
/// A prompt to begin with.
pub(crate) const DRAFT_PR: &str = include_str!("templates/draftpr.md");
/// A command to begin with.
pub(crate) const STARTER_PLAN: &str = include_str!("templates/starter-plan.md");
/// The skill that teaches an agent to operate pack.
pub(crate) const OPERATOR_SKILL: &str = include_str!("templates/operator-skill.md");

/// The slash commands that operate pack, by name.
pub(crate) const OPERATOR_COMMANDS: [(&str, &str); 9] = [
    ("ap-deploy", include_str!("templates/ap-deploy.md")),
    ("ap-diff", include_str!("templates/ap-diff.md")),
    ("ap-doctor", include_str!("templates/ap-doctor.md")),
    ("ap-evolve", include_str!("templates/ap-evolve.md")),
    ("ap-explain", include_str!("templates/ap-explain.md")),
    ("ap-plan", include_str!("templates/ap-plan.md")),
    ("ap-preview", include_str!("templates/ap-preview.md")),
    ("ap-status", include_str!("templates/ap-status.md")),
    ("ap-update", include_str!("templates/ap-update.md")),
];

/// Fills a text in.
pub(crate) fn fill(template: &str, program: &str, version: &str) -> String {
    template
        .replace("{{program}}", program)
        .replace("{{version}}", version)
}
