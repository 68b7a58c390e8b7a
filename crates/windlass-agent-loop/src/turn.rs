//! The calls of one answer, from proposal to result.

use windlass_agent_model::{CANCELLED, INVALID_ARGUMENTS, REJECTED, Source, placeholder};
use windlass_ports::{ToolCall, ToolResult};

use crate::{Ask, Effect, HumanDecision, Notice, Run, ToolOutcome, Verdict};

/// The result code of a call that the policy refuses.
const DENIED: &str = "POLICY_DENIED";

#[derive(Clone, Debug, PartialEq)]
enum State {
    /// Proposed, and not decided.
    Proposed,
    /// A person decides.
    Asked,
    /// It runs.
    Running,
    /// It has a result.
    Done(Box<ToolResult>, Option<Source>),
}

/// The calls of an answer, in its order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Turn {
    calls: Vec<(ToolCall, State)>,
}

impl Turn {
    pub fn new(calls: Vec<ToolCall>) -> Self {
        let calls = calls.into_iter().map(|call| (call, State::Proposed));
        Self {
            calls: calls.collect(),
        }
    }

    /// The calls without a result.
    pub fn open(&self) -> impl Iterator<Item = &ToolCall> {
        self.calls
            .iter()
            .filter(|(_, state)| !matches!(state, State::Done(..)))
            .map(|(call, _)| call)
    }

    pub fn refuse_arguments(&mut self, id: &str, why: &str) {
        if let Some((call, state)) = self.find(id) {
            *state = State::Done(Box::new(placeholder(call, INVALID_ARGUMENTS, why)), None);
        }
    }

    /// Takes the policy's verdicts. A call without one is asked about: nothing runs undecided.
    pub fn decide(&mut self, mut verdicts: Vec<(String, Verdict)>) -> Vec<Effect> {
        let (mut effects, mut runs, mut asks) = (Vec::new(), Vec::new(), Vec::new());
        for (call, state) in &mut self.calls {
            if *state != State::Proposed {
                continue;
            }
            let place = verdicts.iter().position(|(id, _)| *id == call.id);
            let verdict = place.map(|place| verdicts.swap_remove(place).1);
            match verdict {
                Some(Verdict::Allow { reads_only }) => {
                    *state = State::Running;
                    runs.push(Run {
                        call: call.clone(),
                        reads_only,
                    });
                }
                Some(Verdict::Deny { reason }) => {
                    let result = placeholder(call, DENIED, &reason);
                    *state = State::Done(Box::new(result), None);
                    effects.push(rejected(call, reason));
                }
                Some(Verdict::Ask { reason }) => {
                    *state = State::Asked;
                    asks.push(Ask {
                        call: call.clone(),
                        reason,
                    });
                }
                None => {
                    *state = State::Asked;
                    asks.push(Ask {
                        call: call.clone(),
                        reason: "the policy said nothing about this call".to_owned(),
                    });
                }
            }
        }
        if !runs.is_empty() {
            effects.push(Effect::RunTools(runs));
        }
        if !asks.is_empty() {
            let ids = asks.iter().map(|ask| ask.call.id.clone()).collect();
            effects.push(Effect::Tell(Notice::WaitingForToolApproval {
                pending_tool_call_ids: ids,
            }));
            effects.push(Effect::AskHuman(asks));
        }
        effects
    }

    /// Takes a person's decisions. Approved calls run once all of them are decided, in order.
    pub fn human_decided(&mut self, decisions: Vec<HumanDecision>) -> Vec<Effect> {
        let (mut effects, mut runs) = (Vec::new(), Vec::new());
        for decision in decisions {
            let Some((call, state)) = self.find(&decision.call_id) else {
                continue;
            };
            if *state != State::Asked {
                continue;
            }
            if decision.approved {
                *state = State::Running;
                runs.push(Run {
                    call: call.clone(),
                    reads_only: false,
                });
            } else {
                let said = decision.reason.unwrap_or_default();
                let result = placeholder(call, REJECTED, &said);
                let reason = match said.is_empty() {
                    true => format!("rejected by {}", decision.by),
                    false => format!("rejected by {}: {said}", decision.by),
                };
                *state = State::Done(Box::new(result), None);
                effects.push(rejected(call, reason));
            }
        }
        if !runs.is_empty() {
            effects.push(Effect::RunTools(runs));
        }
        effects
    }

    /// Takes the result of a call that runs; another one changes nothing.
    pub fn ended(&mut self, outcome: ToolOutcome) -> Option<Notice> {
        let ToolOutcome { result, source, .. } = outcome;
        let (_, state) = self.find(&result.call_id)?;
        if *state != State::Running {
            return None;
        }
        let notice = Notice::ToolExecutionCompleted {
            id: result.call_id.clone(),
            result: result.text(),
            is_error: result.is_error,
        };
        *state = State::Done(Box::new(result), source);
        Some(notice)
    }

    /// The results in the order of the calls, each with its source; calls without one are
    /// cancelled. `None` without calls.
    pub fn close(self) -> Option<(Vec<ToolResult>, Vec<Option<Source>>)> {
        if self.calls.is_empty() {
            return None;
        }
        let results = self.calls.into_iter().map(|(call, state)| match state {
            State::Done(result, source) => (*result, source),
            State::Running => (
                placeholder(
                    &call,
                    CANCELLED,
                    "the call was stopped; part of it may be done",
                ),
                None,
            ),
            State::Proposed | State::Asked => {
                (placeholder(&call, CANCELLED, "the call did not run"), None)
            }
        });
        Some(results.unzip())
    }

    fn find(&mut self, id: &str) -> Option<(&ToolCall, &mut State)> {
        let found = self.calls.iter_mut().find(|(call, _)| call.id == id)?;
        Some((&found.0, &mut found.1))
    }
}

fn rejected(call: &ToolCall, reason: String) -> Effect {
    Effect::Tell(Notice::ToolRejected {
        id: call.id.clone(),
        reason,
    })
}
