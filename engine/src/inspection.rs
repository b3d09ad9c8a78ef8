//! Inspecting a template of any kind: who does it, and what holds for all of them.

use schema::processing::Template;
use schema::{Inspection, Kind};

use crate::{metadata, parameters};

/// The most tags and findings that are kept, and the longest text of each field, in characters: what a search and a page need.
const MOST_TAGS: usize = 50;
const MOST_FINDINGS: usize = 300;
const LONGEST_TEXT: usize = 4_000;

/// Reads what can be known of a template without processing it. Never fails: what cannot be read is a finding.
pub fn inspect(template: &Template) -> Inspection {
    let mut inspection = match template.kind {
        Kind::Template => engine_kubernetes::inspect(template),
        Kind::DmJinja | Kind::DmPython | Kind::DmConfiguration => engine_dm::inspect(template),
        Kind::Chart => metadata::chart(template),
        Kind::ServiceBroker => metadata::service_broker(template),
        Kind::InteroperatorPlan => metadata::plan(template),
    };
    inspection.parameters = parameters::canonical(std::mem::take(&mut inspection.parameters));
    for text in [
        &mut inspection.title,
        &mut inspection.description,
        &mut inspection.documentation,
        &mut inspection.support,
    ] {
        *text = text
            .take()
            .map(|text| text.trim().chars().take(LONGEST_TEXT).collect::<String>())
            .filter(|text| !text.is_empty());
    }
    // Links are shown as links: only such as browsers follow without running anything.
    for link in [&mut inspection.documentation, &mut inspection.support] {
        *link = link.take().filter(|link| link.starts_with("https://") || link.starts_with("http://"));
    }
    inspection.tags.iter_mut().for_each(|tag| *tag = tag.trim().to_lowercase());
    inspection.tags.retain(|tag| !tag.is_empty());
    inspection.tags.sort();
    inspection.tags.dedup();
    inspection.tags.truncate(MOST_TAGS);
    inspection.findings.truncate(MOST_FINDINGS);
    inspection
}
