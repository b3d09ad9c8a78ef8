//! What of the index a viewer may see: words and figures about it, as if nothing else were in it.
//!
//! Hits are filtered where they are collected. But how much a word counts, and what a mistyped one is taken for,
//! follows from all documents that have it; so these are asked here, where documents of hidden registries are left
//! out. Where the viewer sees every registry of the index, which is most often, the index's own figures are the same
//! and are taken.

use tantivy::columnar::StrColumn;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, DocSet, Searcher, SegmentReader, TERMINATED, Term};

use super::basis::Basis;
use super::document::Fields;
use super::words;

/// The index as one viewer sees it.
pub(super) struct Seen<'a> {
    pub(super) searcher: &'a Searcher,
    pub(super) fields: &'a Fields,
    /// One for each segment; `None`: nothing is hidden.
    segments: Option<Vec<Segment>>,
}

struct Segment {
    registry: Option<StrColumn>,
    /// By ordinal of the registry.
    visible: Vec<bool>,
}

impl Segment {
    fn open(segment: &SegmentReader, visible: &[String]) -> tantivy::Result<Segment> {
        let registry = segment.fast_fields().str("registry")?;
        let mut seen = Vec::new();
        if let Some(column) = &registry {
            for ordinal in 0..column.num_terms() as u64 {
                let mut name = String::new();
                column.ord_to_str(ordinal, &mut name)?;
                seen.push(visible.binary_search(&name).is_ok());
            }
        }
        Ok(Segment { registry, visible: seen })
    }

    fn shows(&self, document: DocId) -> bool {
        let ordinal = self.registry.as_ref().and_then(|registry| registry.ords().first(document));
        ordinal.is_some_and(|ordinal| self.visible[ordinal as usize])
    }
}

impl<'a> Seen<'a> {
    /// The index as somebody sees it who sees these registries: canonical names, sorted.
    pub(super) fn new(
        searcher: &'a Searcher,
        fields: &'a Fields,
        visible: &[String],
    ) -> tantivy::Result<Seen<'a>> {
        let segments = searcher.segment_readers().iter().map(|segment| Segment::open(segment, visible));
        let segments = segments.collect::<tantivy::Result<Vec<_>>>()?;
        let hidden = segments.iter().any(|segment| segment.visible.contains(&false));
        Ok(Seen { searcher, fields, segments: hidden.then_some(segments) })
    }

    /// How many documents of one segment have a term, counted up to `most`.
    pub(super) fn count(&self, segment: usize, term: &Term, most: u64) -> tantivy::Result<u64> {
        let index = self.searcher.segment_reader(segment as u32).inverted_index(term.field())?;
        let Some(segments) = &self.segments else { return Ok(u64::from(index.doc_freq(term)?)) };
        let Some(mut documents) = index.read_postings(term, IndexRecordOption::Basic)? else { return Ok(0) };
        let mut count = 0;
        while documents.doc() != TERMINATED && count < most {
            count += u64::from(segments[segment].shows(documents.doc()));
            documents.advance();
        }
        Ok(count)
    }

    /// Whether any document has a term.
    pub(super) fn has(&self, term: &Term) -> tantivy::Result<bool> {
        for segment in 0..self.searcher.segment_readers().len() {
            if self.count(segment, term, 1)? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How rare each of these words is among what is seen.
    pub(super) fn basis(&self, words: &[String]) -> tantivy::Result<Basis> {
        let documents = self.documents();
        let mut frequencies = Vec::with_capacity(words.len());
        for word in words {
            let mut most = 0;
            for stem in words::stems_of(word) {
                for field in self.fields.telling() {
                    most = most.max(self.frequency(&Term::from_field_text(field, &stem))?);
                }
            }
            // Documents that were replaced and not merged away yet are in the one figure and not in the other.
            frequencies.push(most.clamp(1, documents.max(1)));
        }
        Ok(Basis { documents: documents.max(1), frequencies })
    }

    fn frequency(&self, term: &Term) -> tantivy::Result<u64> {
        let segments = 0..self.searcher.segment_readers().len();
        segments.map(|segment| self.count(segment, term, u64::MAX)).sum()
    }

    fn documents(&self) -> u64 {
        let readers = self.searcher.segment_readers();
        let Some(segments) = &self.segments else {
            return readers.iter().map(|segment| u64::from(segment.max_doc())).sum();
        };
        let shown = readers.iter().zip(segments).map(|(reader, segment)| {
            (0..reader.max_doc()).filter(|document| segment.shows(*document)).count() as u64
        });
        shown.sum()
    }
}
