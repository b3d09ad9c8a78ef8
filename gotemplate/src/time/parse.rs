//! Reading a moment by a layout, with Go's words for what does not fit.

use super::layout::{Chunk, next_chunk};
use super::{DAYS, MONTHS, Time, Zone, civil_from_days, days_from_civil, in_zone};
use crate::context::Context;

fn digits(text: &[u8], least: usize, most: usize) -> Option<(i64, &[u8])> {
    let count = text.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    if count < least {
        return None;
    }
    let value = text[..count].iter().fold(0i64, |value, byte| value * 10 + i64::from(byte - b'0'));
    Some((value, &text[count..]))
}

fn lookup<'t>(names: &[&str], length: Option<usize>, text: &'t [u8]) -> Option<(i64, &'t [u8])> {
    names.iter().enumerate().find_map(|(at, name)| {
        let name = &name.as_bytes()[..length.unwrap_or(name.len())];
        let head = text.get(..name.len())?;
        head.eq_ignore_ascii_case(name).then(|| (at as i64, &text[name.len()..]))
    })
}

/// The time package's own way of quoting: every byte that is not printable ASCII in hexadecimal.
pub(super) fn quote(text: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in text {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => out.push(char::from(*byte)),
            byte => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push('"');
    out
}

/// `time.ParseInLocation`.
///
/// # Errors
/// In Go's words.
pub fn parse<'a>(
    layout: &[u8],
    text: &[u8],
    zone: Zone<'a>,
    context: &Context<'_, 'a>,
) -> Result<Time<'a>, String> {
    let bad = |rest: &[u8], element: &[u8]| {
        format!(
            "parsing time {} as {}: cannot parse {} as {}",
            quote(text),
            quote(layout),
            quote(rest),
            quote(element)
        )
    };
    let out_of_range = |what: &str| format!("parsing time {}: {what} out of range", quote(text));
    let (mut year, mut month, mut day, mut year_day) = (0i64, None, None, None);
    let (mut hour, mut minute, mut second, mut nanos) = (0i64, 0i64, 0i64, 0u32);
    let (mut pm_set, mut am_set) = (false, false);
    let mut offset: Option<i64> = None;
    let mut zulu = false;
    let mut zone_name: Option<&[u8]> = None;
    let mut value = text;
    let mut rest = layout;
    loop {
        let next = next_chunk(rest);
        let prefix = next.map_or(rest, |(at, ..)| &rest[..at]);
        value = skip(value, prefix).map_err(|at| bad(at, prefix))?;
        let Some((at, chunk, length)) = next else {
            if !value.is_empty() {
                return Err(format!("parsing time {}: extra text: {}", quote(text), quote(value)));
            }
            break;
        };
        let element = &rest[at..at + length];
        rest = &rest[at + length..];
        let hold = value;
        let fail = || bad(hold, element);
        match chunk {
            Chunk::Year => {
                let (number, tail) = digits(value, 2, 2).ok_or_else(fail)?;
                year = if number >= 69 { number + 1900 } else { number + 2000 };
                value = tail;
            }
            Chunk::LongYear => (year, value) = digits(value, 4, 4).ok_or_else(fail)?,
            Chunk::Month | Chunk::LongMonth => {
                let short = (chunk == Chunk::Month).then_some(3);
                let (number, tail) = lookup(&MONTHS, short, value).ok_or_else(fail)?;
                month = Some(number + 1);
                value = tail;
            }
            Chunk::NumMonth | Chunk::ZeroMonth => {
                let (number, tail) = digits(value, element.len(), 2).ok_or_else(fail)?;
                if !(1..=12).contains(&number) {
                    return Err(out_of_range("month"));
                }
                month = Some(number);
                value = tail;
            }
            Chunk::WeekDay | Chunk::LongWeekDay => {
                let short = (chunk == Chunk::WeekDay).then_some(3);
                (_, value) = lookup(&DAYS, short, value).ok_or_else(fail)?;
            }
            Chunk::Day | Chunk::UnderDay | Chunk::ZeroDay => {
                if chunk == Chunk::UnderDay && value.first() == Some(&b' ') {
                    value = &value[1..];
                }
                let least = if chunk == Chunk::ZeroDay { 2 } else { 1 };
                let (number, tail) = digits(value, least, 2).ok_or_else(fail)?;
                day = Some(number);
                value = tail;
            }
            Chunk::UnderYearDay | Chunk::ZeroYearDay => {
                if chunk == Chunk::UnderYearDay {
                    let spaces = value.iter().take(2).take_while(|byte| **byte == b' ').count();
                    value = &value[spaces..];
                }
                let least = if chunk == Chunk::ZeroYearDay { 3 } else { 1 };
                let (number, tail) = digits(value, least, 3).ok_or_else(fail)?;
                year_day = Some(number);
                value = tail;
            }
            Chunk::Hour => {
                (hour, value) = digits(value, 1, 2).ok_or_else(fail)?;
                if hour >= 24 {
                    return Err(out_of_range("hour"));
                }
            }
            Chunk::Hour12 | Chunk::ZeroHour12 => {
                (hour, value) = digits(value, element.len(), 2).ok_or_else(fail)?;
                if hour > 12 {
                    return Err(out_of_range("hour"));
                }
            }
            Chunk::Minute | Chunk::ZeroMinute => {
                (minute, value) = digits(value, element.len(), 2).ok_or_else(fail)?;
                if minute >= 60 {
                    return Err(out_of_range("minute"));
                }
            }
            Chunk::Second | Chunk::ZeroSecond => {
                (second, value) = digits(value, element.len(), 2).ok_or_else(fail)?;
                if second >= 60 {
                    return Err(out_of_range("second"));
                }
                // A fraction may follow though the layout does not say so.
                if matches!(value.first(), Some(b'.' | b','))
                    && value.get(1).is_some_and(u8::is_ascii_digit)
                    && !matches!(next_chunk(rest), Some((0, Chunk::Fraction { .. }, _)))
                {
                    let count = value[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                    nanos = fraction(&value[1..=count]);
                    value = &value[1 + count..];
                }
            }
            Chunk::UpperPm | Chunk::LowerPm => {
                let upper = chunk == Chunk::UpperPm;
                let (pm, am): (&[u8], &[u8]) = if upper { (b"PM", b"AM") } else { (b"pm", b"am") };
                if value.starts_with(pm) {
                    pm_set = true;
                } else if value.starts_with(am) {
                    am_set = true;
                } else {
                    return Err(fail());
                }
                value = &value[2..];
            }
            Chunk::Offset { zulu: z, colon, minutes, seconds } => {
                if z && value.first() == Some(&b'Z') {
                    value = &value[1..];
                    zulu = true;
                    continue;
                }
                let sign = match value.first() {
                    Some(b'+') => 1,
                    Some(b'-') => -1,
                    _ => return Err(fail()),
                };
                let mut tail = &value[1..];
                let mut total;
                (total, tail) = digits(tail, 2, 2).ok_or_else(fail)?;
                total *= 3600;
                for (wanted, unit) in [(minutes, 60), (seconds, 1)] {
                    if !wanted {
                        continue;
                    }
                    if colon {
                        tail = tail.strip_prefix(b":").ok_or_else(fail)?;
                    }
                    let number;
                    (number, tail) = digits(tail, 2, 2).ok_or_else(fail)?;
                    if number >= 60 {
                        return Err(out_of_range("time zone offset minute"));
                    }
                    total += number * unit;
                }
                value = tail;
                offset = Some(sign * total);
            }
            Chunk::ZoneName => {
                if value.starts_with(b"UTC") {
                    zulu = true;
                    value = &value[3..];
                    continue;
                }
                let count = zone_letters(value).ok_or_else(fail)?;
                zone_name = Some(&value[..count]);
                value = &value[count..];
            }
            Chunk::Fraction { digits: wanted, zeros, .. } => {
                if zeros {
                    let text = value.get(1..=wanted).filter(|text| text.iter().all(u8::is_ascii_digit));
                    nanos = fraction(text.ok_or_else(fail)?);
                    value = &value[1 + wanted..];
                } else if matches!(value.first(), Some(b'.' | b','))
                    && value.get(1).is_some_and(u8::is_ascii_digit)
                {
                    let count = value[1..].iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
                    nanos = fraction(&value[1..=count]);
                    value = &value[1 + count..];
                }
            }
        }
    }
    if pm_set && hour < 12 {
        hour += 12;
    } else if am_set && hour == 12 {
        hour = 0;
    }
    let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    if let Some(number) = year_day {
        if number < 1 || number > 365 + i64::from(leap(year)) {
            return Err(out_of_range("day-of-year"));
        }
        let (_, m, d) = civil_from_days(days_from_civil(year, 1, 1) + number - 1);
        if month.is_some_and(|month| month != m) {
            return Err(format!("parsing time {}: day-of-year does not match month", quote(text)));
        }
        if day.is_some_and(|day| day != d) {
            return Err(format!("parsing time {}: day-of-year does not match day", quote(text)));
        }
        (month, day) = (Some(m), Some(d));
    }
    let month = month.unwrap_or(1);
    let day = day.unwrap_or(1);
    let length = match month {
        2 => 28 + i64::from(leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    if day < 1 || day > length {
        return Err(out_of_range("day"));
    }
    let wall = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    if zulu {
        return Ok(Time { seconds: wall, nanos, zone: Zone::Utc });
    }
    if let Some(offset) = offset {
        let time = Time { seconds: wall - offset, nanos, zone };
        let name = zone_name.unwrap_or_default();
        // The given zone is kept where it agrees.
        let (own, abbreviation) = time.offset();
        if own == offset && (name.is_empty() || name == abbreviation.as_bytes()) {
            return Ok(time);
        }
        let name = std::str::from_utf8(context.arena.bytes(name)).unwrap_or_default();
        return Ok(time.at(Zone::Fixed(i32::try_from(offset).unwrap_or(0), name)));
    }
    if let Some(name) = zone_name {
        let mut offset = 0;
        if let Some(hours) = name.strip_prefix(b"GMT") {
            offset = std::str::from_utf8(hours).ok().and_then(|hours| hours.parse::<i64>().ok()).unwrap_or(0)
                * 3600;
        }
        let time = in_zone(wall, nanos, zone);
        if time.offset().1.as_bytes() == name {
            return Ok(time);
        }
        let name = std::str::from_utf8(context.arena.bytes(name)).unwrap_or_default();
        let zone = Zone::Fixed(i32::try_from(offset).unwrap_or(0), name);
        return Ok(Time { seconds: wall - offset, nanos, zone });
    }
    Ok(in_zone(wall, nanos, zone))
}

fn fraction(text: &[u8]) -> u32 {
    let mut value = 0;
    for at in 0..9 {
        value = value * 10 + u32::from(text.get(at).map_or(0, |byte| byte - b'0'));
    }
    value
}

/// Skips the literal part of a layout; runs of spaces match runs of spaces. The error is where it stopped.
fn skip<'t>(mut value: &'t [u8], mut prefix: &[u8]) -> Result<&'t [u8], &'t [u8]> {
    while let Some(byte) = prefix.first() {
        if *byte == b' ' {
            if value.first().is_some_and(|byte| *byte != b' ') {
                return Err(value);
            }
            prefix = bstr::ByteSlice::trim_start_with(prefix, |c| c == ' ');
            value = bstr::ByteSlice::trim_start_with(value, |c| c == ' ');
            continue;
        }
        if value.first() != Some(byte) {
            return Err(value);
        }
        prefix = &prefix[1..];
        value = &value[1..];
    }
    Ok(value)
}

/// How many letters of a time zone abbreviation there are.
fn zone_letters(value: &[u8]) -> Option<usize> {
    if value.len() < 3 {
        return None;
    }
    if value.starts_with(b"ChST") || value.starts_with(b"MeST") {
        return Some(4);
    }
    if value.starts_with(b"GMT") {
        let rest = &value[3..];
        if let Some(b'+' | b'-') = rest.first() {
            let count = rest[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let hours: i64 =
                std::str::from_utf8(&rest[1..=count]).ok().and_then(|text| text.parse().ok()).unwrap_or(99);
            if count > 0 && hours <= 23 {
                return Some(4 + count);
            }
        }
        return Some(3);
    }
    if let b'+' | b'-' = value[0] {
        let count = value[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        return (count > 0).then_some(count + 1);
    }
    let upper = value.iter().take(6).take_while(|byte| byte.is_ascii_uppercase()).count();
    match upper {
        5 if value[4] == b'T' => Some(5),
        4 if value[3] == b'T' || value.starts_with(b"WITA") => Some(4),
        3 => Some(3),
        _ => None,
    }
}
