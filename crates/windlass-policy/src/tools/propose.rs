//! "Always allow": the narrowest rule that would have allowed a command, and what else it allows.

use windlass_shell::{Role, Script, Via, is_interpreter};

use super::{Place, Site, ToolRule, paths::Paths};
use crate::decide::Answer;

/// A rule that a person may accept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// How commands start that it would allow.
    pub prefix: Vec<String>,
    /// What else it would allow, besides any further arguments.
    pub also: Vec<String>,
}

/// Programs that are proposed only with a subcommand, and how many words it has.
const SUBCOMMANDS: [(&[&str], usize); 7] = [
    (
        &[
            "git",
            "cargo",
            "go",
            "helm",
            "terraform",
            "tofu",
            "pulumi",
            "systemctl",
            "brew",
            "apt",
            "apt-get",
            "dnf",
            "yum",
            "pacman",
            "zypper",
            "apk",
            "snap",
            "pip",
            "pip3",
            "uv",
            "gem",
            "composer",
            "poetry",
            "rustup",
            "gradle",
            "mvn",
            "journalctl",
            "flyctl",
            "fly",
            "make",
            "just",
            "task",
            "windlass",
        ],
        1,
    ),
    (&["npm", "pnpm", "yarn", "bun", "deno"], 1),
    (&["docker", "podman", "nerdctl"], 1),
    (&["kubectl", "oc"], 1),
    (&["gh", "glab", "az", "ip", "nix", "conda"], 2),
    (&["aws", "gcloud"], 2),
    (&["kubectx", "kubens"], 1),
];

/// Subcommands that only choose what is run: the next word says it.
const CHOOSERS: [(&str, &[&str]); 9] = [
    ("npm", &["run", "run-script", "exec", "x"]),
    ("pnpm", &["run", "exec", "dlx"]),
    ("yarn", &["run", "exec", "dlx"]),
    ("bun", &["run", "x"]),
    ("cargo", &["run"]),
    (
        "docker",
        &["compose", "image", "container", "volume", "network", "run"],
    ),
    ("kubectl", &["config", "rollout", "auth"]),
    (
        "git",
        &[
            "stash",
            "remote",
            "config",
            "submodule",
            "worktree",
            "bisect",
        ],
    ),
    ("uv", &["run", "tool", "pip"]),
];

/// Programs that are never proposed: what they do depends on anything but their first words.
const NEVER: [&str; 46] = [
    "sudo", "doas", "su", "pkexec", "run0", "rm", "rmdir", "shred", "dd", "ssh", "scp", "sftp",
    "rsync", "xargs", "parallel", "find", "env", "timeout", "nice", "nohup", "watch", "eval",
    "source", ".", "exec", "command", "builtin", "trap", "alias", "export", "npx", "bunx", "uvx",
    "pipx", "curl", "wget", "nc", "ncat", "socat", "chmod", "chown", "mv", "kill", "crontab",
    "tee", "make",
];

/// Subcommands that are never proposed.
const NEVER_WITH: [(&str, &[&str]); 9] = [
    (
        "git",
        &[
            "push",
            "config",
            "submodule",
            "bisect",
            "filter-branch",
            "rebase",
            "reset",
            "clean",
            "am",
            "apply",
        ],
    ),
    (
        "npm",
        &[
            "exec", "x", "install", "i", "ci", "publish", "config", "explore",
        ],
    ),
    ("pnpm", &["exec", "dlx", "install", "i", "add", "publish"]),
    ("yarn", &["exec", "dlx", "install", "add", "publish"]),
    ("bun", &["x", "install", "add"]),
    ("docker", &["run", "exec", "system", "cp", "rm", "volume"]),
    (
        "kubectl",
        &[
            "exec", "delete", "apply", "cp", "config", "run", "debug", "proxy", "drain", "patch",
            "edit",
        ],
    ),
    (
        "terraform",
        &["destroy", "apply", "state", "import", "console"],
    ),
    ("pip", &["install", "uninstall", "config"]),
];

/// Commands that start like common ones and do much more.
const SURPRISES: [&str; 20] = [
    "cargo run -- anything",
    "cargo test --config build.rustc-wrapper=program",
    "cargo build --config build.rustc-wrapper=program",
    "git log --output=file",
    "git diff --output=file",
    "git show --output=file",
    "git grep -O program",
    "git commit --amend",
    "git checkout -- .",
    "git branch -D main",
    "git stash drop",
    "kubectl get secret db -o yaml",
    "kubectl logs pod -f",
    "npm run test -- anything",
    "go test -exec program",
    "go build -toolexec program",
    "sort -o file",
    "tar --to-command=program",
    "systemctl restart service",
    "docker compose down -v",
];

/// Rules that would have allowed the commands of a line; none for a command that is never proposed,
/// and none at all for a line that is not understood.
pub fn propose(script: &Script, place: Place<'_>) -> Vec<Proposal> {
    if !script.is_understood() {
        return Vec::new();
    }
    let mut proposals: Vec<Proposal> = Vec::new();
    for command in &script.commands {
        let is_plain = command.role == Role::Plain && command.via.iter().all(Via::is_transparent);
        let site = Site {
            command,
            paths: Paths::of(place, Some(script)),
            is_elsewhere: false,
            is_only_runner: false,
            hosts: &[],
        };
        if !is_plain || super::read_only::covers(&site, false).is_some() {
            continue;
        }
        if let Some(proposal) = of(&site)
            && !proposals
                .iter()
                .any(|known| known.prefix == proposal.prefix)
        {
            proposals.push(proposal);
        }
    }
    proposals
}

fn of(site: &Site<'_>) -> Option<Proposal> {
    let command = site.command;
    let written = command.words.first()?.literal()?;
    let name = command.name()?;
    if NEVER.contains(&name) && name != "make" || is_interpreter(name) || !written.is_ascii() {
        return None;
    }
    let subcommand = site.subcommand();
    let words = subcommand.words.iter();
    let arguments: Vec<&str> = words.map_while(|word| word.literal()).collect();
    let known = SUBCOMMANDS.iter().find(|(names, _)| names.contains(&name));
    let mut prefix = vec![written.to_owned()];
    match known {
        Some((_, count)) => {
            let first = arguments.first()?;
            let chooses = CHOOSERS
                .iter()
                .any(|(known, verbs)| *known == name && verbs.contains(first));
            let is_refused = NEVER_WITH
                .iter()
                .any(|(known, verbs)| *known == name && verbs.contains(first));
            if is_refused {
                return None;
            }
            let count = count + usize::from(chooses);
            let words = arguments.get(..count)?;
            // An option in its place would match nothing like it.
            if words.iter().any(|word| word.starts_with('-')) {
                return None;
            }
            prefix.extend(words.iter().map(|word| (*word).to_owned()));
        }
        // Of an unknown program, exactly what was asked.
        None => {
            if arguments.len() != command.arguments().len() || arguments.is_empty() {
                return None;
            }
            prefix.extend(arguments.iter().map(|word| (*word).to_owned()));
        }
    }
    // A rule that would not have allowed the command helps nobody.
    let rule = ToolRule {
        prefix: Some(prefix.iter().map(|word| vec![word.clone()]).collect()),
        ..ToolRule::empty(Answer::Allow)
    };
    rule.gap(site).ok()?;
    let start = prefix.join(" ");
    let also = SURPRISES
        .iter()
        .filter(|surprise| {
            surprise
                .strip_prefix(&start)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        })
        .map(|surprise| (*surprise).to_owned())
        .collect();
    Some(Proposal { prefix, also })
}
