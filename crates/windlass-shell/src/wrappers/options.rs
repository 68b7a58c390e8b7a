//! The options of programs that run others, to find the command behind them.

use crate::model::{ConcernKind, Word};

/// Options of a program, to find the first word that is none.
#[derive(Clone, Copy, Default)]
pub(super) struct Options {
    /// Letters without a value.
    pub(super) flags: &'static str,
    /// Letters with one.
    pub(super) valued: &'static str,
    /// Long options without a value, or with one behind `=`.
    pub(super) long: &'static [&'static str],
    /// Long options with a value, behind `=` or as the next word.
    pub(super) long_valued: &'static [&'static str],
}

/// Why the first word that is no option was not found.
pub(super) type Lost = (ConcernKind, String);

impl Options {
    /// The index of the first word from `at` that is no option.
    pub(super) fn end(&self, words: &[Word], mut at: usize) -> Result<usize, Lost> {
        while let Some(word) = words.get(at) {
            let Some(text) = word.literal() else {
                // A variable may hold an option as well as the command.
                return Err((ConcernKind::DynamicCommand, word.text.clone()));
            };
            if text == "--" {
                return Ok(at + 1);
            }
            if !text.starts_with('-') || text == "-" {
                return Ok(at);
            }
            let unknown = || (ConcernKind::UnknownOption, text.to_owned());
            at += 1;
            if let Some(long) = text.strip_prefix("--") {
                let (name, has_value) = match long.split_once('=') {
                    Some((name, _)) => (name, true),
                    None => (long, false),
                };
                if self.long_valued.contains(&name) {
                    at += usize::from(!has_value);
                } else if !self.long.contains(&name) {
                    return Err(unknown());
                }
                continue;
            }
            let letters = text.get(1..).unwrap_or_default();
            for (index, letter) in letters.char_indices() {
                if self.valued.contains(letter) {
                    let is_last = index + letter.len_utf8() == letters.len();
                    at += usize::from(is_last);
                    break;
                }
                if !self.flags.contains(letter) {
                    return Err(unknown());
                }
            }
        }
        Ok(at)
    }
}

/// A program whose first operands are followed by a command.
pub(super) struct Runner {
    pub(super) names: &'static [&'static str],
    pub(super) options: Options,
    /// Operands before the command.
    pub(super) operands: usize,
    pub(super) elevates: bool,
}

pub(super) const RUNNERS: [Runner; 13] = [
    Runner {
        names: &["sudo"],
        options: Options {
            flags: "ABbEHikKnNPSsv",
            valued: "CDghpRrtTUu",
            long: &[
                "askpass",
                "background",
                "preserve-env",
                "set-home",
                "login",
                "non-interactive",
                "preserve-groups",
                "stdin",
                "shell",
                "reset-timestamp",
                "validate",
            ],
            long_valued: &[
                "close-from",
                "chdir",
                "group",
                "host",
                "prompt",
                "chroot",
                "role",
                "type",
                "command-timeout",
                "other-user",
                "user",
            ],
        },
        operands: 0,
        elevates: true,
    },
    Runner {
        names: &["doas"],
        options: Options {
            flags: "Lns",
            valued: "Cu",
            long: &[],
            long_valued: &[],
        },
        operands: 0,
        elevates: true,
    },
    Runner {
        names: &["pkexec", "run0", "gosu", "su-exec"],
        options: Options {
            flags: "",
            valued: "u",
            long: &["disable-internal-agent", "keep-cwd"],
            long_valued: &["user"],
        },
        operands: 0,
        elevates: true,
    },
    Runner {
        names: &["timeout", "gtimeout"],
        options: Options {
            flags: "fpv",
            valued: "ks",
            long: &["foreground", "preserve-status", "verbose"],
            long_valued: &["kill-after", "signal"],
        },
        operands: 1,
        elevates: false,
    },
    Runner {
        names: &["nice"],
        options: Options {
            flags: "0123456789",
            valued: "n",
            long: &[],
            long_valued: &["adjustment"],
        },
        operands: 0,
        elevates: false,
    },
    Runner {
        names: &["ionice"],
        options: Options {
            flags: "t",
            valued: "cn",
            long: &["ignore"],
            long_valued: &["class", "classdata"],
        },
        operands: 0,
        elevates: false,
    },
    Runner {
        names: &[
            "nohup",
            "builtin",
            "noglob",
            "nocorrect",
            "busybox",
            "toybox",
            "coproc",
            "unbuffer",
        ],
        options: Options {
            flags: "",
            valued: "",
            long: &[],
            long_valued: &[],
        },
        operands: 0,
        elevates: false,
    },
    Runner {
        // The shell's own word for it knows one option, the program of that name others.
        names: &["time", "gtime"],
        options: Options {
            flags: "p",
            valued: "",
            long: &[],
            long_valued: &[],
        },
        operands: 0,
        elevates: false,
    },
    Runner {
        names: &["stdbuf"],
        options: Options {
            flags: "",
            valued: "ioe",
            long: &[],
            long_valued: &["input", "output", "error"],
        },
        operands: 0,
        elevates: false,
    },
    Runner {
        names: &["setsid"],
        options: Options {
            flags: "cfw",
            valued: "",
            long: &["ctty", "fork", "wait"],
            long_valued: &[],
        },
        operands: 0,
        elevates: false,
    },
    Runner {
        names: &["command"],
        options: Options {
            flags: "p",
            valued: "",
            long: &[],
            long_valued: &[],
        },
        operands: 0,
        elevates: false,
    },
    Runner {
        names: &["exec"],
        options: Options {
            flags: "cl",
            valued: "a",
            long: &[],
            long_valued: &[],
        },
        operands: 0,
        elevates: false,
    },
    Runner {
        names: &["chronic", "caffeinate"],
        options: Options {
            flags: "vedismu",
            valued: "",
            long: &[],
            long_valued: &[],
        },
        operands: 0,
        elevates: false,
    },
];

pub(super) const XARGS: Options = Options {
    flags: "0oprtx",
    valued: "aEIJLnPsdRS",
    long: &[
        "null",
        "no-run-if-empty",
        "verbose",
        "interactive",
        "exit",
        "open-tty",
        "replace",
    ],
    long_valued: &[
        "arg-file",
        "delimiter",
        "eof",
        "max-args",
        "max-procs",
        "max-lines",
        "max-chars",
        "process-slot-var",
    ],
};

pub(super) const SSH: Options = Options {
    flags: "46AaCfGgKkMNnqsTtVvXxYy",
    valued: "BbcDEeIiJLlmOopQRSWw",
    long: &[],
    long_valued: &[],
};

pub(super) const WATCH: Options = Options {
    flags: "bcCdegprtwx",
    valued: "nq",
    long: &[
        "beep",
        "color",
        "no-color",
        "differences",
        "errexit",
        "chgexit",
        "precise",
        "no-rerun",
        "no-title",
        "no-wrap",
        "exec",
    ],
    long_valued: &["interval", "equexit"],
};

pub(super) const CONTAINER: Options = Options {
    flags: "Dv",
    valued: "cHl",
    long: &["debug", "tls", "tlsverify", "remote"],
    long_valued: &[
        "config",
        "context",
        "host",
        "log-level",
        "connection",
        "url",
    ],
};

pub(super) const CONTAINER_EXEC: Options = Options {
    flags: "ditTl",
    valued: "euw",
    long: &[
        "detach",
        "interactive",
        "tty",
        "privileged",
        "latest",
        "no-TTY",
        "index",
    ],
    long_valued: &[
        "env",
        "env-file",
        "user",
        "workdir",
        "detach-keys",
        "preserve-fds",
    ],
};
