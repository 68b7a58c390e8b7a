//! Servers that fail, are left alone, and recover.

use std::collections::VecDeque;

use futures::FutureExt as _;
use windlass_ports::{Message, WireFormat};

use super::*;

/// A clock that stands still until it is moved.
struct HandClock(Mutex<Timestamp>);

impl HandClock {
    fn wait(&self, seconds: u64) {
        let mut now = self.0.lock().unwrap();
        *now = now.after(Duration::from_secs(seconds));
    }
}

impl Clock for HandClock {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }

    fn sleep_until(&self, _: Timestamp) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

/// Answers by script and says what it was asked; with no script left it never answers.
#[derive(Default)]
struct Script {
    answers: Mutex<VecDeque<Result<(), ModelError>>>,
    asked: Mutex<Vec<String>>,
}

impl LanguageModel for Script {
    fn complete<'a>(
        &'a self,
        address: &'a ModelAddress,
        _: &'a ModelRequest,
        _: Option<Listener<'a>>,
    ) -> BoxFuture<'a, Result<ModelReply, ModelError>> {
        self.asked
            .lock()
            .unwrap()
            .push(address.api_base_url.clone());
        let answer = self.answers.lock().unwrap().pop_front();
        Box::pin(async move {
            match answer {
                Some(answer) => answer.map(|()| ModelReply::of_text("small", "Hi.")),
                None => std::future::pending().await,
            }
        })
    }
}

struct World {
    clock: Arc<HandClock>,
    script: Arc<Script>,
    guarded: Guarded,
}

impl World {
    fn new() -> Self {
        let start = Timestamp::from_millis(1_750_000_000_000);
        let clock = Arc::new(HandClock(Mutex::new(start)));
        let script = Arc::new(Script::default());
        let models = Arc::clone(&script) as Arc<dyn LanguageModel>;
        let guarded = Guarded::new(models, Arc::clone(&clock) as Arc<dyn Clock>);
        Self {
            clock,
            script,
            guarded,
        }
    }

    fn will(&self, answer: Result<(), ModelError>) {
        self.script.answers.lock().unwrap().push_back(answer);
    }

    /// Asks once; `None` where there is no answer yet, and nobody waits for one. Waits so many
    /// seconds before giving up.
    fn ask(&self, server: &str, timeout: u64) -> Option<Result<ModelReply, ModelError>> {
        let address = ModelAddress {
            wire: WireFormat::ChatCompletions,
            api_base_url: server.to_owned(),
            model: "small".to_owned(),
            api_key: None,
            request_timeout: Duration::from_secs(120),
        };
        let request = ModelRequest::new(vec![Message::user("Hello?")]);
        let mut asking = self.guarded.complete(&address, &request, None);
        let answer = (&mut asking).now_or_never();
        if answer.is_none() {
            self.clock.wait(timeout);
        }
        answer
    }

    fn reason(&self, server: &str) -> &'static str {
        match self.ask(server, 0) {
            None => "silence",
            Some(Ok(_)) => "answered",
            Some(Err(error)) => error.reason(),
        }
    }
}

const HERE: &str = "http://here.example/v1";
const THERE: &str = "http://there.example/v1";

fn gone() -> Result<(), ModelError> {
    Err(ModelError::Unreachable("refused".to_owned()))
}

#[test]
fn a_failing_server_is_left_alone_and_others_are_not() {
    let world = World::new();
    for _ in 0..5 {
        world.will(gone());
        assert_eq!(world.reason(HERE), "unreachable");
    }
    world.clock.wait(18);
    assert_eq!(
        world.ask(HERE, 0),
        Some(Err(ModelError::Suspended {
            retry_after: Duration::from_secs(42)
        }))
    );
    world.will(Ok(()));
    assert_eq!(world.reason(THERE), "answered");
    assert_eq!(world.script.asked.lock().unwrap().len(), 6);

    world.clock.wait(42);
    for _ in 0..3 {
        world.will(Ok(()));
        assert_eq!(world.reason(HERE), "answered");
    }
}

#[test]
fn what_counts_as_a_failure_of_the_server() {
    let said = || "no".to_owned();
    let cases = [
        (gone(), true),
        (Err(ModelError::TimedOut(Duration::from_secs(1))), true),
        (
            Err(ModelError::Unavailable {
                status: 500,
                said: said(),
            }),
            true,
        ),
        (
            Err(ModelError::RateLimited {
                retry_after: None,
                said: said(),
            }),
            true,
        ),
        (Err(ModelError::cut(said())), true),
        (Err(ModelError::Malformed(said())), true),
        (Ok(()), false),
        (
            Err(ModelError::Unauthorized {
                status: 401,
                said: String::new(),
            }),
            false,
        ),
        (
            Err(ModelError::Rejected {
                status: 400,
                code: None,
                said: said(),
            }),
            false,
        ),
        (Err(ModelError::TooLarge { limit: 1 }), false),
        (Err(ModelError::Forbidden(said())), false),
        (Err(ModelError::InvalidAddress(said())), false),
    ];
    for (answer, opens) in cases {
        let world = World::new();
        for _ in 0..5 {
            world.will(answer.clone());
            world.ask(HERE, 0);
        }
        world.will(Ok(()));
        let expected = if opens {
            "provider_unavailable"
        } else {
            "answered"
        };
        assert_eq!(world.reason(HERE), expected, "{answer:?}");
    }
}

#[test]
fn giving_up_late_is_a_failure_of_the_server_and_giving_up_early_is_not() {
    for (timeout, then) in [(31, "provider_unavailable"), (3, "silence")] {
        let world = World::new();
        for _ in 0..5 {
            assert_eq!(world.ask(HERE, timeout), None);
        }
        assert_eq!(world.reason(HERE), then, "{timeout} s");
    }
}

#[test]
fn a_call_that_nobody_waits_for_makes_room_for_the_next() {
    let world = World::new();
    for _ in 0..5 {
        world.will(gone());
        world.ask(HERE, 0);
    }
    world.clock.wait(60);
    for _ in 0..10 {
        assert_eq!(world.reason(HERE), "silence");
    }
}
