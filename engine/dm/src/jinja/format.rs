//! Python's `text % arguments`, on minijinja's formatting: what it lacks is `%r`, and counting the arguments.

use minijinja::formatting::{FormatStyle, format};
use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};

use super::containers;
use super::methods::too_long;

/// The widest field, in digits: seven of them make more than any template needs.
const WIDEST: usize = 6;

/// `text % argument`: a tuple is all the arguments, anything else the one.
pub(super) fn percent(text: &str, argument: &Value) -> Result<String, Error> {
    let mut arguments = match argument.is_tuple() {
        true => argument.try_iter()?.collect::<Vec<_>>(),
        false => vec![argument.clone()],
    };
    let Some(conversions) = conversions(text)? else {
        // Names in parentheses, as in `%(name)s`: the argument is a map.
        return format(FormatStyle::Printf, text, &arguments);
    };
    let takes = conversions.iter().map(|conversion| conversion.takes).sum::<usize>();
    if takes > arguments.len() {
        return Err(wrong("not enough arguments for format string"));
    }
    if takes < arguments.len() && (argument.is_tuple() || argument.kind() != ValueKind::Map) {
        return Err(wrong("not all arguments converted during string formatting"));
    }
    arguments.truncate(takes);
    let mut plain = text.as_bytes().to_vec();
    let mut next = 0;
    for Conversion { letter_at, takes } in conversions {
        next += takes;
        if plain[letter_at] == b'r' {
            plain[letter_at] = b's';
            if let Some(argument) = arguments.get_mut(next.saturating_sub(1)) {
                *argument = Value::from(containers::repr_of(argument));
            }
        }
    }
    let plain = String::from_utf8(plain).unwrap_or_else(|_| text.to_owned());
    format(FormatStyle::Printf, &plain, &arguments)
}

/// One `%…` of a format.
struct Conversion {
    /// Where its letter stands.
    letter_at: usize,
    /// How many arguments it takes: one more for each `*`, none for `%%`.
    takes: usize,
}

/// The conversions of a format; nothing if it has names in parentheses.
fn conversions(text: &str) -> Result<Option<Vec<Conversion>>, Error> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find('%').map(|start| at + start) {
        let mut end = start + 1;
        let (mut takes, mut digits) = (0, 0);
        while let Some(byte) = bytes.get(end) {
            match byte {
                b'(' => return widths_are_sane(text).map(|()| None),
                b'*' => takes += 1,
                b'0'..=b'9' => digits += 1,
                b'.' => digits = 0,
                b'-' | b'+' | b' ' | b'#' | b'l' | b'h' | b'L' => {}
                _ => break,
            }
            if digits > WIDEST {
                return Err(too_long());
            }
            end += 1;
        }
        match bytes.get(end) {
            None => return Err(wrong("incomplete format")),
            Some(b'%') => {}
            Some(letter) if letter.is_ascii() => found.push(Conversion { letter_at: end, takes: takes + 1 }),
            Some(_) => return Err(wrong("unsupported format character")),
        }
        at = end + 1;
    }
    Ok(Some(found))
}

fn widths_are_sane(text: &str) -> Result<(), Error> {
    let mut digits = 0;
    for byte in text.bytes() {
        digits = if byte.is_ascii_digit() { digits + 1 } else { 0 };
        if digits > WIDEST {
            return Err(too_long());
        }
    }
    Ok(())
}

fn wrong(text: &'static str) -> Error {
    Error::new(ErrorKind::InvalidOperation, text)
}
