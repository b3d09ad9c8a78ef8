//! Functions that write and read data: JSON, YAML, TOML, base64, base32, checksums.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::Digest;

use crate::budget::Limit;
use crate::context::{Context, Failure};
use crate::function::{Body, Cost, Function, Parameter, Purity};
use crate::json::{self, Style};
use crate::profile::Numbers;
use crate::value::{Arena, Value};

use super::text;

type Answer<'a> = Result<Value<'a>, Failure>;

fn json_text<'a>(context: &mut Context<'_, 'a>, value: Value<'a>, style: Style) -> Result<Vec<u8>, Failure> {
    json::encode(value, style, context).map_err(Failure::Message)
}

/// What fails gives the empty text.
fn or_empty<'a>(context: &mut Context<'_, 'a>, text: Result<Vec<u8>, Failure>) -> Answer<'a> {
    match text {
        Ok(text) => context.text(text),
        Err(Failure::Message(_)) => Ok(Value::EMPTY),
        Err(limit) => Err(limit),
    }
}

fn to_json<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = json_text(context, arguments[0], Style::PLAIN);
    or_empty(context, text)
}

fn to_pretty_json<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = json_text(context, arguments[0], Style::PRETTY);
    or_empty(context, text)
}

fn must_to_json<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = json_text(context, arguments[0], Style::PLAIN)?;
    context.text(text)
}

fn must_to_pretty_json<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = json_text(context, arguments[0], Style::PRETTY)?;
    context.text(text)
}

fn to_raw_json<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = json_text(context, arguments[0], Style::RAW)?;
    context.text(text)
}

fn from_json<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = text(arguments, 0);
    context.charge(text.len().saturating_mul(4))?;
    Ok(json::decode(text, Numbers::Float, context.arena).unwrap_or(Value::Nil))
}

fn must_from_json<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = text(arguments, 0);
    context.charge(text.len().saturating_mul(4))?;
    json::decode(text, Numbers::Float, context.arena).map_err(Failure::Message)
}

/// A map whose one key says what was wrong.
fn error_map<'a>(context: &mut Context<'_, 'a>, message: &str) -> Answer<'a> {
    let map = context.arena.map();
    map.set(b"Error", context.text(message)?);
    Ok(Value::Map(map))
}

/// Helm's and Interoperator's, which never fail.
fn from_json_map<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = text(arguments, 0);
    context.charge(text.len().saturating_mul(4))?;
    match json::decode_map(text, Numbers::Float, context.arena) {
        Ok(map) => Ok(Value::Map(map)),
        Err(error) => error_map(context, &error),
    }
}

fn from_json_array<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = text(arguments, 0);
    context.charge(text.len().saturating_mul(4))?;
    let error = match json::decode(text, Numbers::Float, context.arena) {
        Ok(value @ Value::List(..)) => return Ok(value),
        Ok(Value::Nil) => return Ok(Value::List(crate::value::ListType::NIL, &[])),
        Ok(other) => {
            let kind = json::json_kind(other);
            format!("json: cannot unmarshal {kind} into Go value of type []interface {{}}")
        }
        Err(error) => error,
    };
    let error = context.text(error)?;
    context.list(&[error])
}

fn unmarshal_json<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = text(arguments, 0);
    context.charge(text.len().saturating_mul(4))?;
    json::decode_map(text, Numbers::Float, context.arena).map(Value::Map).map_err(|error| {
        Failure::message(format!("failed to unmarshal {}. {error}", String::from_utf8_lossy(text)))
    })
}

/// Walks a value into a writer of the yaml crate, whose limit on depth ends the recursion.
struct Tree<'v, 'a, 'r, 'c> {
    value: Value<'a>,
    context: &'v std::cell::RefCell<&'c mut Context<'r, 'a>>,
}

/// Text as JSON would carry it: each broken byte is U+FFFD.
fn lossy(text: &[u8]) -> std::borrow::Cow<'_, str> {
    match std::str::from_utf8(text) {
        Ok(text) => text.into(),
        Err(_) => crate::unicode::runes(text).map(|(c, _)| c).collect::<String>().into(),
    }
}

impl yaml::Node for Tree<'_, '_, '_, '_> {
    fn write_to<S: yaml::Sink>(&self, sink: &mut S, order: yaml::KeyOrder) -> Result<(), yaml::EmitError> {
        match self.value {
            Value::Missing | Value::Nil => sink.null(),
            Value::Bool(value) => sink.bool(value),
            Value::Int(_, number) => sink.int(number),
            Value::Uint(_, number) => sink.uint(number),
            Value::Float(number) => sink.float(number),
            Value::Complex(_) => return Err(yaml::EmitError::NonFinite(f64::NAN)),
            Value::String(text) => sink.string(&lossy(text)),
            Value::Bytes(bytes) => sink.string(&STANDARD.encode(bytes)),
            Value::List(kind, _) if kind.nil => sink.null(),
            Value::List(_, items) => {
                sink.begin_list(items.len())?;
                for item in items {
                    Tree { value: *item, context: self.context }.write_to(sink, order)?;
                }
                sink.end_list();
            }
            Value::Map(map) if map.is_nil() => sink.null(),
            Value::Map(map) => {
                sink.begin_map(map.len())?;
                let mut names = Vec::with_capacity(map.len());
                map.each(|key, value| names.push((lossy(key), value)));
                let mut members: Vec<(&str, Value<'_>)> =
                    names.iter().map(|(name, value)| (name.as_ref(), *value)).collect();
                order.sort(&mut members);
                for (key, value) in members {
                    sink.key(key);
                    Tree { value, context: self.context }.write_to(sink, order)?;
                }
                sink.end_map();
            }
            Value::Object(object) => {
                let data = object.data(&mut self.context.borrow_mut());
                match data {
                    Some(value) if !matches!(value, Value::Object(_)) => {
                        return Tree { value, context: self.context }.write_to(sink, order);
                    }
                    _ => {
                        sink.begin_map(0)?;
                        sink.end_map();
                    }
                }
            }
        }
        Ok(())
    }
}

/// The value as `sigs.k8s.io/yaml` writes it; an error for what it refuses.
pub(crate) fn yaml_text<'a>(value: Value<'a>, context: &mut Context<'_, 'a>) -> Result<String, Failure> {
    let limit = context.text_limit();
    let cell = std::cell::RefCell::new(context);
    let text = yaml::marshal(&Tree { value, context: &cell })
        .map_err(|error| Failure::message(error.to_string()))?;
    if text.len() > limit { Err(Failure::Limit(Limit::Memory)) } else { Ok(text) }
}

fn to_yaml<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    match yaml_text(arguments[0], context) {
        Ok(text) => context.text(text.strip_suffix('\n').unwrap_or(&text)),
        Err(Failure::Message(_)) => Ok(Value::EMPTY),
        Err(limit) => Err(limit),
    }
}

/// A loaded YAML value as Go has it after JSON: numbers are floats.
pub(crate) fn from_yaml_value<'a>(value: &yaml::Value, arena: &'a Arena, numbers: Numbers) -> Value<'a> {
    match value {
        yaml::Value::Null => Value::Nil,
        yaml::Value::Bool(value) => Value::Bool(*value),
        yaml::Value::Int(number) => match numbers {
            Numbers::Float => Value::Float(*number as f64),
            Numbers::Int64 => Value::int64(*number),
            Numbers::Int => Value::int(*number),
        },
        yaml::Value::Uint(number) => match numbers {
            Numbers::Float | Numbers::Int64 => Value::Float(*number as f64),
            Numbers::Int => Value::Uint(crate::value::UintType::Uint64, *number),
        },
        yaml::Value::Float(number) => Value::Float(*number),
        yaml::Value::String(text) => arena.string(text),
        yaml::Value::List(items) => {
            let items: Vec<Value<'a>> =
                items.iter().map(|item| from_yaml_value(item, arena, numbers)).collect();
            arena.list(&items)
        }
        yaml::Value::Map(map) => {
            let out = arena.map_of(crate::value::MapType::Any, map.len());
            for (key, value) in map {
                out.set(arena.bytes(key.as_bytes()), from_yaml_value(value, arena, numbers));
            }
            Value::Map(out)
        }
    }
}

/// go-yaml's words: without what surrounds the mistake, and with its way of counting lines, which is one less in the
/// parser's errors than in the scanner's, and says nothing of the first.
fn go_yaml_error(error: &yaml::Error) -> String {
    let message = error.message.split(", while ").next().unwrap_or(&error.message);
    let from_parser = message.starts_with("did not find expected")
        && !["hexdecimal", "alphabetic", "whitespace", "URI"].iter().any(|word| message.contains(word));
    let line = error.position.map_or(0, |position| position.line);
    let shown = match line {
        0 | 1 => 0,
        line if from_parser => line - 1,
        line => line,
    };
    if shown == 0 { message.to_owned() } else { format!("line {shown}: {message}") }
}

/// Reads a YAML document as `sigs.k8s.io/yaml` does.
fn load<'a>(context: &mut Context<'_, 'a>, text: &[u8]) -> Result<Result<Value<'a>, String>, Failure> {
    context.charge(text.len().saturating_mul(4))?;
    let options = yaml::Options::kubernetes().with_duplicate_keys(yaml::DuplicateKeys::LastWins);
    // Go reads the first document and does not look further.
    Ok(match yaml::load_first_value_bytes(text, &options) {
        Ok(Some(value)) => Ok(from_yaml_value(&value, context.arena, Numbers::Float)),
        Ok(None) => Ok(Value::Nil),
        Err(error) => Err(format!("error converting YAML to JSON: yaml: {}", go_yaml_error(&error))),
    })
}

fn unfit(value: Value<'_>, wanted: &str) -> String {
    let kind = json::json_kind(value);
    format!(
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {kind} into Go value of type {wanted}"
    )
}

fn from_yaml<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    match load(context, text(arguments, 0))? {
        Ok(value @ Value::Map(_)) => Ok(value),
        Ok(Value::Nil) => Ok(Value::Map(context.arena.map())),
        Ok(other) => error_map(context, &unfit(other, "map[string]interface {}")),
        Err(error) => error_map(context, &error),
    }
}

fn from_yaml_array<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let error = match load(context, text(arguments, 0))? {
        Ok(value @ Value::List(..)) => return Ok(value),
        // Decoding null into the empty list Helm begins with leaves it as it is.
        Ok(Value::Nil) => return Ok(Value::List(crate::value::ListType::ANY, &[])),
        Ok(other) => unfit(other, "[]interface {}"),
        Err(error) => error,
    };
    let error = context.text(error)?;
    context.list(&[error])
}

fn to_toml<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    match crate::toml::encode(arguments[0], context)? {
        Ok(text) | Err(text) => context.text(text),
    }
}

/// Go's complaint of text that is no base64: where it stops making sense.
pub(crate) fn base64_decode(text: &[u8]) -> Result<Vec<u8>, String> {
    // Line breaks do not count.
    let mut clean: Vec<u8> = Vec::with_capacity(text.len());
    let mut places: Vec<usize> = Vec::with_capacity(text.len());
    for (at, byte) in text.iter().enumerate() {
        if !matches!(byte, b'\r' | b'\n') {
            clean.push(*byte);
            places.push(at);
        }
    }
    if let Ok(bytes) = STANDARD.decode(&clean) {
        return Ok(bytes);
    }
    // Go allows bits that a padded last group does not need.
    let lenient = base64::engine::GeneralPurpose::new(
        &base64::alphabet::STANDARD,
        base64::engine::GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true),
    );
    if let Ok(bytes) = lenient.decode(&clean) {
        return Ok(bytes);
    }
    let corrupt = |at: usize| Err(format!("illegal base64 data at input byte {at}"));
    let place = |at: usize| places.get(at).copied().unwrap_or(text.len());
    let valid = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    for (group, chunk) in clean.chunks(4).enumerate() {
        for within in 0..4 {
            let at = group * 4 + within;
            let Some(&byte) = chunk.get(within) else {
                // The text ends inside a group.
                return corrupt(text.len() - within);
            };
            if valid(byte) {
                continue;
            }
            if byte != b'=' || within < 2 {
                return corrupt(place(at));
            }
            if within == 2 {
                match clean.get(at + 1) {
                    None => return corrupt(text.len()),
                    Some(b'=') => {}
                    Some(_) => return corrupt(place(at)),
                }
                return corrupt(place(at + 2));
            }
            return corrupt(place(at + 1));
        }
    }
    corrupt(text.len())
}

fn b64enc<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = text(arguments, 0);
    context.charge(text.len().saturating_mul(2))?;
    context.text(STANDARD.encode(text))
}

fn b64dec<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    match base64_decode(text(arguments, 0)) {
        Ok(bytes) => context.text(bytes),
        Err(error) => context.text(error),
    }
}

fn b64dec_strict<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let bytes = base64_decode(text(arguments, 0)).map_err(Failure::Message)?;
    context.text(bytes)
}

const BASE32: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn b32enc<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let mut out = Vec::new();
    for chunk in text(arguments, 0).chunks(5) {
        let mut group = [0u8; 8];
        group[3..3 + chunk.len()].copy_from_slice(chunk);
        let bits = u64::from_be_bytes(group);
        let used = (chunk.len() * 8).div_ceil(5);
        for at in 0..8 {
            let digit = (bits >> (35 - 5 * at)) & 31;
            out.push(if at < used { BASE32[digit as usize] } else { b'=' });
        }
    }
    context.text(out)
}

fn base32_decode(text: &[u8]) -> Result<Vec<u8>, String> {
    let corrupt = |at: usize| Err(format!("illegal base32 data at input byte {at}"));
    let clean: Vec<u8> = text.iter().copied().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < clean.len() {
        let mut bits: u64 = 0;
        let mut used = 0;
        let mut end = false;
        while used < 8 {
            let Some(&byte) = clean.get(at) else {
                // The text ends inside a group.
                return corrupt(clean.len() - used);
            };
            at += 1;
            let left = &clean[at..];
            if byte == b'=' && used >= 2 && left.len() < 8 {
                if left.len() + used < 7 {
                    return corrupt(clean.len());
                }
                if let Some(wrong) = left.iter().take(7 - used).position(|byte| *byte != b'=') {
                    return corrupt((at + wrong).saturating_sub(1));
                }
                if matches!(used, 3 | 6) {
                    return corrupt(at - 1);
                }
                end = true;
                break;
            }
            let Some(digit) = BASE32.iter().position(|digit| *digit == byte) else { return corrupt(at - 1) };
            bits = bits << 5 | digit as u64;
            used += 1;
        }
        let bytes = (bits << (64 - 5 * used)).to_be_bytes();
        out.extend_from_slice(&bytes[..used * 5 / 8]);
        if end {
            break;
        }
    }
    Ok(out)
}

fn b32dec<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    match base32_decode(text(arguments, 0)) {
        Ok(bytes) => context.text(bytes),
        Err(error) => context.text(error),
    }
}

fn sha1sum<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = text(arguments, 0);
    context.charge(text.len())?;
    context.text(hex::encode(sha1::Sha1::digest(text)))
}

fn sha256sum<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = text(arguments, 0);
    context.charge(text.len())?;
    context.text(hex::encode(sha2::Sha256::digest(text)))
}

fn adler32sum<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = text(arguments, 0);
    context.charge(text.len())?;
    let (mut low, mut high) = (1u32, 0u32);
    for byte in text {
        low = (low + u32::from(*byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    context.text((high << 16 | low).to_string())
}

fn rand_bytes<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let Ok(count) = usize::try_from(super::int(arguments, 0)) else {
        return Err(Failure::message("runtime error: makeslice: len out of range"));
    };
    context.charge(count.saturating_mul(3))?;
    let mut bytes = vec![0; count];
    context.random(&mut bytes);
    context.text(STANDARD.encode(bytes))
}

// Helm's own.

fn required<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let value = arguments[1];
    if value.is_nil() || value.as_str() == Some(b"") {
        return Err(Failure::message(String::from_utf8_lossy(text(arguments, 0))));
    }
    Ok(value)
}

/// There is no cluster: nothing is found.
fn lookup<'a>(context: &mut Context<'_, 'a>, _: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::Map(context.arena.map()))
}

use Parameter::{Any, Int, Map as Dict, String as Text};

const fn text_function(
    name: &'static str,
    parameters: &'static [Parameter],
    body: for<'a> fn(&mut Context<'_, 'a>, &[Value<'a>]) -> Answer<'a>,
) -> Function {
    Function::pure(name, parameters, body).costs(Cost::Text)
}

/// sprig's, in both versions.
pub(crate) static TABLE: &[Function] = &[
    text_function("toJson", &[Any], to_json),
    text_function("toPrettyJson", &[Any], to_pretty_json),
    text_function("b64enc", &[Text], b64enc),
    text_function("b64dec", &[Text], b64dec),
    text_function("b32enc", &[Text], b32enc),
    text_function("b32dec", &[Text], b32dec),
    text_function("sha1sum", &[Text], sha1sum),
    text_function("sha256sum", &[Text], sha256sum),
    text_function("adler32sum", &[Text], adler32sum),
];

/// sprig's since version 3.
pub(crate) static TABLE_V3: &[Function] = &[
    text_function("fromJson", &[Text], from_json),
    text_function("mustFromJson", &[Text], must_from_json),
    text_function("mustToJson", &[Any], must_to_json),
    text_function("mustToPrettyJson", &[Any], must_to_pretty_json),
    text_function("toRawJson", &[Any], to_raw_json),
    text_function("mustToRawJson", &[Any], to_raw_json),
    text_function("randBytes", &[Int], rand_bytes).from(Purity::Random),
];

/// What Interoperator puts in place of sprig's or adds.
pub(crate) static INTEROPERATOR: &[Function] = &[
    text_function("b64enc", &[Text], b64enc),
    text_function("b64dec", &[Text], b64dec_strict),
    text_function("unmarshalJSON", &[Text], unmarshal_json),
    text_function("marshalJSON", &[Dict], must_to_json),
    text_function("toToml", &[Any], to_toml),
    text_function("toYaml", &[Any], to_yaml),
    text_function("fromYaml", &[Text], from_yaml),
    text_function("toJson", &[Any], to_json),
    text_function("fromJson", &[Text], from_json_map),
];

/// What Helm puts in place of sprig's or adds.
pub(crate) static HELM: &[Function] = &[
    text_function("toToml", &[Any], to_toml),
    text_function("toYaml", &[Any], to_yaml),
    text_function("fromYaml", &[Text], from_yaml),
    text_function("fromYamlArray", &[Text], from_yaml_array),
    text_function("toJson", &[Any], to_json),
    text_function("fromJson", &[Text], from_json_map),
    text_function("fromJsonArray", &[Text], from_json_array),
    Function::pure("required", &[Text, Any], required),
    Function::pure("lookup", &[Text, Text, Text, Text], lookup).from(Purity::Closed),
    Function { body: Body::Include, ..text_function("include", &[Text, Any], to_json) },
    Function { body: Body::Tpl, ..text_function("tpl", &[Text, Any], to_json) },
];
