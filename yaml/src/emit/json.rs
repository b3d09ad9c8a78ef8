//! The JSON writer: Go's `encoding/json`, whose escapes and floats differ from everyone else's.

use super::{EmitError, KeyOrder, Node, Sink, number::write_go_json_float};
use crate::{Limits, Value};

/// How to write JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonOptions<'text> {
    /// The order of members; Go sorts.
    pub key_order: KeyOrder,
    /// Write `<`, `>` and `&` as `\u003c`, `\u003e` and `\u0026`, as Go does unless told otherwise.
    pub escape_html: bool,
    /// One level's indentation; none for everything in one line.
    pub indent: Option<&'text str>,
}

impl Default for JsonOptions<'_> {
    fn default() -> Self {
        Self { key_order: KeyOrder::Sorted, escape_html: true, indent: None }
    }
}

/// The value as Go's `json.Marshal` writes it: in one line, members sorted, HTML escaped. A number JSON cannot say is
/// written `null`.
#[must_use]
pub fn to_json(value: &Value) -> String {
    to_json_with(value, &JsonOptions::default())
}

/// The value as Go's `json.MarshalIndent` writes it.
#[must_use]
pub fn to_json_pretty(value: &Value, indent: &str) -> String {
    to_json_with(value, &JsonOptions { indent: Some(indent), ..JsonOptions::default() })
}

/// The value as JSON, in the way the options say.
#[must_use]
pub fn to_json_with(value: &Value, options: &JsonOptions<'_>) -> String {
    let mut text = String::new();
    let mut writer = JsonWriter::new(&mut text, *options);
    writer.depth_limit = usize::MAX;
    value.write_to(&mut writer, options.key_order).expect("a writer without limits refuses nothing");
    text
}

/// Writes JSON, as a [`Sink`].
#[derive(Debug)]
pub struct JsonWriter<'text, 'options> {
    text: &'text mut String,
    options: JsonOptions<'options>,
    depth_limit: usize,
    depth: usize,
    /// Nothing was written yet at the current level.
    first: bool,
    /// A key was just written.
    after_key: bool,
    problem: Option<EmitError>,
}

impl<'text, 'options> JsonWriter<'text, 'options> {
    /// A writer that appends one value to `text`. The key order of the options is for the one who walks the value.
    pub fn new(text: &'text mut String, options: JsonOptions<'options>) -> Self {
        let depth_limit = Limits::MAX_DEPTH;
        Self { text, options, depth_limit, depth: 0, first: true, after_key: false, problem: None }
    }

    /// Ends the value.
    ///
    /// # Errors
    /// [`EmitError::NonFinite`] if there was a number JSON cannot say (it was written `null`).
    pub fn finish(self) -> Result<(), EmitError> {
        self.problem.map_or(Ok(()), Err)
    }

    fn lead(&mut self) {
        if self.after_key {
            self.after_key = false;
        } else if self.depth > 0 {
            if !self.first {
                self.text.push(',');
            }
            self.new_line();
        }
        self.first = false;
    }

    fn new_line(&mut self) {
        if let Some(indent) = self.options.indent {
            self.text.push('\n');
            (0..self.depth).for_each(|_| self.text.push_str(indent));
        }
    }

    fn begin(&mut self, bracket: char) -> Result<(), EmitError> {
        if self.depth >= self.depth_limit {
            return Err(EmitError::TooDeep);
        }
        self.lead();
        self.text.push(bracket);
        self.depth += 1;
        self.first = true;
        Ok(())
    }

    fn end(&mut self, bracket: char) {
        self.depth = self.depth.saturating_sub(1);
        if !self.first {
            self.new_line();
        }
        self.text.push(bracket);
        self.first = false;
    }

    fn quoted(&mut self, text: &str) {
        self.text.push('"');
        let bytes = text.as_bytes();
        let mut start = 0;
        let mut index = 0;
        while index < bytes.len() {
            let byte = bytes[index];
            let (escape, width) = match byte {
                b'"' => ("\\\"", 1),
                b'\\' => ("\\\\", 1),
                b'\n' => ("\\n", 1),
                b'\r' => ("\\r", 1),
                b'\t' => ("\\t", 1),
                0x08 => ("\\b", 1),
                0x0C => ("\\f", 1),
                b'<' if self.options.escape_html => ("\\u003c", 1),
                b'>' if self.options.escape_html => ("\\u003e", 1),
                b'&' if self.options.escape_html => ("\\u0026", 1),
                0x00..=0x1F => ("", 1),
                0xE2 if bytes[index..].starts_with("\u{2028}".as_bytes()) => ("\\u2028", 3),
                0xE2 if bytes[index..].starts_with("\u{2029}".as_bytes()) => ("\\u2029", 3),
                _ => {
                    index += 1;
                    continue;
                }
            };
            self.text.push_str(&text[start..index]);
            if escape.is_empty() {
                const HEX: &[u8; 16] = b"0123456789abcdef";
                self.text.push_str("\\u00");
                self.text.push(char::from(HEX[usize::from(byte >> 4)]));
                self.text.push(char::from(HEX[usize::from(byte & 15)]));
            } else {
                self.text.push_str(escape);
            }
            index += width;
            start = index;
        }
        self.text.push_str(&text[start..]);
        self.text.push('"');
    }
}

impl Sink for JsonWriter<'_, '_> {
    fn null(&mut self) {
        self.lead();
        self.text.push_str("null");
    }

    fn bool(&mut self, value: bool) {
        self.lead();
        self.text.push_str(if value { "true" } else { "false" });
    }

    fn int(&mut self, value: i64) {
        self.lead();
        self.text.push_str(itoa::Buffer::new().format(value));
    }

    fn uint(&mut self, value: u64) {
        self.lead();
        self.text.push_str(itoa::Buffer::new().format(value));
    }

    fn float(&mut self, value: f64) {
        if !value.is_finite() && self.problem.is_none() {
            self.problem = Some(EmitError::NonFinite(value));
        }
        self.lead();
        write_go_json_float(self.text, value);
    }

    fn string(&mut self, text: &str) {
        self.lead();
        self.quoted(text);
    }

    fn begin_list(&mut self, _length: usize) -> Result<(), EmitError> {
        self.begin('[')
    }

    fn end_list(&mut self) {
        self.end(']');
    }

    fn begin_map(&mut self, _length: usize) -> Result<(), EmitError> {
        self.begin('{')
    }

    fn key(&mut self, key: &str) {
        self.lead();
        self.quoted(key);
        self.text.push(':');
        if self.options.indent.is_some() {
            self.text.push(' ');
        }
        self.after_key = true;
    }

    fn end_map(&mut self) {
        self.end('}');
    }
}
