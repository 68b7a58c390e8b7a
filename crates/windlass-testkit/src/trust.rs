//! A user who trusts every directory, for tests that are about something else.

use std::path::Path;

use windlass_ports::{Executables, Runs, Standing, Trust, TrustDecision, TrustNothing};
use windlass_types::Problem;

/// Trusts everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct TrustEverything;

impl Trust for TrustEverything {
    fn standing(&self, _: &Path, _: Runs) -> Standing {
        Standing::Trusted
    }

    fn inspect(&self, directory: &Path) -> Result<Executables, Problem> {
        TrustNothing.inspect(directory)
    }

    fn grant(&self, _: TrustDecision) -> Result<(), Problem> {
        Ok(())
    }

    fn revoke(&self, _: &Path) -> Result<bool, Problem> {
        Ok(false)
    }

    fn decisions(&self) -> Result<Vec<TrustDecision>, Problem> {
        Ok(Vec::new())
    }
}
