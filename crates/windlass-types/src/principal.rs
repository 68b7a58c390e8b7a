//! Who asks: the principal behind a call, the surface it came through, what it may touch.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of caller a principal is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PrincipalKind {
    /// The operating-system user who owns the home directory.
    Local,
    /// The holder of an API key.
    Key,
    /// Windlass itself: timers, recovery, schedules.
    System,
}

/// The surface a call came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Surface {
    /// A command at a terminal or in a script.
    Cli,
    /// An MCP client.
    Mcp,
    /// The HTTP API.
    Http,
    /// The engine acting on its own.
    Engine,
}

impl Surface {
    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cli => "cli",
            Self::Mcp => "mcp",
            Self::Http => "http",
            Self::Engine => "engine",
        }
    }
}

/// A permission: a toolset name, `admin`, `*` for all of those, or `approve`, which is never
/// implied: the right to answer for a person is granted explicitly.
#[derive(
    Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Scope(String);

impl Scope {
    const APPROVE: &str = "approve";

    /// A scope by name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Every scope but `approve`.
    pub fn all() -> Self {
        Self::new("*")
    }

    /// May answer approvals.
    pub fn approve() -> Self {
        Self::new(Self::APPROVE)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Principal {
    /// What kind of caller this is.
    pub kind: PrincipalKind,
    /// A stable name within the kind: a user name or a key id.
    pub name: String,
    /// What it may touch.
    pub scopes: Vec<Scope>,
}

impl Principal {
    /// The owner of the home directory, who may do everything policy does not forbid.
    pub fn local(user: impl Into<String>) -> Self {
        let scopes = vec![Scope::all(), Scope::approve()];
        Self {
            kind: PrincipalKind::Local,
            name: user.into(),
            scopes,
        }
    }

    /// A program the local user started, such as an agent behind an MCP connection: it may ask
    /// for everything its user may ask for, but it cannot answer in the user's place.
    pub fn local_agent(user: &str, program: &str) -> Self {
        Self {
            kind: PrincipalKind::Local,
            name: format!("{user}/{program}"),
            scopes: vec![Scope::all()],
        }
    }

    /// The engine itself.
    pub fn system() -> Self {
        Self {
            kind: PrincipalKind::System,
            name: "engine".to_owned(),
            scopes: vec![Scope::all()],
        }
    }

    /// The holder of an API key.
    pub fn key(key_id: impl Into<String>, scopes: Vec<Scope>) -> Self {
        Self {
            kind: PrincipalKind::Key,
            name: key_id.into(),
            scopes,
        }
    }

    /// The stable text that tokens, journals and policy rules name: `local:ada`, `key:key_…`.
    pub fn id(&self) -> String {
        self.to_string()
    }

    /// The person behind it, as the text of a principal: `local:ada` for `local:ada/mcp`, too.
    pub fn person(&self) -> String {
        person_of(&self.id()).to_owned()
    }

    /// Whether one of its scopes covers `wanted`.
    pub fn has_scope(&self, wanted: &str) -> bool {
        let implied = wanted != Scope::APPROVE;
        self.scopes
            .iter()
            .any(|scope| scope.as_str() == wanted || (implied && scope.as_str() == "*"))
    }

    /// Whether it may see and steer runs of other principals.
    pub fn sees_all_runs(&self) -> bool {
        self.kind != PrincipalKind::Key || self.has_scope("admin")
    }
}

/// The person behind a principal's text: programs of a user are that user.
pub fn person_of(principal: &str) -> &str {
    match principal.split_once('/') {
        Some((user, _)) if user.starts_with("local:") => user,
        _ => principal,
    }
}

impl fmt::Display for Principal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            PrincipalKind::Local => "local",
            PrincipalKind::Key => "key",
            PrincipalKind::System => "system",
        };
        write!(formatter, "{kind}:{}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_cover_what_they_name() {
        let key = Principal::key("key_1", vec![Scope::new("runs")]);
        assert!(key.has_scope("runs"));
        assert!(!key.has_scope("pack"));
        assert!(!key.sees_all_runs());
        assert!(Principal::local("ada").has_scope("pack"));
        assert!(Principal::local("ada").has_scope("approve"));
        assert!(!Principal::local_agent("ada", "mcp").has_scope("approve"));
        assert_eq!(Principal::local_agent("ada", "mcp").id(), "local:ada/mcp");
    }
}
