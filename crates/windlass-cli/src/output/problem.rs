//! A failure for people: what happened, the particulars, what to type next.

use serde_json::Value;
use windlass_types::Problem;

use super::{
    paint::{Paint, Tone},
    text::one_line,
};

/// Details longer than this are left to `--json`.
const LONGEST_DETAIL: usize = 200;

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
            other => other.to_string(),
        };
        if !shown.is_empty() && shown.len() <= LONGEST_DETAIL && !problem.message().contains(&shown)
        {
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
}
