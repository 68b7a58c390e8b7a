//! The terminal: drawing, the keyboard, and giving it back as it was, however the screen ends.

use std::{io, pin::pin, time::Duration};

use crossterm::event::{
    Event as Input, EventStream, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};
use futures::StreamExt as _;
use ratatui::DefaultTerminal;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use windlass_engine::operation::Catalogue;
use windlass_types::Problem;

use crate::{
    Options, calls,
    event::{Call, Effect, Event, Key},
    state::State,
    update::{start, update},
    view::view,
};

/// How often the sign of work moves.
const MOVE: Duration = Duration::from_millis(120);

/// Shows the screen until the user leaves it or `shutdown` arrives.
pub async fn run(
    catalogue: Catalogue,
    options: Options,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Problem> {
    let (calls, incoming) = unbounded_channel();
    let (outgoing, mut events) = unbounded_channel();
    let mut state = State {
        program: options.program.clone(),
        colour: options.colour,
        read_only: options.read_only,
        ..State::default()
    };
    let worker = tokio::spawn(calls::make(catalogue, options, incoming, outgoing));
    let outcome = {
        let mut terminal = Terminal::open().map_err(|error| failed(&error))?;
        let mut inputs = EventStream::new();
        let mut shutdown = pin!(shutdown);
        if let Ok(size) = terminal.0.size() {
            update(&mut state, Event::Resized(size.width, size.height));
        }
        let mut effects = start(&mut state);
        loop {
            if carry_out(effects, &calls) {
                break Ok(());
            }
            if let Err(error) = terminal.0.draw(|frame| view(frame, &state)) {
                break Err(failed(&error));
            }
            let event = tokio::select! {
                () = &mut shutdown => break Ok(()),
                input = inputs.next() => match input {
                    Some(Ok(input)) => understood(&input),
                    Some(Err(error)) => break Err(failed(&error)),
                    // The terminal is gone.
                    None => break Ok(()),
                },
                event = events.recv() => match event {
                    Some(event) => Some(event),
                    None => break Err(Problem::internal("screen", "calls are no longer made")),
                },
                () = tokio::time::sleep(MOVE), if !state.underway.is_empty() => Some(Event::Tick),
            };
            effects = event.map_or_else(Vec::new, |event| update(&mut state, event));
        }
    };
    // The terminal is a terminal again; now whatever is in progress comes to its end.
    drop((calls, events));
    worker
        .await
        .map_err(|error| Problem::internal("screen", error))?;
    outcome
}

/// Says whether the screen is to be left.
fn carry_out(effects: Vec<Effect>, calls: &UnboundedSender<Call>) -> bool {
    for effect in effects {
        match effect {
            Effect::Quit => return true,
            // Where nobody takes calls any more, the closed channel of events says so.
            Effect::Call(call) => drop(calls.send(call)),
        }
    }
    false
}

fn understood(input: &Input) -> Option<Event> {
    match input {
        Input::Key(key) if key.kind != KeyEventKind::Release => key_of(key).map(Event::Key),
        Input::Resize(columns, rows) => Some(Event::Resized(*columns, *rows)),
        _ => None,
    }
}

fn key_of(key: &KeyEvent) -> Option<Key> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return (key.code == KeyCode::Char('c')).then_some(Key::Interrupt);
    }
    if key.modifiers.contains(KeyModifiers::ALT) {
        return None;
    }
    Some(match key.code {
        KeyCode::Char(character) => Key::Char(character),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        _ => return None,
    })
}

/// The terminal while it is ours. Given back when dropped; a panic gives it back before it is
/// reported.
struct Terminal(DefaultTerminal);

impl Terminal {
    fn open() -> io::Result<Self> {
        match ratatui::try_init() {
            Ok(terminal) => Ok(Self(terminal)),
            Err(error) => {
                // Some of it may have been done.
                let _ = ratatui::try_restore();
                Err(error)
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = self.0.show_cursor();
        let _ = ratatui::try_restore();
    }
}

fn failed(error: &io::Error) -> Problem {
    Problem::internal("terminal", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_understood() {
        let plain = KeyModifiers::NONE;
        for (code, modifiers, expected) in [
            (KeyCode::Char('a'), plain, Some(Key::Char('a'))),
            (
                KeyCode::Char('G'),
                KeyModifiers::SHIFT,
                Some(Key::Char('G')),
            ),
            (
                KeyCode::Char('c'),
                KeyModifiers::CONTROL,
                Some(Key::Interrupt),
            ),
            // Never taken for the key that applies.
            (KeyCode::Char('a'), KeyModifiers::CONTROL, None),
            (KeyCode::Char('y'), KeyModifiers::ALT, None),
            (KeyCode::Esc, plain, Some(Key::Escape)),
            (KeyCode::F(1), plain, None),
        ] {
            let event = KeyEvent::new(code, modifiers);
            assert_eq!(key_of(&event), expected, "{event:?}");
            let released = KeyEvent {
                kind: KeyEventKind::Release,
                ..event
            };
            assert_eq!(understood(&Input::Key(released)), None);
        }
        assert_eq!(
            understood(&Input::Resize(80, 24)),
            Some(Event::Resized(80, 24))
        );
    }
}
