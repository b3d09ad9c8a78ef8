//! The functions of text/template itself.

use crate::context::{Context, Failure};
use crate::fmt;
use crate::function::{Body, Cost, Function, Parameter};
use crate::unicode;
use crate::value::{UintType, Value};

use super::text;

type Answer<'a> = Result<Value<'a>, Failure>;

/// What can be compared, and with what.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Basic {
    Invalid,
    Bool,
    Complex,
    Int,
    Float,
    String,
    Uint,
}

fn basic(value: Value<'_>) -> Basic {
    match value {
        Value::Bool(_) => Basic::Bool,
        Value::Int(..) => Basic::Int,
        Value::Uint(..) => Basic::Uint,
        Value::Float(_) => Basic::Float,
        Value::Complex(_) => Basic::Complex,
        Value::String(_) => Basic::String,
        _ => Basic::Invalid,
    }
}

fn shown(value: Value<'_>, context: &Context<'_, '_>) -> Result<String, Failure> {
    let mut out = Vec::new();
    fmt::format_value(&mut out, value, 'v', context.text_limit())?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// How Go's `%s` shows a `reflect.Value` given as an operand.
fn reflected(value: Value<'_>, context: &Context<'_, '_>) -> Result<String, Failure> {
    let mut out = Vec::new();
    fmt::format_value(&mut out, value, 's', context.text_limit())?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

fn incompatible(one: Value<'_>, other: Value<'_>) -> Failure {
    Failure::message(format!(
        "incompatible types for comparison: {} and {}",
        one.type_name(),
        other.type_name()
    ))
}

#[expect(clippy::float_cmp, reason = "equality of floats is what was asked for")]
fn equal<'a>(one: Value<'a>, other: Value<'a>, context: &Context<'_, 'a>) -> Result<bool, Failure> {
    let (one, other) = (one.dug(), other.dug());
    Ok(match (one, other) {
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Int(_, a), Value::Int(_, b)) => a == b,
        (Value::Uint(_, a), Value::Uint(_, b)) => a == b,
        (Value::Float(a), Value::Float(b)) => a == b,
        (Value::Complex(a), Value::Complex(b)) => a == b,
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Int(_, a), Value::Uint(_, b)) | (Value::Uint(_, b), Value::Int(_, a)) => {
            u64::try_from(a) == Ok(b)
        }
        _ if basic(one) != basic(other) => {
            if one.is_nil() || other.is_nil() {
                return Ok(false);
            }
            return Err(incompatible(one, other));
        }
        // Neither is of a basic kind.
        _ => {
            let comparable = one.kind_name() == other.kind_name() || one.is_nil() || other.is_nil();
            if !comparable {
                return Err(Failure::message(format!(
                    "non-comparable types {}: {}, {}: {}",
                    reflected(one, context)?,
                    one.type_name(),
                    other.type_name(),
                    shown(other, context)?
                )));
            }
            let nil = |value: Value<'_>| match value {
                Value::Missing | Value::Nil => true,
                Value::Map(map) => map.is_nil(),
                Value::List(kind, _) => kind.nil,
                _ => false,
            };
            if nil(one) || nil(other) {
                return Ok(nil(one) == nil(other));
            }
            match (one, other) {
                (Value::Object(a), Value::Object(b)) => a.type_name() == b.type_name() && a.equals(b),
                _ => {
                    return Err(Failure::message(format!(
                        "non-comparable type {}: {}",
                        reflected(other, context)?,
                        other.type_name()
                    )));
                }
            }
        }
    })
}

fn less(one: Value<'_>, other: Value<'_>) -> Result<bool, Failure> {
    let (one, other) = (one.dug(), other.dug());
    let bad = || Failure::message("invalid type for comparison");
    if basic(one) == Basic::Invalid || basic(other) == Basic::Invalid {
        return Err(bad());
    }
    Ok(match (one, other) {
        (Value::Int(_, a), Value::Int(_, b)) => a < b,
        (Value::Uint(_, a), Value::Uint(_, b)) => a < b,
        (Value::Float(a), Value::Float(b)) => a < b,
        (Value::String(a), Value::String(b)) => a < b,
        (Value::Int(_, a), Value::Uint(_, b)) => u64::try_from(a).is_ok_and(|a| a < b) || a < 0,
        (Value::Uint(_, a), Value::Int(_, b)) => u64::try_from(b).is_ok_and(|b| a < b),
        _ if basic(one) != basic(other) => return Err(incompatible(one, other)),
        _ => return Err(bad()),
    })
}

fn eq<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let [first, rest @ ..] = arguments else {
        return Err(Failure::message("missing argument for comparison"));
    };
    if rest.is_empty() {
        return Err(Failure::message("missing argument for comparison"));
    }
    for other in rest {
        if equal(*first, *other, context)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn ne<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::Bool(!equal(arguments[0], arguments[1], context)?))
}

fn lt<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    less(arguments[0], arguments[1]).map(Value::Bool)
}

fn le<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let at_most = less(arguments[0], arguments[1])? || equal(arguments[0], arguments[1], context)?;
    Ok(Value::Bool(at_most))
}

fn gt<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let at_most = less(arguments[0], arguments[1])? || equal(arguments[0], arguments[1], context)?;
    Ok(Value::Bool(!at_most))
}

fn ge<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    less(arguments[0], arguments[1]).map(|less| Value::Bool(!less))
}

fn not<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::Bool(!arguments[0].truth()))
}

fn index_at(index: Value<'_>, length: usize) -> Result<usize, Failure> {
    let number = match index.dug() {
        Value::Int(_, number) => number,
        Value::Uint(_, number) => number as i64,
        Value::Missing => return Err(Failure::message("cannot index slice/array with nil")),
        other => {
            return Err(Failure::message(format!(
                "cannot index slice/array with type {}",
                other.type_name()
            )));
        }
    };
    usize::try_from(number)
        .ok()
        .filter(|at| *at <= length)
        .ok_or_else(|| Failure::message(format!("index out of range: {number}")))
}

fn index<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let [item, indexes @ ..] = arguments else { return Ok(Value::Missing) };
    let mut item = item.dug();
    if item.is_nil() {
        return Err(Failure::message("index of untyped nil"));
    }
    for index in indexes {
        if item.is_nil() {
            return Err(Failure::message("index of nil pointer"));
        }
        let length = match item {
            Value::List(_, items) => items.len(),
            Value::String(bytes) | Value::Bytes(bytes) => bytes.len(),
            Value::Map(map) => {
                let key = match index.dug() {
                    Value::String(key) => key,
                    Value::Missing => return Err(Failure::message("value is nil; should be of type string")),
                    other => {
                        let kind = other.type_name();
                        return Err(Failure::message(format!("value has type {kind}; should be string")));
                    }
                };
                let zero = if map.kind().holds_interfaces() { Value::Nil } else { Value::EMPTY };
                item = map.get(key).unwrap_or(zero);
                continue;
            }
            Value::Object(object) => match object.data(context) {
                Some(Value::Map(map)) => {
                    item = map.get(text(&[*index], 0)).unwrap_or(Value::Nil);
                    continue;
                }
                _ => return Err(Failure::message(format!("can't index item of type {}", item.type_name()))),
            },
            other => return Err(Failure::message(format!("can't index item of type {}", other.type_name()))),
        };
        let at = index_at(*index, length)?;
        let beyond = |what: &str| Failure::message(format!("reflect: {what} index out of range"));
        item = match item {
            Value::List(_, items) => *items.get(at).ok_or_else(|| beyond("slice"))?,
            Value::String(bytes) => {
                Value::Uint(UintType::Uint8, u64::from(*bytes.get(at).ok_or_else(|| beyond("string"))?))
            }
            Value::Bytes(bytes) => {
                Value::Uint(UintType::Uint8, u64::from(*bytes.get(at).ok_or_else(|| beyond("slice"))?))
            }
            other => other,
        };
    }
    Ok(item)
}

fn slice<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let [item, indexes @ ..] = arguments else { return Ok(Value::Missing) };
    let item = item.dug();
    if item.is_nil() {
        return Err(Failure::message("slice of untyped nil"));
    }
    if indexes.len() > 3 {
        return Err(Failure::message(format!("too many slice indexes: {}", indexes.len())));
    }
    let length = match item {
        Value::String(_) if indexes.len() == 3 => {
            return Err(Failure::message("cannot 3-index slice a string"));
        }
        Value::String(bytes) | Value::Bytes(bytes) => bytes.len(),
        Value::List(_, items) => items.len(),
        other => return Err(Failure::message(format!("can't slice item of type {}", other.type_name()))),
    };
    let mut bounds = [0, length, length];
    for (at, index) in indexes.iter().enumerate() {
        bounds[at] = index_at(*index, length)?;
    }
    for pair in [(0, 1), (1, 2)] {
        if bounds[pair.0] > bounds[pair.1] {
            let (low, high) = (bounds[pair.0], bounds[pair.1]);
            return Err(Failure::message(format!("invalid slice index: {low} > {high}")));
        }
    }
    let range = bounds[0]..bounds[1];
    Ok(match item {
        Value::String(bytes) => Value::String(&bytes[range]),
        Value::Bytes(bytes) => Value::Bytes(&bytes[range]),
        Value::List(kind, items) => Value::List(kind, &items[range]),
        other => other,
    })
}

fn len<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let length = match arguments[0] {
        Value::String(bytes) | Value::Bytes(bytes) => bytes.len(),
        Value::List(_, items) => items.len(),
        Value::Map(map) => map.len(),
        Value::Nil => return Err(Failure::message("len of nil pointer")),
        // Go reads the type of an invalid value here, and panics.
        Value::Missing => {
            return Err(Failure::message("reflect: call of reflect.Value.Type on zero Value"));
        }
        Value::Object(object) => match object.data(context) {
            Some(Value::Map(map)) => map.len(),
            Some(Value::List(_, items)) => items.len(),
            _ => return Err(Failure::message(format!("len of type {}", object.type_name()))),
        },
        other => return Err(Failure::message(format!("len of type {}", other.type_name()))),
    };
    Ok(Value::int(i64::try_from(length).unwrap_or(i64::MAX)))
}

fn print<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let out = fmt::sprint(arguments, context.text_limit())?;
    context.text(out)
}

fn println<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let out = fmt::sprintln(arguments, context.text_limit())?;
    context.text(out)
}

fn printf<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let out = fmt::sprintf(text(arguments, 0), &arguments[1..], context.text_limit())?;
    context.text(out)
}

/// What the escapers work on: the one text as it is, or all operands as `print` writes them, with nothing as
/// `<no value>`.
fn operands<'a>(context: &Context<'_, 'a>, arguments: &[Value<'a>]) -> Result<Vec<u8>, Failure> {
    if let [Value::String(text)] = arguments {
        return Ok(text.to_vec());
    }
    let shown: Vec<Value<'a>> = arguments
        .iter()
        .map(|value| if value.is_nil() { Value::text("<no value>") } else { *value })
        .collect();
    Ok(fmt::sprint(&shown, context.text_limit())?)
}

fn html<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = operands(context, arguments)?;
    let mut out = Vec::with_capacity(text.len() + 16);
    for byte in text {
        match byte {
            0 => out.extend_from_slice("\u{FFFD}".as_bytes()),
            b'"' => out.extend_from_slice(b"&#34;"),
            b'\'' => out.extend_from_slice(b"&#39;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            byte => out.push(byte),
        }
    }
    context.text(out)
}

fn js<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = operands(context, arguments)?;
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut at = 0;
    for (c, size) in unicode::runes(&text) {
        let bytes = &text[at..at + size];
        at += size;
        match c {
            '\\' => out.extend_from_slice(b"\\\\"),
            '\'' => out.extend_from_slice(b"\\'"),
            '"' => out.extend_from_slice(b"\\\""),
            '<' => out.extend_from_slice(b"\\u003C"),
            '>' => out.extend_from_slice(b"\\u003E"),
            '&' => out.extend_from_slice(b"\\u0026"),
            '=' => out.extend_from_slice(b"\\u003D"),
            c if c < ' ' || (!c.is_ascii() && !unicode::is_print(c)) => {
                out.extend_from_slice(format!("\\u{:04X}", c as u32).as_bytes());
            }
            // As it stands, broken or not.
            _ => out.extend_from_slice(bytes),
        }
    }
    context.text(out)
}

fn urlquery<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = operands(context, arguments)?;
    let mut out = Vec::with_capacity(text.len() + 16);
    for byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(byte),
            b' ' => out.push(b'+'),
            byte => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
    }
    context.text(out)
}

use Parameter::{Any, Raw, String as Text};

/// All of them.
pub(crate) static TABLE: &[Function] = &[
    Function { body: Body::And, ..Function::pure("and", &[Raw, Raw], not).variadic() },
    Function { body: Body::Or, ..Function::pure("or", &[Raw, Raw], not).variadic() },
    Function { body: Body::Call, ..Function::pure("call", &[Raw, Raw], not).variadic() },
    Function::pure("html", &[Any], html).variadic().costs(Cost::Text),
    Function::pure("index", &[Raw, Raw], index).variadic(),
    Function::pure("slice", &[Raw, Raw], slice).variadic(),
    Function::pure("js", &[Any], js).variadic().costs(Cost::Text),
    Function::pure("len", &[Raw], len),
    Function::pure("not", &[Raw], not),
    Function::pure("print", &[Any], print).variadic().costs(Cost::Text),
    Function::pure("printf", &[Text, Any], printf).variadic().costs(Cost::Text),
    Function::pure("println", &[Any], println).variadic().costs(Cost::Text),
    Function::pure("urlquery", &[Any], urlquery).variadic().costs(Cost::Text),
    Function::pure("eq", &[Raw, Raw], eq).variadic(),
    Function::pure("ge", &[Raw, Raw], ge),
    Function::pure("gt", &[Raw, Raw], gt),
    Function::pure("le", &[Raw, Raw], le),
    Function::pure("lt", &[Raw, Raw], lt),
    Function::pure("ne", &[Raw, Raw], ne),
];
