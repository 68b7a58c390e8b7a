//! Asks addresses whether they answer, through the one door to the outside.
//!
//! `HEAD` first, `GET` where a server does not like that. Redirects are followed here, each one
//! as a new address with the same checks. One address of a host at a time, several hosts at once.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::{StreamExt as _, stream};
use tokio::{
    runtime::Handle,
    time::{sleep, timeout},
};
use url::Url;
use windlass_ports::{
    LinkAnswer, LinkProbe, Outbound, OutboundError, OutboundRequest, OutboundResponse,
};

/// How many hosts are asked at once.
const HOSTS_AT_ONCE: usize = 8;
/// How many redirects are followed.
const MOST_REDIRECTS: usize = 5;
/// How long one request may take.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// The pause between two addresses of a host.
const PAUSE: Duration = Duration::from_millis(100);

/// Says whether a host may be asked.
pub type AllowedHosts = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// The link prober.
pub struct HttpLinkProbe {
    outbound: Arc<dyn Outbound>,
    allowed: AllowedHosts,
    runtime: Handle,
    request_limit: Duration,
}

impl HttpLinkProbe {
    /// A prober that asks allowed hosts through `outbound`, whose policy it obeys as well.
    pub fn new(outbound: Arc<dyn Outbound>, allowed: AllowedHosts, runtime: Handle) -> Self {
        Self {
            outbound,
            allowed,
            runtime,
            request_limit: REQUEST_LIMIT,
        }
    }

    /// The same with another limit for each request.
    #[must_use]
    pub fn with_request_limit(mut self, limit: Duration) -> Self {
        self.request_limit = limit;
        self
    }

    async fn ask(&self, url: Url) -> LinkAnswer {
        let mut url = url;
        let mut method = "HEAD";
        let mut redirects = 0;
        loop {
            if !url.host_str().is_some_and(|host| (self.allowed)(host)) {
                return LinkAnswer::NotAllowed;
            }
            let response = match self.send(method, &url).await {
                Ok(response) => response,
                Err(answer) => return answer,
            };
            match (response.status, response.header("location")) {
                (403 | 405 | 501, _) if method == "HEAD" => method = "GET",
                (301 | 302 | 303 | 307 | 308, Some(location)) => {
                    redirects += 1;
                    if redirects > MOST_REDIRECTS {
                        let why = format!("it redirects more than {MOST_REDIRECTS} times");
                        return LinkAnswer::Unreachable(why);
                    }
                    url = match url.join(location) {
                        Ok(next) => next,
                        Err(error) => {
                            let why = format!("it redirects to {location:?}: {error}");
                            return LinkAnswer::Unreachable(why);
                        }
                    };
                }
                (status, _) => return LinkAnswer::Status(status),
            }
        }
    }

    async fn send(&self, method: &str, url: &Url) -> Result<OutboundResponse, LinkAnswer> {
        let request = OutboundRequest {
            method: method.to_owned(),
            url: url.to_string(),
            headers: vec![("accept".to_owned(), "*/*".to_owned())],
            body: Vec::new(),
            timeout: self.request_limit,
        };
        match timeout(self.request_limit, self.outbound.send(request)).await {
            Ok(Ok(response)) => Ok(response),
            Err(_) | Ok(Err(OutboundError::TimedOut(_))) => Err(LinkAnswer::TimedOut),
            Ok(Err(OutboundError::Forbidden(_))) => Err(LinkAnswer::NotAllowed),
            Ok(Err(error)) => Err(LinkAnswer::Unreachable(error.to_string())),
        }
    }

    /// Asks all addresses, host by host, and notes each answer as it comes.
    async fn ask_all(
        &self,
        hosts: BTreeMap<String, Vec<(String, Url)>>,
        note: impl Fn(String, LinkAnswer),
    ) {
        let note = &note;
        stream::iter(hosts.into_values())
            .for_each_concurrent(HOSTS_AT_ONCE, |addresses| async move {
                for (nth, (written, url)) in addresses.into_iter().enumerate() {
                    if nth > 0 {
                        sleep(PAUSE).await;
                    }
                    note(written, self.ask(url).await);
                }
            })
            .await;
    }
}

impl LinkProbe for HttpLinkProbe {
    /// Must not be called from a task of the runtime: it blocks.
    fn probe(&self, urls: &[String], limit: Duration) -> BTreeMap<String, LinkAnswer> {
        let mut answers = BTreeMap::new();
        let mut hosts: BTreeMap<String, Vec<(String, Url)>> = BTreeMap::new();
        for written in urls {
            let (answer, url) = match Url::parse(written) {
                // What has no answer in the end was not reached in time.
                Ok(url) => (LinkAnswer::TimedOut, Some(url)),
                Err(error) => (LinkAnswer::Unreachable(error.to_string()), None),
            };
            let is_new = answers.insert(written.clone(), answer).is_none();
            if let Some(url) = url.filter(|_| is_new) {
                let host = url.host_str().unwrap_or_default().to_owned();
                hosts.entry(host).or_default().push((written.clone(), url));
            }
        }
        let answers = Mutex::new(answers);
        let note = |url, answer| {
            let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
            answers.insert(url, answer);
        };
        // Late or not, what was answered by then counts.
        let _ = self
            .runtime
            .block_on(async { timeout(limit, self.ask_all(hosts, note)).await });
        answers.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
