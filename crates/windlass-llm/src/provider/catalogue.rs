//! Models: how much they read and write, what that costs, whether they think.
//!
//! A bundled table that works without a network, and entries of the user's own that add to it or
//! correct it.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use windlass_ports::Usage;

/// How a model thinks before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Thinks {
    /// It does not.
    #[default]
    Never,
    /// For up to a number of tokens.
    Budget,
    /// As long as it finds right, with an effort as a hint.
    Adaptive,
    /// With an effort.
    Effort,
}

/// What a million tokens cost, in US dollars.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Read.
    pub input: f64,
    /// Written, thoughts included.
    pub output: f64,
    /// Read from a cache; absent means as read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// Read and put into a cache; absent means as read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

impl Price {
    /// What a call cost, in billionths of a US dollar, rounded up to whole ones.
    pub fn nano_usd(&self, usage: &Usage) -> u64 {
        let cached = usage.cached_prompt_tokens.unwrap_or_default();
        let stored = usage.cache_write_tokens.unwrap_or_default();
        let fresh = usage
            .prompt_tokens
            .saturating_sub(cached)
            .saturating_sub(stored);
        [
            (fresh, self.input),
            (cached, self.cache_read.unwrap_or(self.input)),
            (stored, self.cache_write.unwrap_or(self.input)),
            (usage.completion_tokens, self.output),
        ]
        .into_iter()
        .map(|(tokens, price)| nanos(tokens, price))
        .fold(0, u64::saturating_add)
    }
}

/// A dollar for a million tokens is a thousand nanodollars for one.
fn nanos(tokens: u64, price: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "prices are positive, and a number beyond the largest becomes the largest"
    )]
    let picos = (price.max(0.0) * 1_000_000.0).round() as u64;
    let cost = u128::from(tokens) * u128::from(picos);
    u64::try_from(cost.div_ceil(1_000)).unwrap_or(u64::MAX)
}

/// What is known of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFacts {
    /// The provider's name.
    pub provider: String,
    /// The model, as the provider spells it, without a date.
    pub model: String,
    /// How many tokens a conversation may have, the answer included.
    pub context_window: u64,
    /// The longest answer, in tokens.
    pub max_output: u64,
    /// Whether it thinks.
    #[serde(default)]
    pub thinking: Thinks,
    /// Absent means unknown, not free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// An entry of the user's own. Fields that are absent stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelOverride {
    /// The provider's name.
    pub provider: String,
    /// The model.
    pub model: String,
    /// How many tokens a conversation may have.
    #[serde(default)]
    pub context_window: Option<u64>,
    /// The longest answer, in tokens.
    #[serde(default)]
    pub max_output: Option<u64>,
    /// Whether it thinks.
    #[serde(default)]
    pub thinking: Option<Thinks>,
    /// What it costs.
    #[serde(default)]
    pub price: Option<Price>,
}

/// Why an entry cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogueError {
    /// A model that is not in the table needs both sizes.
    #[error(
        "{provider}/{model} is not a known model; its entry needs context_window and max_output"
    )]
    Incomplete {
        /// The provider.
        provider: String,
        /// The model.
        model: String,
    },
    /// A price that is no price.
    #[error("the price of {provider}/{model} is negative or not a number")]
    BadPrice {
        /// The provider.
        provider: String,
        /// The model.
        model: String,
    },
}

/// Models by provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Catalogue {
    models: Vec<ModelFacts>,
}

static BUNDLED: LazyLock<Catalogue> = LazyLock::new(|| Catalogue {
    // That the file can be read is a test; without it every model is an unknown one.
    models: serde_json::from_str(include_str!("models.json")).unwrap_or_default(),
});

/// The table that comes with the program.
pub fn bundled() -> &'static Catalogue {
    &BUNDLED
}

impl Catalogue {
    /// This table with entries of the user's own.
    pub fn with(
        mut self,
        entries: impl IntoIterator<Item = ModelOverride>,
    ) -> Result<Self, CatalogueError> {
        for entry in entries {
            self.add(entry)?;
        }
        Ok(self)
    }

    fn add(&mut self, entry: ModelOverride) -> Result<(), CatalogueError> {
        let ModelOverride {
            provider,
            model,
            context_window,
            max_output,
            thinking,
            price,
        } = entry;
        if price.is_some_and(|price| !is_price(&price)) {
            return Err(CatalogueError::BadPrice { provider, model });
        }
        // A dated name begins with what is known of the model without one.
        let known = self.find(&provider, &model).cloned();
        let sizes = (
            context_window.or(known.as_ref().map(|it| it.context_window)),
            max_output.or(known.as_ref().map(|it| it.max_output)),
        );
        let (Some(context_window), Some(max_output)) = sizes else {
            return Err(CatalogueError::Incomplete { provider, model });
        };
        let facts = ModelFacts {
            context_window,
            max_output,
            thinking: thinking
                .or(known.as_ref().map(|it| it.thinking))
                .unwrap_or_default(),
            price: price.or(known.and_then(|it| it.price)),
            provider,
            model,
        };
        let is_same =
            |held: &&mut ModelFacts| held.provider == facts.provider && held.model == facts.model;
        match self.models.iter_mut().find(is_same) {
            Some(held) => *held = facts,
            None => self.models.push(facts),
        }
        Ok(())
    }

    /// A provider's model. A date or `-latest` behind the name is no other model.
    pub fn find(&self, provider: &str, model: &str) -> Option<&ModelFacts> {
        let of_provider = self
            .models
            .iter()
            .filter(|facts| facts.provider == provider);
        best(of_provider, model)
    }

    /// A model of any provider, also with another provider's name before it, as gateways spell it.
    pub fn by_name(&self, model: &str) -> Option<&ModelFacts> {
        let own = model.rsplit('/').next().unwrap_or(model);
        best(self.models.iter(), own)
    }

    /// Every model, in the order of the table.
    pub fn models(&self) -> &[ModelFacts] {
        &self.models
    }
}

fn best<'a>(models: impl Iterator<Item = &'a ModelFacts>, name: &str) -> Option<&'a ModelFacts> {
    let matching = models.filter(|facts| is_named(&facts.model, name));
    matching.max_by_key(|facts| facts.model.len())
}

/// Whether a name is the model's, with or without a version behind it.
fn is_named(model: &str, name: &str) -> bool {
    let Some(rest) = name.strip_prefix(model) else {
        return false;
    };
    let rest = rest.strip_prefix('-').or_else(|| rest.strip_prefix('@'));
    match rest {
        None => name.len() == model.len(),
        Some("latest") => true,
        // A date: 20250929, 2024-08-06, preview-05-20.
        Some(rest) => {
            let rest = rest.strip_prefix("preview").unwrap_or(rest);
            let digits = rest.chars().filter(char::is_ascii_digit).count();
            let is_date = rest.chars().all(|it| it.is_ascii_digit() || it == '-');
            is_date && (rest.is_empty() || digits >= 4)
        }
    }
}

fn is_price(price: &Price) -> bool {
    [
        Some(price.input),
        Some(price.output),
        price.cache_read,
        price.cache_write,
    ]
    .into_iter()
    .flatten()
    .all(|price| price.is_finite() && price >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bundled_table_is_sound() {
        let models: Vec<ModelFacts> = serde_json::from_str(include_str!("models.json")).unwrap();
        assert!(models.len() >= 20);
        for facts in &models {
            let name = format!("{}/{}", facts.provider, facts.model);
            assert!(super::super::provider(&facts.provider).is_ok(), "{name}");
            assert!(facts.max_output <= facts.context_window, "{name}");
            let price = facts.price.unwrap();
            assert!(is_price(&price) && price.input <= price.output, "{name}");
            assert!(
                price.cache_read.is_none_or(|it| it <= price.input),
                "{name}"
            );
            let found = bundled().find(&facts.provider, &facts.model);
            assert_eq!(found, Some(facts), "{name} twice");
        }
    }

    #[test]
    fn names_with_versions() {
        for (name, expected) in [
            ("claude-sonnet-4-5", Some("claude-sonnet-4-5")),
            ("claude-sonnet-4-5-20250929", Some("claude-sonnet-4-5")),
            ("claude-sonnet-4-20250514", Some("claude-sonnet-4")),
            ("anthropic/claude-sonnet-4-5", Some("claude-sonnet-4-5")),
            ("gpt-5-mini", Some("gpt-5-mini")),
            ("gpt-5-mini-2025-08-07", Some("gpt-5-mini")),
            ("gpt-4o-2024-08-06", Some("gpt-4o")),
            ("gpt-5-unheard", None),
            ("claude-sonnet-4-7", None),
            ("gemini-2.5-flash-preview-05-20", Some("gemini-2.5-flash")),
            ("gemini-2.5-flash-lite", Some("gemini-2.5-flash-lite")),
            ("qwen", None),
        ] {
            let found = bundled().by_name(name).map(|facts| facts.model.as_str());
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn entries_add_and_correct() {
        let entry = |provider: &str, model: &str| ModelOverride {
            provider: provider.to_owned(),
            model: model.to_owned(),
            ..ModelOverride::default()
        };
        let smaller = ModelOverride {
            max_output: Some(1_000),
            ..entry("anthropic", "claude-sonnet-4-5")
        };
        let own = ModelOverride {
            context_window: Some(32_768),
            max_output: Some(4_096),
            ..entry("ollama", "qwen3:8b")
        };
        let catalogue = bundled().clone().with([smaller, own]).unwrap();
        let known = catalogue.find("anthropic", "claude-sonnet-4-5").unwrap();
        assert_eq!((known.max_output, known.context_window), (1_000, 200_000));
        assert!(known.price.is_some() && known.thinking == Thinks::Budget);
        let own = catalogue.find("ollama", "qwen3:8b").unwrap();
        assert_eq!((own.max_output, own.price), (4_096, None));
        assert_eq!(catalogue.models().len(), bundled().models().len() + 1);
        assert_eq!(
            bundled()
                .clone()
                .with([entry("ollama", "x")])
                .unwrap_err()
                .to_string(),
            "ollama/x is not a known model; its entry needs context_window and max_output"
        );
        let odd = ModelOverride {
            price: Some(Price {
                input: -1.0,
                output: 0.0,
                cache_read: None,
                cache_write: None,
            }),
            ..entry("anthropic", "claude-sonnet-4-5")
        };
        assert!(bundled().clone().with([odd]).is_err());
    }

    #[test]
    fn costs() {
        let price = Price {
            input: 3.0,
            output: 15.0,
            cache_read: Some(0.3),
            cache_write: Some(3.75),
        };
        let usage = Usage {
            prompt_tokens: 1_000,
            completion_tokens: 100,
            total_tokens: 1_100,
            cached_prompt_tokens: Some(600),
            cache_write_tokens: Some(300),
            reasoning_tokens: None,
        };
        // 100 × 3 + 600 × 0.3 + 300 × 3.75 + 100 × 15 = 3,105 millionths of a dollar.
        assert_eq!(price.nano_usd(&usage), 3_105_000);
        let huge = Usage {
            prompt_tokens: u64::MAX,
            ..Usage::default()
        };
        assert_eq!(price.nano_usd(&huge), u64::MAX);
        assert_eq!(price.nano_usd(&Usage::default()), 0);
    }
}
