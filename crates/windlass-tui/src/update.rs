//! What happens: an event in, a changed state and effects out. Does nothing itself.

use crate::{
    event::{Call, Effect, Event, Key, Reply},
    listing::Detail,
    question::{Question, Verdict},
    state::{Load, Message, Pane, State, Tab},
};

/// How far the pane moves sideways.
const SIDESTEP: usize = 8;

/// The first things to do.
pub(crate) fn start(state: &mut State) -> Vec<Effect> {
    refresh(state)
}

/// Takes in an event.
pub(crate) fn update(state: &mut State, event: Event) -> Vec<Effect> {
    let mut effects = match event {
        Event::Key(key) => on_key(state, key),
        Event::Resized(columns, rows) => {
            state.size = (columns, rows);
            Vec::new()
        }
        Event::Tick => {
            state.ticks = state.ticks.wrapping_add(1);
            Vec::new()
        }
        Event::Answered(call, outcome) => {
            state.underway.retain(|underway| *underway != call);
            match outcome {
                Ok(reply) => on_reply(state, &call, reply),
                Err(fault) => {
                    if let Some(tab) = tab_of(&call) {
                        state.page_of_mut(tab).load = Load::Failed;
                    }
                    if let Call::Details(id) = &call {
                        // No longer unread, or it would be fetched forever.
                        let listing = &mut state.page_of_mut(Tab::History).listing;
                        listing.fill(id, fault.message.clone());
                    }
                    state.message = Message::Fault(fault);
                    // What a failed write left behind is shown, whatever it is.
                    if call.writes() {
                        refresh(state)
                    } else {
                        Vec::new()
                    }
                }
            }
        }
    };
    effects.extend(read_selected(state));
    effects
}

fn on_key(state: &mut State, key: Key) -> Vec<Effect> {
    if key == Key::Interrupt {
        return vec![Effect::Quit];
    }
    if let Some(question) = state.question.take() {
        return on_answer(state, question, key);
    }
    if state.help {
        state.help = false;
        return Vec::new();
    }
    match key {
        Key::Char('q') => return quit(state),
        Key::Char('?') => state.help = true,
        Key::Tab => show(state, state.tab.turned(1)),
        Key::BackTab => show(state, state.tab.turned(Tab::ALL.len() - 1)),
        Key::Char('1') => show(state, Tab::Plan),
        Key::Char('2') => show(state, Tab::Drift),
        Key::Char('3') => show(state, Tab::History),
        Key::Up | Key::Char('k') => select(state, |at, _| at.saturating_sub(1)),
        Key::Down | Key::Char('j') => select(state, |at, _| at + 1),
        Key::PageUp => page(state, |at, stride| at.saturating_sub(stride)),
        Key::PageDown => page(state, |at, stride| at + stride),
        Key::Home | Key::Char('g') => page(state, |_, _| 0),
        Key::End | Key::Char('G') => page(state, |_, _| usize::MAX),
        Key::Left | Key::Char('h') => {
            state.pane.column = state.pane.column.saturating_sub(SIDESTEP);
        }
        Key::Right | Key::Char('l') if state.pane.open => state.pane.column += SIDESTEP,
        Key::Enter => {
            state.pane = Pane {
                open: !state.pane.open,
                ..Pane::default()
            };
        }
        Key::Escape if state.message != Message::None => state.message = Message::None,
        Key::Escape => state.pane = Pane::default(),
        Key::Char('r') => {
            state.message = Message::None;
            return refresh(state);
        }
        Key::Char('a') => return ask_first(state, &[Call::Plan, Call::TryApply]),
        Key::Char('u') => return ask_first(state, &[Call::TryUndo]),
        Key::Char('b') => return roll_back(state),
        _ => {}
    }
    Vec::new()
}

fn quit(state: &mut State) -> Vec<Effect> {
    if state.is_writing() && !state.leaving {
        state.leaving = true;
        state.message = Message::Notice(
            "Files are being written. q again leaves; what was started is finished or undone."
                .to_owned(),
        );
        return Vec::new();
    }
    vec![Effect::Quit]
}

fn show(state: &mut State, tab: Tab) {
    state.tab = tab;
    (state.pane.line, state.pane.column) = (0, 0);
}

fn select(state: &mut State, to: impl FnOnce(usize, usize) -> usize) {
    let stride = state.stride();
    let page = state.page_mut();
    let last = page.listing.len().saturating_sub(1);
    page.selected = to(page.selected, stride).min(last);
    (state.pane.line, state.pane.column) = (0, 0);
}

/// Moves the pane where there is one, otherwise the selection.
fn page(state: &mut State, to: impl FnOnce(usize, usize) -> usize) {
    if !state.pane.open {
        return select(state, to);
    }
    let last = state.detail().lines().count().saturating_sub(1);
    state.pane.line = to(state.pane.line, state.stride()).min(last);
}

fn refresh(state: &mut State) -> Vec<Effect> {
    let calls = Tab::ALL.map(|tab| state.send(tab.call()));
    calls.into_iter().flatten().collect()
}

/// Finds out what a write would do; the question follows from the answer.
fn ask_first(state: &mut State, calls: &[Call]) -> Vec<Effect> {
    let refusal = if state.read_only {
        Some("Started with --dry-run: nothing is written.")
    } else if state.is_writing() {
        Some("One moment: files are being written.")
    } else {
        None
    };
    if let Some(refusal) = refusal {
        state.message = Message::Notice(refusal.to_owned());
        return Vec::new();
    }
    state.message = Message::None;
    let sent = calls.iter().map(|call| state.send(call.clone()));
    sent.collect::<Vec<_>>().into_iter().flatten().collect()
}

fn roll_back(state: &mut State) -> Vec<Effect> {
    let selected = state.page_of(Tab::History).item().cloned();
    match selected.filter(|item| state.tab == Tab::History && !item.is_warning()) {
        Some(snapshot) => ask_first(state, &[Call::TryRollback(snapshot.key)]),
        None => {
            state.message =
                Message::Notice("Select a snapshot in History (3), then press b.".to_owned());
            Vec::new()
        }
    }
}

fn on_answer(state: &mut State, question: Question, key: Key) -> Vec<Effect> {
    match question.clone().answer(key) {
        Verdict::Go(call) => {
            state.leaving = false;
            return state.send(call).into_iter().collect();
        }
        Verdict::Ask(next) => state.question = Some(next),
        Verdict::No => state.message = Message::Notice("Nothing was changed.".to_owned()),
        Verdict::Unclear => state.question = Some(question),
    }
    Vec::new()
}

fn on_reply(state: &mut State, call: &Call, reply: Reply) -> Vec<Effect> {
    match reply {
        Reply::Listing(listing) => {
            if let Some(tab) = tab_of(call) {
                state.page_of_mut(tab).replace(listing);
            }
            let last = state.detail().lines().count().saturating_sub(1);
            state.pane.line = state.pane.line.min(last);
        }
        Reply::Details(text) => {
            if let Call::Details(id) = call {
                state.page_of_mut(Tab::History).listing.fill(id, text);
            }
        }
        Reply::Question(question) => {
            state.help = false;
            state.question = Some(question);
        }
        Reply::Done(sentence) => {
            state.message = Message::Notice(sentence);
            return refresh(state);
        }
    }
    Vec::new()
}

const fn tab_of(call: &Call) -> Option<Tab> {
    match call {
        Call::Plan => Some(Tab::Plan),
        Call::Drift => Some(Tab::Drift),
        Call::History => Some(Tab::History),
        _ => None,
    }
}

/// Fetches the text of the selected item if it is shown and not there yet.
fn read_selected(state: &mut State) -> Option<Effect> {
    if !state.pane.open {
        return None;
    }
    let item = state.page().item()?;
    if item.detail != Detail::Unread {
        return None;
    }
    let call = Call::Details(item.key.clone());
    state.send(call)
}

#[cfg(test)]
#[path = "update_tests.rs"]
mod tests;
