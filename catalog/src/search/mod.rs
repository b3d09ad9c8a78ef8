//! Finding templates by words.
//!
//! The index is derived: everything in it comes from the snapshot and the bytes in the store. It lives in
//! `search/<format>/`, where the format is a fingerprint of the schema and of how texts become words; an index of
//! another format is thrown away. Its commit carries the store's identity and the generation it was built to, so
//! that opening knows what it lacks: a little is replayed from the change log, an index of another store or from the
//! future is built anew, and so is one whose checksums do not hold.
//!
//! Searching reads the index and tells the answer from the current snapshot: what was removed a moment ago is no hit
//! even if the index still has it. Between the swap of the snapshot and the commit of the index (milliseconds) the
//! total may count it.
//!
//! `words` says what a word is, `ask` reads what was typed, `find` makes a query of it, `basis` says how rare its words
//! are, `collect` goes through the matches, `cursor` is where to go on, `document` is what is indexed, `seen` is the index
//! as a viewer sees it, `snippet` cuts the part that shows why.

mod ask;
mod basis;
mod collect;
mod cursor;
pub(crate) mod document;
mod find;
mod seen;
mod snippet;
mod words;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use schema::reference::Location;
use schema::{Kind, Version};
use tantivy::schema::Value;
use tantivy::{Index as TantivyIndex, IndexReader, IndexWriter, ReloadPolicy, TantivyDocument, Term};

pub use ask::Query;
pub use cursor::{Cursor, CursorError};
pub use snippet::Snippet;

use crate::error::{OpenError, WriteError};
use crate::faults::{Faults, Point};
use crate::snapshot::{Health, Snapshot, TemplateSnapshot, Viewer};
use collect::{Collect, Counts};
use document::Fields;
use seen::Seen;

/// Memory for documents that are not committed yet; tantivy wants 15 MB or more.
const WRITER_MEMORY: usize = 30_000_000;
/// Values of one facet in an answer.
const MOST_VALUES: usize = 100;

/// What was found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SearchAnswer {
    /// The best hits behind the cursor, best first.
    pub hits: Vec<Hit>,
    /// How many hits there are altogether.
    pub total: u64,
    /// Where they are.
    pub facets: Facets,
    /// The words as they were understood, if one was mistyped.
    pub corrected: Option<String>,
    /// What of the query was ignored or relaxed, in sentences.
    pub notes: Vec<String>,
    /// Where to go on, if there is more.
    pub next: Option<Cursor>,
    /// The generation the hits are of.
    pub generation: u64,
}

/// One template that was found, as its latest version has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Where it is.
    pub location: Location,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// Its description, if it has one.
    pub description: Option<String>,
    /// What it is.
    pub kind: Kind,
    /// Its latest version.
    pub latest: Version,
    /// How that one is.
    pub health: Health,
    /// The kinds of the objects it makes.
    pub object_kinds: Vec<String>,
    /// Whether the registry calls the latest version withdrawn (all are, then) or deprecated.
    pub withdrawn: bool,
    /// Whether it is on its way out.
    pub deprecated: bool,
    /// The words of the template's name that matched, as byte ranges.
    pub matched_name: Vec<std::ops::Range<usize>>,
    /// The part of its texts that shows why it was found.
    pub snippet: Option<Snippet>,
}

/// How many hits there are by what they can be narrowed by: registries, collections, kinds and healths each as if its
/// own filter were lifted, objects and tags among the hits. The most frequent value first, then by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facets {
    /// By registry, in canonical spelling.
    pub registries: Vec<FacetCount>,
    /// By the name of the collection; `/` is the root.
    pub collections: Vec<FacetCount>,
    /// By kind, in its word for queries.
    pub kinds: Vec<FacetCount>,
    /// By health.
    pub healths: Vec<FacetCount>,
    /// By the kinds of objects they make.
    pub objects: Vec<FacetCount>,
    /// By tag.
    pub tags: Vec<FacetCount>,
}

/// How many hits have one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FacetCount {
    /// The value, as the filter takes it.
    pub value: String,
    /// How many.
    pub count: u64,
}

/// What to do about a template or a registry.
pub(crate) enum Update {
    /// Index it as it is now, with the text of its README.
    Put(std::sync::Arc<TemplateSnapshot>, Option<String>),
    /// Forget it.
    Remove(Location),
    /// Forget a registry, by its canonical name.
    RemoveRegistry(String),
}

/// The index.
pub(crate) struct Index {
    path: PathBuf,
    identity: String,
    fields: Fields,
    reader: IndexReader,
    writer: Mutex<IndexWriter>,
    generation: AtomicU64,
}

impl fmt::Debug for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index")
            .field("path", &self.path)
            .field("generation", &self.generation)
            .finish_non_exhaustive()
    }
}

/// What an index was found to be when opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// Built up to this generation.
    At(u64),
    /// New or thrown away, for the reason given: to be filled.
    Empty(&'static str),
}

impl Index {
    /// Opens the index of the store called `identity`, whose generation is `current`, below `root`.
    pub(crate) fn open(root: &Path, identity: &str, current: u64) -> Result<(Index, Found), OpenError> {
        let path = root.join(document::fingerprint());
        drop_others(root, &path);
        let why = match Index::open_existing(&path, identity) {
            Ok(Some(index)) if index.generation() <= current => {
                let generation = index.generation();
                return Ok((index, Found::At(generation)));
            }
            Ok(Some(_)) => "the index is of another store or from its future",
            Ok(None) => "there was none of this format",
            Err(error) => {
                tracing::warn!(%error, "the search index cannot be used and is built anew");
                "the index was damaged"
            }
        };
        let failed = |cause: String| OpenError::Search { path: path.clone(), cause };
        match fs::remove_dir_all(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(failed(error.to_string()));
            }
            _ => {}
        }
        fs::create_dir_all(&path).map_err(|error| failed(error.to_string()))?;
        let (schema, _) = document::schema();
        let index = TantivyIndex::create_in_dir(&path, schema).map_err(|error| failed(error.to_string()))?;
        let index = Index::over(index, &path, identity, 0).map_err(|error| failed(error.to_string()))?;
        Ok((index, Found::Empty(why)))
    }

    fn open_existing(path: &Path, identity: &str) -> tantivy::Result<Option<Index>> {
        if !path.join("meta.json").exists() {
            return Ok(None);
        }
        let index = TantivyIndex::open_in_dir(path)?;
        let damaged = index.validate_checksum()?;
        if !damaged.is_empty() {
            return Err(tantivy::TantivyError::InternalError(format!(
                "checksums of {damaged:?} do not hold"
            )));
        }
        let payload = index.load_metas()?.payload.unwrap_or_default();
        let generation = payload
            .split_once(':')
            .filter(|(of, _)| *of == identity)
            .and_then(|(_, number)| number.parse().ok());
        Index::over(index, path, identity, generation.unwrap_or(u64::MAX)).map(Some)
    }

    fn over(index: TantivyIndex, path: &Path, identity: &str, generation: u64) -> tantivy::Result<Index> {
        index.tokenizers().register(words::PLAIN, words::plain());
        index.tokenizers().register(words::STEMS, words::stems());
        let (_, fields) = document::schema();
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let writer = index.writer_with_num_threads(1, WRITER_MEMORY)?;
        Ok(Index {
            path: path.to_owned(),
            identity: identity.to_owned(),
            fields,
            reader,
            writer: Mutex::new(writer),
            generation: AtomicU64::new(generation),
        })
    }

    /// The generation the index is built to.
    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Takes updates up, to be seen with the next [`Index::commit`]. Blocks.
    pub(crate) fn add(&self, updates: &[Update]) -> Result<(), UpdateError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let by_key = |location: &Location| Term::from_field_text(self.fields.key, &ask::key(location));
        let add = || {
            for update in updates {
                match update {
                    Update::Put(template, readme) => {
                        writer.delete_term(by_key(&template.location));
                        if let Some(document) = document::document(&self.fields, template, readme.as_deref())
                        {
                            writer.add_document(document)?;
                        }
                    }
                    Update::Remove(location) => {
                        writer.delete_term(by_key(location));
                    }
                    Update::RemoveRegistry(name) => {
                        writer.delete_term(Term::from_field_text(self.fields.registry, name));
                    }
                }
            }
            Ok(())
        };
        let added = add();
        undo_if_failed(&mut writer, added)
    }

    /// Makes what was added seen, as of a generation, all or nothing. Blocks for milliseconds.
    pub(crate) fn commit(&self, generation: u64, faults: &Faults) -> Result<(), UpdateError> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        faults.reached(Point::Indexed)?;
        let payload = format!("{}:{generation}", self.identity);
        let committed = writer.prepare_commit().and_then(|mut commit| {
            commit.set_payload(&payload);
            commit.commit().map(|_| ())
        });
        undo_if_failed(&mut writer, committed)?;
        self.generation.store(generation, Ordering::Release);
        self.reader.reload()?;
        faults.reached(Point::SearchCommitted)?;
        Ok(())
    }

    /// Gives up what deleted documents left on disk: all of what is committed is written anew into one segment.
    /// Blocks for as long as that takes.
    pub(crate) fn compact(&self) -> tantivy::Result<()> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let segments = self
            .reader
            .searcher()
            .segment_readers()
            .iter()
            .map(tantivy::SegmentReader::segment_id)
            .collect::<Vec<_>>();
        if !segments.is_empty() {
            writer.merge(&segments).wait()?;
        }
        self.reader.reload()?;
        writer.garbage_collect_files().wait()?;
        Ok(())
    }

    /// Searches, and tells what was found from the snapshot. Blocks for less than a millisecond, as a rule.
    pub(crate) fn search(&self, snapshot: &Snapshot, viewer: &Viewer, query: &Query) -> SearchAnswer {
        let asked = ask::read(query, snapshot, viewer);
        match self.find(snapshot, viewer, query, asked) {
            Ok(answer) => answer,
            Err(error) => {
                tracing::error!(%error, path = %self.path.display(), "a search failed");
                let notes = vec!["the search index cannot be read; browsing still works".to_owned()];
                SearchAnswer { notes, generation: snapshot.generation, ..SearchAnswer::default() }
            }
        }
    }

    fn find(
        &self,
        snapshot: &Snapshot,
        viewer: &Viewer,
        query: &Query,
        mut asked: ask::Asked,
    ) -> tantivy::Result<SearchAnswer> {
        let searcher = self.reader.searcher();
        let mut visible =
            snapshot.visible(viewer).map(|registry| registry.name.canonical().to_owned()).collect::<Vec<_>>();
        visible.sort();
        let seen = Seen::new(&searcher, &self.fields, &visible)?;
        let terms = match &query.after {
            Some(cursor) => find::Terms {
                corrected: (cursor.words != asked.terms).then(|| cursor.words.join(" ")),
                words: cursor.words.clone(),
            },
            None => find::correct(&seen, &asked)?,
        };
        let basis = match &query.after {
            Some(cursor) => cursor.basis.clone(),
            None => seen.basis(&terms.words)?,
        };
        let words = |values: Option<Vec<&'static str>>| {
            values.map(|values| values.into_iter().map(str::to_owned).collect::<Vec<_>>())
        };
        let kinds = asked.kinds.as_ref().map(|kinds| kinds.iter().map(|kind| kind.as_str()).collect());
        let healths =
            asked.healths.as_ref().map(|healths| healths.iter().map(|health| health.as_str()).collect());
        let collect = Collect {
            visible,
            filters: [asked.registries.take(), asked.collections.take(), words(kinds), words(healths)],
            by_score: !terms.words.is_empty(),
            // One more tells whether there is a next page.
            hits: query.hits() + 1,
            after: query.after.as_ref().map(|cursor| cursor.rank),
        };
        let statistics = find::statistics(&self.fields, &terms.words, &basis);
        let ask = |all| {
            let query = find::query(&self.fields, &terms.words, &asked, all);
            searcher.search_with_statistics_provider(&query, &collect, &statistics)
        };
        let mut all = query.after.as_ref().is_none_or(|cursor| cursor.all);
        let mut collected = ask(all)?;
        let nothing = collected.filtered.iter().all(Counts::is_empty);
        if all && nothing && terms.words.len() > 1 && query.after.is_none() {
            all = false;
            collected = ask(all)?;
        }
        if !all && collected.total > 0 {
            asked.notes.push("no template has all of these words; these have some".to_owned());
        }
        let more = collected.best.len() > query.hits();
        collected.best.truncate(query.hits());
        let next = collected.best.last().filter(|_| more).map(|(rank, _)| Cursor {
            rank: *rank,
            words: terms.words.clone(),
            all,
            basis: basis.clone(),
        });
        let matcher = snippet::Matcher::new(&terms.words);
        let mut hits = Vec::with_capacity(collected.best.len());
        for (_, address) in &collected.best {
            let document = searcher.doc::<TantivyDocument>(*address)?;
            hits.extend(self.hit(&document, snapshot, viewer, &matcher));
        }
        let [registries, collections, kinds, healths] = collected.filtered.map(facet);
        let [objects, tags] = collected.counted.map(facet);
        Ok(SearchAnswer {
            hits,
            total: collected.total,
            facets: Facets { registries, collections, kinds, healths, objects, tags },
            corrected: terms.corrected,
            notes: asked.notes,
            next,
            generation: snapshot.generation,
        })
    }

    /// A hit as the snapshot has it; `None` if it has it no more.
    fn hit(
        &self,
        document: &TantivyDocument,
        snapshot: &Snapshot,
        viewer: &Viewer,
        matcher: &snippet::Matcher,
    ) -> Option<Hit> {
        let text = |field| document.get_first(field).and_then(|value| value.as_str());
        let location = location(text(self.fields.key)?)?;
        let template = snapshot.template(viewer, &location)?;
        let version = template.latest()?;
        let facts = &version.inspection;
        Some(Hit {
            location: template.location.clone(),
            title: facts.title.clone(),
            description: facts.description.clone(),
            kind: version.kind,
            latest: version.version.clone(),
            health: version.health(),
            object_kinds: facts.object_kinds.clone(),
            withdrawn: version.withdrawn.is_some(),
            deprecated: version.deprecated.is_some(),
            matched_name: matcher.matches(template.name.as_str()),
            snippet: text(self.fields.excerpt).and_then(|text| matcher.snippet(text)),
        })
    }
}

/// Reads a key of the index, or a row of the change log, back into a place.
fn location(key: &str) -> Option<Location> {
    let mut parts = key.split('\n');
    let mut next = || parts.next();
    from_spelled(next()?, next()?, next()?)
}

/// A place from its three names; `None` if they are none.
pub(crate) fn from_spelled(registry: &str, collection: &str, template: &str) -> Option<Location> {
    let collection = if collection.is_empty() { None } else { Some(collection.parse().ok()?) };
    Some(Location { registry: registry.parse().ok()?, collection, template: template.parse().ok()? })
}

fn facet(counts: Counts) -> Vec<FacetCount> {
    let mut counts = counts.into_iter().map(|(value, count)| FacetCount { value, count }).collect::<Vec<_>>();
    counts.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
    counts.truncate(MOST_VALUES);
    counts
}

/// Indexes of other formats are of no use to anybody. Failing to remove one is not worth failing for.
fn drop_others(root: &Path, ours: &Path) {
    let Ok(entries) = fs::read_dir(root) else { return };
    for entry in entries.flatten().filter(|entry| entry.path() != ours) {
        if let Err(error) = fs::remove_dir_all(entry.path()) {
            tracing::warn!(%error, path = %entry.path().display(), "an old search index cannot be removed");
        }
    }
}

/// What was added and not committed must not come along with a later commit.
fn undo_if_failed(writer: &mut IndexWriter, done: tantivy::Result<()>) -> Result<(), UpdateError> {
    if done.is_err()
        && let Err(error) = writer.rollback()
    {
        tracing::error!(%error, "the search index cannot be rolled back; it stays as it is until the next start");
    }
    done.map_err(UpdateError::Index)
}

/// Why the index was not brought up to date.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpdateError {
    /// The index failed; the store is as it should be.
    #[error("the search index cannot be written: {0}")]
    Index(#[from] tantivy::TantivyError),
    /// A test stopped here.
    #[error(transparent)]
    Stopped(#[from] WriteError),
}
