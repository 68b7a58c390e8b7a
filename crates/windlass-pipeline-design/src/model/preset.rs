//! The kinds of project code is generated for.

use serde::{Deserialize, Serialize};

/// A framework preset.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Next.js, App Router.
    #[default]
    NextjsReact,
    /// Vite with React Router.
    ViteReact,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::NextjsReact, Self::ViteReact];

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NextjsReact => "nextjs-react",
            Self::ViteReact => "vite-react",
        }
    }

    /// The preset of exactly that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.as_str() == name)
    }

    /// The preset meant by a preference; none when no word of it is known.
    pub fn by_preference(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        let words: Vec<&str> = text
            .split(|c: char| !(c.is_alphanumeric() || c == '.'))
            .filter(|word| !word.is_empty())
            .collect();
        let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(word));
        if has(&["vite", "vitejs", "vite.js", "spa"]) {
            Some(Self::ViteReact)
        } else if has(&["next", "nextjs", "next.js"]) {
            Some(Self::NextjsReact)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preferences_name_presets() {
        for (text, expected) in [
            ("nextjs-react", Some(Preset::NextjsReact)),
            ("Next.js", Some(Preset::NextjsReact)),
            ("React with Vite", Some(Preset::ViteReact)),
            ("vite-react", Some(Preset::ViteReact)),
            ("django", None),
            ("", None),
        ] {
            assert_eq!(Preset::by_preference(text), expected, "{text}");
        }
    }
}
