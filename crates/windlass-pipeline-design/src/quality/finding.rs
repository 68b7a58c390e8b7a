//! Findings while they are collected: each belongs to a dimension and has an id that stays.

use sha2::{Digest, Sha256};

use crate::model::quality::{Finding, Level};

/// What a check is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dimension {
    Accuracy,
    Completeness,
    Consistency,
    Feasibility,
    Alignment,
}

impl Dimension {
    pub(crate) const ALL: [Self; 5] = [
        Self::Accuracy,
        Self::Completeness,
        Self::Consistency,
        Self::Feasibility,
        Self::Alignment,
    ];

    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::Completeness => "completeness",
            Self::Consistency => "consistency",
            Self::Feasibility => "feasibility",
            Self::Alignment => "alignment",
        }
    }

    /// Its part of the average, in per cent.
    pub(crate) const fn weight(self) -> u32 {
        match self {
            Self::Accuracy | Self::Completeness => 25,
            Self::Consistency => 20,
            Self::Feasibility | Self::Alignment => 15,
        }
    }
}

/// The findings so far.
#[derive(Default)]
pub(crate) struct Findings(pub(crate) Vec<(Dimension, Finding)>);

/// The same check on the same target has the same id, whatever else is found.
fn id(check: &str, target: &str) -> String {
    let digest = Sha256::new()
        .chain_update(check)
        .chain_update([0])
        .chain_update(target)
        .finalize();
    format!("F-{}", hex::encode(&digest[..5]))
}

impl Findings {
    /// One more, unless the same check has reported the same target.
    pub(crate) fn add(
        &mut self,
        dimension: Dimension,
        check: &str,
        severity: Level,
        target: impl Into<String>,
        message: impl Into<String>,
    ) {
        let target = target.into();
        let id = id(check, &target);
        if self.0.iter().any(|(_, known)| known.id == id) {
            return;
        }
        self.0.push((
            dimension,
            Finding {
                id,
                check: check.to_owned(),
                severity,
                target,
                message: message.into(),
            },
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_depends_on_check_and_target_alone() {
        assert_eq!(id("a", "b"), id("a", "b"));
        assert_ne!(id("a", "b"), id("a", "c"));
        assert_ne!(id("ab", ""), id("a", "b"), "the parts are kept apart");
        let mut findings = Findings::default();
        for message in ["one", "two"] {
            findings.add(Dimension::Accuracy, "c", Level::Low, "t", message);
        }
        assert_eq!(findings.0.len(), 1);
    }

    #[test]
    fn weights_are_whole() {
        assert_eq!(
            Dimension::ALL.iter().map(|one| one.weight()).sum::<u32>(),
            100
        );
    }
}
