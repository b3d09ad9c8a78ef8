//! sprig's functions on lists, dictionaries and values of any type.

use crate::context::{Context, Failure};
use crate::function::{Function, Parameter};
use crate::value::{ListType, Map, Value};

use super::convert::{NIL_TYPE, deep_copy, deep_equal, is_empty, items, strval, to_int64};
use super::{int, text};

type Answer<'a> = Result<Value<'a>, Failure>;

// Values of any type.

fn default<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let given = arguments.get(1).copied().unwrap_or(Value::Nil);
    Ok(if is_empty(given) { arguments[0] } else { given })
}

fn empty<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::Bool(is_empty(arguments[0])))
}

fn coalesce<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(arguments.iter().copied().find(|value| !is_empty(*value)).unwrap_or(Value::Nil))
}

fn all<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::Bool(!arguments.iter().any(|value| is_empty(*value))))
}

fn any<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::Bool(arguments.iter().any(|value| !is_empty(*value))))
}

fn ternary<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(arguments[usize::from(!arguments[2].truth())])
}

fn copy<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    if arguments[0].is_nil() {
        return Err(Failure::message("reflect: call of reflect.Value.Type on zero Value"));
    }
    deep_copy(arguments[0], context)
}

fn type_of<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    context.text(arguments[0].type_name())
}

fn type_is<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::Bool(text(arguments, 0) == arguments[1].type_name().as_bytes()))
}

fn type_is_like<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let (wanted, name) = (text(arguments, 0), arguments[1].type_name().as_bytes());
    Ok(Value::Bool(wanted == name || name.strip_prefix(b"*") == Some(wanted)))
}

fn kind_of<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::text(arguments[0].kind_name()))
}

fn kind_is<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::Bool(text(arguments, 0) == arguments[1].kind_name().as_bytes()))
}

fn equal<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    deep_equal(arguments[0], arguments[1], context).map(Value::Bool)
}

// Lists.

/// The items of an argument that must be a list; what a function says otherwise ends in the kind it got.
fn list_items<'a>(
    value: Value<'a>,
    context: &mut Context<'_, 'a>,
    refusal: &str,
) -> Result<&'a [Value<'a>], Failure> {
    if value.is_nil() {
        return Err(Failure::message(NIL_TYPE));
    }
    items(value, context)?.ok_or_else(|| Failure::message(format!("{refusal} {}", value.kind_name())))
}

fn list<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    if arguments.is_empty() {
        return Ok(Value::List(ListType::ANY, &[]));
    }
    context.list(arguments)
}

fn append<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let items = list_items(arguments[0], context, "Cannot push on type")?;
    context.charge_items(items.len() + 1)?;
    let mut out = items.to_vec();
    out.push(arguments[1]);
    Ok(context.arena.list(&out))
}

fn prepend<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let items = list_items(arguments[0], context, "Cannot prepend on type")?;
    context.charge_items(items.len() + 1)?;
    let mut out = vec![arguments[1]];
    out.extend_from_slice(items);
    Ok(context.arena.list(&out))
}

fn first<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let items = list_items(arguments[0], context, "Cannot find first on type")?;
    Ok(items.first().copied().unwrap_or(Value::Nil))
}

fn last<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let items = list_items(arguments[0], context, "Cannot find last on type")?;
    Ok(items.last().copied().unwrap_or(Value::Nil))
}

fn rest<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let items = list_items(arguments[0], context, "Cannot find rest on type")?;
    Ok(match items {
        [] => Value::List(ListType::NIL, &[]),
        [_, rest @ ..] => Value::List(ListType::ANY, rest),
    })
}

fn initial<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let items = list_items(arguments[0], context, "Cannot find initial on type")?;
    Ok(match items {
        [] => Value::List(ListType::NIL, &[]),
        [initial @ .., _] => Value::List(ListType::ANY, initial),
    })
}

fn reverse<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let items = list_items(arguments[0], context, "Cannot find reverse on type")?;
    let out: Vec<Value<'a>> = items.iter().rev().copied().collect();
    context.list(&out)
}

fn compact<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let items = list_items(arguments[0], context, "Cannot compact on type")?;
    let out: Vec<Value<'a>> = items.iter().copied().filter(|item| !is_empty(*item)).collect();
    context.list(&out)
}

fn within<'a>(list: &[Value<'a>], wanted: Value<'a>, context: &mut Context<'_, 'a>) -> Result<bool, Failure> {
    for item in list {
        if deep_equal(wanted, *item, context)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn uniq<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let items = list_items(arguments[0], context, "Cannot find uniq on type")?;
    let mut out: Vec<Value<'a>> = Vec::new();
    for item in items {
        if !within(&out, *item, context)? {
            out.push(*item);
        }
    }
    context.list(&out)
}

fn without<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let items = list_items(arguments[0], context, "Cannot find without on type")?;
    let mut out: Vec<Value<'a>> = Vec::new();
    for item in items {
        if !within(&arguments[1..], *item, context)? {
            out.push(*item);
        }
    }
    context.list(&out)
}

fn has<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    if arguments[1].is_nil() {
        return Ok(Value::Bool(false));
    }
    let items = list_items(arguments[1], context, "Cannot find has on type")?;
    within(items, arguments[0], context).map(Value::Bool)
}

fn slice<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let value = arguments[0];
    let items = list_items(value, context, "list should be type of slice or array but")?;
    if items.is_empty() {
        return Ok(Value::Nil);
    }
    let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
    let start = arguments.get(1).map_or(0, |value| to_int64(*value, context));
    let end = arguments.get(2).map_or(length, |value| to_int64(*value, context));
    if start < 0 || start > end || end > length {
        return Err(Failure::message("reflect.Value.Slice: slice index out of bounds"));
    }
    let range = usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(0);
    Ok(match value {
        Value::Bytes(bytes) => Value::Bytes(&bytes[range]),
        Value::List(kind, items) => Value::List(kind, &items[range]),
        other => other,
    })
}

fn concat<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let mut out: Vec<Value<'a>> = Vec::new();
    for list in arguments {
        if list.is_nil() {
            return Err(Failure::message(NIL_TYPE));
        }
        let Some(items) = items(*list, context)? else {
            return Err(Failure::message(format!("Cannot concat type {} as list", list.kind_name())));
        };
        context.charge_items(out.len() + items.len())?;
        out.extend_from_slice(items);
    }
    if out.is_empty() {
        return Ok(Value::List(ListType::NIL, &[]));
    }
    Ok(context.arena.list(&out))
}

fn chunk<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let items = list_items(arguments[1], context, "Cannot chunk type")?;
    let size = int(arguments, 0);
    // sprig counts the chunks in floats: with a negative size there may be none, or one of the only item.
    if size < 0 {
        let most = usize::try_from(size.unsigned_abs()).unwrap_or(usize::MAX);
        let chunks: &[Value<'a>] = match items.len() {
            1 if most > 1 => context.arena.values(&[Value::List(ListType::ANY, items)]),
            length if length >= 2 && length - 1 <= most => &[],
            _ => return Err(Failure::message("runtime error: makeslice: len out of range")),
        };
        return Ok(Value::List(ListType::LISTS, chunks));
    }
    let Some(size) = usize::try_from(size).ok().filter(|size| *size > 0) else {
        return Err(Failure::message("runtime error: makeslice: len out of range"));
    };
    let chunks: Vec<Value<'a>> = items.chunks(size).map(|chunk| Value::List(ListType::ANY, chunk)).collect();
    context.charge_items(chunks.len())?;
    Ok(Value::List(ListType::LISTS, context.arena.values(&chunks)))
}

// Dictionaries.

fn map<'a>(arguments: &[Value<'a>], at: usize, context: &Context<'_, 'a>) -> &'a Map<'a> {
    match arguments.get(at) {
        Some(Value::Map(map)) => map,
        _ => context.arena.map(),
    }
}

fn dict<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let map = context.arena.map_of(crate::value::MapType::Any, arguments.len().div_ceil(2));
    for pair in arguments.chunks(2) {
        let key: &'a [u8] = match pair[0] {
            Value::String(key) => key,
            other => {
                let key = strval(other, context)?;
                context.arena.bytes(&key)
            }
        };
        map.set(key, pair.get(1).copied().unwrap_or(Value::EMPTY));
    }
    Ok(Value::Map(map))
}

fn get<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(map(arguments, 0, context).get(text(arguments, 1)).unwrap_or(Value::EMPTY))
}

fn set<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let map = map(arguments, 0, context);
    if map.is_nil() {
        return Err(Failure::message("assignment to entry in nil map"));
    }
    context.charge(map.len() / 8 + 64)?;
    map.set(text(arguments, 1), arguments[2]);
    Ok(Value::Map(map))
}

fn unset<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let map = map(arguments, 0, context);
    map.remove(text(arguments, 1));
    Ok(Value::Map(map))
}

fn has_key<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::Bool(map(arguments, 0, context).get(text(arguments, 1)).is_some()))
}

fn pluck<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let key = text(arguments, 0);
    let found: Vec<Value<'a>> =
        arguments[1..].iter().filter_map(|value| value.as_map().and_then(|map| map.get(key))).collect();
    context.list(&found)
}

/// Go's order is none; ours is sorted, map by map.
fn keys<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let mut out: Vec<&[u8]> = Vec::new();
    for value in arguments {
        if let Some(map) = value.as_map() {
            context.charge_items(map.len())?;
            map.each(|key, _| out.push(key));
        }
    }
    let out: Vec<Value<'a>> = out.into_iter().map(Value::String).collect();
    Ok(Value::List(ListType::STRING, context.arena.values(&out)))
}

fn values<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let mut out = Vec::new();
    map(arguments, 0, context).each(|_, value| out.push(value));
    context.list(&out)
}

fn pick<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let from = map(arguments, 0, context);
    let to = context.arena.map();
    for key in &arguments[1..] {
        if let Some((key, value)) = key.as_str().and_then(|key| from.get(key).map(|value| (key, value))) {
            to.set(key, value);
        }
    }
    Ok(Value::Map(to))
}

fn omit<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let from = map(arguments, 0, context);
    context.charge(from.len().saturating_mul(64 + arguments.len()))?;
    let to = context.arena.map();
    from.each(|key, value| {
        if !arguments[1..].iter().any(|omitted| omitted.as_str() == Some(key)) {
            to.set(key, value);
        }
    });
    Ok(Value::Map(to))
}

fn dig<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let [keys @ .., otherwise, last] = arguments else {
        return Err(Failure::message("dig needs at least three arguments"));
    };
    if keys.is_empty() {
        return Err(Failure::message("dig needs at least three arguments"));
    }
    let conversion = |value: Value<'_>, wanted: &str| {
        let got = if value.is_nil() { "nil" } else { value.type_name() };
        Failure::message(format!("interface conversion: interface {{}} is {got}, not {wanted}"))
    };
    let as_map = |value: Value<'a>| match value {
        Value::Map(map) if map.kind() == crate::value::MapType::Any => Ok(map),
        other => Err(conversion(other, "map[string]interface {}")),
    };
    let mut map = as_map(*last)?;
    let mut names = Vec::with_capacity(keys.len());
    for key in keys {
        names.push(key.as_str().ok_or_else(|| conversion(*key, "string"))?);
    }
    for (at, name) in names.iter().enumerate() {
        let Some(value) = map.get(name) else { return Ok(*otherwise) };
        if at + 1 == names.len() {
            return Ok(value);
        }
        map = as_map(value)?;
    }
    Ok(*otherwise)
}

/// mergo's merge of maps, version 0.3.13. Maps are merged in place, everything else is taken over: always with
/// `overwrite`, and otherwise where the destination has nothing or something empty.
fn merge_into<'a>(
    to: &'a Map<'a>,
    from: &'a Map<'a>,
    overwrite: bool,
    context: &mut Context<'_, 'a>,
) -> Result<(), Failure> {
    let mut pairs = vec![(to, from)];
    let mut seen: Vec<(*const Map<'a>, *const Map<'a>)> = Vec::new();
    while let Some((to, from)) = pairs.pop() {
        let pair = (std::ptr::from_ref(to), std::ptr::from_ref(from));
        if std::ptr::eq(to, from) || seen.contains(&pair) {
            continue;
        }
        seen.push(pair);
        context.charge(from.len().saturating_mul(128))?;
        let was_empty = to.is_empty();
        for (key, value) in from.snapshot(context.arena) {
            if value.is_nil() {
                if overwrite {
                    to.set(key, Value::Nil);
                }
                continue;
            }
            let existing = to.get(key);
            let container = matches!(value, Value::Map(_) | Value::List(..) | Value::Bytes(_));
            match (*value, existing) {
                (Value::Map(source), Some(Value::Map(target))) => pairs.push((target, source)),
                // A list replaces whatever is there, even where a map with content would stay.
                (Value::List(..) | Value::Bytes(_), Some(_)) if overwrite || was_empty => to.set(key, *value),
                _ => {}
            }
            let existing_empty = existing.is_none_or(|existing| match existing {
                Value::Object(_) => false,
                other => is_empty(other),
            });
            if !existing_empty && container {
                continue;
            }
            if overwrite || existing_empty {
                to.set(key, *value);
            }
        }
    }
    Ok(())
}

fn merge_all<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>], overwrite: bool) -> Answer<'a> {
    let mut to = map(arguments, 0, context);
    for at in 1..arguments.len() {
        let from = map(arguments, at, context);
        if to.is_nil() {
            if from.is_nil() {
                continue;
            }
            to = context.arena.map();
        }
        merge_into(to, from, overwrite, context)?;
    }
    Ok(Value::Map(to))
}

fn merge<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    merge_all(context, arguments, false)
}

fn merge_overwrite<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    merge_all(context, arguments, true)
}

use Parameter::{Any, Bool, Int, Map as Dict, String as Text};

/// In both versions.
pub(crate) static TABLE: &[Function] = &[
    Function::pure("default", &[Any, Any], default).variadic(),
    Function::pure("empty", &[Any], empty),
    Function::pure("coalesce", &[Any], coalesce).variadic(),
    Function::pure("compact", &[Any], compact),
    Function::pure("deepCopy", &[Any], copy),
    Function::pure("ternary", &[Any, Any, Bool], ternary),
    Function::pure("typeOf", &[Any], type_of),
    Function::pure("typeIs", &[Text, Any], type_is),
    Function::pure("typeIsLike", &[Text, Any], type_is_like),
    Function::pure("kindOf", &[Any], kind_of),
    Function::pure("kindIs", &[Text, Any], kind_is),
    Function::pure("deepEqual", &[Any, Any], equal),
    Function::pure("tuple", &[Any], list).variadic(),
    Function::pure("list", &[Any], list).variadic(),
    Function::pure("append", &[Any, Any], append),
    Function::pure("push", &[Any, Any], append),
    Function::pure("prepend", &[Any, Any], prepend),
    Function::pure("first", &[Any], first),
    Function::pure("last", &[Any], last),
    Function::pure("rest", &[Any], rest),
    Function::pure("initial", &[Any], initial),
    Function::pure("reverse", &[Any], reverse),
    Function::pure("uniq", &[Any], uniq),
    Function::pure("without", &[Any, Any], without).variadic(),
    Function::pure("has", &[Any, Any], has),
    Function::pure("slice", &[Any, Any], slice).variadic(),
    Function::pure("concat", &[Any], concat).variadic(),
    Function::pure("dict", &[Any], dict).variadic(),
    Function::pure("set", &[Dict, Text, Any], set),
    Function::pure("unset", &[Dict, Text], unset),
    Function::pure("hasKey", &[Dict, Text], has_key),
    Function::pure("pluck", &[Text, Dict], pluck).variadic(),
    Function::pure("keys", &[Dict], keys).variadic(),
    Function::pure("values", &[Dict], values),
    Function::pure("pick", &[Dict, Text], pick).variadic(),
    Function::pure("omit", &[Dict, Text], omit).variadic(),
    Function::pure("merge", &[Dict, Dict], merge).variadic(),
    Function::pure("mergeOverwrite", &[Dict, Dict], merge_overwrite).variadic(),
];

/// Since version 3.
pub(crate) static TABLE_V3: &[Function] = &[
    Function::pure("all", &[Any], all).variadic(),
    Function::pure("any", &[Any], any).variadic(),
    Function::pure("get", &[Dict, Text], get),
    Function::pure("dig", &[Any], dig).variadic(),
    Function::pure("chunk", &[Int, Any], chunk),
    Function::pure("mustChunk", &[Int, Any], chunk),
    Function::pure("mustAppend", &[Any, Any], append),
    Function::pure("mustPush", &[Any, Any], append),
    Function::pure("mustPrepend", &[Any, Any], prepend),
    Function::pure("mustFirst", &[Any], first),
    Function::pure("mustLast", &[Any], last),
    Function::pure("mustRest", &[Any], rest),
    Function::pure("mustInitial", &[Any], initial),
    Function::pure("mustReverse", &[Any], reverse),
    Function::pure("mustUniq", &[Any], uniq),
    Function::pure("mustWithout", &[Any, Any], without).variadic(),
    Function::pure("mustHas", &[Any, Any], has),
    Function::pure("mustSlice", &[Any, Any], slice).variadic(),
    Function::pure("mustCompact", &[Any], compact),
    Function::pure("mustDeepCopy", &[Any], copy),
    Function::pure("mustMerge", &[Dict, Dict], merge).variadic(),
    Function::pure("mustMergeOverwrite", &[Dict, Dict], merge_overwrite).variadic(),
];
