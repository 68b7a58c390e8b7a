//! One spelling per place: a noun of the spec as a type, a column, a path, a table, a label.
//!
//! English plurals by rule and by a short list of exceptions. Nothing here knows what a word means.

/// Words that are the same in the singular and the plural.
const UNCOUNTABLE: &[&str] = &[
    "advice",
    "aircraft",
    "access",
    "content",
    "data",
    "equipment",
    "feedback",
    "fish",
    "furniture",
    "hardware",
    "homework",
    "information",
    "knowledge",
    "luggage",
    "media",
    "metadata",
    "money",
    "music",
    "news",
    "progress",
    "series",
    "sheep",
    "software",
    "species",
    "staff",
    "stuff",
    "traffic",
    "weather",
];

/// Singular and plural where no rule leads from one to the other.
const IRREGULAR: &[(&str, &str)] = &[
    ("analysis", "analyses"),
    ("appendix", "appendices"),
    ("axis", "axes"),
    ("basis", "bases"),
    ("calf", "calves"),
    ("child", "children"),
    ("crisis", "crises"),
    ("criterion", "criteria"),
    ("diagnosis", "diagnoses"),
    ("echo", "echoes"),
    ("foot", "feet"),
    ("goose", "geese"),
    ("half", "halves"),
    ("hero", "heroes"),
    ("hypothesis", "hypotheses"),
    ("knife", "knives"),
    ("leaf", "leaves"),
    ("life", "lives"),
    ("loaf", "loaves"),
    ("man", "men"),
    ("mouse", "mice"),
    ("parenthesis", "parentheses"),
    ("person", "people"),
    ("phenomenon", "phenomena"),
    ("potato", "potatoes"),
    ("quiz", "quizzes"),
    ("self", "selves"),
    ("shelf", "shelves"),
    ("synopsis", "synopses"),
    ("synthesis", "syntheses"),
    ("thesis", "theses"),
    ("thief", "thieves"),
    ("tomato", "tomatoes"),
    ("tooth", "teeth"),
    ("torpedo", "torpedoes"),
    ("veto", "vetoes"),
    ("wife", "wives"),
    ("wolf", "wolves"),
    ("woman", "women"),
    ("ox", "oxen"),
];

/// Singulars that end in `s` after a vowel other than `u` or `i`, or look like plurals.
const SINGULAR_IN_S: &[&str] = &[
    "alias",
    "always",
    "atlas",
    "bias",
    "canvas",
    "chaos",
    "christmas",
    "gas",
    "lens",
    "pancreas",
    "pass",
    "plus",
    "sas",
    "this",
    "yes",
    "us",
    "as",
    "was",
    "has",
    "is",
    "does",
    "its",
    "js",
    "css",
    "https",
    "dns",
    "sms",
    "rss",
    "gps",
    "ios",
    "aws",
    "cms",
    "sass",
    "saas",
    "pos",
    "bus",
    "tls",
    "dos",
    "os",
    "aids",
    "corps",
    "hers",
    "ours",
    "theirs",
    "yours",
    "kudos",
    "mathematics",
    "physics",
    "logistics",
    "analytics",
    "statistics",
    "economics",
    "politics",
    "ethics",
    "diabetes",
    "perhaps",
    "whereas",
    "unless",
    "less",
    "besides",
    "afterwards",
    "towards",
];

/// Plurals in `ches` and `oes` whose singular keeps the `e`.
const KEEPS_E: &[&str] = &[
    "aches",
    "avalanches",
    "backaches",
    "caches",
    "canoes",
    "creches",
    "headaches",
    "heartaches",
    "hoes",
    "niches",
    "psyches",
    "quiches",
    "shoes",
    "toes",
    "toothaches",
    "brioches",
    "floes",
];

/// Plurals whose singular ends in `ie`.
const IN_IE: &[&str] = &[
    "brownies",
    "calories",
    "cookies",
    "genies",
    "hoodies",
    "lies",
    "movies",
    "newbies",
    "pies",
    "rookies",
    "selfies",
    "smoothies",
    "ties",
    "zombies",
];

/// Plurals in `ses` whose singular ends in `s`; other words in `ses` lose only the last letter.
const IN_SES: &[&str] = &[
    "aliases",
    "atlases",
    "biases",
    "bonuses",
    "buses",
    "campuses",
    "canvases",
    "censuses",
    "choruses",
    "corpuses",
    "focuses",
    "gases",
    "geniuses",
    "lenses",
    "minibuses",
    "nexuses",
    "prospectuses",
    "radiuses",
    "statuses",
    "surpluses",
    "syllabuses",
    "viruses",
];

/// The words of a name, lower case: `QuizAttempt`, `quiz-attempt` and `quiz attempt` are the same
/// two. Apostrophes are dropped, so that `patient's` stays one word.
pub fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut before: Option<char> = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if matches!(letter, '\'' | '’') {
            continue;
        }
        let hump = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase()
                    || (before.is_uppercase() && letters.peek().is_some_and(|c| c.is_lowercase()))
            });
        if (hump || !letter.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if letter.is_alphanumeric() {
            word.extend(letter.to_lowercase());
            before = Some(letter);
        } else {
            before = None;
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// A name that begins with a digit is no identifier; it gets an `n` in front.
fn as_identifier(name: String) -> String {
    if name.starts_with(|c: char| c.is_numeric()) {
        format!("n{name}")
    } else {
        name
    }
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// `QuizAttempt`: a type, a component, an entity.
pub fn pascal(text: &str) -> String {
    let name: String = words(text).iter().map(|word| capitalised(word)).collect();
    capitalised(&as_identifier(name))
}

/// `quizAttempt`: a variable, a function.
pub fn camel(text: &str) -> String {
    let mut name = String::new();
    for (index, word) in words(text).iter().enumerate() {
        if index == 0 {
            name.push_str(word);
        } else {
            name.push_str(&capitalised(word));
        }
    }
    as_identifier(name)
}

/// `quiz_attempt`: a column.
pub fn snake(text: &str) -> String {
    as_identifier(words(text).join("_"))
}

/// `quiz-attempt`: a file, a part of a path.
pub fn kebab(text: &str) -> String {
    words(text).join("-")
}

/// `Quiz attempt`: a label.
pub fn sentence(text: &str) -> String {
    capitalised(&words(text).join(" "))
}

/// `Quiz Attempt`: a title.
pub fn title(text: &str) -> String {
    let words: Vec<String> = words(text).iter().map(|word| capitalised(word)).collect();
    words.join(" ")
}

/// `quiz attempt`: in running text.
pub fn human(text: &str) -> String {
    words(text).join(" ")
}

/// `quiz_attempts`: the table of an entity.
pub fn table_name(entity: &str) -> String {
    as_identifier(plural(&human(entity)).replace(' ', "_"))
}

/// `quiz-attempts`: the path of an entity.
pub fn path_name(entity: &str) -> String {
    plural(&human(entity)).replace(' ', "-")
}

/// Changes the last word of a phrase and keeps what stands before it.
fn on_last_word(phrase: &str, change: impl FnOnce(&str) -> String) -> String {
    let at = phrase
        .rfind(|c: char| c.is_whitespace() || matches!(c, '-' | '_'))
        .map_or(0, |at| {
            at + phrase[at..].chars().next().map_or(1, char::len_utf8)
        });
    format!("{}{}", &phrase[..at], change(&phrase[at..]))
}

/// The plural of the phrase's last word. A plural is not recognised and gets another `s`.
pub fn plural(phrase: &str) -> String {
    on_last_word(phrase, |word| {
        let lower = word.to_lowercase();
        if UNCOUNTABLE.contains(&lower.as_str()) || lower.is_empty() {
            return word.to_owned();
        }
        if let Some((_, many)) = IRREGULAR.iter().find(|(one, _)| *one == lower) {
            return like(word, many);
        }
        if lower.ends_with("person") || lower.ends_with("man") && !lower.ends_with("human") {
            let (one, many) = if lower.ends_with("man") {
                ("man", "men")
            } else {
                ("person", "people")
            };
            return format!("{}{many}", &word[..word.len() - one.len()]);
        }
        let before_y = lower.strip_suffix('y').and_then(|stem| stem.chars().last());
        if before_y.is_some_and(|c| !"aeiou".contains(c)) {
            return format!("{}ies", &word[..word.len() - 1]);
        }
        if ["s", "x", "z", "ch", "sh"]
            .iter()
            .any(|end| lower.ends_with(end))
        {
            return format!("{word}es");
        }
        format!("{word}s")
    })
}

/// The singular of the phrase's last word; a singular stays as it is.
pub fn singular(phrase: &str) -> String {
    on_last_word(phrase, |word| {
        let lower = word.to_lowercase();
        if UNCOUNTABLE.contains(&lower.as_str()) || SINGULAR_IN_S.contains(&lower.as_str()) {
            return word.to_owned();
        }
        if let Some((one, _)) = IRREGULAR.iter().find(|(_, many)| *many == lower) {
            return like(word, one);
        }
        if IRREGULAR.iter().any(|(one, _)| *one == lower) {
            return word.to_owned();
        }
        for (many, one) in [("people", "person"), ("women", "woman"), ("men", "man")] {
            // `salespeople`, `craftsmen`; but `specimen` and `omen` are singular.
            if lower.ends_with(many) && lower.len() > many.len() + 2 && lower != "specimen" {
                return format!("{}{one}", &word[..word.len() - many.len()]);
            }
        }
        let cut = s_to_cut(&lower);
        match cut {
            Cut::Nothing => word.to_owned(),
            Cut::Letters(count) => word[..word.len() - count].to_owned(),
            Cut::ToY => format!("{}y", &word[..word.len() - 3]),
        }
    })
}

/// What makes a singular of a word.
enum Cut {
    Nothing,
    Letters(usize),
    ToY,
}

fn s_to_cut(lower: &str) -> Cut {
    let ends = |end: &str| lower.ends_with(end);
    if !ends("s")
        || !lower.is_ascii()
        || lower.len() < 4 && !matches!(lower, "ids" | "ads" | "kpis")
    {
        return Cut::Nothing;
    }
    if ["ss", "us", "is"].iter().any(|end| ends(end)) && lower != "kpis" && !ends("skis") {
        return Cut::Nothing;
    }
    if ends("ies") {
        return if IN_IE.contains(&lower) {
            Cut::Letters(1)
        } else {
            Cut::ToY
        };
    }
    if KEEPS_E.contains(&lower) {
        return Cut::Letters(1);
    }
    if ["sses", "ches", "shes", "xes", "tzes", "uzzes", "izzes"]
        .iter()
        .any(|end| ends(end))
    {
        return Cut::Letters(2);
    }
    if IN_SES.contains(&lower) {
        return Cut::Letters(2);
    }
    Cut::Letters(1)
}

/// `new` with the capital of `old`.
fn like(old: &str, new: &str) -> String {
    if old.starts_with(char::is_uppercase) {
        capitalised(new)
    } else {
        new.to_owned()
    }
}

/// Whether the phrase's last word stands in the plural.
pub fn is_plural(phrase: &str) -> bool {
    singular(phrase) != phrase
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_has_its_spelling() {
        for (text, expected) in [
            (
                "quiz attempt",
                "QuizAttempt quizAttempt quiz_attempt quiz-attempt quiz_attempts quiz-attempts",
            ),
            (
                "QuizAttempt",
                "QuizAttempt quizAttempt quiz_attempt quiz-attempt quiz_attempts quiz-attempts",
            ),
            (
                "Category",
                "Category category category category categories categories",
            ),
            ("API key", "ApiKey apiKey api_key api-key api_keys api-keys"),
            (
                "HTTPServer",
                "HttpServer httpServer http_server http-server http_servers http-servers",
            ),
            (
                "patient's file",
                "PatientsFile patientsFile patients_file patients-file patients_files patients-files",
            ),
            (
                "2FA code",
                "N2faCode n2faCode n2fa_code 2fa-code n2fa_codes 2fa-codes",
            ),
            ("größe", "Größe größe größe größe größes größes"),
            ("staff", "Staff staff staff staff staff staff"),
            ("!?", "     "),
        ] {
            let got = [
                pascal(text),
                camel(text),
                snake(text),
                kebab(text),
                table_name(text),
                path_name(text),
            ];
            assert_eq!(got.join(" "), expected, "{text}");
        }
        assert_eq!(sentence("QuizAttempt"), "Quiz attempt");
        assert_eq!(title("quiz_attempt"), "Quiz Attempt");
        assert_eq!(human("QuizAttempt"), "quiz attempt");
    }

    #[test]
    fn plurals_map_to_singulars_and_back() {
        for (one, many) in [
            ("quiz", "quizzes"),
            ("category", "categories"),
            ("day", "days"),
            ("box", "boxes"),
            ("match", "matches"),
            ("cache", "caches"),
            ("class", "classes"),
            ("course", "courses"),
            ("response", "responses"),
            ("warehouse", "warehouses"),
            ("status", "statuses"),
            ("bonus", "bonuses"),
            ("address", "addresses"),
            ("person", "people"),
            ("child", "children"),
            ("shelf", "shelves"),
            ("analysis", "analyses"),
            ("diagnosis", "diagnoses"),
            ("movie", "movies"),
            ("size", "sizes"),
            ("prize", "prizes"),
            ("invoice", "invoices"),
            ("hero", "heroes"),
            ("photo", "photos"),
            ("salesperson", "salespeople"),
            ("craftsman", "craftsmen"),
            ("woman", "women"),
            ("criterion", "criteria"),
            ("id", "ids"),
            ("staff", "staff"),
            ("news", "news"),
            ("Quiz", "Quizzes"),
            ("stock item", "stock items"),
            ("purchase-order", "purchase-orders"),
            ("bus", "buses"),
            ("lens", "lenses"),
            ("tax", "taxes"),
            ("human", "humans"),
            ("archive", "archives"),
            ("service", "services"),
            ("shoe", "shoes"),
            ("dish", "dishes"),
            ("waltz", "waltzes"),
            ("buzz", "buzzes"),
            ("survey", "surveys"),
        ] {
            assert_eq!(plural(one), many);
            assert_eq!(singular(many), one);
            assert_eq!(singular(one), one, "a singular stays");
        }
        assert!(
            is_plural("quizzes") && !is_plural("quiz") && !is_plural("status") && !is_plural("")
        );
    }

    #[test]
    fn any_text_is_accepted() {
        for text in [
            "",
            " ",
            "s",
            "es",
            "ies",
            "-",
            "ß",
            "İS",
            "日本語",
            "🎲s",
            "a—bs",
            "ǅs",
        ] {
            let _ = (
                words(text),
                pascal(text),
                plural(text),
                singular(text),
                table_name(text),
            );
        }
    }
}
