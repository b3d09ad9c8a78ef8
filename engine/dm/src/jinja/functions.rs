//! The functions that [rewritten](super::rewrite) templates call in place of operators and literals, and `dict`.

use indexmap::IndexMap;
use minijinja::value::{Kwargs, Rest, Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind};

use super::containers::{Dict, List, Method};
use super::{format, methods, rewrite};

pub(super) fn add(environment: &mut Environment<'static>) {
    environment.add_function(rewrite::LIST, |items: Rest<Value>| List::of(items.0));
    environment.add_function(rewrite::DICT, |members: Rest<Value>| {
        let pairs = members.0.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone()));
        Dict::of(pairs.collect::<IndexMap<_, _>>())
    });
    environment.add_function(rewrite::FRESH, methods::fresh);
    environment.add_function(rewrite::MOD, modulo);
    environment.add_function(rewrite::ATTRIBUTE, attribute);
    environment.add_function("dict", dict);
    environment.add_function("cycler", |items: Rest<Value>| minijinja_contrib::globals::cycler(items.0));
    environment.add_function("joiner", minijinja_contrib::globals::joiner);
}

/// `dict(m, a=1)`: a new map of the members of another, and those named.
fn dict(from: Option<&Value>, named: Kwargs) -> Result<Value, Error> {
    let mut members = from.map(methods::members_of).transpose()?.unwrap_or_default();
    for name in named.args().map(str::to_owned).collect::<Vec<_>>() {
        members.insert(Value::from(name.as_str()), named.get(&name)?);
    }
    Dict::of(members)
}

/// `a % b`: formats a text, else the remainder with the sign of the divisor.
fn modulo(left: Value, right: Value) -> Result<Value, Error> {
    if let Some(text) = left.as_str() {
        return format::percent(text, &right).map(Value::from);
    }
    let is_number = |value: &Value| matches!(value.kind(), ValueKind::Number | ValueKind::Bool);
    if !is_number(&left) || !is_number(&right) {
        let text =
            format!("unsupported operand type(s) for %: '{}' and '{}'", type_name(&left), type_name(&right));
        return Err(Error::new(ErrorKind::InvalidOperation, text));
    }
    let zero = || Error::new(ErrorKind::InvalidOperation, "integer division or modulo by zero");
    if let (Some(left), Some(right)) = (whole(&left), whole(&right)) {
        let rest = left.checked_rem(right).ok_or_else(zero)?;
        let rest = if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest };
        return Ok(i64::try_from(rest).map_or_else(|_| Value::from(rest), Value::from));
    }
    let (left, right) = (f64::try_from(left)?, f64::try_from(right)?);
    if right == 0.0 {
        return Err(zero());
    }
    let rest = left % right;
    Ok(Value::from(if rest != 0.0 && (rest < 0.0) != (right < 0.0) { rest + right } else { rest }))
}

fn whole(value: &Value) -> Option<i128> {
    match value.kind() {
        ValueKind::Bool => Some(i128::from(value.is_true())),
        _ if value.is_integer() => i128::try_from(value.clone()).ok(),
        _ => None,
    }
}

/// What Python calls the type of a value.
fn type_name(value: &Value) -> &'static str {
    match value.kind() {
        ValueKind::Undefined => "Undefined",
        ValueKind::None => "NoneType",
        ValueKind::Bool => "bool",
        ValueKind::Number if value.is_integer() => "int",
        ValueKind::Number => "float",
        ValueKind::String => "str",
        ValueKind::Seq | ValueKind::Iterable if value.is_tuple() => "tuple",
        ValueKind::Seq | ValueKind::Iterable => "list",
        ValueKind::Map => "dict",
        _ => "object",
    }
}

/// `a.items` that is not called: a map's method goes before its member.
fn attribute(value: Value, name: String) -> Result<Value, Error> {
    if name.starts_with("__") {
        let text = format!("there are no objects of Python here, so nothing has the attribute `{name}`");
        return Err(Error::new(ErrorKind::InvalidOperation, text));
    }
    if value.downcast_object_ref::<Dict>().is_some() {
        return Ok(Value::from_object(Method { map: value, name }));
    }
    value.get_attr(&name)
}
