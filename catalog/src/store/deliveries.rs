//! Deliveries of webhooks: the newest are kept, as many as [`WEBHOOK_DELIVERIES`].

use super::{Store, queries};
use crate::error::StoreError;

/// How many deliveries of webhooks are remembered.
pub const WEBHOOK_DELIVERIES: usize = 4_096;

/// A delivery of a webhook: an id means something only with the kind of host that gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookDelivery {
    /// The kind of host.
    pub host: String,
    /// The id it gave.
    pub id: String,
}

impl Store {
    /// Every delivery that is remembered, oldest first.
    pub(crate) async fn webhook_deliveries(&self) -> Result<Vec<WebhookDelivery>, StoreError> {
        let mut connection = self.writer.lock().await;
        let query = self.query(&queries::LOAD_WEBHOOK_DELIVERIES);
        let rows = query.fetch_all(&mut *connection).await.map_err(|error| self.error(error))?;
        rows.iter()
            .map(|row| Ok(WebhookDelivery { host: self.get(row, 0)?, id: self.get(row, 1)? }))
            .collect()
    }

    /// Remembers a delivery, and forgets the one that is then too many.
    pub(crate) async fn remember_webhook_delivery(
        &self,
        delivery: &WebhookDelivery,
        at: i64,
    ) -> Result<(), StoreError> {
        let mut connection = self.writer.lock().await;
        let mut transaction = self.begin(&mut connection).await?;
        let add = self.query(&queries::ADD_WEBHOOK_DELIVERY);
        transaction.run(add.bind(delivery.host.clone()).bind(delivery.id.clone()).bind(at)).await?;
        let forget = self.query(&queries::FORGET_WEBHOOK_DELIVERIES).bind(WEBHOOK_DELIVERIES as i64);
        transaction.run(forget).await?;
        transaction.commit().await
    }
}
