//! What a run that waits for an approval asks, for every surface: what is done to what, line by
//! line, and who may answer. How it looks is the surface's business.

use windlass_policy::may_approve;
use windlass_types::{
    APPROVAL, ApprovalTerms, Digest, EffectClass, Principal, RunRecord, WaitingOn,
    journal::ChangeSubject,
};

/// How many targets are named in one line.
const MOST_TARGETS: usize = 5;

/// The approval that a run waits for.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What is done to what.
    pub headline: String,
    /// What the run asks in words of its own.
    pub question: Option<String>,
    /// The change, line by line.
    pub lines: Vec<String>,
    /// What is touched.
    pub targets: Vec<String>,
    /// What it may do to that.
    pub effect: Option<EffectClass>,
    /// Who may answer.
    pub terms: ApprovalTerms,
    /// How many have approved.
    pub given: usize,
    /// The plan that an answer is about.
    pub plan_digest: Option<Digest>,
}

impl Asked {
    /// What a run asks; `None` when it waits for no approval. Where it does not say whom,
    /// those whom policy names by default are asked.
    pub fn of(record: &RunRecord, default_approvers: &[String]) -> Option<Self> {
        let wanted = record.wanted_approval()?;
        let terms = match wanted.is_empty() {
            true => ApprovalTerms::by(default_approvers),
            false => wanted,
        };
        let mut waits = record.waiting_on.iter().map(|(_, on)| on);
        let on = waits.find(|on| on.what == APPROVAL && !on.answered);
        let subject = record.subject.as_ref();
        let headline = subject.map_or_else(|| record.title.clone(), headline);
        let lines = match (on, subject) {
            (Some(on), _) if !on.lines.is_empty() => &on.lines,
            (_, Some(subject)) => &subject.lines,
            _ => &Vec::new(),
        };
        let says_more = |question: &String| *question != record.title && *question != headline;
        Some(Self {
            question: on.and_then(question).filter(says_more),
            lines: lines.clone(),
            targets: subject.map_or_else(Vec::new, |subject| targets(subject).collect()),
            effect: subject.map(|subject| subject.effect),
            terms,
            given: record.approved_by().len(),
            plan_digest: match on {
                Some(on) => on.plan_digest,
                None => record.plan_digest,
            },
            headline,
        })
    }

    /// Who may answer: `an approval by local:ada or key:ops`.
    pub fn wanted(&self) -> String {
        let terms = &self.terms;
        match terms.progress(self.given) {
            Some(given) => format!("{} ({given})", terms.text()),
            None => terms.text(),
        }
    }

    /// Whether this principal may answer.
    pub fn may_be_answered_by(&self, principal: &Principal) -> bool {
        may_approve(principal, &self.terms)
    }
}

fn targets(subject: &ChangeSubject) -> impl Iterator<Item = String> {
    let named = subject.targets.iter().filter(|target| !target.is_empty());
    named.cloned()
}

fn headline(subject: &ChangeSubject) -> String {
    let mut text = subject.operation.clone();
    let targets: Vec<String> = targets(subject).collect();
    if !targets.is_empty() {
        let named = targets.len().min(MOST_TARGETS);
        text.push_str(&format!(" on {}", targets[..named].join(", ")));
        if targets.len() > named {
            text.push_str(&format!(" and {} more", targets.len() - named));
        }
    }
    text
}

/// What a wait asks, without the names of the approvers, which are shown apart.
pub fn question(on: &WaitingOn) -> Option<String> {
    on.prompt
        .as_deref()
        .map(|prompt| without_approvers(prompt, &on.terms))
}

/// A prompt without the names of the approvers.
pub fn without_approvers(prompt: &str, terms: &ApprovalTerms) -> String {
    let names = terms.approvers.join(", ");
    let names = format!(" (approvers: {names})");
    prompt.strip_suffix(&names).unwrap_or(prompt).to_owned()
}
