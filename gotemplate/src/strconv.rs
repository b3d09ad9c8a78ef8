//! Go's `strconv`: quoting, and numbers to and from text, byte for byte.

use crate::unicode;

/// `%q` of a text.
pub(crate) fn quote(text: &[u8]) -> String {
    quote_with(text, '"', false)
}

/// `%q` with everything outside ASCII escaped (`%+q`).
pub(crate) fn quote_ascii(text: &[u8]) -> String {
    quote_with(text, '"', true)
}

/// `%q` of a character.
pub(crate) fn quote_rune(c: char, ascii: bool) -> String {
    let mut buffer = [0; 4];
    quote_with(c.encode_utf8(&mut buffer).as_bytes(), '\'', ascii)
}

fn quote_with(text: &[u8], mark: char, ascii: bool) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push(mark);
    let mut rest = text;
    while let Some((c, size)) = unicode::decode(rest) {
        if c == '\u{FFFD}' && size == 1 {
            out.push_str(&format!("\\x{:02x}", rest[0]));
        } else {
            quote_char(&mut out, c, mark, ascii);
        }
        rest = &rest[size..];
    }
    out.push(mark);
    out
}

fn quote_char(out: &mut String, c: char, mark: char, ascii: bool) {
    if c == mark || c == '\\' {
        out.push('\\');
        out.push(c);
        return;
    }
    if (!ascii || c.is_ascii()) && unicode::is_print(c) {
        out.push(c);
        return;
    }
    match c {
        '\x07' => out.push_str("\\a"),
        '\x08' => out.push_str("\\b"),
        '\x0c' => out.push_str("\\f"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        '\x0b' => out.push_str("\\v"),
        c if c < ' ' || c == '\x7f' => out.push_str(&format!("\\x{:02x}", c as u32)),
        c if (c as u32) < 0x10000 => out.push_str(&format!("\\u{:04x}", c as u32)),
        c => out.push_str(&format!("\\U{:08x}", c as u32)),
    }
}

/// `%#U`: the code point, and the character itself where it can be shown.
pub(crate) fn unicode_point(c: char) -> String {
    let mut out = format!("U+{:04X}", c as u32);
    if unicode::is_print(c) {
        out.push_str(&format!(" '{c}'"));
    }
    out
}

/// One character of a quoted literal: the value, whether it is a single raw byte, and what is left.
fn unquote_char(text: &[u8], mark: u8) -> Option<(u32, bool, &[u8])> {
    let (c, size) = unicode::decode(text)?;
    if c as u32 == u32::from(mark) && (mark == b'\'' || mark == b'"') {
        return None;
    }
    if c != '\\' {
        if c == '\u{FFFD}' && size == 1 {
            return Some((u32::from(text[0]), true, &text[1..]));
        }
        return Some((c as u32, false, &text[size..]));
    }
    let kind = *text.get(1)?;
    let rest = &text[2..];
    let plain = |value: u8| Some((u32::from(value), false, rest));
    match kind {
        b'a' => plain(7),
        b'b' => plain(8),
        b'f' => plain(12),
        b'n' => plain(b'\n'),
        b'r' => plain(b'\r'),
        b't' => plain(b'\t'),
        b'v' => plain(11),
        b'\\' => plain(b'\\'),
        b'\'' | b'"' if kind == mark => plain(kind),
        b'x' | b'u' | b'U' => {
            let width = match kind {
                b'x' => 2,
                b'u' => 4,
                _ => 8,
            };
            let digits = std::str::from_utf8(rest.get(..width)?).ok()?;
            if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return None;
            }
            let value = u32::from_str_radix(digits, 16).ok()?;
            if kind == b'x' {
                return Some((value, true, &rest[width..]));
            }
            char::from_u32(value)?;
            Some((value, false, &rest[width..]))
        }
        b'0'..=b'7' => {
            let digits = std::str::from_utf8(text.get(1..4)?).ok()?;
            if !digits.bytes().all(|byte| matches!(byte, b'0'..=b'7')) {
                return None;
            }
            let value = u32::from_str_radix(digits, 8).ok().filter(|value| *value <= 255)?;
            Some((value, true, &text[4..]))
        }
        _ => None,
    }
}

/// The text of a quoted or raw literal, or `None` for `invalid syntax`.
pub(crate) fn unquote(literal: &str) -> Option<Vec<u8>> {
    let bytes = literal.as_bytes();
    let inner = bytes.get(1..bytes.len().checked_sub(1)?)?;
    if bytes[0] == b'`' {
        return Some(inner.iter().copied().filter(|byte| *byte != b'\r').collect());
    }
    if !inner.contains(&b'\\') && !inner.contains(&b'\n') {
        return Some(inner.to_vec());
    }
    let mut out = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while !rest.is_empty() {
        if rest[0] == b'\n' {
            return None;
        }
        let (value, raw, tail) = unquote_char(rest, b'"')?;
        rest = tail;
        if raw || value < 0x80 {
            out.push(u8::try_from(value).ok()?);
        } else {
            unicode::push(&mut out, char::from_u32(value)?);
        }
    }
    Some(out)
}

/// The value of a character constant `'x'`: `Err(None)` for `invalid syntax`, `Err(Some)` for a text after the first
/// character.
pub(crate) fn unquote_rune(literal: &str) -> Result<i64, Option<String>> {
    let (value, _, tail) = unquote_char(&literal.as_bytes()[1..], b'\'').ok_or(None)?;
    if tail != b"'" {
        return Err(Some(format!("malformed character constant: {literal}")));
    }
    Ok(i64::from(value))
}

/// Why a number could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NumberError {
    Syntax,
    Range,
}

impl NumberError {
    /// Go's text, as `strconv.ParseInt: parsing "x": invalid syntax`.
    pub(crate) fn text(self, function: &str, text: &[u8]) -> String {
        let why = match self {
            Self::Syntax => "invalid syntax",
            Self::Range => "value out of range",
        };
        format!("strconv.{function}: parsing {}: {why}", quote(text))
    }
}

/// Whether underscores stand only between digits or after a base prefix.
fn underscores_ok(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut at = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    // What was seen last: `^` for nothing, `0` for a digit or prefix, `_`, or `!` for anything else.
    let mut last = b'^';
    let mut hex = false;
    if bytes.len() >= at + 2 && bytes[at] == b'0' && matches!(bytes[at + 1] | 0x20, b'b' | b'o' | b'x') {
        hex = bytes[at + 1] | 0x20 == b'x';
        at += 2;
        last = b'0';
    }
    for byte in &bytes[at..] {
        if byte.is_ascii_digit() || (hex && byte.is_ascii_hexdigit()) {
            last = b'0';
        } else if *byte == b'_' {
            if last != b'0' {
                return false;
            }
            last = b'_';
        } else {
            if last == b'_' {
                return false;
            }
            last = b'!';
        }
    }
    last != b'_'
}

/// `strconv.ParseUint(text, base, 64)`; base 0 reads the prefixes.
pub(crate) fn parse_uint(text: &str, base: u32) -> Result<u64, NumberError> {
    let mut digits = text;
    let mut radix = base;
    let mut underscores = false;
    if text.is_empty() {
        return Err(NumberError::Syntax);
    }
    if base == 0 {
        radix = 10;
        let bytes = text.as_bytes();
        if bytes[0] == b'0' {
            match bytes.get(1).map(|byte| byte | 0x20) {
                Some(b'b') if bytes.len() >= 3 => (radix, digits) = (2, &text[2..]),
                Some(b'o') if bytes.len() >= 3 => (radix, digits) = (8, &text[2..]),
                Some(b'x') if bytes.len() >= 3 => (radix, digits) = (16, &text[2..]),
                _ => (radix, digits) = (8, &text[1..]),
            }
        }
    }
    let mut value: u64 = 0;
    let mut overflow = false;
    for c in digits.chars() {
        if c == '_' && base == 0 {
            underscores = true;
            continue;
        }
        let digit = c.to_digit(radix).ok_or(NumberError::Syntax)?;
        match value.checked_mul(u64::from(radix)).and_then(|value| value.checked_add(u64::from(digit))) {
            Some(next) => value = next,
            None => overflow = true,
        }
    }
    if underscores && !underscores_ok(text) {
        return Err(NumberError::Syntax);
    }
    if overflow { Err(NumberError::Range) } else { Ok(value) }
}

/// `strconv.ParseInt(text, base, 64)`.
pub(crate) fn parse_int(text: &str, base: u32) -> Result<i64, NumberError> {
    let (negative, digits) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    let value = parse_uint(digits, base)?;
    if negative {
        if value > 1 << 63 {
            return Err(NumberError::Range);
        }
        return Ok((value as i64).wrapping_neg());
    }
    i64::try_from(value).map_err(|_| NumberError::Range)
}

/// `strconv.ParseFloat(text, 64)`.
pub(crate) fn parse_float(text: &str) -> Result<f64, NumberError> {
    let unsigned = text.trim_start_matches(['+', '-']);
    if text.len() - unsigned.len() > 1 {
        return Err(NumberError::Syntax);
    }
    let negative = text.starts_with('-');
    match unsigned.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => return Ok(if negative { f64::NEG_INFINITY } else { f64::INFINITY }),
        "nan" if text.len() == 3 => return Ok(f64::NAN),
        _ => {}
    }
    if unsigned.contains('_') && !underscores_ok(text) {
        return Err(NumberError::Syntax);
    }
    let plain: String = unsigned.chars().filter(|c| *c != '_').collect();
    let hex = plain.starts_with("0x") || plain.starts_with("0X");
    let value = if hex {
        parse_hex_float(&plain[2..])?
    } else {
        let body = plain.as_bytes();
        if !body.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
        {
            return Err(NumberError::Syntax);
        }
        let value: f64 = plain.parse().map_err(|_| NumberError::Syntax)?;
        if value.is_infinite() {
            return Err(NumberError::Range);
        }
        value
    };
    Ok(if negative { -value } else { value })
}

fn parse_hex_float(text: &str) -> Result<f64, NumberError> {
    let (mantissa, exponent) = text.split_once(['p', 'P']).ok_or(NumberError::Syntax)?;
    let exponent: i32 = exponent.parse().map_err(|_| NumberError::Syntax)?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return Err(NumberError::Syntax);
    }
    let mut value: f64 = 0.0;
    for c in whole.chars() {
        value = value * 16.0 + f64::from(c.to_digit(16).ok_or(NumberError::Syntax)?);
    }
    let mut scale = 1.0 / 16.0;
    for c in fraction.chars() {
        value += f64::from(c.to_digit(16).ok_or(NumberError::Syntax)?) * scale;
        scale /= 16.0;
    }
    let value = value * 2f64.powi(exponent.clamp(-2000, 2000));
    if value.is_infinite() { Err(NumberError::Range) } else { Ok(value) }
}

/// Decimal digits and the position of the point: 0.d1d2d3… × 10^point.
struct Digits {
    digits: Vec<u8>,
    point: i32,
}

/// No float has more digits than this after its point; beyond it there are only zeros (and Rust's formatting stops at
/// 65,535).
const EXACT: usize = 1100;

fn digits(value: f64, precision: Option<usize>) -> Digits {
    if value == 0.0 {
        return Digits { digits: Vec::new(), point: 0 };
    }
    // Rust's `{:e}` gives the shortest digits that read back, and rounds exactly when a precision is given.
    let text = match precision {
        None => format!("{value:e}"),
        Some(precision) => {
            let precision = precision.min(EXACT);
            format!("{value:.precision$e}")
        }
    };
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    Digits { digits, point: exponent.parse::<i32>().unwrap_or(0) + 1 }
}

/// `strconv.FormatFloat(value, verb, precision, 64)`; `None` is the shortest text that reads back.
pub(crate) fn format_float(value: f64, verb: u8, precision: Option<usize>) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf".to_owned() } else { "-Inf".to_owned() };
    }
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let magnitude = value.abs();
    let body = match verb {
        b'e' | b'E' => exponent_form(&digits(magnitude, precision), precision, verb),
        b'f' | b'F' => match precision {
            Some(precision) => {
                let exact = precision.min(EXACT);
                format!("{magnitude:.exact$}") + &"0".repeat(precision - exact)
            }
            None => plain_form(&digits(magnitude, None), None),
        },
        b'b' => {
            let bits = magnitude.to_bits();
            let exponent = (bits >> 52) as i64;
            let fraction = bits & ((1 << 52) - 1);
            let (mantissa, exponent) =
                if exponent == 0 { (fraction, 1) } else { (fraction | 1 << 52, exponent) };
            format!("{mantissa}p{:+}", exponent - 1075)
        }
        b'x' | b'X' => hex_form(magnitude, precision, verb),
        _ => {
            let shortest = precision.is_none();
            let wanted = match precision {
                Some(0) => Some(1),
                other => other,
            };
            let digits = digits(magnitude, wanted.map(|wanted| wanted - 1));
            let count = i32::try_from(digits.digits.len()).unwrap_or(i32::MAX);
            let mut limit = i32::try_from(wanted.unwrap_or(6)).unwrap_or(i32::MAX);
            if limit > count && count >= digits.point {
                limit = count;
            }
            if shortest {
                limit = 6;
            }
            let exponent = digits.point - 1;
            if exponent < -4 || exponent >= limit {
                let letter = if verb == b'G' { b'E' } else { b'e' };
                let shown = digits.digits.len().saturating_sub(1);
                exponent_form(&digits, Some(shown), letter)
            } else {
                plain_form(&digits, None)
            }
        }
    };
    format!("{sign}{body}")
}

fn exponent_form(digits: &Digits, precision: Option<usize>, letter: u8) -> String {
    let mut out = String::new();
    let digit = |at: usize| char::from(digits.digits.get(at).copied().unwrap_or(b'0'));
    out.push(digit(0));
    let precision = precision.unwrap_or(digits.digits.len().saturating_sub(1));
    if precision > 0 {
        out.push('.');
        (1..=precision).for_each(|at| out.push(digit(at)));
    }
    let exponent = if digits.digits.is_empty() { 0 } else { digits.point - 1 };
    out.push(char::from(letter));
    out.push(if exponent < 0 { '-' } else { '+' });
    out.push_str(&format!("{:02}", exponent.abs()));
    out
}

fn plain_form(digits: &Digits, precision: Option<usize>) -> String {
    let mut out = String::new();
    let digit = |at: i32| {
        let digit = usize::try_from(at).ok().and_then(|at| digits.digits.get(at)).copied();
        char::from(digit.unwrap_or(b'0'))
    };
    if digits.point > 0 {
        (0..digits.point).for_each(|at| out.push(digit(at)));
    } else {
        out.push('0');
    }
    let count = i32::try_from(digits.digits.len()).unwrap_or(i32::MAX);
    let precision = precision.unwrap_or(usize::try_from((count - digits.point).max(0)).unwrap_or(0));
    if precision > 0 {
        out.push('.');
        let precision = i32::try_from(precision).unwrap_or(i32::MAX);
        (0..precision).for_each(|at| out.push(digit(digits.point + at)));
    }
    out
}

fn hex_form(magnitude: f64, precision: Option<usize>, letter: u8) -> String {
    let bits = magnitude.to_bits();
    let mut exponent = (bits >> 52) as i64 - 1023;
    let mut mantissa = bits & ((1 << 52) - 1);
    if magnitude == 0.0 {
        exponent = 0;
    } else if exponent == -1023 {
        // A subnormal: shift its first bit up to the front.
        exponent = -1022;
        while mantissa & (1 << 52) == 0 {
            mantissa <<= 1;
            exponent -= 1;
        }
    } else {
        mantissa |= 1 << 52;
    }
    // The leading bit stands alone; 13 hexadecimal digits follow it.
    if let Some(precision) = precision.filter(|precision| *precision < 13) {
        let shift = 52 - 4 * precision as u32;
        let half = 1u64 << (shift - 1);
        let low = mantissa & ((1 << shift) - 1);
        mantissa >>= shift;
        if low > half || (low == half && mantissa & 1 == 1) {
            mantissa += 1;
        }
        mantissa <<= shift;
        if mantissa >> 53 != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let lead = mantissa >> 52;
    let fraction = format!("{:013x}", mantissa & ((1 << 52) - 1));
    let fraction = match precision {
        Some(precision) if precision <= 13 => fraction[..precision].to_owned(),
        Some(precision) => format!("{fraction}{}", "0".repeat(precision - 13)),
        None => fraction.trim_end_matches('0').to_owned(),
    };
    let point = if fraction.is_empty() { "" } else { "." };
    let sign = if exponent < 0 { '-' } else { '+' };
    let text = format!("0x{lead}{point}{fraction}p{sign}{:02}", exponent.abs());
    if letter == b'X' { text.to_uppercase() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_print_as_in_go() {
        for (value, verb, precision, want) in [
            (1_000_000.0, b'g', None, "1e+06"),
            (100_000.0, b'g', None, "100000"),
            (123_456_789.0, b'g', None, "1.23456789e+08"),
            (0.0001, b'g', None, "0.0001"),
            (0.00001, b'g', None, "1e-05"),
            (3.0, b'f', Some(2), "3.00"),
            (1234.5678, b'e', Some(3), "1.235e+03"),
            (1e21, b'f', None, "1000000000000000000000"),
            (0.0, b'e', Some(2), "0.00e+00"),
            (100.0, b'g', Some(2), "1e+02"),
            (100.0, b'g', Some(5), "100"),
            (1.0, b'x', None, "0x1p+00"),
            (0.5, b'g', Some(70_000), "0.5"),
            (-0.75, b'x', Some(3), "-0x1.800p-01"),
        ] {
            assert_eq!(format_float(value, verb, precision), want, "{value} {}", char::from(verb));
        }
    }

    #[test]
    fn numbers_are_read_as_in_go() {
        assert_eq!(parse_int("0x_1F", 0), Ok(31));
        assert_eq!(parse_int("017", 0), Ok(15));
        assert_eq!(parse_int("1__0", 0), Err(NumberError::Syntax));
        assert_eq!(parse_int("-9223372036854775808", 10), Ok(i64::MIN));
        assert_eq!(parse_int("9223372036854775808", 10), Err(NumberError::Range));
        assert_eq!(parse_float("0x1p-2"), Ok(0.25));
        assert_eq!(parse_float("1e400"), Err(NumberError::Range));
        assert_eq!(parse_float("x"), Err(NumberError::Syntax));
    }

    #[test]
    fn quoting_round_trips() {
        assert_eq!(quote(b"a\"b\n\xff\xe2\x82\xac"), r#""a\"b\n\xff€""#);
        assert_eq!(unquote(r#""a\"b\n\xff\u20ac""#).as_deref(), Some(&b"a\"b\n\xff\xe2\x82\xac"[..]));
        assert_eq!(unquote(r#""\q""#), None);
    }
}
