//! The CloudFormation double that the tour deploys to: the only place of the program that knows it.
//!
//! `windlass internal` starts it in a process of its own. Without the feature `tour-double` there is
//! none, and the tour fails at its chapter about stacks.

use windlass_types::Problem;

/// How much faster than AWS the tour's CloudFormation is.
#[cfg(feature = "tour-double")]
const SPEED: f64 = 20.0;

/// Prints the double's address and serves it until standard input ends, so that it does not outlive
/// a tour that is killed.
#[cfg(feature = "tour-double")]
pub(crate) async fn serve() -> Result<(), Problem> {
    use std::io::{Read as _, Write as _};

    use windlass_cfn_double::{Double, Options, Pace};

    let options = Options {
        pace: Pace::Real(SPEED),
        ..Options::default()
    };
    let handle = Double::start(options)
        .await
        .map_err(|error| Problem::internal("double", error))?;
    let mut output = std::io::stdout();
    writeln!(output, "{}", handle.endpoint)
        .and_then(|()| output.flush())
        .map_err(|error| Problem::internal("double", error))?;
    let (ended, end) = tokio::sync::oneshot::channel::<()>();
    // A thread of its own: a runtime would wait for its blocked read when it shuts down.
    std::thread::spawn(move || {
        // An error ends it as well.
        let _ = std::io::stdin().lock().read_to_end(&mut Vec::new());
        drop(ended);
    });
    tokio::select! {
        () = handle.wait() => {}
        _ = end => {}
    }
    Ok(())
}

/// Refuses: this build has no double.
#[cfg(not(feature = "tour-double"))]
pub(crate) async fn serve() -> Result<(), Problem> {
    Err(Problem::new(
        &windlass_types::code::NOT_FOUND,
        "this program was built without the CloudFormation double of the tour",
    )
    .next("build it with the feature tour-double"))
}
