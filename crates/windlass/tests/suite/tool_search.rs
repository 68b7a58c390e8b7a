//! The search of the lean tool list: whether the right tool is found by what people ask for.

use serde::Deserialize;
use serde_json::{Value, json};

use super::support::{binary::windlass, home::Place, mcp::Session};

/// Of the questions, how many have a right tool among the first three.
const HIT_AT_3: f64 = 0.95;
/// Slightly below what was measured, so that a change for the worse is seen.
const HIT_AT_1: f64 = 0.80;

#[derive(Deserialize)]
struct Set {
    questions: Vec<Vec<String>>,
    unrelated: Vec<String>,
}

fn search(lean: &mut Session, query: &str) -> Value {
    lean.ask_tool("search", &json!({ "query": query }));
    lean.answer()["result"]["structuredContent"].clone()
}

fn names(lean: &mut Session, query: &str) -> Vec<String> {
    let found = search(lean, query);
    let tools = found["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["tool"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_right_tool_is_among_the_first_three() {
    let set: Set = toml::from_str(include_str!("tool_questions.toml")).unwrap();
    assert!(set.questions.len() >= 60, "{}", set.questions.len());
    let place = Place::new();
    let mut command = windlass(&place.home());
    command.args(["mcp", "serve", "--tools", "lean"]);
    let mut lean = Session::of(command);
    let instructions = lean.greeting["result"]["instructions"].as_str().unwrap();
    let order =
        ["search with", "describe the", "then call"].map(|word| instructions.find(word).unwrap());
    assert!(order.is_sorted(), "{instructions}");

    let known = names(&mut lean, "");
    let (mut first, mut three, mut misses) = (0_u32, 0_u32, Vec::new());
    for entry in &set.questions {
        let (question, expected) = entry.split_first().unwrap();
        for tool in expected {
            assert!(known.contains(tool), "{tool} of {question:?} is no tool");
        }
        let found = names(&mut lean, question);
        let rank = found.iter().position(|tool| expected.contains(tool));
        first += u32::from(rank == Some(0));
        three += u32::from(rank.is_some_and(|rank| rank < 3));
        if rank != Some(0) {
            let best = &found[..found.len().min(3)];
            misses.push(format!("{question}: {rank:?}, found {best:?}"));
        }
    }
    let asked = set.questions.len() as f64;
    let (hit_1, hit_3) = (f64::from(first) / asked, f64::from(three) / asked);
    println!("hit@1 {hit_1:.3}, hit@3 {hit_3:.3}\n{}", misses.join("\n"));
    assert!(
        hit_3 >= HIT_AT_3 && hit_1 >= HIT_AT_1,
        "{}",
        misses.join("\n")
    );
    let undo = names(&mut lean, "undo the last deployment");
    assert!(undo[0].contains("rollback"), "{undo:?}");
    for question in &set.unrelated {
        assert_eq!(search(&mut lean, question)["total"], 0, "{question}");
    }
}
