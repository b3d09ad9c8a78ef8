//! Durations, months and weekdays: integers with a text and methods of their own.

use super::parse::quote;
use super::{DAYS, month_name};
use crate::context::{Context, Failure};
use crate::function::Parameter;
use crate::value::{IntType, Signature, Value};

/// `time.Duration`'s text: `1h2m3.5s`.
#[must_use]
pub fn duration_text(nanos: i64) -> String {
    if nanos == 0 {
        return "0s".to_owned();
    }
    let sign = if nanos < 0 { "-" } else { "" };
    let value = nanos.unsigned_abs();
    let with_fraction = |value: u64, unit: u64| {
        let width = unit.ilog10() as usize;
        let fraction = format!("{:0width$}", value % unit);
        let fraction = fraction.trim_end_matches('0');
        let point = if fraction.is_empty() || width == 0 { "" } else { "." };
        let fraction = if width == 0 { "" } else { fraction };
        format!("{}{point}{fraction}", value / unit)
    };
    if value < 1000 {
        return format!("{sign}{value}ns");
    }
    if value < 1_000_000 {
        return format!("{sign}{}µs", with_fraction(value, 1000));
    }
    if value < 1_000_000_000 {
        return format!("{sign}{}ms", with_fraction(value, 1_000_000));
    }
    let minutes = value / 60_000_000_000;
    let seconds = with_fraction(value % 60_000_000_000, 1_000_000_000);
    match (minutes / 60, minutes % 60) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, minutes) => format!("{sign}{minutes}m{seconds}s"),
        (hours, minutes) => format!("{sign}{hours}h{minutes}m{seconds}s"),
    }
}

/// `time.ParseDuration`.
///
/// # Errors
/// In Go's words.
pub fn parse_duration(text: &[u8]) -> Result<i64, String> {
    let invalid = || format!("time: invalid duration {}", quote(text));
    let (negative, mut rest) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == b"0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(invalid());
    }
    let mut total: u64 = 0;
    while !rest.is_empty() {
        let whole = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let mut value: u64 = 0;
        for byte in &rest[..whole] {
            value = value
                .checked_mul(10)
                .and_then(|value| value.checked_add(u64::from(byte - b'0')))
                .ok_or_else(invalid)?;
        }
        rest = &rest[whole..];
        let mut fraction: &[u8] = &[];
        if rest.first() == Some(&b'.') {
            let count = rest[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            fraction = &rest[1..=count];
            rest = &rest[1 + count..];
        }
        if whole == 0 && fraction.is_empty() {
            return Err(invalid());
        }
        let letters = rest.iter().take_while(|byte| **byte != b'.' && !byte.is_ascii_digit()).count();
        if letters == 0 {
            return Err(format!("time: missing unit in duration {}", quote(text)));
        }
        let (unit_text, tail) = rest.split_at(letters);
        rest = tail;
        let unit: u64 = match unit_text {
            b"ns" => 1,
            b"us" => 1000,
            other if other == "µs".as_bytes() || other == "μs".as_bytes() => 1000,
            b"ms" => 1_000_000,
            b"s" => 1_000_000_000,
            b"m" => 60_000_000_000,
            b"h" => 3_600_000_000_000,
            _ => {
                return Err(format!("time: unknown unit {} in duration {}", quote(unit_text), quote(text)));
            }
        };
        let mut part = value.checked_mul(unit).ok_or_else(invalid)?;
        if !fraction.is_empty() {
            let digits = std::str::from_utf8(fraction).unwrap_or("0");
            let share: f64 = format!("0.{digits}").parse().unwrap_or(0.0);
            part = part.checked_add((share * unit as f64) as u64).ok_or_else(invalid)?;
        }
        total = total.checked_add(part).filter(|total| *total <= 1 << 63).ok_or_else(invalid)?;
    }
    if negative {
        return Ok((total as i64).wrapping_neg());
    }
    i64::try_from(total).map_err(|_| invalid())
}

/// The text of the named integer types; `None` for plain integers.
pub(crate) fn int_text(kind: IntType, number: i64) -> Option<String> {
    match kind {
        IntType::Duration => Some(duration_text(number)),
        IntType::Month => Some(match number {
            1..=12 => month_name(number).to_owned(),
            other => format!("%!Month({other})"),
        }),
        IntType::Weekday => Some(match usize::try_from(number).ok().and_then(|at| DAYS.get(at)) {
            Some(day) => (*day).to_owned(),
            None => format!("%!Weekday({number})"),
        }),
        _ => None,
    }
}

/// The methods of the named integer types.
pub(crate) fn int_method(kind: IntType, name: &str) -> Option<Signature> {
    match (kind, name) {
        (IntType::Duration | IntType::Month | IntType::Weekday, "String")
        | (
            IntType::Duration,
            "Nanoseconds" | "Microseconds" | "Milliseconds" | "Seconds" | "Minutes" | "Hours" | "Abs",
        ) => Some(Signature::NONE),
        (IntType::Duration, "Truncate" | "Round") => {
            Some(Signature { parameters: &[Parameter::Duration], variadic: false })
        }
        _ => None,
    }
}

/// `Duration.Round`.
#[must_use]
pub fn round_duration(nanos: i64, unit: i64) -> i64 {
    if unit <= 0 {
        return nanos;
    }
    let rest = nanos % unit;
    if rest.abs() < unit - rest.abs() {
        nanos - rest
    } else {
        nanos.saturating_add(unit * nanos.signum() - rest)
    }
}

pub(crate) fn call_int_method<'a>(
    kind: IntType,
    number: i64,
    name: &str,
    arguments: &[Value<'a>],
    context: &mut Context<'_, 'a>,
) -> Result<Value<'a>, Failure> {
    let unit = match arguments.first() {
        Some(Value::Int(_, unit)) => *unit,
        _ => 0,
    };
    // Go divides the whole seconds and the rest apart.
    let parts = |unit: i64| Value::Float((number / unit) as f64 + (number % unit) as f64 / unit as f64);
    Ok(match name {
        "String" => return context.text(int_text(kind, number).unwrap_or_default()),
        "Nanoseconds" => Value::int64(number),
        "Microseconds" => Value::int64(number / 1000),
        "Milliseconds" => Value::int64(number / 1_000_000),
        "Seconds" => parts(1_000_000_000),
        "Minutes" => parts(60_000_000_000),
        "Hours" => parts(3_600_000_000_000),
        "Abs" => Value::Int(IntType::Duration, number.saturating_abs()),
        "Truncate" => Value::Int(IntType::Duration, if unit <= 0 { number } else { number - number % unit }),
        _ => Value::Int(IntType::Duration, round_duration(number, unit)),
    })
}
