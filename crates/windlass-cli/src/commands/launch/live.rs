//! Following launches: in their own words, with a summary of where they stand.

use serde_json::{Value, json};
use windlass_engine::operation::Begun;
use windlass_types::{Problem, RunId};

use super::event_lines::LaunchLines;
use crate::{
    flow::{Driving, Follow, Rest, wait_for_rest},
    session::Session,
};

/// The commands that watch and resume launches.
pub(super) const PROGRAM: &str = "windlass launch";

/// A launch, followed from its first event on.
pub(super) fn follow(run_id: &RunId) -> Follow<'_> {
    Follow {
        lines: Box::new(LaunchLines::default()),
        program: PROGRAM,
        ..Follow::new(run_id)
    }
}

/// Asks a launch to do something and follows it until it rests again; the operation's answer.
pub(super) async fn ask(
    session: &Session,
    operation: &str,
    run_id: &RunId,
) -> Result<Value, Problem> {
    let engine = session.engine();
    let before = engine.visible_run(session.principal(), run_id).await?;
    let follow = Follow {
        after_seq: before.last_seq,
        ..follow(run_id)
    };
    let mut driving = Driving::new(engine);
    let outcome = async {
        let begun = session.begin(operation, json!({ "run_id": run_id }));
        // A launch that refuses is not driven.
        let begun = driving.call(session, begun).await?;
        let work = async {
            let answer = match begun {
                Begun::Answered(answer) => Ok(answer),
                Begun::Pending(pending) => session.wait(pending).await,
            };
            // A launch that fails because of it undoes what it did before it rests.
            wait_for_rest(session, run_id, Rest::Settled).await?;
            Ok(answer?.output)
        };
        follow.during(session, &mut driving, work).await
    }
    .await;
    driving.stop().await;
    outcome
}
