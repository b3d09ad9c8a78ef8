//! The part of a text that shows why it was found, with the words that matched.
//!
//! Marked are the words looked for, as corrected: by stem, by beginning, and joined to a neighbour; so a snippet for
//! a mistyped word marks what it was taken for.

use std::collections::HashSet;
use std::ops::Range;

use super::words;

/// Bytes of a snippet, roughly.
const LENGTH: usize = 180;
/// Bytes shown before the first word that matched.
const BEFORE: usize = 40;

/// A part of a text, and the words in it that matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// The text, `…` where it was cut.
    pub text: String,
    /// Byte ranges of the matched words in `text`, in order, not overlapping.
    pub matched: Vec<Range<usize>>,
}

impl Snippet {
    /// How many different words matched.
    fn words(&self) -> usize {
        let words = self.matched.iter().filter_map(|range| self.text.get(range.clone()));
        words.map(str::to_lowercase).collect::<HashSet<_>>().len()
    }
}

/// Tells which words of a text match.
pub(super) struct Matcher {
    words: Vec<String>,
    stems: HashSet<String>,
    /// First letters of the words: stems are only made of words that begin with one of them. A page of hits is some
    /// hundred kilobytes of text, and stemming is what would cost most of a search.
    first: HashSet<char>,
}

impl Matcher {
    pub(super) fn new(terms: &[String]) -> Matcher {
        let joined = terms.windows(2).map(<[String]>::concat);
        let words = terms.iter().cloned().chain(joined).collect::<Vec<_>>();
        let stems = words.iter().flat_map(|word| words::stems_of(word)).collect();
        let first = words.iter().filter_map(|word| word.chars().next()).collect();
        Matcher { words, stems, first }
    }

    /// Where words of a text match: in order, not overlapping.
    pub(super) fn matches(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::<Range<usize>>::new();
        if self.words.is_empty() {
            return found;
        }
        for (word, range) in words::words(text) {
            if !word.chars().next().is_some_and(|first| self.first.contains(&first)) {
                continue;
            }
            let begins = |asked: &String| asked.chars().count() >= 2 && word.starts_with(asked.as_str());
            if self.words.iter().any(begins) || self.stems.contains(&words::stem(&word)) {
                found.push(range);
            }
        }
        found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        let mut merged = Vec::<Range<usize>>::new();
        for range in found {
            match merged.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        merged
    }

    /// The part of a text with most different words that match, the first of several, within one line; `None` if nothing in it matches.
    pub(super) fn snippet(&self, text: &str) -> Option<Snippet> {
        let lines = text.lines().filter_map(|line| self.in_line(line)).collect::<Vec<_>>();
        lines.into_iter().rev().max_by_key(Snippet::words)
    }

    fn in_line(&self, text: &str) -> Option<Snippet> {
        let matches = self.matches(text);
        let within = |first: &Range<usize>| {
            matches
                .iter()
                .filter(|range| range.start >= first.start && range.end <= first.start + LENGTH - BEFORE)
                .count()
        };
        let first = matches.iter().rev().max_by_key(|range| within(range))?;
        let start = first.start.saturating_sub(BEFORE);
        let start = if start == 0 { 0 } else { word_start(text, start, first.start) };
        let end = word_end(text, (start + LENGTH).max(first.end));
        let head = if start > 0 { "…" } else { "" };
        let tail = if end < text.len() { "…" } else { "" };
        let part = text[start..end].trim_end();
        let shift = |range: &Range<usize>| range.start - start + head.len()..range.end - start + head.len();
        let inside = matches.iter().filter(|range| range.start >= start && range.end <= start + part.len());
        let matched = inside.map(shift).collect();
        Some(Snippet { text: format!("{head}{part}{tail}"), matched })
    }
}

/// The first beginning of a word at or behind `from`, at most at `latest`.
fn word_start(text: &str, from: usize, latest: usize) -> usize {
    let gap = (from..latest).find(|at| text.as_bytes()[*at].is_ascii_whitespace());
    gap.map_or(latest, |gap| gap + 1)
}

/// The last end of a word at or before `from`, or the end of the text.
fn word_end(text: &str, from: usize) -> usize {
    if from >= text.len() {
        return text.len();
    }
    let gap = (from..text.len()).find(|at| text.as_bytes()[*at].is_ascii_whitespace());
    let end = gap.unwrap_or(text.len());
    // A text without spaces is cut hard, between characters.
    if end - from > 60 {
        (from..=from + 4).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
    } else {
        end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn marked(terms: &[&str], text: &str) -> Option<(String, Vec<String>)> {
        let terms = terms.iter().map(|term| (*term).to_owned()).collect::<Vec<_>>();
        let snippet = Matcher::new(&terms).snippet(text)?;
        let matched = snippet.matched.iter().map(|range| snippet.text[range.clone()].to_owned()).collect();
        Some((snippet.text, matched))
    }

    #[test]
    fn what_matched_is_marked() {
        let (text, matched) = marked(&["database", "web", "hook"], "A web-hook for Databases").unwrap();
        assert_eq!(text, "A web-hook for Databases");
        assert_eq!(matched, ["web-hook", "Databases"]);
        assert_eq!(marked(&["redis"], "nothing here"), None);
        let long = format!("{}the needle is here {}", "hay ".repeat(100), "hay ".repeat(100));
        let (text, matched) = marked(&["needl"], &long).unwrap();
        assert_eq!(matched, ["needle"]);
        assert!(text.len() < LENGTH + 40 && text.starts_with('…') && text.ends_with('…'), "{text}");
    }

    #[test]
    fn a_snippet_is_of_one_line() {
        let text = "A store\nof many keys\nERLANG_COOKIE: The cookie nodes share";
        assert_eq!(marked(&["store"], text).unwrap().0, "A store");
        let often = "A store in memory\nMEMORY: Memory. The memory a pod takes";
        assert_eq!(marked(&["memory", "store"], often).unwrap().0, "A store in memory");
        assert_eq!(marked(&["erlang", "cookie"], text).unwrap().0, "ERLANG_COOKIE: The cookie nodes share");
    }

    proptest! {
        #[test]
        fn ranges_are_in_the_text(words in prop::collection::vec("[a-zäß ]{1,6}", 1..4), text in "[a-zäßA-Z \n.-]{0,600}") {
            if let Some(snippet) = Matcher::new(&words).snippet(&text) {
                for range in &snippet.matched {
                    prop_assert!(snippet.text.get(range.clone()).is_some());
                }
                prop_assert!(snippet.matched.windows(2).all(|pair| pair[0].end <= pair[1].start));
            }
        }
    }
}
