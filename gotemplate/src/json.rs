//! JSON as Go's encoding/json reads and writes it: its numbers, its escapes, its words for what is wrong.

use crate::context::Context;
use crate::profile::Numbers;
use crate::strconv;
use crate::unicode;
use crate::value::{Arena, Entry, IntType, Map, Object, Value};

/// Values may nest this deep; Go's limit.
const MAX_DEPTH: usize = 10_000;

/// How to write.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Escape `<`, `>` and `&`, as Go does unless told otherwise.
    pub html: bool,
    /// Indent by two spaces a level.
    pub pretty: bool,
}

impl Style {
    /// `json.Marshal`.
    pub const PLAIN: Self = Self { html: true, pretty: false };
    /// `json.MarshalIndent` with two spaces.
    pub const PRETTY: Self = Self { html: true, pretty: true };
    /// An encoder without HTML escapes.
    pub const RAW: Self = Self { html: false, pretty: false };
}

enum Open<'a> {
    List(&'a [Value<'a>], usize),
    Map(Vec<Entry<'a>>, usize, *const ()),
}

/// Depth above which a map is looked for among those around it.
const SUSPICIOUS_DEPTH: usize = 64;

/// Writes a value.
///
/// # Errors
/// For what JSON cannot say, in Go's words.
pub fn encode<'a>(value: Value<'a>, style: Style, context: &mut Context<'_, 'a>) -> Result<Vec<u8>, String> {
    let limit = context.text_limit();
    write(value, style, limit, &mut |object| object.data(context))
}

fn write<'a>(
    value: Value<'a>,
    style: Style,
    limit: usize,
    resolve: Resolve<'_, 'a>,
) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let mut open: Vec<Open<'a>> = Vec::new();
    enter(&mut out, value, style, &mut open, resolve)?;
    while !open.is_empty() {
        if out.len() > limit {
            return Err("the text is too long".to_owned());
        }
        let depth = open.len();
        let Some(top) = open.last_mut() else { break };
        let (first, list, next) = match top {
            Open::List(items, at) => {
                let next = items.get(*at).map(|item| (None, *item));
                *at += 1;
                (*at == 1, true, next)
            }
            Open::Map(entries, at, _) => {
                let next = entries.get(*at).map(|(key, item)| (Some(*key), *item));
                *at += 1;
                (*at == 1, false, next)
            }
        };
        let Some((key, item)) = next else {
            open.pop();
            if style.pretty {
                indent(&mut out, depth - 1);
            }
            out.push(if list { b']' } else { b'}' });
            continue;
        };
        if !first {
            out.push(b',');
        }
        if style.pretty {
            indent(&mut out, depth);
        }
        if let Some(key) = key {
            string(&mut out, key, style.html);
            out.extend_from_slice(if style.pretty { b": " } else { b":" });
        }
        enter(&mut out, item, style, &mut open, resolve)?;
    }
    Ok(out)
}

/// Writes plain data without HTML escapes, for callers outside a render; objects are written as `{}`.
///
/// # Errors
/// For what JSON cannot say, in Go's words.
pub fn to_string(value: Value<'_>) -> Result<String, String> {
    let out = write(value, Style::RAW, usize::MAX, &mut |_| None)?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// How an object becomes data.
type Resolve<'f, 'a> = &'f mut dyn FnMut(&'a dyn Object<'a>) -> Option<Value<'a>>;

fn indent(out: &mut Vec<u8>, depth: usize) {
    out.push(b'\n');
    out.resize(out.len() + depth * 2, b' ');
}

fn enter<'a>(
    out: &mut Vec<u8>,
    value: Value<'a>,
    style: Style,
    open: &mut Vec<Open<'a>>,
    resolve: Resolve<'_, 'a>,
) -> Result<(), String> {
    match value {
        Value::Missing | Value::Nil => out.extend_from_slice(b"null"),
        Value::Bool(value) => out.extend_from_slice(if value { b"true" } else { b"false" }),
        Value::Int(_, number) => out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
        Value::Uint(_, number) => out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes()),
        Value::Float(number) => {
            if !number.is_finite() {
                return Err(format!(
                    "json: unsupported value: {}",
                    strconv::format_float(number, b'g', None)
                ));
            }
            out.extend_from_slice(float(number).as_bytes());
        }
        Value::Complex(_) => return Err("json: unsupported type: complex128".to_owned()),
        Value::String(text) => string(out, text, style.html),
        Value::Bytes(bytes) => {
            use base64::Engine;
            out.push(b'"');
            out.extend_from_slice(base64::engine::general_purpose::STANDARD.encode(bytes).as_bytes());
            out.push(b'"');
        }
        Value::List(kind, _) if kind.nil => out.extend_from_slice(b"null"),
        Value::List(_, []) => out.extend_from_slice(b"[]"),
        Value::List(_, items) => {
            out.push(b'[');
            open.push(Open::List(items, 0));
        }
        Value::Map(map) if map.is_nil() => out.extend_from_slice(b"null"),
        Value::Map(map) => {
            let identity = std::ptr::from_ref::<Map<'a>>(map).cast::<()>();
            if open.len() > SUSPICIOUS_DEPTH
                && open.iter().any(|outer| matches!(outer, Open::Map(_, _, other) if *other == identity))
            {
                return Err(format!(
                    "json: unsupported value: encountered a cycle via {}",
                    map.kind().name()
                ));
            }
            if map.is_empty() {
                out.extend_from_slice(b"{}");
                return Ok(());
            }
            let mut entries = Vec::with_capacity(map.len());
            map.each(|key, value| entries.push((key, value)));
            out.push(b'{');
            open.push(Open::Map(entries, 0, identity));
        }
        Value::Object(object) => match resolve(object) {
            Some(data) if !matches!(data, Value::Object(_)) => return enter(out, data, style, open, resolve),
            _ => out.extend_from_slice(b"{}"),
        },
    }
    Ok(())
}

/// A float as JSON has it in Go: plain digits within 1e-6 and 1e21.
pub(crate) fn float(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        let mut text = strconv::format_float(number, b'e', None);
        // e-09 becomes e-9.
        let length = text.len();
        if length >= 4 && &text[length - 4..length - 1] == "e-0" {
            text.remove(length - 2);
        }
        return text;
    }
    strconv::format_float(number, b'f', None)
}

fn string(out: &mut Vec<u8>, text: &[u8], html: bool) {
    out.push(b'"');
    let mut rest = text;
    loop {
        let plain = rest
            .iter()
            .take_while(|byte| {
                matches!(**byte, 0x20..=0x7f)
                    && !matches!(**byte, b'"' | b'\\')
                    && !(html && matches!(**byte, b'<' | b'>' | b'&'))
            })
            .count();
        out.extend_from_slice(&rest[..plain]);
        rest = &rest[plain..];
        let Some((c, size)) = unicode::decode(rest) else { break };
        match c {
            '"' => out.extend_from_slice(b"\\\""),
            '\\' => out.extend_from_slice(b"\\\\"),
            '\x08' => out.extend_from_slice(b"\\b"),
            '\x0c' => out.extend_from_slice(b"\\f"),
            '\n' => out.extend_from_slice(b"\\n"),
            '\r' => out.extend_from_slice(b"\\r"),
            '\t' => out.extend_from_slice(b"\\t"),
            '\u{FFFD}' if size == 1 => out.extend_from_slice(b"\\ufffd"),
            '\u{2028}' | '\u{2029}' | '\0'..='\x1f' | '<' | '>' | '&' => {
                out.extend_from_slice(format!("\\u{:04x}", c as u32).as_bytes());
            }
            c => unicode::push(out, c),
        }
        rest = &rest[size..];
    }
    out.push(b'"');
}

struct Decoder<'t, 'a> {
    text: &'t [u8],
    at: usize,
    arena: &'a Arena,
    numbers: Numbers,
    /// The first value that fits no Go type; Go reads on and reports it at the end.
    unfit: Option<String>,
}

/// Reads one value.
///
/// # Errors
/// When the text is no JSON, in Go's words.
pub fn decode<'a>(text: &[u8], numbers: Numbers, arena: &'a Arena) -> Result<Value<'a>, String> {
    let mut decoder = Decoder { text, at: 0, arena, numbers, unfit: None };
    let value = decoder.document()?;
    match decoder.unfit {
        Some(error) => Err(error),
        None => Ok(value),
    }
}

/// The kind of a value as Go's JSON errors name it.
pub(crate) fn json_kind(value: Value<'_>) -> &'static str {
    match value {
        Value::Bool(_) => "bool",
        Value::Int(..) | Value::Uint(..) | Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::List(..) => "array",
        _ => "object",
    }
}

/// Reads one object.
///
/// # Errors
/// When the text is no JSON object, in Go's words. `null` is an empty map.
pub fn decode_map<'a>(text: &[u8], numbers: Numbers, arena: &'a Arena) -> Result<&'a Map<'a>, String> {
    match decode(text, numbers, arena)? {
        Value::Map(map) => Ok(map),
        Value::Nil => Ok(arena.map()),
        other => Err(format!(
            "json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            json_kind(other)
        )),
    }
}

enum Building<'a> {
    List(Vec<Value<'a>>),
    Map(&'a Map<'a>, &'a [u8]),
}

impl<'a> Decoder<'_, 'a> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn invalid<T>(&self, context: &str) -> Result<T, String> {
        // Within a number, a word or an escape Go feeds its scanner a space at the end, and complains of that.
        let inside =
            ["in literal", "in numeric", "after decimal", "in exponent", "in string escape", "in \\u"];
        let byte = match self.peek() {
            Some(byte) => byte,
            None if inside.iter().any(|start| context.starts_with(start)) => b' ',
            None => return Err("unexpected end of JSON input".to_owned()),
        };
        let shown = match byte {
            b'\'' => "'\\''".to_owned(),
            b'"' => "'\"'".to_owned(),
            byte => {
                let mut buffer = [0; 4];
                let quoted = strconv::quote(char::from(byte).encode_utf8(&mut buffer).as_bytes());
                format!("'{}'", &quoted[1..quoted.len() - 1])
            }
        };
        Err(format!("invalid character {shown} {context}"))
    }

    fn document(&mut self) -> Result<Value<'a>, String> {
        let mut building: Vec<Building<'a>> = Vec::new();
        loop {
            self.space();
            // A value begins.
            let mut value = match self.peek() {
                Some(open @ (b'{' | b'[')) => {
                    self.at += 1;
                    if building.len() >= MAX_DEPTH {
                        return Err("exceeded max depth".to_owned());
                    }
                    self.space();
                    if open == b'[' {
                        if self.peek() != Some(b']') {
                            building.push(Building::List(Vec::new()));
                            continue;
                        }
                        self.at += 1;
                        self.arena.list(&[])
                    } else {
                        let map = self.arena.map();
                        if self.peek() != Some(b'}') {
                            let key = self.key()?;
                            building.push(Building::Map(map, key));
                            continue;
                        }
                        self.at += 1;
                        Value::Map(map)
                    }
                }
                Some(b'"') => Value::String(self.string()?),
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.literal("true", Value::Bool(true))?,
                Some(b'f') => self.literal("false", Value::Bool(false))?,
                Some(b'n') => self.literal("null", Value::Nil)?,
                _ => return self.invalid("looking for beginning of value"),
            };
            // A value is done; so may be those around it.
            loop {
                self.space();
                match building.last_mut() {
                    None => {
                        if self.peek().is_some() {
                            return self.invalid("after top-level value");
                        }
                        return Ok(value);
                    }
                    Some(Building::List(items)) => {
                        items.push(value);
                        match self.peek() {
                            Some(b',') => {
                                self.at += 1;
                                break;
                            }
                            Some(b']') => {
                                self.at += 1;
                                value = self.arena.list(items);
                                building.pop();
                            }
                            _ => return self.invalid("after array element"),
                        }
                    }
                    Some(Building::Map(map, key)) => {
                        map.set(key, value);
                        match self.peek() {
                            Some(b',') => {
                                self.at += 1;
                                self.space();
                                let next = self.key()?;
                                if let Some(Building::Map(_, key)) = building.last_mut() {
                                    *key = next;
                                }
                                break;
                            }
                            Some(b'}') => {
                                self.at += 1;
                                value = Value::Map(map);
                                building.pop();
                            }
                            _ => return self.invalid("after object key:value pair"),
                        }
                    }
                }
            }
        }
    }

    fn key(&mut self) -> Result<&'a [u8], String> {
        if self.peek() != Some(b'"') {
            return self.invalid("looking for beginning of object key string");
        }
        let key = self.string()?;
        self.space();
        if self.peek() != Some(b':') {
            return self.invalid("after object key");
        }
        self.at += 1;
        Ok(key)
    }

    fn literal(&mut self, word: &str, value: Value<'a>) -> Result<Value<'a>, String> {
        for expected in word.bytes() {
            if self.peek() != Some(expected) {
                return self.invalid(&format!("in literal {word} (expecting '{}')", char::from(expected)));
            }
            self.at += 1;
        }
        Ok(value)
    }

    fn digits(&mut self, context: &str) -> Result<(), String> {
        if !self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            return self.invalid(context);
        }
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value<'a>, String> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        let mut whole = true;
        if self.peek() == Some(b'.') {
            whole = false;
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            whole = false;
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        let text = std::str::from_utf8(&self.text[start..self.at]).unwrap_or("0");
        let int = if whole { text.parse::<i64>().ok() } else { None };
        match (self.numbers, int) {
            (Numbers::Int64, Some(int)) => return Ok(Value::Int(IntType::Int64, int)),
            (Numbers::Int, Some(int)) => return Ok(Value::int(int)),
            _ => {}
        }
        let value: f64 = text.parse().unwrap_or(0.0);
        if value.is_infinite() {
            self.unfit.get_or_insert_with(|| {
                format!("json: cannot unmarshal number {text} into Go value of type float64")
            });
        }
        Ok(Value::Float(value))
    }

    fn hex(&mut self) -> Result<u32, String> {
        let mut value = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return self.invalid("in \\u hexadecimal character escape");
            };
            value = value * 16 + digit;
            self.at += 1;
        }
        Ok(value)
    }

    fn string(&mut self) -> Result<&'a [u8], String> {
        self.at += 1;
        let start = self.at;
        // Most texts hold nothing to undo.
        while matches!(self.peek(), Some(0x20..=0x7f)) && !matches!(self.peek(), Some(b'"' | b'\\')) {
            self.at += 1;
        }
        if self.peek() == Some(b'"') {
            let text = self.arena.bytes(&self.text[start..self.at]);
            self.at += 1;
            return Ok(text);
        }
        let mut out = self.text[start..self.at].to_vec();
        loop {
            let Some(byte) = self.peek() else { return Err("unexpected end of JSON input".to_owned()) };
            match byte {
                b'"' => {
                    self.at += 1;
                    return Ok(self.arena.bytes(&out));
                }
                b'\\' => {
                    self.at += 1;
                    let plain = match self.peek() {
                        Some(c @ (b'"' | b'\\' | b'/')) => c,
                        Some(b'b') => 8,
                        Some(b'f') => 12,
                        Some(b'n') => b'\n',
                        Some(b'r') => b'\r',
                        Some(b't') => b'\t',
                        Some(b'u') => {
                            self.at += 1;
                            let first = self.hex()?;
                            let c = self.surrogates(first)?;
                            unicode::push(&mut out, c);
                            continue;
                        }
                        _ => return self.invalid("in string escape code"),
                    };
                    out.push(plain);
                    self.at += 1;
                }
                0..=0x1f => return self.invalid("in string literal"),
                _ => {
                    let (c, size) = unicode::decode(&self.text[self.at..]).unwrap_or(('\u{FFFD}', 1));
                    unicode::push(&mut out, c);
                    self.at += size;
                }
            }
        }
    }

    /// Joins two halves of a surrogate pair; half a pair is U+FFFD.
    fn surrogates(&mut self, first: u32) -> Result<char, String> {
        if let Some(c) = char::from_u32(first) {
            return Ok(c);
        }
        if first < 0xDC00 && self.text[self.at..].starts_with(b"\\u") {
            let before = self.at;
            self.at += 2;
            let second = self.hex()?;
            if (0xDC00..0xE000).contains(&second) {
                let code = 0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00);
                return Ok(char::from_u32(code).unwrap_or('\u{FFFD}'));
            }
            self.at = before;
        }
        Ok('\u{FFFD}')
    }
}
