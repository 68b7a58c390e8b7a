//! Whether to use colour: the flag, then the environment, then whether it would be visible.

use windlass_config::{Environment, env};

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless the environment says otherwise.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What is known about one output stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// Whether a person looks at it.
    pub(super) is_terminal: bool,
    /// How many columns it has; unknown when it is not a terminal.
    pub(super) width: Option<usize>,
}

impl ColorChoice {
    /// Whether a stream gets colour.
    pub(super) fn applies(self, terminal: Terminal, environment: &Environment) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                if environment.is_set(&env::NO_COLOR) {
                    return false;
                }
                if environment
                    .get(&env::CLICOLOR_FORCE)
                    .is_some_and(|value| value != "0")
                {
                    return true;
                }
                terminal.is_terminal && environment.get(&env::TERM) != Some("dumb")
            }
        }
    }
}

/// Whether moving things (spinners, bars) may be shown on a stream.
pub(super) fn may_animate(terminal: Terminal, environment: &Environment) -> bool {
    terminal.is_terminal
        && environment.get(&env::TERM) != Some("dumb")
        && !environment.is_set(&env::CI)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TERMINAL: Terminal = Terminal {
        is_terminal: true,
        width: Some(80),
    };
    const PIPE: Terminal = Terminal {
        is_terminal: false,
        width: None,
    };

    #[test]
    fn flag_then_environment_then_terminal() {
        use ColorChoice::{Always, Auto, Never};
        type Case = (
            ColorChoice,
            Terminal,
            &'static [(&'static str, &'static str)],
            bool,
        );
        let cases: &[Case] = &[
            (Auto, TERMINAL, &[], true),
            (Auto, PIPE, &[], false),
            (Auto, TERMINAL, &[("NO_COLOR", "1")], false),
            (Auto, TERMINAL, &[("NO_COLOR", "")], true),
            (Auto, TERMINAL, &[("TERM", "dumb")], false),
            (Auto, PIPE, &[("CLICOLOR_FORCE", "1")], true),
            (Auto, PIPE, &[("CLICOLOR_FORCE", "0")], false),
            (
                Auto,
                PIPE,
                &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")],
                false,
            ),
            (Always, PIPE, &[("NO_COLOR", "1")], true),
            (Never, TERMINAL, &[("CLICOLOR_FORCE", "1")], false),
        ];
        for (choice, terminal, pairs, expected) in cases {
            let environment = Environment::from_pairs(pairs.iter().copied());
            assert_eq!(
                choice.applies(*terminal, &environment),
                *expected,
                "{choice:?} {pairs:?}"
            );
        }
    }

    #[test]
    fn nothing_moves_without_a_terminal() {
        let environment =
            |pairs: &[(&'static str, &'static str)]| Environment::from_pairs(pairs.iter().copied());
        assert!(may_animate(TERMINAL, &environment(&[])));
        assert!(!may_animate(PIPE, &environment(&[])));
        assert!(!may_animate(TERMINAL, &environment(&[("CI", "true")])));
        assert!(!may_animate(TERMINAL, &environment(&[("TERM", "dumb")])));
    }
}
