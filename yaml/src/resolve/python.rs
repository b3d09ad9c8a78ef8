//! PyYAML's `Resolver` and the number and time parts of its `SafeConstructor`.
//!
//! The YAML 1.1 repository of types, nearly: `y` and `n` are text, floats need a point and a signed exponent,
//! `1:30` is the number 90, dates are dates. Observed against PyYAML 6.0.3.

use std::fmt::Write as _;

use super::{Scalar, go::days_in};

/// What PyYAML's implicit resolvers make of a plain scalar, by its form alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Int,
    Float,
    Timestamp,
    Merge,
    DefaultValue,
    String,
}

pub(super) fn resolve(text: &str) -> Scalar {
    match recognise(text) {
        Kind::Null => Scalar::Null,
        Kind::Bool(value) => Scalar::Bool(value),
        Kind::Int => parse_int(text).unwrap_or(Scalar::Malformed),
        Kind::Float => parse_float(text).map_or(Scalar::Malformed, Scalar::Float),
        Kind::Timestamp => parse_timestamp(text).map_or(Scalar::Malformed, |_| Scalar::Timestamp),
        Kind::Merge => Scalar::Merge,
        Kind::DefaultValue => Scalar::DefaultValue,
        Kind::String => Scalar::String,
    }
}

pub(super) fn recognise(text: &str) -> Kind {
    match text.as_bytes().first() {
        None => Kind::Null,
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => match text {
            "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Kind::Bool(true),
            "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Kind::Bool(false),
            "~" | "null" | "Null" | "NULL" => Kind::Null,
            _ => Kind::String,
        },
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => {
            if is_float(text) {
                Kind::Float
            } else if is_int(text) {
                Kind::Int
            } else if timestamp_parts(text, true).is_some() {
                Kind::Timestamp
            } else {
                Kind::String
            }
        }
        Some(b'<') if text == "<<" => Kind::Merge,
        Some(b'=') if text == "=" => Kind::DefaultValue,
        _ => Kind::String,
    }
}

fn unsigned(bytes: &[u8]) -> &[u8] {
    match bytes {
        [b'+' | b'-', rest @ ..] => rest,
        rest => rest,
    }
}

fn count(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|byte| wanted(**byte)).count()
}

fn digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

fn digit_or_underscore(byte: u8) -> bool {
    digit(byte) || byte == b'_'
}

fn is_int(text: &str) -> bool {
    let bytes = unsigned(text.as_bytes());
    let all = |bytes: &[u8], wanted: fn(u8) -> bool| !bytes.is_empty() && count(bytes, wanted) == bytes.len();
    match bytes {
        [b'0'] => true,
        [b'0', b'b', rest @ ..] => all(rest, |byte| matches!(byte, b'0' | b'1' | b'_')),
        [b'0', b'x', rest @ ..] => all(rest, |byte| byte.is_ascii_hexdigit() || byte == b'_'),
        [b'0', rest @ ..] => all(rest, |byte| matches!(byte, b'0'..=b'7' | b'_')),
        [b'1'..=b'9', ..] => {
            let head = count(bytes, digit_or_underscore);
            sexagesimal_tail(&bytes[head..]).is_some_and(<[u8]>::is_empty)
        }
        _ => false,
    }
}

/// What follows any number of `:[0-5]?[0-9]`; none when a colon is followed by something else.
fn sexagesimal_tail(mut bytes: &[u8]) -> Option<&[u8]> {
    while let [b':', after @ ..] = bytes {
        let digits = match after {
            [b'0'..=b'5', b'0'..=b'9', ..] => 2,
            [b'0'..=b'9', ..] => 1,
            _ => return None,
        };
        bytes = &after[digits..];
    }
    Some(bytes)
}

fn is_float(text: &str) -> bool {
    let signed = text.as_bytes();
    let bytes = unsigned(signed);
    match bytes {
        b".inf" | b".Inf" | b".INF" => true,
        b".nan" | b".NaN" | b".NAN" => bytes.len() == signed.len(),
        // A number that begins with its point takes no sign.
        [b'.', b'0'..=b'9', ..] if bytes.len() == signed.len() => {
            is_exponent_or_end(&bytes[1 + count(&bytes[1..], digit_or_underscore)..])
        }
        [b'0'..=b'9', ..] => {
            let head = count(bytes, digit_or_underscore);
            match &bytes[head..] {
                [b'.', fraction @ ..] => {
                    is_exponent_or_end(&fraction[count(fraction, digit_or_underscore)..])
                }
                rest @ [b':', ..] => match sexagesimal_tail(rest) {
                    Some([b'.', fraction @ ..]) => count(fraction, digit_or_underscore) == fraction.len(),
                    _ => false,
                },
                _ => false,
            }
        }
        _ => false,
    }
}

/// Nothing, or an exponent, whose sign YAML 1.1 requires.
fn is_exponent_or_end(bytes: &[u8]) -> bool {
    match bytes {
        [] => true,
        [b'e' | b'E', b'+' | b'-', digits @ ..] => !digits.is_empty() && count(digits, digit) == digits.len(),
        _ => false,
    }
}

/// An integer as PyYAML constructs it. Beyond 64 bits, where Python goes on, the nearest float.
pub(crate) fn parse_int(text: &str) -> Option<Scalar> {
    let plain = text.replace('_', "");
    let (negative, digits) = match plain.as_bytes().first()? {
        b'-' => (true, &plain[1..]),
        b'+' => (false, &plain[1..]),
        _ => (false, plain.as_str()),
    };
    let (digits, radix) = match digits.as_bytes() {
        [b'0'] => (digits, 10),
        [b'0', b'b', ..] => (&digits[2..], 2),
        [b'0', b'x', ..] => (&digits[2..], 16),
        // A tag brings texts here that are no integers by their form; Python takes `0o` for octal too.
        [b'0', b'o' | b'O', ..] => (&digits[2..], 8),
        [b'0', ..] => (digits, 8),
        _ => (digits, 10),
    };
    if radix == 10 && digits.contains(':') {
        let mut total = Some(0_i128);
        let mut float = 0.0_f64;
        for part in digits.split(':') {
            let part = checked_digits(part, 10)?.parse::<i128>();
            let part_or_none = part.as_ref().ok().copied();
            total =
                total.zip(part_or_none).and_then(|(total, part)| total.checked_mul(60)?.checked_add(part));
            float = float * 60.0 + part_or_none.map_or(f64::INFINITY, |part| part as f64);
        }
        return Some(integer(total, negative, float));
    }
    let digits = checked_digits(digits, radix)?;
    let magnitude = i128::from_str_radix(digits, radix).ok();
    let float = digits.chars().fold(0.0_f64, |float, digit| {
        float * f64::from(radix) + f64::from(digit.to_digit(radix).unwrap_or_default())
    });
    // The decimal case can be rounded correctly by the standard library; the others by their own digits.
    let float = if radix == 10 { digits.parse().unwrap_or(float) } else { float };
    Some(integer(magnitude, negative, float))
}

fn checked_digits(digits: &str, radix: u32) -> Option<&str> {
    (!digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix))).then_some(digits)
}

fn integer(magnitude: Option<i128>, negative: bool, nearest: f64) -> Scalar {
    let signed = magnitude.map(|magnitude| if negative { -magnitude } else { magnitude });
    if let Some(int) = signed.and_then(|signed| i64::try_from(signed).ok()) {
        return Scalar::Int(int);
    }
    if let Some(uint) = signed.and_then(|signed| u64::try_from(signed).ok()) {
        return Scalar::Uint(uint);
    }
    Scalar::Float(if negative { -nearest } else { nearest })
}

/// A float as PyYAML constructs it; none where Python's `float` would refuse.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    let plain = text.replace('_', "").to_ascii_lowercase();
    let (sign, digits) = match plain.as_bytes().first()? {
        b'-' => (-1.0, &plain[1..]),
        b'+' => (1.0, &plain[1..]),
        _ => (1.0, plain.as_str()),
    };
    match digits {
        ".inf" => Some(sign * f64::INFINITY),
        ".nan" => Some(f64::NAN),
        _ if digits.contains(':') => {
            // PyYAML sums from the smallest place up; the order shows in the last bit.
            let mut total = 0.0;
            let mut base = 1.0;
            for part in digits.rsplit(':') {
                total += python_float_literal(part)? * base;
                base *= 60.0;
            }
            Some(sign * total)
        }
        _ => Some(sign * python_float_literal(digits)?),
    }
}

fn python_float_literal(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let named = ["inf", "infinity", "nan"].contains(&unsigned);
    let begins_well = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    (named || begins_well).then(|| text.parse().ok()).flatten()
}

/// The ISO text of a YAML 1.1 date or time, as Python's `isoformat` prints it; none if there is no such time.
pub(crate) fn parse_timestamp(text: &str) -> Option<String> {
    let parts = timestamp_parts(text, false)?;
    let (year, month, day) = parts.date;
    if year < 1 || !(1..=12).contains(&month) || day < 1 || day > days_in(month, year) {
        return None;
    }
    let mut iso = format!("{year:04}-{month:02}-{day:02}");
    let Some(clock) = parts.clock else { return Some(iso) };
    if clock.hour > 23 || clock.minute > 59 || clock.second > 59 {
        return None;
    }
    let written = write!(iso, "T{:02}:{:02}:{:02}", clock.hour, clock.minute, clock.second);
    written.expect("a String takes any text");
    if clock.microseconds != 0 {
        write!(iso, ".{:06}", clock.microseconds).expect("a String takes any text");
    }
    if let Some((negative, minutes)) = clock.zone {
        if minutes >= 24 * 60 {
            return None;
        }
        let sign = if negative && minutes != 0 { '-' } else { '+' };
        write!(iso, "{sign}{:02}:{:02}", minutes / 60, minutes % 60).expect("a String takes any text");
    }
    Some(iso)
}

struct TimestampParts {
    date: (u32, u32, u32),
    clock: Option<Clock>,
}

struct Clock {
    hour: u32,
    minute: u32,
    second: u32,
    microseconds: u32,
    /// Whether west of Greenwich, and how many minutes.
    zone: Option<(bool, u32)>,
}

/// The parts of a timestamp. The resolver wants two digits for month and day of a bare date (`strict`); the
/// constructor, reached by a tag, takes one.
fn timestamp_parts(text: &str, strict: bool) -> Option<TimestampParts> {
    let bytes = text.as_bytes();
    let (year, rest) = digits(bytes, 4, 4)?;
    let (month, rest) = digits(rest.strip_prefix(b"-")?, 1, 2)?;
    let (day, rest) = digits(rest.strip_prefix(b"-")?, 1, 2)?;
    let date = (year, month, day);
    if rest.is_empty() {
        return (!strict || bytes.len() == 10).then_some(TimestampParts { date, clock: None });
    }
    let rest = match rest {
        [b'T' | b't', rest @ ..] => rest,
        _ => {
            let blanks = count(rest, |byte| byte == b' ' || byte == b'\t');
            if blanks == 0 {
                return None;
            }
            &rest[blanks..]
        }
    };
    let (hour, rest) = digits(rest, 1, 2)?;
    let (minute, rest) = digits(rest.strip_prefix(b":")?, 2, 2)?;
    let (second, mut rest) = digits(rest.strip_prefix(b":")?, 2, 2)?;
    let mut microseconds = 0;
    if let [b'.', after @ ..] = rest {
        let places = count(after, digit);
        let shown = after[..places].iter().map(|digit| u32::from(digit - b'0')).chain(std::iter::repeat(0));
        microseconds = shown.take(6).fold(0, |number, digit| number * 10 + digit);
        rest = &after[places..];
    }
    let zone = parse_zone(rest)?;
    Some(TimestampParts { date, clock: Some(Clock { hour, minute, second, microseconds, zone }) })
}

fn parse_zone(bytes: &[u8]) -> Option<Option<(bool, u32)>> {
    if bytes.is_empty() {
        return Some(None);
    }
    let bytes = &bytes[count(bytes, |byte| byte == b' ' || byte == b'\t')..];
    match bytes {
        b"Z" => Some(Some((false, 0))),
        [sign @ (b'+' | b'-'), rest @ ..] => {
            let (hours, rest) = digits(rest, 1, 2)?;
            let minutes = match rest {
                [] => 0,
                [b':', rest @ ..] => {
                    let (minutes, rest) = digits(rest, 2, 2)?;
                    if !rest.is_empty() {
                        return None;
                    }
                    minutes
                }
                _ => return None,
            };
            Some(Some((*sign == b'-', hours * 60 + minutes)))
        }
        _ => None,
    }
}

/// Between `least` and `most` digits, as many as there are.
fn digits(bytes: &[u8], least: usize, most: usize) -> Option<(u32, &[u8])> {
    let found = count(bytes, digit).min(most);
    if found < least {
        return None;
    }
    Some((
        bytes[..found].iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')),
        &bytes[found..],
    ))
}
