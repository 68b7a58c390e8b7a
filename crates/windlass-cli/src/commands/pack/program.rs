//! The name the binary was started under. As `agentpack` (a link to it, or a copy) it takes the
//! arguments of `windlass pack`, and says `agentpack` wherever it names a command.

use std::{ffi::OsString, path::Path};

use clap::{CommandFactory as _, Parser};

use super::PackArgs;
use crate::cli::{Cli, Command, Globals, STYLES};

/// The name the binary was started under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Program {
    /// Anything but `agentpack`.
    #[default]
    Windlass,
    /// `agentpack`.
    Agentpack,
}

impl Program {
    #[cfg(test)]
    pub(crate) const ALL: [Self; 2] = [Self::Windlass, Self::Agentpack];

    /// What the first of the process's arguments says.
    pub(crate) fn of(args: &[OsString]) -> Self {
        let name = args.first().and_then(|arg| Path::new(arg).file_name());
        match name.and_then(|name| name.to_str()) {
            Some("agentpack" | "agentpack.exe") => Self::Agentpack,
            _ => Self::Windlass,
        }
    }

    /// How the group of pack commands is called under this name; suggested commands begin with it.
    pub(crate) const fn group_command(self) -> &'static str {
        match self {
            Self::Windlass => "windlass pack",
            Self::Agentpack => "agentpack",
        }
    }

    /// What `--version` prints.
    pub(crate) const fn version(self) -> &'static str {
        match self {
            Self::Windlass => concat!("windlass ", env!("CARGO_PKG_VERSION"), "\n"),
            Self::Agentpack => concat!("agentpack ", env!("CARGO_PKG_VERSION"), "\n"),
        }
    }

    /// The argument tree under this name.
    pub(crate) fn command(self) -> clap::Command {
        match self {
            Self::Windlass => Cli::command(),
            Self::Agentpack => Agentpack::command(),
        }
    }

    /// Understands a command line.
    pub(crate) fn parse(self, args: &[OsString]) -> Result<Cli, clap::Error> {
        match self {
            Self::Windlass => Cli::try_parse_from(args),
            Self::Agentpack => Agentpack::try_parse_from(args).map(Cli::from),
        }
    }
}

/// Deploy agent configuration to the tools that read it.
///
/// One repository holds instructions, skills, prompts and commands; pack renders them for each
/// tool, shows what would change, and applies it so that it can be undone.
#[derive(Debug, Parser)]
#[command(
    name = "agentpack",
    version,
    styles = STYLES,
    arg_required_else_help = true,
    subcommand_required = true,
    disable_help_subcommand = true,
    max_term_width = 100
)]
pub(crate) struct Agentpack {
    #[command(flatten)]
    globals: Globals,
    #[command(flatten)]
    pack: PackArgs,
}

impl From<Agentpack> for Cli {
    fn from(parsed: Agentpack) -> Self {
        Self {
            globals: parsed.globals,
            command: Command::Pack(parsed.pack),
            program: Program::Agentpack,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::early;

    fn args(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_name_decides() {
        for (line, expected) in [
            ("agentpack plan", Program::Agentpack),
            ("/usr/local/bin/agentpack plan", Program::Agentpack),
            ("agentpack.exe", Program::Agentpack),
            ("windlass pack plan", Program::Windlass),
            ("./agentpacker plan", Program::Windlass),
            ("/agentpack/windlass", Program::Windlass),
        ] {
            assert_eq!(Program::of(&args(line)), expected, "{line}");
        }
        assert_eq!(Program::of(&[]), Program::Windlass);
    }

    #[test]
    fn both_names_take_the_same_arguments() {
        Agentpack::command().debug_assert();
        for line in [
            "plan",
            "--repo r --json plan",
            "deploy --apply --yes --target codex",
            "help --json",
            "mcp serve",
            "completions bash",
        ] {
            let short = Program::Agentpack.parse(&args(&format!("agentpack {line}")));
            let long = Program::Windlass.parse(&args(&format!("windlass pack {line}")));
            let (short, long) = (short.unwrap(), long.unwrap());
            assert_eq!(
                format!("{:?}", short.command),
                format!("{:?}", long.command)
            );
            assert_eq!(short.program, Program::Agentpack);
            assert_eq!(long.program, Program::Windlass);
        }
    }

    #[test]
    fn must_22_the_version_is_printed() {
        for (line, is_short) in [
            ("agentpack --version", true),
            ("windlass --version", true),
            ("windlass -V", true),
            ("windlass --version --json", false),
        ] {
            let args = args(line);
            let program = Program::of(&args);
            let shown = program.parse(&args).unwrap_err();
            assert_eq!(shown.kind(), clap::error::ErrorKind::DisplayVersion);
            // The short way says the same as the argument tree.
            assert_eq!(shown.to_string(), program.version());
            assert_eq!(early::asks_version(&args), is_short, "{line}");
        }
    }

    #[test]
    fn usage_names_the_program_that_was_started() {
        let error = Program::Agentpack
            .parse(&args("agentpack plan --nope"))
            .unwrap_err();
        assert!(
            error.to_string().contains("Usage: agentpack plan"),
            "{error}"
        );
    }
}
