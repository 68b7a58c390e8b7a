//! `[launch]` and `[models]`: what site launches may call, read and send.

use std::{collections::BTreeMap, path::PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Environment, env};

/// How strictly a launch is judged, where its configuration does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LaunchProfile {
    /// On a developer's machine.
    #[default]
    Local,
    /// On a build server.
    Ci,
    /// For real.
    Prod,
}

/// Settings of site launches.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a [launch] table")]
pub struct LaunchSettings {
    /// The profile of configurations that name none; the environment wins.
    pub profile: LaunchProfile,
    /// The Hugo to use; absent: the one on the PATH.
    pub hugo: Option<PathBuf>,
    /// Folders of this machine below which callers over the network may name repositories.
    pub local_roots: Vec<PathBuf>,
    /// Programs that a configuration may let Hugo start, each as a configuration names it in
    /// `hugo.exec_allow`. They run with what the site gives them, without a decision about trust.
    pub exec_allow: Vec<String>,
    /// Which variables a configuration may have sent to which hosts, besides the usual ones
    /// (`GITHUB_TOKEN` and `GH_TOKEN` to api.github.com, `GITLAB_TOKEN` to gitlab.com).
    pub tokens: BTreeMap<String, Vec<String>>,
    /// Whether commit services and links may be on this machine or a private network.
    pub allow_private_targets: bool,
    /// Whether commit services and links may be called over plain `http://`.
    pub allow_http: bool,
}

impl LaunchSettings {
    /// The environment wins over the file.
    pub(crate) fn override_from(&mut self, environment: &Environment) -> Result<(), String> {
        self.profile = match environment.get(&env::WINDLASS_LAUNCH_PROFILE) {
            None => self.profile,
            Some("local") => LaunchProfile::Local,
            Some("ci") => LaunchProfile::Ci,
            Some("prod") => LaunchProfile::Prod,
            Some(other) => {
                return Err(format!(
                    "WINDLASS_LAUNCH_PROFILE is {other:?}; use local, ci or prod"
                ));
            }
        };
        Ok(())
    }

    /// Whether a variable may be sent to a host.
    pub fn may_send(&self, variable: &str, host: &str) -> bool {
        let usual: &[&str] = match variable {
            "GITHUB_TOKEN" | "GH_TOKEN" => &["api.github.com"],
            "GITLAB_TOKEN" => &["gitlab.com"],
            "OPENAI_API_KEY" => &["api.openai.com"],
            _ => &[],
        };
        let listed = self.tokens.get(variable).into_iter().flatten();
        usual
            .iter()
            .copied()
            .chain(listed.map(String::as_str))
            .any(|known| known.eq_ignore_ascii_case(host))
    }
}

/// Where language models may be.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "a [models] table")]
pub struct ModelSettings {
    /// Whether models on this machine and private networks may be called.
    pub allow_private_targets: bool,
    /// Whether plain `http://` may be called.
    pub allow_http: bool,
    /// The only hosts that may be called; absent means any.
    pub allowed_hosts: Option<Vec<String>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_sent_only_to_its_hosts() {
        let mut settings = LaunchSettings::default();
        for (variable, host, may) in [
            ("GITHUB_TOKEN", "api.github.com", true),
            ("GITHUB_TOKEN", "API.GitHub.com", true),
            ("GITHUB_TOKEN", "gitlab.com", false),
            ("GITHUB_TOKEN", "api.github.com.evil.example", false),
            ("AWS_SECRET_ACCESS_KEY", "api.github.com", false),
            ("HOME", "localhost", false),
        ] {
            assert_eq!(
                settings.may_send(variable, host),
                may,
                "{variable} to {host}"
            );
        }
        let hosts = vec!["git.example".to_owned()];
        settings.tokens.insert("SITE_TOKEN".to_owned(), hosts);
        assert!(settings.may_send("SITE_TOKEN", "git.example"));
        assert!(!settings.may_send("SITE_TOKEN", "api.github.com"));
    }

    #[test]
    fn the_environment_names_the_profile() {
        let mut settings = LaunchSettings::default();
        let with = |value| Environment::from_pairs([("WINDLASS_LAUNCH_PROFILE", value)]);
        settings.override_from(&with("ci")).unwrap();
        assert_eq!(settings.profile, LaunchProfile::Ci);
        let refused = settings.override_from(&with("staging")).unwrap_err();
        insta::assert_snapshot!(refused, @r#"WINDLASS_LAUNCH_PROFILE is "staging"; use local, ci or prod"#);
    }
}
