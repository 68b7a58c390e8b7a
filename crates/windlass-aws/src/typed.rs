//! Calls of the SDK's typed clients: the way there and back that all of them share.

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use windlass_ports::aws::{AwsFailure, Target};

use crate::client::Aws;
use crate::sdk_failure;

impl Aws {
    /// A typed answer, or the failure in our terms.
    pub(crate) fn settled<T, E>(
        &self,
        target: &Target,
        action: &str,
        answer: Result<T, SdkError<E, HttpResponse>>,
    ) -> Result<T, AwsFailure>
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
    {
        answer.map_err(|error| self.noted(target, sdk_failure::failure(action, &error)))
    }
}

/// One call: session, request, answer. The futures of the SDK are large, so each is boxed.
macro_rules! call {
    ($aws:expr, $target:expr, $client:ident, $action:literal, |$sdk:ident| $request:expr) => {{
        let session = $aws.ready($target, $action).await?;
        let $sdk = &session.$client;
        let answer = Box::pin($request.send()).await;
        $aws.settled($target, $action, answer)
    }};
}
pub(crate) use call;
