//! Keys and answers, as tables: what is asked for, and what the screen then knows.

use super::*;
use crate::{
    event::{Adopt, Fault},
    listing::{Item, Listing, Row},
    question::{Ask, Unmanaged},
};

fn listing(keys: &[&str], detail: &Detail) -> Listing {
    let mut rows = vec![Row::Heading {
        name: "codex".to_owned(),
        place: "~/.codex".to_owned(),
    }];
    rows.extend(keys.iter().map(|key| {
        Row::Item(Item {
            key: (*key).to_owned(),
            detail: detail.clone(),
            ..Item::default()
        })
    }));
    Listing::new(rows, String::new(), Vec::new())
}

fn text(lines: usize) -> Detail {
    Detail::Text("line\n".repeat(lines))
}

/// Three files planned, one of them drifted too, two snapshots; everything read.
fn ready() -> State {
    let mut state = State {
        size: (80, 24),
        ..State::default()
    };
    let pages = [
        (Tab::Plan, listing(&["a", "b", "c"], &text(100))),
        (Tab::Drift, listing(&["b", "x"], &Detail::AsPlanned("none"))),
        (Tab::History, listing(&["2", "1"], &Detail::Unread)),
    ];
    for (tab, listing) in pages {
        state.page_of_mut(tab).replace(listing);
    }
    state
}

fn press(state: &mut State, keys: &[Key]) -> Vec<Effect> {
    let keys = keys.iter();
    keys.flat_map(|key| update(state, Event::Key(*key)))
        .collect()
}

fn answer(state: &mut State, call: Call, reply: Reply) -> Vec<Effect> {
    update(state, Event::Answered(call, Ok(reply)))
}

fn calls(calls: &[Call]) -> Vec<Effect> {
    calls.iter().cloned().map(Effect::Call).collect()
}

fn fault() -> Fault {
    Fault {
        code: "E_CONFIG_MISSING".to_owned(),
        message: "no agentpack.yaml".to_owned(),
        next: vec!["windlass pack init".to_owned()],
    }
}

fn question(ask: Ask) -> Reply {
    Reply::Question(Question {
        title: "Do it?".to_owned(),
        lines: Vec::new(),
        ask,
    })
}

const REFRESH: [Call; 3] = [Call::Plan, Call::Drift, Call::History];

#[test]
fn moving() {
    use Key::{Down, End, Enter, Home, PageDown, PageUp, Up};
    // The keys, then tab, selected item, and whether the pane is open and at which line.
    type Case = (&'static [Key], Tab, usize, (bool, usize));
    let cases: &[Case] = &[
        (&[Down, Down], Tab::Plan, 2, (false, 0)),
        (&[Down, Down, Down, Down], Tab::Plan, 2, (false, 0)),
        (&[Down, Up, Up], Tab::Plan, 0, (false, 0)),
        (
            &[Key::Char('j'), Key::Char('j'), Key::Char('k')],
            Tab::Plan,
            1,
            (false, 0),
        ),
        (&[End], Tab::Plan, 2, (false, 0)),
        (&[Key::Char('G'), Key::Char('g')], Tab::Plan, 0, (false, 0)),
        (&[PageDown, PageUp], Tab::Plan, 0, (false, 0)),
        (&[Key::Tab], Tab::Drift, 0, (false, 0)),
        (&[Key::BackTab], Tab::History, 0, (false, 0)),
        (&[Key::Tab, Key::Tab, Key::Tab], Tab::Plan, 0, (false, 0)),
        (
            &[Key::Char('3'), Key::Char('2'), Key::Char('1')],
            Tab::Plan,
            0,
            (false, 0),
        ),
        (&[Enter], Tab::Plan, 0, (true, 0)),
        (&[Enter, Enter], Tab::Plan, 0, (false, 0)),
        (&[Enter, PageDown], Tab::Plan, 0, (true, 12)),
        (&[Enter, End], Tab::Plan, 0, (true, 99)),
        (&[Enter, End, PageUp], Tab::Plan, 0, (true, 87)),
        (&[Enter, End, Home], Tab::Plan, 0, (true, 0)),
        // Another file is read from its beginning.
        (&[Enter, PageDown, Down], Tab::Plan, 1, (true, 0)),
        (&[Enter, PageDown, Key::Tab], Tab::Drift, 0, (true, 0)),
        (&[Enter, Key::Escape], Tab::Plan, 0, (false, 0)),
    ];
    for (keys, tab, selected, pane) in cases {
        let mut state = ready();
        assert_eq!(press(&mut state, keys), vec![], "{keys:?}");
        let found = (state.tab, state.page().selected);
        assert_eq!(found, (*tab, *selected), "{keys:?}");
        assert_eq!((state.pane.open, state.pane.line), *pane, "{keys:?}");
    }
}

#[test]
fn keys_that_ask_for_something() {
    let third = Key::Char('3');
    let cases: &[(&[Key], Vec<Effect>)] = &[
        (&[Key::Char('q')], vec![Effect::Quit]),
        (&[Key::Interrupt], vec![Effect::Quit]),
        (&[Key::Char('r')], calls(&REFRESH)),
        (&[Key::Char('r'), Key::Char('r')], calls(&REFRESH)),
        (&[Key::Char('a')], calls(&[Call::Plan, Call::TryApply])),
        (&[Key::Char('u')], calls(&[Call::TryUndo])),
        (&[Key::Char('b')], vec![]),
        (
            &[third, Key::Down, Key::Char('b')],
            calls(&[Call::TryRollback("1".to_owned())]),
        ),
        // Details are read when shown, once.
        (
            &[third, Key::Enter, Key::Down, Key::Up, Key::Up],
            calls(&[Call::Details("2".to_owned()), Call::Details("1".to_owned())]),
        ),
        (&[Key::Char('?'), Key::Char('a')], vec![]),
        (&[Key::Char('?'), Key::Char('q')], vec![]),
        (&[Key::Char('y')], vec![]),
    ];
    for (keys, expected) in cases {
        assert_eq!(&press(&mut ready(), keys), expected, "{keys:?}");
    }
}

#[test]
fn answers_to_questions() {
    let unmanaged = vec![Unmanaged {
        path: "/h/mine.md".to_owned(),
        shown: "~/mine.md".to_owned(),
    }];
    let (plain, careful) = (Ask::Apply { unmanaged: vec![] }, Ask::Apply { unmanaged });
    let (undo, back) = (Ask::Undo("2".to_owned()), Ask::Rollback("1".to_owned()));
    let (yes, no, skip) = (Key::Char('y'), Key::Char('n'), Key::Char('s'));
    let apply = |adopt| calls(&[Call::Apply(adopt)]);
    let these = Adopt::These(vec!["/h/mine.md".to_owned()]);
    // The question, the keys, what follows, and whether something is still asked.
    let cases = [
        (&plain, vec![yes], apply(Adopt::Nothing), false),
        (&plain, vec![no], vec![], false),
        (&plain, vec![Key::Enter], vec![], false),
        (&plain, vec![Key::Escape], vec![], false),
        (&plain, vec![Key::Char('q')], vec![], false),
        (&plain, vec![Key::Char('x'), skip, Key::Down], vec![], true),
        (&careful, vec![yes], vec![], true),
        (&careful, vec![yes, yes], apply(these), false),
        (&careful, vec![yes, skip], apply(Adopt::LeaveOut), false),
        (&careful, vec![yes, no], vec![], false),
        (&careful, vec![yes, Key::Enter], vec![], false),
        (
            &undo,
            vec![yes],
            calls(&[Call::Undo("2".to_owned())]),
            false,
        ),
        (&undo, vec![no], vec![], false),
        (
            &back,
            vec![yes],
            calls(&[Call::Rollback("1".to_owned())]),
            false,
        ),
        (&back, vec![Key::Interrupt], vec![Effect::Quit], true),
    ];
    for (ask, keys, expected, asks) in cases {
        let mut state = ready();
        answer(&mut state, Call::TryApply, question(ask.clone()));
        assert_eq!(press(&mut state, &keys), expected, "{ask:?} {keys:?}");
        assert_eq!(state.question.is_some(), asks, "{ask:?} {keys:?}");
    }
}

#[test]
fn a_write_is_followed_by_a_refresh() {
    let mut state = ready();
    answer(
        &mut state,
        Call::TryApply,
        question(Ask::Apply { unmanaged: vec![] }),
    );
    press(&mut state, &[Key::Char('y')]);
    assert!(state.is_writing());
    let done = Reply::Done("Applied 3 changes.".to_owned());
    let effects = answer(&mut state, Call::Apply(Adopt::Nothing), done);
    assert_eq!(effects, calls(&REFRESH));
    assert_eq!(
        state.message,
        Message::Notice("Applied 3 changes.".to_owned())
    );

    let mut state = ready();
    let failed = Event::Answered(Call::Undo("2".to_owned()), Err(fault()));
    assert_eq!(update(&mut state, failed), calls(&REFRESH));
    assert_eq!(state.message, Message::Fault(fault()));
}

#[test]
fn nothing_else_starts_while_files_are_written() {
    let mut state = ready();
    state.send(Call::Apply(Adopt::Nothing));
    for key in ['a', 'u'] {
        assert_eq!(press(&mut state, &[Key::Char(key)]), vec![]);
        assert!(matches!(state.message, Message::Notice(_)), "{key}");
    }
    assert_eq!(press(&mut state, &[Key::Char('q')]), vec![]);
    assert_eq!(press(&mut state, &[Key::Char('q')]), vec![Effect::Quit]);
}

#[test]
fn a_dry_run_never_asks() {
    for keys in [
        vec![Key::Char('a')],
        vec![Key::Char('u')],
        vec![Key::Char('3'), Key::Char('b')],
    ] {
        let mut state = ready();
        state.read_only = true;
        assert_eq!(press(&mut state, &keys), vec![]);
        let refusal = "Started with --dry-run: nothing is written.";
        assert_eq!(state.message, Message::Notice(refusal.to_owned()));
    }
}

#[test]
fn a_failure_stays_until_it_is_dismissed() {
    let mut state = ready();
    update(&mut state, Event::Answered(Call::Plan, Err(fault())));
    assert_eq!(state.page_of(Tab::Plan).load, Load::Failed);
    let read = Reply::Listing(listing(&["2"], &Detail::Unread));
    answer(&mut state, Call::History, read);
    press(&mut state, &[Key::Down]);
    assert_eq!(state.message, Message::Fault(fault()));
    press(&mut state, &[Key::Escape]);
    assert_eq!(state.message, Message::None);
}

#[test]
fn details_that_cannot_be_read_are_not_asked_for_again() {
    let mut state = ready();
    let look = [Key::Char('3'), Key::Enter];
    let asked = calls(&[Call::Details("2".to_owned())]);
    assert_eq!(press(&mut state, &look), asked);
    let failed = Event::Answered(Call::Details("2".to_owned()), Err(fault()));
    assert_eq!(update(&mut state, failed), vec![]);
    assert_eq!(update(&mut state, Event::Tick), vec![]);
    assert_eq!(state.detail(), "no agentpack.yaml");
}

#[test]
fn the_selection_stays_on_its_file() {
    // The keys after reading again, and where the selection on `c` then is.
    for (keys, position) in [
        (&["a", "b", "c"][..], 2),
        (&["c"], 0),
        (&["0", "a", "b", "c", "d"], 3),
        (&["a", "b"], 1),
        (&[], 0),
    ] {
        let mut state = ready();
        press(&mut state, &[Key::End]);
        answer(
            &mut state,
            Call::Plan,
            Reply::Listing(listing(keys, &text(1))),
        );
        assert_eq!(state.page().selected, position, "{keys:?}");
    }
}

#[test]
fn drift_shows_the_diff_of_the_plan_where_there_is_one() {
    let mut state = ready();
    press(&mut state, &[Key::Char('2')]);
    assert!(state.detail().starts_with("line\n"));
    press(&mut state, &[Key::Down]);
    assert_eq!(state.detail(), "none");
}
