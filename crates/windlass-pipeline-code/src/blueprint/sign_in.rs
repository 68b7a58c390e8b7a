//! Ways to sign in besides email and password, as the architecture's strategy names them.

/// A way to sign in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// By an account of another provider: what Supabase calls it, and its name.
    Provider(&'static str, &'static str),
    /// By a link that is sent.
    Link,
    /// By a code that is sent to a phone.
    Code,
}

const WORDS: &[(&[&str], Way)] = &[
    (&["one-time code", "one time code", "otp", "sms"], Way::Code),
    (&["link by email", "magic link", "email link"], Way::Link),
    (&["google"], Way::Provider("google", "Google")),
    (&["github"], Way::Provider("github", "GitHub")),
    (&["microsoft", "azure"], Way::Provider("azure", "Microsoft")),
    (&["apple"], Way::Provider("apple", "Apple")),
    (&["facebook"], Way::Provider("facebook", "Facebook")),
];

/// The ways a strategy names.
pub(crate) fn ways(strategy: &str) -> Vec<Way> {
    let strategy = strategy.to_lowercase();
    WORDS
        .iter()
        .filter(|(words, _)| words.iter().any(|word| strategy.contains(word)))
        .map(|(_, way)| *way)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_are_read_from_the_strategy() {
        assert_eq!(ways("Supabase Auth with RLS"), []);
        assert_eq!(
            ways("Supabase Auth with RLS; sign-in by Google, a one-time code by SMS"),
            [Way::Code, Way::Provider("google", "Google")]
        );
    }
}
