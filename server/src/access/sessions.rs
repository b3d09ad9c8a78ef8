//! Sessions of browsers: what stands behind the cookie, kept here and nowhere else.
//!
//! The cookie is a random name for a row in memory, so it carries nothing, cannot be made up, and ends with the
//! session; the token itself never goes back to the browser. A session ends when the browser signs out, after
//! [`LIFETIME`], when its token is revoked or over, and when the server stops.
//!
//! The cookie is `HttpOnly` (no script reads it) and `SameSite=Lax` (no other site's form sends it). Where this server
//! is reached by https it is `Secure` too, and its name begins with `__Host-`, so that no other host can set it.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use http::header::{COOKIE, HeaderMap, HeaderValue};
use schema::Digest;

/// How long a session lasts, in seconds: a working day.
pub(crate) const LIFETIME: i64 = 12 * 60 * 60;
/// Sessions at a time; the one that ends first makes room.
const MOST: usize = 10_000;

/// One session, as a request sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Session {
    /// The id of the grant it stands for.
    pub(crate) grant: String,
    /// The word that every request carries that changes something, which another site cannot know.
    pub(crate) word: String,
    /// When it ends: seconds since 1970, UTC.
    pub(crate) until: i64,
}

/// Every session.
#[derive(Debug)]
pub(crate) struct Sessions {
    /// By the hash of the cookie's value, so that the time of a look-up says nothing about a value.
    by_hash: Mutex<HashMap<Digest, Session>>,
    secure: bool,
}

impl Sessions {
    /// No sessions yet. `secure`: browsers reach this server by https.
    pub(crate) fn new(secure: bool) -> Sessions {
        Sessions { by_hash: Mutex::default(), secure }
    }

    const fn cookie(&self) -> &'static str {
        if self.secure { "__Host-formwork" } else { "formwork-session" }
    }

    /// Begins a session for a grant; the cookie to set.
    pub(crate) fn begin(&self, grant: String, now: i64) -> Result<HeaderValue, getrandom::Error> {
        let (value, word) = (random()?, random()?);
        let mut sessions = self.by_hash.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| session.until > now);
        if sessions.len() >= MOST
            && let Some(first) =
                sessions.iter().min_by_key(|(_, session)| session.until).map(|(hash, _)| *hash)
        {
            sessions.remove(&first);
        }
        sessions.insert(Digest::of(value.as_bytes()), Session { grant, word, until: now + LIFETIME });
        Ok(self.set_cookie(&value, LIFETIME))
    }

    /// Ends the session of a request; the cookie to set.
    pub(crate) fn end(&self, headers: &HeaderMap) -> HeaderValue {
        if let Some(value) = value(headers, self.cookie()) {
            let mut sessions = self.by_hash.lock().unwrap_or_else(PoisonError::into_inner);
            sessions.remove(&Digest::of(value.as_bytes()));
        }
        self.set_cookie("", 0)
    }

    /// The session of a request, unless it is over.
    pub(crate) fn of(&self, headers: &HeaderMap, now: i64) -> Option<Session> {
        let value = value(headers, self.cookie())?;
        let sessions = self.by_hash.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(&Digest::of(value.as_bytes())).filter(|session| session.until > now).cloned()
    }

    fn set_cookie(&self, value: &str, seconds: i64) -> HeaderValue {
        let secure = if self.secure { "; Secure" } else { "" };
        let text =
            format!("{}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}", self.cookie());
        HeaderValue::from_str(&text).expect("plain words and hexadecimal digits are header text")
    }
}

/// The value of a cookie, if the request has it.
fn value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let values = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).map(|(_, value)| value)
}

fn random() -> Result<String, getrandom::Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)?;
    Ok(hex::encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(cookie: &HeaderValue) -> HeaderMap {
        let pair = cookie.to_str().unwrap().split(';').next().unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, format!("a=b; {pair}").parse().unwrap());
        headers
    }

    #[test]
    fn sessions_end() {
        let sessions = Sessions::new(false);
        let cookie = sessions.begin("id".to_owned(), 100).unwrap();
        let headers = sent(&cookie);
        assert_eq!(sessions.of(&headers, 100 + LIFETIME - 1).unwrap().grant, "id");
        assert_eq!(sessions.of(&headers, 100 + LIFETIME), None, "after its time");
        sessions.end(&headers);
        assert_eq!(sessions.of(&headers, 101), None, "when signed out");
        assert_eq!(sessions.of(&HeaderMap::new(), 101), None);
    }

    #[test]
    fn cookies_are_kept_from_scripts_other_sites_and_other_hosts() {
        let plain = Sessions::new(false).begin(String::new(), 0).unwrap();
        let plain = plain.to_str().unwrap().to_owned();
        assert!(
            plain.starts_with("formwork-session=") && plain.contains("; HttpOnly; SameSite=Lax"),
            "{plain}"
        );
        let secure = Sessions::new(true).begin(String::new(), 0).unwrap();
        let secure = secure.to_str().unwrap().to_owned();
        assert!(secure.starts_with("__Host-formwork=") && secure.ends_with("; Secure"), "{secure}");
        assert!(
            secure.contains("; Path=/;") && !secure.contains("Domain"),
            "what __Host- asks for: {secure}"
        );
    }
}
