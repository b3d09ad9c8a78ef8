//! From what a person typed to words and filters. Never fails: what makes no sense is left out, and said.
//!
//! There is no query language to be wrong in. `registry:`, `collection:`, `kind:`, `health:`, `has:` (or `object:`) and
//! `tag:` narrow; everything else is words; signs are gaps between words. Length and number are capped, so that no text costs more than another.

use schema::Kind;
use schema::reference::Location;

use super::words;
use crate::snapshot::{Health, Snapshot, Viewer};

/// Longest text that is read, in bytes.
const LONGEST: usize = 400;
/// Most words that are looked for.
pub(super) const MOST_TERMS: usize = 12;
/// Most values of one filter.
const MOST_VALUES: usize = 20;

/// How many hits one answer has at most.
pub(super) const MOST_HITS: usize = 100;

/// What somebody looks for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// The text, as it was typed. Empty: everything.
    pub text: String,
    /// Only these registries, by full name or a part of it between slashes.
    pub registries: Vec<String>,
    /// Only collections of these names; `/` is the root.
    pub collections: Vec<String>,
    /// Only these kinds, by their words in queries ([`Kind::from_query`]).
    pub kinds: Vec<String>,
    /// Only templates of these healths, by their words.
    pub healths: Vec<String>,
    /// Only templates that make objects of all these kinds.
    pub has: Vec<String>,
    /// Only templates with all these tags.
    pub tags: Vec<String>,
    /// How many hits; 20 if it is 0, 100 at most.
    pub limit: usize,
    /// Behind which hit to go on.
    pub after: Option<super::Cursor>,
}

impl Query {
    /// A query for a text.
    pub fn text(text: impl Into<String>) -> Query {
        Query { text: text.into(), ..Query::default() }
    }

    pub(super) fn hits(&self) -> usize {
        if self.limit == 0 { 20 } else { self.limit.min(MOST_HITS) }
    }
}

/// A query that was read.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Asked {
    /// Words, in lower case, in the order typed.
    pub(super) terms: Vec<String>,
    /// Canonical names; `None`: all.
    pub(super) registries: Option<Vec<String>>,
    /// Names; `None`: all.
    pub(super) collections: Option<Vec<String>>,
    /// Kinds; `None`: all.
    pub(super) kinds: Option<Vec<Kind>>,
    /// Healths; `None`: all.
    pub(super) healths: Option<Vec<Health>>,
    /// Kinds of objects, in lower case.
    pub(super) has: Vec<String>,
    /// Tags, in lower case.
    pub(super) tags: Vec<String>,
    /// What was ignored or changed, for whoever asked.
    pub(super) notes: Vec<String>,
}

/// Reads a query against the registries a viewer may see.
pub(super) fn read(query: &Query, snapshot: &Snapshot, viewer: &Viewer) -> Asked {
    let mut asked = Asked::default();
    let mut text = query.text.as_str();
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text = &text[..end];
        asked.notes.push(format!("only the first {LONGEST} bytes of the query were read"));
    }
    let Query { registries, collections, kinds, healths, has, tags, .. } = query;
    let mut filters = [registries, collections, kinds, healths, has, tags].map(Clone::clone);
    let mut free = Vec::new();
    for piece in pieces(text) {
        match filter(&piece) {
            Some((at, value)) => filters[at].push(value),
            None => free.push(piece),
        }
    }
    for values in &mut filters {
        if values.len() > MOST_VALUES {
            values.truncate(MOST_VALUES);
            asked.notes.push(format!("only the first {MOST_VALUES} values of a filter were read"));
        }
    }
    let [registries, collections, kinds, healths, has, tags] = filters;
    asked.registries = asked_registries(&registries, snapshot, viewer, &mut asked.notes);
    asked.collections = (!collections.is_empty()).then_some(collections);
    asked.kinds = asked_kinds(&kinds, &mut asked.notes);
    asked.healths = asked_healths(&healths, &mut asked.notes);
    asked.has = has.iter().map(|kind| kind.to_lowercase()).collect();
    asked.tags = tags.iter().map(|tag| tag.to_lowercase()).collect();
    asked.terms = terms(&free.join(" "), &mut asked.notes);
    asked
}

/// Pieces between spaces; quotation marks hold a piece together.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut quoted = false;
    for character in text.chars() {
        match character {
            '"' => quoted = !quoted,
            space if space.is_whitespace() && !quoted => pieces.push(String::new()),
            other => pieces.last_mut().expect("there is always a last piece").push(other),
        }
    }
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn filter(piece: &str) -> Option<(usize, String)> {
    let (key, value) = piece.split_once(':')?;
    let keys = [
        ("registry", 0),
        ("collection", 1),
        ("kind", 2),
        ("health", 3),
        ("has", 4),
        ("object", 4),
        ("tag", 5),
    ];
    let (_, at) = keys.iter().find(|(known, _)| known.eq_ignore_ascii_case(key))?;
    (!value.is_empty()).then(|| (*at, value.to_owned()))
}

fn terms(text: &str, notes: &mut Vec<String>) -> Vec<String> {
    let runs = words::runs(text);
    let is_joint = |at: usize| matches!(text.as_bytes().get(at), Some(b'-' | b'_' | b'.'));
    // `in-memory` is a word of its own, whatever `in` is.
    let joined = |range: &std::ops::Range<usize>| {
        let before = range.start.checked_sub(1).is_some_and(is_joint);
        let inner = |at: usize| text[at..].chars().nth(1).is_some_and(char::is_alphanumeric);
        before || (is_joint(range.end) && inner(range.end))
    };
    let telling = runs.iter().any(|(word, _)| !words::is_empty(word));
    let mut terms = Vec::<String>::new();
    for (word, range) in &runs {
        if word.len() > words::LONGEST {
            notes.push(format!("a word of {} bytes was left out", word.len()));
        } else if !telling || !words::is_empty(word) || joined(range) {
            terms.push(word.clone());
        }
    }
    if terms.len() > MOST_TERMS {
        notes.push(format!("only the first {MOST_TERMS} words were looked for"));
        terms.truncate(MOST_TERMS);
    }
    terms
}

fn asked_registries(
    values: &[String],
    snapshot: &Snapshot,
    viewer: &Viewer,
    notes: &mut Vec<String>,
) -> Option<Vec<String>> {
    if values.is_empty() {
        return None;
    }
    let mut found = Vec::new();
    for value in values {
        let wanted = format!("/{}/", value.trim_matches('/').to_ascii_lowercase());
        let names = snapshot.visible(viewer).map(|registry| registry.name.canonical());
        let before = found.len();
        found.extend(
            names
                .filter(|name| format!("/{}/", name.to_ascii_lowercase()).contains(&wanted))
                .map(str::to_owned),
        );
        if found.len() == before {
            notes.push(format!("no registry here is named `{}`", shown(value)));
        }
    }
    Some(found)
}

fn asked_kinds(values: &[String], notes: &mut Vec<String>) -> Option<Vec<Kind>> {
    let mut kinds = Vec::new();
    for value in values {
        let of_word = Kind::from_query(value);
        if of_word.is_empty() {
            let known = Kind::ALL.map(Kind::as_str).join(", ");
            notes.push(format!("`kind:{}` was ignored; kinds are {known}", shown(value)));
        }
        kinds.extend(of_word);
    }
    (!kinds.is_empty()).then_some(kinds)
}

fn asked_healths(values: &[String], notes: &mut Vec<String>) -> Option<Vec<Health>> {
    let mut healths = Vec::new();
    for value in values {
        match Health::ALL.into_iter().find(|health| health.as_str().eq_ignore_ascii_case(value)) {
            Some(health) => healths.push(health),
            None => {
                let known = Health::ALL.map(Health::as_str).join(", ");
                notes.push(format!("`health:{}` was ignored; it is one of {known}", shown(value)));
            }
        }
    }
    (!healths.is_empty()).then_some(healths)
}

fn shown(value: &str) -> String {
    schema::finding::shown(value.as_bytes())
}

/// The key of a template in the index.
pub(super) fn key(location: &Location) -> String {
    crate::store::spelled(location).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn asked(text: &str) -> Asked {
        read(&Query::text(text), &Snapshot::default(), &Viewer::Anonymous)
    }

    #[test]
    fn filters_are_told_from_words() {
        let read = asked(
            "a Redis-cluster kind:dm COLLECTION:db has:Deployment object:Service tag:Fast health:errors http://x colour:red",
        );
        assert_eq!(read.terms, ["redis", "cluster", "http", "x", "colour", "red"]);
        assert_eq!(read.kinds, Some(vec![Kind::DmJinja, Kind::DmPython]));
        assert_eq!(read.collections, Some(vec!["db".to_owned()]));
        assert_eq!(read.has, ["deployment", "service"]);
        assert_eq!(read.tags, ["fast"]);
        assert_eq!(read.healths, Some(vec![Health::Broken]));
        assert_eq!(read.notes, Vec::<String>::new());
    }

    #[test]
    fn what_is_ignored_is_said() {
        assert_eq!(asked("kind:spaceship").kinds, None);
        assert_eq!(asked("kind:spaceship").notes.len(), 1);
        assert_eq!((asked("health:tired").healths, asked("health:tired").notes.len()), (None, 1));
        assert_eq!(
            asked("registry:nowhere").registries,
            Some(Vec::new()),
            "a registry that is not here has nothing"
        );
        assert_eq!(asked(&"word".repeat(1000)).notes.len(), 2);
        let many = (0..100).map(|n| format!("w{n} ")).collect::<String>();
        assert_eq!(asked(&many).terms.len(), MOST_TERMS);
        assert_eq!(asked("the").terms, ["the"], "a query of nothing but empty words looks for them");
        assert_eq!(asked("a cache in-memory").terms, ["cache", "in", "memory"]);
        assert_eq!(asked("the cache - a fast one.").terms, ["cache", "fast", "one"]);
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "\\PC{0,500}") {
            prop_assert!(asked(&text).terms.len() <= MOST_TERMS);
        }
    }
}
