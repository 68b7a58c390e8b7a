//! Times as people write them: `15m`, `1h`, `2d` ago, or a moment in ISO 8601.

use std::time::Duration;

use windlass_types::{Problem, Timestamp};

use crate::arguments::{Arguments, invalid};

/// From and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
}

/// `startTime` (an hour ago) and `endTime` (now).
pub(crate) fn span(arguments: &Arguments, now: Timestamp) -> Result<Span, Problem> {
    let read = |name: &str, default: Timestamp| match arguments.text(name)? {
        Some(text) => moment(text, now).ok_or_else(|| {
            invalid(
                name,
                format!(
                    "{name} is {text:?}; write 15m, 1h or 2d for a time ago, or a moment such as \
                     2026-01-31T12:00:00Z"
                ),
            )
        }),
        None => Ok(default),
    };
    let start = read("startTime", now.before(Duration::from_secs(3600)))?;
    let end = read("endTime", now)?;
    if start >= end {
        return Err(invalid(
            "startTime",
            format!("startTime ({start}) is not before endTime ({end})"),
        ));
    }
    Ok(Span { start, end })
}

/// A moment, from a time ago or from ISO 8601; a date alone is its midnight in UTC.
pub(crate) fn moment(text: &str, now: Timestamp) -> Option<Timestamp> {
    let text = text.trim();
    if let Some(ago) = ago(text) {
        return Some(now.before(ago));
    }
    if let Ok(moment) = text.parse() {
        return Some(moment);
    }
    let is_date = text.len() == 10 && text.bytes().filter(|byte| *byte == b'-').count() == 2;
    if is_date {
        return format!("{text}T00:00:00Z").parse().ok();
    }
    // Without an offset a moment is in UTC.
    format!("{text}Z").parse().ok()
}

fn ago(text: &str) -> Option<Duration> {
    let unit = text.chars().last()?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    let digits = &text[..text.len() - 1];
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = is_number.then(|| digits.parse().ok())??;
    number.checked_mul(seconds).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments() {
        let now: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
        for (text, expected) in [
            ("15m", Some("2026-01-31T11:45:00.000Z")),
            ("1h", Some("2026-01-31T11:00:00.000Z")),
            ("2d", Some("2026-01-29T12:00:00.000Z")),
            ("30s", Some("2026-01-31T11:59:30.000Z")),
            ("1w", Some("2026-01-24T12:00:00.000Z")),
            ("2026-01-30", Some("2026-01-30T00:00:00.000Z")),
            ("2026-01-30T10:00:00", Some("2026-01-30T10:00:00.000Z")),
            (
                "2026-01-30T10:00:00+02:00",
                Some("2026-01-30T08:00:00.000Z"),
            ),
            ("", None),
            ("h", None),
            ("-1h", None),
            ("1.5h", None),
            ("yesterday", None),
            ("99999999999999999999d", None),
            ("é", None),
        ] {
            let shown = moment(text, now).map(|moment| moment.to_string());
            assert_eq!(shown.as_deref(), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_breaks_it(text in "\\PC{0,12}") {
            let _ = moment(&text, Timestamp::EPOCH);
        }
    }
}
