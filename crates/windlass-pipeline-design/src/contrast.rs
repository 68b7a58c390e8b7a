//! How well two colours can be distinguished: relative luminance and contrast ratio of WCAG 2.2.

/// What running text needs.
pub const TEXT: f64 = 4.5;

/// What large text and parts of the interface need.
pub const LARGE: f64 = 3.0;

/// Red, green and blue of `#RRGGBB` or `#RGB`.
pub fn parse(colour: &str) -> Option<[u8; 3]> {
    let digits = colour.trim().strip_prefix('#')?;
    if !digits.is_ascii() {
        return None;
    }
    let long: String = match digits.len() {
        3 => digits.chars().flat_map(|digit| [digit, digit]).collect(),
        6 => digits.to_owned(),
        _ => return None,
    };
    let part = |at: usize| u8::from_str_radix(long.get(at..at + 2)?, 16).ok();
    Some([part(0)?, part(2)?, part(4)?])
}

/// How light a colour is, from 0 to 1.
fn luminance(colour: [u8; 3]) -> f64 {
    let [red, green, blue] = colour.map(|part| {
        let part = f64::from(part) / 255.0;
        if part <= 0.04045 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/// The ratio, not rounded; none when one of them is not a colour.
fn exact(foreground: &str, background: &str) -> Option<f64> {
    let one = luminance(parse(foreground)?);
    let other = luminance(parse(background)?);
    Some((one.max(other) + 0.05) / (one.min(other) + 0.05))
}

/// The ratio, from 1 to 21, cut to two decimals so that it is never shown better than it is.
pub fn ratio(foreground: &str, background: &str) -> Option<f64> {
    exact(foreground, background).map(|ratio| (ratio * 100.0 + 1e-9).floor() / 100.0)
}

/// Whether a ratio is reached.
pub fn reaches(foreground: &str, background: &str, wanted: f64) -> bool {
    exact(foreground, background).is_some_and(|ratio| ratio + 1e-9 >= wanted)
}

/// The first candidate that reaches the ratio on a background, else black or white, whichever is
/// distinguished better.
pub fn readable<'a>(candidates: &[&'a str], background: &str, wanted: f64) -> &'a str {
    if let Some(found) = candidates
        .iter()
        .find(|candidate| reaches(candidate, background, wanted))
    {
        return found;
    }
    let [black, white] = ["#000000", "#FFFFFF"];
    if exact(white, background) > exact(black, background) {
        white
    } else {
        black
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_pairs_have_their_ratio() {
        for (foreground, background, expected) in [
            ("#000000", "#FFFFFF", 21.0),
            ("#FFFFFF", "#000000", 21.0),
            ("#767676", "#FFFFFF", 4.54),
            ("#777777", "#FFFFFF", 4.47),
            ("#FFFFFF", "#FFFFFF", 1.0),
            ("#F00", "#ffffff", 3.99),
            ("#006400", "#FFFFFF", 7.43),
        ] {
            let got = ratio(foreground, background).unwrap();
            assert!(
                (got - expected).abs() < 0.015,
                "{foreground} on {background}: {got}"
            );
        }
        assert!(reaches("#767676", "#FFFFFF", TEXT) && !reaches("#777777", "#FFFFFF", TEXT));
    }

    #[test]
    fn what_is_not_a_colour_has_no_ratio() {
        for bad in ["", "red", "#12", "#GGGGGG", "#ééé", "#1234567"] {
            assert_eq!(ratio(bad, "#FFFFFF"), None, "{bad}");
        }
    }

    #[test]
    fn the_first_readable_colour_is_taken() {
        assert_eq!(
            readable(&["#FFFFFF", "#222222"], "#FFFFFF", TEXT),
            "#222222"
        );
        assert_eq!(readable(&["#888888"], "#FFFFFF", TEXT), "#000000");
        assert_eq!(readable(&[], "#101010", TEXT), "#FFFFFF");
    }
}
