//! Expressions of schedules, as EventBridge takes them: `rate(…)` and `cron(…)` with six fields.
//!
//! EventBridge says only that an expression is not valid, and only during a deploy.

use windlass_text::suggest;

const UNITS: [&str; 6] = ["minute", "minutes", "hour", "hours", "day", "days"];
const MONTHS: [&str; 12] = [
    "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC",
];
const DAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];
/// EventBridge takes no longer ones.
const LONGEST: usize = 256;

/// What is wrong with an expression, and what was probably meant.
pub(super) struct Wrong {
    pub message: String,
    pub help: Option<String>,
}

impl Wrong {
    fn new(message: impl Into<String>, help: Option<String>) -> Self {
        Self {
            message: message.into(),
            help,
        }
    }
}

/// Checks an expression.
pub(super) fn check(text: &str) -> Result<(), Wrong> {
    let inside = |form: &str| text.strip_prefix(form)?.strip_suffix(')');
    if text.len() > LONGEST {
        let message = format!("the schedule has more than {LONGEST} characters");
        return Err(Wrong::new(message, None));
    }
    if let Some(rate) = inside("rate(") {
        return check_rate(rate);
    }
    if let Some(cron) = inside("cron(") {
        return check_cron(cron);
    }
    Err(Wrong::new(
        format!("\"{text}\" is neither rate(…) nor cron(…)"),
        Some("such as rate(5 minutes) or cron(0 12 * * ? *)".to_owned()),
    ))
}

fn check_rate(rate: &str) -> Result<(), Wrong> {
    let words: Vec<&str> = rate.split_whitespace().collect();
    let &[value, unit] = words.as_slice() else {
        return Err(Wrong::new(
            format!("rate({rate}) is a number and a unit"),
            Some("such as rate(5 minutes) or rate(1 hour)".to_owned()),
        ));
    };
    let number = value.parse::<u32>().ok().filter(|number| *number > 0);
    let Some(number) = number else {
        let message = format!("\"{value}\" in rate({rate}) is not a whole number above 0");
        return Err(Wrong::new(message, None));
    };
    if !UNITS.contains(&unit) {
        let nearest = suggest::nearest(unit, UNITS).map(|nearest| fitting(number, nearest));
        let help = match nearest {
            Some(unit) => format!("did you mean rate({number} {unit})?"),
            None => "units are minute(s), hour(s) and day(s)".to_owned(),
        };
        let message = format!("\"{unit}\" in rate({rate}) is not a unit");
        return Err(Wrong::new(message, Some(help)));
    }
    let fitting = fitting(number, unit);
    if fitting != unit {
        let form = if number == 1 { "singular" } else { "plural" };
        return Err(Wrong::new(
            format!("the unit in rate({rate}) must be {form}"),
            Some(format!("write rate({number} {fitting})")),
        ));
    }
    Ok(())
}

fn fitting(number: u32, unit: &str) -> String {
    let single = unit.trim_end_matches('s');
    match number {
        1 => single.to_owned(),
        _ => format!("{single}s"),
    }
}

/// A field of a cron expression.
struct Field {
    name: &'static str,
    from: u16,
    to: u16,
    names: &'static [&'static str],
    /// Letters and signs beyond `,`, `-`, `*` and `/`.
    more: &'static str,
}

const FIELDS: [Field; 6] = [
    Field {
        name: "minutes",
        from: 0,
        to: 59,
        names: &[],
        more: "",
    },
    Field {
        name: "hours",
        from: 0,
        to: 23,
        names: &[],
        more: "",
    },
    Field {
        name: "day of the month",
        from: 1,
        to: 31,
        names: &[],
        more: "?LW",
    },
    Field {
        name: "month",
        from: 1,
        to: 12,
        names: &MONTHS,
        more: "",
    },
    Field {
        name: "day of the week",
        from: 1,
        to: 7,
        names: &DAYS,
        more: "?L#",
    },
    Field {
        name: "year",
        from: 1970,
        to: 2199,
        names: &[],
        more: "",
    },
];

fn check_cron(cron: &str) -> Result<(), Wrong> {
    let fields: Vec<&str> = cron.split_whitespace().collect();
    let &[minutes, hours, day, month, weekday, year] = fields.as_slice() else {
        let help = match fields.as_slice() {
            &[minutes, hours, day, month, weekday] => {
                let (day, weekday) = with_question_mark(day, weekday);
                format!("write cron({minutes} {hours} {day} {month} {weekday} *)")
            }
            _ => "minutes, hours, day of the month, month, day of the week, year".to_owned(),
        };
        let message = format!("cron({cron}) has {} fields instead of six", fields.len());
        return Err(Wrong::new(message, Some(help)));
    };
    for (field, text) in FIELDS.iter().zip(&fields) {
        if !text.split(',').all(|part| field.takes(part)) {
            let range = format!("{} to {}", field.from, field.to);
            let message = format!("\"{text}\" in cron({cron}) cannot be the {}", field.name);
            return Err(Wrong::new(message, Some(format!("it is {range}"))));
        }
    }
    if (day == "?") == (weekday == "?") {
        let message =
            format!("in cron({cron}), one of day of the month and day of the week must be \"?\"");
        let (day, weekday) = with_question_mark(day, weekday);
        let help = format!("write cron({minutes} {hours} {day} {month} {weekday} {year})");
        return Err(Wrong::new(message, Some(help)));
    }
    Ok(())
}

/// The day that is not given is `?`.
fn with_question_mark<'a>(day: &'a str, weekday: &'a str) -> (&'a str, &'a str) {
    match (day, weekday) {
        ("?", "?") => ("*", "?"),
        ("?", _) | (_, "?") => (day, weekday),
        (_, "*") => (day, "?"),
        _ => ("?", weekday),
    }
}

impl Field {
    fn takes(&self, part: &str) -> bool {
        let special = |sign: char| self.more.contains(sign);
        if part == "*" || (part == "?" && special('?')) || (part == "L" && special('L')) {
            return true;
        }
        if let Some((base, step)) = part.split_once('/') {
            let is_step = step.parse::<u16>().is_ok_and(|step| step > 0);
            return is_step && (base == "*" || self.range(base));
        }
        if special('W') && (part == "LW" || part.strip_suffix('W').is_some_and(|it| self.value(it)))
        {
            return true;
        }
        if special('#')
            && let Some((day, count)) = part.split_once('#')
        {
            return self.value(day) && matches!(count, "1" | "2" | "3" | "4" | "5");
        }
        if special('L') && part.strip_suffix('L').is_some_and(|it| self.value(it)) {
            return true;
        }
        self.range(part)
    }

    fn range(&self, part: &str) -> bool {
        match part.split_once('-') {
            Some((from, to)) => self.value(from) && self.value(to),
            None => self.value(part),
        }
    }

    fn value(&self, text: &str) -> bool {
        self.names
            .iter()
            .any(|name| name.eq_ignore_ascii_case(text))
            || (text.len() <= 4
                && text.bytes().all(|byte| byte.is_ascii_digit())
                && text
                    .parse()
                    .is_ok_and(|number: u16| (self.from..=self.to).contains(&number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_eventbridge_takes() {
        for text in [
            "rate(1 minute)",
            "rate(5 minutes)",
            "rate(1 hour)",
            "rate(24 hours)",
            "rate(7 days)",
            "cron(0 12 * * ? *)",
            "cron(15 10 ? * 6L 2026-2030)",
            "cron(0/15 8-17 ? * MON-FRI *)",
            "cron(0 8 1 * ? *)",
            "cron(0 18 ? * mon-fri *)",
            "cron(30 0 ? JAN,JUL 3#2 *)",
            "cron(0 0 LW * ? *)",
            "cron(0 0 15W * ? *)",
            "cron(*/5 * * * ? *)",
        ] {
            assert!(check(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn expressions_it_refuses_are_explained() {
        let lines: Vec<String> = [
            "5 minutes",
            "rate(5 minuets)",
            "rate(5minutes)",
            "rate(1 hours)",
            "rate(2 day)",
            "rate(0 minutes)",
            "rate(5 seconds)",
            "cron(0 12 * * *)",
            "cron(0 9 * * MON)",
            "cron(0 12 * * * *)",
            "cron(0 12 ? * ? *)",
            "cron(60 12 * * ? *)",
            "cron(0 12 * * ? * *)",
            "cron(0 12 * FOO ? *)",
        ]
        .iter()
        .map(|text| {
            let wrong = check(text).err().unwrap();
            format!("{} | {}", wrong.message, wrong.help.unwrap_or_default())
        })
        .collect();
        insta::assert_snapshot!(lines.join("\n"), @r#"
        "5 minutes" is neither rate(…) nor cron(…) | such as rate(5 minutes) or cron(0 12 * * ? *)
        "minuets" in rate(5 minuets) is not a unit | did you mean rate(5 minutes)?
        rate(5minutes) is a number and a unit | such as rate(5 minutes) or rate(1 hour)
        the unit in rate(1 hours) must be singular | write rate(1 hour)
        the unit in rate(2 day) must be plural | write rate(2 days)
        "0" in rate(0 minutes) is not a whole number above 0 | 
        "seconds" in rate(5 seconds) is not a unit | units are minute(s), hour(s) and day(s)
        cron(0 12 * * *) has 5 fields instead of six | write cron(0 12 * * ? *)
        cron(0 9 * * MON) has 5 fields instead of six | write cron(0 9 ? * MON *)
        in cron(0 12 * * * *), one of day of the month and day of the week must be "?" | write cron(0 12 * * ? *)
        in cron(0 12 ? * ? *), one of day of the month and day of the week must be "?" | write cron(0 12 * * ? *)
        "60" in cron(60 12 * * ? *) cannot be the minutes | it is 0 to 59
        cron(0 12 * * ? * *) has 7 fields instead of six | minutes, hours, day of the month, month, day of the week, year
        "FOO" in cron(0 12 * FOO ? *) cannot be the month | it is 1 to 12
        "#);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_taken_or_refused(text in "(rate|cron)?\\(?[0-9a-zA-Z*?/#, -]{0,40}\\)?") {
            let _ = check(&text);
        }
    }
}
