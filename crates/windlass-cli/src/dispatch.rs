//! From arguments to exit code: parses, opens what the command needs, runs it, prints the
//! outcome once, in the form that was asked for.

use std::{
    ffi::OsString,
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use clap::error::ErrorKind;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use windlass_config::{Environment, Home, Settings, env};
use windlass_engine::contract::{Contract, EnvelopeContext, Plain};
use windlass_secrets::Redactor;
use windlass_telemetry as telemetry;
use windlass_types::{Problem, code};

use crate::{
    Host, Interrupt, OpenOptions,
    cli::{Cli, Command, Globals, Need, Program},
    commands::{
        doctor,
        internal::{self, InternalCommand, run_double},
    },
    completion, early, exit,
    flow::addressed_problem,
    output::{Mode, Printer},
    outward::Outward,
    session::{Ending, Report, Session},
};

/// How long detached work of a finished command may hold up its exit.
pub(crate) const LEAVE: Duration = Duration::from_millis(200);

/// A failure and how it is written for machines.
pub(crate) struct Failure {
    pub(crate) problem: Problem,
    pub(crate) contract: &'static dyn Contract,
    pub(crate) operation: String,
    /// Filled in by the dispatcher once a session has one.
    pub(crate) request_id: String,
    /// What the envelope wants to know of the input.
    pub(crate) input: Value,
}

impl Failure {
    pub(crate) fn context(&self) -> EnvelopeContext<'_> {
        EnvelopeContext {
            operation: &self.operation,
            request_id: &self.request_id,
            input: &self.input,
        }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self {
            problem,
            contract: &Plain,
            operation: String::new(),
            request_id: String::new(),
            input: Value::Null,
        }
    }
}

/// Runs the command line `args` (the program's name first) and returns the exit code.
pub fn run(host: &dyn Host, args: impl Iterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.collect();
    if let Some(arguments) = internal::sandbox_stage(&args) {
        // A stage must be alone in its process, and starts before every program that is confined.
        return host.enter_sandbox(arguments);
    }
    let environment = Environment::from_process();
    let program = Program::of(&args);
    if early::asks_version(&args) {
        let printer = Printer::to_process(early::printing(&args), &environment);
        printer.raw(program.version());
        return success(&printer);
    }
    if completion::is_asked(&environment) {
        // A shell shows what this prints; a failure is no completion.
        return match completion::answer(program, &args) {
            Ok(_) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let cli = match program.parse(&args) {
        Ok(cli) => cli,
        Err(error) => {
            return not_understood(
                &error,
                &Printer::to_process(early::printing(&args), &environment),
                &*Command::outward_of_arguments(program, &args, host),
            );
        }
    };
    let printer = Printer::to_process(cli.globals.printing(), &environment);
    let outward = cli.command.outward(program, host);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        execute(host, cli, environment, &printer)
    }));
    let outcome = outcome.unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "panic".to_owned());
        Err(Problem::internal("command", text).into())
    });
    finish(&printer, outcome, &*outward)
}

fn execute(
    host: &dyn Host,
    cli: Cli,
    environment: Environment,
    printer: &Printer,
) -> Result<Report, Failure> {
    if let Some(report) = cli.command.before_opening(host, printer, cli.program)? {
        return Ok(report);
    }
    match cli.command {
        Command::Errors(args) => Ok(args.run(printer)?),
        Command::Completions(args) => Ok(args.run(printer)),
        Command::Man(args) => Ok(args.run(host, printer)?),
        Command::Tour(args) => Ok(args.run(host, printer)?),
        Command::Sandbox(args) => {
            let home = open_options(&cli.globals, environment.clone())?.home;
            Ok(args.run(host, home.root(), &environment, printer)?)
        }
        Command::Doctor(_) => with_runtime(Need::Short, |interrupt| {
            Box::pin(async move {
                Ok(doctor::run(host, &cli.globals, environment, printer, interrupt).await?)
            })
        }),
        Command::Internal(InternalCommand::DevManager(args)) => {
            let options = open_options(&cli.globals, environment)?;
            let _guard = start_telemetry(&cli.globals, &options, printer, false)?;
            Ok(args.run(host, &options)?)
        }
        Command::Internal(InternalCommand::AwsDouble) => Ok(run_double(host)?),
        command => {
            let need = command.need();
            let options = OpenOptions {
                program: cli.program.group_command().to_owned(),
                ..open_options(&cli.globals, environment)?
            };
            let draws = command.fills_the_terminal();
            let _guard = start_telemetry(&cli.globals, &options, printer, draws)?;
            with_runtime(need, |interrupt| {
                Box::pin(async move {
                    let opened = host.open(&options).await?;
                    let session = Session::new(opened, printer, interrupt);
                    let outcome = command.run(&session, host, &options).await;
                    session.engine().audit().flush().await;
                    outcome.map_err(|failure| Failure {
                        problem: match printer.is_human() {
                            true => addressed_problem(session.principal(), failure.problem),
                            false => failure.problem,
                        },
                        request_id: session.request_id,
                        ..failure
                    })
                })
            })
        }
    }
}

/// What is opened: home, settings and the redaction pass, flags applied.
pub(crate) fn open_options(
    globals: &Globals,
    environment: Environment,
) -> Result<OpenOptions, Problem> {
    let home = match &globals.home {
        Some(directory) => Home::at(std::path::absolute(directory).map_err(|error| {
            Problem::invalid(
                "home",
                "path",
                format!("{} is not a usable path: {error}", directory.display()),
            )
        })?),
        None => Home::resolve(&environment).map_err(|error| {
            Problem::new(&code::CONFIG_INVALID, error.to_string()).next("windlass --home DIR …")
        })?,
    };
    let settings = Settings::load(&home, &environment)?;
    Ok(OpenOptions {
        program: Program::default().group_command().to_owned(),
        home,
        environment,
        settings,
        redactor: Arc::new(Redactor::new()),
        reads_only: false,
    })
}

fn start_telemetry(
    globals: &Globals,
    options: &OpenOptions,
    printer: &Printer,
    draws: bool,
) -> Result<telemetry::Guard, Problem> {
    let settings = &options.settings.telemetry;
    let redactor = Arc::clone(&options.redactor);
    // A flag wins over file and environment. Lines would tear a screen that is drawn on the same
    // terminal; in a file they do not.
    let filter = if draws && printer.sees_questions() {
        Some("off".to_owned())
    } else {
        let quiet = globals.quiet.then(|| "warn".to_owned());
        settings
            .log
            .clone()
            .or(quiet)
            .filter(|_| globals.verbose == 0)
    };
    telemetry::init(telemetry::Options {
        format: globals.log_format.unwrap_or(settings.log_format),
        filter,
        verbosity: globals.verbose,
        colour: printer.colours_notices(),
        otlp: settings
            .otlp_endpoint
            .clone()
            .map(|endpoint| telemetry::Otlp {
                endpoint,
                headers: settings.otlp_headers.clone(),
            }),
        service_name: settings
            .service_name
            .clone()
            .unwrap_or_else(|| "windlass".to_owned()),
        redact: Arc::new(move |text| redactor.redact(text)),
    })
    .map_err(|error| {
        Problem::new(&code::CONFIG_INVALID, error.to_string()).next(format!(
            "check {} and the settings file",
            env::WINDLASS_LOG.name
        ))
    })
}

type Work<'a> = std::pin::Pin<Box<dyn Future<Output = Result<Report, Failure>> + 'a>>;

fn with_runtime<'a>(
    need: Need,
    work: impl FnOnce(Interrupt) -> Work<'a>,
) -> Result<Report, Failure> {
    let runtime = build_runtime(need).map_err(|error| Problem::internal("runtime", error))?;
    let outcome = runtime.block_on(async {
        let interrupt = Interrupt::listen().map_err(|error| Problem::internal("signals", error))?;
        // A graceful command hears the first signal itself; the second one ends it.
        let signals_to_end = match need {
            Need::Short => 1,
            Need::Long => 2,
        };
        tokio::select! {
            outcome = work(interrupt.clone()) => outcome,
            () = interrupt.wait_times(signals_to_end) => {
                Err(Problem::new(&code::INTERRUPTED, "interrupted").next("windlass runs list").into())
            }
        }
    });
    runtime.shutdown_timeout(LEAVE);
    outcome
}

fn build_runtime(need: Need) -> std::io::Result<Runtime> {
    match need {
        // One thread starts faster, and a short command waits for one thing at a time.
        Need::Short => Builder::new_current_thread().enable_all().build(),
        Need::Long => Builder::new_multi_thread().enable_all().build(),
    }
}

fn finish(printer: &Printer, outcome: Result<Report, Failure>, outward: &dyn Outward) -> ExitCode {
    match outcome {
        Ok(report) => succeed(printer, report, outward),
        Err(_) if printer.is_closed() => ExitCode::from(exit::CLOSED_PIPE),
        Err(failure) => outward.fail(printer, &failure),
    }
}

fn succeed(printer: &Printer, report: Report, outward: &dyn Outward) -> ExitCode {
    let ending = report.ending;
    match printer.mode() {
        Mode::Human => {}
        Mode::Json if ending == Ending::Streamed => {}
        Mode::Json => outward.document(printer, report),
        Mode::Agent => outward.last_line(printer, report),
    }
    match ending {
        _ if printer.is_closed() => ExitCode::from(exit::CLOSED_PIPE),
        Ending::Found => ExitCode::from(exit::FOUND),
        Ending::Unsound => ExitCode::from(exit::UNSOUND),
        Ending::Exit(code) => ExitCode::from(code),
        Ending::Document | Ending::Streamed => ExitCode::SUCCESS,
    }
}

/// The exit code of what worked, if the output was read.
fn success(printer: &Printer) -> ExitCode {
    if printer.is_closed() {
        ExitCode::from(exit::CLOSED_PIPE)
    } else {
        ExitCode::SUCCESS
    }
}

/// Help, version, or arguments that make no sense.
fn not_understood(error: &clap::Error, printer: &Printer, outward: &dyn Outward) -> ExitCode {
    let text = error.render();
    if matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    ) {
        let text = if printer.colours_data() {
            text.ansi().to_string()
        } else {
            text.to_string()
        };
        printer.raw(&text);
        return success(printer);
    }
    match printer.mode() {
        Mode::Human => {
            let text = if printer.colours_notices() {
                text.ansi().to_string()
            } else {
                text.to_string()
            };
            printer.raw_notice(&text);
        }
        Mode::Json | Mode::Agent => {
            let message = text.to_string();
            let message = message.trim_start_matches("error: ").trim_end();
            let problem = outward.usage(message);
            finish(printer, Err(problem.into()), outward);
        }
    }
    ExitCode::from(exit::USAGE)
}
