//! Answers kept ready: what the hot routes give without making it again.
//!
//! An answer is kept under the path and query as they came, with the generation of the catalogue it was made from; one
//! of an older generation does not count. So a repeated request is a look-up and a reference count, and what is
//! published, hidden or removed shows at once. All who are not known see the same, and share theirs; whoever has a
//! token has answers of their own, under the id of the token, so that none is given to somebody else.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderMap, HeaderValue};
use moka::sync::Cache;

use crate::access::Caller;

/// Memory for ready answers, in bytes of bodies and keys.
const CAPACITY: u64 = 64 << 20;
/// An answer above this is made each time: its making is nothing beside its sending.
const LARGEST: usize = 1 << 20;

/// An answer that only needs sending.
#[derive(Debug, Clone)]
pub(crate) struct ReadyAnswer {
    /// Every header but the request id.
    pub(crate) headers: HeaderMap,
    /// Its entity tag, which is also among the headers.
    pub(crate) tag: HeaderValue,
    pub(crate) body: Bytes,
    /// The generation of the catalogue it was made from.
    pub(crate) generation: u64,
}

impl ReadyAnswer {
    /// An answer with its length among the headers, so that HEAD says it too.
    pub(crate) fn new(mut headers: HeaderMap, tag: HeaderValue, body: Bytes, generation: u64) -> ReadyAnswer {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        ReadyAnswer { headers, tag, body, generation }
    }
}

/// The cache.
pub(crate) struct ReadyAnswers(Cache<Arc<str>, Arc<ReadyAnswer>>);

impl ReadyAnswers {
    /// An empty cache.
    pub(crate) fn new() -> ReadyAnswers {
        let weigh = |key: &Arc<str>, answer: &Arc<ReadyAnswer>| {
            // Headers, the entry and its bookkeeping are about as much as a small body.
            u32::try_from(key.len() + answer.body.len() + 1_024).unwrap_or(u32::MAX)
        };
        ReadyAnswers(Cache::builder().max_capacity(CAPACITY).weigher(weigh).build())
    }

    /// The answer for a caller, a path and query, if it is of this generation.
    pub(crate) fn get(&self, caller: &Caller, target: &str, generation: u64) -> Option<Arc<ReadyAnswer>> {
        self.0.get(&*key(caller, target)).filter(|answer| answer.generation == generation)
    }

    /// Keeps an answer.
    pub(crate) fn keep(&self, caller: &Caller, target: &str, answer: Arc<ReadyAnswer>) {
        if answer.body.len() <= LARGEST {
            self.0.insert(key(caller, target).into(), answer);
        }
    }
}

/// No target has a space in it, so no caller's key is another's.
fn key<'a>(caller: &Caller, target: &'a str) -> Cow<'a, str> {
    match caller.grant() {
        None => Cow::Borrowed(target),
        Some(grant) => Cow::Owned(format!("{} {target}", grant.id())),
    }
}
