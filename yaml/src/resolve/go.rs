//! go-yaml v2's resolver: a table of words, then integers as Go source code writes them, then floats.
//!
//! Where it differs from the YAML 1.1 repository of types: `y` and `n` are booleans, base-60 numbers are text,
//! underscores are dropped wherever they stand, `0o17` is octal, a plain `<<` as a value is text.
//! Observed against `sigs.k8s.io/yaml` 1.6.0; the recorded answers are in `tests/data`.

use super::Scalar;

pub(super) fn resolve(text: &str) -> Scalar {
    let Some(&first) = text.as_bytes().first() else { return Scalar::Null };
    match first {
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~' => word(text),
        b'.' => dot(text),
        b'0'..=b'9' | b'+' | b'-' => number(text),
        _ => Scalar::String,
    }
}

/// Text that would be read as anything else, or that YAML 1.1 elsewhere reads as a base-60 number.
pub(super) fn must_quote(text: &str) -> bool {
    resolve(text) != Scalar::String || is_base_60(text)
}

fn word(text: &str) -> Scalar {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            Scalar::Bool(true)
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            Scalar::Bool(false)
        }
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        _ => Scalar::String,
    }
}

fn dot(text: &str) -> Scalar {
    match text {
        ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" => Scalar::Float(f64::INFINITY),
        _ if is_decimal_float(text.as_bytes()) => finite(text),
        // Here underscores must stand between digits; in numbers that begin with a digit or a sign they need not.
        _ if text.contains('_') && underscores_are_between_digits(text.as_bytes()) => {
            let plain = text.replace('_', "");
            if is_decimal_float(plain.as_bytes()) { finite(&plain) } else { Scalar::String }
        }
        _ => Scalar::String,
    }
}

fn number(text: &str) -> Scalar {
    match text {
        "+.inf" | "+.Inf" | "+.INF" => return Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Scalar::Float(f64::NEG_INFINITY),
        _ => {}
    }
    if is_timestamp(text) {
        return Scalar::Timestamp;
    }
    let without_underscores;
    let plain = if text.contains('_') {
        without_underscores = text.replace('_', "");
        &without_underscores
    } else {
        text
    };
    if let Some(integer) = go_integer(plain) {
        return integer;
    }
    if is_decimal_float(plain.as_bytes()) {
        return finite(plain);
    }
    // go-yaml parses what follows `0b` and `-0b` once more, so that `0b-1` and `-0b+1` come out as numbers.
    let binary = if let Some(digits) = plain.strip_prefix("0b") {
        signed(digits, 2)
    } else if let Some(digits) = plain.strip_prefix("-0b") {
        if digits.starts_with(['+', '-']) { None } else { signed_parts(true, digits, 2) }
    } else {
        None
    };
    binary.unwrap_or(Scalar::String)
}

/// An integer as Go's `strconv.ParseInt` and `ParseUint` read it in base 0: an optional sign, `0x`, `0o`, `0b` or a
/// plain leading `0` for octal.
fn go_integer(text: &str) -> Option<Scalar> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    // ParseUint takes no sign at all; it is only asked about what overflows ParseInt.
    let explicitly_positive = text.starts_with('+');
    let bytes = digits.as_bytes();
    let (digits, radix) = match bytes {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', b'o' | b'O', ..] => (&digits[2..], 8),
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    match signed_parts(negative, digits, radix)? {
        Scalar::Uint(_) if explicitly_positive => None,
        integer => Some(integer),
    }
}

fn signed(text: &str, radix: u32) -> Option<Scalar> {
    match text.as_bytes().first()? {
        b'-' => signed_parts(true, &text[1..], radix),
        b'+' => signed_parts(false, &text[1..], radix).filter(|integer| !matches!(integer, Scalar::Uint(_))),
        _ => signed_parts(false, text, radix),
    }
}

/// Digits with the sign already taken off; none for anything else, or if it does not fit 64 bits.
fn signed_parts(negative: bool, digits: &str, radix: u32) -> Option<Scalar> {
    if digits.is_empty() || !digits.bytes().all(|byte| char::from(byte).is_digit(radix)) {
        return None;
    }
    let magnitude = u64::from_str_radix(digits, radix).ok()?;
    if negative {
        0_i64.checked_sub_unsigned(magnitude).map(Scalar::Int)
    } else {
        Some(i64::try_from(magnitude).map_or(Scalar::Uint(magnitude), Scalar::Int))
    }
}

fn underscores_are_between_digits(bytes: &[u8]) -> bool {
    let digit_at =
        |index: Option<usize>| index.and_then(|index| bytes.get(index)).is_some_and(u8::is_ascii_digit);
    bytes
        .iter()
        .enumerate()
        .all(|(index, byte)| *byte != b'_' || (digit_at(index.checked_sub(1)) && digit_at(Some(index + 1))))
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`
fn is_decimal_float(bytes: &[u8]) -> bool {
    let rest = match bytes {
        [b'+' | b'-', rest @ ..] => rest,
        rest => rest,
    };
    let whole = count_digits(rest);
    let mut rest = &rest[whole..];
    if let [b'.', after @ ..] = rest {
        let fraction = count_digits(after);
        if whole == 0 && fraction == 0 {
            return false;
        }
        rest = &after[fraction..];
    } else if whole == 0 {
        return false;
    }
    match rest {
        [] => true,
        [b'e' | b'E', exponent @ ..] => {
            let digits = match exponent {
                [b'+' | b'-', digits @ ..] => digits,
                digits => digits,
            };
            !digits.is_empty() && count_digits(digits) == digits.len()
        }
        _ => false,
    }
}

fn count_digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// A float out of range is text, as Go's parser refuses it.
fn finite(text: &str) -> Scalar {
    match text.parse::<f64>() {
        Ok(float) if float.is_finite() => Scalar::Float(float),
        _ => Scalar::String,
    }
}

/// `[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?`
fn is_base_60(text: &str) -> bool {
    let bytes = text.as_bytes();
    let bytes = match bytes {
        [b'+' | b'-', rest @ ..] => rest,
        rest => rest,
    };
    if !bytes.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let head = bytes.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count();
    let mut rest = &bytes[head..];
    let mut parts = 0;
    while let [b':', after @ ..] = rest {
        let digits = count_digits(after);
        if digits == 0 || digits > 2 || (digits == 2 && after[0] > b'5') {
            return false;
        }
        rest = &after[digits..];
        parts += 1;
    }
    let tail_is_fraction = match rest {
        [] => true,
        [b'.', fraction @ ..] => fraction.iter().all(|byte| byte.is_ascii_digit() || *byte == b'_'),
        _ => false,
    };
    parts > 0 && tail_is_fraction
}

/// Whether go-yaml sees a date or a time: `2006-1-2`, alone, with `T15:4:5` and a zone, or with ` 15:4:5` and none.
pub(super) fn is_timestamp(text: &str) -> bool {
    let bytes = text.as_bytes();
    if count_digits(bytes) != 4 || bytes.get(4) != Some(&b'-') {
        return false;
    }
    parse_timestamp(&bytes[5..], &bytes[..4]).is_some()
}

fn parse_timestamp(bytes: &[u8], year: &[u8]) -> Option<()> {
    let year = year.iter().fold(0_u32, |year, digit| year * 10 + u32::from(digit - b'0'));
    let (month, bytes) = one_or_two_digits(bytes)?;
    let (day, bytes) = one_or_two_digits(bytes.strip_prefix(b"-")?)?;
    if !(1..=12).contains(&month) || day < 1 || day > days_in(month, year) {
        return None;
    }
    match bytes {
        [] => Some(()),
        [b'T' | b't', clock @ ..] => {
            let rest = parse_clock(clock)?;
            parse_zone(rest)
        }
        [b' ', ..] => {
            let spaces = bytes.iter().take_while(|byte| **byte == b' ').count();
            let rest = parse_clock(&bytes[spaces..])?;
            rest.is_empty().then_some(())
        }
        _ => None,
    }
}

fn parse_clock(bytes: &[u8]) -> Option<&[u8]> {
    let (hour, bytes) = one_or_two_digits(bytes)?;
    let (minute, bytes) = one_or_two_digits(bytes.strip_prefix(b":")?)?;
    let (second, bytes) = one_or_two_digits(bytes.strip_prefix(b":")?)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // A fraction may follow a point or a comma.
    match bytes {
        [b'.' | b',', digit, ..] if digit.is_ascii_digit() => Some(&bytes[1 + count_digits(&bytes[1..])..]),
        _ => Some(bytes),
    }
}

fn parse_zone(bytes: &[u8]) -> Option<()> {
    match bytes {
        b"Z" => Some(()),
        [b'+' | b'-', h1, h2, b':', m1, m2] => {
            let number = |a: &u8, b: &u8| {
                (a.is_ascii_digit() && b.is_ascii_digit())
                    .then(|| u32::from(a - b'0') * 10 + u32::from(b - b'0'))
            };
            (number(h1, h2)? <= 24 && number(m1, m2)? <= 60).then_some(())
        }
        _ => None,
    }
}

fn one_or_two_digits(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let digits = count_digits(bytes).min(2);
    if digits == 0 {
        return None;
    }
    Some((
        bytes[..digits].iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0')),
        &bytes[digits..],
    ))
}

pub(super) fn days_in(month: u32, year: u32) -> u32 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        _ => 31,
    }
}
