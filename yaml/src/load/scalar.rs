//! Scalars: what a text in the document means, by its style, its tag and the rules.

use std::borrow::Cow;

use super::builder::Source;
use crate::{
    error::{Error, ErrorKind},
    options::Rules,
    position::Span,
    resolve::{Scalar, python_float, python_int, python_timestamp, resolve_plain},
    syntax::ScalarStyle,
    value::Value,
};

pub(super) fn kubernetes_scalar(
    text: Cow<'_, str>,
    style: ScalarStyle,
    tag: Option<&str>,
    is_key: bool,
    span: Span,
) -> Result<(Value, Source), Error> {
    let plain = style == ScalarStyle::Plain;
    let standard = tag.and_then(standard_tag);
    let asks_to_merge = match tag {
        None => plain,
        Some(tag) => tag == "!" || standard == Some("merge"),
    };
    if is_key && text == "<<" && asks_to_merge {
        return Ok((Value::Null, Source::MergeKey));
    }
    let wanted = match (tag, standard) {
        (None, _) if plain => None,
        (Some(_), Some(name @ ("bool" | "int" | "float" | "null" | "timestamp"))) => Some(name),
        (Some(_), Some("binary")) => {
            let bytes = decode_base64(&text, false).ok_or_else(|| {
                Error::new(ErrorKind::Tag, span.start, "!!binary is not followed by base64 text")
                    .with_go_text("yaml: !!binary value contains invalid base64 data")
            })?;
            return Ok((Value::String(String::from_utf8_lossy(&bytes).into_owned()), Source::Written));
        }
        // Quoted text, and tags go-yaml has no type for: the text as it stands.
        _ => return Ok((Value::String(text.into_owned()), Source::Written)),
    };
    let scalar = resolve_plain(&text, Rules::Kubernetes);
    let fits = match wanted {
        None => true,
        Some("bool") => matches!(scalar, Scalar::Bool(_)),
        Some("int") => matches!(scalar, Scalar::Int(_) | Scalar::Uint(_)),
        Some("float") => matches!(scalar, Scalar::Int(_) | Scalar::Float(_)),
        Some("null") => matches!(scalar, Scalar::Null),
        _ => matches!(scalar, Scalar::Timestamp),
    };
    if let (false, Some(name)) = (fits, wanted) {
        let message = format!("`{}` is not a !!{name}", shortened(&text));
        let found = match scalar {
            Scalar::Null => "null",
            Scalar::Bool(_) => "bool",
            Scalar::Int(_) | Scalar::Uint(_) => "int",
            Scalar::Float(_) => "float",
            // Only what has no tag, or that of a time, is tried as one.
            Scalar::Timestamp if name == "timestamp" => "timestamp",
            _ => "str",
        };
        let go_text = format!("yaml: cannot decode !!{found} `{text}` as a !!{name}");
        return Err(Error::new(ErrorKind::Tag, span.start, message).with_go_text(go_text));
    }
    let value = match scalar {
        Scalar::Null => Value::Null,
        Scalar::Bool(value) => Value::Bool(value),
        Scalar::Int(value) if wanted == Some("float") => Value::Float(value as f64),
        Scalar::Int(value) => Value::Int(value),
        Scalar::Uint(value) => Value::Uint(value),
        Scalar::Float(value) => Value::Float(value),
        _ => Value::String(text.into_owned()),
    };
    Ok((value, Source::Written))
}

pub(super) fn pyyaml_scalar(
    text: Cow<'_, str>,
    style: ScalarStyle,
    tag: Option<&str>,
    is_key: bool,
    span: Span,
) -> Result<(Value, Source), Error> {
    let malformed = |what: &str| {
        let message =
            format!("`{}` looks like {what} but is none; quote it if text is meant", shortened(&text));
        Error::new(ErrorKind::Number, span.start, message)
    };
    let standard = tag.and_then(standard_tag);
    let scalar = match (tag, standard) {
        (None, _) if style != ScalarStyle::Plain => Scalar::String,
        (None | Some("!"), _) => resolve_plain(&text, Rules::PyYaml),
        (Some(_), Some("str")) => Scalar::String,
        (Some(_), Some("null")) => Scalar::Null,
        (Some(_), Some("int")) => python_int(&text).unwrap_or(Scalar::Malformed),
        (Some(_), Some("float")) => python_float(&text).map_or(Scalar::Malformed, Scalar::Float),
        (Some(_), Some("bool")) => match text.to_ascii_lowercase().as_str() {
            "yes" | "true" | "on" => Scalar::Bool(true),
            "no" | "false" | "off" => Scalar::Bool(false),
            _ => Scalar::Malformed,
        },
        (Some(_), Some("timestamp")) => Scalar::Timestamp,
        (Some(_), Some("merge")) => Scalar::Merge,
        (Some(_), Some("value")) => Scalar::DefaultValue,
        (Some(_), Some("binary")) => {
            let text = decode_base64(&text, true)
                .and_then(|bytes| String::from_utf8(bytes).ok())
                .ok_or_else(|| {
                    Error::new(
                        ErrorKind::Tag,
                        span.start,
                        "!!binary is not followed by the base64 of UTF-8 text",
                    )
                })?;
            return Ok((Value::String(text), Source::Written));
        }
        (Some(tag), _) => return Err(unknown_tag(tag, span)),
    };
    let value = match scalar {
        Scalar::Null => Value::Null,
        Scalar::Bool(value) => Value::Bool(value),
        Scalar::Int(value) => Value::Int(value),
        Scalar::Uint(value) => Value::Uint(value),
        Scalar::Float(value) => Value::Float(value),
        Scalar::Timestamp => Value::String(python_timestamp(&text).ok_or_else(|| malformed("a time"))?),
        Scalar::Malformed => return Err(malformed("a number or a time")),
        Scalar::Merge if is_key => return Ok((Value::Null, Source::MergeKey)),
        Scalar::DefaultValue if is_key => Value::String(text.into_owned()),
        Scalar::Merge | Scalar::DefaultValue => {
            let message = format!("a plain `{text}` cannot be a value; quote it if text is meant");
            return Err(Error::new(ErrorKind::Tag, span.start, message));
        }
        Scalar::String => Value::String(text.into_owned()),
    };
    Ok((value, Source::Written))
}

/// The name of a tag of YAML's own, `int` of `!!int`.
pub(super) fn standard_tag(tag: &str) -> Option<&str> {
    tag.strip_prefix("tag:yaml.org,2002:")
}

pub(super) fn unknown_tag(tag: &str, span: Span) -> Error {
    let shown = standard_tag(tag)
        .map_or_else(|| shortened(tag).into_owned(), |name| format!("!!{}", shortened(name)));
    Error::new(ErrorKind::Tag, span.start, format!("the tag {shown} is not known here; remove it"))
}

pub(super) fn shortened(text: &str) -> Cow<'_, str> {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Base64 as Go's standard encoding reads it (line breaks skipped, padding required); `lenient` skips every other
/// character too, as Python does.
fn decode_base64(text: &str, lenient: bool) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held, mut padding) = (0_u32, 0, 0);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                padding += 1;
                continue;
            }
            b'\n' | b'\r' => continue,
            _ if lenient && byte.is_ascii() => continue,
            _ => return None,
        };
        if padding > 0 {
            return if lenient && held == 0 { Some(bytes) } else { None };
        }
        bits = bits << 6 | u32::from(value);
        held += 1;
        if held == 4 {
            bytes.extend([(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]);
            (bits, held) = (0, 0);
        }
    }
    match (held, padding) {
        (0, 0) => {}
        (0, _) if lenient => {}
        (2, 2) => bytes.push((bits >> 4) as u8),
        (3, 1) => bytes.extend([(bits >> 10) as u8, (bits >> 2) as u8]),
        _ => return None,
    }
    Some(bytes)
}
