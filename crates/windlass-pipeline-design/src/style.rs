//! Styles: five sets of tokens for what a spec does not state, and the set a word is nearest to.

/// A set of tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StyleSet {
    /// `minimal`, `corporate`, `playful`, `elegant` or `bold`.
    pub name: &'static str,
    /// Buttons, links.
    pub primary: &'static str,
    /// Accents.
    pub secondary: &'static str,
    /// Behind everything.
    pub background: &'static str,
    /// What is read.
    pub text: &'static str,
    /// Sizes of `h1`, `h2`, `h3`.
    pub headings: [&'static str; 3],
    /// The steps of the spacing scale.
    pub scale: &'static [u32],
    /// Words that mean it.
    words: &'static [&'static str],
}

/// The five sets. Every text reaches 4.5:1 and every accent 3:1 on its background.
pub const SETS: [StyleSet; 5] = [
    StyleSet {
        name: "minimal",
        primary: "#2F4858",
        secondary: "#5B6B73",
        background: "#FFFFFF",
        text: "#1B1F23",
        headings: ["2rem", "1.5rem", "1.25rem"],
        scale: &[1, 2, 3, 4, 6, 8, 12, 16],
        words: &[
            "airy",
            "calm",
            "clean",
            "clear",
            "flat",
            "light",
            "minimalist",
            "minimalistic",
            "modern",
            "plain",
            "quiet",
            "scandinavian",
            "simple",
            "sleek",
            "spacious",
            "swiss",
            "uncluttered",
        ],
    },
    StyleSet {
        name: "corporate",
        primary: "#1B4F9C",
        secondary: "#2E7168",
        background: "#F7F9FB",
        text: "#14202B",
        headings: ["1.875rem", "1.5rem", "1.25rem"],
        scale: &[1, 2, 3, 4, 6, 8, 12],
        words: &[
            "business",
            "businesslike",
            "clinical",
            "conservative",
            "dense",
            "enterprise",
            "financial",
            "formal",
            "governmental",
            "industrial",
            "medical",
            "neutral",
            "official",
            "professional",
            "reliable",
            "serious",
            "sober",
            "technical",
            "trustworthy",
        ],
    },
    StyleSet {
        name: "playful",
        primary: "#A8327D",
        secondary: "#B4500B",
        background: "#FFFBF2",
        text: "#33203B",
        headings: ["2.5rem", "1.875rem", "1.5rem"],
        scale: &[1, 2, 3, 4, 6, 8, 12, 16],
        words: &[
            "casual",
            "cheerful",
            "childlike",
            "colorful",
            "colourful",
            "cute",
            "friendly",
            "fun",
            "happy",
            "kids",
            "lively",
            "rounded",
            "warm",
            "whimsical",
            "young",
            "youthful",
        ],
    },
    StyleSet {
        name: "elegant",
        primary: "#6B3A2E",
        secondary: "#7A5F2A",
        background: "#FBF8F3",
        text: "#211C18",
        headings: ["2.5rem", "2rem", "1.5rem"],
        scale: &[1, 2, 4, 6, 8, 12, 16, 24],
        words: &[
            "chic",
            "classic",
            "classy",
            "exclusive",
            "graceful",
            "high-end",
            "luxurious",
            "luxury",
            "premium",
            "refined",
            "sophisticated",
            "stylish",
            "timeless",
        ],
    },
    StyleSet {
        name: "bold",
        primary: "#B3141E",
        secondary: "#4A2FA8",
        background: "#FFFFFF",
        text: "#0B0B0C",
        headings: ["3rem", "2.25rem", "1.5rem"],
        scale: &[1, 2, 3, 4, 6, 8, 12, 16, 24],
        words: &[
            "brutalist",
            "daring",
            "dramatic",
            "dynamic",
            "edgy",
            "energetic",
            "expressive",
            "futuristic",
            "loud",
            "powerful",
            "sporty",
            "striking",
            "strong",
            "vibrant",
            "vivid",
        ],
    },
];

/// How a wanted style was understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StyleMatch {
    /// The set.
    pub set: &'static StyleSet,
    /// Whether a word of the text names or means the set; otherwise it was only the nearest one.
    pub known: bool,
}

fn by_word(word: &str) -> Option<&'static StyleSet> {
    SETS.iter()
        .find(|set| set.name == word)
        .or_else(|| SETS.iter().find(|set| set.words.contains(&word)))
}

/// The set a text is nearest to: a word that names one, a word that means one, the word that is
/// spelled most alike, and `minimal` when nothing is alike.
pub fn resolve(text: &str) -> StyleMatch {
    let lower = text.to_lowercase();
    let words: Vec<&str> = lower
        .split(|c: char| !(c.is_alphanumeric() || c == '-'))
        .filter(|word| !word.is_empty())
        .collect();
    let named = words
        .iter()
        .find_map(|word| SETS.iter().find(|set| set.name == *word));
    if let Some(set) = named.or_else(|| words.iter().find_map(|word| by_word(word))) {
        return StyleMatch { set, known: true };
    }
    let mut best = (0.0, &SETS[0]);
    let comparable = words.iter().filter(|word| word.len() <= 64);
    for word in comparable.take(100) {
        for set in &SETS {
            for known in std::iter::once(&set.name).chain(set.words) {
                let alike = strsim::jaro_winkler(word, known);
                if alike > best.0 {
                    best = (alike, set);
                }
            }
        }
    }
    StyleMatch {
        set: if best.0 >= 0.88 { best.1 } else { &SETS[0] },
        known: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contrast;

    #[test]
    fn words_map_to_sets() {
        for (text, set, known) in [
            ("minimal", "minimal", true),
            ("Playful and friendly", "playful", true),
            ("calm, clean", "minimal", true),
            ("something modern but bold", "bold", true),
            ("profesional", "corporate", false),
            ("luxurios", "elegant", false),
            ("steampunk", "minimal", false),
            ("", "minimal", false),
        ] {
            let found = resolve(text);
            assert_eq!((found.set.name, found.known), (set, known), "{text}");
        }
    }

    #[test]
    fn every_set_is_readable() {
        for set in &SETS {
            assert!(
                contrast::reaches(set.text, set.background, contrast::TEXT),
                "{}",
                set.name
            );
            for accent in [set.primary, set.secondary] {
                assert!(
                    contrast::reaches(accent, set.background, contrast::LARGE),
                    "{}",
                    set.name
                );
                assert!(
                    contrast::reaches("#FFFFFF", accent, contrast::TEXT),
                    "{} {accent}",
                    set.name
                );
            }
        }
    }
}
