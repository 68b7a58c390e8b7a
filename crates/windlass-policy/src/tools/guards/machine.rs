//! Disks, services, clouds, clusters, containers and databases.

use std::sync::LazyLock;

use regex::Regex;
use windlass_shell::Input;

use super::{Found, Guard};
use crate::tools::Site;

/// Statements that remove data. A pattern that is wrong matches nothing, which a test notices.
static REMOVES_DATA: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?is)\b(drop\s+(table|database|schema|index|view|user|role|collection|tablespace)",
        r"|truncate\s+(table\s+)?[\w.`\x22]+|delete\s+from\s+[\w.`\x22]+\s*(;|$)",
        r"|flushall|flushdb|dropdatabase\s*\(|\.drop\s*\(|deletemany\s*\(\s*\{\s*\})",
    ))
    .ok()
});

pub(crate) fn find(site: &Site<'_>, found: &mut Found) {
    let name = site.name();
    let name = name.as_str();
    let verbs = site.verbs();
    let verb = |index: usize| verbs.get(index).copied().unwrap_or_default();
    let has = |long: &[&str]| site.has_option(long, "");
    let shown = || site.command.text();
    let guard = match name {
        _ if name.starts_with("mkfs") || name.starts_with("mkswap") => Some(Guard::Disk),
        "wipefs" | "blkdiscard" | "fdisk" | "sfdisk" | "gdisk" | "sgdisk" | "parted"
        | "cryptsetup" | "lvremove" | "vgremove" | "pvremove" | "badblocks" | "hdparm"
        | "mdadm" | "diskutil" | "format" => Some(Guard::Disk),
        "zpool" | "zfs" if verb(0) == "destroy" => Some(Guard::Disk),
        "systemctl"
            if matches!(
                verb(0),
                "stop"
                    | "disable"
                    | "mask"
                    | "kill"
                    | "restart"
                    | "reboot"
                    | "poweroff"
                    | "halt"
                    | "isolate"
                    | "suspend"
                    | "hibernate"
                    | "emergency"
                    | "rescue"
                    | "set-default"
                    | "try-restart"
            ) =>
        {
            Some(Guard::Service)
        }
        "service" if matches!(verb(1), "stop" | "restart") => Some(Guard::Service),
        "rc-service" | "supervisorctl" | "pm2"
            if verbs.iter().any(|verb| {
                matches!(*verb, "stop" | "restart" | "delete" | "kill" | "shutdown")
            }) =>
        {
            Some(Guard::Service)
        }
        "shutdown" | "reboot" | "halt" | "poweroff" | "init" | "telinit" | "kill" | "killall"
        | "pkill" | "swapoff" | "iptables" | "nft" | "ufw" | "kexec" => Some(Guard::Service),
        "launchctl" if matches!(verb(0), "unload" | "bootout" | "remove" | "kill") => {
            Some(Guard::Service)
        }
        "terraform" | "tofu" | "terragrunt" => terraform(&verbs, &has),
        "pulumi" | "cdk" if verb(0) == "destroy" => Some(Guard::Infrastructure),
        "serverless" | "sls" if verb(0) == "remove" => Some(Guard::Infrastructure),
        "kubectl" | "oc" => kubectl(&verbs, &has),
        "helm" if matches!(verb(0), "uninstall" | "delete" | "rollback" | "un") => {
            Some(Guard::Infrastructure)
        }
        "aws" => aws(&verbs, &has),
        "gcloud" | "az" | "doctl" | "eksctl" | "ibmcloud" | "oci" | "hcloud" | "gh" | "glab"
        | "fly" | "flyctl" | "heroku" | "argocd" | "flux" | "nomad" | "consul" | "vault"
            if verbs.iter().any(|verb| is_removal(verb)) =>
        {
            Some(Guard::Infrastructure)
        }
        "gsutil" | "rclone" | "mc" | "s3cmd"
            if matches!(
                verb(0),
                "rm" | "rb" | "del" | "delete" | "purge" | "sync" | "rsync" | "rmdir" | "mirror"
            ) =>
        {
            Some(Guard::Infrastructure)
        }
        "docker" | "podman" | "nerdctl" | "docker-compose" => docker(name, &verbs, site),
        "npm" | "pnpm" | "yarn" | "cargo" | "gem"
            if matches!(verb(0), "unpublish" | "deprecate" | "yank" | "publish") =>
        {
            Some(Guard::Infrastructure)
        }
        "dropdb" | "dropuser" => Some(Guard::Database),
        "redis-cli" if removes_data(site) => Some(Guard::Database),
        _ => None,
    };
    if let Some(guard) = guard {
        found.add(guard, format!("it may destroy: {}", shown()));
    }
    let is_client = [
        "psql",
        "mysql",
        "mariadb",
        "sqlite3",
        "mongo",
        "mongosh",
        "clickhouse",
        "duckdb",
        "sqlcmd",
        "cockroach",
        "cqlsh",
        "influx",
        "bq",
        "mysqladmin",
        "pgcli",
        "mycli",
        "usql",
        "aws",
        "gcloud",
        "wrangler",
        "supabase",
        "sqlplus",
    ]
    .iter()
    .any(|client| name.starts_with(client));
    // A statement may also come through a pipe, from `echo`.
    let is_text = matches!(name, "echo" | "printf" | "cat");
    if (is_client || is_text) && removes_data(site) {
        found.add(Guard::Database, format!("it removes data: {}", shown()));
    }
}

fn removes_data(site: &Site<'_>) -> bool {
    let Some(pattern) = REMOVES_DATA.as_ref() else {
        return true;
    };
    let input = match &site.command.input {
        Input::Text(Some(text)) => Some(text.as_str()),
        _ => None,
    };
    let arguments = site
        .command
        .arguments()
        .iter()
        .map(|word| word.text.as_str());
    arguments.chain(input).any(|text| pattern.is_match(text))
}

fn is_removal(verb: &str) -> bool {
    matches!(
        verb,
        "delete"
            | "remove"
            | "rm"
            | "destroy"
            | "purge"
            | "terminate"
            | "uninstall"
            | "undelete"
            | "disable"
            | "kill"
            | "drain"
            | "seal"
    ) || ["delete-", "remove-", "destroy-", "terminate-", "purge-"]
        .iter()
        .any(|start| verb.starts_with(start))
}

fn terraform(verbs: &[&str], has: &dyn Fn(&[&str]) -> bool) -> Option<Guard> {
    let verb = |index: usize| verbs.get(index).copied().unwrap_or_default();
    let destroys = match verb(0) {
        "destroy" => true,
        "apply" => has(&[
            "-destroy",
            "--destroy",
            "-auto-approve",
            "--auto-approve",
            "-replace",
        ]),
        "state" => matches!(verb(1), "rm" | "push" | "mv" | "replace-provider"),
        "workspace" => verb(1) == "delete",
        "force-unlock" | "taint" => true,
        "run-all" => matches!(verb(1), "destroy" | "apply"),
        _ => false,
    };
    destroys.then_some(Guard::Infrastructure)
}

fn kubectl(verbs: &[&str], has: &dyn Fn(&[&str]) -> bool) -> Option<Guard> {
    let verb = |index: usize| verbs.get(index).copied().unwrap_or_default();
    let destroys = match verb(0) {
        "delete" | "drain" | "cordon" | "evict" | "taint" => true,
        "replace" => has(&["--force"]),
        "scale" => has(&["--replicas"]),
        "rollout" => matches!(verb(1), "undo" | "restart" | "pause"),
        "apply" => has(&["--prune", "--force"]),
        _ => false,
    };
    destroys.then_some(Guard::Infrastructure)
}

fn aws(verbs: &[&str], has: &dyn Fn(&[&str]) -> bool) -> Option<Guard> {
    let action = verbs.get(1).copied().unwrap_or_default();
    let destroys = [
        "delete-",
        "terminate-",
        "deregister-",
        "remove-",
        "detach-",
        "revoke-",
        "purge-",
        "disable-",
        "stop-",
        "reboot-",
        "cancel-",
        "release-",
        "schedule-key-deletion",
        "batch-delete",
        "reset-",
        "modify-",
        "put-bucket-policy",
    ]
    .iter()
    .any(|start| action.starts_with(start));
    let empties = verbs.first() == Some(&"s3")
        && (matches!(action, "rm" | "rb" | "mv") || (action == "sync" && has(&["--delete"])));
    (destroys || empties).then_some(Guard::Infrastructure)
}

fn docker(name: &str, verbs: &[&str], site: &Site<'_>) -> Option<Guard> {
    let mut verbs = verbs.to_vec();
    if name == "docker-compose" {
        verbs.insert(0, "compose");
    }
    let verb = |index: usize| verbs.get(index).copied().unwrap_or_default();
    let destroys = match verb(0) {
        "rm" | "rmi" | "kill" | "stop" | "restart" | "prune" => true,
        "compose" => {
            verbs
                .iter()
                .any(|verb| matches!(*verb, "rm" | "kill" | "stop" | "restart"))
                || (verbs.contains(&"down") && site.has_option(&["--volumes", "--rmi", "-v"], ""))
        }
        "run" | "exec" | "build" | "pull" | "push" => false,
        // `docker volume rm`, `docker system prune`: the thing, then what is done to it.
        _ => matches!(
            verb(1),
            "prune" | "rm" | "remove" | "leave" | "stop" | "kill" | "reset"
        ),
    };
    destroys.then_some(Guard::Infrastructure)
}
