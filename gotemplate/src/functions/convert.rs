//! Conversions the functions share: to text, to numbers, deep comparison, deep copies. They differ between versions of
//! sprig: 2.22 goes by kind and reads decimal; 3.2 uses the cast library, which reads Go's number prefixes.

use std::borrow::Cow;

use crate::budget::Limit;
use crate::context::{Context, Failure};
use crate::fmt;
use crate::profile::Sprig;
use crate::strconv;
use crate::value::{IntType, Map, Value};

/// sprig's `strval`: text as it is, everything else as `%v`.
pub(crate) fn strval<'a>(value: Value<'a>, context: &Context<'_, 'a>) -> Result<Cow<'a, [u8]>, Failure> {
    match value {
        Value::String(text) | Value::Bytes(text) => Ok(Cow::Borrowed(text)),
        value => {
            let mut out = Vec::new();
            fmt::format_value(&mut out, value, 'v', context.text_limit())?;
            Ok(Cow::Owned(out))
        }
    }
}

/// A float to an integer as amd64 does it: what does not fit is the smallest number.
pub(crate) fn truncate(value: f64) -> i64 {
    if value.is_nan() || value >= 9_223_372_036_854_775_808.0 { i64::MIN } else { value as i64 }
}

/// `1.00` reads as `1`.
fn trim_zero_decimal(text: &str) -> &str {
    let mut zero = false;
    for (at, byte) in text.bytes().enumerate().rev() {
        match byte {
            b'.' if zero => return &text[..at],
            b'.' => {}
            b'0' => zero = true,
            _ => return text,
        }
    }
    text
}

/// sprig's `toInt64`.
pub(crate) fn to_int64(value: Value<'_>, context: &Context<'_, '_>) -> i64 {
    match value {
        Value::Int(IntType::Duration, _) if context.sprig == Sprig::V3 => 0,
        Value::Int(_, number) => number,
        Value::Uint(_, number) if context.sprig == Sprig::V2 => i64::try_from(number).unwrap_or(i64::MAX),
        Value::Uint(_, number) => number as i64,
        Value::Float(number) => truncate(number),
        Value::Bool(value) => i64::from(value),
        Value::String(text) => {
            let Ok(text) = std::str::from_utf8(text) else { return 0 };
            match context.sprig {
                Sprig::V2 => strconv::parse_int(text, 10).unwrap_or(0),
                Sprig::V3 => strconv::parse_int(trim_zero_decimal(text), 0).unwrap_or(0),
            }
        }
        _ => 0,
    }
}

/// sprig's `toFloat64`.
pub(crate) fn to_float64(value: Value<'_>, context: &Context<'_, '_>) -> f64 {
    match value {
        Value::Int(IntType::Duration, _) if context.sprig == Sprig::V3 => 0.0,
        Value::Int(_, number) => number as f64,
        Value::Uint(_, number) => number as f64,
        Value::Float(number) => number,
        Value::Bool(value) => f64::from(u8::from(value)),
        Value::String(text) => {
            std::str::from_utf8(text).ok().and_then(|text| strconv::parse_float(text).ok()).unwrap_or(0.0)
        }
        _ => 0.0,
    }
}

/// sprig's `empty`.
pub(crate) fn is_empty(value: Value<'_>) -> bool {
    !value.truth()
}

/// The items of a list, or of bytes; `None` for everything else.
pub(crate) fn items<'a>(
    value: Value<'a>,
    context: &mut Context<'_, 'a>,
) -> Result<Option<&'a [Value<'a>]>, Failure> {
    Ok(match value {
        Value::List(_, items) => Some(items),
        Value::Bytes(bytes) => {
            context.charge_items(bytes.len())?;
            let values: Vec<Value<'a>> = bytes
                .iter()
                .map(|byte| Value::Uint(crate::value::UintType::Uint8, u64::from(*byte)))
                .collect();
            Some(context.arena.values(&values))
        }
        _ => None,
    })
}

/// What calling a method of a null's type says.
pub(crate) const NIL_TYPE: &str = "runtime error: invalid memory address or nil pointer dereference";

/// sprig's `strslice`: the texts of a list, without nulls; anything else is a list of one.
pub(crate) fn strings<'a>(
    value: Value<'a>,
    context: &mut Context<'_, 'a>,
) -> Result<Vec<Cow<'a, [u8]>>, Failure> {
    if value.is_nil() {
        return Ok(Vec::new());
    }
    let Some(items) = items(value, context)? else {
        return Ok(vec![strval(value, context)?]);
    };
    context.charge_items(items.len())?;
    items.iter().filter(|item| !item.is_nil()).map(|item| strval(*item, context)).collect()
}

/// `reflect.DeepEqual`: same types, same contents; no recursion, and values that contain themselves end it.
#[expect(clippy::float_cmp, reason = "equality of floats is what was asked for")]
pub(crate) fn deep_equal<'a>(
    one: Value<'a>,
    other: Value<'a>,
    context: &mut Context<'_, 'a>,
) -> Result<bool, Failure> {
    let mut pairs = vec![(one, other)];
    let mut seen: Vec<(*const Map<'a>, *const Map<'a>)> = Vec::new();
    while let Some((one, other)) = pairs.pop() {
        context.charge(64)?;
        let same = match (one, other) {
            (Value::Missing | Value::Nil, Value::Missing | Value::Nil) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(k, a), Value::Int(l, b)) => k == l && a == b,
            (Value::Uint(k, a), Value::Uint(l, b)) => k == l && a == b,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Complex(a), Value::Complex(b)) => a == b,
            (Value::String(a), Value::String(b)) | (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::List(k, a), Value::List(l, b)) => {
                let same = k == l && a.len() == b.len();
                if same && !std::ptr::eq(a, b) {
                    pairs.extend(a.iter().copied().zip(b.iter().copied()));
                }
                same
            }
            (Value::Map(a), Value::Map(b)) => {
                let pair = (std::ptr::from_ref(a), std::ptr::from_ref(b));
                if std::ptr::eq(a, b) || seen.contains(&pair) {
                    continue;
                }
                seen.push(pair);
                let mut same = a.kind() == b.kind() && a.is_nil() == b.is_nil() && a.len() == b.len();
                a.each(|key, value| match b.get(key) {
                    Some(other) => pairs.push((value, other)),
                    None => same = false,
                });
                same
            }
            (Value::Object(a), Value::Object(b)) => a.type_name() == b.type_name() && a.equals(b),
            _ => false,
        };
        if !same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// One container of a deep copy that is being filled.
enum Copying<'a> {
    List(crate::value::ListType, &'a [Value<'a>], Vec<Value<'a>>),
    Map { from: *const Map<'a>, entries: &'a [crate::value::Entry<'a>], at: usize, to: &'a Map<'a> },
}

/// A copy that shares no map with the original.
pub(crate) fn deep_copy<'a>(value: Value<'a>, context: &mut Context<'_, 'a>) -> Result<Value<'a>, Failure> {
    let mut open: Vec<Copying<'a>> = Vec::new();
    let mut next = value;
    loop {
        context.charge(64)?;
        // Either a value that is done, or a container to go into.
        let mut done = match next {
            Value::List(kind, items) if !items.is_empty() => {
                context.charge_items(items.len())?;
                open.push(Copying::List(kind, items, Vec::with_capacity(items.len())));
                None
            }
            Value::Map(map) if !map.is_nil() => {
                let from = std::ptr::from_ref(map);
                if open.len() > 32
                    && open
                        .iter()
                        .any(|outer| matches!(outer, Copying::Map { from: other, .. } if *other == from))
                {
                    return Err(Failure::Limit(Limit::Cyclic));
                }
                context.charge(map.len() * 80)?;
                let entries = map.snapshot(context.arena);
                let to = context.arena.map_of(map.kind(), entries.len());
                open.push(Copying::Map { from, entries, at: 0, to });
                None
            }
            other => Some(other),
        };
        // Hand it to the container it belongs to, closing those that are full.
        loop {
            let Some(top) = open.last_mut() else {
                return Ok(done.unwrap_or(Value::Nil));
            };
            match top {
                Copying::List(kind, items, copied) => {
                    copied.extend(done.take());
                    if let Some(item) = items.get(copied.len()) {
                        next = *item;
                        break;
                    }
                    done = Some(Value::List(*kind, context.arena.values(copied)));
                }
                Copying::Map { entries, at, to, .. } => {
                    if let Some(value) = done.take() {
                        to.set(entries[*at].0, value);
                        *at += 1;
                    }
                    if let Some(entry) = entries.get(*at) {
                        next = entry.1;
                        break;
                    }
                    done = Some(Value::Map(to));
                }
            }
            open.pop();
        }
    }
}
