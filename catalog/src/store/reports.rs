//! Reports in the store: written with the generation that shows them, read at the start.

use std::collections::HashMap;
use std::sync::Arc;

use schema::Digest;
use sqlx::SqliteConnection;

use super::write::{Transaction, collection_text, json};
use super::{Store, queries};
use crate::error::StoreError;
use crate::report::{Attached, Report, ReportState};

/// Reports by registry, collection, template, version and digest.
#[derive(Debug, Default)]
pub(super) struct Reports(HashMap<(i64, String, String, String, Digest), Arc<Report>>);

impl Reports {
    /// Takes the report on a revision out.
    pub(super) fn take(&mut self, registry: i64, place: [&str; 3], digest: Digest) -> ReportState {
        let [collection, template, version] = place.map(str::to_owned);
        let report = self.0.remove(&(registry, collection, template, version, digest));
        report.map_or(ReportState::Pending, ReportState::Made)
    }
}

impl Store {
    /// Every report there is.
    pub(super) async fn load_reports(
        &self,
        connection: &mut SqliteConnection,
    ) -> Result<Reports, StoreError> {
        let query = self.query(&queries::LOAD_REPORTS);
        let rows = query.fetch_all(connection).await.map_err(|error| self.error(error))?;
        let mut reports = HashMap::with_capacity(rows.len());
        let mut engine: Arc<str> = Arc::from("");
        for row in &rows {
            // All but a few were made by one build: its name is kept once.
            let name = self.get::<&str>(row, 5)?;
            if *name != *engine {
                engine = name.into();
            }
            let report = Report {
                engine: engine.clone(),
                at: self.get(row, 6)?,
                findings: self.json(self.get(row, 7)?)?,
                needed: self.json(self.get(row, 8)?)?,
            };
            let digest = self.digest(self.get(row, 4)?)?;
            let key = (self.get(row, 0)?, self.get(row, 1)?, self.get(row, 2)?, self.get(row, 3)?, digest);
            reports.insert(key, Arc::new(report));
        }
        Ok(Reports(reports))
    }
}

impl Transaction<'_> {
    /// Writes reports on revisions that are published, and logs what they changed.
    pub(crate) async fn write_reports(
        &mut self,
        attached: &Attached,
        generation: u64,
        at: i64,
    ) -> Result<(), StoreError> {
        let registry = &attached.registry;
        for change in &attached.changes {
            self.log_change(registry, change, change.digest(), None, generation, at).await?;
        }
        for reported in &attached.reports {
            let query = self
                .store()
                .query(&queries::WRITE_REPORT)
                .bind(registry.id)
                .bind(collection_text(reported.collection.as_ref()))
                .bind(reported.template.to_string())
                .bind(reported.version.to_string())
                .bind(reported.digest.as_bytes().to_vec())
                .bind(reported.report.engine.to_string())
                .bind(reported.report.at)
                .bind(json(&reported.report.findings))
                .bind(json(&reported.report.needed));
            self.run(query).await?;
        }
        Ok(())
    }
}
