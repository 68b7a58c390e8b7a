//! What jobs answer, as far as people are shown it. The outputs of phases are the model's.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use windlass_pipeline_design::model::{
    ArchitectureOutput, Coverage, GeneratedFile, Phase, QualityReport, StrategyOutput, UxOutput,
};

/// Where a job stands.
#[derive(Debug, Deserialize)]
pub(super) struct JobStatus {
    pub(super) job_id: String,
    pub(super) status: String,
    #[serde(default)]
    pub(super) phases: BTreeMap<Phase, PhaseStatus>,
    #[serde(default)]
    pub(super) progress_percent: u64,
    #[serde(default)]
    pub(super) generator: String,
    #[serde(default)]
    pub(super) error: Option<JobError>,
}

#[derive(Debug, Deserialize)]
pub(super) struct PhaseStatus {
    pub(super) status: String,
    #[serde(default)]
    pub(super) duration_ms: Option<u64>,
}

/// Why a job failed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct JobError {
    pub(super) message: String,
    pub(super) details: Value,
}

/// What a job has made, as far as it came.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Outputs {
    pub(super) strategy: Option<StrategyOutput>,
    pub(super) architecture: Option<ArchitectureOutput>,
    pub(super) ux: Option<UxOutput>,
    pub(super) code: Option<Files>,
}

impl Outputs {
    /// What was found out about the last phase there is.
    pub(super) fn judged(&self) -> Option<(&Coverage, &QualityReport)> {
        let code = self.code.as_ref().and_then(|made| {
            let report = made.quality_report.as_ref()?;
            Some((made.coverage.as_ref()?, report))
        });
        let ux = self.ux.as_ref();
        let architecture = self.architecture.as_ref();
        let strategy = self.strategy.as_ref();
        code.or_else(|| ux.map(|made| (&made.coverage, &made.quality_report)))
            .or_else(|| architecture.map(|made| (&made.coverage, &made.quality_report)))
            .or_else(|| strategy.map(|made| (&made.coverage, &made.quality_report)))
    }
}

/// The files of an output; none where it has none.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Files {
    pub(super) files: Vec<GeneratedFile>,
    pub(super) coverage: Option<Coverage>,
    pub(super) quality_report: Option<QualityReport>,
}

impl Files {
    /// Path and content of each.
    pub(super) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .map(|file| (file.path.as_str(), file.content.as_str()))
    }
}
