//! HugoBuild: the site builds for production and every planned page comes out of it.

use std::{path::Path, time::Duration};

use windlass_launch_model::{Profile, SiteKind};

use crate::gates::{
    finding::{Checked, Finding, Limit, shorten},
    input::GateInput,
    outside::{GateFault, HugoJob, MissingTool, ToolError},
    run::Gate,
};

/// The build failed.
pub const FAILED: &str = "GATE_HUGO_BUILD_FAILED";
/// The build left a page out.
pub const NOT_RENDERED: &str = "GATE_HUGO_BUILD_PAGE_NOT_RENDERED";
const VERSION: &str = "GATE_TOOL_VERSION_MISMATCH";
const SKIPPED: &str = "GATE_TOOLCHAIN_SKIPPED";

/// The gate.
pub struct HugoBuild;

impl Gate for HugoBuild {
    fn name(&self) -> &'static str {
        "HugoBuild"
    }

    fn limit(&self) -> Limit {
        Limit::Total(300, 600)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        if input.context.site_kind == SiteKind::Markdown {
            return Ok(Checked::skipped("not_applicable"));
        }
        let pinned = input.settings.hugo_version.as_deref();
        let Some(found) = input.toolchain.hugo_version() else {
            return absent(input.profile, pinned);
        };
        let mut findings = Vec::new();
        if let Some(pinned) = pinned.filter(|pinned| *pinned != found) {
            let message = format!("Hugo {found} is installed, and the toolchain pins {pinned}.");
            findings.push(Finding::run(VERSION, "hugo", message));
        }
        // A little less than the gate has, so that the tool is ended in good order.
        let limit = Duration::from_secs(self.limit().seconds(input.profile, 0).saturating_sub(5));
        let built = input.toolchain.hugo_build(&HugoJob {
            site: &input.site_dir,
            config_dir: input.settings.hugo_config_dir.as_deref(),
            out: &input.hugo_out,
            exec_allow: &input.settings.hugo_exec_allow,
            http_allow: &input.settings.hugo_http_allow,
            module_proxy: input.settings.hugo_module_proxy.as_deref(),
            limit,
            stopped: &|| input.stopped(),
        });
        let build = match built {
            Err(ToolError::TimedOut) => return Ok(Checked::TimedOut),
            Err(ToolError::NotRun(cause)) => {
                let gate = self.name().to_owned();
                return Err(GateFault::Failed { gate, cause });
            }
            Err(ToolError::Short { shortage, cause }) => {
                let gate = self.name().to_owned();
                return Err(GateFault::Short {
                    gate,
                    shortage,
                    cause,
                });
            }
            Ok(build) => build,
        };
        let log = without_machine_paths(&build.log, &[&input.hugo_out, &input.site_dir]);
        if build.success {
            findings.extend(left_out(input));
        } else {
            let why = reason(&log);
            let message = match advice(&log) {
                Some(advice) => format!("Hugo cannot build the site: {why}; {advice}"),
                None => format!("Hugo cannot build the site: {why}"),
            };
            findings.push(Finding::run(FAILED, &why, message));
        }
        Ok(Checked::Logged { findings, log })
    }
}

fn absent(profile: Profile, pinned: Option<&str>) -> Result<Checked, GateFault> {
    if profile == Profile::Local {
        let message = "Hugo is not installed, so the site was not built. Install Hugo extended.";
        return Ok(Checked::Skipped {
            reason: "toolchain_missing",
            findings: vec![Finding::run(SKIPPED, "hugo", message.to_owned())],
        });
    }
    Err(GateFault::ToolchainMissing(MissingTool {
        tool: "hugo".to_owned(),
        gate: "HugoBuild".to_owned(),
        required_version: pinned.map(str::to_owned),
        found_version: None,
        install_hint: "Install Hugo extended and put it on the PATH.".to_owned(),
    }))
}

/// A log in which these folders are `.` and what is below them is relative.
fn without_machine_paths(log: &str, folders: &[&Path]) -> String {
    folders.iter().fold(log.to_owned(), |log, folder| {
        let folder = folder.to_string_lossy();
        let folder = folder.trim_end_matches('/');
        if !folder.starts_with('/') {
            return log;
        }
        relative_to(&log, folder)
    })
}

/// A log in which one folder is `.`. A longer name that only begins like the folder's stays.
fn relative_to(log: &str, folder: &str) -> String {
    let mut pieces = log.split(folder);
    let mut clean = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        if let Some(below) = piece.strip_prefix('/') {
            clean.push_str(below);
            continue;
        }
        let goes_on = piece.starts_with(|c: char| c.is_alphanumeric() || "-_.".contains(c))
            // A full stop that ends a sentence is no part of a name.
            && !(piece.starts_with('.') && piece[1..].starts_with(|c: char| c.is_whitespace()));
        clean.push_str(if goes_on { folder } else { "." });
        clean.push_str(piece);
    }
    clean
}

/// The first line that says what is wrong.
fn reason(log: &str) -> String {
    let lines = || log.lines().map(str::trim).filter(|line| !line.is_empty());
    let useful = lines().find(|line| {
        let lower = line.to_ascii_lowercase();
        lower.starts_with("error") || lower.contains(" error")
    });
    let line = useful
        .or_else(|| lines().next_back())
        .unwrap_or("it gave no reason");
    shorten(line, 300)
}

/// What the toolchain says to do about it: its last note.
fn advice(log: &str) -> Option<&str> {
    let last = log.lines().rfind(|line| !line.trim().is_empty())?;
    last.strip_prefix("note: ")
        .filter(|note| !note.ends_with("left out"))
}

fn left_out(input: &GateInput) -> Vec<Finding> {
    let mut found = Vec::new();
    for page in &input.plan.pages {
        let address = page.url_path.trim_matches('/');
        let out = &input.hugo_out;
        let rendered = out.join(address).join("index.html").is_file()
            || out.join(format!("{address}.html")).is_file()
            || (!address.is_empty() && out.join(address).is_file());
        if !rendered {
            let path = page.output_path.as_str();
            let message = format!("Hugo rendered nothing at {} for this page.", page.url_path);
            found.push(Finding::file(NOT_RENDERED, path, &page.url_path, message));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::gates::{
        outside,
        sample::{FakeHugo, codes, skipped, subject},
    };

    fn with(hugo: FakeHugo) -> (tempfile::TempDir, crate::gates::input::Subject) {
        let out = tempfile::tempdir().unwrap();
        let mut subject = subject();
        subject.hugo_out = out.path().to_path_buf();
        subject.toolchain = Arc::new(hugo);
        (out, subject)
    }

    #[test]
    fn a_failure_names_what_to_set() {
        for (log, expected) in [
            (
                "ERROR a\nnote: allow it with `x`\n",
                Some("allow it with `x`"),
            ),
            ("note: a is a link; left out\nERROR a\n", None),
            ("ERROR a\nnote: a is a link; left out\n", None),
            ("", None),
        ] {
            assert_eq!(advice(log), expected, "{log}");
        }
    }

    #[test]
    fn builds_and_renders_every_page() {
        let built = |log: &str, success| {
            Ok(outside::HugoBuild {
                success,
                log: log.to_owned(),
            })
        };
        let pages = ["docs/acme", "docs/acme/guide", "products/acme"];
        let cases: [(FakeHugo, &[&str]); 4] = [
            (FakeHugo::new(Some("0.1"), built("", true), &pages), &[]),
            (
                FakeHugo::new(Some("0.1"), built("", true), &pages[..2]),
                &[NOT_RENDERED],
            ),
            (
                FakeHugo::new(Some("0.1"), built("ERROR bad", false), &pages),
                &[FAILED],
            ),
            (
                FakeHugo::new(Some("0.2"), built("", true), &pages),
                &[VERSION],
            ),
        ];
        for (hugo, expected) in cases {
            let (_out, mut subject) = with(hugo);
            subject.settings.hugo_version = Some("0.1".to_owned());
            assert_eq!(codes(&HugoBuild, subject), expected);
        }
    }

    #[test]
    fn the_log_is_kept() {
        let result = Ok(outside::HugoBuild {
            success: false,
            log: "hugo v0.1\nERROR bad\n".to_owned(),
        });
        let (_out, subject) = with(FakeHugo::new(Some("0.1"), result, &[]));
        let outcome = crate::gates::check_gate("HugoBuild", &GateInput::new(subject)).unwrap();
        assert_eq!(outcome.log.as_deref(), Some("hugo v0.1\nERROR bad\n"));
        assert!(!outcome.result.ok);
    }

    #[test]
    fn without_hugo_local_skips_and_others_fail() {
        let (_out, subject) = with(FakeHugo::new(None, Err(ToolError::TimedOut), &[]));
        assert_eq!(skipped(&HugoBuild, subject), Some("toolchain_missing"));
        for profile in [Profile::Ci, Profile::Prod] {
            let (_out, mut subject) = with(FakeHugo::new(None, Err(ToolError::TimedOut), &[]));
            subject.profile = profile;
            let fault = HugoBuild.check(&GateInput::new(subject));
            assert!(matches!(fault, Err(GateFault::ToolchainMissing(tool)) if tool.tool == "hugo"));
        }
    }

    #[test]
    fn a_slow_build_is_a_timeout_and_a_plain_site_skips() {
        let (_out, subject) = with(FakeHugo::new(Some("0.1"), Err(ToolError::TimedOut), &[]));
        assert_eq!(
            HugoBuild.check(&GateInput::new(subject)),
            Ok(Checked::TimedOut)
        );
        let mut plain = crate::gates::sample::subject();
        plain.context.site_kind = SiteKind::Markdown;
        assert_eq!(skipped(&HugoBuild, plain), Some("not_applicable"));
    }

    #[test]
    fn reasons_contain_no_machine_paths() {
        let log = "hugo v0.1\nERROR render \"/home/me/site/content/a.md:3\": bad\n";
        let folders = [
            Path::new("/home/me/site/public"),
            Path::new("/home/me/site"),
        ];
        assert_eq!(
            reason(&without_machine_paths(log, &folders)),
            "ERROR render \"content/a.md:3\": bad"
        );
        assert_eq!(
            without_machine_paths("in /home/me/site, relative a/b\n", &folders),
            "in ., relative a/b\n"
        );
        for (log, expected) in [
            ("/x/out", "."),
            ("/x/out/a.html and /x/out", "a.html and ."),
            ("/x/outside/a.html", "/x/outside/a.html"),
            (
                "/x/out-2 /x/out.old /x/out_1",
                "/x/out-2 /x/out.old /x/out_1",
            ),
            ("built in /x/out.\nDone.", "built in ..\nDone."),
        ] {
            assert_eq!(without_machine_paths(log, &[Path::new("/x/out")]), expected);
        }
    }
}
