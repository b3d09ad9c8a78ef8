//! Deliveries of webhooks that were taken: readers see nothing of them, so they make no generation.

use super::Catalog;
use crate::error::{ReadError, WriteError};
use crate::store::WebhookDelivery;

impl Catalog {
    /// The deliveries of webhooks that are remembered, oldest first; at most [`crate::WEBHOOK_DELIVERIES`].
    ///
    /// # Errors
    /// When the store cannot be read.
    pub async fn webhook_deliveries(&self) -> Result<Vec<WebhookDelivery>, ReadError> {
        Ok(self.0.store.webhook_deliveries().await?)
    }

    /// Remembers that a delivery was taken. `at` is the time it is, in seconds since 1970, UTC.
    ///
    /// # Errors
    /// When the store does not take it.
    pub async fn remember_webhook_delivery(
        &self,
        delivery: &WebhookDelivery,
        at: i64,
    ) -> Result<(), WriteError> {
        let delivery = delivery.clone();
        self.write(move |inner| async move {
            inner.check_open()?;
            Ok(inner.store.remember_webhook_delivery(&delivery, at).await?)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, WEBHOOK_DELIVERIES};

    #[tokio::test]
    async fn the_newest_deliveries_outlive_the_process() {
        let directory = tempfile::tempdir().unwrap();
        let delivery = |number: usize| WebhookDelivery { host: "github".to_owned(), id: number.to_string() };
        let (catalog, opened) = Catalog::open(directory.path(), Options::default()).await.unwrap();
        for number in 0..WEBHOOK_DELIVERIES + 3 {
            catalog.remember_webhook_delivery(&delivery(number), 1).await.unwrap();
        }
        catalog.remember_webhook_delivery(&delivery(5), 2).await.unwrap();
        assert_eq!(catalog.snapshot().generation, opened.generation);
        catalog.close().await;
        drop(catalog);
        let (catalog, _) = Catalog::open(directory.path(), Options::default()).await.unwrap();
        let remembered = catalog.webhook_deliveries().await.unwrap();
        assert_eq!(remembered.len(), WEBHOOK_DELIVERIES);
        assert_eq!(
            (&remembered[0], remembered.last()),
            (&delivery(3), Some(&delivery(WEBHOOK_DELIVERIES + 2)))
        );
    }
}
