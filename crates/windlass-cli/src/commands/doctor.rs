//! `windlass doctor`: looks at everything from the home directory up, also when nothing opens. It
//! makes nothing, and waits for nobody who writes; so it is not in the audit log either.

use std::{os::unix::fs::PermissionsExt as _, path::Path};

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_config::Environment;
use windlass_types::{Problem, code};

use super::{field, serve::plain_http};
use crate::{
    Host, Interrupt, OpenOptions,
    cli::Globals,
    dispatch::open_options,
    output::{Printer, Tone, bytes},
    session::{Report, Session},
};

/// Less free space than this is worth a word.
const LITTLE_SPACE: u64 = 100 * 1024 * 1024;

#[derive(Args, Debug)]
pub(crate) struct DoctorArgs {}

/// One thing that was looked at; the same shape as the operation's.
#[derive(Debug, Serialize, Deserialize)]
struct Check {
    name: String,
    ok: bool,
    finding: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

impl Check {
    fn good(name: &str, finding: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            ok: true,
            finding: finding.into(),
            next: None,
        }
    }

    fn bad(name: &str, finding: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            ok: false,
            finding: finding.into(),
            next: Some(next.into()),
        }
    }

    fn failed(name: &str, problem: &Problem) -> Self {
        let next = problem.next_actions().first().cloned();
        let next = next.filter(|next| next != "windlass doctor");
        Self {
            name: name.to_owned(),
            ok: false,
            finding: problem.to_string(),
            next: Some(next.unwrap_or_else(|| format!("windlass errors {}", problem.code().name))),
        }
    }
}

/// Looks at everything it can get at.
pub(crate) async fn run(
    host: &dyn Host,
    globals: &Globals,
    environment: Environment,
    printer: &Printer,
    interrupt: Interrupt,
) -> Result<Report, Problem> {
    let mut checks = vec![Check::good("version", env!("CARGO_PKG_VERSION"))];
    let first = match open_options(globals, environment) {
        Ok(options) => {
            let options = OpenOptions {
                reads_only: true,
                ..options
            };
            checks.push(home(options.home.root()));
            checks.push(Check::good("settings", "understood"));
            checks.push(space(options.home.root()));
            let server = &options.settings.server;
            if let Some(risk) = plain_http(server.listen, server.public_url.as_deref()) {
                checks.push(Check::bad("listen", risk, "server.listen in config.toml"));
            }
            opened(host, &options, printer, interrupt, &mut checks).await
        }
        Err(problem) => {
            checks.push(Check::failed("settings", &problem));
            Err(problem)
        }
    };
    for check in &checks {
        show(printer, check);
    }
    let sick = checks.iter().filter(|check| !check.ok).count();
    let data = json!({ "healthy": sick == 0, "checks": checks });
    match (sick, first) {
        (0, _) => Ok(Report::new("all is well", data)),
        (count, first) => {
            let code = first
                .err()
                .map_or(&code::ILLEGAL_STATE, |problem| problem.code());
            let noun = if count == 1 {
                "thing needs"
            } else {
                "things need"
            };
            Err(Problem::new(code, format!("{count} {noun} attention"))
                .with("checks", data["checks"].clone()))
        }
    }
}

fn show(printer: &Printer, check: &Check) {
    let paint = printer.paint();
    let mark = if check.ok {
        paint.text(Tone::Good, "✓")
    } else {
        paint.text(Tone::Bad, "✗")
    };
    printer.data(&format!("{mark} {:<12} {}", check.name, check.finding));
    if let Some(next) = &check.next {
        printer.hint(next);
    }
}

/// Opens the installation and looks at it from inside; what stopped that, if something did.
async fn opened(
    host: &dyn Host,
    options: &OpenOptions,
    printer: &Printer,
    interrupt: Interrupt,
    checks: &mut Vec<Check>,
) -> Result<(), Problem> {
    if !options.home.db().exists() && !options.home.keys_dir().exists() {
        checks.push(Check::good("store", "created at first use"));
        return Ok(());
    }
    let opened = host
        .open(options)
        .await
        .inspect_err(|problem| checks.push(Check::failed("store", problem)))?;
    let session = Session::new(opened, printer, interrupt);
    checks.push(match session.catalogue().check() {
        Ok(()) => Check::good(
            "catalogue",
            format!("{} operations", session.catalogue().operations().count()),
        ),
        Err(error) => Check::failed(
            "catalogue",
            &Problem::internal("operation catalogue", error),
        ),
    });
    let answer = session
        .call("admin.doctor", json!({}))
        .await
        .inspect_err(|problem| checks.push(Check::failed("engine", problem)))?;
    checks.extend(field::<Vec<Check>>(&answer.output, "checks")?);
    Ok(())
}

fn home(root: &Path) -> Check {
    match fs_err::metadata(root) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Check::good("home", format!("{} (created at first use)", root.display()))
        }
        Err(error) => Check::bad(
            "home",
            error.to_string(),
            "check the path and its permissions",
        ),
        Ok(metadata) if !metadata.is_dir() => Check::bad(
            "home",
            format!("{} is not a directory", root.display()),
            "windlass --home DIR doctor",
        ),
        Ok(metadata) if metadata.permissions().mode() & 0o077 != 0 => Check::bad(
            "home",
            format!(
                "{} can be opened by others (mode {:o})",
                root.display(),
                metadata.permissions().mode() & 0o777
            ),
            format!("chmod 700 {}", root.display()),
        ),
        Ok(_) => Check::good("home", root.display().to_string()),
    }
}

fn space(root: &Path) -> Check {
    let existing = root.ancestors().find(|path| path.exists()).unwrap_or(root);
    match rustix::fs::statvfs(existing) {
        Ok(disk) => {
            let free = disk.f_bavail.saturating_mul(disk.f_frsize);
            if free < LITTLE_SPACE {
                Check::bad(
                    "disk",
                    format!("only {} free", bytes(free)),
                    "windlass store prune --keep-days 90",
                )
            } else {
                Check::good("disk", format!("{} free", bytes(free)))
            }
        }
        Err(error) => Check::bad("disk", format!("free space is unknown: {error}"), "df"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_that_others_can_open_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("home");
        assert!(home(&root).ok, "a missing home is made later");
        fs_err::create_dir(&root).unwrap();
        for (mode, ok) in [(0o700, true), (0o755, false), (0o770, false)] {
            fs_err::set_permissions(&root, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(home(&root).ok, ok, "{mode:o}");
        }
        let file = folder.path().join("file");
        fs_err::write(&file, "").unwrap();
        assert!(!home(&file).ok);
    }

    #[test]
    fn space_is_measured_on_the_nearest_directory_that_exists() {
        assert!(space(Path::new("/does/not/exist")).finding.contains("free"));
    }
}
