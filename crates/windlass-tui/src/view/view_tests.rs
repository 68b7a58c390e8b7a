//! Frames, as text.

use ratatui::{Terminal, backend::TestBackend, buffer::Buffer, style::Color};
use serde_json::Value;

use super::*;
use crate::{
    event::{Call, Event, Fault, Key, Reply},
    question::{Ask, Question, Unmanaged},
    read::{self, tests as answers},
    update::{start, update},
};

fn buffer(state: &State) -> Buffer {
    let (columns, rows) = state.size;
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    terminal.draw(|frame| view(frame, state)).unwrap();
    terminal.backend().buffer().clone()
}

/// The frame, line by line, without the blanks at the end.
fn drawn(state: &State) -> String {
    let buffer = buffer(state);
    let mut text = String::new();
    for row in 0..buffer.area.height {
        let cells = (0..buffer.area.width).map(|column| buffer[(column, row)].symbol());
        text.push_str(cells.collect::<String>().trim_end());
        text.push('\n');
    }
    text
}

fn screen(columns: u16, rows: u16) -> State {
    let mut state = State {
        program: "windlass pack".to_owned(),
        colour: true,
        size: (columns, rows),
        ..State::default()
    };
    start(&mut state);
    state
}

fn answered(state: &mut State, call: Call, data: &Value) {
    let reply = read::reply(&call, data, &answers::short()).unwrap();
    update(state, Event::Answered(call, Ok(reply)));
}

/// Everything was read.
fn ready(columns: u16, rows: u16) -> State {
    let mut state = screen(columns, rows);
    answered(&mut state, Call::Plan, &answers::preview());
    answered(&mut state, Call::Drift, &answers::status());
    answered(&mut state, Call::History, &answers::snapshots());
    state
}

fn press(state: &mut State, keys: &[Key]) {
    for key in keys {
        update(state, Event::Key(*key));
    }
}

fn missing() -> Fault {
    Fault {
        code: "E_CONFIG_MISSING".to_owned(),
        message: "there is no agentpack.yaml in ~/.agentpack/repo".to_owned(),
        next: vec![
            "windlass pack init".to_owned(),
            "pass the repository with --repo DIR".to_owned(),
        ],
    }
}

fn adoption() -> Question {
    let unmanaged = Unmanaged {
        path: "/home/ada/.codex/prompts/mine.md".to_owned(),
        shown: "~/.codex/prompts/mine.md".to_owned(),
    };
    let apply = Question {
        title: "Apply 5 changes?".to_owned(),
        lines: vec![
            "1 to create, 3 to update, 1 to delete".to_owned(),
            "1 file not written by pack; asked about next".to_owned(),
        ],
        ask: Ask::Apply {
            unmanaged: vec![unmanaged],
        },
    };
    let mut state = State {
        question: Some(apply),
        ..State::default()
    };
    press(&mut state, &[Key::Char('y')]);
    state.question.unwrap()
}

#[test]
fn before_anything_is_read() {
    insta::assert_snapshot!(drawn(&screen(70, 8)), @"
    windlass pack   1 Plan  2 Drift  3 History   ⠋ planning

     Looking…




    enter diff  a apply  u undo  r refresh  ? help  q quit
    ");
}

#[test]
fn nothing_to_change() {
    let mut state = screen(70, 8);
    for (call, data) in [
        (Call::Plan, "{\"plan\":{\"changes\":[]}}"),
        (Call::Drift, "{\"drift\":[]}"),
        (Call::History, "{\"snapshots\":[]}"),
    ] {
        answered(&mut state, call, &serde_json::from_str(data).unwrap());
    }
    insta::assert_snapshot!(drawn(&state), @"
    windlass pack   1 Plan  2 Drift  3 History

     Nothing to change: every target is as the repository says.




    enter diff  a apply  u undo  r refresh  ? help  q quit
    ");
}

#[test]
fn a_plan_with_changes() {
    insta::assert_snapshot!(drawn(&ready(80, 16)), @"
    windlass pack   1 Plan  2 Drift  3 History
    1 to create, 3 to update, 1 to delete; 1 file not written by pack (!)
    claude_code  project
    >- .claude/commands/old.md  no longer managed
    codex  .codex/skills
     ~ x/run.sh  mode 0644 → 0755
    codex  ~/.codex
     + AGENTS.md
     ~ config.toml  create /mcp_servers/git
    codex  ~/.codex/prompts
     ! mine.md  would overwrite unmanaged existing file



    warning: unknown key `profile`
    enter diff  a apply  u undo  r refresh  ? help  q quit
    ");
}

#[test]
fn a_diff_next_to_the_list() {
    let mut state = ready(110, 14);
    press(&mut state, &[Key::Down, Key::Down, Key::Enter]);
    insta::assert_snapshot!(drawn(&state), @"
    windlass pack   1 Plan  2 Drift  3 History
    1 to create, 3 to update, 1 to delete; 1 file not written by pack (!)
    claude_code  project                       ┌ AGENTS.md ──────────────────────────────────────────────────────
     - .claude/commands/old.md  no longer manag│--- /dev/null
    codex  .codex/skills                       │+++ b/AGENTS.md
     ~ x/run.sh  mode 0644 → 0755              │@@ -0,0 +1,2 @@
    codex  ~/.codex                            │+# Base
    >+ AGENTS.md                               │+    Be brief.
     ~ config.toml  create /mcp_servers/git    │
    codex  ~/.codex/prompts                    │
     ! mine.md  would overwrite unmanaged exist│
                                               │
    warning: unknown key `profile`
    enter diff  a apply  u undo  r refresh  ? help  q quit
    ");
}

#[test]
fn drift() {
    let mut state = ready(80, 14);
    press(&mut state, &[Key::Char('2')]);
    insta::assert_snapshot!(drawn(&state), @"
    windlass pack   1 Plan  2 Drift  3 History
    2 modified, 1 missing, 1 extra
    claude_code  ~/.claude/commands
    >? x�[2J.md  extra
    codex  ~/.codex
     - AGENTS.md  missing; not deployed yet
     ~ run.sh  modified; mode 0644, should be 0755
    codex  ~/.codex/prompts
     ~ mine.md  modified




    enter diff  a apply  r refresh  ? help  q quit
    ");
}

#[test]
fn history_with_details() {
    let mut state = ready(90, 16);
    press(&mut state, &[Key::Char('3'), Key::Down, Key::Enter]);
    let call = Call::Details("1700000000000000001".to_owned());
    let reply = Reply::Details(
        "snapshot    1700000000000000001\nkind        deploy\n\n+ ~/.codex/AGENTS.md\n".to_owned(),
    );
    update(&mut state, Event::Answered(call, Ok(reply)));
    insta::assert_snapshot!(drawn(&state), @"
     windlass pack   1 Plan  2 Drift  3 History
     2 snapshots
      * 2026-01-02 03:04  rollback   1700000000000000002  1 updated, 3 deleted; codex; in forc
     >  2026-01-01 03:04  deploy     1700000000000000001  5 created; claude_code, codex



     2026-01-01 03:04  deploy     1700000000000000001 ────────────────────────────────────────
    snapshot    1700000000000000001
    kind        deploy

    + ~/.codex/AGENTS.md



     enter details  b roll back  u undo  r refresh  ? help  q quit
    ");
}

#[test]
fn a_question() {
    let mut state = ready(80, 16);
    state.question = Some(adoption());
    insta::assert_snapshot!(drawn(&state), @"
    windlass pack   1 Plan  2 Drift  3 History
    1 to create, 3 to update, 1 to delete; 1 file not written by pack (!)
    claude_code  project
    >- .claude/commands/old.md  no longer managed
    codex  .codex/skills
     ~ x/run.sh  mo┌ Replace 1 file that pack did not write? ─────┐
    codex  ~/.codex│ ! ~/.codex/prompts/mine.md                   │
     + AGENTS.md   │ Their contents are kept; undo restores them. │
     ~ config.toml │                                              │
    codex  ~/.codex│ y replace   s leave them out   N cancel      │
     ! mine.md  wou└──────────────────────────────────────────────┘



    warning: unknown key `profile`
    enter diff  a apply  u undo  r refresh  ? help  q quit
    ");
}

#[test]
fn a_failure_says_what_to_do() {
    let mut state = screen(80, 12);
    for call in [Call::Plan, Call::Drift] {
        update(&mut state, Event::Answered(call, Err(missing())));
    }
    insta::assert_snapshot!(drawn(&state), @"
    windlass pack   1 Plan  2 Drift  3 History   ⠋ reading history

     This could not be read; the reason is below. r tries again.





    E_CONFIG_MISSING: there is no agentpack.yaml in ~/.agentpack/repo
    → windlass pack init
    → pass the repository with --repo DIR
    enter diff  a apply  u undo  r refresh  ? help  q quit
    ");
}

#[test]
fn the_keys() {
    let mut state = ready(80, 18);
    press(&mut state, &[Key::Char('?')]);
    insta::assert_snapshot!(drawn(&state), @"
    windlass pack   1 Plan  2 Drift  3 History
    ┌ Keys ─────────────────────────────────────────────────────────────────────┐
    │ tab 1 2 3     plan, drift, history                                        │
    │ ↑ ↓ j k       move                                                        │
    │ enter         show or hide the diff or the details                        │
    │ pgup pgdn g G scroll the list, or the diff where it is shown              │
    │ ← → h l       scroll the diff sideways                                    │
    │ r             look again                                                  │
    │ a             apply the plan; asks first                                  │
    │ u             undo the newest event; asks first                           │
    │ b             roll back to the selected snapshot; asks first              │
    │ esc           dismiss a message, close the diff                           │
    │ q             quit                                                        │
    │                                                                           │
    │ plan   + create   ~ update   - delete   ! in the way, not written by pack │
    │ drift  ~ modified   - missing   ? extra                                   │
    └───────────────────────────────────────────────────────────────────────────┘
    enter diff  a apply  u undo  r refresh  ? help  q quit
    ");
}

#[test]
fn a_narrow_terminal_has_the_diff_below() {
    let mut state = ready(60, 15);
    press(&mut state, &[Key::Down, Key::Enter]);
    insta::assert_snapshot!(drawn(&state), @"
     windlass pack   1 Plan  2 Drift  3 History
     1 to create, 3 to update, 1 to delete; 1 file not written b
      - .claude/commands/old.md  no longer managed
     codex  .codex/skills
     >~ x/run.sh  mode 0644 → 0755
     codex  ~/.codex
     x/run.sh ──────────────────────────────────────────────────
    mode 0644 → 0755





     warning: unknown key `profile`
     enter diff  a apply  u undo  r refresh  ? help  q quit
    ");
}

#[test]
fn a_narrow_terminal_keeps_the_answers_of_a_question() {
    let mut state = ready(60, 15);
    let mut question = adoption();
    let many = (0..30).map(|index| format!("! ~/.codex/prompts/{index}.md"));
    question.lines = many.collect();
    state.question = Some(question);
    assert!(drawn(&state).contains("y replace   s leave them out   N cancel"));
}

#[test]
fn any_size_can_be_drawn() {
    let mut states = vec![screen(1, 1), ready(1, 1)];
    for keys in [&[Key::Enter][..], &[Key::Char('?')], &[Key::Char('3')]] {
        let mut state = ready(1, 1);
        press(&mut state, keys);
        states.push(state);
    }
    let mut state = ready(1, 1);
    state.question = Some(adoption());
    state.message = crate::state::Message::Fault(missing());
    states.push(state);
    for mut state in states {
        for size in (1..12).flat_map(|columns| (1..12).map(move |rows| (columns * 3, rows))) {
            state.size = size;
            drawn(&state);
        }
    }
}

#[test]
fn long_lists_keep_the_selection_in_sight() {
    let changes: Vec<Value> = (0..500)
        .map(|index| serde_json::json!({ "target": "codex", "op": "create", "path": format!("/r/{index:03}.md") }))
        .collect();
    let mut state = screen(60, 12);
    let data = serde_json::json!({ "plan": { "changes": changes } });
    answered(&mut state, Call::Plan, &data);
    for (keys, expected) in [
        (&[Key::End][..], ">+ 499.md"),
        (&[Key::PageUp], ">+ 493.md"),
        (&[Key::Home], ">+ 000.md"),
        (&[Key::Down], ">+ 001.md"),
    ] {
        press(&mut state, keys);
        assert!(drawn(&state).contains(expected), "{expected}");
    }
}

#[test]
fn no_colours_where_none_are_wanted() {
    let coloured = |colour| {
        let mut state = ready(80, 16);
        state.colour = colour;
        press(&mut state, &[Key::Down, Key::Enter]);
        let buffer = buffer(&state);
        let cells = buffer.content.iter();
        cells
            .filter(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset)
            .count()
    };
    assert!(coloured(true) > 0);
    assert_eq!(coloured(false), 0);
}
