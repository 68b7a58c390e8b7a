//! Breakers on a clock that the test moves.

use proptest::prelude::*;

use super::*;

struct World {
    breaker: Breaker,
    now: Timestamp,
}

impl World {
    fn new() -> Self {
        Self {
            breaker: Breaker::default(),
            now: Timestamp::from_millis(1_750_000_000_000),
        }
    }

    fn wait(&mut self, seconds: u64) {
        self.now = self.now.after(Duration::from_secs(seconds));
    }

    fn admit(&mut self) -> Result<Leave, u64> {
        let asked = self.breaker.admit(self.now);
        asked.map_err(|wait| wait.as_secs())
    }

    fn end(&mut self, leave: Leave, ending: Ending) {
        self.breaker.end(leave, ending, self.now);
    }

    /// One call from start to end, where it is allowed.
    fn call(&mut self, ending: Ending) -> Result<(), u64> {
        let leave = self.admit()?;
        self.end(leave, ending);
        Ok(())
    }

    /// A line of what happens: `f` a failing call, `a` one that is answered, `u` one that says
    /// nothing, a number of seconds of waiting; each call shows as `.` or as the wait it is told.
    fn play(&mut self, script: &str) -> String {
        let mut shown = Vec::new();
        for word in script.split_whitespace() {
            let ending = match word {
                "f" => Ending::Failed,
                "a" => Ending::Answered,
                "u" => Ending::Unknown,
                seconds => {
                    self.wait(seconds.parse().unwrap());
                    continue;
                }
            };
            shown.push(match self.call(ending) {
                Ok(()) => ".".to_owned(),
                Err(wait) => wait.to_string(),
            });
        }
        shown.join(" ")
    }
}

#[test]
fn scripts() {
    for (about, script, shown) in [
        (
            "five failures in a row open it",
            "f f f f f f",
            ". . . . . 60",
        ),
        (
            "an answer starts the count again",
            "f f f f a f f f f a",
            ". . . . . . . . . .",
        ),
        (
            "what says nothing counts for nothing",
            "f f u f u f u f f",
            ". . . . . . . . 60",
        ),
        (
            "it stays open for a minute",
            "f f f f f 59 a 1 a",
            ". . . . . 1 .",
        ),
        (
            "three answers close it, then five failures are needed again",
            "f f f f f 60 a a a f f f f a f",
            ". . . . . . . . . . . . . .",
        ),
        (
            "one failure while half open opens it again",
            "f f f f f 60 a f a 59 a 1 a",
            ". . . . . . . 60 1 .",
        ),
        (
            "waiting closes nothing",
            "f f f f f 3600 f a",
            ". . . . . . 60",
        ),
    ] {
        assert_eq!(World::new().play(script), shown, "{about}");
    }
}

#[test]
fn a_half_open_breaker_lets_through_as_many_as_it_needs() {
    let mut world = World::new();
    world.play("f f f f f 60");
    let leaves: Vec<Leave> = (0..3).map(|_| world.admit().unwrap()).collect();
    assert_eq!(world.admit(), Err(1));
    // One that says nothing makes room for another.
    world.end(leaves[0], Ending::Unknown);
    let another = world.admit().unwrap();
    assert_eq!(world.admit(), Err(1));
    for leave in [leaves[1], leaves[2], another] {
        world.end(leave, Ending::Answered);
    }
    assert_eq!(world.play("f f f f a"), ". . . . .");
}

#[test]
fn late_ends_of_earlier_calls_decide_nothing() {
    let mut world = World::new();
    let early: Vec<Leave> = (0..4).map(|_| world.admit().unwrap()).collect();
    world.play("f f f f f");
    // Neither closes what is open, nor counts as a recovery, nor opens it for longer.
    world.end(early[0], Ending::Answered);
    assert_eq!(world.admit(), Err(60));
    world.wait(60);
    let probe = world.admit().unwrap();
    for (leave, ending) in
        early[1..]
            .iter()
            .zip([Ending::Answered, Ending::Answered, Ending::Failed])
    {
        world.end(*leave, ending);
    }
    world.end(probe, Ending::Answered);
    assert_eq!(world.play("a f a"), ". . 60");
}

proptest! {
    /// Whatever happens, a server that answers again is asked again, within a minute of its
    /// last failure.
    #[test]
    fn a_server_that_recovers_is_asked_again(script in prop::collection::vec(0..5_u8, 0..60)) {
        let mut world = World::new();
        let mut open = Vec::new();
        for step in script {
            match step {
                0 => world.wait(20),
                1 => open.extend(world.admit()),
                2 => drop(world.call(Ending::Answered)),
                3 => drop(world.call(Ending::Failed)),
                _ => if let Some(leave) = open.pop() { world.end(leave, Ending::Unknown) },
            }
        }
        for leave in open {
            world.end(leave, Ending::Unknown);
        }
        world.wait(60);
        prop_assert_eq!(world.play("a a a f f f f a"), ". . . . . . . .");
    }
}
