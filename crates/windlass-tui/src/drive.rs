//! Driving: where no other process executes the runs of this home, the screen does so itself,
//! from its first write until it is closed.

use windlass_engine::{Driver, Engine};
use windlass_types::Problem;

/// The right to drive, once it is needed and can be had.
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

    /// Drives, unless another process does.
    pub(crate) async fn ensure(&mut self) -> Result<(), Problem> {
        // A driver that was fenced off has ended by itself; another may be started.
        if self.driver.as_ref().is_none_or(Driver::is_stopping) {
            self.driver = None;
            self.driver = Driver::start(&self.engine).await?;
        }
        Ok(())
    }

    /// Stops driving: effects under way are recorded, the rest waits for the next driver.
    pub(crate) async fn stop(self) {
        if let Some(driver) = self.driver {
            driver.stop().await;
        }
    }
}
