//! Names of models: `provider/model`, or a model that the catalogue knows.

use std::fmt;

use super::{Catalogue, PROVIDERS, Provider, provider};

/// A model at a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelName {
    /// The provider.
    pub provider: &'static Provider,
    /// The model, as the provider spells it; may contain `/`.
    pub model: String,
}

impl fmt::Display for ModelName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.provider.name, self.model)
    }
}

/// Why a name leads to no provider.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// No provider has this name.
    #[error("the provider `{0}` is not known; known are {known}", known = known())]
    Unknown(String),
    /// The name is reserved.
    #[error("the provider `{0}` is not supported yet")]
    NotSupported(String),
    /// The model's provider cannot be told from its name.
    #[error("the provider of `{0}` is not known; write provider/model, such as openai/{0}")]
    NoProvider(String),
    /// A name without a model.
    #[error("`{0}` names no model; write provider/model")]
    NoModel(String),
}

fn known() -> String {
    let names: Vec<&str> = PROVIDERS.iter().map(|it| it.name).collect();
    names.join(", ")
}

/// Reads `provider/model`. A name without a provider is looked up in the catalogue.
pub fn parse_model(name: &str, catalogue: &Catalogue) -> Result<ModelName, ProviderError> {
    let name = name.trim();
    let (first, rest) = name.split_once('/').unwrap_or((name, ""));
    let has_slash = name.contains('/');
    match provider(first) {
        Ok(provider) if !rest.is_empty() => Ok(ModelName {
            provider,
            model: rest.to_owned(),
        }),
        Ok(_) => Err(ProviderError::NoModel(name.to_owned())),
        Err(error @ ProviderError::NotSupported(_)) => Err(error),
        Err(error) if has_slash => Err(error),
        Err(_) if name.is_empty() => Err(ProviderError::NoModel(name.to_owned())),
        Err(_) => match catalogue
            .by_name(name)
            .map(|facts| provider(&facts.provider))
        {
            Some(Ok(provider)) => Ok(ModelName {
                provider,
                model: name.to_owned(),
            }),
            Some(Err(_)) | None => Err(ProviderError::NoProvider(name.to_owned())),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::{super::bundled, *};

    #[test]
    fn the_table() {
        let read = |name: &str| match parse_model(name, bundled()) {
            Ok(name) => name.to_string(),
            Err(error) => format!("error: {error}"),
        };
        let names = [
            "anthropic/claude-sonnet-4-5",
            "openrouter/anthropic/claude-sonnet-4.5",
            "ollama/qwen3:8b",
            "claude-haiku-4-5-20251001",
            "gpt-5-mini",
            "gemini-2.5-flash",
            "my-model",
            "nobody/x",
            "openai",
            "openai/",
            "",
            "amazon-bedrock/x",
        ];
        insta::assert_snapshot!(names.map(read).join("\n"), @"
        anthropic/claude-sonnet-4-5
        openrouter/anthropic/claude-sonnet-4.5
        ollama/qwen3:8b
        anthropic/claude-haiku-4-5-20251001
        openai/gpt-5-mini
        gemini/gemini-2.5-flash
        error: the provider of `my-model` is not known; write provider/model, such as openai/my-model
        error: the provider `nobody` is not known; known are anthropic, openai, gemini, custom, openrouter, groq, mistral, deepseek, xai, ollama, lmstudio, llamacpp, vllm
        error: `openai` names no model; write provider/model
        error: `openai/` names no model; write provider/model
        error: `` names no model; write provider/model
        error: the provider `amazon-bedrock` is not supported yet
        ");
    }
}
