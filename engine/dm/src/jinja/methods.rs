//! Methods of Python's texts, lists and maps, where minijinja's own (pycompat) have none: Python 2's `iteritems`
//! and company, padding, cutting from the right. Lists and maps cannot change in place; their methods that would
//! say so.

use minijinja::value::{Tuple, Value, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State};

use super::LONGEST_TEXT;

/// The callback for methods values do not have.
pub(super) fn call(state: &mut State, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    let own = match value.kind() {
        ValueKind::String => text_method(value, method, args),
        ValueKind::Map => return map_method(state, value, method, args),
        ValueKind::Seq | ValueKind::Iterable => list_method(value, method, args),
        _ => None,
    };
    own.unwrap_or_else(|| minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args))
}

fn text_method(value: &Value, method: &str, args: &[Value]) -> Option<Result<Value, Error>> {
    let text = value.as_str()?;
    Some(match method {
        "zfill" => from_args(args).and_then(|(width,): (usize,)| {
            let (sign, digits) = match text.strip_prefix(['-', '+']) {
                Some(digits) => text.split_at(text.len() - digits.len()),
                None => ("", text),
            };
            let zeros = padding(text, width)?;
            Ok(Value::from(format!("{sign}{}{digits}", "0".repeat(zeros))))
        }),
        "ljust" => pad(text, args, |missing| (0, missing)),
        "rjust" => pad(text, args, |missing| (missing, 0)),
        // Where it is uneven Python gives the left the smaller part, unless the width itself is odd.
        "center" => from_args(args)
            .map(|(width, _): (usize, Option<&str>)| width)
            .and_then(|width| pad(text, args, |missing| center(missing, width))),
        "swapcase" => none(args).map(|()| {
            let swapped = text.chars().flat_map(|c| {
                let upper = c.is_uppercase();
                let (low, high) = (c.to_lowercase(), c.to_uppercase());
                if upper { low.collect::<Vec<_>>() } else { high.collect::<Vec<_>>() }
            });
            Value::from(swapped.collect::<String>())
        }),
        "casefold" => none(args).map(|()| Value::from(text.to_lowercase())),
        "rsplit" => from_args(args)
            .map(|(separator, most): (Option<&str>, Option<i64>)| rsplit(text, separator, most)),
        "partition" => from_args(args).map(|(separator,): (&str,)| match text.split_once(separator) {
            Some((before, after)) => triple(before, separator, after),
            None => triple(text, "", ""),
        }),
        "rpartition" => from_args(args).map(|(separator,): (&str,)| match text.rsplit_once(separator) {
            Some((before, after)) => triple(before, separator, after),
            None => triple("", "", text),
        }),
        "index" | "rindex" => from_args(args).and_then(|(what,): (&str,)| {
            let found = if method == "index" { text.find(what) } else { text.rfind(what) };
            match found {
                Some(at) => Ok(Value::from(text[..at].chars().count())),
                None => Err(Error::new(ErrorKind::InvalidOperation, "substring not found")),
            }
        }),
        "removeprefix" => {
            from_args(args).map(|(prefix,): (&str,)| Value::from(text.strip_prefix(prefix).unwrap_or(text)))
        }
        "removesuffix" => {
            from_args(args).map(|(suffix,): (&str,)| Value::from(text.strip_suffix(suffix).unwrap_or(text)))
        }
        "istitle" => none(args)
            .map(|()| Value::from(!text.is_empty() && minijinja::filters::title(text.into()) == text)),
        // Texts are Unicode already; templates of Python 2 say so all the same.
        "encode" | "decode" => Ok(value.clone()),
        "replace" => from_args(args).and_then(|(from, to, most): (&str, &str, Option<i64>)| {
            super::filters::replaced(text, from, to, most)
        }),
        "join" => from_args(args).and_then(|(items,): (&Value,)| super::filters::joined(items, text)),
        _ => return None,
    })
}

fn none(args: &[Value]) -> Result<(), Error> {
    from_args::<()>(args)
}

fn triple(before: &str, separator: &str, after: &str) -> Value {
    Value::from(Tuple::from([Value::from(before), Value::from(separator), Value::from(after)]))
}

/// How many characters are missing to a width.
fn padding(text: &str, width: usize) -> Result<usize, Error> {
    if width > LONGEST_TEXT {
        return Err(too_long());
    }
    Ok(width.saturating_sub(text.chars().count()))
}

/// Where a text gets longer than any template needs.
pub(super) fn too_long() -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("the text gets too long: more than {LONGEST_TEXT} bytes"))
}

fn pad(text: &str, args: &[Value], split: impl Fn(usize) -> (usize, usize)) -> Result<Value, Error> {
    let (width, fill): (usize, Option<&str>) = from_args(args)?;
    let (left, right) = split(padding(text, width)?);
    let fill = fill.unwrap_or(" ");
    if (left + right).saturating_mul(fill.len()) > LONGEST_TEXT {
        return Err(too_long());
    }
    Ok(Value::from(format!("{}{text}{}", fill.repeat(left), fill.repeat(right))))
}

/// How `str.center` shares out what is missing.
pub(super) fn center(missing: usize, width: usize) -> (usize, usize) {
    let left = missing / 2 + (missing & width & 1);
    (left, missing - left)
}

fn rsplit(text: &str, separator: Option<&str>, most: Option<i64>) -> Value {
    let most = most.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
    let mut parts = match separator {
        Some(separator) if !separator.is_empty() => {
            text.rsplitn(most.saturating_add(1), separator).map(str::to_owned).collect::<Vec<_>>()
        }
        _ => {
            let mut rest = text.trim_end();
            let mut parts = Vec::new();
            while parts.len() < most
                && let Some((before, last)) = rest.rsplit_once(char::is_whitespace)
            {
                parts.push(last.to_owned());
                rest = before.trim_end();
            }
            if !rest.trim_start().is_empty() {
                parts.push(rest.trim_start().to_owned());
            }
            parts
        }
    };
    parts.reverse();
    Value::from(parts)
}

fn list_method(value: &Value, method: &str, args: &[Value]) -> Option<Result<Value, Error>> {
    Some(match method {
        "index" => from_args(args).and_then(|(what,): (&Value,)| {
            let at = value.try_iter()?.position(|item| item == *what);
            let missing = || Error::new(ErrorKind::InvalidOperation, format!("{what:?} is not in list"));
            at.map(Value::from).ok_or_else(missing)
        }),
        "copy" => none(args).map(|()| value.clone()),
        "append" | "extend" | "insert" | "pop" | "remove" | "sort" | "reverse" | "clear" => {
            Err(in_place("list", method))
        }
        _ => return None,
    })
}

fn map_method(state: &mut State, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    let python3 = match method {
        "iteritems" | "viewitems" => "items",
        "iterkeys" | "viewkeys" => "keys",
        "itervalues" | "viewvalues" => "values",
        "has_key" => {
            let (key,): (&Value,) = from_args(args)?;
            return Ok(Value::from(value.as_object().is_some_and(|map| map.get_value(key).is_some())));
        }
        "copy" => return none(args).map(|()| value.clone()),
        "update" | "setdefault" | "pop" | "popitem" | "clear" => return Err(in_place("map", method)),
        other => other,
    };
    let made = minijinja_contrib::pycompat::unknown_method_callback(state, value, python3, args)?;
    // Views print as lists in the templates' Python; an iterable that is printed would not.
    match python3 {
        "items" | "keys" | "values" => Ok(Value::from(made.try_iter()?.collect::<Vec<_>>())),
        _ => Ok(made),
    }
}

fn in_place(what: &str, method: &str) -> Error {
    let text = format!(
        "a {what} cannot be changed in place here, so it has no `{method}`; make a new one, as in {{% set a = a + [x] %}}"
    );
    Error::new(ErrorKind::InvalidOperation, text)
}
