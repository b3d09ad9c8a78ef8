//! Lists in pages: how much, from where on, and where the next page is.
//!
//! A cursor is the place of the last item of a page, by what the list is sorted by. So pages follow each other
//! whatever is published in between: an item that is there all along is on exactly one of them. Clients send a cursor
//! as they got it and read nothing into it.

use axum::response::Response;
use http::Uri;
use http::header::{HeaderValue, LINK};
use serde::Serialize;
use wire::ProblemKind;

use crate::api;
use crate::cache::CachePolicy;
use crate::error::ApiError;
use crate::target::encode_query;

/// Items of a page if nothing else is asked for, and at most.
const USUAL: usize = 100;
const MOST: usize = 1_000;

/// What a request asks for of a list.
#[derive(Debug)]
pub(crate) struct Page {
    /// How many items; more are not given whatever is asked for.
    pub(crate) limit: usize,
    /// The cursor, as it was sent.
    pub(crate) after: Option<String>,
}

impl Page {
    /// Reads `limit` and `cursor`.
    pub(crate) fn asked(uri: &Uri) -> Result<Page, ApiError> {
        let limit = match api::parameter(uri, "limit") {
            None => USUAL,
            Some(text) => match text.parse::<u64>() {
                Ok(limit) if limit > 0 => usize::try_from(limit).unwrap_or(MOST).min(MOST),
                _ => return Err(wrong("limit", &text, "a number from 1 to 1000")),
            },
        };
        Ok(Page { limit, after: api::parameter(uri, "cursor") })
    }

    /// The place after which the page begins, if `read` understands the cursor.
    pub(crate) fn after<T>(&self, read: impl Fn(&str) -> Option<T>) -> Result<Option<T>, ApiError> {
        let Some(cursor) = &self.after else { return Ok(None) };
        let place = read(cursor);
        place.map(Some).ok_or_else(|| wrong("cursor", cursor, "the `next` of a page of this list"))
    }

    /// A page of the items, which come in order from its beginning on, and the cursor of the next.
    pub(crate) fn cut<T>(
        &self,
        items: impl Iterator<Item = T>,
        cursor: impl Fn(&T) -> String,
    ) -> (Vec<T>, Option<String>) {
        let mut page = items.take(self.limit + 1).collect::<Vec<_>>();
        let more = page.len() > self.limit;
        page.truncate(self.limit);
        let next = page.last().filter(|_| more).map(cursor);
        (page, next)
    }
}

fn wrong(name: &'static str, text: &str, expected: &str) -> ApiError {
    let shown = schema::finding::shown(text.as_bytes());
    ApiError::new(ProblemKind::InvalidQuery, format!("`{name}` is `{shown}`, which is not {expected}"))
        .part(name)
}

/// A page in JSON, with `Link: …; rel="next"` if there is another (RFC 8288).
pub(crate) fn answer(
    base: &str,
    uri: &Uri,
    policy: CachePolicy,
    page: &impl Serialize,
    next: Option<(&'static str, &str)>,
) -> Result<Response, ApiError> {
    let mut response = api::json(policy, page)?;
    if let Some((name, cursor)) = next {
        let others = uri.query().unwrap_or_default().split('&');
        let others = others.filter(|pair| !pair.is_empty() && pair.split('=').next() != Some(name));
        let query = others
            .map(|pair| pair.replace('<', "%3C").replace('>', "%3E"))
            .chain([format!("{name}={}", encode_query(cursor))])
            .collect::<Vec<_>>()
            .join("&");
        let path = uri.path().replace('<', "%3C").replace('>', "%3E");
        let link = format!("<{base}{path}?{query}>; rel=\"next\"");
        // An address that is no header text was not sent by a client that can follow it.
        if let Ok(link) = HeaderValue::from_str(&link) {
            response.headers_mut().insert(LINK, link);
        }
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(query: &str) -> Result<Page, ApiError> {
        Page::asked(&format!("/list?{query}").parse().unwrap())
    }

    #[test]
    fn pages_follow_each_other() {
        let items = (0..25).collect::<Vec<_>>();
        let (mut seen, mut query) = (Vec::new(), "limit=10".to_owned());
        loop {
            let asked = page(&query).unwrap();
            let after = asked.after(|cursor| cursor.parse::<i32>().ok()).unwrap();
            let rest = items.iter().copied().filter(|item| after.is_none_or(|after| *item > after));
            let (part, next) = asked.cut(rest, ToString::to_string);
            seen.extend(part);
            let Some(next) = next else { break };
            query = format!("limit=10&cursor={next}");
        }
        assert_eq!(seen, items);
        assert_eq!(page("limit=99999999999999").unwrap().limit, MOST);
        for bad in ["limit=0", "limit=x", "limit=-1", "limit="] {
            assert_eq!(page(bad).unwrap_err().part, Some("limit"), "{bad}");
        }
        assert!(page("cursor=x").unwrap().after(|cursor| cursor.parse::<i32>().ok()).is_err());
    }

    #[test]
    fn the_next_page_is_linked_with_what_else_was_asked() {
        let uri = "/api/v1/templates?cursor=old&registry=a&limit=2".parse::<Uri>().unwrap();
        let response =
            answer("https://x.example", &uri, CachePolicy::Revalidate, &(), Some(("cursor", "a:b c")))
                .unwrap();
        assert_eq!(
            response.headers()[LINK],
            "<https://x.example/api/v1/templates?registry=a&limit=2&cursor=a:b%20c>; rel=\"next\""
        );
        assert!(answer("", &uri, CachePolicy::Revalidate, &(), None).unwrap().headers().get(LINK).is_none());
    }
}
