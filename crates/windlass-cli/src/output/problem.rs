//! A failure for people: what happened, the particulars, what to type next.

use serde_json::Value;
use windlass_types::Problem;

use super::{
    paint::{Paint, Tone},
    text::one_line,
};

/// Details longer than this are left to `--json`.
const LONGEST_DETAIL: usize = 200;

/// The detail that has what another program said.
const OUTPUT: &str = "output";
/// How many of its lines are shown; the last ones say what was wrong.
const MOST_LINES: usize = 15;

pub(super) fn render_problem(problem: &Problem, paint: Paint) -> String {
    let mut text = format!(
        "{} {}\n",
        paint.text(Tone::Bad, "error:"),
        one_line(problem.message())
    );
    text.push_str(&format!("  code: {}\n", problem.code().name));
    for (key, value) in problem.details() {
        let shown = match value {
            Value::String(text) => text.clone(),
            Value::Null => continue,
            Value::Object(fields) if fields.is_empty() => continue,
            Value::Array(items) if are_named(items, problem.message()) => continue,
            other => other.to_string(),
        };
        if key == OUTPUT {
            text.push_str(&last_lines(&shown));
            continue;
        }
        let is_said = problem.message().contains(&shown) || problem.next_actions().contains(&shown);
        if !shown.is_empty() && shown.len() <= LONGEST_DETAIL && !is_said {
            text.push_str(&format!("  {key}: {}\n", one_line(&shown)));
        }
    }
    let hint = paint.text(Tone::Active, "hint:");
    for action in problem.next_actions() {
        text.push_str(&format!("{hint} {}\n", one_line(action)));
    }
    if problem.next_actions().is_empty() {
        text.push_str(&format!("{hint} windlass errors {}\n", problem.code().name));
    }
    text
}

/// The end of what another program said; all of it is in `--json`.
fn last_lines(output: &str) -> String {
    let lines: Vec<&str> = output.lines().filter(|it| !it.trim().is_empty()).collect();
    let hidden = lines.len().saturating_sub(MOST_LINES);
    let cut = |line: &str| -> String { one_line(line).chars().take(LONGEST_DETAIL).collect() };
    let shown: String = lines
        .iter()
        .skip(hidden)
        .map(|line| format!("    {}\n", cut(line)))
        .collect();
    match (shown.is_empty(), hidden) {
        (true, _) => shown,
        (false, 0) => format!("  output:\n{shown}"),
        (false, hidden) => format!("  output ({hidden} earlier lines with --json):\n{shown}"),
    }
}

/// Whether a list says nothing that the message does not say.
fn are_named(items: &[Value], message: &str) -> bool {
    let is_named = |item: &Value| item.as_str().is_some_and(|text| message.contains(text));
    items.iter().all(is_named)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_types::code;

    use super::*;

    #[test]
    fn shows_message_details_and_next_steps() {
        let problem = Problem::new(
            &code::CONFIRM_TOKEN_MISMATCH,
            "the plan has changed since it was confirmed",
        )
        .with("reason_code", "plan_changed")
        .with("run_id", Value::Null)
        .with("long", "x".repeat(500))
        .with("list", json!(["a", 1]))
        .next("windlass demo plan --dir x");
        insta::assert_snapshot!(render_problem(&problem, Paint { colour: false }), @r#"
        error: the plan has changed since it was confirmed
          code: CONFIRM_TOKEN_MISMATCH
          list: ["a",1]
          reason_code: plan_changed
        hint: windlass demo plan --dir x
        "#);
    }

    #[test]
    fn the_end_of_what_another_program_said_is_shown_and_hints_once() {
        let failed = |output: &str| {
            let problem = Problem::new(&code::INVALID_INPUT, "esbuild ended with code 1")
                .with("hint", "npm ci")
                .with("output", output)
                .next("npm ci");
            render_problem(&problem, Paint { colour: false })
        };
        let error = "✘ [ERROR] Could not resolve \"./gone\"\n\n    src/f.ts:1:7:\n";
        let earlier = "noise\n".repeat(40);
        insta::assert_snapshot!(failed(error), @r#"
        error: esbuild ended with code 1
          code: INVALID_INPUT
          output:
            ✘ [ERROR] Could not resolve "./gone"
                src/f.ts:1:7:
        hint: npm ci
        "#);
        let cut = failed(&format!("{earlier}{error}"));
        assert!(
            cut.contains("output (27 earlier lines with --json)"),
            "{cut}"
        );
        assert!(cut.contains("src/f.ts:1:7"), "{cut}");
    }

    #[test]
    fn empty_details_are_left_out_and_known_names_are_not_repeated() {
        let problem = Problem::new(&code::STEP_FAILED, "waits for local:ada or key:ops")
            .with("approvers", json!(["local:ada", "key:ops"]))
            .with("cause", json!({}))
            .with("none", json!([]));
        insta::assert_snapshot!(render_problem(&problem, Paint { colour: false }), @r"
        error: waits for local:ada or key:ops
          code: STEP_FAILED
        hint: windlass errors STEP_FAILED
        ");
    }
}
