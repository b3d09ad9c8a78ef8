//! TOML as BurntSushi's encoder 1.3.2 writes it: plain keys first, then tables, each sorted; tables indented by two.

use crate::budget::Limit;
use crate::context::{Context, Failure};
use crate::strconv;
use crate::value::{Entry, Map, Value};

/// Tables and arrays may nest this deep; beyond it a value most likely contains itself.
const MAX_DEPTH: usize = 200;

/// What the encoder refused, or a limit.
enum Stop {
    Message(&'static str),
    Limit(Limit),
}

type Write = Result<(), Stop>;

/// Writes a value. The inner error is the encoder's own text, which Helm and Interoperator return in place of TOML.
pub(crate) fn encode<'a>(
    value: Value<'a>,
    context: &mut Context<'_, 'a>,
) -> Result<Result<Vec<u8>, Vec<u8>>, Failure> {
    if value.is_nil() {
        return Err(Failure::message("reflect: call of reflect.Value.Type on zero Value"));
    }
    let limit = context.text_limit();
    let mut encoder = Encoder { out: Vec::new(), limit, context };
    match encoder.encode(&mut Vec::new(), value) {
        Ok(()) => Ok(Ok(encoder.out)),
        Err(Stop::Message(message)) => Ok(Err(message.as_bytes().to_vec())),
        Err(Stop::Limit(limit)) => Err(Failure::Limit(limit)),
    }
}

struct Encoder<'e, 'r, 'a> {
    out: Vec<u8>,
    limit: usize,
    context: &'e mut Context<'r, 'a>,
}

fn is_null(value: Value<'_>) -> bool {
    match value {
        Value::Missing | Value::Nil => true,
        Value::Map(map) => map.is_nil(),
        Value::List(kind, _) => kind.nil,
        _ => false,
    }
}

fn key_text(key: &[u8]) -> Vec<u8> {
    let bare =
        !key.is_empty() && key.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    if bare {
        return key.to_vec();
    }
    let mut out = Vec::new();
    quoted(&mut out, key);
    out
}

fn quoted(out: &mut Vec<u8>, text: &[u8]) {
    out.push(b'"');
    for byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            8 => out.extend_from_slice(b"\\b"),
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            12 => out.extend_from_slice(b"\\f"),
            b'\r' => out.extend_from_slice(b"\\r"),
            0..=0x1f | 0x7f => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            byte => out.push(*byte),
        }
    }
    out.push(b'"');
}

impl<'a> Encoder<'_, '_, 'a> {
    fn check(&self, depth: usize) -> Write {
        if depth > MAX_DEPTH {
            return Err(Stop::Limit(Limit::Cyclic));
        }
        if self.out.len() > self.limit {
            return Err(Stop::Limit(Limit::Memory));
        }
        Ok(())
    }

    /// Objects count as the data they stand for, except times, which TOML has.
    fn plain(&mut self, value: Value<'a>) -> Value<'a> {
        match value {
            Value::Object(object) if object.time().is_none() => object.data(self.context).unwrap_or(value),
            other => other,
        }
    }

    /// Whether a list holds nothing but tables.
    fn is_table_list(&mut self, value: Value<'a>) -> Result<bool, Stop> {
        let Value::List(kind, items) = value else { return Ok(false) };
        if kind.nil || items.is_empty() {
            return Ok(false);
        }
        let mut all = true;
        for item in items {
            let item = self.plain(*item);
            if is_null(item) {
                return Err(Stop::Message("toml: cannot encode array with nil element"));
            }
            // Looking into a list inside finds its nulls too.
            self.is_table_list(item)?;
            all &= matches!(item, Value::Map(_));
        }
        Ok(all)
    }

    fn newline(&mut self) {
        if !self.out.is_empty() {
            self.out.push(b'\n');
        }
    }

    fn indent(&mut self, key: &[&'a [u8]]) {
        let width = 2 * key.len().saturating_sub(1);
        self.out.resize(self.out.len() + width, b' ');
    }

    fn full_key(&mut self, key: &[&'a [u8]]) {
        let parts: Vec<Vec<u8>> = key.iter().map(|part| key_text(part)).collect();
        self.out.extend_from_slice(&parts.join(&b'.'));
    }

    fn encode(&mut self, key: &mut Vec<&'a [u8]>, value: Value<'a>) -> Write {
        self.check(key.len())?;
        let value = self.plain(value);
        match value {
            Value::Map(map) if map.is_nil() => Ok(()),
            Value::Map(map) => {
                if key.len() == 1 {
                    self.newline();
                }
                if !key.is_empty() {
                    self.indent(key);
                    self.out.push(b'[');
                    self.full_key(key);
                    self.out.extend_from_slice(b"]\n");
                }
                self.table(key, map)
            }
            Value::List(_, items) if self.is_table_list(value)? => {
                if key.is_empty() {
                    return Err(Stop::Message("toml: top-level values must be Go maps or structs"));
                }
                for item in items {
                    let Value::Map(map) = self.plain(*item) else { continue };
                    self.newline();
                    self.indent(key);
                    self.out.extend_from_slice(b"[[");
                    self.full_key(key);
                    self.out.extend_from_slice(b"]]\n");
                    self.table(key, map)?;
                }
                Ok(())
            }
            value => {
                let Some(name) = key.last() else { return self.element(value, 0) };
                let name = key_text(name);
                self.indent(key);
                self.out.extend_from_slice(&name);
                self.out.extend_from_slice(b" = ");
                self.element(value, key.len())?;
                self.newline();
                Ok(())
            }
        }
    }

    /// The keys of a map: those with plain values, and those with tables.
    fn sorted(&mut self, map: &'a Map<'a>) -> Result<[Vec<Entry<'a>>; 2], Stop> {
        let entries = map.snapshot(self.context.arena);
        let mut parts = [Vec::new(), Vec::new()];
        for (key, value) in entries {
            let value = self.plain(*value);
            let table = !is_null(value) && (matches!(value, Value::Map(_)) || self.is_table_list(value)?);
            parts[usize::from(table)].push((*key, value));
        }
        Ok(parts)
    }

    fn table(&mut self, key: &mut Vec<&'a [u8]>, map: &'a Map<'a>) -> Write {
        let parts = self.sorted(map)?;
        for (name, value) in parts.into_iter().flatten() {
            if is_null(value) {
                continue;
            }
            key.push(name);
            self.encode(key, value)?;
            key.pop();
        }
        Ok(())
    }

    fn element(&mut self, value: Value<'a>, depth: usize) -> Write {
        self.check(depth)?;
        match self.plain(value) {
            Value::String(text) => quoted(&mut self.out, text),
            Value::Bool(value) => self.out.extend_from_slice(if value { b"true" } else { b"false" }),
            Value::Int(crate::value::IntType::Duration, nanos) => {
                quoted(&mut self.out, crate::time::duration_text(nanos).as_bytes());
            }
            Value::Int(_, number) => {
                self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            }
            Value::Uint(_, number) => {
                self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            }
            Value::Float(number) => {
                let text = if number.is_nan() {
                    "nan".to_owned()
                } else if number.is_infinite() {
                    (if number > 0.0 { "+inf" } else { "-inf" }).to_owned()
                } else {
                    let text = strconv::format_float(number, b'f', None);
                    if text.contains('.') { text } else { text + ".0" }
                };
                self.out.extend_from_slice(text.as_bytes());
            }
            Value::Bytes(bytes) => {
                let shown: Vec<String> = bytes.iter().map(u8::to_string).collect();
                self.out.extend_from_slice(format!("[{}]", shown.join(", ")).as_bytes());
            }
            Value::List(_, items) => {
                self.out.push(b'[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        self.out.extend_from_slice(b", ");
                    }
                    self.element(*item, depth + 1)?;
                }
                self.out.push(b']');
            }
            Value::Map(map) => {
                self.out.push(b'{');
                let [direct, tables] = self.sorted(map)?;
                let (count, more) = (direct.len(), !tables.is_empty());
                for (at, (name, value)) in direct.into_iter().enumerate() {
                    if is_null(value) {
                        continue;
                    }
                    self.inline(name, value, depth)?;
                    if more || at + 1 < count {
                        self.out.extend_from_slice(b", ");
                    }
                }
                let count = tables.len();
                for (at, (name, value)) in tables.into_iter().enumerate() {
                    self.inline(name, value, depth)?;
                    if at + 1 < count {
                        self.out.extend_from_slice(b", ");
                    }
                }
                self.out.push(b'}');
            }
            Value::Object(object) => match object.time() {
                Some(time) => {
                    self.out.extend_from_slice(&time.format(b"2006-01-02T15:04:05.999999999Z07:00"));
                }
                None => return Err(Stop::Message("unexpected type: struct")),
            },
            Value::Complex(_) => return Err(Stop::Message("unexpected type: complex128")),
            Value::Missing | Value::Nil => {
                return Err(Stop::Message("toml: cannot encode array with nil element"));
            }
        }
        Ok(())
    }

    fn inline(&mut self, name: &[u8], value: Value<'a>, depth: usize) -> Write {
        self.out.extend_from_slice(&key_text(name));
        self.out.extend_from_slice(b" = ");
        self.element(value, depth + 1)
    }
}
