//! Colours: from what people write to `#RRGGBB`.
//!
//! Hex, `rgb()`, `hsl()`, the CSS names, and names with words before them: `dark green`, `pale
//! yellow`. Nothing else is a colour.

use crate::spec::css_names::CSS_NAMES;

/// `#RRGGBB` of a stated colour, capital digits; none when it names no colour.
pub fn resolve(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    if let Some(digits) = text.strip_prefix('#') {
        return hex(digits);
    }
    for (name, read) in [
        ("rgba", rgb as fn(&[f64]) -> Option<[f64; 3]>),
        ("rgb", rgb),
        ("hsla", hsl),
        ("hsl", hsl),
    ] {
        if let Some(arguments) = text.strip_prefix(name) {
            let arguments = arguments.trim().strip_prefix('(')?.strip_suffix(')')?;
            return read(&numbers(arguments)?).map(print);
        }
    }
    named(&text).map(print)
}

fn hex(digits: &str) -> Option<String> {
    if !digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let full: String = match digits.len() {
        3 | 4 => digits
            .chars()
            .take(3)
            .flat_map(|digit| [digit, digit])
            .collect(),
        6 | 8 => digits.chars().take(6).collect(),
        _ => return None,
    };
    Some(format!("#{}", full.to_uppercase()))
}

/// Numbers separated by commas, spaces or a slash; per cent signs and degrees are dropped, since
/// each function knows its ranges.
fn numbers(arguments: &str) -> Option<Vec<f64>> {
    arguments
        .split([',', ' ', '/'])
        .filter(|part| !part.trim().is_empty())
        .map(|part| {
            let part = part.trim();
            let number = part.trim_end_matches("deg").trim_end_matches('%');
            let value: f64 = number.parse().ok()?;
            value.is_finite().then_some(value)
        })
        .collect()
}

fn rgb(parts: &[f64]) -> Option<[f64; 3]> {
    match parts {
        [red, green, blue] | [red, green, blue, _] => {
            let parts = [*red, *green, *blue];
            parts
                .iter()
                .all(|part| (0.0..=255.0).contains(part))
                .then_some(parts)
        }
        _ => None,
    }
}

fn hsl(parts: &[f64]) -> Option<[f64; 3]> {
    let [hue, saturation, lightness] = match parts {
        [h, s, l] | [h, s, l, _] => [*h, *s, *l],
        _ => return None,
    };
    if !(0.0..=100.0).contains(&saturation) || !(0.0..=100.0).contains(&lightness) {
        return None;
    }
    Some(from_hsl(
        hue.rem_euclid(360.0),
        saturation / 100.0,
        lightness / 100.0,
    ))
}

fn from_hsl(hue: f64, saturation: f64, lightness: f64) -> [f64; 3] {
    let chroma = (1.0 - (2.0 * lightness - 1.0).abs()) * saturation;
    let sector = hue / 60.0;
    let second = chroma * (1.0 - (sector % 2.0 - 1.0).abs());
    let base = lightness - chroma / 2.0;
    let (red, green, blue) = match sector {
        s if s < 1.0 => (chroma, second, 0.0),
        s if s < 2.0 => (second, chroma, 0.0),
        s if s < 3.0 => (0.0, chroma, second),
        s if s < 4.0 => (0.0, second, chroma),
        s if s < 5.0 => (second, 0.0, chroma),
        _ => (chroma, 0.0, second),
    };
    [red, green, blue].map(|part| (part + base) * 255.0)
}

fn print(parts: [f64; 3]) -> String {
    let [red, green, blue] = parts.map(|part| part.round().clamp(0.0, 255.0));
    format!(
        "#{red:02X}{green:02X}{blue:02X}",
        red = red as u8,
        green = green as u8,
        blue = blue as u8
    )
}

/// Words that make a colour darker (below zero) or lighter, as a share of the way to black or white.
const SHADES: &[(&str, f64)] = &[
    ("very dark", -0.6),
    ("dark", -0.4),
    ("deep", -0.4),
    ("light", 0.5),
    ("very light", 0.8),
    ("pale", 0.65),
    ("soft", 0.3),
    ("pastel", 0.55),
    ("bright", 0.0),
    ("vivid", 0.0),
    ("pure", 0.0),
    ("plain", 0.0),
    ("warm", 0.0),
    ("cool", 0.0),
    ("almost", 0.0),
    ("near", 0.0),
    ("off", 0.0),
];

/// Names people use that CSS writes otherwise.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("off white", "#FAF9F6"),
    ("off-white", "#FAF9F6"),
    ("navy blue", "#000080"),
    ("charcoal", "#36454F"),
    ("mustard", "#FFDB58"),
    ("burgundy", "#800020"),
    ("emerald", "#50C878"),
    ("emerald green", "#50C878"),
    ("mint", "#98FF98"),
    ("mint green", "#98FF98"),
    ("cream", "#FFFDD0"),
    ("amber", "#FFBF00"),
    ("rose", "#FF007F"),
    ("lilac", "#C8A2C8"),
    ("mauve", "#E0B0FF"),
    ("peach", "#FFE5B4"),
    ("cobalt", "#0047AB"),
    ("cobalt blue", "#0047AB"),
    ("sand", "#C2B280"),
    ("terracotta", "#E2725B"),
    ("cherry red", "#D2042D"),
    ("jet black", "#0A0A0A"),
    ("baby blue", "#89CFF0"),
    ("electric blue", "#7DF9FF"),
];

/// A CSS name, in one word or several, or one of those with a shade before it.
fn named(text: &str) -> Option<[f64; 3]> {
    let text = text
        .split([' ', '-'])
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    let exact = |name: &str| {
        let spelled = name.replace("grey", "gray").replace(' ', "");
        CSS_NAMES
            .binary_search_by(|(known, _)| (*known).cmp(spelled.as_str()))
            .ok()
            .map(|at| CSS_NAMES[at].1)
    };
    let other = |name: &str| {
        OTHER_NAMES
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| *value)
    };
    if let Some(value) = exact(&text).or_else(|| other(&text)) {
        return channels(value);
    }
    SHADES.iter().rev().find_map(|(shade, amount)| {
        let rest = text.strip_prefix(shade)?.strip_prefix(' ')?;
        let base = exact(rest).or_else(|| other(rest))?;
        Some(shaded(channels(base)?, *amount))
    })
}

fn channels(value: &str) -> Option<[f64; 3]> {
    let number = u32::from_str_radix(value.strip_prefix('#')?, 16).ok()?;
    Some([number >> 16 & 0xFF, number >> 8 & 0xFF, number & 0xFF].map(f64::from))
}

fn shaded(parts: [f64; 3], amount: f64) -> [f64; 3] {
    parts.map(|part| {
        if amount < 0.0 {
            part * (1.0 + amount)
        } else {
            part + (255.0 - part) * amount
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_as_people_write_them() {
        for (text, expected) in [
            ("#fff", Some("#FFFFFF")),
            ("#1f2937", Some("#1F2937")),
            ("#1f2937cc", Some("#1F2937")),
            ("dark green", Some("#006400")),
            ("Dark-Green", Some("#006400")),
            ("dark slate gray", Some("#2F4F4F")),
            ("dark slate grey", Some("#2F4F4F")),
            ("royal blue", Some("#4169E1")),
            ("navy blue", Some("#000080")),
            ("teal", Some("#008080")),
            ("dark teal", Some("#004D4D")),
            ("light teal", Some("#80C0C0")),
            ("almost black", Some("#000000")),
            ("rgb(180, 83, 9)", Some("#B45309")),
            ("rgb(180 83 9 / 50%)", Some("#B45309")),
            ("hsl(262, 52%, 47%)", Some("#673AB6")),
            ("hsl(0, 100%, 50%)", Some("#FF0000")),
            ("hsl(240deg 100% 50%)", Some("#0000FF")),
            ("rgb(300, 0, 0)", None),
            ("rgb(1,2)", None),
            ("hsl(1)", None),
            ("#12", None),
            ("#ggg", None),
            ("dark", None),
            ("quiz", None),
            ("", None),
            ("rgb(nan, inf, 0)", None),
        ] {
            assert_eq!(resolve(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn the_names_are_sorted() {
        assert!(CSS_NAMES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        assert!(CSS_NAMES.iter().all(|(_, value)| channels(value).is_some()));
    }
}
