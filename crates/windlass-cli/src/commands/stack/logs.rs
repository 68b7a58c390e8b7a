//! `windlass stack logs`: log lines of a deployed resource, once or as they come.

use std::{collections::HashSet, time::Duration};

use clap::Args;
use serde_json::{Value, json};
use windlass_types::{Problem, Timestamp};

use super::{
    arguments::{Deployed, Request, filled},
    call,
    command::{StackCall, Work},
    report,
    show::{self, Screen, list, moment, text},
};
use crate::{
    output::{LogLevel, counted},
    session::{Report, Session},
};

/// How long to wait before asking for more.
const PAUSE: Duration = Duration::from_secs(2);
/// This many lines are remembered to show each once.
const REMEMBERED: usize = 20_000;

#[derive(Args, Debug)]
pub(crate) struct LogsArgs {
    /// The resource of the config.
    #[arg(value_name = "RESOURCE")]
    resource: Option<String>,
    #[command(flatten)]
    stack: Deployed,
    /// The resource, by flag.
    #[arg(long, alias = "resourceName", value_name = "NAME")]
    resource_name: Option<String>,
    /// The container, of a workload with several.
    #[arg(long, value_name = "NAME")]
    container: Option<String>,
    /// From when: 15m, 1h, 2d or an ISO time. Default: 1h.
    #[arg(long, aliases = ["startTime", "since"], value_name = "TIME")]
    start_time: Option<String>,
    /// Until when. Default: now.
    #[arg(
        long,
        alias = "endTime",
        value_name = "TIME",
        conflicts_with = "follow"
    )]
    end_time: Option<String>,
    /// A CloudWatch pattern: a word, a quoted phrase, `?a ?b`, or a JSON pattern.
    #[arg(long, value_name = "PATTERN")]
    filter: Option<String>,
    /// A Logs Insights query instead.
    #[arg(long, value_name = "QUERY", conflicts_with_all = ["filter", "follow"])]
    query: Option<String>,
    /// How many lines at most. Default: 50.
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
    /// Leave lines as they are.
    #[arg(long)]
    raw: bool,
    /// Continue where the last page ended.
    #[arg(long, value_name = "CURSOR", conflicts_with = "follow")]
    cursor: Option<String>,
    /// Keep showing lines as they arrive, until Ctrl-C.
    #[arg(long, short)]
    follow: bool,
}

impl StackCall for LogsArgs {
    fn request(&self) -> Result<Request, Problem> {
        let [resource] = filled([self.resource_name.as_deref()], &[&self.resource])?;
        Ok(self
            .stack
            .input()
            .text("resourceName", resource.as_deref())
            .text("container", self.container.as_deref())
            .text("startTime", self.start_time.as_deref())
            .text("endTime", self.end_time.as_deref())
            .text("filter", self.filter.as_deref())
            .text("query", self.query.as_deref())
            .number("limit", self.limit)
            .flag("raw", self.raw)
            .text("cursor", self.cursor.as_deref())
            .request("stack.logs"))
    }

    fn run<'a>(&'a self, session: &'a Session) -> Work<'a> {
        Box::pin(async move {
            let request = self.request()?;
            if self.follow {
                return Tail::new(session, request).run().await;
            }
            let output = call::call(session, request).await?;
            show(&Screen::data(&session.printer), &output);
            Ok(report(session, output))
        })
    }
}

pub(super) fn show(screen: &Screen<'_>, output: &Value) {
    for event in list(output, "events") {
        screen.line(&line(event));
    }
    if let Some(results) = output.get("results").and_then(Value::as_array) {
        show::rows::rows(screen, &[], results);
    }
}

fn line(event: &Value) -> String {
    let time = moment(event.get("timestamp").unwrap_or(&Value::Null));
    format!("{time}  {}", text(event, "message").trim_end())
}

/// Lines as they come, each once.
struct Tail<'a> {
    session: &'a Session,
    request: Request,
    source: String,
    seen: HashSet<String>,
    count: usize,
}

impl<'a> Tail<'a> {
    fn new(session: &'a Session, request: Request) -> Self {
        let source = text(&request.input, "resourceName").to_owned();
        Self {
            session,
            request,
            source,
            seen: HashSet::new(),
            count: 0,
        }
    }

    async fn run(mut self) -> Result<Report, Problem> {
        let session = self.session;
        let engine = session.engine();
        loop {
            tokio::select! {
                () = session.interrupt.wait() => break,
                page = self.page() => page?,
            }
            if !session.printer.look_for_reader() {
                break;
            }
            tokio::select! {
                () = session.interrupt.wait() => break,
                () = engine.clock.sleep_until(engine.now().after(PAUSE)) => {}
            }
        }
        let message = format!("{} of {}", counted(self.count, "line"), self.source);
        let data = json!({ "resource": self.source, "count": self.count, "message": message });
        Ok(Report::new(message, data))
    }

    /// Everything since the last line that was shown.
    async fn page(&mut self) -> Result<(), Problem> {
        let mut input = self.request.input.clone();
        loop {
            let output = self
                .session
                .call(self.request.operation, input.clone())
                .await?;
            let events = list(&output.output, "events");
            for event in events {
                self.print_line(event);
            }
            // Lines of one moment may come in two pages, so the last moment is asked for again.
            let last = events
                .iter()
                .filter_map(|event| event.get("timestamp"))
                .next_back();
            if let (Some(last), Some(next)) = (last, self.request.input.as_object_mut()) {
                next.insert("startTime".to_owned(), last.clone());
            }
            match output
                .output
                .get("nextCursor")
                .filter(|cursor| cursor.is_string())
            {
                Some(cursor) => input["cursor"] = cursor.clone(),
                None => return Ok(()),
            }
        }
    }

    fn print_line(&mut self, event: &Value) {
        if self.seen.len() >= REMEMBERED {
            self.seen.clear();
        }
        if !self.seen.insert(event.to_string()) {
            return;
        }
        self.count += 1;
        let printer = &self.session.printer;
        Screen::data(printer).line(&line(event));
        let at: Option<Timestamp> = text(event, "timestamp").parse().ok();
        printer.ndjson().log(
            &self.source,
            LogLevel::Info,
            text(event, "message").trim_end(),
            at.unwrap_or_else(|| self.session.engine().now()),
        );
    }
}
