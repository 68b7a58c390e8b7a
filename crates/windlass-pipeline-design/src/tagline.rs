//! One sentence on what the product is, taken from the spec for those who will use it.

use crate::model::analysis::{Analysis, Place, SpanClass};

/// Longer ones are paragraphs, not taglines.
const LONGEST: usize = 240;

/// The first sentence that says what the product is; without the words of the customer.
pub(crate) fn of(analysis: &Analysis) -> Option<String> {
    let product = analysis.product.as_ref()?.text.as_str();
    analysis
        .spans
        .iter()
        .filter(|span| {
            span.place == Place::Sentence
                && matches!(span.class, SpanClass::Context | SpanClass::Behaviour)
        })
        .find_map(|span| read(&span.text, product))
        .filter(|text| text.chars().count() <= LONGEST)
}

/// `Quizly is a quiz platform` stays; `We want "Quizly", a quiz platform` and `We need a quiz platform,
/// called Quizly, for schools` become `A quiz platform …`.
fn read(text: &str, product: &str) -> Option<String> {
    let text = text.trim();
    if let Some(rest) = text.strip_prefix(product)
        && [" is ", " replaces ", " helps ", " lets "]
            .iter()
            .any(|verb| rest.starts_with(verb))
    {
        return Some(text.to_owned());
    }
    let wish = ["We want ", "We need ", "We would like "]
        .iter()
        .find_map(|wish| text.strip_prefix(wish))?;
    let plain: String = wish
        .chars()
        .filter(|c| !matches!(c, '"' | '“' | '”'))
        .collect();
    let named = plain
        .strip_prefix(product)
        .and_then(|rest| rest.strip_prefix(", "));
    let what = match named {
        Some(rest) => rest.to_owned(),
        None => ["called", "named"]
            .iter()
            .find_map(|word| {
                let (before, after) = plain.split_once(&format!(", {word} {product},"))?;
                Some(format!("{before}{after}"))
            })
            .unwrap_or(plain),
    };
    let is_thing = ["a ", "an ", "the "]
        .iter()
        .any(|article| what.starts_with(article));
    let mut letters = what.chars();
    let first = letters.next()?;
    is_thing.then(|| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn a_product_is_described_in_one_sentence() {
        for (text, expected) in [
            (
                "Quizly is a quiz platform.",
                Some("Quizly is a quiz platform."),
            ),
            (
                "We want \"Quizly\", a quiz platform.",
                Some("A quiz platform."),
            ),
            (
                "We need a quiz platform, called \"Quizly\", for schools.",
                Some("A quiz platform for schools."),
            ),
            ("We want to grow.", None),
            ("Teachers write quizzes.", None),
            ("Quizly must be fast.", None),
        ] {
            assert_eq!(read(text, "Quizly").as_deref(), expected, "{text}");
        }
    }
}
