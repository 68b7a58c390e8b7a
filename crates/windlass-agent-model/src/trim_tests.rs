//! Conversations that grow beyond their window.

use proptest::prelude::*;

use super::*;
use crate::{
    generated::{actions, call, conversation, result, shown},
    sanitise, validate,
};

const WINDOW: Window = Window {
    context: 6_000,
    reserved_output: 900,
};

fn long_conversation(turns: usize) -> Vec<Message> {
    let mut messages = vec![Message::system("rules"), Message::user("the task")];
    for turn in 0..turns {
        messages.push(call(&"word ".repeat(40), &[&turn.to_string()]));
        messages.push(result(&turn.to_string(), &"line\n".repeat(60)));
    }
    messages
}

fn reduced(messages: Vec<Message>, state: TrimState) -> Reduced {
    reduce(messages, 0, WINDOW, Estimate::default(), state, false)
}

#[test]
fn nothing_is_cut_before_it_is_needed() {
    let messages = long_conversation(3);
    let reduced = reduced(messages.clone(), TrimState::default());
    assert_eq!(reduced.messages, messages);
    assert_eq!(reduced.state, TrimState::default());
}

#[test]
fn old_text_goes_first_and_the_structure_stays() {
    let reduced = reduced(long_conversation(30), TrimState::default());
    assert!(reduced.fits, "{} tokens", reduced.tokens);
    assert!(reduced.tokens <= share(WINDOW.threshold(), AFTER_CUT));
    validate(&reduced.messages).unwrap();
    let text = shown(&reduced.messages);
    assert!(
        text.starts_with("S:rules U:the task A:[trimmed]+0 T:0=[trimmed]"),
        "{text}"
    );
    assert!(text.ends_with("line\n"), "the newest results are whole");
    assert_eq!(reduced.state.trim_stage, 1);
}

#[test]
fn the_beginning_rests_for_many_turns() {
    let mut state = TrimState::default();
    let mut moved = 0;
    let mut last: Vec<Message> = Vec::new();
    for turns in 1..45 {
        let reduced = reduced(long_conversation(turns), state);
        let boundary = reduced.state.trimmed_up_to_message_index;
        assert!(boundary >= state.trimmed_up_to_message_index);
        if reduced.state == state {
            let stable = last.len();
            assert_eq!(reduced.messages[..stable], last[..stable], "{turns}");
        } else {
            moved += 1;
        }
        state = reduced.state;
        last = reduced.messages;
    }
    assert!(moved <= 8, "the boundary moved in {moved} of 44 turns");
}

#[test]
fn long_arguments_and_questions_go_in_the_second_stage() {
    let arguments = format!("{{\"path\":\"a\",\"file_text\":\"{}\"}}", "x".repeat(3_000));
    let mut messages = vec![Message::user("task")];
    for turn in 0..6 {
        let id = turn.to_string();
        let mut call = call("", &[&id]);
        if let Part::ToolCall(call) = &mut call.parts[0] {
            call.arguments.clone_from(&arguments);
        }
        messages.push(call);
        messages.push(result(&id, "ok"));
        messages.push(Message::user("y".repeat(5_000)));
        messages.push(Message::assistant("fine"));
    }
    messages.push(Message::user("and now?"));
    let reduced = reduced(messages, TrimState::default());
    assert_eq!(reduced.state.trim_stage, 2);
    validate(&reduced.messages).unwrap();
    let first_call = reduced.messages[1].tool_calls().next().unwrap();
    assert_eq!(
        first_call.arguments,
        r#"{"file_text":"[trimmed]","path":"a"}"#
    );
    assert_eq!(reduced.messages[0].text(), "task");
    assert_eq!(reduced.messages.last().unwrap().text(), "and now?");
    let cut = reduced.messages[3].text();
    assert!(cut.len() < 600 && cut.ends_with(TRIMMED), "{cut}");
}

#[test]
fn a_forced_cut_makes_it_smaller_or_says_that_it_cannot() {
    let messages = long_conversation(28);
    let free = reduced(messages.clone(), TrimState::default());
    let forced = reduce(messages, 0, WINDOW, Estimate::default(), free.state, true);
    assert!(forced.tokens < free.tokens);
    let hopeless = vec![Message::user("z".repeat(100_000))];
    assert!(!reduced(hopeless, TrimState::default()).fits);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn whatever_happened_can_be_sent(script in actions()) {
        let mut state = TrimState::default();
        let history = conversation(&script);
        // Every point at which a request is made.
        for end in 1..=history.len() {
            let mut messages = sanitise(history[..end].to_vec());
            if messages.last().is_none_or(|last| last.role == Role::Assistant) {
                messages.push(Message::user("go on"));
            }
            if messages.first().is_some_and(|first| first.role != Role::User) {
                messages.insert(0, Message::user("start"));
            }
            let window = Window { context: 400, reserved_output: 50 };
            let reduced = reduce(messages, 0, window, Estimate::default(), state, false);
            prop_assert!(validate(&reduced.messages).is_ok(), "{:?}: {}", validate(&reduced.messages), shown(&reduced.messages));
            prop_assert!(reduced.state.trimmed_up_to_message_index >= state.trimmed_up_to_message_index);
            prop_assert!(reduced.tokens <= reduced.before);
            state = reduced.state;
        }
    }

    #[test]
    fn the_same_state_cuts_the_same_bytes(script in actions()) {
        let messages = sanitise(conversation(&script));
        let whole = merge(messages);
        let state = TrimState { trimmed_up_to_message_index: whole.len() / 2, trim_stage: 2 };
        let once = apply(&whole, state);
        let mut longer = whole.clone();
        longer.push(Message::assistant("more"));
        longer.push(Message::user("and more"));
        let again = apply(&longer, state);
        // The last question of the shorter one may be cut once another follows.
        let last = whole.iter().rposition(|message| message.role == Role::User);
        for (at, message) in once.iter().enumerate() {
            if Some(at) != last {
                prop_assert_eq!(message, &again[at]);
            }
        }
    }
}
