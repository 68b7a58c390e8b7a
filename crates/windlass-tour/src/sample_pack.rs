//! The sample repository of `examples/pack`.

use crate::sample::{Sample, samples};

pub(crate) const SAMPLES: &[Sample] = samples! { "pack":
    "agentpack.yaml";
    "modules/claude-commands/review.md";
    "modules/instructions/base/AGENTS.md";
    "modules/instructions/security/AGENTS.md";
    "modules/mcp/windlass.yaml";
    "modules/prompts/draft-pr.md";
    "modules/skills/release-notes/SKILL.md";
    "modules/skills/release-notes/scripts/commits.sh", executable;
    "modules/subagents/migration-reviewer.md";
};
