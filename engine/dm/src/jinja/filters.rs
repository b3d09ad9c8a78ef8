//! Filters that minijinja lacks, or has with another outcome than Jinja2, or without a bound on what they make.

use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State};
use serde_json::Value as Json;

use super::methods::{self, center, too_long};
use super::{LONGEST_TEXT, rewrite};

pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_filter(rewrite::MARK, rewrite::marked);
    environment.add_filter("list", |state: &State, value: Value| {
        methods::fresh(minijinja::filters::list(state, value)?)
    });
    environment.add_filter("sort", |state: &State, value: Value, options: Kwargs| {
        methods::fresh(minijinja::filters::sort(state, value, options)?)
    });
    // In Python texts and maps have a length and items too.
    environment.add_test("sequence", |value: &Value| {
        matches!(value.kind(), ValueKind::Seq | ValueKind::String | ValueKind::Map)
    });
    environment.add_filter("replace", replace);
    environment.add_filter("join", join);
    environment.add_filter("indent", indent);
    environment.add_filter("center", center_filter);
    environment.add_filter("round", round);
    environment.add_filter("int", int);
    environment.add_filter("float", float);
    environment.add_filter("length", length);
    environment.add_filter("count", length);
    environment.add_filter("wordcount", |text: &str| text.split_whitespace().count());
    environment.add_filter("truncate", truncate);
    environment.add_filter("tojson", to_json);
    environment.add_filter("urlencode", |value: &Value| Ok::<_, Error>(urlencoded(&text_of(value))));
    environment
        .add_filter("striptags", |value: &Value| minijinja_contrib::filters::striptags(text_of(value)));
    environment.add_filter("filesizeformat", minijinja_contrib::filters::filesizeformat);
    // It would print members in another order.
    environment.remove_filter("pprint");
    environment.add_filter("random", |_: Value| -> Result<Value, Error> {
        let text = "there is no chance in templates: the same input makes the same output";
        Err(Error::new(ErrorKind::InvalidOperation, text))
    });
}

fn text_of(value: &Value) -> String {
    value.to_string()
}

pub(super) fn replaced(text: &str, from: &str, to: &str, most: Option<i64>) -> Result<Value, Error> {
    let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    let count = if from.is_empty() { text.chars().count() + 1 } else { text.matches(from).count() }.min(most);
    if count.saturating_mul(to.len()).saturating_add(text.len()) > LONGEST_TEXT {
        return Err(too_long());
    }
    Ok(Value::from(text.replacen(from, to, count)))
}

fn replace(value: &Value, from: &Value, to: &Value, most: Option<i64>) -> Result<Value, Error> {
    replaced(&text_of(value), &text_of(from), &text_of(to), most)
}

pub(super) fn joined(items: &Value, separator: &str) -> Result<Value, Error> {
    let mut out = String::new();
    for (index, item) in items.try_iter()?.enumerate() {
        if index > 0 {
            out.push_str(separator);
        }
        out.push_str(&text_of(&item));
        if out.len() > LONGEST_TEXT {
            return Err(too_long());
        }
    }
    Ok(Value::from(out))
}

fn join(items: &Value, separator: Option<Value>, options: Kwargs) -> Result<Value, Error> {
    let attribute: Option<Value> = options.get("attribute")?;
    let named: Option<Value> = options.get("d")?;
    options.assert_all_used()?;
    let separator = separator.or(named).map(|value| text_of(&value)).unwrap_or_default();
    if items.is_undefined() {
        return Ok(Value::from(""));
    }
    let Some(attribute) = attribute else { return joined(items, &separator) };
    let path = text_of(&attribute);
    let mut picked = Vec::new();
    for item in items.try_iter()? {
        let mut here = item;
        for step in path.split('.') {
            here = match step.parse::<usize>() {
                Ok(index) => here.get_item_by_index(index)?,
                Err(_) => here.get_attr(step)?,
            };
        }
        picked.push(here);
    }
    joined(&Value::from(picked), &separator)
}

/// Jinja2's `indent`: by a width or a text, the first line and blank lines only if asked.
fn indent(value: &Value, arguments: Rest<Value>, options: Kwargs) -> Result<Value, Error> {
    let text = text_of(value);
    let argument = |position: usize, name: &str| -> Result<Option<Value>, Error> {
        match arguments.get(position) {
            Some(value) => Ok(Some(value.clone())),
            None => options.get(name),
        }
    };
    let prefix = match argument(0, "width")? {
        None => "    ".to_owned(),
        Some(width) => match width.as_str() {
            Some(text) => text.to_owned(),
            None => {
                let width = usize::try_from(i64::try_from(width)?).unwrap_or(0);
                if width > LONGEST_TEXT {
                    return Err(too_long());
                }
                " ".repeat(width)
            }
        },
    };
    let truth = |value: Option<Value>| value.is_some_and(|value| value.is_true());
    // `indentfirst` is the name it had in 2015.
    let first = truth(argument(1, "first")?) || truth(options.get("indentfirst")?);
    let blank = truth(argument(2, "blank")?);
    options.assert_all_used()?;
    let lines = text.split('\n').count();
    if lines.saturating_mul(prefix.len()).saturating_add(text.len()) > LONGEST_TEXT {
        return Err(too_long());
    }
    let mut out = String::with_capacity(text.len() + lines * prefix.len());
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if if index == 0 { first } else { blank || !line.is_empty() } {
            out.push_str(&prefix);
        }
        out.push_str(line);
    }
    Ok(Value::from(out))
}

fn center_filter(value: &Value, width: Option<usize>) -> Result<Value, Error> {
    let (text, width) = (text_of(value), width.unwrap_or(80));
    if width > LONGEST_TEXT {
        return Err(too_long());
    }
    let (left, right) = center(width.saturating_sub(text.chars().count()), width);
    Ok(Value::from(format!("{}{text}{}", " ".repeat(left), " ".repeat(right))))
}

/// Python's `round`: halves go to the even neighbour.
fn round(value: &Value, precision: Option<i64>, method: Option<&str>) -> Result<Value, Error> {
    let number = f64::try_from(value.clone())?;
    let precision = precision.unwrap_or(0).clamp(-300, 300) as i32;
    let scale = 10f64.powi(precision);
    let rounded = match method.unwrap_or("common") {
        "ceil" => (number * scale).ceil() / scale,
        "floor" => (number * scale).floor() / scale,
        "common" if precision >= 0 => {
            // Printing rounds the exact decimal value, halves to even, as Python does.
            format!("{number:.*}", precision.min(17) as usize).parse().unwrap_or(number)
        }
        "common" => (number * scale).round_ties_even() / scale,
        other => {
            let text = format!("`{other}` is not a way to round: common, ceil or floor");
            return Err(Error::new(ErrorKind::InvalidOperation, text));
        }
    };
    Ok(Value::from(rounded))
}

/// Jinja2's `int`: what cannot be read is the default.
fn int(value: &Value, default: Option<Value>, base: Option<u32>) -> Value {
    let default = || default.clone().unwrap_or_else(|| Value::from(0));
    match value.kind() {
        ValueKind::Bool => Value::from(i64::from(value.is_true())),
        ValueKind::Number => match i64::try_from(value.clone()) {
            Ok(whole) => Value::from(whole),
            Err(_) => match f64::try_from(value.clone()) {
                Ok(number) if number.is_finite() => Value::from(number.trunc() as i128),
                _ => default(),
            },
        },
        ValueKind::String => {
            let text = value.as_str().unwrap_or_default().trim().replace('_', "");
            let base = base.unwrap_or(10).clamp(2, 36);
            let digits = match base {
                2 => text.trim_start_matches("0b"),
                8 => text.trim_start_matches("0o"),
                16 => text.trim_start_matches("0x"),
                _ => &text,
            };
            match i128::from_str_radix(digits, base) {
                Ok(number) => Value::from(number),
                Err(_) => match text.parse::<f64>() {
                    Ok(number) if number.is_finite() => Value::from(number.trunc() as i128),
                    _ => default(),
                },
            }
        }
        _ => default(),
    }
}

/// Jinja2's `float`: what cannot be read is the default.
fn float(value: &Value, default: Option<Value>) -> Value {
    let default = || default.clone().unwrap_or_else(|| Value::from(0.0));
    match value.kind() {
        ValueKind::Bool => Value::from(f64::from(u8::from(value.is_true()))),
        ValueKind::Number => f64::try_from(value.clone()).map_or_else(|_| default(), Value::from),
        ValueKind::String => match value.as_str().unwrap_or_default().trim().parse::<f64>() {
            Ok(number) => Value::from(number),
            Err(_) => default(),
        },
        _ => default(),
    }
}

/// Jinja2's `length`: of something undefined it is 0.
fn length(value: &Value) -> Result<usize, Error> {
    if value.is_undefined() {
        return Ok(0);
    }
    minijinja::filters::length(value)
}

/// Jinja2's `truncate`: to a length, at a word unless `killwords`, with a leeway of five.
fn truncate(
    value: &Value,
    length: Option<usize>,
    kill: Option<bool>,
    end: Option<String>,
    options: Kwargs,
) -> Result<String, Error> {
    let length = options.get::<Option<usize>>("length")?.or(length).unwrap_or(255);
    let kill = options.get::<Option<bool>>("killwords")?.or(kill).unwrap_or(false);
    let end = options.get::<Option<String>>("end")?.or(end).unwrap_or_else(|| "...".to_owned());
    let leeway = options.get::<Option<usize>>("leeway")?.unwrap_or(5);
    options.assert_all_used()?;
    let text = text_of(value);
    if text.chars().count() <= length.saturating_add(leeway) {
        return Ok(text);
    }
    let cut = text.chars().take(length.saturating_sub(end.chars().count())).collect::<String>();
    let cut =
        if kill { cut.as_str() } else { cut.rsplit_once(' ').map_or(cut.as_str(), |(before, _)| before) };
    Ok(format!("{cut}{end}"))
}

/// Jinja2's `tojson`: as Python's `json.dumps` writes with sorted keys, and safe within HTML.
fn to_json(value: &Value, indent: Option<usize>, options: Kwargs) -> Result<Value, Error> {
    let indent = options.get::<Option<usize>>("indent")?.or(indent);
    options.assert_all_used()?;
    let failed = |error: serde_json::Error| Error::new(ErrorKind::BadSerialization, error.to_string());
    let mut json = serde_json::to_value(value).map_err(failed)?;
    json.sort_all_objects();
    let mut out = String::new();
    if indent.is_some_and(|indent| indent > 64) {
        return Err(too_long());
    }
    dumped(&json, indent, 0, &mut out)?;
    Ok(Value::from_safe_string(out))
}

/// `json.dumps(value, indent=…)`: a blank behind commas and colons, or lines; ASCII alone.
fn dumped(json: &Json, indent: Option<usize>, depth: usize, out: &mut String) -> Result<(), Error> {
    if out.len() > LONGEST_TEXT {
        return Err(too_long());
    }
    let line = |out: &mut String, depth: usize| {
        if let Some(indent) = indent {
            out.push('\n');
            out.push_str(&" ".repeat(indent * depth));
        }
    };
    let comma = if indent.is_some() { "," } else { ", " };
    match json {
        Json::Array(items) if !items.is_empty() => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { comma } else { "" });
                line(out, depth + 1);
                dumped(item, indent, depth + 1, out)?;
            }
            line(out, depth);
            out.push(']');
        }
        Json::Object(members) if !members.is_empty() => {
            out.push('{');
            for (index, (key, member)) in members.iter().enumerate() {
                out.push_str(if index > 0 { comma } else { "" });
                line(out, depth + 1);
                quoted(key, out);
                out.push_str(": ");
                dumped(member, indent, depth + 1, out)?;
            }
            line(out, depth);
            out.push('}');
        }
        Json::String(text) => quoted(text, out),
        Json::Number(number) if number.is_f64() => {
            out.push_str(&number.as_f64().map(crate::python::float).unwrap_or_default());
        }
        other => out.push_str(&other.to_string()),
    }
    Ok(())
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' if !matches!(character, '<' | '>' | '&' | '\'') => out.push(character),
            other => {
                let mut units = [0; 2];
                for unit in other.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
}

/// Bytes of a URL's path, all but letters, digits and `/-_.~` escaped.
fn urlencoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                out.push(byte as char);
            }
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
