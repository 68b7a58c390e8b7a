//! What product pipelines are given: a generator, a model where one is configured, limits.

use std::{
    net::SocketAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use windlass_cli::OpenOptions;
use windlass_config::{Home, PipelineGenerator, PipelineModel};
use windlass_engine::Domain;
use windlass_http::SignedAddresses;
use windlass_llm::ModelClient;
use windlass_model_calls::Guarded;
use windlass_net::{HttpOutbound, OutboundPolicy};
use windlass_pipeline::{GeneratorChoice, ModelChoice, PipelineOutside, SignedUntil, Timeouts};
use windlass_ports::{Entropy, ModelAddress, Outbound, WireFormat};
use windlass_system::{OsEntropy, SystemClock};
use windlass_types::{Problem, Secret, Timestamp, code};

use crate::key_file::Keys;

/// The address this process serves on, once it does.
pub(crate) type Bound = Arc<OnceLock<SocketAddr>>;

/// The pipeline domain of this process. A model whose key is missing stops the start: nobody
/// should find out from the first job.
pub(crate) fn domain(
    options: &OpenOptions,
    entropy: &Arc<OsEntropy>,
    bound: &Bound,
) -> Result<Box<dyn Domain>, Problem> {
    let settings = &options.settings.pipeline;
    let models = &options.settings.models;
    let outbound: Arc<dyn Outbound> = Arc::new(HttpOutbound::new(OutboundPolicy {
        allow_private: models.allow_private_targets,
        allow_http: models.allow_http,
        allowed_hosts: models.allowed_hosts.clone(),
    }));
    let seconds = |seconds: std::num::NonZeroU64| Duration::from_secs(seconds.get());
    let times = &settings.timeouts;
    let keys = match options.reads_only {
        true => Keys::LookOnly,
        false => Keys::Make,
    };
    let signing_key = signing_key(&options.home, &**entropy, keys)?;
    let model = match &settings.model {
        Some(model) => Some(model_choice(options, model)?),
        None => None,
    };
    if model.is_none() && settings.generator == PipelineGenerator::Llm {
        return Err(Problem::new(
            &code::CONFIG_INVALID,
            "[pipeline] generator is \"llm\", and [pipeline.model] names no model",
        ));
    }
    let chat = ModelClient::new(
        outbound,
        Arc::new(SystemClock),
        Arc::clone(entropy) as Arc<dyn Entropy>,
    );
    let bound = Arc::clone(bound);
    let server = options.settings.server.clone();
    let public_base = move || match (&server.public_url, bound.get()) {
        (None, Some(address)) => format!("http://{address}"),
        _ => server.public_base(),
    };
    Ok(windlass_pipeline::domain(PipelineOutside {
        generator: match settings.generator {
            PipelineGenerator::Offline => GeneratorChoice::Offline,
            PipelineGenerator::Llm => GeneratorChoice::Llm,
            PipelineGenerator::Auto => GeneratorChoice::Auto,
        },
        model,
        models: Arc::new(Guarded::new(Arc::new(chat), Arc::new(SystemClock))),
        timeouts: Timeouts {
            offline_phase: seconds(times.offline_s),
            llm_phases: [
                times.strategy_s,
                times.architecture_s,
                times.ux_s,
                times.code_s,
            ]
            .map(seconds),
            job: seconds(times.job_s),
        },
        retention: Duration::from_secs(settings.retention_days.get().saturating_mul(86_400)),
        public_base: Arc::new(public_base),
        signing_key: Arc::new(signing_key),
    }))
}

/// What addresses of artifacts are signed with.
fn signing_key(home: &Home, entropy: &dyn Entropy, keys: Keys) -> Result<Secret<Vec<u8>>, Problem> {
    keys.load(&home.keys_dir().join("artifact-url.key"), entropy)
}

/// Reads the signatures of addresses of artifacts.
pub(crate) fn signed_addresses(home: &Home) -> Result<Arc<dyn SignedAddresses>, Problem> {
    Ok(Arc::new(ArtifactAddresses(signing_key(
        home,
        &OsEntropy,
        Keys::Make,
    )?)))
}

struct ArtifactAddresses(Secret<Vec<u8>>);

impl SignedAddresses for ArtifactAddresses {
    fn admits(&self, path: &str, exp: i64, sig: &str, now: Timestamp) -> bool {
        let until = SignedUntil {
            exp,
            sig: sig.to_owned(),
        };
        windlass_pipeline::admits_path(self.0.expose_secret(), path, &until, now)
    }
}

fn model_choice(options: &OpenOptions, model: &PipelineModel) -> Result<ModelChoice, Problem> {
    let api_key = match &model.api_key_env {
        Some(variable) => {
            let secret = options.environment.secret_named(variable);
            let secret = secret.ok_or_else(|| {
                Problem::new(
                    &code::CONFIG_INVALID,
                    format!("[pipeline.model] api_key_env names {variable}, which is not set"),
                )
            })?;
            options.redactor.register(&secret);
            Some(secret)
        }
        None => None,
    };
    Ok(ModelChoice {
        address: ModelAddress {
            wire: WireFormat::ChatCompletions,
            api_base_url: model.api_base_url.clone(),
            model: model.model.clone(),
            api_key,
            request_timeout: Duration::from_secs(model.request_timeout_s.get()),
        },
        temperature: model.temperature,
        max_tokens: model.max_tokens,
    })
}
