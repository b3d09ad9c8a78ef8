//! How rare each word of a query is: what the scores of one search are made from.
//!
//! A word counts by the number of templates that have it in any field, and a text by its length beside a usual length,
//! not beside the average of the index: so the score of a template follows from its own words and from this, and from
//! nothing that a publication elsewhere changes in passing, or that is hidden from who asks.

use std::collections::HashMap;

use tantivy::Term;
use tantivy::query::Bm25StatisticsProvider;
use tantivy::schema::Field;

use super::document::Fields;

/// Figures a search is scored by.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Basis {
    /// How many templates there are.
    pub(super) documents: u64,
    /// How many have each word, in the words' order.
    pub(super) frequencies: Vec<u64>,
}

/// A basis as tantivy asks for it.
pub(super) struct Statistics<'a> {
    pub(super) fields: &'a Fields,
    pub(super) documents: u64,
    /// By what is looked for in the index: the stems of each word.
    pub(super) by_text: HashMap<String, u64>,
}

/// Tokens of a text of usual length, by field; a document above it counts a little less for each word.
fn usual_length(fields: &Fields, field: Field) -> u64 {
    let lengths = [
        (fields.name_stems, 2),
        (fields.title, 3),
        (fields.tags, 4),
        (fields.objects, 4),
        (fields.place, 6),
        (fields.description, 14),
        (fields.parameters, 60),
        (fields.readme, 100),
    ];
    lengths.into_iter().find(|(known, _)| *known == field).map_or(1, |(_, length)| length)
}

impl Bm25StatisticsProvider for Statistics<'_> {
    fn total_num_tokens(&self, field: Field) -> tantivy::Result<u64> {
        Ok(usual_length(self.fields, field) * self.documents)
    }

    fn total_num_docs(&self) -> tantivy::Result<u64> {
        Ok(self.documents)
    }

    fn doc_freq(&self, term: &Term) -> tantivy::Result<u64> {
        let text = term.value().as_str().unwrap_or_default().to_owned();
        Ok(self.by_text.get(&text).copied().unwrap_or(1).min(self.documents))
    }
}
