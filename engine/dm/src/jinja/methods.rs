//! Methods of Python's texts, lists and maps, where minijinja's own (pycompat) have none: Python 2's `iteritems`
//! and company, padding, cutting from the right, and what changes lists and maps in place.

use indexmap::IndexMap;
use minijinja::value::{Kwargs, Tuple, Value, ValueKind, from_args};
use minijinja::{Error, ErrorKind, State};

use super::LONGEST_TEXT;
use super::containers::{Dict, List, MOST_ITEMS, too_many};

/// The callback for methods values do not have.
pub(super) fn call(state: &mut State, value: &Value, method: &str, args: &[Value]) -> Result<Value, Error> {
    let own = match value.kind() {
        ValueKind::String => text_method(value, method, args),
        ValueKind::Map => Some(map_method(state, value, method, args)),
        ValueKind::Seq | ValueKind::Iterable => list_method(value, method, args),
        _ => None,
    };
    let made = match own {
        Some(made) => made?,
        None => minijinja_contrib::pycompat::unknown_method_callback(state, value, method, args)?,
    };
    // What is made is the template's own: a list from `split` or `keys` can be appended to. What is taken out of a
    // container is not made.
    match method {
        "get" => Ok(made),
        _ => fresh(made),
    }
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

/// Where a text gets longer than any template needs: a limit like that of steps, which has no words of its own.
pub(super) fn too_long() -> Error {
    Error::new(ErrorKind::OutOfFuel, format!("the text gets too long: more than {LONGEST_TEXT} bytes"))
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
            let missing = || wrong(format!("{what:?} is not in list"));
            at.map(Value::from).ok_or_else(missing)
        }),
        "copy" => none(args).and_then(|()| fresh(value.clone())),
        _ => return None,
    })
}

/// A list's methods that change it in place.
pub(super) fn change_list(list: &List, method: &str, args: &[Value]) -> Option<Result<Value, Error>> {
    let nothing = |result: Result<(), Error>| result.map(Value::from);
    Some(match method {
        "append" => nothing(from_args(args).and_then(|(item,): (Value,)| {
            let added = [item.clone()];
            list.change(&added, |items| {
                items.push(item);
                Ok(())
            })
        })),
        "extend" => nothing(from_args(args).and_then(|(more,): (&Value,)| {
            let added = more.try_iter()?.take(MOST_ITEMS + 1).collect::<Vec<_>>();
            list.change(&added, |items| {
                items.extend(added.iter().cloned());
                Ok(())
            })
        })),
        "insert" => nothing(from_args(args).and_then(|(index, item): (i64, Value)| {
            let added = [item.clone()];
            list.change(&added, |items| {
                let length = items.len() as i64;
                let index = if index < 0 { (index + length).max(0) } else { index.min(length) };
                items.insert(usize::try_from(index).unwrap_or(0), item);
                Ok(())
            })
        })),
        "pop" => from_args(args).and_then(|(index,): (Option<i64>,)| {
            list.change(&[], |items| {
                let index = index.unwrap_or(-1);
                let index = if index < 0 { index + items.len() as i64 } else { index };
                let index = usize::try_from(index).ok().filter(|index| *index < items.len());
                let empty = if items.is_empty() { "pop from empty list" } else { "pop index out of range" };
                index.map(|index| items.remove(index)).ok_or_else(|| wrong(empty.to_owned()))
            })
        }),
        "remove" => nothing(from_args(args).and_then(|(what,): (&Value,)| {
            // Found before the list is locked: comparing may have to look into it.
            let at = list.items().iter().position(|item| item == what);
            let at = at.ok_or_else(|| wrong("list.remove(x): x not in list".to_owned()))?;
            list.change(&[], |items| {
                items.remove(at);
                Ok(())
            })
        })),
        "sort" => nothing(from_args(args).and_then(|(options,): (Kwargs,)| {
            let reverse = options.get::<Option<bool>>("reverse")?.unwrap_or(false);
            options.assert_all_used()?;
            let mut sorted = list.items();
            sorted.sort();
            if reverse {
                sorted.reverse();
            }
            list.change(&[], |items| {
                *items = sorted;
                Ok(())
            })
        })),
        "reverse" => nothing(none(args).and_then(|()| {
            list.change(&[], |items| {
                items.reverse();
                Ok(())
            })
        })),
        "clear" => nothing(none(args).and_then(|()| {
            list.change(&[], |items| {
                items.clear();
                Ok(())
            })
        })),
        _ => return None,
    })
}

/// A map's methods that change it in place.
pub(super) fn change_map(map: &Dict, method: &str, args: &[Value]) -> Option<Result<Value, Error>> {
    Some(match method {
        "update" => from_args(args).and_then(|(more, named): (Option<&Value>, Kwargs)| {
            let mut members = more.map(members_of).transpose()?.unwrap_or_default();
            for name in named.args().map(str::to_owned).collect::<Vec<_>>() {
                members.insert(Value::from(name.as_str()), named.get(&name)?);
            }
            let added = members.values().cloned().collect::<Vec<_>>();
            map.change(&added, |own| {
                own.extend(members);
                Ok(Value::from(()))
            })
        }),
        "setdefault" => from_args(args).and_then(|(key, default): (Value, Option<Value>)| {
            if let Some(known) = map.members().get(&key) {
                return Ok(known.clone());
            }
            let default = default.unwrap_or_else(|| Value::from(()));
            let added = [default.clone()];
            map.change(&added, |own| {
                own.insert(key, default.clone());
                Ok(default)
            })
        }),
        "pop" => from_args(args).and_then(|(key, default): (Value, Option<Value>)| {
            let taken = map.change(&[], |own| Ok(own.shift_remove(&key)))?;
            taken.or(default).ok_or_else(|| wrong(format!("KeyError: {key:?}")))
        }),
        "popitem" => none(args).and_then(|()| {
            let taken = map.change(&[], |own| Ok(own.pop()))?;
            let (key, value) =
                taken.ok_or_else(|| wrong("KeyError: 'popitem(): dictionary is empty'".to_owned()))?;
            Ok(Value::from(Tuple::from([key, value])))
        }),
        "clear" => none(args).and_then(|()| {
            map.change(&[], |own| {
                own.clear();
                Ok(Value::from(()))
            })
        }),
        _ => return None,
    })
}

/// The members of a map, or of a list of pairs.
pub(super) fn members_of(value: &Value) -> Result<IndexMap<Value, Value>, Error> {
    let mut members = IndexMap::new();
    for item in value.try_iter()? {
        if value.kind() == ValueKind::Map {
            let member = value.get_item(&item)?;
            members.insert(item, member);
        } else {
            let mut pair = item.try_iter()?;
            match (pair.next(), pair.next(), pair.next()) {
                (Some(key), Some(member), None) => members.insert(key, member),
                _ => return Err(wrong("a map is updated from a map, or from pairs".to_owned())),
            };
        }
        if members.len() > MOST_ITEMS {
            return Err(too_many());
        }
    }
    Ok(members)
}

/// A list or map of its own for what is one, so that it can change in place; tuples and all else are what they are.
pub(super) fn fresh(value: Value) -> Result<Value, Error> {
    match value.kind() {
        ValueKind::String if value.as_str().is_some_and(|text| text.len() > LONGEST_TEXT) => Err(too_long()),
        ValueKind::Seq | ValueKind::Iterable if !value.is_tuple() => {
            let items = value.try_iter()?.take(MOST_ITEMS + 1).collect::<Vec<_>>();
            if items.len() > MOST_ITEMS { Err(too_many()) } else { List::of(items) }
        }
        ValueKind::Map => Dict::of(members_of(&value)?),
        _ => Ok(value),
    }
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
        "copy" => return none(args).and_then(|()| fresh(value.clone())),
        other => other,
    };
    minijinja_contrib::pycompat::unknown_method_callback(state, value, python3, args)
}

fn wrong(text: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, text)
}
