//! What is reported about an installation that does not work.

use std::time::Duration;

use windlass_ports::{DriverScope, Lease as _};
use windlass_testkit::program::Op;

use super::support::{Scene, ended, scene, start};

#[tokio::test]
async fn work_that_nobody_does_is_reported() {
    let Scene { world, .. } = scene();
    let client = world.process();
    let health = client.engine.health().await;
    assert_eq!((health[0].check, health[0].state), ("driver", "absent"));
    assert!(health[0].blocks);
    // A driver that registered and does nothing.
    let hung = client.store.register(DriverScope::All).unwrap();
    assert!(client.engine.health().await.is_empty());
    let run_id = start(&client, &[Op::set("a", 1)]).await;
    assert!(
        client.engine.health().await.is_empty(),
        "it may be about to"
    );
    world.clock.advance(Duration::from_secs(31)).await;
    let health = client.engine.health().await;
    assert_eq!((health[0].check, health[0].state), ("driver", "stalled"));
    assert!(health[0].blocks);
    assert_eq!(
        client.engine.stalled_runs().await.unwrap(),
        std::slice::from_ref(&run_id)
    );
    drop(hung);
    let process = world.driving().await;
    ended(&process, &run_id).await;
    assert!(process.engine.health().await.is_empty());
}
