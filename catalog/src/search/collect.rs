//! Going through all matching documents once: the best of them in a stable order, the total, and the facets.
//!
//! Filters by registry, collection and kind are applied here and not in the query, so that each facet counts what
//! there would be with its own filter lifted and the others kept: that is what a person wants to know beside a box
//! to tick. Registries the viewer may not see are left out first, and count nowhere.
//!
//! Hits of one score are ordered by name and then by a number from their key, never by where they happen to stand in
//! the index.

use std::collections::BTreeMap;

use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::{Column, StrColumn};
use tantivy::{DocAddress, DocId, Score, SegmentOrdinal, SegmentReader};

/// Where a hit stands among hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// Scores are not negative, so their bits are ordered as they are; turned round, for the best comes first.
    pub(super) score: u32,
    pub(super) name: u64,
    pub(super) key: u64,
}

/// Which values of a facet pass; `None`: all.
pub(super) type Accepts = Option<Vec<String>>;

/// What to collect.
pub(super) struct Collect {
    /// Canonical names of the registries the viewer may see.
    pub(super) visible: Vec<String>,
    /// Registries, collections (in lower case), kinds.
    pub(super) filters: [Accepts; 3],
    /// How many hits.
    pub(super) hits: usize,
    /// Behind which.
    pub(super) after: Option<Rank>,
}

/// The names of the facets' columns, in the order of [`Collect::filters`].
const COLUMNS: [&str; 3] = ["registry", "collection", "kind"];

/// What was collected.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) best: Vec<(Rank, DocAddress)>,
    pub(super) total: u64,
    pub(super) facets: [BTreeMap<String, u64>; 3],
}

struct Facet {
    column: Option<StrColumn>,
    /// By ordinal of the value.
    accepted: Vec<bool>,
    counts: Vec<u64>,
    values: Vec<String>,
}

impl Facet {
    fn open(segment: &SegmentReader, name: &str, accepts: impl Fn(&str) -> bool) -> tantivy::Result<Facet> {
        let column = segment.fast_fields().str(name)?;
        let mut values = Vec::new();
        if let Some(column) = &column {
            for ordinal in 0..column.num_terms() as u64 {
                let mut value = String::new();
                column.ord_to_str(ordinal, &mut value)?;
                values.push(value);
            }
        }
        let accepted = values.iter().map(|value| accepts(value)).collect();
        Ok(Facet { column, accepted, counts: vec![0; values.len()], values })
    }

    fn ordinal(&self, doc: DocId) -> Option<usize> {
        self.column.as_ref()?.ords().first(doc).map(|ordinal| ordinal as usize)
    }

    fn accepts(&self, ordinal: Option<usize>) -> bool {
        ordinal.is_some_and(|ordinal| self.accepted[ordinal])
    }

    fn count(&mut self, ordinal: Option<usize>) {
        if let Some(ordinal) = ordinal {
            self.counts[ordinal] += 1;
        }
    }
}

/// Collects from one segment.
pub(super) struct Segment {
    ordinal: SegmentOrdinal,
    visible: Vec<bool>,
    facets: [Facet; 3],
    name: Column<u64>,
    key: Column<u64>,
    best: Vec<(Rank, DocAddress)>,
    hits: usize,
    after: Option<Rank>,
    total: u64,
}

impl Collector for Collect {
    type Fruit = Collected;
    type Child = Segment;

    fn for_segment(&self, ordinal: SegmentOrdinal, segment: &SegmentReader) -> tantivy::Result<Segment> {
        let open = |at: usize| {
            let accepts = |value: &str| {
                let filter = self.filters[at].as_ref();
                filter.is_none_or(|values| values.iter().any(|wanted| wanted.eq_ignore_ascii_case(value)))
            };
            Facet::open(segment, COLUMNS[at], accepts)
        };
        let facets = [open(0)?, open(1)?, open(2)?];
        let visible = facets[0].values.iter().map(|name| self.visible.binary_search(name).is_ok()).collect();
        Ok(Segment {
            ordinal,
            visible,
            facets,
            name: segment.fast_fields().u64("order_name")?,
            key: segment.fast_fields().u64("order_key")?,
            best: Vec::new(),
            hits: self.hits,
            after: self.after,
            total: 0,
        })
    }

    fn requires_scoring(&self) -> bool {
        true
    }

    fn merge_fruits(&self, segments: Vec<Collected>) -> tantivy::Result<Collected> {
        let mut all = Collected::default();
        for segment in segments {
            all.best.extend(segment.best);
            all.total += segment.total;
            for (sum, facet) in all.facets.iter_mut().zip(segment.facets) {
                for (value, count) in facet {
                    *sum.entry(value).or_default() += count;
                }
            }
        }
        all.best.sort_unstable();
        all.best.truncate(self.hits);
        Ok(all)
    }
}

impl SegmentCollector for Segment {
    type Fruit = Collected;

    fn collect(&mut self, doc: DocId, score: Score) {
        let ordinals = [0, 1, 2].map(|at| self.facets[at].ordinal(doc));
        if !ordinals[0].is_some_and(|registry| self.visible[registry]) {
            return;
        }
        let passes = [0, 1, 2].map(|at| self.facets[at].accepts(ordinals[at]));
        for (at, facet) in self.facets.iter_mut().enumerate() {
            if (0..3).all(|other| other == at || passes[other]) {
                facet.count(ordinals[at]);
            }
        }
        if !passes.iter().all(|passes| *passes) {
            return;
        }
        self.total += 1;
        let rank = Rank {
            score: u32::MAX - score.max(0.0).to_bits(),
            name: self.name.first(doc).unwrap_or(u64::MAX),
            key: self.key.first(doc).unwrap_or(u64::MAX),
        };
        if self.after.is_none_or(|after| rank > after) {
            self.best.push((rank, DocAddress::new(self.ordinal, doc)));
            // Kept at no more than twice what is wanted: sorting now and then costs less than a heap.
            if self.best.len() >= 2 * self.hits.max(32) {
                self.best.sort_unstable();
                self.best.truncate(self.hits);
            }
        }
    }

    fn harvest(self) -> Collected {
        let facets = self.facets.map(|facet| {
            let counted = facet.values.into_iter().zip(facet.counts);
            counted.filter(|(_, count)| *count > 0).collect()
        });
        Collected { best: self.best, total: self.total, facets }
    }
}
