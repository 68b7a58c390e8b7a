//! Targets that are called production.

use super::{Found, Guard};
use crate::tools::{Site, rule};

const WORDS: [&str; 3] = ["prod", "production", "live"];

/// Programs whose arguments name clusters, stages, accounts and hosts.
const OPERATES: [&str; 51] = [
    "kubectl",
    "oc",
    "helm",
    "helmfile",
    "kustomize",
    "kubectx",
    "kubens",
    "k9s",
    "argocd",
    "flux",
    "eksctl",
    "istioctl",
    "aws",
    "gcloud",
    "az",
    "doctl",
    "sam",
    "cdk",
    "terraform",
    "tofu",
    "terragrunt",
    "pulumi",
    "serverless",
    "sls",
    "windlass",
    "fly",
    "flyctl",
    "heroku",
    "vercel",
    "netlify",
    "wrangler",
    "ansible",
    "ansible-playbook",
    "psql",
    "mysql",
    "mariadb",
    "redis-cli",
    "mongosh",
    "mongo",
    "ssh",
    "scp",
    "sftp",
    "rsync",
    "docker",
    "podman",
    "docker-compose",
    "nomad",
    "gh",
    "glab",
    "cap",
    "vault",
];

/// Programs that run what a project calls so; their options are their own.
const RUNS_TASKS: [&str; 9] = [
    "make", "npm", "pnpm", "yarn", "bun", "just", "task", "rake", "fab",
];

/// Variables that choose a target.
const VARIABLES: [&str; 13] = [
    "ENV",
    "ENVIRONMENT",
    "STAGE",
    "CONTEXT",
    "CLUSTER",
    "AWS_PROFILE",
    "AWS_DEFAULT_PROFILE",
    "KUBECONFIG",
    "KUBECONTEXT",
    "TF_WORKSPACE",
    "RAILS_ENV",
    "MIX_ENV",
    "DATABASE_URL",
];

/// Other programs that connect to hosts.
const CONNECTS: [&str; 14] = [
    "curl", "wget", "nc", "ncat", "netcat", "socat", "telnet", "ftp", "lftp", "mail", "sendmail",
    "gsutil", "rclone", "s3cmd",
];

/// Whether a command works on other machines, by its name.
pub(crate) fn reaches_out(site: &Site<'_>) -> bool {
    let name = site.name();
    let is_git = name == "git"
        && site.verbs().first().is_some_and(|verb| {
            matches!(*verb, "push" | "pull" | "fetch" | "clone" | "send-email")
        });
    let publishes = RUNS_TASKS.contains(&name.as_str()) && site.verbs().contains(&"publish");
    is_git || publishes || OPERATES.contains(&name.as_str()) || CONNECTS.contains(&name.as_str())
}

/// Whether a text has a word that means production.
pub(crate) fn is_production(text: &str) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric())
        .map(|word| word.trim_matches(|letter: char| letter.is_ascii_digit()))
        .any(|word| WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)))
}

pub(crate) fn find(site: &Site<'_>, found: &mut Found) {
    let name = site.name();
    let name = name.as_str();
    let arguments = site.command.arguments();
    let named = if OPERATES.contains(&name) {
        arguments.iter().find(|word| is_production(&word.text))
    } else if RUNS_TASKS.contains(&name) || name.ends_with(".sh") {
        arguments
            .iter()
            .find(|word| !word.text.starts_with('-') && is_production(&word.text))
    } else {
        None
    };
    if let Some(word) = named {
        found.add(
            Guard::Production,
            format!("{} is called production", word.text),
        );
    }
    if name.ends_with(".sh") && is_production(name) {
        found.add(Guard::Production, format!("{name} is called production"));
    }
    for assignment in &site.command.assignments {
        let is_target = VARIABLES.contains(&assignment.name.to_ascii_uppercase().as_str());
        if is_target && is_production(&assignment.value.text) {
            let what = format!("{} is called production", assignment.value.text);
            found.add(Guard::Production, what);
        }
    }
    if let Some(host) = rule::hosts(site.command)
        .iter()
        .find(|host| is_production(host))
    {
        found.add(Guard::Production, format!("{host} is called production"));
    }
}
