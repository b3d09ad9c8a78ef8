//! Answers kept ready: what the hot routes give without making it again.
//!
//! An answer is kept under the path and query as they came, with the generation of the catalogue it was made from; one
//! of an older generation does not count. So a repeated request is a look-up and a reference count, and what is
//! published, hidden or removed shows at once. All who are not known see the same, and share theirs; whoever has a
//! token has answers of their own, under the id of the token, so that none is given to somebody else. Each coding is an
//! answer of its own.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    ACCEPT_RANGES, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, ETAG, HeaderMap, HeaderValue,
};
use http::{Method, Response, StatusCode};
use moka::sync::Cache;
use schema::Digest;
use wire::ProblemKind;

use crate::access::Caller;
use crate::cache;
use crate::compress::Coding;
use crate::error::ApiError;
use crate::range::{self, Selected};

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
    tag: HeaderValue,
    pub(crate) body: Bytes,
    /// The generation of the catalogue it was made from.
    generation: u64,
    /// What the bytes are, if they are content and not made from the snapshot: then parts of them can be asked for.
    pub(crate) content: Option<Digest>,
}

impl ReadyAnswer {
    /// An answer made from the snapshot, with its length among the headers, so that HEAD says it too.
    pub(crate) fn new(mut headers: HeaderMap, tag: HeaderValue, body: Bytes, generation: u64) -> ReadyAnswer {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        ReadyAnswer { headers, tag, body, generation, content: None }
    }

    /// The same, of bytes with this digest.
    pub(crate) fn of_content(mut self, digest: Digest) -> ReadyAnswer {
        self.headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        ReadyAnswer { content: Some(digest), ..self }
    }

    /// The same in a coding: a representation of its own.
    pub(crate) fn coded(mut self, coding: Coding, packed: Bytes) -> ReadyAnswer {
        self.headers.insert(CONTENT_ENCODING, coding.header());
        self.headers.insert(CONTENT_LENGTH, HeaderValue::from(packed.len()));
        let tag = cache::coded_tag(&self.tag, coding);
        self.headers.insert(ETAG, tag.clone());
        ReadyAnswer { tag, body: packed, ..self }
    }

    /// What a request gets of it: all of it, a part, its head alone, or that nothing changed.
    pub(crate) fn give(&self, method: &Method, request: &HeaderMap) -> Result<Response<Bytes>, ApiError> {
        let mut headers = self.headers.clone();
        let (status, body) = if cache::client_has(request, &self.tag) {
            headers.remove(CONTENT_LENGTH);
            (StatusCode::NOT_MODIFIED, Bytes::new())
        } else if *method == Method::HEAD {
            (StatusCode::OK, Bytes::new())
        } else if self.content.is_none() {
            (StatusCode::OK, self.body.clone())
        } else {
            match range::select(method, request, self.body.len(), &self.tag) {
                Selected::Whole => (StatusCode::OK, self.body.clone()),
                Selected::Part(part) => {
                    headers.insert(CONTENT_RANGE, range::content_range(&part, self.body.len()));
                    headers.insert(CONTENT_LENGTH, HeaderValue::from(part.len()));
                    (StatusCode::PARTIAL_CONTENT, self.body.slice(part))
                }
                Selected::BehindTheEnd => {
                    let detail =
                        format!("there are {} bytes, and the range begins behind them", self.body.len());
                    let error = ApiError::new(ProblemKind::RangeNotSatisfiable, detail);
                    return Err(error.header(CONTENT_RANGE, range::no_range(self.body.len())));
                }
            }
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        *response.headers_mut() = headers;
        Ok(response)
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

    /// The answer for a caller, a coding, a path and query, if it is of this generation.
    pub(crate) fn get(
        &self,
        caller: &Caller,
        coding: Option<Coding>,
        target: &str,
        generation: u64,
    ) -> Option<Arc<ReadyAnswer>> {
        self.0.get(&*key(caller, coding, target)).filter(|answer| answer.generation == generation)
    }

    /// Keeps an answer.
    pub(crate) fn keep(
        &self,
        caller: &Caller,
        coding: Option<Coding>,
        target: &str,
        answer: Arc<ReadyAnswer>,
    ) {
        if answer.body.len() <= LARGEST {
            self.0.insert(key(caller, coding, target).into(), answer);
        }
    }

    /// Bytes that are kept, with their keys and headers.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.weighted_size()
    }
}

/// No target has a space in it, and no id of a token is the name of a coding, so no answer's key is another's.
fn key<'a>(caller: &Caller, coding: Option<Coding>, target: &'a str) -> Cow<'a, str> {
    match (caller.grant(), coding) {
        (None, None) => Cow::Borrowed(target),
        (None, Some(coding)) => Cow::Owned(format!("{} {target}", coding.as_str())),
        (Some(grant), coding) => {
            Cow::Owned(format!("{} {} {target}", grant.id(), coding.map_or("", Coding::as_str)))
        }
    }
}
