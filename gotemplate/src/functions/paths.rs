//! sprig's functions on slash-separated paths and on URLs.

use crate::context::{Context, Failure};
use crate::function::{Function, Parameter};
use crate::strconv;
use crate::value::{Map, Value};

use super::text;

type Answer<'a> = Result<Value<'a>, Failure>;

fn base<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let mut path = text(arguments, 0);
    if path.is_empty() {
        return Ok(Value::text("."));
    }
    while let Some(shorter) = path.strip_suffix(b"/") {
        path = shorter;
    }
    if path.is_empty() {
        return Ok(Value::text("/"));
    }
    let start = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    Ok(Value::String(&path[start..]))
}

/// `path.Clean`.
fn cleaned(path: &[u8]) -> Vec<u8> {
    let rooted = path.starts_with(b"/");
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => match parts.last() {
                Some(last) if *last != b".." => {
                    parts.pop();
                }
                _ if rooted => {}
                _ => parts.push(part),
            },
            part => parts.push(part),
        }
    }
    let body = parts.join(&b'/');
    if rooted {
        return [b"/", &body[..]].concat();
    }
    if body.is_empty() { b".".to_vec() } else { body }
}

fn clean<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    context.text(cleaned(text(arguments, 0)))
}

fn dir<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let path = text(arguments, 0);
    let end = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    context.text(cleaned(&path[..end]))
}

fn ext<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let path = text(arguments, 0);
    let name = path.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
    let dot = path[name..].iter().rposition(|byte| *byte == b'.');
    Ok(Value::String(dot.map_or(&[][..], |dot| &path[name + dot..])))
}

fn is_abs<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::Bool(text(arguments, 0).starts_with(b"/")))
}

/// The part of a URL that is escaped; each allows other characters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Path,
    Host,
    User,
    Fragment,
}

fn should_escape(byte: u8, part: Part) -> bool {
    if byte.is_ascii_alphanumeric() {
        return false;
    }
    if part == Part::Host
        && matches!(
            byte,
            b'!' | b'$'
                | b'&'
                | b'\''
                | b'('
                | b')'
                | b'*'
                | b'+'
                | b','
                | b';'
                | b'='
                | b':'
                | b'['
                | b']'
                | b'<'
                | b'>'
                | b'"'
        )
    {
        return false;
    }
    match byte {
        b'-' | b'_' | b'.' | b'~' => false,
        b'$' | b'&' | b'+' | b',' | b'/' | b':' | b';' | b'=' | b'?' | b'@' => match part {
            Part::Path => byte == b'?',
            Part::User => matches!(byte, b'@' | b'/' | b'?' | b':'),
            Part::Fragment => false,
            Part::Host => true,
        },
        b'!' | b'(' | b')' | b'*' => part != Part::Fragment,
        _ => true,
    }
}

fn escape(text: &[u8], part: Part) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        if should_escape(*byte, part) {
            out.extend_from_slice(format!("%{byte:02X}").as_bytes());
        } else {
            out.push(*byte);
        }
    }
    out
}

fn unescape(text: &[u8], part: Part) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        if byte == b'%' {
            let digits = text.get(at + 1..at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
            let value = digits
                .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
                .and_then(|digits| u8::from_str_radix(digits, 16).ok());
            let shown = &text[at..text.len().min(at + 3)];
            let Some(value) = value else {
                return Err(format!("invalid URL escape {}", strconv::quote(shown)));
            };
            // In a host only what is outside ASCII may be escaped, and the zone's own percent sign.
            if part == Part::Host && value < 0x80 && shown != b"%25" {
                return Err(format!("invalid URL escape {}", strconv::quote(shown)));
            }
            out.push(value);
            at += 3;
            continue;
        }
        if part == Part::Host && byte < 0x80 && should_escape(byte, part) {
            return Err(format!("invalid character {} in host name", strconv::quote(&text[at..=at])));
        }
        out.push(byte);
        at += 1;
    }
    Ok(out)
}

/// A URL in its parts, as `net/url` keeps them.
#[derive(Debug, Default)]
struct Url {
    scheme: Vec<u8>,
    opaque: Vec<u8>,
    user: Option<(Vec<u8>, Option<Vec<u8>>)>,
    host: Vec<u8>,
    path: Vec<u8>,
    raw_path: Vec<u8>,
    omit_host: bool,
    force_query: bool,
    query: Vec<u8>,
    fragment: Vec<u8>,
}

fn cut(text: &[u8], byte: u8) -> (&[u8], Option<&[u8]>) {
    match text.iter().position(|other| *other == byte) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

fn scheme(text: &[u8]) -> Result<(&[u8], &[u8]), String> {
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if at > 0 => {}
            b':' if at == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((&text[..at], &text[at + 1..])),
            _ => return Ok((b"", text)),
        }
    }
    Ok((b"", text))
}

fn port_ok(port: &[u8]) -> bool {
    match port {
        [] => true,
        [b':', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

impl Url {
    fn parse(whole: &[u8]) -> Result<Self, String> {
        let wrap = |why: String| format!("parse {}: {why}", strconv::quote(whole));
        let (body, fragment) = cut(whole, b'#');
        let inner = |why: String| format!("parse {}: {why}", strconv::quote(body));
        let mut url = Self::parse_body(body).map_err(inner)?;
        if let Some(fragment) = fragment {
            url.fragment = unescape(fragment, Part::Fragment).map_err(wrap)?;
        }
        Ok(url)
    }

    fn parse_body(body: &[u8]) -> Result<Self, String> {
        let mut url = Self::default();
        if body.iter().any(|byte| *byte < b' ' || *byte == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        if body == b"*" {
            url.path = b"*".to_vec();
            return Ok(url);
        }
        let (scheme, mut rest) = scheme(body)?;
        url.scheme = scheme.to_ascii_lowercase();
        if rest.ends_with(b"?") && rest.iter().filter(|byte| **byte == b'?').count() == 1 {
            url.force_query = true;
            rest = &rest[..rest.len() - 1];
        } else {
            let (before, query) = cut(rest, b'?');
            rest = before;
            url.query = query.unwrap_or_default().to_vec();
        }
        if !rest.starts_with(b"/") {
            if !url.scheme.is_empty() {
                url.opaque = rest.to_vec();
                return Ok(url);
            }
            if cut(rest, b'/').0.contains(&b':') {
                return Err("first path segment in URL cannot contain colon".to_owned());
            }
        }
        if (!url.scheme.is_empty() || !rest.starts_with(b"///")) && rest.starts_with(b"//") {
            let authority = &rest[2..];
            let end = authority.iter().position(|byte| *byte == b'/').unwrap_or(authority.len());
            rest = &authority[end..];
            url.authority(&authority[..end])?;
        } else if !url.scheme.is_empty() && rest.starts_with(b"/") {
            url.omit_host = true;
        }
        url.path = unescape(rest, Part::Path)?;
        if escape(&url.path, Part::Path) != rest {
            url.raw_path = rest.to_vec();
        }
        Ok(url)
    }

    fn authority(&mut self, authority: &[u8]) -> Result<(), String> {
        let at = authority.iter().rposition(|byte| *byte == b'@');
        let host = &authority[at.map_or(0, |at| at + 1)..];
        if host.iter().rposition(|byte| *byte == b'[').is_some_and(|at| at > 0) {
            return Err("invalid IP-literal".to_owned());
        }
        if host.starts_with(b"[") {
            let Some(close) = host.iter().rposition(|byte| *byte == b']') else {
                return Err("missing ']' in host".to_owned());
            };
            let port = &host[close + 1..];
            if !port_ok(port) {
                return Err(format!("invalid port {} after host", strconv::quote(port)));
            }
        } else if let Some(last) = host.iter().rposition(|byte| *byte == b':') {
            // Only these two schemes are strict about more than one colon.
            let strict = matches!(self.scheme.as_slice(), b"http" | b"https");
            let first = host.iter().position(|byte| *byte == b':').unwrap_or(last);
            let colon = if strict { first } else { last };
            let port = &host[colon..];
            if !port_ok(port) {
                return Err(format!("invalid port {} after host", strconv::quote(port)));
            }
        }
        self.host = unescape(host, Part::Host)?;
        let Some(at) = at else { return Ok(()) };
        let user = &authority[..at];
        let valid = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(byte);
        if !user.iter().all(valid) {
            return Err("net/url: invalid userinfo".to_owned());
        }
        let (name, password) = cut(user, b':');
        let name = unescape(name, Part::User)?;
        let password = password.map(|password| unescape(password, Part::User)).transpose()?;
        self.user = Some((name, password));
        Ok(())
    }

    fn user_text(&self) -> Vec<u8> {
        let Some((name, password)) = &self.user else { return Vec::new() };
        let mut out = escape(name, Part::User);
        if let Some(password) = password {
            out.push(b':');
            out.extend_from_slice(&escape(password, Part::User));
        }
        out
    }

    fn hostname(&self) -> &[u8] {
        let colon = self.host.iter().rposition(|byte| *byte == b':').filter(|at| port_ok(&self.host[*at..]));
        let host = &self.host[..colon.unwrap_or(self.host.len())];
        host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]")).unwrap_or(host)
    }

    fn text(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if !self.scheme.is_empty() {
            out.extend_from_slice(&self.scheme);
            out.push(b':');
        }
        if self.opaque.is_empty() {
            let authority = !self.host.is_empty() || self.user.is_some();
            if !self.scheme.is_empty() || authority {
                if authority || (!self.path.is_empty() && !self.omit_host) {
                    out.extend_from_slice(b"//");
                }
                if self.user.is_some() {
                    out.extend_from_slice(&self.user_text());
                    out.push(b'@');
                }
                out.extend_from_slice(&escape(&self.host, Part::Host));
            }
            let path =
                if self.raw_path.is_empty() { escape(&self.path, Part::Path) } else { self.raw_path.clone() };
            if !path.is_empty() && path[0] != b'/' && !self.host.is_empty() {
                out.push(b'/');
            }
            if out.is_empty() && cut(&path, b'/').0.contains(&b':') {
                out.extend_from_slice(b"./");
            }
            out.extend_from_slice(&path);
        } else {
            out.extend_from_slice(&self.opaque);
        }
        if self.force_query || !self.query.is_empty() {
            out.push(b'?');
            out.extend_from_slice(&self.query);
        }
        if !self.fragment.is_empty() {
            out.push(b'#');
            out.extend_from_slice(&escape(&self.fragment, Part::Fragment));
        }
        out
    }
}

fn url_parse<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let source = text(arguments, 0);
    context.charge(source.len().saturating_mul(4))?;
    let url =
        Url::parse(source).map_err(|error| Failure::message(format!("unable to parse url: {error}")))?;
    let map = context.arena.map();
    let user = url.user_text();
    let parts: [(&'static [u8], &[u8]); 8] = [
        (b"fragment", &url.fragment),
        (b"host", &url.host),
        (b"hostname", url.hostname()),
        (b"opaque", &url.opaque),
        (b"path", &url.path),
        (b"query", &url.query),
        (b"scheme", &url.scheme),
        (b"userinfo", &user),
    ];
    for (name, value) in parts {
        map.set(name, context.arena.string(value));
    }
    Ok(Value::Map(map))
}

fn url_part<'a>(map: &Map<'a>, name: &str) -> Result<&'a [u8], Failure> {
    match map.get(name.as_bytes()) {
        None => Ok(b""),
        Some(Value::String(text)) => Ok(text),
        Some(Value::Missing | Value::Nil) => Err(Failure::message(super::convert::NIL_TYPE)),
        Some(other) => Err(Failure::message(format!(
            "unable to parse {name} key, must be of type string, but {} found",
            other.kind_name()
        ))),
    }
}

fn url_join<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let Value::Map(map) = arguments[0] else { return Ok(Value::EMPTY) };
    let mut url = Url {
        scheme: url_part(map, "scheme")?.to_vec(),
        host: url_part(map, "host")?.to_vec(),
        path: url_part(map, "path")?.to_vec(),
        query: url_part(map, "query")?.to_vec(),
        opaque: url_part(map, "opaque")?.to_vec(),
        fragment: url_part(map, "fragment")?.to_vec(),
        ..Url::default()
    };
    let user = url_part(map, "userinfo")?;
    if !user.is_empty() {
        let probe = [b"proto://", user, b"@host"].concat();
        let parsed = Url::parse(&probe)
            .map_err(|error| Failure::message(format!("unable to parse userinfo in dict: {error}")))?;
        url.user = parsed.user;
    }
    context.text(url.text())
}

use Parameter::{Map as Dict, String as Text};

/// In both versions.
pub(crate) static TABLE: &[Function] = &[
    Function::pure("base", &[Text], base),
    Function::pure("dir", &[Text], dir),
    Function::pure("clean", &[Text], clean),
    Function::pure("ext", &[Text], ext),
    Function::pure("isAbs", &[Text], is_abs),
    Function::pure("urlParse", &[Text], url_parse),
    Function::pure("urlJoin", &[Dict], url_join),
];

/// Since version 3; a server's paths are Unix paths.
pub(crate) static TABLE_V3: &[Function] = &[
    Function::pure("osBase", &[Text], base),
    Function::pure("osDir", &[Text], dir),
    Function::pure("osClean", &[Text], clean),
    Function::pure("osExt", &[Text], ext),
    Function::pure("osIsAbs", &[Text], is_abs),
];
