//! From words to a query of the index.
//!
//! What a person typed is most likely a name, so names come first, by steps that no text can make up for: the whole
//! name, then a name that begins so, then a word of a name, its plural, its beginning. Behind that, words in titles,
//! tags, objects, places, descriptions, parameters and READMEs count by how rare they are (BM25), weighted by how
//! much each says. All words must be found; if that finds nothing, any will do, and the answer says so.
//!
//! A word that stands nowhere, not even as the beginning of another, is taken for mistyped if one edit makes it a
//! word that does: the most frequent of those, by name if several are.

use std::ops::Bound;

use tantivy::Term;
use tantivy::query::{
    AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, FuzzyTermQuery, Occur, Query, RangeQuery, TermQuery,
};
use tantivy::schema::{Field, IndexRecordOption};

use super::ask::Asked;
use super::document::Fields;
use super::seen::Seen;
use super::words;

/// Shorter words are not corrected: everything is one edit from everything.
const CORRECTED: usize = 4;

/// Steps of a name; the scores of texts stay far below the differences.
const WHOLE_NAME: f32 = 4000.0;
const NAME_BEGINS: f32 = 900.0;
const NAME_WORD: f32 = 400.0;
const NAME_STEM: f32 = 300.0;
const NAME_WORD_BEGINS: f32 = 200.0;

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
            stands = stands || is_word(seen, seen.fields.words, pair)?;
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
    let (stem, fields) = (words::stem(word), seen.fields);
    for field in [
        fields.readme,
        fields.description,
        fields.title,
        fields.parameters,
        fields.name_stems,
        fields.objects,
        fields.tags,
    ] {
        if is_word(seen, field, &stem)? {
            return Ok(true);
        }
    }
    for (at, segment) in seen.searcher.segment_readers().iter().enumerate() {
        let index = segment.inverted_index(fields.words)?;
        let mut beginning = index.terms().range().ge(word.as_bytes()).into_stream()?;
        while beginning.advance() && beginning.key().starts_with(word.as_bytes()) {
            let Ok(term) = std::str::from_utf8(beginning.key()) else { continue };
            if seen.count(at, &Term::from_field_text(fields.words, term), 1)? > 0 {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn is_word(seen: &Seen<'_>, field: Field, word: &str) -> tantivy::Result<bool> {
    seen.has(&Term::from_field_text(field, word))
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

/// The query for `words`: all of them, or any.
pub(super) fn query(fields: &Fields, words: &[String], has: &[String], all: bool) -> Box<dyn Query> {
    let mut clauses: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    for kind in has {
        clauses.push((Occur::Must, constant(exact(fields.object_kind, kind), 0.0)));
    }
    if words.is_empty() {
        clauses.push((Occur::Must, constant(Box::new(AllQuery), 0.0)));
        return Box::new(BooleanQuery::new(clauses));
    }
    let mut terms: Vec<(Occur, Box<dyn Query>)> = Vec::new();
    for at in 0..words.len() {
        terms.push((if all { Occur::Must } else { Occur::Should }, term(fields, words, at)));
    }
    clauses.push((Occur::Must, Box::new(BooleanQuery::new(terms))));
    let whole = words.concat();
    clauses.push((Occur::Should, constant(exact(fields.whole, &whole), WHOLE_NAME)));
    clauses.push((Occur::Should, constant(beginning(fields.whole, &whole), NAME_BEGINS)));
    Box::new(BooleanQuery::new(clauses))
}

/// Everything one word may be found by.
fn term(fields: &Fields, words: &[String], at: usize) -> Box<dyn Query> {
    let word = &words[at];
    let stem = words::stem(word);
    let mut ways = vec![
        constant(exact(fields.name, word), NAME_WORD),
        constant(exact(fields.name_stems, &stem), NAME_STEM),
        constant(beginning(fields.name, word), NAME_WORD_BEGINS),
        constant(beginning(fields.words, word), 0.2),
    ];
    let weights = [
        (fields.title, 5.0),
        (fields.tags, 4.0),
        (fields.objects, 3.0),
        (fields.place, 2.0),
        (fields.description, 2.0),
        (fields.parameters, 1.0),
        (fields.readme, 0.5),
    ];
    for (field, weight) in weights {
        let scored = TermQuery::new(Term::from_field_text(field, &stem), IndexRecordOption::WithFreqs);
        ways.push(Box::new(BoostQuery::new(Box::new(scored), weight)));
    }
    // `web hook` finds `webhook`.
    let before = at.checked_sub(1).map(|before| format!("{}{word}", words[before]));
    let behind = words.get(at + 1).map(|next| format!("{word}{next}"));
    for joined in [before, behind].into_iter().flatten() {
        ways.push(constant(exact(fields.name, &joined), NAME_WORD));
        ways.push(constant(exact(fields.words, &joined), 2.0));
    }
    Box::new(BooleanQuery::new(ways.into_iter().map(|way| (Occur::Should, way)).collect()))
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
