//! A pipeline that asks no model, or one that answers from a script.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::Duration,
};

use windlass_engine::Domain;
use windlass_pipeline::{GeneratorChoice, ModelChoice, PipelineOutside, Timeouts};
use windlass_ports::{
    BoxFuture, LanguageModel, Listener, ModelAddress, ModelError, ModelReply, ModelRequest,
    WireFormat,
};
use windlass_types::Secret;

pub const SPEC: &str = "# Knots\n\nKnots is a shop for sailors. Sailors can create, edit and delete \
    their own listings. A listing has a title, a price and a status (draft, published). Visitors \
    can browse published listings. Pages load in under 2s. The primary color is #0F766E.";

/// A model whose answers are written down beforehand; none left means that it cannot be reached.
#[derive(Default)]
pub struct Scripted(Mutex<VecDeque<String>>);

impl Scripted {
    pub fn new(answers: &[&str]) -> Self {
        Self(Mutex::new(
            answers.iter().map(|a| (*a).to_owned()).collect(),
        ))
    }
}

impl LanguageModel for Scripted {
    fn complete<'a>(
        &'a self,
        address: &'a ModelAddress,
        _: &'a ModelRequest,
        _: Option<Listener<'a>>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        let answer = self.0.lock().unwrap().pop_front();
        Box::pin(async move {
            let text = answer.ok_or_else(|| ModelError::Unreachable("nobody".to_owned()))?;
            Ok(ModelReply::of_text(&address.model, text))
        })
    }
}

/// The domain, with this generator.
pub fn domain(generator: GeneratorChoice, model: Arc<Scripted>) -> Box<dyn Domain> {
    domain_asking(generator, "https://models.example/v1", model)
}

/// The domain, with this generator and this way to a model.
pub fn domain_asking(
    generator: GeneratorChoice,
    api_base_url: &str,
    models: Arc<dyn LanguageModel>,
) -> Box<dyn Domain> {
    windlass_pipeline::domain(PipelineOutside {
        generator,
        model: Some(ModelChoice {
            address: ModelAddress {
                wire: WireFormat::ChatCompletions,
                api_base_url: api_base_url.to_owned(),
                model: "small".to_owned(),
                api_key: None,
                request_timeout: Duration::from_secs(60),
            },
            temperature: 0.0,
            max_tokens: None,
        }),
        models,
        timeouts: Timeouts::default(),
        retention: Duration::from_secs(7 * 86_400),
        public_base: Arc::new(|| "https://windlass.example".to_owned()),
        signing_key: Arc::new(Secret::new(b"a key for tests".to_vec())),
    })
}

/// The domain without a model.
pub fn offline() -> Box<dyn Domain> {
    domain(GeneratorChoice::Offline, Arc::default())
}
