//! A session: its history and what it is doing.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};
use windlass_agent_model::{
    Estimate, Invalid, Source, TrimState, Window, merge, reduce, sanitise, tokens_of_tools,
    validate,
};
use windlass_ports::{Effort, Message, ModelRequest, OutputSchema, Part, Role, ToolCall, ToolSpec};

use crate::{
    Answer, AnswerFailure, Budget, Effect, Event, HumanDecision, MOST_CONTINUATIONS,
    MOST_FORCED_CUTS, Notice, Outcome, Price, Reservation, Spent, ToolOutcome, UserMessage,
    Verdict,
    limits::LARGER_OUTPUT,
    notice::{FinishedTurn, ProposedCall},
    turn::Turn,
};

/// What a session is set up with. Recorded with it, so that a resumed session sends the same.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The rules; the same bytes for the whole session.
    pub system: String,
    /// The tools on offer, in a fixed order.
    pub tools: Vec<ToolSpec>,
    /// What the model reads and writes at most.
    pub context: u64,
    /// The output limit of a request.
    pub max_output: u64,
    /// The largest output limit that the model takes.
    pub max_output_limit: u64,
    /// The requests of the session; 0 for none.
    pub max_steps: u32,
    /// What it may cost.
    pub budget: Budget,
    /// What the model costs.
    pub price: Option<Price>,
    /// How long the model may think.
    pub effort: Option<Effort>,
    /// The form that the last answer must have.
    pub schema: Option<OutputSchema>,
    /// Names the conversation for caches.
    pub cache_key: Option<String>,
    /// How freely the model chooses.
    pub temperature: Option<f64>,
}

/// A message of the history, whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The message.
    pub message: Message,
    /// Where each part came from; shorter where the rest is the session's own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<Option<Source>>,
    /// Whether it broke off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_interrupted: bool,
}

/// What a session is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It waits for the user.
    Idle,
    /// The model is asked.
    Requesting,
    /// Calls are decided, asked about or run.
    Calling,
    /// It cannot go on by itself. The user can.
    Stopped,
}

/// A session.
#[derive(Clone, Debug)]
pub struct Session {
    settings: Settings,
    entries: Vec<Entry>,
    /// What summaries took the place of, newest last.
    before_summaries: Vec<(Vec<Entry>, TrimState)>,
    trim: TrimState,
    estimate: Estimate,
    /// What the request under way was estimated at.
    expected: u64,
    reserved: Reservation,
    phase: Phase,
    turn: Turn,
    steps: u32,
    spent: Spent,
    files_changed: Vec<String>,
    /// For the next request.
    steering: VecDeque<UserMessage>,
    /// For the next turn.
    follow_ups: VecDeque<UserMessage>,
    continuations: u32,
    forced_cuts: u32,
    output_limit: u64,
}

impl Session {
    /// A session without a word.
    pub fn new(settings: Settings) -> Self {
        Self {
            output_limit: settings.max_output,
            settings,
            entries: Vec::new(),
            before_summaries: Vec::new(),
            trim: TrimState::default(),
            estimate: Estimate::default(),
            expected: 0,
            reserved: Reservation::default(),
            phase: Phase::Idle,
            turn: Turn::default(),
            steps: 0,
            spent: Spent::default(),
            files_changed: Vec::new(),
            steering: VecDeque::new(),
            follow_ups: VecDeque::new(),
            continuations: 0,
            forced_cuts: 0,
        }
    }

    /// What it is set up with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The whole history; what is sent is made from it.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What it is doing.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The requests so far.
    pub fn steps(&self) -> u32 {
        self.steps
    }

    /// What it has used.
    pub fn spent(&self) -> &Spent {
        &self.spent
    }

    /// The files it changed, each once, in the order of their first change.
    pub fn files_changed(&self) -> &[String] {
        &self.files_changed
    }

    /// How far the history is cut for requests.
    pub fn trim(&self) -> TrimState {
        self.trim
    }

    /// The calls without a result.
    pub fn open_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.turn.open()
    }

    /// Takes what happened; gives what to do next. What cannot happen now changes nothing.
    pub fn handle(&mut self, event: Event) -> Vec<Effect> {
        match event {
            Event::User(message) => self.user(message),
            Event::Steer(message) => match self.phase {
                Phase::Idle | Phase::Stopped => self.user(message),
                Phase::Requesting | Phase::Calling => {
                    self.steering.push_back(message);
                    Vec::new()
                }
            },
            Event::FollowUp(message) => match self.phase {
                Phase::Idle | Phase::Stopped => self.user(message),
                Phase::Requesting | Phase::Calling => {
                    self.follow_ups.push_back(message);
                    Vec::new()
                }
            },
            Event::Answered(answer) if self.phase == Phase::Requesting => self.answered(answer),
            Event::AnswerFailed(failure) if self.phase == Phase::Requesting => {
                self.answer_failed(failure)
            }
            Event::Decided(verdicts) if self.phase == Phase::Calling => self.decided(verdicts),
            Event::HumanDecided(decisions) if self.phase == Phase::Calling => {
                self.human_decided(decisions)
            }
            Event::ToolEnded(outcome) if self.phase == Phase::Calling => self.tool_ended(outcome),
            Event::Cancel => self.cancel(),
            Event::Rewind { keep } => self.rewind(keep),
            Event::Summarised { text } => self.summarised(text),
            Event::SummaryUndone => self.summary_undone(),
            Event::Switched(settings) => {
                self.output_limit = settings.max_output;
                self.settings = *settings;
                Vec::new()
            }
            Event::Answered(_)
            | Event::AnswerFailed(_)
            | Event::Decided(_)
            | Event::HumanDecided(_)
            | Event::ToolEnded(_) => Vec::new(),
        }
    }

    fn user(&mut self, message: UserMessage) -> Vec<Effect> {
        self.close_calls();
        self.say(message);
        (self.continuations, self.forced_cuts) = (0, 0);
        self.output_limit = self.settings.max_output;
        self.request(false)
    }

    fn say(&mut self, message: UserMessage) {
        let sources = message
            .source
            .map(|source| vec![Some(source); message.parts.len()]);
        self.entries.push(Entry {
            message: Message {
                role: Role::User,
                parts: message.parts,
            },
            sources: sources.unwrap_or_default(),
            is_interrupted: false,
        });
    }

    /// The messages of the history, rules first, as they may be sent.
    fn messages(&self) -> Vec<Message> {
        let rules = Some(self.settings.system.as_str()).filter(|text| !text.trim().is_empty());
        let rules = rules.map(Message::system);
        let said = self.entries.iter().map(|entry| entry.message.clone());
        merge(sanitise(rules.into_iter().chain(said).collect()))
    }

    /// Asks the model, if everything allows it.
    fn request(&mut self, force_cut: bool) -> Vec<Effect> {
        while let Some(message) = self.steering.pop_front() {
            self.say(message);
        }
        if self.settings.max_steps > 0 && self.steps >= self.settings.max_steps {
            return self.stop(Outcome::MaxSteps);
        }
        let window = Window {
            context: self.settings.context,
            reserved_output: self.output_limit,
        };
        let tools = tokens_of_tools(&self.settings.tools);
        let reduced = reduce(
            self.messages(),
            tools,
            window,
            self.estimate,
            self.trim,
            force_cut,
        );
        let was_cut = reduced.state != self.trim;
        self.trim = reduced.state;
        let mut effects = Vec::new();
        if was_cut {
            effects.push(Effect::Tell(Notice::CompactionCompleted {
                tokens_before: reduced.before,
                tokens_after: reduced.tokens,
                truncated: reduced.fits,
            }));
        }
        let gained = !force_cut || reduced.tokens < reduced.before;
        if !reduced.fits || !gained {
            effects.extend(self.stop(Outcome::ContextExhausted));
            return effects;
        }
        if let Err(defect) = validate(&reduced.messages) {
            effects.extend(self.stop(defective(&defect)));
            return effects;
        }
        let reserved = self.settings.budget.reserve(
            &self.spent,
            self.settings.price,
            reduced.tokens,
            self.output_limit,
        );
        self.reserved = match reserved {
            Ok(reserved) => reserved,
            Err(what) => {
                effects.extend(self.stop(Outcome::BudgetExhausted { what }));
                return effects;
            }
        };
        self.expected = reduced.tokens;
        self.steps += 1;
        self.phase = Phase::Requesting;
        effects.push(Effect::Tell(Notice::TurnStarted { turn: self.steps }));
        effects.push(Effect::CallModel {
            request: Box::new(ModelRequest {
                temperature: self.settings.temperature,
                max_tokens: Some(self.output_limit).filter(|limit| *limit > 0),
                schema: self.settings.schema.clone(),
                tools: self.settings.tools.clone(),
                effort: self.settings.effort,
                cache_key: self.settings.cache_key.clone(),
                ..ModelRequest::new(reduced.messages)
            }),
            reserved: self.reserved,
        });
        effects
    }

    fn answered(&mut self, answer: Answer) -> Vec<Effect> {
        let Answer {
            reply,
            invalid,
            is_interrupted,
        } = answer;
        self.spent
            .settle(reply.usage, self.settings.price, self.reserved);
        if let Some(usage) = reply.usage {
            self.estimate = Estimate::calibrated(self.expected, usage.prompt_tokens);
        }
        let mut effects = vec![Effect::Tell(Notice::UsageReport {
            usage: self.spent.usage,
            spent_micros: self.spent.micros,
        })];
        let text = reply.text();
        if !text.trim().is_empty() {
            effects.push(Effect::Tell(Notice::TextComplete { text }));
        }
        let finish_reason = reply.finish_reason.clone();
        let mut message = reply.into_message();
        if is_interrupted {
            message
                .parts
                .retain(|part| !matches!(part, Part::ToolCall(_)));
        }
        let calls: Vec<ToolCall> = message.tool_calls().cloned().collect();
        if !message.parts.is_empty() {
            self.entries.push(Entry {
                message,
                sources: Vec::new(),
                is_interrupted,
            });
        }
        if is_interrupted {
            effects.extend(self.end_turn(FinishedTurn::Cancelled));
            return effects;
        }
        use windlass_ports::FinishReason as Finish;
        match finish_reason {
            Finish::Refused => {
                effects.extend(self.end_turn(FinishedTurn::Error));
                effects.extend(self.stop(Outcome::Refused));
            }
            Finish::Length if calls.is_empty() => effects.extend(self.cut_off()),
            _ if calls.is_empty() => effects.extend(self.end_turn(FinishedTurn::Stop)),
            _ => effects.extend(self.propose(calls, &invalid)),
        }
        effects
    }

    /// An answer that reached the output limit is continued with a larger one, a few times.
    fn cut_off(&mut self) -> Vec<Effect> {
        if self.continuations >= MOST_CONTINUATIONS {
            return self.end_turn(FinishedTurn::MaxOutputTokens);
        }
        self.continuations += 1;
        let largest = self.settings.max_output_limit.max(self.settings.max_output);
        self.output_limit = self.output_limit.saturating_mul(LARGER_OUTPUT).min(largest);
        self.say(UserMessage::text(
            "[Your answer reached the output limit; a call that had begun was dropped. Continue \
             where it broke off, and make calls shorter.]",
        ));
        self.request(false)
    }

    fn propose(&mut self, calls: Vec<ToolCall>, invalid: &[(String, String)]) -> Vec<Effect> {
        self.phase = Phase::Calling;
        let proposed = calls.iter().map(ProposedCall::from).collect();
        let mut effects = vec![Effect::Tell(Notice::ToolCallsProposed {
            tool_calls: proposed,
        })];
        self.turn = Turn::new(calls);
        for (id, why) in invalid {
            self.turn.refuse_arguments(id, why);
        }
        let valid: Vec<ToolCall> = self.turn.open().cloned().collect();
        match valid.is_empty() {
            true => effects.extend(self.results_sent()),
            false => effects.push(Effect::Decide(valid)),
        }
        effects
    }

    fn answer_failed(&mut self, failure: AnswerFailure) -> Vec<Effect> {
        let reserved = std::mem::take(&mut self.reserved);
        // A request that was answered in part was paid in part; nobody said how much.
        if !failure.so_far.is_empty() {
            self.spent.settle(None, self.settings.price, reserved);
        }
        if failure.is_context_exceeded && self.forced_cuts < MOST_FORCED_CUTS {
            self.forced_cuts += 1;
            return self.request(true);
        }
        if !failure.so_far.trim().is_empty() {
            self.entries.push(Entry {
                message: Message::assistant(failure.so_far),
                sources: Vec::new(),
                is_interrupted: true,
            });
        }
        let outcome = match failure.is_context_exceeded {
            true => Outcome::ContextExhausted,
            false => Outcome::Failed {
                reason: failure.reason,
                message: failure.message,
            },
        };
        let mut effects = vec![Effect::Tell(Notice::TurnCompleted {
            finish_reason: FinishedTurn::Error,
        })];
        effects.extend(self.stop(outcome));
        effects
    }

    fn decided(&mut self, verdicts: Vec<(String, Verdict)>) -> Vec<Effect> {
        let mut effects = self.turn.decide(verdicts);
        effects.extend(self.results_sent());
        effects
    }

    fn human_decided(&mut self, decisions: Vec<HumanDecision>) -> Vec<Effect> {
        let mut effects = self.turn.human_decided(decisions);
        effects.extend(self.results_sent());
        effects
    }

    fn tool_ended(&mut self, outcome: ToolOutcome) -> Vec<Effect> {
        for file in &outcome.files_changed {
            if !self.files_changed.contains(file) {
                self.files_changed.push(file.clone());
            }
        }
        let Some(notice) = self.turn.ended(outcome) else {
            return Vec::new();
        };
        self.spent.tool_calls += 1;
        let mut effects = vec![Effect::Tell(notice)];
        effects.extend(self.results_sent());
        effects
    }

    /// The next request, once every call has its result.
    fn results_sent(&mut self) -> Vec<Effect> {
        if self.turn.open().next().is_some() {
            return Vec::new();
        }
        self.close_calls();
        let mut effects = vec![Effect::Tell(Notice::TurnCompleted {
            finish_reason: FinishedTurn::ToolCalls,
        })];
        effects.extend(self.request(false));
        effects
    }

    /// Puts the results of the turn into the history; calls without one are cancelled.
    fn close_calls(&mut self) {
        let turn = std::mem::take(&mut self.turn);
        let Some((results, sources)) = turn.close() else {
            return;
        };
        self.entries.push(Entry {
            message: Message::results(results),
            sources,
            is_interrupted: false,
        });
    }

    fn end_turn(&mut self, finish_reason: FinishedTurn) -> Vec<Effect> {
        self.phase = Phase::Idle;
        let mut effects = vec![Effect::Tell(Notice::TurnCompleted { finish_reason })];
        let waiting = self
            .steering
            .pop_front()
            .or_else(|| self.follow_ups.pop_front());
        match waiting.filter(|_| finish_reason != FinishedTurn::Error) {
            Some(message) => effects.extend(self.user(message)),
            None if finish_reason == FinishedTurn::Error => {}
            None => effects.push(Effect::AwaitUser),
        }
        effects
    }

    fn stop(&mut self, outcome: Outcome) -> Vec<Effect> {
        self.phase = Phase::Stopped;
        vec![Effect::Stop(outcome)]
    }

    fn cancel(&mut self) -> Vec<Effect> {
        match self.phase {
            Phase::Idle | Phase::Stopped => Vec::new(),
            Phase::Requesting | Phase::Calling => {
                self.close_calls();
                self.end_turn(FinishedTurn::Cancelled)
            }
        }
    }

    fn rewind(&mut self, keep: usize) -> Vec<Effect> {
        self.turn = Turn::default();
        self.entries.truncate(keep);
        self.steering.clear();
        self.follow_ups.clear();
        // The beginning keeps its bytes; what is cut of it stays cut.
        let merged = self.messages().len();
        self.trim.trimmed_up_to_message_index = self.trim.trimmed_up_to_message_index.min(merged);
        self.phase = Phase::Idle;
        vec![Effect::AwaitUser]
    }

    fn summarised(&mut self, text: String) -> Vec<Effect> {
        if self.phase == Phase::Requesting || self.phase == Phase::Calling {
            return Vec::new();
        }
        let before = std::mem::take(&mut self.entries);
        let first = before.iter().find(|entry| entry.message.role == Role::User);
        self.entries.extend(first.cloned());
        let note = format!("[Summary of the conversation so far]\n{text}");
        self.before_summaries.push((before, self.trim));
        self.trim = TrimState::default();
        self.say(UserMessage::text(note));
        self.phase = Phase::Idle;
        vec![Effect::AwaitUser]
    }

    fn summary_undone(&mut self) -> Vec<Effect> {
        if let Some((entries, trim)) = self.before_summaries.pop() {
            // What was said since stays, behind what was said before.
            let since: Vec<Entry> = self.entries.drain(..).skip(2).collect();
            self.entries = entries;
            self.entries.extend(since);
            self.trim = trim;
        }
        Vec::new()
    }
}

fn defective(defect: &Invalid) -> Outcome {
    Outcome::Failed {
        reason: "invalid_history".to_owned(),
        message: format!("the conversation cannot be sent: {defect}"),
    }
}

#[cfg(test)]
#[path = "session_tests.rs"]
mod tests;
