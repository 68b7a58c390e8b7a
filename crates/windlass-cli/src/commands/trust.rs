//! `windlass trust`, `windlass untrust`, `windlass trusted`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;
use serde_json::json;
use windlass_ports::trust;
use windlass_types::{Digest, EffectClass, Problem, Timestamp};

use crate::{
    commands::field,
    flow::{Consent, ConsentView, Question, refused},
    output::{Table, Tone, age, counted, one_line},
    session::{Report, Session},
};

/// How many files a refusal lists.
const MOST_FILES: usize = 200;
/// How many changes a table names.
const MOST_CHANGES: usize = 3;

/// Let programs of a directory run: hooks, filters, configs that are code, bundlers, scripts.
///
/// Shows the files that decide what would run and asks. The decision holds for their present
/// content: when one of them changes, nothing of the directory runs until it is trusted again.
#[derive(Args, Debug)]
pub(crate) struct TrustArgs {
    /// The directory: the folder of a config, or the top of a repository. Default: this one.
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// Trust it without asking.
    #[arg(long, short)]
    yes: bool,
}

/// Stop trusting a directory: its programs no longer run.
#[derive(Args, Debug)]
pub(crate) struct UntrustArgs {
    /// The directory. Default: this one.
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
}

/// List the directories whose programs may run, and whether they changed since.
#[derive(Args, Debug)]
pub(crate) struct TrustedArgs {}

/// A directory, as far as it is shown.
#[derive(Deserialize)]
struct DirectoryView {
    directory: PathBuf,
    standing: String,
    #[serde(default)]
    changed: Vec<String>,
    #[serde(default)]
    digest: Option<Digest>,
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    granted_at: Option<Timestamp>,
}

impl TrustArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let directory = absolute(&self.directory)?;
        let asked = session
            .call("admin.trusted", json!({ "directory": directory }))
            .await?;
        let views: Vec<DirectoryView> = field(&asked.output, "directories")?;
        let Some(view) = views.into_iter().next() else {
            return Err(Problem::internal("operation answer", "no directory"));
        };
        if view.standing != "trusted" {
            let consent = screen(&view).ask(session, self.yes).await?;
            if consent != Consent::Given {
                return Err(unconfirmed(consent, &view));
            }
        }
        let input = json!({ "directory": view.directory, "digest": view.digest });
        let answer = session.call("admin.trust", input).await?;
        let files = counted(view.files.len(), "file");
        let message = format!("trusted {} ({files})", view.directory.display());
        session.printer.data(&message);
        Ok(Report::new(message, answer.output))
    }
}

/// The failure of a decision that was not made. Who said no is not told how to say yes.
fn unconfirmed(consent: Consent, view: &DirectoryView) -> Problem {
    let shown: Vec<&String> = view.files.iter().take(MOST_FILES).collect();
    let problem = refused(consent)
        .with("directory", view.directory.display().to_string())
        .with("digest", json!(view.digest))
        .with("file_count", view.files.len())
        .with("files", json!(shown))
        .with("changed", json!(view.changed));
    match consent {
        Consent::CannotAsk => {
            let place = trust::quoted(&view.directory);
            problem.next(format!("windlass trust {place} --yes"))
        }
        Consent::Given | Consent::Declined => problem,
    }
}

/// What would run, for a person to review.
fn screen(view: &DirectoryView) -> ConsentView {
    let place = view.directory.display().to_string();
    let question = Question::Yes(format!("Let programs of {} run?", one_line(&place)));
    let mut screen = ConsentView::new("admin.trust", &place, EffectClass::Write, question);
    screen.lines = match view.standing.as_str() {
        "changed" => {
            let changed = view.changed.iter().map(|it| format!("  {}", one_line(it)));
            std::iter::once("Changed since it was trusted:".to_owned())
                .chain(changed)
                .collect()
        }
        _ if view.files.is_empty() => vec!["Nothing here decides what runs, yet.".to_owned()],
        _ => {
            let files = trust::grouped(&view.files).into_iter();
            let files = files.map(|it| format!("  {}", one_line(&it)));
            std::iter::once("These files decide what runs:".to_owned())
                .chain(files)
                .collect()
        }
    };
    screen.summary = counted(view.files.len(), "file");
    screen.digest = view.digest;
    screen
}

impl UntrustArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let directory = absolute(&self.directory)?;
        let answer = session
            .call("admin.untrust", json!({ "directory": directory }))
            .await?;
        let message = format!("{} is no longer trusted", directory.display());
        session.printer.data(&message);
        Ok(Report::new(message, answer.output))
    }
}

impl TrustedArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let answer = session.call("admin.trusted", json!({})).await?;
        let views: Vec<DirectoryView> = field(&answer.output, "directories")?;
        if views.is_empty() {
            session.printer.notice("No directory is trusted.");
            session.printer.hint("windlass trust DIR");
        } else {
            let now = session.engine().now();
            session.printer.table(&table(&views, now));
        }
        let message = counted(views.len(), "trust decision");
        Ok(Report::new(message, answer.output))
    }
}

fn table(views: &[DirectoryView], now: Timestamp) -> Table {
    let mut table = Table::new(&["DIRECTORY", "STATE", "TRUSTED", "CHANGED"]);
    for view in views {
        let tone = match view.standing.as_str() {
            "trusted" => Tone::Good,
            _ => Tone::Warn,
        };
        table.toned_row([
            (Tone::Plain, view.directory.display().to_string()),
            (tone, view.standing.clone()),
            (
                Tone::Dim,
                view.granted_at.map_or_else(String::new, |at| age(at, now)),
            ),
            (Tone::Plain, changes(&view.changed)),
        ]);
    }
    table
}

/// The first changes, and how many more there are.
fn changes(changed: &[String]) -> String {
    let shown = changed.get(..MOST_CHANGES).unwrap_or(changed);
    match changed.len().saturating_sub(MOST_CHANGES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn absolute(directory: &Path) -> Result<PathBuf, Problem> {
    // A directory that is gone can still be forgotten.
    fs_err::canonicalize(directory)
        .or_else(|_| std::path::absolute(directory))
        .map_err(|error| Problem::invalid("directory", "path", error.to_string()))
}
