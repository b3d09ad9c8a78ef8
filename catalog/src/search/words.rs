//! How a text becomes words, the same way for what is indexed, what is asked, and what is marked in a snippet.
//!
//! A run of letters and digits is a word, in lower case. Names in this field are written in three ways, so a word in
//! camel case gives its parts as well (`MySQLCluster`: `my`, `sql`, `cluster`), and words joined by `-`, `_` or `.`
//! give the whole without them (`web-hook`: `web`, `hook`, `webhook`). Plurals and the like are left to stemming,
//! which comes behind this.

use std::ops::Range;

use tantivy::tokenizer::{Language, RawTokenizer, Stemmer, TextAnalyzer, Token, TokenStream, Tokenizer};

/// Words longer than this are no words; in bytes.
pub(super) const LONGEST: usize = 60;

/// Words as they are written.
pub(super) const PLAIN: &str = "formwork-words-1";
/// Words by their stems.
pub(super) const STEMS: &str = "formwork-stems-1";

/// The analyzer behind [`PLAIN`].
pub(super) fn plain() -> TextAnalyzer {
    TextAnalyzer::builder(Words).build()
}

/// The analyzer behind [`STEMS`].
pub(super) fn stems() -> TextAnalyzer {
    TextAnalyzer::builder(Words).filter(Stemmer::new(Language::English)).build()
}

/// The stem of one word in lower case.
pub(super) fn stem(word: &str) -> String {
    let mut analyzer =
        TextAnalyzer::builder(RawTokenizer::default()).filter(Stemmer::new(Language::English)).build();
    let mut stream = analyzer.token_stream(word);
    if stream.advance() { stream.token().text.clone() } else { word.to_owned() }
}

/// The stems a word may be found by: its own, and that of the word it is a plural of in `-es`, which the stemmer takes
/// for another word where the singular ends in an s already (`redises`, `redis`).
pub(super) fn stems_of(word: &str) -> impl Iterator<Item = String> + use<> {
    let own = stem(word);
    let singular = word.strip_suffix("es").filter(|rest| rest.ends_with(['s', 'x', 'z', 'h'])).map(stem);
    let singular = singular.filter(|singular| *singular != own);
    [Some(own), singular].into_iter().flatten()
}

/// Words that carry no meaning beside others.
const EMPTY: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "for", "from", "in", "is", "it", "of", "on", "or",
    "that", "the", "this", "to", "with",
];

/// Whether a word carries no meaning beside others.
pub(super) fn is_empty(word: &str) -> bool {
    EMPTY.contains(&word)
}

/// Two words as they stand in the index where one comes behind the other.
pub(super) fn pair(first: &str, second: &str) -> String {
    format!("{} {}", stem(first), stem(second))
}

/// The words that stand beside each other in a text, empty ones left out.
pub(super) fn pairs(text: &str) -> Vec<String> {
    let words =
        runs(text).into_iter().map(|(word, _)| word).filter(|word| !is_empty(word) && word.len() <= LONGEST);
    let words = words.collect::<Vec<_>>();
    words.windows(2).map(|two| pair(&two[0], &two[1])).collect()
}

/// A name as [`whole`] has it, by the stems of its words and by the stem of the whole.
pub(super) fn whole_stems(name: &str) -> [String; 2] {
    let words = runs(name).into_iter().map(|(word, _)| stem(&word)).collect::<String>();
    [words, stem(&whole(name))]
}

/// A name without case and joints: equal for `redis-cluster`, `RedisCluster` and `redis_cluster`.
pub(super) fn whole(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The runs of letters and digits, in lower case, with where they stand.
pub(super) fn runs(text: &str) -> Vec<(String, Range<usize>)> {
    let mut runs = Vec::new();
    let mut start = None;
    for (at, character) in text.char_indices().chain([(text.len(), ' ')]) {
        match (character.is_alphanumeric(), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                runs.push((text[from..at].to_lowercase(), from..at));
                start = None;
            }
            _ => {}
        }
    }
    runs
}

/// All words of a text with where they stand; joined ones stand on all their parts.
pub(super) fn words(text: &str) -> Vec<(String, Range<usize>)> {
    let runs = runs(text);
    let mut words = Vec::with_capacity(runs.len());
    let mut first = 0;
    for at in 0..runs.len() {
        let (word, range) = &runs[at];
        words.push((word.clone(), range.clone()));
        let parts = camel(&text[range.clone()], range.start);
        if parts.len() > 1 {
            words.extend(parts);
        }
        let joined_to_next = runs.get(at + 1).is_some_and(|(_, next)| {
            next.start - range.end == 1 && matches!(text.as_bytes()[range.end], b'-' | b'_' | b'.')
        });
        if !joined_to_next {
            if at > first {
                let whole = runs[first..=at].iter().map(|(word, _)| word.as_str()).collect::<String>();
                words.push((whole, runs[first].1.start..range.end));
            }
            first = at + 1;
        }
    }
    words.retain(|(word, _)| word.len() <= LONGEST);
    words
}

/// The parts of a word in camel case: an upper-case letter behind a lower-case one or before one begins a part.
fn camel(word: &str, offset: usize) -> Vec<(String, Range<usize>)> {
    let characters = word.char_indices().collect::<Vec<_>>();
    let begins = |at: usize| {
        let (_, character) = characters[at];
        let before = characters[at - 1].1;
        let next = characters.get(at + 1).is_some_and(|(_, next)| next.is_lowercase());
        character.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next))
    };
    let mut starts = vec![0];
    starts.extend((1..characters.len()).filter(|at| begins(*at)).map(|at| characters[at].0));
    starts.push(word.len());
    let part = |pair: &[usize]| (word[pair[0]..pair[1]].to_lowercase(), offset + pair[0]..offset + pair[1]);
    starts.windows(2).map(part).collect()
}

/// Gives [`words`] to tantivy.
#[derive(Clone)]
struct Words;

struct Stream {
    words: std::vec::IntoIter<(String, Range<usize>)>,
    token: Token,
}

impl Tokenizer for Words {
    type TokenStream<'a> = Stream;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> Stream {
        Stream { words: words(text).into_iter(), token: Token::default() }
    }
}

impl TokenStream for Stream {
    fn advance(&mut self) -> bool {
        let Some((text, range)) = self.words.next() else { return false };
        self.token.text = text;
        self.token.offset_from = range.start;
        self.token.offset_to = range.end;
        self.token.position = self.token.position.wrapping_add(1);
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn list(text: &str) -> Vec<String> {
        words(text).into_iter().map(|(word, _)| word).collect()
    }

    #[test]
    fn three_ways_of_writing_a_name_share_a_word() {
        assert_eq!(list("web-hook"), ["web", "hook", "webhook"]);
        assert_eq!(list("WebHook"), ["webhook", "web", "hook"]);
        assert_eq!(list("webhook"), ["webhook"]);
        assert_eq!(list("MySQLCluster"), ["mysqlcluster", "my", "sql", "cluster"]);
        assert_eq!(list("A sentence. Another"), ["a", "sentence", "another"]);
        assert_eq!(whole("Redis_Cluster"), whole("redis-cluster"));
        assert_eq!(stem("databases"), stem("database"));
        assert!(stems_of("redises").any(|singular| singular == stem("redis")));
        assert!(whole_stems("message-queue").contains(&["message", "queues"].map(stem).concat()));
    }

    proptest! {
        #[test]
        fn words_stand_where_they_say(text in ".{0,80}") {
            for (_, range) in words(&text) {
                prop_assert!(text.get(range).is_some());
            }
        }
    }
}
