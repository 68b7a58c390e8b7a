//! What a call carries through an operation: the gate, to be asked again when the call's target
//! is known, and the approval that lets a call go on which had to wait.

use std::{
    path::Path,
    sync::{Arc, Mutex},
};

use windlass_policy::{Targets, WithoutRule};
use windlass_types::{ApprovalTerms, EffectClass, Principal, Problem};

use super::CallContext;
use crate::{
    WeakEngine,
    confirm::{Passage, Question, cannot_wait},
    driver::lock,
};

/// An approval that was given to a call which waited as a run. Only the engine makes one.
#[derive(Clone, Debug)]
pub struct Grant {
    pub(crate) operation: String,
}

/// The gate, as a call under way sees it.
#[derive(Clone)]
pub struct Permit(Arc<Inner>);

struct Inner {
    engine: WeakEngine,
    operation: String,
    effect: EffectClass,
    without_rule: WithoutRule,
    yes: bool,
    is_granted: bool,
    /// Who has to be asked, once a target turned out to need it.
    wanted: Mutex<Option<Wanted>>,
}

/// An approval that a call needs.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    pub terms: ApprovalTerms,
    pub rule: String,
    pub targets: Vec<String>,
}

impl std::fmt::Debug for Permit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_tuple("Permit")
            .field(&self.0.operation)
            .finish()
    }
}

impl Permit {
    pub(crate) fn new(
        engine: WeakEngine,
        operation: &str,
        effect: EffectClass,
        without_rule: WithoutRule,
        yes: bool,
        is_granted: bool,
    ) -> Self {
        Self(Arc::new(Inner {
            engine,
            operation: operation.to_owned(),
            effect,
            without_rule,
            yes,
            is_granted,
            wanted: Mutex::default(),
        }))
    }

    fn require(
        &self,
        principal: &Principal,
        effect: EffectClass,
        targets: &[String],
    ) -> Result<(), Problem> {
        let inner = &self.0;
        let judged = inner.engine.upgrade()?.judge(&Question {
            operation: &inner.operation,
            principal,
            targets: Targets::Known(targets),
            effect: effect.max(inner.effect),
            without_rule: inner.without_rule,
            yes: inner.yes,
        })?;
        match judged.passage {
            Passage::Free | Passage::OwnYes => Ok(()),
            Passage::Wanted { .. } if inner.is_granted => Ok(()),
            Passage::Wanted { terms } => {
                let refused = cannot_wait(&inner.operation, principal, &judged.rule, &terms);
                *lock(&inner.wanted) = Some(Wanted {
                    terms,
                    rule: judged.rule,
                    targets: targets.to_vec(),
                });
                Err(refused)
            }
        }
    }

    /// The approval that the call turned out to need.
    pub(crate) fn wanted(&self) -> Option<Wanted> {
        lock(&self.0.wanted).take()
    }
}

impl CallContext {
    /// Asks the gate again, now that it is known what the call touches. An operation whose target
    /// is not in its input calls this before it does anything with the target, and passes the
    /// error on.
    pub fn require_target(&self, target: &str) -> Result<(), Problem> {
        self.require_targets(&[target.to_owned()])
    }

    /// The same for several targets.
    pub fn require_targets(&self, targets: &[String]) -> Result<(), Problem> {
        self.require_effect(EffectClass::Read, targets)
    }

    /// The same for a call that has a stronger effect than others of its operation: a reading one
    /// that writes its answer to a file.
    pub fn require_effect(&self, effect: EffectClass, targets: &[String]) -> Result<(), Problem> {
        match &self.terms.permit {
            Some(permit) => permit.require(&self.principal, effect, targets),
            // Called by the engine itself, which has asked.
            None => Ok(()),
        }
    }

    /// Refuses a file or directory that this caller may not name. `Operation::places` is checked
    /// before a call; an operation that learns of a place later asks here.
    pub fn require_place(&self, path: &Path) -> Result<(), Problem> {
        match &self.terms.permit {
            Some(permit) => {
                let engine = permit.0.engine.upgrade()?;
                engine.roots.check(&self.principal, path)
            }
            // Called by the engine itself, which has asked.
            None => Ok(()),
        }
    }
}
