//! Requests for the tests.

use windlass_shell::Script;
use windlass_types::{Principal, Timestamp};

use super::*;
use crate::Policy;

/// The rules that most tests add to the built-in ones.
pub(crate) const RULES: &str = r#"
version = 1

[[rule]]
id = "cluster-read"
tool = "run_command"
prefix = ["kubectl", ["get", "describe", "logs"]]
args_deny = "^secrets?(/|$)"
decision = "allow"
reason = "read-only cluster queries"
match = ["kubectl get pods -n web", "kubectl -n web logs app"]
not_match = ["kubectl delete pod x", "kubectl get secret db", "kubectl get pods > ~/.bashrc"]

[[rule]]
id = "tests"
tool = "run_command"
prefix = ["cargo", ["test", "check", "build"]]
env_allow = ["RUST_LOG", "CARGO_*"]
redirect = "workspace"
decision = "allow"
match = ["cargo test -p x > out.txt", "RUST_LOG=debug cargo check"]
not_match = ["cargo run", "RUSTC_WRAPPER=x cargo test", "cargo test > ../out.txt", "CARGO_HOME=x cargo test"]

[[rule]]
id = "no-curl"
tool = "run_*"
prefix = ["curl"]
decision = "deny"
reason = "use view_web_page"

[[rule]]
id = "terraform-asks-two"
prefix = ["terraform", "plan"]
decision = "ask"
quorum = 2
always_human = true

[[rule]]
id = "own-force"
guard = "force-push"
prefix = ["git", "push", "--force-with-lease", "origin", "ada/topic"]
decision = "allow"
reason = "a branch of one person"
match = ["git push --force-with-lease origin ada/topic"]
not_match = ["git push --force-with-lease origin main", "git push origin ada/topic"]

[[rule]]
id = "web-01"
tool = "run_command"
prefix = ["ssh"]
hosts = ["web-01.example.org"]
decision = "allow"
reason = "the staging machine"

[[rule]]
id = "web-01-uptime"
prefix = ["uptime"]
hosts = ["web-01.example.org"]
decision = "allow"
"#;

pub(crate) fn policy(text: &str) -> Policy {
    match Policy::parse(text, "rules.toml") {
        Ok(policy) => policy,
        Err(error) => panic!("{error}"),
    }
}

pub(crate) fn ada() -> Principal {
    Principal::local_agent("ada", "agent")
}

pub(crate) const PLACE: Place<'_> = Place {
    work_tree: "/work/app",
    directory: "/work/app",
    home: "/home/ada",
    own_home: "/home/ada/.windlass",
    scratch: &[],
};

pub(crate) fn request<'a>(principal: &'a Principal, script: Option<&'a Script>) -> ToolRequest<'a> {
    ToolRequest {
        tool: "run_command",
        class: ToolClass::Exec,
        script,
        paths: &[],
        hosts: &[],
        principal,
        mode: Mode::Ask,
        profile: Profile::Default,
        attendance: Attendance::Attended,
        taint: Taint::Clean,
        sandbox: Sandbox::On,
        place: PLACE,
        extent: Extent::default(),
        grants: &[],
        now: Timestamp::from_millis(1_800_000_000_000),
    }
}
