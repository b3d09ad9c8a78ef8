//! Filters that minijinja lacks, or has with another outcome than Jinja2, or without a bound on what they make.

use minijinja::formatting::{FormatStyle, format};
use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind};

use super::methods::{center, too_long};
use super::{LONGEST_TEXT, rewrite};

pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_filter(rewrite::FORMAT, percent_format);
    environment.add_filter(rewrite::MARK, rewrite::marked);
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
    environment.add_filter("random", |_: Value| -> Result<Value, Error> {
        let text = "there is no chance in templates: the same input makes the same output";
        Err(Error::new(ErrorKind::InvalidOperation, text))
    });
}

/// `text % argument`: a tuple is all the arguments, anything else the one.
fn percent_format(text: &str, argument: Value) -> Result<String, Error> {
    widths_are_sane(text)?;
    if argument.is_tuple() {
        let arguments = argument.try_iter()?.collect::<Vec<_>>();
        return format(FormatStyle::Printf, text, &arguments);
    }
    format(FormatStyle::Printf, text, &[argument])
}

/// A width is written in digits: seven of them make more than any template needs.
fn widths_are_sane(text: &str) -> Result<(), Error> {
    let mut digits = 0;
    for byte in text.bytes() {
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        if digits > 6 && text.contains('%') {
            return Err(too_long());
        }
    }
    Ok(())
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
