//! Camel, snake and kebab case as xstrings has them: what a word is, and what stands between words.

use crate::context::{Context, Failure};
use crate::unicode;
use crate::value::Value;

use super::text;

type Answer<'a> = Result<Value<'a>, Failure>;

fn connector(c: char) -> bool {
    c == '-' || c == '_' || unicode::is_space(c)
}

pub(super) fn camelcase<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let runes: Vec<char> = unicode::runes(text(arguments, 0)).map(|(c, _)| c).collect();
    let mut out = Vec::new();
    // Connectors in front stay.
    let lead = runes.iter().take_while(|c| connector(**c)).count();
    runes[..lead].iter().for_each(|c| unicode::push(&mut out, *c));
    if lead == runes.len() {
        // xstrings writes the last of nothing but connectors twice.
        if let Some(last) = runes.last() {
            unicode::push(&mut out, *last);
        }
        return context.text(out);
    }
    let mut current = unicode::to_upper(runes[lead]);
    for c in &runes[lead + 1..] {
        let previous = current;
        current = *c;
        if connector(current) && connector(previous) {
            unicode::push(&mut out, previous);
            continue;
        }
        if connector(previous) {
            current = unicode::to_upper(current);
        } else {
            unicode::push(&mut out, previous);
        }
    }
    unicode::push(&mut out, current);
    context.text(out)
}

/// What a run of characters is to xstrings.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Invalid,
    Number,
    Upper,
    Alphabet,
    Connector,
    Punct,
    Other,
}

fn alphabet(c: char) -> bool {
    if !unicode::is_letter(c) {
        return false;
    }
    // Ideographs are words of their own; the ranges are xstrings'.
    !matches!(c, '\u{4E00}'..='\u{9FCC}' | '\u{3400}'..='\u{4D85}' | '\u{20000}'..='\u{2B81D}')
}

/// A character with the bytes it stands for. What is no UTF-8 belongs to the character after it; at the end of the
/// text it counts as the character before it once more.
#[derive(Clone, Copy)]
struct Unit<'t> {
    character: char,
    bytes: &'t [u8],
}

fn units(text: &[u8]) -> Vec<Unit<'_>> {
    let mut units: Vec<Unit<'_>> = Vec::with_capacity(text.len());
    let (mut from, mut to) = (0, 0);
    for (character, size) in unicode::runes(text) {
        to += size;
        if character != char::REPLACEMENT_CHARACTER {
            units.push(Unit { character, bytes: &text[from..to] });
            from = to;
        }
    }
    if from < to {
        let character = units.last().map_or(char::REPLACEMENT_CHARACTER, |unit| unit.character);
        units.push(Unit { character, bytes: &text[from..to] });
    }
    units
}

fn next_word(text: &[Unit<'_>]) -> (Word, usize) {
    let Some(first) = text.first().map(|unit| unit.character) else { return (Word::Invalid, 0) };
    let run_from = |from: usize, test: &dyn Fn(char) -> bool| {
        from + text[from..].iter().take_while(|unit| test(unit.character)).count()
    };
    if first == char::REPLACEMENT_CHARACTER {
        return (Word::Invalid, text.len());
    }
    if connector(first) {
        return (Word::Connector, run_from(1, &connector));
    }
    if unicode::is_punct(first) {
        return (Word::Punct, run_from(1, &unicode::is_punct));
    }
    let lower = |c: char| alphabet(c) && !unicode::is_upper(c);
    if unicode::is_upper(first) {
        let Some(second) = text.get(1).map(|unit| unit.character) else { return (Word::Upper, 1) };
        if unicode::is_upper(second) {
            let count = run_from(1, &unicode::is_upper);
            // `HTTPStatus` is `HTTP` and `Status`.
            if text.get(count).is_some_and(|unit| alphabet(unit.character)) {
                return (Word::Upper, count - 1);
            }
            return (Word::Upper, count);
        }
        if alphabet(second) {
            return (Word::Upper, run_from(2, &lower));
        }
        return (Word::Upper, 1);
    }
    if alphabet(first) {
        return (Word::Alphabet, run_from(1, &lower));
    }
    if unicode::is_number(first) {
        return (Word::Number, run_from(1, &unicode::is_number));
    }
    let other = |c: char| !connector(c) && !alphabet(c) && !unicode::is_number(c) && !unicode::is_punct(c);
    (Word::Other, run_from(1, &other))
}

/// xstrings' snake and kebab case.
fn with_connector(text: &[u8], mark: char) -> Vec<u8> {
    fn write(out: &mut Vec<u8>, kind: Word, word: &[Unit<'_>], mark: char) {
        for unit in word {
            if !matches!(kind, Word::Upper | Word::Connector) {
                out.extend_from_slice(unit.bytes);
                continue;
            }
            for (c, _) in unicode::runes(unit.bytes) {
                unicode::push(out, if connector(c) { mark } else { unicode::to_lower(c) });
            }
        }
    }
    let units = units(text);
    let mut rest = &units[..];
    let mut out = Vec::new();
    fn take<'u, 't>(rest: &mut &'u [Unit<'t>]) -> (Word, &'u [Unit<'t>]) {
        let (kind, count) = next_word(rest);
        let (word, after) = rest.split_at(count);
        *rest = after;
        (kind, word)
    }
    let (mut kind, mut word) = take(&mut rest);
    while !rest.is_empty() {
        if kind != Word::Connector {
            write(&mut out, kind, word, mark);
        }
        let (previous, last) = (kind, word);
        (kind, word) = take(&mut rest);
        match previous {
            Word::Number => {
                while matches!(kind, Word::Alphabet | Word::Number) {
                    write(&mut out, kind, word, mark);
                    (kind, word) = take(&mut rest);
                }
                if !matches!(kind, Word::Invalid | Word::Punct | Word::Connector) {
                    unicode::push(&mut out, mark);
                }
            }
            Word::Connector => write(&mut out, previous, last, mark),
            Word::Punct => {}
            _ => {
                if kind != Word::Number {
                    if !matches!(kind, Word::Connector | Word::Punct) {
                        unicode::push(&mut out, mark);
                    }
                    continue;
                }
                if rest.is_empty() {
                    continue;
                }
                let last = word;
                (kind, word) = take(&mut rest);
                if kind != Word::Alphabet {
                    write(&mut out, Word::Number, last, mark);
                    if !matches!(kind, Word::Connector | Word::Punct) {
                        unicode::push(&mut out, mark);
                    }
                    continue;
                }
                unicode::push(&mut out, mark);
                write(&mut out, Word::Number, last, mark);
                while matches!(kind, Word::Alphabet | Word::Number) {
                    write(&mut out, kind, word, mark);
                    (kind, word) = take(&mut rest);
                }
                if !matches!(kind, Word::Invalid | Word::Connector | Word::Punct) {
                    unicode::push(&mut out, mark);
                }
            }
        }
    }
    write(&mut out, kind, word, mark);
    out
}

pub(super) fn snakecase<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    context.text(with_connector(text(arguments, 0), '_'))
}

pub(super) fn kebabcase<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    context.text(with_connector(text(arguments, 0), '-'))
}
