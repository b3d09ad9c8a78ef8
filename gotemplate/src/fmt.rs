//! Go's `fmt`: `print`, `println`, `printf` with every verb, flag, width, precision and complaint.
//!
//! Containers are walked with a stack of our own; a value that contains itself is found and refused.

use crate::strconv;
use crate::unicode;
use crate::value::{Entry, IntType, Value};

/// Why a value could not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrintError {
    /// It contains itself.
    Cyclic,
    /// The text would be longer than allowed.
    TooLong,
}

#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the flags of a verb are independent of each other")]
struct Flags {
    width: Option<usize>,
    precision: Option<usize>,
    sharp: bool,
    zero: bool,
    plus: bool,
    minus: bool,
    space: bool,
    sharp_v: bool,
}

/// Appends what `{{value}}` prints.
pub(crate) fn print_value(out: &mut Vec<u8>, value: Value<'_>, limit: usize) -> Result<(), PrintError> {
    match value {
        Value::String(text) => {
            if text.len() > limit {
                return Err(PrintError::TooLong);
            }
            out.extend_from_slice(text);
            Ok(())
        }
        Value::Int(IntType::Int | IntType::Int64, number) => {
            out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            Ok(())
        }
        Value::Missing | Value::Nil => {
            out.extend_from_slice(b"<no value>");
            Ok(())
        }
        Value::Bool(value) => {
            out.extend_from_slice(if value { b"true" } else { b"false" });
            Ok(())
        }
        value => format_value(out, value, 'v', limit),
    }
}

/// Appends `%v` of a value (null prints as `<nil>`).
pub(crate) fn format_value(
    out: &mut Vec<u8>,
    value: Value<'_>,
    verb: char,
    limit: usize,
) -> Result<(), PrintError> {
    let end = out.len().saturating_add(limit);
    Printer { out, flags: Flags::default(), end }.value(value, verb)
}

/// `fmt.Sprint`: a space between operands when neither is text.
pub(crate) fn sprint(values: &[Value<'_>], limit: usize) -> Result<Vec<u8>, PrintError> {
    let mut out = Vec::new();
    let mut previous_text = false;
    for (index, value) in values.iter().enumerate() {
        let text = matches!(value, Value::String(_));
        if index > 0 && !text && !previous_text {
            out.push(b' ');
        }
        let left = limit.saturating_sub(out.len());
        format_value(&mut out, *value, 'v', left)?;
        previous_text = text;
    }
    Ok(out)
}

/// `fmt.Sprintln`: a space between all operands, a newline after the last.
pub(crate) fn sprintln(values: &[Value<'_>], limit: usize) -> Result<Vec<u8>, PrintError> {
    let mut out = Vec::new();
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            out.push(b' ');
        }
        let left = limit.saturating_sub(out.len());
        format_value(&mut out, *value, 'v', left)?;
    }
    out.push(b'\n');
    Ok(out)
}

/// One container that is being printed.
enum Open<'a> {
    List(&'a [Value<'a>], usize),
    Map { entries: Vec<Entry<'a>>, at: usize, identity: *const () },
}

/// Above this depth a map is looked for among those around it.
const SUSPICIOUS_DEPTH: usize = 32;

struct Printer<'o> {
    out: &'o mut Vec<u8>,
    flags: Flags,
    end: usize,
}

impl Printer<'_> {
    fn value<'a>(&mut self, value: Value<'a>, verb: char) -> Result<(), PrintError> {
        let mut open: Vec<Open<'a>> = Vec::new();
        self.enter(value, verb, 0, &mut open)?;
        while let Some(top) = open.last_mut() {
            if self.out.len() > self.end {
                return Err(PrintError::TooLong);
            }
            let separator: &[u8] = if self.flags.sharp_v { b", " } else { b" " };
            let next = match top {
                Open::List(items, at) => {
                    let Some(item) = items.get(*at) else {
                        self.out.push(if self.flags.sharp_v { b'}' } else { b']' });
                        open.pop();
                        continue;
                    };
                    if *at > 0 {
                        self.out.extend_from_slice(separator);
                    }
                    *at += 1;
                    *item
                }
                Open::Map { entries, at, .. } => {
                    let Some((key, item)) = entries.get(*at).copied() else {
                        self.out.push(if self.flags.sharp_v { b'}' } else { b']' });
                        open.pop();
                        continue;
                    };
                    if *at > 0 {
                        self.out.extend_from_slice(separator);
                    }
                    *at += 1;
                    self.string(key, verb)?;
                    self.out.push(b':');
                    item
                }
            };
            let depth = open.len();
            self.enter(next, verb, depth, &mut open)?;
        }
        if self.out.len() > self.end { Err(PrintError::TooLong) } else { Ok(()) }
    }

    /// Writes a simple value, or opens a container.
    fn enter<'a>(
        &mut self,
        value: Value<'a>,
        verb: char,
        depth: usize,
        open: &mut Vec<Open<'a>>,
    ) -> Result<(), PrintError> {
        match value {
            Value::Missing | Value::Nil => self.nil(verb, depth),
            Value::Bool(flag) => match verb {
                't' | 'v' => {
                    self.pad(if flag { b"true" } else { b"false" });
                    Ok(())
                }
                _ => self.bad_verb(value, verb),
            },
            Value::Int(kind, number) => {
                if matches!(verb, 'v' | 's' | 'x' | 'X' | 'q')
                    && !self.flags.sharp_v
                    && let Some(text) = crate::time::int_text(kind, number)
                {
                    return self.string(text.as_bytes(), verb);
                }
                self.integer(number.unsigned_abs(), number < 0, true, value, verb)
            }
            Value::Uint(_, number) => self.integer(number, false, false, value, verb),
            Value::Float(number) => match verb {
                'v' => {
                    self.float(number, b'g', None);
                    Ok(())
                }
                'b' | 'g' | 'G' | 'x' | 'X' => {
                    self.float(number, verb as u8, None);
                    Ok(())
                }
                'f' | 'e' | 'E' => {
                    self.float(number, verb as u8, Some(6));
                    Ok(())
                }
                'F' => {
                    self.float(number, b'f', Some(6));
                    Ok(())
                }
                _ => self.bad_verb(value, verb),
            },
            Value::Complex(&(re, im)) => {
                if !matches!(verb, 'v' | 'b' | 'g' | 'G' | 'x' | 'X' | 'f' | 'F' | 'e' | 'E') {
                    return self.bad_verb(value, verb);
                }
                self.out.push(b'(');
                let saved = self.flags;
                let precision = matches!(verb, 'f' | 'F' | 'e' | 'E').then_some(6);
                let letter = match verb {
                    'v' => b'g',
                    'F' => b'f',
                    other => other as u8,
                };
                self.float(re, letter, precision);
                self.flags.plus = true;
                self.float(im, letter, precision);
                self.out.extend_from_slice(b"i)");
                self.flags = saved;
                Ok(())
            }
            Value::String(text) => self.string(text, verb),
            Value::Bytes(bytes) => self.bytes(bytes, verb),
            Value::List(kind, items) => {
                if self.flags.sharp_v {
                    self.out.extend_from_slice(kind.name().as_bytes());
                    if kind.nil {
                        self.out.extend_from_slice(b"(nil)");
                        return Ok(());
                    }
                }
                if verb == 'p' {
                    return self.bad_verb(value, verb);
                }
                self.out.push(if self.flags.sharp_v { b'{' } else { b'[' });
                open.push(Open::List(items, 0));
                Ok(())
            }
            Value::Map(map) => {
                if verb == 'p' {
                    return self.bad_verb(value, verb);
                }
                let identity = std::ptr::from_ref(map).cast::<()>();
                if depth > SUSPICIOUS_DEPTH
                    && open
                        .iter()
                        .any(|outer| matches!(outer, Open::Map { identity: other, .. } if *other == identity))
                {
                    return Err(PrintError::Cyclic);
                }
                if self.flags.sharp_v {
                    self.out.extend_from_slice(map.kind().name().as_bytes());
                    if map.is_nil() {
                        self.out.extend_from_slice(b"(nil)");
                        return Ok(());
                    }
                    self.out.push(b'{');
                } else {
                    self.out.extend_from_slice(b"map[");
                }
                let mut entries = Vec::with_capacity(map.len());
                map.each(|key, value| entries.push((key, value)));
                open.push(Open::Map { entries, at: 0, identity });
                Ok(())
            }
            Value::Object(object) => match verb {
                'v' | 's' | 'x' | 'X' | 'q' => {
                    self.string(object.text().as_bytes(), if self.flags.sharp_v { 's' } else { verb })
                }
                _ => self.bad_verb(value, verb),
            },
        }
    }

    fn nil(&mut self, verb: char, depth: usize) -> Result<(), PrintError> {
        if depth > 0 && self.flags.sharp_v {
            self.out.extend_from_slice(b"interface {}(nil)");
            return Ok(());
        }
        if depth > 0 {
            self.out.extend_from_slice(b"<nil>");
            return Ok(());
        }
        if matches!(verb, 'T' | 'v') {
            self.pad(b"<nil>");
            return Ok(());
        }
        self.bad_verb(Value::Nil, verb)
    }

    fn bad_verb(&mut self, value: Value<'_>, verb: char) -> Result<(), PrintError> {
        self.out.extend_from_slice(b"%!");
        unicode::push(self.out, verb);
        self.out.push(b'(');
        if value.is_nil() {
            self.out.extend_from_slice(b"<nil>");
        } else {
            self.out.extend_from_slice(value.type_name().as_bytes());
            self.out.push(b'=');
            // A container is shown whole in place of the element that does not fit: one level is enough to be of use,
            // and `v` fits every value.
            let flags = self.flags;
            let result = self.value(value, 'v');
            self.flags = flags;
            result?;
        }
        self.out.push(b')');
        Ok(())
    }

    fn padding(&mut self, count: usize) {
        let byte = if self.flags.zero && !self.flags.minus { b'0' } else { b' ' };
        self.out.resize(self.out.len() + count, byte);
    }

    fn pad(&mut self, text: &[u8]) {
        let Some(width) = self.flags.width else {
            self.out.extend_from_slice(text);
            return;
        };
        let missing = width.saturating_sub(unicode::runes(text).count());
        if self.flags.minus {
            self.out.extend_from_slice(text);
            self.padding(missing);
        } else {
            self.padding(missing);
            self.out.extend_from_slice(text);
        }
    }

    fn truncated<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        let Some(precision) = self.flags.precision else { return text };
        let end: usize = unicode::runes(text).take(precision).map(|(_, size)| size).sum();
        &text[..end]
    }

    fn string(&mut self, text: &[u8], verb: char) -> Result<(), PrintError> {
        if self.out.len().saturating_add(text.len()) > self.end {
            return Err(PrintError::TooLong);
        }
        match verb {
            'v' if self.flags.sharp_v => self.quoted(text),
            'v' | 's' => {
                let text = self.truncated(text);
                self.pad(text);
            }
            'x' | 'X' => self.hex(text, verb == 'X'),
            'q' => self.quoted(text),
            _ => return self.bad_verb(Value::String(text), verb),
        }
        Ok(())
    }

    fn quoted(&mut self, text: &[u8]) {
        let text = self.truncated(text);
        let backquote = self.flags.sharp
            && std::str::from_utf8(text).is_ok_and(|text| {
                !text.chars().any(|c| c == '`' || c == '\u{FEFF}' || c == '\u{7f}' || (c < ' ' && c != '\t'))
            });
        let quoted = if backquote {
            format!("`{}`", String::from_utf8_lossy(text))
        } else if self.flags.plus {
            strconv::quote_ascii(text)
        } else {
            strconv::quote(text)
        };
        self.pad(quoted.as_bytes());
    }

    fn hex(&mut self, text: &[u8], upper: bool) {
        let text = &text[..text.len().min(self.flags.precision.unwrap_or(usize::MAX))];
        let mut out = Vec::with_capacity(text.len() * 2);
        let prefix: &[u8] = if upper { b"0X" } else { b"0x" };
        for (index, byte) in text.iter().enumerate() {
            if index > 0 && self.flags.space {
                out.push(b' ');
            }
            if self.flags.sharp && (index == 0 || self.flags.space) {
                out.extend_from_slice(prefix);
            }
            let digits = if upper { format!("{byte:02X}") } else { format!("{byte:02x}") };
            out.extend_from_slice(digits.as_bytes());
        }
        self.pad(&out);
    }

    fn bytes(&mut self, bytes: &[u8], verb: char) -> Result<(), PrintError> {
        match verb {
            'v' | 'd' => {
                let sharp = self.flags.sharp_v;
                self.out.extend_from_slice(if sharp { b"[]byte{" } else { b"[" });
                for (index, byte) in bytes.iter().enumerate() {
                    if self.out.len() > self.end {
                        return Err(PrintError::TooLong);
                    }
                    if index > 0 {
                        self.out.extend_from_slice(if sharp { b", " } else { b" " });
                    }
                    if sharp {
                        self.out.extend_from_slice(format!("{byte:#x}").as_bytes());
                    } else {
                        self.integer(u64::from(*byte), false, false, Value::Nil, 'd')?;
                    }
                }
                self.out.push(if sharp { b'}' } else { b']' });
                Ok(())
            }
            's' | 'x' | 'X' | 'q' => self.string(bytes, verb),
            _ => self.bad_verb(Value::Bytes(bytes), verb),
        }
    }

    fn integer(
        &mut self,
        magnitude: u64,
        negative: bool,
        signed: bool,
        value: Value<'_>,
        verb: char,
    ) -> Result<(), PrintError> {
        let (base, upper) = match verb {
            'v' if self.flags.sharp_v && !signed => {
                self.out.extend_from_slice(format!("{magnitude:#x}").as_bytes());
                return Ok(());
            }
            'v' | 'd' => (10, false),
            'b' => (2, false),
            'o' | 'O' => (8, false),
            'x' => (16, false),
            'X' => (16, true),
            'c' | 'q' | 'U' => {
                let code = if negative { magnitude.wrapping_neg() } else { magnitude };
                let c = u32::try_from(code).ok().and_then(char::from_u32).unwrap_or('\u{FFFD}');
                match verb {
                    'c' => self.pad(c.to_string().as_bytes()),
                    'q' => {
                        let quoted = strconv::quote_rune(c, self.flags.plus);
                        self.pad(quoted.as_bytes());
                    }
                    _ => self.code_point(code),
                }
                return Ok(());
            }
            _ => return self.bad_verb(value, verb),
        };
        let mut digits = match base {
            2 => format!("{magnitude:b}"),
            8 => format!("{magnitude:o}"),
            16 if upper => format!("{magnitude:X}"),
            16 => format!("{magnitude:x}"),
            _ => itoa::Buffer::new().format(magnitude).to_owned(),
        };
        let flags = self.flags;
        let signs = negative || flags.plus || flags.space;
        let wanted = match flags.precision {
            Some(0) if magnitude == 0 => {
                self.flags.zero = false;
                self.padding(flags.width.unwrap_or(0));
                self.flags.zero = flags.zero;
                return Ok(());
            }
            Some(precision) => precision,
            None if flags.zero && !flags.minus => flags.width.unwrap_or(0).saturating_sub(usize::from(signs)),
            None => 0,
        };
        if digits.len() < wanted {
            digits.insert_str(0, &"0".repeat(wanted - digits.len()));
        }
        if flags.sharp {
            match base {
                2 => digits.insert_str(0, "0b"),
                8 if !digits.starts_with('0') => digits.insert(0, '0'),
                16 => digits.insert_str(0, if upper { "0X" } else { "0x" }),
                _ => {}
            }
        }
        if verb == 'O' {
            digits.insert_str(0, "0o");
        }
        if negative {
            digits.insert(0, '-');
        } else if flags.plus {
            digits.insert(0, '+');
        } else if flags.space {
            digits.insert(0, ' ');
        }
        self.flags.zero = false;
        self.pad(digits.as_bytes());
        self.flags.zero = flags.zero;
        Ok(())
    }

    fn code_point(&mut self, code: u64) {
        let precision = self.flags.precision.unwrap_or(4).max(4);
        let digits = format!("{code:X}");
        let mut text = format!("U+{}{digits}", "0".repeat(precision.saturating_sub(digits.len())));
        if self.flags.sharp
            && let Some(c) =
                u32::try_from(code).ok().and_then(char::from_u32).filter(|c| unicode::is_print(*c))
        {
            text.push_str(&format!(" '{c}'"));
        }
        let zero = std::mem::take(&mut self.flags.zero);
        self.pad(text.as_bytes());
        self.flags.zero = zero;
    }

    fn float(&mut self, value: f64, verb: u8, precision: Option<usize>) {
        let precision = self.flags.precision.or(precision);
        let mut number = strconv::format_float(value, verb, precision);
        if !number.starts_with(['-', '+']) {
            number.insert(0, '+');
        }
        let flags = self.flags;
        if flags.space && number.starts_with('+') && !flags.plus {
            number.replace_range(..1, " ");
        }
        if value.is_nan() || value.is_infinite() {
            if value.is_nan() && !flags.space && !flags.plus {
                number.remove(0);
            }
            // Infinity keeps its plus, as in Go.
            self.flags.zero = false;
            self.pad(number.as_bytes());
            self.flags.zero = flags.zero;
            return;
        }
        if flags.sharp && verb != b'b' {
            number = with_point(&number, verb, precision);
        }
        if flags.plus || !number.starts_with('+') {
            if flags.zero && !flags.minus && flags.width.is_some_and(|width| width > number.len()) {
                self.out.push(number.as_bytes()[0]);
                self.padding(flags.width.unwrap_or(0) - number.len());
                self.out.extend_from_slice(&number.as_bytes()[1..]);
                return;
            }
            self.pad(number.as_bytes());
            return;
        }
        self.pad(&number.as_bytes()[1..]);
    }
}

/// `%#g` and its like: a decimal point always, trailing zeros kept.
fn with_point(number: &str, verb: u8, precision: Option<usize>) -> String {
    let mut wanted = match verb {
        b'g' | b'G' | b'x' => i64::try_from(precision.unwrap_or(6)).unwrap_or(i64::MAX),
        _ => 0,
    };
    let tail_at = number
        .find(['p', 'P'])
        .or_else(|| if matches!(verb, b'x' | b'X') { None } else { number.find(['e', 'E']) });
    let (head, tail) = number.split_at(tail_at.unwrap_or(number.len()));
    let mut head = head.to_owned();
    let mut nonzero = false;
    for c in head[1..].chars() {
        if c == '.' {
            continue;
        }
        nonzero |= c != '0';
        if nonzero {
            wanted -= 1;
        }
    }
    if !head.contains('.') {
        if head.len() == 2 && head.ends_with('0') {
            wanted -= 1;
        }
        head.push('.');
    }
    head.push_str(&"0".repeat(usize::try_from(wanted).unwrap_or(0)));
    head + tail
}

/// Widths and precisions beyond this are refused, as in Go.
const LARGEST: i64 = 1_000_000;

fn number_at(format: &[u8], mut at: usize) -> (Option<usize>, usize) {
    let start = at;
    let mut value: i64 = 0;
    while let Some(byte) = format.get(at).filter(|byte| byte.is_ascii_digit()) {
        if value > LARGEST {
            return (None, format.len());
        }
        value = value * 10 + i64::from(byte - b'0');
        at += 1;
    }
    if at == start {
        return (None, at);
    }
    (usize::try_from(value).ok(), at)
}

/// The state of a format's walk over its operands.
struct Operands<'v, 'a> {
    values: &'v [Value<'a>],
    next: usize,
    after_index: bool,
    good: bool,
    reordered: bool,
}

impl Operands<'_, '_> {
    /// An explicit `[n]`.
    fn index(&mut self, format: &[u8], at: usize) -> usize {
        if format.get(at) != Some(&b'[') {
            self.after_index = false;
            return at;
        }
        self.reordered = true;
        self.after_index = true;
        let rest = &format[at..];
        let Some(close) = rest.iter().position(|byte| *byte == b']').filter(|_| rest.len() >= 3) else {
            self.good = false;
            return at + 1;
        };
        let (number, end) = number_at(&rest[..close], 1);
        match number {
            Some(number) if end == close && number >= 1 && number <= self.values.len() => {
                self.next = number - 1;
            }
            _ => self.good = false,
        }
        at + close + 1
    }

    /// A `*`.
    fn star(&mut self) -> Option<i64> {
        let value = *self.values.get(self.next)?;
        self.next += 1;
        let number = match value {
            Value::Int(_, number) => number,
            Value::Uint(_, number) => i64::try_from(number).ok()?,
            _ => return None,
        };
        (-LARGEST..=LARGEST).contains(&number).then_some(number)
    }
}

/// `fmt.Sprintf`.
pub(crate) fn sprintf(format: &[u8], values: &[Value<'_>], limit: usize) -> Result<Vec<u8>, PrintError> {
    let mut out = Vec::with_capacity(format.len() + 16);
    let mut operands = Operands { values, next: 0, after_index: false, good: true, reordered: false };
    let mut at = 0;
    while at < format.len() {
        operands.good = true;
        let literal = format[at..].iter().position(|byte| *byte == b'%').unwrap_or(format.len() - at);
        out.extend_from_slice(&format[at..at + literal]);
        at += literal;
        if at >= format.len() {
            break;
        }
        at += 1;
        if out.len() > limit {
            return Err(PrintError::TooLong);
        }
        let mut flags = Flags::default();
        while let Some(byte) = format.get(at) {
            match byte {
                b'#' => flags.sharp = true,
                b'0' => flags.zero = true,
                b'+' => flags.plus = true,
                b'-' => flags.minus = true,
                b' ' => flags.space = true,
                _ => break,
            }
            at += 1;
        }
        at = operands.index(format, at);
        if format.get(at) == Some(&b'*') {
            at += 1;
            match operands.star() {
                Some(width) => {
                    flags.width = usize::try_from(width.unsigned_abs()).ok();
                    if width < 0 {
                        flags.minus = true;
                        flags.zero = false;
                    }
                }
                None => out.extend_from_slice(b"%!(BADWIDTH)"),
            }
            operands.after_index = false;
        } else {
            (flags.width, at) = number_at(format, at);
            if operands.after_index && flags.width.is_some() {
                operands.good = false;
            }
        }
        if at + 1 < format.len() && format[at] == b'.' {
            at += 1;
            if operands.after_index {
                operands.good = false;
            }
            at = operands.index(format, at);
            if format.get(at) == Some(&b'*') {
                at += 1;
                match operands.star() {
                    Some(precision) if precision >= 0 => flags.precision = usize::try_from(precision).ok(),
                    _ => out.extend_from_slice(b"%!(BADPREC)"),
                }
                operands.after_index = false;
            } else {
                (flags.precision, at) = number_at(format, at);
                flags.precision.get_or_insert(0);
            }
        }
        if !operands.after_index {
            at = operands.index(format, at);
        }
        let Some((verb, size)) = unicode::decode(format.get(at..).unwrap_or_default()) else {
            out.extend_from_slice(b"%!(NOVERB)");
            break;
        };
        at += size;
        if flags.width.unwrap_or(0).max(flags.precision.unwrap_or(0)) > limit {
            return Err(PrintError::TooLong);
        }
        if verb == '%' {
            out.push(b'%');
        } else if !operands.good {
            out.extend_from_slice(format!("%!{verb}(BADINDEX)").as_bytes());
        } else if let Some(value) = values.get(operands.next).copied() {
            operands.next += 1;
            if verb == 'v' {
                flags.sharp_v = std::mem::take(&mut flags.sharp);
                flags.plus = false;
            }
            let mut printer = Printer { out: &mut out, flags, end: limit };
            if verb == 'T' {
                let name = value.type_name().as_bytes();
                let name = printer.truncated(name);
                printer.pad(name);
            } else {
                printer.value(value, verb)?;
            }
        } else {
            out.extend_from_slice(format!("%!{verb}(MISSING)").as_bytes());
        }
    }
    if !operands.reordered && operands.next < values.len() {
        out.extend_from_slice(b"%!(EXTRA ");
        for (index, value) in values[operands.next..].iter().enumerate() {
            if index > 0 {
                out.extend_from_slice(b", ");
            }
            if value.is_nil() {
                out.extend_from_slice(b"<nil>");
            } else {
                out.extend_from_slice(value.type_name().as_bytes());
                out.push(b'=');
                Printer { out: &mut out, flags: Flags::default(), end: limit }.value(*value, 'v')?;
            }
        }
        out.push(b')');
    }
    if out.len() > limit { Err(PrintError::TooLong) } else { Ok(out) }
}
