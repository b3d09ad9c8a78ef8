//! From words to a query of the index.
//!
//! What a person typed is most likely a name, so names come first, by steps that no text can make up for: the whole
//! name, its plural, a name that begins so, a name that has all the words. Behind that, words in names, titles, tags,
//! objects, places, descriptions, parameters and READMEs count by how rare they are (BM25), weighted by how much each
//! says. All words must be found; if that finds nothing, any will do, and the answer says so.
//!
//! A word that stands nowhere, not even as the beginning of another, is taken for mistyped if one edit makes it a
//! word that does: the most frequent of those, by name if several are. They are found by an automaton over the index's
//! dictionary, which reads no more of it than comes into question.

use std::collections::HashMap;
use std::ops::Bound;

use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, FuzzyTermQuery, Occur, Query, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use super::ask::Asked;
use super::basis::{Basis, Statistics};
use super::document::Fields;
use super::seen::Seen;
use super::words;

/// Shorter words are not corrected: everything is one edit from everything.
const CORRECTED: usize = 4;
/// Shorter beginnings are looked for in names only: in texts they are the beginning of a tenth of all words.
const BEGINNING: usize = 2;

/// Steps of a name. Texts add up to some twenty for a word that is rare and stands everywhere.
const WHOLE_NAME: f32 = 100.0;
const WHOLE_STEMS: f32 = 80.0;
const NAME_BEGINS: f32 = 30.0;
const ALL_IN_NAME: f32 = 40.0;
/// Two words of the query that stand beside each other in a title, tag or description too.
const PAIR: f32 = 4.0;

/// Words as they are looked for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Terms {
    /// In the order typed, mistyped ones corrected.
    pub(super) words: Vec<String>,
    /// The query's words as they should have been typed, if any was not.
    pub(super) corrected: Option<String>,
}

/// Corrects what was mistyped, as far as the index knows better.
pub(super) fn correct(seen: &Seen<'_>, asked: &Asked) -> tantivy::Result<Terms> {
    let mut words = asked.terms.clone();
    let mut corrected = false;
    for at in 0..words.len() {
        // Two words that stand as one somewhere are fine though neither stands alone.
        let joined = |a: usize, b: usize| Some(format!("{}{}", words.get(a)?, words.get(b)?));
        let pairs = [at.checked_sub(1).and_then(|before| joined(before, at)), joined(at, at + 1)];
        let mut stands = stands(seen, &words[at])?;
        for pair in pairs.iter().flatten() {
            stands = stands || is_beginning(seen, pair)?;
        }
        if stands || words[at].chars().count() < CORRECTED {
            continue;
        }
        if let Some(better) = nearest(seen, &words[at])? {
            words[at] = better;
            corrected = true;
        }
    }
    let corrected = corrected.then(|| words.join(" "));
    Ok(Terms { words, corrected })
}

fn stands(seen: &Seen<'_>, word: &str) -> tantivy::Result<bool> {
    for stem in words::stems_of(word) {
        for field in seen.fields.texts() {
            if seen.has(&Term::from_field_text(field, &stem))? {
                return Ok(true);
            }
        }
    }
    is_beginning(seen, word)
}

/// Whether a word of any text but a README's begins so.
fn is_beginning(seen: &Seen<'_>, word: &str) -> tantivy::Result<bool> {
    let words = seen.fields.words;
    for (at, segment) in seen.searcher.segment_readers().iter().enumerate() {
        let index = segment.inverted_index(words)?;
        let mut beginning = index.terms().range().ge(word.as_bytes()).into_stream()?;
        while beginning.advance() && beginning.key().starts_with(word.as_bytes()) {
            let Ok(term) = std::str::from_utf8(beginning.key()) else { continue };
            if seen.count(at, &Term::from_field_text(words, term), 1)? > 0 {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn nearest(seen: &Seen<'_>, word: &str) -> tantivy::Result<Option<String>> {
    let words = seen.fields.words;
    let near = FuzzyTermQuery::new(Term::from_field_text(words, word), 1, true);
    let mut found = std::collections::BTreeMap::<String, u64>::new();
    for (at, segment) in seen.searcher.segment_readers().iter().enumerate() {
        let index = segment.inverted_index(words)?;
        let mut stream = index.terms().search(near.automaton()?).into_stream()?;
        while stream.advance() {
            let Ok(term) = std::str::from_utf8(stream.key()) else { continue };
            let count = seen.count(at, &Term::from_field_text(words, term), u64::MAX)?;
            if count > 0 {
                *found.entry(term.to_owned()).or_default() += count;
            }
        }
    }
    // The first letter is seldom what was mistyped.
    let same_start = |term: &str| term.chars().next() == word.chars().next();
    Ok(found
        .into_iter()
        .max_by_key(|(term, count)| (same_start(term), *count, std::cmp::Reverse(term.clone())))
        .map(|(term, _)| term))
}

/// What scores are made from, as tantivy asks for it.
pub(super) fn statistics<'a>(fields: &'a Fields, words: &[String], basis: &Basis) -> Statistics<'a> {
    let mut by_text = HashMap::new();
    for (word, frequency) in words.iter().zip(&basis.frequencies) {
        by_text.extend(words::stems_of(word).map(|stem| (stem, *frequency)));
    }
    Statistics { fields, documents: basis.documents, by_text }
}

/// The query for `words`, all of them or any, among templates that make all the objects and have all the tags.
pub(super) fn query(fields: &Fields, words: &[String], asked: &Asked, all: bool) -> Box<dyn Query> {
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    let narrowing = [(fields.object_kind, &asked.has), (fields.tag, &asked.tags)];
    for (field, values) in narrowing {
        clauses.extend(values.iter().map(|value| (Occur::Must, constant(exact(field, value), 0.0))));
    }
    if words.is_empty() {
        clauses.push((Occur::Must, constant(Box::new(AllQuery), 0.0)));
        return Box::new(BooleanQuery::new(clauses));
    }
    let occur = if all { Occur::Must } else { Occur::Should };
    let terms = (0..words.len()).map(|at| (occur, in_texts(fields, words, at)));
    clauses.push((Occur::Must, any(terms.collect())));
    let whole = words.concat();
    let stems = words.iter().map(|word| words::stem(word)).collect::<String>();
    let mut steps = vec![
        (exact(fields.whole, &whole), WHOLE_NAME),
        (exact(fields.whole_stems, &stems), WHOLE_STEMS),
        (beginning(fields.whole, &whole), NAME_BEGINS),
    ];
    if words.len() > 1 {
        steps.push((exact(fields.whole_stems, &words::stem(&whole)), WHOLE_STEMS));
    }
    let named = (0..words.len()).map(|at| (Occur::Must, in_name(fields, words, at)));
    steps.push((any(named.collect()), ALL_IN_NAME));
    steps.extend(words.windows(2).map(|two| (exact(fields.pairs, &words::pair(&two[0], &two[1])), PAIR)));
    clauses.extend(steps.into_iter().map(|(query, score)| (Occur::Should, constant(query, score))));
    Box::new(BooleanQuery::new(clauses))
}

/// Everything one word may be found by.
fn in_texts(fields: &Fields, words: &[String], at: usize) -> Box<dyn Query> {
    let word = &words[at];
    let mut ways = vec![constant(exact(fields.name, word), 2.0), constant(beginning(fields.name, word), 2.0)];
    if word.chars().count() >= BEGINNING {
        ways.push(constant(beginning(fields.words, word), 0.2));
    }
    let weights = [
        (fields.name_stems, 2.5),
        (fields.title, 2.0),
        (fields.tags, 2.0),
        (fields.description, 1.5),
        (fields.objects, 1.0),
        (fields.place, 1.0),
        (fields.parameters, 0.6),
        (fields.readme, 0.3),
    ];
    for stem in words::stems_of(word) {
        ways.extend(weights.map(|(field, weight)| {
            let scored = TermQuery::new(Term::from_field_text(field, &stem), IndexRecordOption::WithFreqs);
            Box::new(BoostQuery::new(Box::new(scored), weight)) as Box<dyn Query>
        }));
    }
    ways.extend(joined(words, at).map(|joined| constant(beginning(fields.words, &joined), 2.0)));
    any(ways.into_iter().map(|way| (Occur::Should, way)).collect())
}

/// Everything that shows one word to be of the name.
fn in_name(fields: &Fields, words: &[String], at: usize) -> Box<dyn Query> {
    let word = &words[at];
    let mut ways = vec![beginning(fields.name, word)];
    ways.extend(words::stems_of(word).map(|stem| exact(fields.name_stems, &stem)));
    ways.extend(joined(words, at).map(|joined| beginning(fields.name, &joined)));
    any(ways.into_iter().map(|way| (Occur::Should, way)).collect())
}

/// A word with the one before it and with the one behind it: `web hook` finds `webhook`.
fn joined(words: &[String], at: usize) -> impl Iterator<Item = String> + use<> {
    let before = at.checked_sub(1).map(|before| format!("{}{}", words[before], words[at]));
    let behind = words.get(at + 1).map(|next| format!("{}{next}", words[at]));
    [before, behind].into_iter().flatten()
}

fn any(clauses: Vec<(Occur, Box<dyn Query>)>) -> Box<dyn Query> {
    Box::new(BooleanQuery::new(clauses))
}

fn constant(query: Box<dyn Query>, score: f32) -> Box<dyn Query> {
    Box::new(ConstScoreQuery::new(query, score))
}

fn exact(field: Field, text: &str) -> Box<dyn Query> {
    Box::new(TermQuery::new(Term::from_field_text(field, text), IndexRecordOption::Basic))
}

fn beginning(field: Field, text: &str) -> Box<dyn Query> {
    let end = format!("{text}\u{10ffff}");
    Box::new(RangeQuery::new(
        Bound::Included(Term::from_field_text(field, text)),
        Bound::Excluded(Term::from_field_text(field, &end)),
    ))
}
