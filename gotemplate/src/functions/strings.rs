//! sprig's functions on text.

use bstr::ByteSlice;

use crate::context::{Context, Failure};
use crate::fmt;
use crate::function::{Cost, Function, Parameter, Purity};
use crate::strconv;
use crate::unicode;
use crate::value::{ListType, MapType, Value};

use super::convert::{strings, strval};
use super::letter_case::{camelcase, kebabcase, snakecase};
use super::{int, text};

type Answer<'a> = Result<Value<'a>, Failure>;

fn is_ascii(text: &[u8]) -> bool {
    text.is_ascii()
}

fn upper<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = text(arguments, 0);
    if is_ascii(text) {
        return context.text(text.to_ascii_uppercase());
    }
    context.text(unicode::map(text, unicode::to_upper))
}

fn lower<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = text(arguments, 0);
    if is_ascii(text) {
        return context.text(text.to_ascii_lowercase());
    }
    context.text(unicode::map(text, unicode::to_lower))
}

/// `strings.Title`: the first letter after anything that is no letter, digit or underscore.
fn title<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let mut previous = ' ';
    let out = unicode::map(text(arguments, 0), |c| {
        let begins = if previous.is_ascii() {
            !(previous.is_ascii_alphanumeric() || previous == '_')
        } else if unicode::is_letter(previous) || unicode::is_digit(previous) {
            false
        } else {
            unicode::is_space(previous)
        };
        previous = c;
        if begins { unicode::to_title(c) } else { c }
    });
    context.text(out)
}

fn untitle<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let mut begins = true;
    let out = unicode::map(text(arguments, 0), |c| {
        if unicode::is_space(c) {
            begins = true;
            return c;
        }
        if std::mem::take(&mut begins) { unicode::to_lower(c) } else { c }
    });
    context.text(out)
}

fn trim<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::String(text(arguments, 0).trim()))
}

fn trim_all<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let cut: Vec<char> = unicode::runes(text(arguments, 0)).map(|(c, _)| c).collect();
    Ok(Value::String(text(arguments, 1).trim_with(|c| cut.contains(&c))))
}

fn trim_suffix<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let whole = text(arguments, 1);
    Ok(Value::String(whole.strip_suffix(text(arguments, 0)).unwrap_or(whole)))
}

fn trim_prefix<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let whole = text(arguments, 1);
    Ok(Value::String(whole.strip_prefix(text(arguments, 0)).unwrap_or(whole)))
}

fn repeat<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = text(arguments, 1);
    let Ok(count) = usize::try_from(int(arguments, 0)) else {
        return Err(Failure::message("strings: negative Repeat count"));
    };
    context.charge(text.len().saturating_mul(count))?;
    context.text(text.repeat(count))
}

/// How Go complains of a slice `[low:high]` of something this long; `None` when it fits.
fn bounds(low: Option<i64>, high: Option<i64>, length: usize) -> Result<std::ops::Range<usize>, Failure> {
    let length = i64::try_from(length).unwrap_or(i64::MAX);
    let error = |what: String| Failure::message(format!("runtime error: slice bounds out of range {what}"));
    let end = high.unwrap_or(length);
    if high.is_some() && end < 0 {
        return Err(error(format!("[:{end}]")));
    }
    if high.is_some() && end > length {
        return Err(error(format!("[:{end}] with length {length}")));
    }
    let start = low.unwrap_or(0);
    if start < 0 {
        return Err(error(format!("[{start}:]")));
    }
    if start > end {
        return Err(error(format!("[{start}:{end}]")));
    }
    Ok(usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(0))
}

fn substr<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let (start, end) = (int(arguments, 0), int(arguments, 1));
    let text = text(arguments, 2);
    let length = i64::try_from(text.len()).unwrap_or(i64::MAX);
    let range = if start < 0 {
        bounds(None, Some(end), text.len())?
    } else if end < 0 || end > length {
        bounds(Some(start), None, text.len())?
    } else {
        bounds(Some(start), Some(end), text.len())?
    };
    Ok(Value::String(&text[range]))
}

fn trunc<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = text(arguments, 1);
    let count = int(arguments, 0);
    let length = i64::try_from(text.len()).unwrap_or(i64::MAX);
    if context.sprig == crate::profile::Sprig::V2 {
        if length <= count {
            return Ok(Value::String(text));
        }
        return Ok(Value::String(&text[bounds(None, Some(count), text.len())?]));
    }
    if count < 0 && length + count > 0 {
        return Ok(Value::String(&text[usize::try_from(length + count).unwrap_or(0)..]));
    }
    if count >= 0 && length > count {
        return Ok(Value::String(&text[..usize::try_from(count).unwrap_or(0)]));
    }
    Ok(Value::String(text))
}

/// A text that is cut in front, as `abbrev` does; `None` where goutils returns an error, which sprig drops.
fn abbreviate(text: &[u8], mut offset: usize, width: usize) -> Option<Vec<u8>> {
    if text.is_empty() || width < 4 {
        return (width >= 4).then(Vec::new);
    }
    if text.len() <= width {
        return Some(text.to_vec());
    }
    offset = offset.min(text.len());
    if text.len() - offset < width - 3 {
        offset = text.len() - (width - 3);
    }
    if offset <= 4 {
        return Some([&text[..width - 3], b"..."].concat());
    }
    if width < 7 {
        return None;
    }
    if offset + width - 3 < text.len() {
        let rest = abbreviate(&text[offset..], 0, width - 3).unwrap_or_default();
        return Some([b"...", &rest[..]].concat());
    }
    Some([b"...", &text[text.len() - (width - 3)..]].concat())
}

fn abbrev<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let width = int(arguments, 0);
    let text = text(arguments, 1);
    let Some(width) = usize::try_from(width).ok().filter(|width| *width >= 4) else {
        return Ok(Value::String(text));
    };
    context.text(abbreviate(text, 0, width).unwrap_or_default())
}

fn abbrevboth<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let (left, right) = (int(arguments, 0), int(arguments, 1));
    let text = text(arguments, 2);
    if right < 4 || (left > 0 && right < 7) {
        return Ok(Value::String(text));
    }
    let left = usize::try_from(left).unwrap_or(0);
    context.text(abbreviate(text, left, usize::try_from(right).unwrap_or(0)).unwrap_or_default())
}

/// goutils looks at bytes here, each as a character of its own.
fn nospace<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let text = text(arguments, 0);
    let mut out = Vec::with_capacity(text.len());
    let mut kept = 0;
    for byte in text {
        let c = char::from(*byte);
        if !unicode::is_space(c) {
            unicode::push(&mut out, c);
            kept += 1;
        }
    }
    if kept == text.len() {
        return Ok(Value::String(text));
    }
    context.text(out)
}

fn initials<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let mut out = Vec::new();
    let mut gap = true;
    for byte in text(arguments, 0) {
        let c = char::from(*byte);
        if unicode::is_space(c) {
            gap = true;
        } else if std::mem::take(&mut gap) {
            unicode::push(&mut out, c);
        }
    }
    context.text(out)
}

fn swapcase<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let mut space = true;
    let out = unicode::map(text(arguments, 0), |c| {
        if unicode::is_upper(c) || unicode::is_title(c) {
            space = false;
            unicode::to_lower(c)
        } else if unicode::is_lower(c) {
            if std::mem::take(&mut space) { unicode::to_title(c) } else { unicode::to_upper(c) }
        } else {
            space = unicode::is_space(c);
            c
        }
    });
    context.text(out)
}

/// goutils' word wrap, which counts bytes.
fn wrapped(
    text: &[u8],
    width: i64,
    newline: &[u8],
    long_words: bool,
    limit: usize,
) -> Result<Vec<u8>, Failure> {
    let newline: &[u8] = if newline.is_empty() { b"\n" } else { newline };
    let width = usize::try_from(width.max(1)).unwrap_or(1);
    let mut out = Vec::with_capacity(text.len() + 16);
    let mut at = 0;
    while text.len().saturating_sub(at) > width {
        if out.len() > limit {
            return Err(Failure::Limit(crate::budget::Limit::Memory));
        }
        if text[at] == b' ' {
            at += 1;
            continue;
        }
        if let Some(space) = text[at..=at + width].iter().rposition(|byte| *byte == b' ') {
            out.extend_from_slice(&text[at..at + space]);
            out.extend_from_slice(newline);
            at += space + 1;
        } else if long_words {
            out.extend_from_slice(&text[at..at + width]);
            out.extend_from_slice(newline);
            at += width;
        } else if let Some(space) = text[at + width..].iter().position(|byte| *byte == b' ') {
            out.extend_from_slice(&text[at..at + width + space]);
            out.extend_from_slice(newline);
            at += width + space + 1;
        } else {
            out.extend_from_slice(&text[at..]);
            at = text.len();
        }
    }
    out.extend_from_slice(&text[at.min(text.len())..]);
    Ok(out)
}

fn wrap<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let out = wrapped(text(arguments, 1), int(arguments, 0), b"", false, context.text_limit())?;
    context.text(out)
}

fn wrap_with<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let newline = text(arguments, 1);
    let out = wrapped(text(arguments, 2), int(arguments, 0), newline, true, context.text_limit())?;
    context.text(out)
}

fn contains<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::Bool(text(arguments, 1).contains_str(text(arguments, 0))))
}

fn has_prefix<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::Bool(text(arguments, 1).starts_with(text(arguments, 0))))
}

fn has_suffix<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::Bool(text(arguments, 1).ends_with(text(arguments, 0))))
}

fn quote<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let mut out = String::new();
    for value in arguments.iter().filter(|value| !value.is_nil()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&strconv::quote(&strval(*value, context)?));
        context.charge(out.len())?;
    }
    context.text(out)
}

fn squote<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let mut out = Vec::new();
    for value in arguments.iter().filter(|value| !value.is_nil()) {
        if !out.is_empty() {
            out.push(b' ');
        }
        out.push(b'\'');
        fmt::format_value(&mut out, *value, 'v', context.text_limit())?;
        out.push(b'\'');
    }
    context.text(out)
}

fn cat<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let mut out = Vec::new();
    for (at, value) in arguments.iter().filter(|value| !value.is_nil()).enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        fmt::format_value(&mut out, *value, 'v', context.text_limit())?;
    }
    context.text(out)
}

fn indented<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>], lead: &[u8]) -> Answer<'a> {
    let text = text(arguments, 1);
    let Ok(spaces) = usize::try_from(int(arguments, 0)) else {
        return Err(Failure::message("strings: negative Repeat count"));
    };
    let lines = text.iter().filter(|byte| **byte == b'\n').count() + 1;
    let total = lead.len() + text.len() + lines.saturating_mul(spaces);
    context.charge(total)?;
    let mut out = Vec::with_capacity(total);
    out.extend_from_slice(lead);
    for (at, line) in text.split(|byte| *byte == b'\n').enumerate() {
        if at > 0 {
            out.push(b'\n');
        }
        out.resize(out.len() + spaces, b' ');
        out.extend_from_slice(line);
    }
    context.text(out)
}

fn indent<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    indented(context, arguments, b"")
}

fn nindent<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    indented(context, arguments, b"\n")
}

fn replace<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let (old, new, text) = (text(arguments, 0), text(arguments, 1), text(arguments, 2));
    if old.is_empty() {
        // Between all characters, and at both ends.
        context.charge(text.len().saturating_add((text.len() + 1).saturating_mul(new.len())))?;
        let mut out = new.to_vec();
        let mut rest = text;
        while let Some((_, size)) = unicode::decode(rest) {
            out.extend_from_slice(&rest[..size]);
            out.extend_from_slice(new);
            rest = &rest[size..];
        }
        return context.text(out);
    }
    let count = text.find_iter(old).count();
    if count == 0 {
        return Ok(Value::String(text));
    }
    context.charge(text.len().saturating_add(count.saturating_mul(new.len())))?;
    context.text(text.replace(old, new))
}

fn plural<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(arguments[usize::from(int(arguments, 2) != 1)])
}

fn to_string<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    if let Value::String(_) = arguments[0] {
        return Ok(arguments[0]);
    }
    let text = strval(arguments[0], context)?;
    context.text(text)
}

/// `strings.SplitN`; a negative count means all.
fn split_parts<'t>(text: &'t [u8], separator: &[u8], count: i64) -> Vec<&'t [u8]> {
    let Ok(most) = usize::try_from(count) else {
        return split_parts(text, separator, i64::MAX);
    };
    if most == 0 {
        return Vec::new();
    }
    let mut parts = Vec::new();
    let mut rest = text;
    if separator.is_empty() {
        while let Some((_, size)) = unicode::decode(rest) {
            if parts.len() + 1 == most {
                parts.push(rest);
                return parts;
            }
            parts.push(&rest[..size]);
            rest = &rest[size..];
        }
        return parts;
    }
    while parts.len() + 1 < most {
        let Some(at) = rest.find(separator) else { break };
        parts.push(&rest[..at]);
        rest = &rest[at + separator.len()..];
    }
    parts.push(rest);
    parts
}

fn numbered<'a>(context: &mut Context<'_, 'a>, parts: &[&'a [u8]]) -> Answer<'a> {
    context.charge_items(parts.len())?;
    let map = context.arena.map_of(MapType::String, parts.len());
    for (at, part) in parts.iter().enumerate() {
        map.set(context.arena.bytes(format!("_{at}").as_bytes()), Value::String(part));
    }
    Ok(Value::Map(map))
}

fn split<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let parts = split_parts(text(arguments, 1), text(arguments, 0), -1);
    numbered(context, &parts)
}

fn splitn<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let parts = split_parts(text(arguments, 2), text(arguments, 0), int(arguments, 1));
    numbered(context, &parts)
}

fn split_list<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let parts = split_parts(text(arguments, 1), text(arguments, 0), -1);
    context.charge_items(parts.len())?;
    let parts: Vec<Value<'a>> = parts.into_iter().map(Value::String).collect();
    Ok(Value::List(ListType::STRING, context.arena.values(&parts)))
}

fn to_strings<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    if let Value::List(ListType { element: crate::value::Element::String, .. }, _) = arguments[0] {
        return Ok(arguments[0]);
    }
    let texts = strings(arguments[0], context)?;
    Ok(context.arena.string_list(texts.into_iter()))
}

fn join<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let separator = text(arguments, 0);
    let texts = strings(arguments[1], context)?;
    let total: usize = texts.iter().map(|text| text.len() + separator.len()).sum();
    context.charge(total)?;
    let mut out = Vec::with_capacity(total);
    for (at, text) in texts.iter().enumerate() {
        if at > 0 {
            out.extend_from_slice(separator);
        }
        out.extend_from_slice(text);
    }
    context.text(out)
}

fn sort_alpha<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let mut texts = strings(arguments[0], context)?;
    if arguments[0].is_nil() {
        texts.push(strval(Value::Nil, context)?);
    }
    texts.sort_unstable();
    Ok(context.arena.string_list(texts.into_iter()))
}

fn random_text<'a>(context: &mut Context<'_, 'a>, count: i64, alphabet: &[u8]) -> Answer<'a> {
    let Ok(count) = usize::try_from(count) else { return Ok(Value::EMPTY) };
    context.charge(count)?;
    let bound = alphabet.len() as u64;
    let out: Vec<u8> = (0..count).map(|_| alphabet[context.random_below(bound) as usize]).collect();
    context.text(out)
}

const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ALPHANUMERIC: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

fn rand_alpha_num<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    random_text(context, int(arguments, 0), ALPHANUMERIC)
}

fn rand_alpha<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    random_text(context, int(arguments, 0), LETTERS)
}

fn rand_ascii<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let all: Vec<u8> = (b' '..=b'~').collect();
    random_text(context, int(arguments, 0), &all)
}

fn rand_numeric<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    random_text(context, int(arguments, 0), b"0123456789")
}

fn shuffle<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let mut runes: Vec<char> = unicode::runes(text(arguments, 0)).map(|(c, _)| c).collect();
    for at in (1..runes.len()).rev() {
        let other = context.random_below(at as u64 + 1) as usize;
        runes.swap(at, other);
    }
    context.text(runes.into_iter().collect::<String>())
}

fn uuidv4<'a>(context: &mut Context<'_, 'a>, _: &[Value<'a>]) -> Answer<'a> {
    let mut bytes = [0; 16];
    context.random(&mut bytes);
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let hex = hex::encode(bytes);
    context.text(format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]))
}

fn hello<'a>(_: &mut Context<'_, 'a>, _: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::text("Hello!"))
}

fn fail<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Err(Failure::message(String::from_utf8_lossy(text(arguments, 0))))
}

/// The environment and the network are closed: there is nothing there.
fn nothing<'a>(_: &mut Context<'_, 'a>, _: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::EMPTY)
}

use Parameter::{Any, Int, String as Text};

const fn text_function(
    name: &'static str,
    parameters: &'static [Parameter],
    body: for<'a> fn(&mut Context<'_, 'a>, &[Value<'a>]) -> Answer<'a>,
) -> Function {
    Function::pure(name, parameters, body).costs(Cost::Text)
}

/// All of them; the same in both versions.
pub(crate) static TABLE: &[Function] = &[
    Function::pure("hello", &[], hello),
    text_function("upper", &[Text], upper),
    text_function("lower", &[Text], lower),
    text_function("title", &[Text], title),
    text_function("untitle", &[Text], untitle),
    Function::pure("trim", &[Text], trim),
    Function::pure("trimall", &[Text, Text], trim_all),
    Function::pure("trimAll", &[Text, Text], trim_all),
    Function::pure("trimSuffix", &[Text, Text], trim_suffix),
    Function::pure("trimPrefix", &[Text, Text], trim_prefix),
    text_function("repeat", &[Int, Text], repeat),
    Function::pure("substr", &[Int, Int, Text], substr),
    Function::pure("trunc", &[Int, Text], trunc),
    Function::pure("abbrev", &[Int, Text], abbrev),
    Function::pure("abbrevboth", &[Int, Int, Text], abbrevboth),
    text_function("nospace", &[Text], nospace),
    text_function("initials", &[Text], initials),
    text_function("swapcase", &[Text], swapcase),
    text_function("camelcase", &[Text], camelcase),
    text_function("snakecase", &[Text], snakecase),
    text_function("kebabcase", &[Text], kebabcase),
    text_function("wrap", &[Int, Text], wrap),
    text_function("wrapWith", &[Int, Text, Text], wrap_with),
    text_function("contains", &[Text, Text], contains),
    Function::pure("hasPrefix", &[Text, Text], has_prefix),
    Function::pure("hasSuffix", &[Text, Text], has_suffix),
    text_function("quote", &[Any], quote).variadic(),
    text_function("squote", &[Any], squote).variadic(),
    text_function("cat", &[Any], cat).variadic(),
    text_function("indent", &[Int, Text], indent),
    text_function("nindent", &[Int, Text], nindent),
    text_function("replace", &[Text, Text, Text], replace),
    Function::pure("plural", &[Text, Text, Int], plural),
    text_function("toString", &[Any], to_string),
    text_function("split", &[Text, Text], split),
    text_function("splitn", &[Text, Int, Text], splitn),
    text_function("splitList", &[Text, Text], split_list),
    text_function("toStrings", &[Any], to_strings),
    text_function("join", &[Text, Any], join),
    text_function("sortAlpha", &[Any], sort_alpha),
    text_function("randAlphaNum", &[Int], rand_alpha_num).from(Purity::Random),
    text_function("randAlpha", &[Int], rand_alpha).from(Purity::Random),
    text_function("randAscii", &[Int], rand_ascii).from(Purity::Random),
    text_function("randNumeric", &[Int], rand_numeric).from(Purity::Random),
    text_function("shuffle", &[Text], shuffle).from(Purity::Random),
    Function::pure("uuidv4", &[], uuidv4).from(Purity::Random),
    Function::pure("fail", &[Text], fail),
    Function::pure("env", &[Text], nothing).from(Purity::Closed),
    Function::pure("expandenv", &[Text], nothing).from(Purity::Closed),
    Function::pure("getHostByName", &[Text], nothing).from(Purity::Closed),
];
