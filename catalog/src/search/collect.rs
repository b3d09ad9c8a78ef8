//! Going through all matching documents once: the best of them in a stable order, the total, and the facets.
//!
//! Filters by registry, collection, kind and health are applied here and not in the query, so that each of these facets
//! counts what there would be with its own filter lifted and the others kept: of several values any will do, and that
//! is what a person wants to know beside a box to tick. Of tags and objects a template has several, and all that are
//! asked for must be there; they narrow in the query, and their facets count what is left. Registries the viewer may not
//! see are left out first, and count nowhere.
//!
//! Everything comes from columns; no document is read before the page is chosen.
//!
//! Hits of one score are ordered by name, shorter ones first where words were asked for, and then by a number from their
//! key, never by where they happen to stand in the index.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use tantivy::collector::{Collector, SegmentCollector};
use tantivy::columnar::{Column, StrColumn};
use tantivy::{DocAddress, DocId, Score, SegmentOrdinal, SegmentReader};

/// Steps of a score that are told apart: sums of the same parts in another order must give the same.
const STEPS: f32 = 16.0;

/// What becomes of a score by the standing of a template: in use, deprecated, withdrawn.
const STANDING: [f32; 3] = [1.0, 0.7, 0.3];

/// What a further word in a name takes of a score, up to so many words.
const FURTHER_WORD: f32 = 0.06;
const FURTHER_WORDS: u64 = 5;

/// Where a hit stands among hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Rank {
    /// In steps, turned round, for the best comes first.
    pub(super) score: u32,
    pub(super) name: u64,
    pub(super) key: u64,
}

/// Facets with a filter that is lifted for their own count; their columns, in the order of [`Collect::filters`].
const FILTERED: [&str; 4] = ["registry", "collection", "kind", "health"];
/// Facets that only count.
const COUNTED: [&str; 2] = ["object", "tag"];

/// Which values of a facet pass; `None`: all.
pub(super) type Accepts = Option<Vec<String>>;

/// What to collect.
pub(super) struct Collect {
    /// Canonical names of the registries the viewer may see.
    pub(super) visible: Vec<String>,
    /// Registries, collections, kinds, healths; compared without case.
    pub(super) filters: [Accepts; 4],
    /// Whether words were asked for; otherwise the order is that of names.
    pub(super) by_score: bool,
    /// How many hits.
    pub(super) hits: usize,
    /// Behind which.
    pub(super) after: Option<Rank>,
}

/// How many documents have each value.
pub(super) type Counts = BTreeMap<String, u64>;

/// What was collected.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) best: Vec<(Rank, DocAddress)>,
    pub(super) total: u64,
    /// Registries, collections, kinds, healths.
    pub(super) filtered: [Counts; 4],
    /// Objects, tags.
    pub(super) counted: [Counts; 2],
}

/// A column of texts and how often each was met.
struct Facet {
    column: Option<StrColumn>,
    counts: Vec<u64>,
}

impl Facet {
    fn open(segment: &SegmentReader, name: &str) -> tantivy::Result<Facet> {
        let column = segment.fast_fields().str(name)?;
        let values = column.as_ref().map_or(0, |column| column.num_terms());
        Ok(Facet { column, counts: vec![0; values] })
    }

    /// Which values a condition holds for, by ordinal.
    fn accepted(&self, accepts: impl Fn(&str) -> bool) -> tantivy::Result<Vec<bool>> {
        let mut accepted = Vec::with_capacity(self.counts.len());
        let mut value = String::new();
        for ordinal in 0..self.counts.len() as u64 {
            value.clear();
            if let Some(column) = &self.column {
                column.ord_to_str(ordinal, &mut value)?;
            }
            accepted.push(accepts(&value));
        }
        Ok(accepted)
    }

    fn first(&self, doc: DocId) -> Option<usize> {
        self.column.as_ref()?.ords().first(doc).map(|ordinal| ordinal as usize)
    }

    fn count_all(&mut self, doc: DocId) {
        let Some(column) = &self.column else { return };
        for ordinal in column.ords().values_for_doc(doc) {
            self.counts[ordinal as usize] += 1;
        }
    }

    /// The values that were met. A value that cannot be read is left out: its column is damaged, and the next start
    /// finds that by its checksum.
    fn counts(self) -> Counts {
        let Some(column) = &self.column else { return Counts::new() };
        let met = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let named = met.filter_map(|(ordinal, count)| {
            let mut value = String::new();
            column.ord_to_str(ordinal as u64, &mut value).ok().filter(|found| *found).map(|_| (value, *count))
        });
        named.collect()
    }
}

/// Collects from one segment.
pub(super) struct Segment {
    ordinal: SegmentOrdinal,
    /// By ordinal of the registry.
    visible: Vec<bool>,
    filtered: [Facet; 4],
    /// By ordinal of the value; `None`: all pass.
    accepted: [Option<Vec<bool>>; 4],
    counted: [Facet; 2],
    name: Column<u64>,
    length: Column<u64>,
    key: Column<u64>,
    name_words: Column<u64>,
    standing: Column<u64>,
    by_score: bool,
    best: Vec<(Rank, DocAddress)>,
    hits: usize,
    after: Option<Rank>,
    total: u64,
}

impl Collector for Collect {
    type Fruit = Collected;
    type Child = Segment;

    fn for_segment(&self, ordinal: SegmentOrdinal, segment: &SegmentReader) -> tantivy::Result<Segment> {
        let open = |name: &str| Facet::open(segment, name);
        let [registry, collection, kind, health] = FILTERED;
        let filtered = [open(registry)?, open(collection)?, open(kind)?, open(health)?];
        let accepted = |at: usize| {
            let filter = self.filters[at].as_ref();
            let accepts = |values: &Vec<String>| {
                filtered[at].accepted(|value| values.iter().any(|wanted| wanted.eq_ignore_ascii_case(value)))
            };
            filter.map(accepts).transpose()
        };
        let accepted = [accepted(0)?, accepted(1)?, accepted(2)?, accepted(3)?];
        let visible = filtered[0]
            .accepted(|name| self.visible.binary_search_by(|known| known.as_str().cmp(name)).is_ok())?;
        let [object, tag] = COUNTED;
        let number = |name: &str| segment.fast_fields().u64(name);
        Ok(Segment {
            ordinal,
            visible,
            filtered,
            accepted,
            counted: [open(object)?, open(tag)?],
            name: number("order_name")?,
            length: number("order_length")?,
            key: number("order_key")?,
            name_words: number("name_words")?,
            standing: number("standing")?,
            by_score: self.by_score,
            best: Vec::new(),
            hits: self.hits,
            after: self.after,
            total: 0,
        })
    }

    fn requires_scoring(&self) -> bool {
        self.by_score
    }

    fn merge_fruits(&self, segments: Vec<Collected>) -> tantivy::Result<Collected> {
        let mut all = Collected::default();
        let add = |sum: &mut Counts, facet: Counts| {
            for (value, count) in facet {
                *sum.entry(value).or_default() += count;
            }
        };
        for segment in segments {
            all.best.extend(segment.best);
            all.total += segment.total;
            all.filtered.iter_mut().zip(segment.filtered).for_each(|(sum, facet)| add(sum, facet));
            all.counted.iter_mut().zip(segment.counted).for_each(|(sum, facet)| add(sum, facet));
        }
        all.best.sort_unstable();
        all.best.truncate(self.hits);
        Ok(all)
    }
}

impl Segment {
    fn rank(&self, doc: DocId, score: Score) -> Rank {
        let name = self.name.first(doc).unwrap_or(u64::MAX);
        let key = self.key.first(doc).unwrap_or(u64::MAX);
        if !self.by_score {
            return Rank { score: 0, name, key };
        }
        let standing = self.standing.first(doc).unwrap_or(0) as usize;
        let further = self.name_words.first(doc).unwrap_or(1).saturating_sub(1).min(FURTHER_WORDS);
        let general = 1.0 - FURTHER_WORD * further as f32;
        let score = score.max(0.0) * general * STANDING.get(standing).unwrap_or(&1.0);
        let length = self.length.first(doc).unwrap_or(0xff).min(0xff);
        Rank { score: u32::MAX - (score * STEPS).round() as u32, name: length << 56 | name >> 8, key }
    }
}

impl SegmentCollector for Segment {
    type Fruit = Collected;

    fn collect(&mut self, doc: DocId, score: Score) {
        let ordinals = [0, 1, 2, 3].map(|at| self.filtered[at].first(doc));
        if !ordinals[0].is_some_and(|registry| self.visible[registry]) {
            return;
        }
        let passes = [0, 1, 2, 3].map(|at| {
            let accepted = self.accepted[at].as_ref();
            accepted.is_none_or(|accepted| ordinals[at].is_some_and(|ordinal| accepted[ordinal]))
        });
        for (at, facet) in self.filtered.iter_mut().enumerate() {
            if let Some(ordinal) = ordinals[at]
                && (0..passes.len()).all(|other| other == at || passes[other])
            {
                facet.counts[ordinal] += 1;
            }
        }
        if !passes.iter().all(|passes| *passes) {
            return;
        }
        self.counted.iter_mut().for_each(|facet| facet.count_all(doc));
        self.total += 1;
        let rank = self.rank(doc, score);
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
        Collected {
            best: self.best,
            total: self.total,
            filtered: self.filtered.map(Facet::counts),
            counted: self.counted.map(Facet::counts),
        }
    }
}
