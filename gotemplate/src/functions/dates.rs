//! sprig's dates. The clock is the caller's, the local zone is UTC.

use crate::context::{Context, Failure};
use crate::function::{Function, Parameter, Purity};
use crate::time::{self, Time, Zone};
use crate::value::{IntType, Value};

use super::text;

type Answer<'a> = Result<Value<'a>, Failure>;

fn now<'a>(context: &Context<'_, 'a>) -> Time<'a> {
    let (seconds, nanos) = context.now();
    Time::unix(seconds, nanos)
}

/// Times and whole numbers of seconds are moments; anything else is now.
fn moment<'a>(value: Value<'a>, context: &Context<'_, 'a>) -> Time<'a> {
    match value {
        Value::Object(object) => object.time().unwrap_or_else(|| now(context)),
        Value::Int(IntType::Int | IntType::Int32 | IntType::Int64, seconds) => Time::unix(seconds, 0),
        _ => now(context),
    }
}

fn in_zone<'a>(context: &mut Context<'_, 'a>, layout: &[u8], value: Value<'a>, zone: &[u8]) -> Answer<'a> {
    let zone = time::load_zone(zone, context).unwrap_or(Zone::Utc);
    let text = moment(value, context).at(zone).format(layout);
    context.text(text)
}

fn date<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    in_zone(context, text(arguments, 0), arguments[1], b"Local")
}

fn date_in_zone<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    in_zone(context, text(arguments, 0), arguments[1], text(arguments, 2))
}

fn html_date<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    in_zone(context, b"2006-01-02", arguments[0], b"Local")
}

fn html_date_in_zone<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    in_zone(context, b"2006-01-02", arguments[0], text(arguments, 1))
}

fn current<'a>(context: &mut Context<'_, 'a>, _: &[Value<'a>]) -> Answer<'a> {
    let now = now(context);
    Ok(context.arena.object(now))
}

fn given(arguments: &[Value<'_>], at: usize) -> Option<(i64, u32)> {
    match arguments.get(at) {
        Some(Value::Object(object)) => object.time().map(|time| (time.seconds, time.nanos)),
        _ => None,
    }
}

fn must_modify<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let duration = time::parse_duration(text(arguments, 0)).map_err(Failure::Message)?;
    let time = moment(arguments[1], context).later(duration);
    Ok(context.arena.object(time))
}

fn modify<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(must_modify(context, arguments).unwrap_or(arguments[1]))
}

fn ago<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    // An int32 counts as now here, unlike in the functions that format.
    let from = match arguments[0] {
        Value::Int(IntType::Int32, _) => now(context),
        value => moment(value, context),
    };
    let passed = now(context).since(&from);
    context.text(time::duration_text(time::round_duration(passed, 1_000_000_000)))
}

fn duration<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let seconds = match arguments[0] {
        Value::String(text) => {
            std::str::from_utf8(text).ok().map_or(0, |text| match crate::strconv::parse_int(text, 10) {
                Ok(number) => number,
                // ParseInt gives the nearest number with its range error, and sprig looks at that alone.
                Err(crate::strconv::NumberError::Range) if text.starts_with('-') => i64::MIN,
                Err(crate::strconv::NumberError::Range) => i64::MAX,
                Err(crate::strconv::NumberError::Syntax) => 0,
            })
        }
        Value::Int(IntType::Int64, number) => number,
        _ => 0,
    };
    context.text(time::duration_text(seconds.wrapping_mul(1_000_000_000)))
}

fn duration_round<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let nanos = match arguments[0] {
        Value::String(text) => time::parse_duration(text).unwrap_or(0),
        Value::Int(IntType::Int64, number) => number,
        Value::Object(object) => match object.time() {
            Some(time) => now(context).since(&time),
            None => 0,
        },
        _ => 0,
    };
    let magnitude = nanos.unsigned_abs();
    const HOUR: u64 = 3_600_000_000_000;
    let units = [
        (HOUR * 24 * 365, "y"),
        (HOUR * 24 * 30, "mo"),
        (HOUR * 24, "d"),
        (HOUR, "h"),
        (HOUR / 60, "m"),
        (HOUR / 3600, "s"),
    ];
    let shown = units.into_iter().find(|(unit, _)| magnitude > *unit);
    context.text(shown.map_or_else(|| "0s".to_owned(), |(unit, name)| format!("{}{name}", magnitude / unit)))
}

fn must_to_date<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let time = time::parse(text(arguments, 0), text(arguments, 1), Zone::Local, context)
        .map_err(Failure::Message)?;
    Ok(context.arena.object(time))
}

fn to_date<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(must_to_date(context, arguments).unwrap_or_else(|_| context.arena.object(Time::ZERO)))
}

fn unix_epoch<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let (seconds, _) = given(arguments, 0).unwrap_or_default();
    context.text(seconds.to_string())
}

use Parameter::{Any, String as Text, Time as Moment};

/// In both versions. Where the clock is asked only for want of a moment, that still makes the output unrepeatable.
pub(crate) static TABLE: &[Function] = &[
    Function::pure("date", &[Text, Any], date).from(Purity::Clock),
    Function::pure("date_in_zone", &[Text, Any, Text], date_in_zone).from(Purity::Clock),
    Function::pure("dateInZone", &[Text, Any, Text], date_in_zone).from(Purity::Clock),
    Function::pure("date_modify", &[Text, Moment], modify),
    Function::pure("dateModify", &[Text, Moment], modify),
    Function::pure("now", &[], current).from(Purity::Clock),
    Function::pure("htmlDate", &[Any], html_date).from(Purity::Clock),
    Function::pure("htmlDateInZone", &[Any, Text], html_date_in_zone).from(Purity::Clock),
    Function::pure("ago", &[Any], ago).from(Purity::Clock),
    Function::pure("toDate", &[Text, Text], to_date),
    Function::pure("unixEpoch", &[Moment], unix_epoch),
];

/// Since version 3.
pub(crate) static TABLE_V3: &[Function] = &[
    Function::pure("must_date_modify", &[Text, Moment], must_modify),
    Function::pure("mustDateModify", &[Text, Moment], must_modify),
    Function::pure("mustToDate", &[Text, Text], must_to_date),
    Function::pure("duration", &[Any], duration),
    Function::pure("durationRound", &[Any], duration_round).from(Purity::Clock),
];
