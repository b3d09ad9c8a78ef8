//! sprig's regular expressions.

use std::rc::Rc;

use crate::budget::Limit;
use crate::context::{Context, Failure};
use crate::function::{Cost, Function, Parameter};
use crate::regex::{Refusal, Regex, quote_meta};
use crate::strconv;
use crate::value::{ListType, Value};

use super::{int, text};

type Answer<'a> = Result<Value<'a>, Failure>;

/// A render keeps this many compiled expressions.
const KEPT: usize = 256;

/// The compiled expression, or Go's complaint.
fn compile(context: &mut Context<'_, '_>, pattern: &[u8]) -> Result<Result<Rc<Regex>, String>, Failure> {
    if let Some(regex) = context.regexes.borrow().get(pattern) {
        return Ok(Ok(Rc::clone(regex)));
    }
    if pattern.len() > context.budget.regex {
        return Err(Failure::Limit(Limit::Regex));
    }
    context.charge(pattern.len().saturating_mul(64) + 1024)?;
    let Ok(source) = std::str::from_utf8(pattern) else {
        let shown = String::from_utf8_lossy(pattern);
        return Ok(Err(format!("error parsing regexp: invalid UTF-8: `{shown}`")));
    };
    let regex = match Regex::new(source, context.budget.regex) {
        Ok(regex) => Rc::new(regex),
        Err(Refusal::Syntax(message)) => return Ok(Err(message)),
        Err(Refusal::TooLarge) => return Err(Failure::Limit(Limit::Regex)),
    };
    let mut kept = context.regexes.borrow_mut();
    if kept.len() >= KEPT {
        kept.clear();
    }
    kept.insert(pattern.to_vec(), Rc::clone(&regex));
    Ok(Ok(regex))
}

/// What `MustCompile` panics with.
fn must(context: &mut Context<'_, '_>, pattern: &[u8]) -> Result<Rc<Regex>, Failure> {
    compile(context, pattern)?.map_err(|error| {
        let shown = String::from_utf8_lossy(pattern);
        let plain =
            !shown.chars().any(|c| c == '`' || c == '\u{FEFF}' || (c < ' ' && c != '\t') || c == '\x7f');
        let quoted = if plain { format!("`{shown}`") } else { strconv::quote(pattern) };
        Failure::message(format!("regexp: Compile({quoted}): {error}"))
    })
}

/// For the functions that return the error as it is.
fn checked(context: &mut Context<'_, '_>, pattern: &[u8]) -> Result<Rc<Regex>, Failure> {
    compile(context, pattern)?.map_err(Failure::Message)
}

type Compile = fn(&mut Context<'_, '_>, &[u8]) -> Result<Rc<Regex>, Failure>;

fn regex_match<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let regex = compile(context, text(arguments, 0))?;
    context.charge(text(arguments, 1).len())?;
    Ok(Value::Bool(regex.is_ok_and(|regex| regex.is_match(text(arguments, 1)))))
}

fn must_match<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let regex = checked(context, text(arguments, 0))?;
    context.charge(text(arguments, 1).len())?;
    Ok(Value::Bool(regex.is_match(text(arguments, 1))))
}

fn all<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>], compile: Compile) -> Answer<'a> {
    let regex = compile(context, text(arguments, 0))?;
    let text = text(arguments, 1);
    context.charge(text.len())?;
    let found = regex.find_all(text, int(arguments, 2));
    if found.is_empty() {
        return Ok(Value::List(ListType::NIL_STRING, &[]));
    }
    strings(context, found.into_iter().map(|range| &text[range]).collect())
}

fn strings<'a>(context: &mut Context<'_, 'a>, parts: Vec<&'a [u8]>) -> Answer<'a> {
    context.charge_items(parts.len())?;
    let values: Vec<Value<'a>> = parts.into_iter().map(Value::String).collect();
    Ok(Value::List(ListType::STRING, context.arena.values(&values)))
}

fn find_all<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    all(context, arguments, must)
}

fn must_find_all<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    all(context, arguments, checked)
}

fn first<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>], compile: Compile) -> Answer<'a> {
    let regex = compile(context, text(arguments, 0))?;
    let text = text(arguments, 1);
    context.charge(text.len())?;
    Ok(Value::String(regex.find(text).map_or(&[][..], |range| &text[range])))
}

fn find<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    first(context, arguments, must)
}

fn must_find<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    first(context, arguments, checked)
}

fn replaced<'a>(
    context: &mut Context<'_, 'a>,
    arguments: &[Value<'a>],
    literal: bool,
    compile: Compile,
) -> Answer<'a> {
    let regex = compile(context, text(arguments, 0))?;
    let source = text(arguments, 1);
    context.charge(source.len())?;
    let out = regex.replace_all(source, text(arguments, 2), literal, context.text_limit());
    context.text(out.ok_or(Failure::Limit(Limit::Memory))?)
}

fn replace_all<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    replaced(context, arguments, false, must)
}

fn must_replace_all<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    replaced(context, arguments, false, checked)
}

fn replace_literal<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    replaced(context, arguments, true, must)
}

fn must_replace_literal<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    replaced(context, arguments, true, checked)
}

fn parts<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>], compile: Compile) -> Answer<'a> {
    let regex = compile(context, text(arguments, 0))?;
    let source = text(arguments, 1);
    context.charge(source.len())?;
    match regex.split(source, int(arguments, 2)) {
        None => Ok(Value::List(ListType::NIL_STRING, &[])),
        Some(parts) => strings(context, parts),
    }
}

fn split<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    parts(context, arguments, must)
}

fn must_split<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    parts(context, arguments, checked)
}

fn quote<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    context.text(quote_meta(text(arguments, 0)))
}

use Parameter::{Int, String as Text};

const fn regex_function(
    name: &'static str,
    parameters: &'static [Parameter],
    body: for<'a> fn(&mut Context<'_, 'a>, &[Value<'a>]) -> Answer<'a>,
) -> Function {
    Function::pure(name, parameters, body).costs(Cost::Text)
}

/// In both versions.
pub(crate) static TABLE: &[Function] = &[
    regex_function("regexMatch", &[Text, Text], regex_match),
    regex_function("regexFindAll", &[Text, Text, Int], find_all),
    regex_function("regexFind", &[Text, Text], find),
    regex_function("regexReplaceAll", &[Text, Text, Text], replace_all),
    regex_function("regexReplaceAllLiteral", &[Text, Text, Text], replace_literal),
    regex_function("regexSplit", &[Text, Text, Int], split),
];

/// Since version 3.
pub(crate) static TABLE_V3: &[Function] = &[
    regex_function("mustRegexMatch", &[Text, Text], must_match),
    regex_function("mustRegexFindAll", &[Text, Text, Int], must_find_all),
    regex_function("mustRegexFind", &[Text, Text], must_find),
    regex_function("mustRegexReplaceAll", &[Text, Text, Text], must_replace_all),
    regex_function("mustRegexReplaceAllLiteral", &[Text, Text, Text], must_replace_literal),
    regex_function("mustRegexSplit", &[Text, Text, Int], must_split),
    regex_function("regexQuoteMeta", &[Text], quote),
];
