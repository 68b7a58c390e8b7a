//! Colours of a theme: chosen by contrast, mixed for what no token names.

use windlass_pipeline_design::model::InputProblem;

/// Red, green, blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rgb([u8; 3]);

pub(crate) const BLACK: Rgb = Rgb([0, 0, 0]);
pub(crate) const WHITE: Rgb = Rgb([255, 255, 255]);

impl Rgb {
    /// `#RGB`, `#RRGGBB` or `#RRGGBBAA`, the alpha left out.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.trim().strip_prefix('#')?;
        let values: Option<Vec<u8>> = digits
            .chars()
            .map(|c| c.to_digit(16).and_then(|value| u8::try_from(value).ok()))
            .collect();
        let values = values?;
        match values.len() {
            3 | 4 => Some(Self([values[0] * 17, values[1] * 17, values[2] * 17])),
            6 | 8 => Some(Self([
                values[0] * 16 + values[1],
                values[2] * 16 + values[3],
                values[4] * 16 + values[5],
            ])),
            _ => None,
        }
    }

    pub(crate) fn hex(self) -> String {
        format!("#{:02X}{:02X}{:02X}", self.0[0], self.0[1], self.0[2])
    }

    fn luminance(self) -> f64 {
        let linear = |value: u8| {
            let value = f64::from(value) / 255.0;
            if value <= 0.04045 {
                value / 12.92
            } else {
                ((value + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(self.0[0]) + 0.7152 * linear(self.0[1]) + 0.0722 * linear(self.0[2])
    }

    /// WCAG's ratio.
    pub(crate) fn contrast(self, other: Self) -> f64 {
        let (one, two) = (self.luminance(), other.luminance());
        (one.max(two) + 0.05) / (one.min(two) + 0.05)
    }

    /// Whether dark text is read better on it than light text.
    pub(crate) fn is_light(self) -> bool {
        BLACK.contrast(self) > WHITE.contrast(self)
    }

    /// Some of this one in the other one, in per cent.
    pub(crate) fn over(self, other: Self, percent: u32) -> Self {
        let mix = |at: usize| {
            let value =
                (u32::from(self.0[at]) * percent + u32::from(other.0[at]) * (100 - percent)) / 100;
            u8::try_from(value).unwrap_or(u8::MAX)
        };
        Self([mix(0), mix(1), mix(2)])
    }

    /// The least of this colour over the other one that still reaches a ratio; all of it when nothing does.
    pub(crate) fn faded(self, other: Self, from: u32, ratio: f64) -> Self {
        (from..=100)
            .step_by(5)
            .map(|percent| self.over(other, percent))
            .find(|mixed| mixed.contrast(other) >= ratio)
            .unwrap_or(self)
    }

    /// What is read on this colour: the given one if it can be, else black or white.
    pub(crate) fn readable(self, preferred: Self) -> Self {
        if preferred.contrast(self) >= 4.5 {
            preferred
        } else if WHITE.contrast(self) >= BLACK.contrast(self) {
            WHITE
        } else {
            BLACK
        }
    }
}

/// Refuses a colour that is no colour, because it is written into a style sheet.
pub(crate) fn check(text: &str, field: &str) -> Result<(), InputProblem> {
    let text = text.trim();
    let is_function = ["rgb(", "rgba(", "hsl(", "hsla(", "oklch(", "oklab("]
        .iter()
        .any(|name| text.starts_with(name))
        && text.ends_with(')')
        && text.matches(')').count() == 1
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "()., %/+-".contains(c));
    let is_word = !text.is_empty() && text.chars().all(|c| c.is_ascii_alphabetic());
    if Rgb::parse(text).is_some() || is_function || is_word {
        return Ok(());
    }
    Err(InputProblem::new(
        field,
        "format",
        format!("{text:?} is no colour; write #RRGGBB, rgb(), hsl() or a CSS colour name"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_and_compared() {
        assert_eq!(Rgb::parse("#fff"), Some(WHITE));
        assert_eq!(Rgb::parse("#006400").unwrap().hex(), "#006400");
        assert_eq!(Rgb::parse("#00640"), None);
        assert_eq!(Rgb::parse("#é"), None);
        assert!((BLACK.contrast(WHITE) - 21.0).abs() < 0.01);
        assert_eq!(Rgb::parse("#006400").unwrap().readable(WHITE), WHITE);
        assert_eq!(Rgb::parse("#FFFF00").unwrap().readable(WHITE), BLACK);
        assert!(BLACK.faded(WHITE, 55, 4.5).contrast(WHITE) >= 4.5);
        for good in ["#123456", "rgb(1, 2, 3)", "hsl(120 50% 50% / 0.5)", "teal"] {
            assert!(check(good, "f").is_ok(), "{good}");
        }
        for bad in ["", "red; } x {", "url(http://a)", "#12", "rgb(1)) x"] {
            assert!(check(bad, "f").is_err(), "{bad}");
        }
    }
}
