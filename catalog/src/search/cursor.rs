//! A place in a list of hits that outlives publications.
//!
//! Where a hit stands follows from its score, and a score from how rare each word is, which every publication changes a
//! little. So a cursor carries what the first page was scored by: the words as they were corrected, whether all had to
//! be found, and how many templates had each. With these a template that did not change has the score it had, and the
//! next page begins where the last one ended, whatever was published meanwhile: what is new stands where it belongs, and
//! may be on a page that was read already.
//!
//! A cursor is opaque, but no secret: it says nothing its holder could not count. What it says is held to the limits of a
//! query, for anybody can write one.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::basis::Basis;
use super::collect::Rank;
use super::{ask, words};

/// A place in a list of hits: the next page begins behind it. Keep the query as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub(super) rank: Rank,
    /// The words that were looked for, corrected.
    pub(super) words: Vec<String>,
    /// Whether all of them had to be found.
    pub(super) all: bool,
    pub(super) basis: Basis,
}

/// A text that is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no cursor of a search; start again without it")]
pub struct CursorError;

/// The form inside the text: a number for the form itself, then everything in order.
type Written = (u8, Rank, Vec<(String, u64)>, bool, u64);

const FORM: u8 = 2;

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = self.words.iter().cloned().zip(self.basis.frequencies.iter().copied()).collect();
        let written: Written = (FORM, self.rank, words, self.all, self.basis.documents);
        let json = serde_json::to_vec(&written).map_err(|_| fmt::Error)?;
        f.write_str(&URL_SAFE_NO_PAD.encode(json))
    }
}

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let json = URL_SAFE_NO_PAD.decode(text).map_err(|_| CursorError)?;
        let (form, rank, counted, all, documents) =
            serde_json::from_slice::<Written>(&json).map_err(|_| CursorError)?;
        let is_word = |word: &String| !word.is_empty() && word.len() <= words::LONGEST;
        let sound = form == FORM
            && counted.len() <= ask::MOST_TERMS
            && counted.iter().all(|(word, count)| is_word(word) && *count <= documents);
        if !sound {
            return Err(CursorError);
        }
        let (words, frequencies) = counted.into_iter().unzip();
        Ok(Cursor { rank, words, all, basis: Basis { documents, frequencies } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cursor(words: &[&str]) -> Cursor {
        Cursor {
            rank: Rank { score: 7, name: u64::MAX, key: 0 },
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            all: true,
            basis: Basis { documents: 5, frequencies: vec![3; words.len()] },
        }
    }

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_nothing_beyond_a_query_is() {
        let good = cursor(&["redis", "straße"]);
        assert_eq!(good.to_string().parse::<Cursor>(), Ok(good));
        let many = vec!["w"; ask::MOST_TERMS + 1];
        let long = "w".repeat(words::LONGEST + 1);
        let mut more_than_all = cursor(&["a"]);
        more_than_all.basis.frequencies = vec![6];
        for bad in [cursor(&many), cursor(&[&long]), cursor(&[""]), more_than_all] {
            assert_eq!(bad.to_string().parse::<Cursor>(), Err(CursorError));
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd(text in "\\PC{0,80}|[A-Za-z0-9_-]{0,200}") {
            let _ = text.parse::<Cursor>();
        }
    }
}
