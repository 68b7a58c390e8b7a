//! What to do about a failure, in the words of the command line: operations name arguments, people
//! and scripts here type flags.

use windlass_types::{Problem, RunId, code};

/// The same failure with what to do next as one would type it.
pub(super) fn advised(problem: Problem) -> Problem {
    let message = problem.message().replace("confirm=true", "--yes");
    let mut advised = Problem::new(problem.code(), message);
    for (key, value) in problem.details() {
        // The engine's spelling of what the contract calls runId.
        if key != "run_id" || !problem.details().contains_key("runId") {
            advised = advised.with(key, value.clone());
        }
    }
    let mut actions: Vec<String> = problem.next_actions().iter().map(|it| typed(it)).collect();
    let details = problem.details();
    let has_token = details.contains_key("confirmToken");
    match problem.code() {
        code if code == &code::CONFIRM_REQUIRED
            && details.get("reason") != Some(&"declined".into()) =>
        {
            let flags = if has_token {
                "--yes --confirm-token TOKEN"
            } else {
                "--yes"
            };
            if !actions.iter().any(|action| action.contains("--yes")) {
                actions.push(format!("repeat the command with {flags}"));
            }
        }
        code if code == &code::APPROVAL_REQUIRED => {
            let run = details.get("runId").and_then(|id| id.as_str());
            if let Some(run) = run.and_then(|id| id.parse::<RunId>().ok()) {
                let approve = format!("windlass runs approve {run}");
                if !actions.contains(&approve) {
                    actions.push(approve);
                }
            }
        }
        _ => {}
    }
    // The token itself, so that the line can be typed.
    let token = details.get("confirmToken").and_then(|token| token.as_str());
    let token = token.unwrap_or("TOKEN");
    actions
        .into_iter()
        .map(|action| action.replace("--confirm-token TOKEN", &format!("--confirm-token {token}")))
        .fold(advised, Problem::next)
}

/// Arguments as flags: `repeat with confirm=true` as `repeat with --yes`.
fn typed(action: &str) -> String {
    let Some(start) = action.find("repeat with ") else {
        return action.to_owned();
    };
    let (before, words) = action.split_at(start + "repeat with ".len());
    let is_name = |word: &str| word.bytes().all(|letter| letter.is_ascii_alphanumeric());
    if is_name(words) {
        return format!("{before}{}", kebab_flag(words));
    }
    let words: Vec<String> = words.split(' ').map(flag).collect();
    format!("{before}{}", words.join(" "))
}

/// A word that names an argument as its flag; any other as it is.
fn flag(word: &str) -> String {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    let is_camel = name.chars().all(|letter| letter.is_ascii_alphanumeric())
        && name.chars().any(|letter| letter.is_ascii_uppercase())
        && name.starts_with(|letter: char| letter.is_ascii_lowercase());
    match (name, value) {
        ("confirm", "true") | ("confirmToken", _) => kebab_flag(name),
        _ if !value.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric()) => {
            format!("{} {value}", kebab(name))
        }
        _ if is_camel => kebab(name),
        _ => word.to_owned(),
    }
}

/// The flag of an argument, with a value where it is no use without one.
fn kebab_flag(name: &str) -> String {
    match name {
        "confirm" => "--yes".to_owned(),
        "confirmToken" => "--confirm-token TOKEN".to_owned(),
        _ => kebab(name),
    }
}

fn kebab(name: &str) -> String {
    let mut flag = "--".to_owned();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            flag.push('-');
        }
        flag.push(letter.to_ascii_lowercase());
    }
    flag
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_become_flags() {
        for (action, expected) in [
            ("repeat with confirm=true", "repeat with --yes"),
            (
                "repeat with confirmToken",
                "repeat with --confirm-token TOKEN",
            ),
            ("repeat with sql", "repeat with --sql"),
            ("repeat with resourceName", "repeat with --resource-name"),
            (
                "repeat with cursor=nextCursor for more",
                "repeat with --cursor nextCursor for more",
            ),
            (
                "narrow the question, or repeat with a longer timeoutSeconds",
                "narrow the question, or repeat with a longer --timeout-seconds",
            ),
            ("windlass runs list", "windlass runs list"),
            (
                "repeat with a larger limit, or narrow the query",
                "repeat with a larger limit, or narrow the query",
            ),
        ] {
            assert_eq!(typed(action), expected);
        }
    }

    #[test]
    fn a_missing_yes_is_named() {
        let bare = Problem::new(&code::CONFIRM_REQUIRED, "Deleting shop-dev");
        let planned = bare.clone().with("confirmToken", "ct_1");
        let approval = Problem::new(&code::APPROVAL_REQUIRED, "waits").with("runId", "run_1");
        assert_eq!(
            advised(bare).next_actions(),
            ["repeat the command with --yes"]
        );
        assert_eq!(
            advised(planned).next_actions(),
            ["repeat the command with --yes --confirm-token ct_1"]
        );
        assert_eq!(
            advised(approval).next_actions(),
            ["windlass runs approve run_1"]
        );
    }
}
