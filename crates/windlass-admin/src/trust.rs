//! `admin.trust`, `admin.untrust`, `admin.trusted`: which directories may run programs of their own.
//!
//! Trust is given by the user at the command line and by nobody else: an agent or a key that could
//! give it would make everything it protects from its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::{
    Engine,
    operation::{CallContext, CallPlan, Operation, operation as define},
};
use windlass_ports::{Executables, Runs, Standing, Trust, TrustDecision, trust};
use windlass_types::{
    Digest, EffectClass, Principal, PrincipalKind, Problem, Surface, Timestamp, code,
};

use crate::TOOLSET;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TrustInput {
    /// The directory, as an absolute path.
    directory: PathBuf,
    /// The digest of what was reviewed, as `admin.trusted` gives it.
    digest: Digest,
}

#[derive(Serialize, JsonSchema)]
struct TrustOutput {
    /// The directory whose programs may run.
    trusted: PathBuf,
    /// The digest of what was trusted.
    digest: Digest,
    /// How many files it covers.
    files: usize,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct UntrustInput {
    /// The directory, as an absolute path.
    directory: PathBuf,
}

#[derive(Serialize, JsonSchema)]
struct UntrustOutput {
    /// The directory whose programs no longer run.
    untrusted: PathBuf,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TrustedInput {
    /// A directory to look at, as an absolute path; every decision when absent.
    #[serde(default)]
    directory: Option<PathBuf>,
}

#[derive(Serialize, JsonSchema)]
struct TrustedOutput {
    /// The directories: those that were trusted, or the one that was asked about.
    directories: Vec<DirectoryView>,
}

#[derive(Serialize, JsonSchema)]
struct DirectoryView {
    /// The directory.
    directory: PathBuf,
    /// `trusted`, `undecided`, `changed` since it was trusted, or `gone` from the disk.
    standing: &'static str,
    /// The files that differ from what was trusted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changed: Vec<String>,
    /// The digest of what could run now, where one directory was asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<Digest>,
    /// The files that decide what could run now, where one directory was asked about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    /// Who trusted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    granted_by: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    granted_at: Option<Timestamp>,
}

pub(crate) fn operations(engine: &Engine, trust: &Arc<dyn Trust>) -> Vec<Arc<dyn Operation>> {
    vec![grant(engine, trust), revoke(trust), list(trust)]
}

fn grant(engine: &Engine, trust: &Arc<dyn Trust>) -> Arc<dyn Operation> {
    let (engine, planned, trust) = (engine.clone(), Arc::clone(trust), Arc::clone(trust));
    define(TOOLSET, "trust")
        .describe(
            "Trust a directory",
            "Lets programs of a directory run: hooks and filters of its repository, configs that are code, its bundler, build scripts. Holds for the reviewed content only. Only the user at the command line can do this.",
        )
        .command(EffectClass::Write)
        .target("directory")
        .not_a_tool()
        .example(
            "After a review",
            json!({ "directory": "/home/ada/shop", "digest": Digest::ZERO }),
        )
        .plan_of_call(move |context, input| {
            let input: TrustInput = serde_json::from_value(input.clone())
                .map_err(|error| Problem::invalid("", "shape", error.to_string()))?;
            let executables = reviewed(&*planned, context, &input)?;
            Ok(CallPlan {
                digest: executables.digest(),
                lines: lines(&executables),
            })
        })
        .handle(move |context, input: TrustInput| {
            let (engine, trust) = (engine.clone(), Arc::clone(&trust));
            async move {
                let executables = reviewed(&*trust, &context, &input)?;
                let output = TrustOutput {
                    trusted: executables.directory.clone(),
                    digest: executables.digest(),
                    files: executables.files.len(),
                };
                trust.grant(TrustDecision {
                    executables,
                    granted_by: context.principal.id(),
                    granted_at: engine.now(),
                })?;
                Ok(output)
            }
        })
}

/// What the caller reviewed, if it is still so and the caller may decide.
fn reviewed(
    trust: &dyn Trust,
    context: &CallContext,
    input: &TrustInput,
) -> Result<Executables, Problem> {
    require_user(context, &input.directory)?;
    let executables = trust.inspect(absolute(&input.directory)?)?;
    if executables.digest() == input.digest {
        return Ok(executables);
    }
    let place = &executables.directory;
    let message = format!(
        "{} changed while it was reviewed; it was not trusted",
        place.display()
    );
    Err(Problem::new(&code::CONFIRM_REQUIRED, message)
        .next(format!("windlass trust {}", trust::quoted(place))))
}

/// What would run, for people.
fn lines(executables: &Executables) -> Vec<String> {
    let files: Vec<String> = executables.files.keys().cloned().collect();
    let shown = trust::grouped(&files).into_iter();
    std::iter::once(format!("{} files decide what runs:", files.len()))
        .chain(shown.map(|it| format!("  {it}")))
        .collect()
}

fn revoke(trust: &Arc<dyn Trust>) -> Arc<dyn Operation> {
    let trust = Arc::clone(trust);
    define(TOOLSET, "untrust")
        .describe(
            "Stop trusting a directory",
            "Forgets the decision about a directory: its programs no longer run.",
        )
        .command(EffectClass::Write)
        .target("directory")
        .not_a_tool()
        .example("One directory", json!({ "directory": "/home/ada/shop" }))
        .handle(move |_, input: UntrustInput| {
            let trust = Arc::clone(&trust);
            async move {
                let directory = absolute(&input.directory)?;
                if trust.revoke(directory)? {
                    return Ok(UntrustOutput {
                        untrusted: input.directory,
                    });
                }
                let message = format!("{} is not trusted", directory.display());
                Err(Problem::new(&code::NOT_FOUND, message).next("windlass trusted"))
            }
        })
}

fn list(trust: &Arc<dyn Trust>) -> Arc<dyn Operation> {
    let trust = Arc::clone(trust);
    define(TOOLSET, "trusted")
        .describe(
            "List trusted directories",
            "Lists the directories whose programs may run and whether they changed since, or what one directory would run.",
        )
        .not_a_tool()
        .example("All", json!({}))
        .handle(move |_, input: TrustedInput| {
            let trust = Arc::clone(&trust);
            async move {
                let decisions = trust.decisions()?;
                let directories = match input.directory {
                    None => decisions
                        .iter()
                        .map(|decision| {
                            let directory = decision.executables.directory.clone();
                            view(&*trust, directory, Some(decision), None)
                        })
                        .collect(),
                    Some(directory) => {
                        let now = trust.inspect(absolute(&directory)?)?;
                        let directory = now.directory.clone();
                        let mut known = decisions.iter();
                        let known = known.find(|it| it.executables.directory == directory);
                        vec![view(&*trust, directory, known, Some(&now))]
                    }
                };
                Ok(TrustedOutput { directories })
            }
        })
}

fn view(
    trust: &dyn Trust,
    directory: PathBuf,
    decision: Option<&TrustDecision>,
    now: Option<&Executables>,
) -> DirectoryView {
    let (standing, changed) = match trust.standing(&directory, Runs::Code) {
        _ if !directory.is_dir() => ("gone", Vec::new()),
        Standing::Trusted => ("trusted", Vec::new()),
        Standing::Undecided | Standing::Unusable(_) => ("undecided", Vec::new()),
        Standing::Changed(changes) => ("changed", changes),
    };
    DirectoryView {
        directory,
        standing,
        changed,
        digest: now.map(Executables::digest),
        files: now.map_or_else(Vec::new, |now| now.files.keys().cloned().collect()),
        granted_by: decision.map(|it| it.granted_by.clone()),
        granted_at: decision.map(|it| it.granted_at),
    }
}

/// Refuses everyone but the user at the command line.
fn require_user(context: &CallContext, directory: &Path) -> Result<(), Problem> {
    let Principal { kind, .. } = &context.principal;
    let is_user = *kind == PrincipalKind::Local && context.principal.has_scope("approve");
    if is_user && context.surface == Surface::Cli {
        return Ok(());
    }
    Err(Problem::new(
        &code::FORBIDDEN,
        "only the user at the command line can trust a directory; a program cannot do it in the user's place",
    )
    .next(format!("type in a terminal: windlass trust {}", trust::quoted(directory))))
}

fn absolute(directory: &Path) -> Result<&Path, Problem> {
    if directory.is_absolute() {
        return Ok(directory);
    }
    let message = "pass the directory as an absolute path";
    Err(Problem::invalid("directory", "absolute", message))
}
