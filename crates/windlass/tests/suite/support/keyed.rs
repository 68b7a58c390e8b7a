//! A daemon that asks for keys, and a table of requests to it.

use super::{
    binary::{Daemon, free_address, say},
    home::Place,
    http::Ask,
};

/// So that the table, not the limits, decides.
const SETTINGS: &str = "
[limits.tiers.pro]
per_minute = 100000
concurrency = 64
[limits.tiers.anonymous]
per_minute = 100000
concurrency = 64
[limits.tiers.unauthorized]
per_minute = 100000
concurrency = 64
";

/// A daemon that asks for keys, and two of them.
pub(crate) struct Server {
    pub(crate) daemon: Daemon,
    /// May do everything.
    pub(crate) root: String,
    /// May look at runs.
    pub(crate) runs: String,
    _place: Place,
}

impl Server {
    pub(crate) fn start() -> Self {
        let place = Place::new();
        let home = place.home();
        fs_err::write(home.join("config.toml"), SETTINGS).unwrap();
        let create = |scope: &str| {
            let said = say(&home, &["keys", "create", "test", "--scope", scope]).worked();
            said.stdout.trim().to_owned()
        };
        let (root, runs) = (create("*"), create("runs"));
        let mut daemon = Daemon::spawn(&home, free_address(), &[]);
        daemon.wait_until_ready();
        Self {
            daemon,
            root,
            runs,
            _place: place,
        }
    }

    pub(crate) fn with_key(&self, ask: Ask) -> Ask {
        ask.with("authorization", format!("Bearer {}", self.root))
    }

    pub(crate) fn assert_up(&self, after: &str) {
        let reply = Ask::get("/v1/health").send(self.daemon.address);
        assert!(
            reply.as_ref().is_ok_and(|reply| reply.status == 200),
            "after {after}: {reply:?}"
        );
    }

    /// Sends every request and compares status and code; the answer to each is an envelope.
    pub(crate) fn check(&self, table: &[(&str, Ask, u16, &str)]) {
        let mut wrong = Vec::new();
        for (title, ask, status, code) in table {
            let reply = match ask.send(self.daemon.address) {
                Ok(reply) => reply,
                Err(error) => {
                    wrong.push(format!("{title}: no answer: {error}"));
                    continue;
                }
            };
            let found = reply.json()["error"]["code"].clone();
            let found = found.as_str().unwrap_or_default();
            if (reply.status, found) != (*status, *code) {
                wrong.push(format!(
                    "{title}: {} {found:?}, not {status} {code:?}: {}",
                    reply.status,
                    reply.text()
                ));
            }
            if !found.is_empty()
                && reply.json()["error"]["message"]
                    .as_str()
                    .is_none_or(str::is_empty)
            {
                wrong.push(format!(
                    "{title}: a refusal without words: {}",
                    reply.text()
                ));
            }
            self.assert_up(title);
        }
        let list = wrong.join("\n");
        assert!(
            wrong.is_empty(),
            "{} of {} wrong:\n{list}",
            wrong.len(),
            table.len()
        );
    }
}
