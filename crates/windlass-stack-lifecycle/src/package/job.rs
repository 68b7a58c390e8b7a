//! What is asked for: one workload and its packaging.

use windlass_stack_config::model::function::{Architecture, LambdaRuntime};
use windlass_stack_config::model::packaging::{FunctionPackaging, ImagePackaging};

/// A function to package.
#[derive(Clone, Copy, Debug)]
pub struct FunctionJob<'a> {
    /// The name of the workload, for messages.
    pub workload: &'a str,
    /// How it is packaged.
    pub packaging: &'a FunctionPackaging,
    /// The runtime; by the entry file's extension without.
    pub runtime: Option<LambdaRuntime>,
    /// The processor it runs on.
    pub architecture: Architecture,
}

/// An image to build.
#[derive(Clone, Copy, Debug)]
pub struct ImageJob<'a> {
    /// The name of the workload, for messages.
    pub workload: &'a str,
    /// How it is packaged.
    pub packaging: &'a ImagePackaging,
    /// The processor it runs on.
    pub architecture: Architecture,
}

/// The platform, as container engines name it.
pub(crate) fn platform(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::X86_64 => "linux/amd64",
        Architecture::Arm64 => "linux/arm64",
    }
}
