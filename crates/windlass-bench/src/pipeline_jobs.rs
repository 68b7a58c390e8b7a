//! Fifty pipelines at once over HTTP: when each of them ends, who overtakes whom, and how long a
//! status takes in the meantime.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    path::Path,
    process::Command,
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use fs_err as fs;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    calls::{self, From},
    pipeline::EXAMPLES,
    process,
    report::{self, Samples},
};

const JOBS: usize = 50;
/// Two callers, so that fairness between keys is part of it.
const KEYS: usize = 2;
const ASKERS: usize = 4;
/// Status at its slowest, in milliseconds.
const STATUS_GOAL: f64 = 1_000.0;
/// How many times as long as the median job the slowest one may take.
const FAIRNESS_GOAL: f64 = 1.5;
const LIMIT: Duration = Duration::from_secs(600);

pub(crate) fn run(windlass: &Path, base: &Path) -> Result<()> {
    report::heading(&format!(
        "pipeline: {JOBS} jobs at once over HTTP, {KEYS} keys, {ASKERS} asking after them"
    ));
    let home = base.join("pipeline-jobs");
    fs::create_dir_all(&home)?;
    fs::write(
        home.join("config.toml"),
        "[limits.tiers.bench]\nper_minute = 100000000\nconcurrency = 1000\nconcurrent_jobs = 0\n\
         pipelines_per_hour = 0\n",
    )?;
    let keys: Vec<String> = (0..KEYS)
        .map(|number| create_key(windlass, &home, number))
        .collect::<Result<_>>()?;
    let mut command = Command::new(windlass);
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--home"])
        .arg(&home);
    let (_server, address) = calls::start(command, From::Stderr)?;

    // One of each kind alone, so that what is measured below is not the first touch of anything.
    let mut client = Client::open(address)?;
    let mut one = 0.0_f64;
    for example in EXAMPLES {
        let job = client.begin(&keys[0], example)?;
        while !client.status(&keys[0], &job)?.is_final {
            thread::sleep(Duration::from_millis(5));
        }
        one += client.status(&keys[0], &job)?.seconds();
    }
    one /= EXAMPLES.len() as f64;

    let began = Instant::now();
    let mut jobs = Vec::new();
    for number in 0..JOBS {
        let key = keys[number % KEYS].clone();
        let spec = EXAMPLES[number % EXAMPLES.len()];
        jobs.push((client.begin(&key, spec)?, key));
    }
    let submitted = began.elapsed();
    let (statuses, waits) = follow(address, &jobs)?;
    print(one, submitted, &statuses, &waits)
}

/// Asks after all jobs from several connections until the last has ended.
fn follow(address: SocketAddr, jobs: &[(String, String)]) -> Result<(Vec<Status>, Samples)> {
    let found: Mutex<Vec<Option<Status>>> = Mutex::new(vec![None; jobs.len()]);
    let waits = Mutex::new(Samples::default());
    let deadline = Instant::now() + LIMIT;
    thread::scope(|scope| {
        let askers: Vec<_> = (0..ASKERS)
            .map(|asker| {
                let (found, waits) = (&found, &waits);
                scope.spawn(move || -> Result<()> {
                    let mut client = Client::open(address)?;
                    let own = || (asker..jobs.len()).step_by(ASKERS);
                    loop {
                        let mut open = 0;
                        for index in own() {
                            let (job, key) = &jobs[index];
                            let began = Instant::now();
                            let status = client.status(key, job)?;
                            let wait = process::millis(began.elapsed());
                            lock(waits).push(wait);
                            if status.is_final {
                                lock(found)[index].get_or_insert(status);
                            } else {
                                open += 1;
                            }
                        }
                        if open == 0 {
                            return Ok(());
                        }
                        ensure!(Instant::now() < deadline, "{open} jobs did not end");
                    }
                })
            })
            .collect();
        for asker in askers {
            match asker.join() {
                Ok(asked) => asked?,
                Err(_) => bail!("a thread that asked for statuses ended early"),
            }
        }
        Ok(())
    })?;
    let statuses = lock(&found).iter().cloned().collect::<Option<Vec<_>>>();
    let waits = lock(&waits).clone();
    Ok((statuses.context("a job without an end")?, waits))
}

fn print(one: f64, submitted: Duration, statuses: &[Status], waits: &Samples) -> Result<()> {
    let start = statuses.iter().map(|status| status.created).min();
    let start = start.context("no job")?;
    let mut ends = Samples::default();
    let mut took = Samples::default();
    for status in statuses {
        ends.push((status.finished - start).max(0) as f64 / 1e3);
        took.push(status.seconds());
    }
    report::value("one job alone, mean of four specs", one, "s");
    report::value("50 accepted after", submitted.as_secs_f64(), "s");
    report::value("first ends after", ends.quantile(0.0), "s");
    report::value("half have ended after", ends.median(), "s");
    report::value("last ends after", ends.quantile(1.0), "s");
    report::value(
        "jobs per second",
        JOBS as f64 / ends.quantile(1.0),
        "jobs/s",
    );
    let overtaken = (0..statuses.len()).map(|own| {
        let later = statuses[own + 1..].iter();
        later
            .filter(|other| other.finished < statuses[own].finished)
            .count()
    });
    let overtaken = overtaken.max().unwrap_or(0);
    report::value(
        "most later jobs that overtake one",
        overtaken as f64,
        "jobs",
    );
    let fairness = took.quantile(1.0) / took.median();
    report::ratio(
        "slowest job / median job",
        fairness,
        &format!("≤ {FAIRNESS_GOAL}"),
        fairness <= FAIRNESS_GOAL,
    );
    let p99 = waits.quantile(0.99);
    report::value("statuses asked for", waits.0.len() as f64, "");
    report::value("status, p50", waits.median(), "ms");
    report::value("status, p99", p99, "ms");
    report::value("status, slowest", waits.quantile(1.0), "ms");
    let share = p99 / STATUS_GOAL;
    report::ratio("status p99, of 1 s allowed", share, "≤ 1", share <= 1.0);
    Ok(())
}

fn lock<T>(value: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    value
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn create_key(windlass: &Path, home: &Path, number: usize) -> Result<String> {
    let output = Command::new(windlass)
        .args(["keys", "create"])
        .arg(format!("bench-{number}"))
        .args(["--tier", "bench", "--scope", "pipeline", "--json", "--home"])
        .arg(home)
        .output()?;
    let created: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("keys create: {}", String::from_utf8_lossy(&output.stderr)))?;
    let key = created["api_key"].as_str();
    Ok(key.context("no api_key in the answer")?.to_owned())
}

/// Where a job stands.
#[derive(Clone)]
struct Status {
    is_final: bool,
    created: i64,
    finished: i64,
}

impl Status {
    fn read(value: &Value) -> Result<Self> {
        let is_final = match value["status"].as_str() {
            Some("running") => false,
            Some("completed") => true,
            _ => bail!("a job ended as {value}"),
        };
        let time = |name: &str| -> Result<i64> {
            let text = value[name].as_str();
            let text = text.with_context(|| format!("no {name} in {value}"))?;
            Ok(text.parse::<Timestamp>()?.as_millisecond())
        };
        let created = time("created_at")?;
        Ok(Self {
            is_final,
            created,
            finished: if is_final {
                time("finished_at")?
            } else {
                created
            },
        })
    }

    fn seconds(&self) -> f64 {
        (self.finished - self.created) as f64 / 1e3
    }
}

/// One connection, one request at a time.
struct Client {
    address: SocketAddr,
    stream: BufReader<TcpStream>,
}

impl Client {
    fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LIMIT))?;
        Ok(Self {
            address,
            stream: BufReader::new(stream),
        })
    }

    /// Starts a job; its id.
    fn begin(&mut self, key: &str, spec: &str) -> Result<String> {
        let body = json!({ "spec": spec }).to_string();
        let answer = self.exchange("POST", "/v1/pipelines", key, &body)?;
        let job = answer["job_id"].as_str();
        Ok(job
            .with_context(|| format!("no job in {answer}"))?
            .to_owned())
    }

    fn status(&mut self, key: &str, job: &str) -> Result<Status> {
        let answer = self.exchange("GET", &format!("/v1/pipelines/{job}"), key, "")?;
        Status::read(&answer)
    }

    fn exchange(&mut self, method: &str, path: &str, key: &str, body: &str) -> Result<Value> {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.address,
            body.len()
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut length = None;
        let mut head = String::new();
        loop {
            let mut line = String::new();
            ensure!(
                self.stream.read_line(&mut line)? > 0,
                "the server closed the connection"
            );
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = Some(value.trim().parse::<usize>()?);
            }
            head.push_str(line);
            head.push('\n');
        }
        let mut bytes = vec![0; length.with_context(|| format!("no length in {head}"))?];
        self.stream.read_exact(&mut bytes)?;
        let value = serde_json::from_slice(&bytes)?;
        ensure!(head.starts_with("HTTP/1.1 20"), "{head}{value}");
        Ok(value)
    }
}
