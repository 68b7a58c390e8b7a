//! The Hugo program: where it is, which version it is, and a build of a copy of a site.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use url::Url;
use windlass_ports::{HugoBuild, HugoJob, ToolError, Toolchain};
use windlass_process::{Bounds, Ended, Stragglers, Workplace, start};
use windlass_types::Shortage;

use crate::{
    copy::{CopyError, copy_site},
    environment,
    fence::{self, Fence},
    log, mounts,
    version::{self, Said},
};

/// How long Hugo may take to say its version; launchers are slow when started first.
const VERSION_LIMIT: Duration = Duration::from_secs(30);

/// Where to look, and where to work.
#[derive(Clone, Debug)]
pub struct HugoPlaces {
    /// The `PATH` on which `hugo` is looked for, and programs a site's owner allowed.
    pub path: OsString,
    /// The program itself; then the `PATH` is not searched for it.
    pub configured: Option<PathBuf>,
    /// The folder in which copies of sites are made, not within a site; made where it is missing.
    pub scratch: PathBuf,
}

/// The machine's Hugo, called as a program.
#[derive(Debug)]
pub struct HugoProgram {
    places: HugoPlaces,
    found: Mutex<Option<Found>>,
}

/// A Hugo that was asked for its version.
#[derive(Clone, Debug)]
struct Found {
    /// What was asked first, and the state it was in: it may be replaced by another version.
    asked: PathBuf,
    stamp: Stamp,
    program: PathBuf,
    version: String,
}

type Stamp = (Option<SystemTime>, u64);

impl HugoProgram {
    /// A Hugo in these places. Nothing is looked up before the first call.
    pub fn new(places: HugoPlaces) -> Self {
        Self {
            places,
            found: Mutex::default(),
        }
    }

    /// The program, asked for its version once. A Hugo that was missing is looked for again.
    fn find(&self) -> Option<Found> {
        let asked = match &self.places.configured {
            Some(program) => program.clone(),
            None => windlass_process::find("hugo", &self.places.path)?,
        };
        let metadata = fs_err::metadata(&asked).ok()?;
        let stamp = (metadata.modified().ok(), metadata.len());
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = |known: &&Found| {
            (&known.asked, known.stamp) == (&asked, stamp) && known.program.is_file()
        };
        if let Some(known) = found.as_ref().filter(is_known) {
            return Some(known.clone());
        }
        let said = ask(&asked)?;
        // Without its launcher it starts faster and needs less of the machine.
        let behind = said.behind.filter(|behind| {
            ask(behind).is_some_and(|direct: Said| direct.version == said.version)
        });
        *found = Some(Found {
            program: behind.unwrap_or_else(|| asked.clone()),
            asked,
            stamp,
            version: said.version,
        });
        found.clone()
    }
}

/// The version of a program. It is the user's own and runs as the user would run it.
fn ask(program: &Path) -> Option<Said> {
    let mut command = windlass_process::command(program);
    command
        .arg("version")
        .current_dir("/")
        // A launcher in Python names the program behind it on a line that is otherwise lost.
        .env("PYTHONUNBUFFERED", "1");
    match windlass_process::run(&mut command, None, VERSION_LIMIT).ok()? {
        Ended::Itself {
            code: Some(0),
            mut stdout,
            ..
        } => version::read(&String::from_utf8_lossy(&stdout.all().ok()?)),
        _ => None,
    }
}

impl Toolchain for HugoProgram {
    fn hugo_version(&self) -> Option<String> {
        self.find().map(|found| found.version)
    }

    fn hugo_build(&self, job: &HugoJob<'_>) -> Result<HugoBuild, ToolError> {
        let until = Until::new(job);
        let found = self
            .find()
            .ok_or_else(|| ToolError::NotRun("hugo is not installed".to_owned()))?;
        let private = Private::below(&self.places.scratch).map_err(not_run("make a folder"))?;
        let site = private.site();
        let left_out =
            copy_site(job.site, &site, &|| until.is_over()).map_err(|error| match error {
                CopyError::TimedOut => ToolError::TimedOut,
                CopyError::Io(error) => not_run("copy the site")(error),
            })?;
        fs_err::create_dir_all(job.out).map_err(not_run("create the folder of the result"))?;
        let out = fs_err::canonicalize(job.out).map_err(not_run("find the result"))?;

        let own = vec![private.folder.path().to_owned(), out.clone()];
        let mut fence = Fence::around(own).with_program(&found.program);
        if !job.exec_allow.is_empty() {
            fence = fence.with_programs_in(std::env::split_paths(&self.places.path));
        }
        let fetched = job
            .http_allow
            .iter()
            .map(String::as_str)
            .chain(job.module_proxy);
        fence = fence.with_hosts(fetched.filter_map(|url| Url::parse(url).ok()));
        let call = Call {
            program: &found.program,
            configuration: environment::configuration(&site, job.config_dir),
            variables: environment::variables(&private, &found.program, job, &self.places.path),
            fence,
            site: &site,
            until,
            folder: &private.folder,
        };
        let mut build = call.build(&out)?;
        if let Some(shortage) = log::shortage(&build.log).filter(|_| !build.success) {
            let cause = log::relative_to(&build.log, &site);
            let cause = cause
                .trim()
                .lines()
                .next_back()
                .unwrap_or_default()
                .to_owned();
            return Err(ToolError::Short { shortage, cause });
        }
        let notes: String = left_out
            .iter()
            .map(|link| format!("note: {link} is a link that leads out of the site; left out\n"))
            .collect();
        build.log.insert_str(0, &notes);
        if let Some(advice) = log::advice(&build.log).filter(|_| !build.success) {
            build.log.push_str(&format!("note: {advice}\n"));
        }
        build.log = log::relative_to(&log::relative_to(&build.log, &site), &out);
        Ok(build)
    }
}

/// How Hugo is called for one site.
struct Call<'a> {
    program: &'a Path,
    configuration: Vec<OsString>,
    variables: Vec<(&'static str, OsString)>,
    fence: Fence,
    site: &'a Path,
    until: Until<'a>,
    folder: &'a Workplace,
}

impl Call<'_> {
    fn build(&self, out: &Path) -> Result<HugoBuild, ToolError> {
        let (code, printed, log) = self.run(&["config".into(), "mounts".into()])?;
        if code != Some(0) {
            return Ok(failed(log));
        }
        match mounts::outside(&printed, self.site) {
            Ok(outside) if outside.is_empty() => {}
            Ok(outside) => {
                let lines = outside.iter().map(|line| format!("ERROR {line}\n"));
                return Ok(failed(lines.collect()));
            }
            Err(cause) => {
                return Ok(failed(format!(
                    "ERROR `hugo config mounts` is not understood: {cause}\n{log}"
                )));
            }
        }
        let destination = ["--noBuildLock".into(), "--destination".into(), out.into()];
        let (code, _, log) = self.run(&destination)?;
        Ok(HugoBuild {
            success: code == Some(0),
            log: match code {
                Some(_) => log,
                None => format!("{log}ERROR Hugo was ended by a signal\n"),
            },
        })
    }

    /// The exit code, the output, and the whole log.
    fn run(&self, arguments: &[OsString]) -> Result<(Option<i32>, String, String), ToolError> {
        let mut command = windlass_process::command(self.program);
        command
            .args(arguments)
            .args(&self.configuration)
            .current_dir(self.site)
            .env_clear()
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        let left = self.until.left().ok_or(ToolError::TimedOut)?;
        let spawn = |command: &mut Command| self.fence.spawn(command);
        let running = start(&mut command, None, spawn).map_err(not_run("start hugo"))?;
        fence::limit(&running, left);
        self.folder
            .note(&running)
            .map_err(not_run("note the process"))?;
        let ended = running.finish(&Bounds {
            time: left,
            unwanted: self.until.stopped,
            stragglers: Stragglers::End,
        });
        match ended.map_err(not_run("wait for hugo"))? {
            Ended::Stopped => Err(ToolError::TimedOut),
            Ended::Itself {
                code,
                mut stdout,
                stderr,
            } => {
                let read = not_run("read what hugo wrote");
                let printed = stdout.ends(1 << 20).map_err(&read)?.0;
                let printed = String::from_utf8_lossy(&printed).into_owned();
                let log = log::text(stdout, stderr).map_err(read)?;
                Ok((code, printed, log))
            }
        }
    }
}

fn failed(log: String) -> HugoBuild {
    HugoBuild {
        success: false,
        log,
    }
}

fn not_run(what: &'static str) -> impl Fn(io::Error) -> ToolError {
    move |error| {
        let cause = format!("could not {what}: {error}");
        match Shortage::of_io(&error) {
            Some(shortage) => ToolError::Short { shortage, cause },
            None => ToolError::NotRun(cause),
        }
    }
}

/// How long a job runs.
struct Until<'a> {
    began: Instant,
    limit: Duration,
    stopped: &'a (dyn Fn() -> bool + Sync),
}

impl<'a> Until<'a> {
    fn new(job: &HugoJob<'a>) -> Self {
        Self {
            began: Instant::now(),
            limit: job.limit,
            stopped: job.stopped,
        }
    }

    fn left(&self) -> Option<Duration> {
        let left = self.limit.checked_sub(self.began.elapsed())?;
        (!(self.stopped)()).then_some(left)
    }

    fn is_over(&self) -> bool {
        self.left().is_none()
    }
}

/// A folder of the build's own, gone with it; never one that an earlier build worked in.
pub struct Private {
    folder: Workplace,
}

impl Private {
    /// A new one. What builds that were killed have left is ended and removed.
    pub fn below(scratch: &Path) -> io::Result<Self> {
        let private = Self {
            folder: Workplace::below(scratch, "hugo-")?,
        };
        for folder in [
            private.site(),
            private.home(),
            private.temporary(),
            private.cache(),
        ] {
            fs_err::create_dir(folder)?;
        }
        Ok(private)
    }

    /// The copy of the site.
    pub fn site(&self) -> PathBuf {
        self.folder.path().join("site")
    }

    /// The home directory of the build.
    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// The folder for temporary files.
    pub fn temporary(&self) -> PathBuf {
        self.folder.path().join("tmp")
    }

    /// Hugo's cache.
    pub fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }
}
