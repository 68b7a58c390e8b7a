//! `windlass webhooks replay`.

use clap::Args;
use serde_json::json;
use windlass_types::{DeliveryId, Problem};

use crate::{
    flow::Driving,
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct ReplayArgs {
    /// The delivery's id.
    #[arg(value_name = "DELIVERY")]
    delivery: DeliveryId,
}

impl ReplayArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let input = json!({ "delivery_id": self.delivery });
        let answer = session.call("admin.webhooks_replay", input).await?;
        let mut driving = Driving::new(session.engine());
        let sent = async {
            driving.ensure().await?;
            driving.linger(session, None).await
        }
        .await;
        driving.stop().await;
        sent?;
        let message = format!("delivery {} is sent again", self.delivery);
        session.printer.data(&message);
        session.printer.hint("windlass webhooks deliveries");
        Ok(Report::new(message, answer.output))
    }
}
