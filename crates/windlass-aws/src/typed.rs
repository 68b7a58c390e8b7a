//! Calls of the SDK's typed clients: the way there and back that all of them share.

use aws_smithy_runtime_api::client::orchestrator::HttpResponse;
use aws_smithy_runtime_api::client::result::SdkError;
use aws_smithy_types::error::metadata::ProvideErrorMetadata;
use windlass_ports::aws::{AwsFailure, Target};

use crate::client::Aws;
use crate::pace::Pace;
use crate::sdk_failure;

impl Aws {
    /// A typed answer, or the failure in our terms. What is still throttled after the SDK's own
    /// tries is called slower from now on.
    pub(crate) fn settled<T, E>(
        &self,
        target: &Target,
        client: &str,
        action: &str,
        answer: Result<T, SdkError<E, HttpResponse>>,
    ) -> Result<T, AwsFailure>
    where
        E: ProvideErrorMetadata + std::error::Error + 'static,
    {
        let answer = answer.map_err(|error| sdk_failure::failure(action, &error));
        match &answer {
            Err(failure) if failure.is_throttled() => {
                self.change_pace(client, Pace::after_throttle);
            }
            _ => self.change_pace(client, Pace::after_success),
        }
        answer.map_err(|failure| self.noted(target, failure))
    }
}

/// One call: session, request, answer. The futures of the SDK are large, so each is boxed.
macro_rules! call {
    ($aws:expr, $target:expr, $client:ident, $action:literal, |$sdk:ident| $request:expr) => {{
        let session = $aws.ready($target, $action).await?;
        let $sdk = &session.$client;
        let client = stringify!($client);
        $aws.pause($aws.pace(client).pause()).await;
        let answer = Box::pin($request.send()).await;
        $aws.settled($target, client, $action, answer)
    }};
}
pub(crate) use call;
