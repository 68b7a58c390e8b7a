//! `windlass sandbox`: runs one program confined, or shows what this machine can enforce.

use std::{
    ffi::OsString,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use serde_json::{Value, json};
use windlass_config::{Environment, env};
use windlass_ports::{
    Confinement, Sandbox, SandboxRefusal, SandboxRequest, SandboxedCommand,
    sandbox::{HostRule, Network, SYSTEM_ROOTS},
};
use windlass_process::{Bounds, Ended, Stragglers};
use windlass_types::{Problem, code};

use crate::{
    Host,
    output::{Mode, Printer, Tone},
    session::{Ending, Report},
};

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  windlass sandbox -- npm test
  windlass sandbox --network registry.example.org,*.example.net -- npm ci
  windlass sandbox --readonly -- grep -r password .
  windlass sandbox --features")]
pub(crate) struct SandboxArgs {
    /// A directory that may be changed; repeat for more. Default: the current directory.
    #[arg(long, value_name = "DIR")]
    write: Vec<PathBuf>,
    /// Read only the system and these; repeat for more. Default: everything but credentials.
    #[arg(long, value_name = "PATH")]
    read: Vec<PathBuf>,
    /// What may be connected to: off, on, or hosts separated by commas (`host`, `host:port`,
    /// `*.domain`).
    #[arg(long, value_name = "HOSTS", default_value = "off", value_parser = network)]
    network: Network,
    /// Change nothing but a private temporary directory.
    #[arg(long, conflicts_with = "write")]
    readonly: bool,
    /// Hand on an environment variable besides the harmless ones; repeat for more.
    #[arg(long, value_name = "NAME")]
    env: Vec<String>,
    /// Show what this machine can enforce, and what is missing.
    #[arg(long, conflicts_with_all = ["write", "read", "readonly", "env", "command"])]
    features: bool,
    /// The program and its arguments.
    #[arg(
        last = true,
        value_name = "COMMAND",
        required_unless_present = "features"
    )]
    command: Vec<OsString>,
}

fn network(text: &str) -> Result<Network, String> {
    match text {
        "off" => Ok(Network::Off),
        "on" => Ok(Network::On),
        list => {
            let rules = list.split(',').map(|entry| HostRule::parse(entry.trim()));
            let rules = rules.collect::<Result<Vec<_>, _>>();
            rules.map(Network::Hosts).map_err(|error| error.to_string())
        }
    }
}

impl SandboxArgs {
    /// Becomes the program; for programs that read JSON, waits for it and reports.
    pub(crate) fn run(
        self,
        host: &dyn Host,
        windlass_home: &Path,
        environment: &Environment,
        printer: &Printer,
    ) -> Result<Report, Problem> {
        let path = environment.path(&env::PATH);
        let sandbox = host.sandbox(path.as_ref().map(|path| path.as_os_str()));
        if self.features {
            return Ok(show_features(&*sandbox, printer));
        }
        let confinement = self.confinement(windlass_home, environment)?;
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(Problem::internal("arguments", "no command"));
        };
        let prepared = sandbox
            .prepare(SandboxRequest {
                program,
                arguments,
                environment: &environment.all().collect::<Vec<_>>(),
                confinement: &confinement,
            })
            .map_err(refused)?;
        match printer.mode() {
            // The sandbox becomes this process: signals and the terminal are the program's.
            Mode::Human => Err(not_started(command(&prepared).exec())),
            Mode::Json | Mode::Agent => capture(&prepared),
        }
    }

    fn confinement(
        &self,
        windlass_home: &Path,
        environment: &Environment,
    ) -> Result<Confinement, Problem> {
        let directory = std::env::current_dir()
            .map_err(|error| Problem::invalid("directory", "path", error.to_string()))?;
        let absolute = |path: &PathBuf| directory.join(path);
        let home = environment.path(&env::HOME);
        let mut confinement = Confinement::read_only(directory.clone(), home.as_deref());
        confinement.deny_read.push(windlass_home.to_owned());
        if !self.read.is_empty() {
            confinement.read = SYSTEM_ROOTS.map(PathBuf::from).to_vec();
            confinement.read.extend(self.read.iter().map(absolute));
        }
        // Where it starts can be read, also in a directory that the sandbox has its own of.
        confinement.read.push(directory.clone());
        confinement.network = self.network.clone();
        confinement.variables.clone_from(&self.env);
        if self.readonly {
            return Ok(confinement);
        }
        let roots = match self.write.is_empty() {
            true => vec![directory.clone()],
            false => self.write.iter().map(absolute).collect(),
        };
        Ok(confinement.writing(roots, home.as_deref()))
    }
}

fn command(prepared: &SandboxedCommand) -> std::process::Command {
    let mut command = windlass_process::command(&prepared.program);
    command
        .args(&prepared.arguments)
        .env_clear()
        .envs(
            prepared
                .environment
                .iter()
                .map(|(name, value)| (name, value)),
        )
        .current_dir(&prepared.directory);
    command
}

/// Runs it to its end, with its output in the report.
fn capture(prepared: &SandboxedCommand) -> Result<Report, Problem> {
    let mut command = command(prepared);
    let running = windlass_process::start(&mut command, None, std::process::Command::spawn)
        .map_err(not_started)?;
    let ended = running.finish(&Bounds {
        time: Duration::MAX,
        unwanted: &|| false,
        stragglers: Stragglers::End,
    });
    let Ended::Itself {
        code,
        mut stdout,
        mut stderr,
    } = ended.map_err(not_started)?
    else {
        return Err(Problem::internal("sandbox", "it was stopped"));
    };
    let text = |output: &mut windlass_process::Output| {
        let bytes = output.all().map_err(not_started)?;
        Ok::<_, Problem>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let code = code.map_or(125, |code| code as u8);
    let data = json!({
        "exit_code": code,
        "stdout": text(&mut stdout)?,
        "stderr": text(&mut stderr)?,
        "backend": prepared.backend,
    });
    let mut report = Report::new(format!("the program ended with {code}"), data);
    report.ending = Ending::Exit(code);
    Ok(report)
}

fn not_started(error: std::io::Error) -> Problem {
    Problem::internal(
        "sandbox",
        format!("the sandbox could not be started: {error}"),
    )
}

fn refused(refusal: SandboxRefusal) -> Problem {
    let text = refusal.to_string();
    match refusal {
        SandboxRefusal::Missing {
            feature, remedy, ..
        } => Problem::new(&code::SANDBOX_UNAVAILABLE, text)
            .with("feature", feature.to_string())
            .next(remedy)
            .next("windlass sandbox --features"),
        SandboxRefusal::Unenforceable { .. } => Problem::invalid("sandbox", "enforceable", text),
        SandboxRefusal::Failed(_) => Problem::new(&code::SANDBOX_UNAVAILABLE, text),
    }
}

/// One way to confine, and whether it is possible.
fn outcome(sandbox: &dyn Sandbox, network: &Network) -> (bool, String, Value) {
    match sandbox.backend(network) {
        Ok(backend) => (true, backend.to_string(), json!({ "backend": backend })),
        Err(refusal) => {
            let problem = refused(refusal);
            let remedy = problem.next_actions().first().cloned().unwrap_or_default();
            let why = problem.message().to_owned();
            (
                false,
                format!("{why}; {remedy}"),
                json!({ "missing": why, "remedy": remedy }),
            )
        }
    }
}

fn show_features(sandbox: &dyn Sandbox, printer: &Printer) -> Report {
    let found = sandbox.features();
    let paint = printer.paint();
    let mark = |good: bool| match good {
        true => paint.text(Tone::Good, "✓"),
        false => paint.text(Tone::Bad, "✗"),
    };
    let line = |good: bool, name: &str, text: &str| {
        printer.data(&format!("{} {name:<12} {text}", mark(good)));
    };
    let missing = |result: &Result<(), String>| match result {
        Ok(()) => "users, mounts, processes, network".to_owned(),
        Err(why) => why.clone(),
    };
    line(true, "kernel", &found.kernel);
    match found.landlock {
        Some(version) => line(
            true,
            "landlock",
            &format!("version {version}, {}", landlock(version)),
        ),
        None => line(false, "landlock", "switched off or too old"),
    }
    line(
        found.seccomp,
        "seccomp",
        if found.seccomp {
            "filters"
        } else {
            "no filters"
        },
    );
    line(
        found.namespaces.is_ok(),
        "namespaces",
        &missing(&found.namespaces),
    );
    match &found.bubblewrap {
        Ok(program) => line(true, "bubblewrap", &program.display().to_string()),
        Err(why) => line(false, "bubblewrap", why),
    }
    printer.data("");
    let mut answers = serde_json::Map::new();
    let hosts = Network::Hosts(Vec::new());
    for (name, network) in [("off", Network::Off), ("hosts", hosts), ("on", Network::On)] {
        let (good, text, value) = outcome(sandbox, &network);
        line(good, &format!("network {name}"), &text);
        answers.insert(name.to_owned(), value);
    }
    let data = json!({ "features": found, "network": answers });
    Report::new("what this machine can enforce", data)
}

/// What the kernel's version of Landlock adds up to.
fn landlock(version: u32) -> &'static str {
    match version {
        0..=2 => "files",
        3 => "files with truncation",
        4 => "files, TCP ports",
        5 => "files, devices, TCP ports",
        6..=8 => "files, devices, TCP ports, signals, abstract sockets",
        _ => "files, devices, TCP ports, signals, all Unix sockets",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{no_host::NoHost, output::Captured};

    fn args(words: &[&str]) -> SandboxArgs {
        use clap::{CommandFactory as _, FromArgMatches as _};
        let line = ["windlass", "sandbox"].iter().chain(words);
        let matches = crate::cli::Cli::command()
            .try_get_matches_from(line)
            .unwrap();
        let (_, matches) = matches.subcommand().unwrap();
        SandboxArgs::from_arg_matches(matches).unwrap()
    }

    #[test]
    fn what_is_missing_is_shown_with_what_to_do() {
        let captured = Captured::new(Mode::Human);
        let environment = Environment::from_pairs([]);
        let run = |words: &[&str]| {
            args(words).run(&NoHost, "/home".as_ref(), &environment, &captured.printer)
        };
        run(&["--features"]).unwrap();
        insta::assert_snapshot!(captured.stdout(), @r"
        ✓ kernel       5.4.0
        ✗ landlock     switched off or too old
        ✓ seccomp      filters
        ✗ namespaces   they cannot be created
        ✗ bubblewrap   it is not installed

        ✗ network off  the sandbox needs Landlock version 1, which this machine does not offer: the kernel 5.4.0 is too old; use Linux 5.13 or later
        ✗ network hosts the sandbox needs Landlock version 1, which this machine does not offer: the kernel 5.4.0 is too old; use Linux 5.13 or later
        ✗ network on   the sandbox needs Landlock version 1, which this machine does not offer: the kernel 5.4.0 is too old; use Linux 5.13 or later
        ");
        let problem = run(&["--", "true"]).unwrap_err();
        assert_eq!(problem.code(), &code::SANDBOX_UNAVAILABLE);
        assert_eq!(problem.next_actions()[0], "use Linux 5.13 or later");
    }

    #[test]
    fn arguments_become_a_confinement() {
        let environment = Environment::from_pairs([("HOME", "/home/ada")]);
        let of = |words: &[&str]| {
            args(words)
                .confinement("/home/ada/.windlass".as_ref(), &environment)
                .unwrap()
        };
        let here = std::env::current_dir().unwrap();
        let plain = of(&["--", "true"]);
        assert_eq!(plain.write, std::slice::from_ref(&here));
        assert_eq!(plain.read[0], Path::new("/"));
        assert_eq!(plain.network, Network::Off);
        assert!(plain.deny_read.contains(&"/home/ada/.ssh".into()));
        let narrow = of(&[
            "--read",
            "/srv",
            "--write",
            "/a",
            "--network",
            "on",
            "--",
            "true",
        ]);
        assert_eq!(narrow.write, [PathBuf::from("/a")]);
        assert!(!narrow.read.contains(&"/".into()) && narrow.read.contains(&"/srv".into()));
        assert!(of(&["--readonly", "--", "true"]).write.is_empty());
        for (text, good) in [
            ("a.example,*.b.example:8443", true),
            ("", false),
            ("*", false),
            ("a,b,", false),
        ] {
            assert_eq!(network(text).is_ok(), good, "{text:?}");
        }
    }
}
