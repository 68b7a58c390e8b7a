//! Providers: how they are spoken to, where, and which variables and keys are theirs.

use windlass_ports::WireFormat;

use super::ProviderError;

/// A provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Provider {
    /// Its name, as in `provider/model`.
    pub name: &'static str,
    /// Its interface.
    pub wire: WireFormat,
    /// Where it is; `None` where only the user knows.
    pub base_url: Option<&'static str>,
    /// The variable with its key; `None` where it needs none.
    pub key_env: Option<&'static str>,
    /// The variable with another address.
    pub base_url_env: Option<&'static str>,
    /// How its keys begin.
    pub key_prefixes: &'static [&'static str],
    /// Whether it runs on this machine, where plain HTTP and private addresses are usual.
    pub is_local: bool,
}

impl Provider {
    /// The interface at an address. `OPENAI_BASE_URL` usually names a compatible server, and those
    /// offer chat completions rather than the provider's own interface.
    pub fn wire_at(&self, base_url: &str) -> WireFormat {
        let own = self.base_url.and_then(host);
        match self.wire {
            WireFormat::Responses if host(base_url) != own => WireFormat::ChatCompletions,
            wire => wire,
        }
    }
}

fn host(url: &str) -> Option<&str> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    Some(host.strip_suffix(":443").unwrap_or(host))
}

const fn hosted(
    name: &'static str,
    base_url: &'static str,
    key_env: &'static str,
    key_prefixes: &'static [&'static str],
) -> Provider {
    Provider {
        name,
        wire: WireFormat::ChatCompletions,
        base_url: Some(base_url),
        key_env: Some(key_env),
        base_url_env: None,
        key_prefixes,
        is_local: false,
    }
}

const fn local(
    name: &'static str,
    base_url: &'static str,
    base_url_env: Option<&'static str>,
) -> Provider {
    Provider {
        name,
        wire: WireFormat::ChatCompletions,
        base_url: Some(base_url),
        key_env: None,
        base_url_env,
        key_prefixes: &[],
        is_local: true,
    }
}

/// Every provider: the four kinds, then presets of `custom`.
pub const PROVIDERS: &[Provider] = &[
    Provider {
        name: "anthropic",
        wire: WireFormat::Messages,
        base_url: Some("https://api.anthropic.com"),
        key_env: Some("ANTHROPIC_API_KEY"),
        base_url_env: Some("ANTHROPIC_BASE_URL"),
        key_prefixes: &["sk-ant-"],
        is_local: false,
    },
    Provider {
        name: "openai",
        wire: WireFormat::Responses,
        base_url: Some("https://api.openai.com/v1"),
        key_env: Some("OPENAI_API_KEY"),
        base_url_env: Some("OPENAI_BASE_URL"),
        key_prefixes: &["sk-"],
        is_local: false,
    },
    Provider {
        name: "gemini",
        wire: WireFormat::Gemini,
        base_url: Some("https://generativelanguage.googleapis.com"),
        key_env: Some("GEMINI_API_KEY"),
        base_url_env: Some("GEMINI_BASE_URL"),
        key_prefixes: &["AIza"],
        is_local: false,
    },
    Provider {
        name: "custom",
        wire: WireFormat::ChatCompletions,
        base_url: None,
        key_env: None,
        base_url_env: None,
        key_prefixes: &[],
        is_local: false,
    },
    hosted(
        "openrouter",
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        &["sk-or-"],
    ),
    hosted(
        "groq",
        "https://api.groq.com/openai/v1",
        "GROQ_API_KEY",
        &["gsk_"],
    ),
    hosted(
        "mistral",
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        &[],
    ),
    hosted(
        "deepseek",
        "https://api.deepseek.com/v1",
        "DEEPSEEK_API_KEY",
        &[],
    ),
    hosted("xai", "https://api.x.ai/v1", "XAI_API_KEY", &["xai-"]),
    local(
        "ollama",
        "http://127.0.0.1:11434/v1",
        Some("OLLAMA_BASE_URL"),
    ),
    local("lmstudio", "http://127.0.0.1:1234/v1", None),
    local("llamacpp", "http://127.0.0.1:8080/v1", None),
    local("vllm", "http://127.0.0.1:8000/v1", None),
];

/// Names that are known and not supported.
const RESERVED: &[&str] = &["amazon-bedrock", "github-copilot"];

/// The provider with a name.
pub fn provider(name: &str) -> Result<&'static Provider, ProviderError> {
    let found = PROVIDERS.iter().find(|provider| provider.name == name);
    found.ok_or_else(|| match RESERVED.contains(&name) {
        true => ProviderError::NotSupported(name.to_owned()),
        false => ProviderError::Unknown(name.to_owned()),
    })
}

/// The provider whose keys begin like this one. The longest beginning counts.
pub fn infer_provider(key: &str) -> Option<&'static Provider> {
    let matching = |provider: &'static Provider| {
        let prefixes = provider.key_prefixes.iter();
        let longest = prefixes
            .filter(|prefix| key.starts_with(**prefix))
            .map(|it| it.len())
            .max();
        longest.map(|length| (length, provider))
    };
    let found = PROVIDERS.iter().filter_map(matching);
    found
        .max_by_key(|(length, _)| *length)
        .map(|(_, provider)| provider)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_show_their_provider() {
        for (key, expected) in [
            ("sk-ant-api03-x", Some("anthropic")),
            ("sk-proj-x", Some("openai")),
            ("sk-x", Some("openai")),
            ("sk-or-v1-x", Some("openrouter")),
            ("AIzaSyX", Some("gemini")),
            ("gsk_x", Some("groq")),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(infer_provider(key).map(|it| it.name), expected, "{key}");
        }
    }

    #[test]
    fn compatible_servers_have_another_interface() {
        let openai = provider("openai").unwrap();
        for (base, expected) in [
            ("https://api.openai.com/v1", WireFormat::Responses),
            ("https://api.openai.com:443/v1/", WireFormat::Responses),
            ("http://127.0.0.1:8080/v1", WireFormat::ChatCompletions),
            (
                "https://api.openai.com.example.org/v1",
                WireFormat::ChatCompletions,
            ),
        ] {
            assert_eq!(openai.wire_at(base), expected, "{base}");
        }
        let anthropic = provider("anthropic").unwrap();
        assert_eq!(
            anthropic.wire_at("http://127.0.0.1:1"),
            WireFormat::Messages
        );
    }

    #[test]
    fn names_are_known_reserved_or_unknown() {
        assert_eq!(provider("anthropic").unwrap().wire, WireFormat::Messages);
        assert_eq!(
            provider("github-copilot").unwrap_err().to_string(),
            "the provider `github-copilot` is not supported yet"
        );
        assert!(matches!(provider("nobody"), Err(ProviderError::Unknown(_))));
        let mut names: Vec<&str> = PROVIDERS.iter().map(|it| it.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), PROVIDERS.len());
    }
}
