//! Driving: the screen executes the runs it starts, from its first write until it is closed.

use windlass_engine::{Driver, Engine};
use windlass_types::Problem;

/// Drives the runs of the screen, once there are any.
pub(crate) struct Driving {
    engine: Engine,
    driver: Option<Driver>,
}

impl Driving {
    /// Not driving yet.
    pub(crate) const fn new(engine: Engine) -> Self {
        Self {
            engine,
            driver: None,
        }
    }

    /// Drives what the screen starts, each run unless another process does.
    pub(crate) async fn ensure(&mut self) -> Result<(), Problem> {
        if self.driver.as_ref().is_none_or(Driver::is_stopping) {
            self.driver = None;
            self.driver = Some(Driver::start_own(&self.engine).await?);
        }
        Ok(())
    }

    /// Stops driving: effects in progress are recorded, the rest waits for the next driver.
    pub(crate) async fn stop(self) {
        if let Some(driver) = self.driver {
            driver.stop().await;
        }
    }
}
