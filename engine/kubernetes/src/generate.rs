//! Generated values: OpenShift's `expression` generator, with a secure source and ranges as documented.
//!
//! `[a-zA-Z0-9]{8}` stands for eight characters of that class, text outside stays. Two differences from the
//! original, both deliberate: the upper end of a range belongs to it, as the documentation always said, and the
//! source is ChaCha20 keyed by the caller's entropy or by a seed.

use rand_chacha::ChaCha20Rng;
use rand_core::{RngCore as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};

/// The longest text one class may stand for.
const LONGEST_CLASS: usize = 255;
/// The longest value one expression may stand for, in bytes.
const LONGEST_VALUE: usize = 64 << 10;

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";
const SYMBOLS: &str = "~!@#$%^&*()-_+={}[]\\|<,>.?/\"';:`";

/// Why an expression makes no value. The words are the original's, where it has any.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// A class that is neither an escape nor ends in a range.
    #[error("malformed expresion syntax: {0}")]
    Malformed(String),
    /// A range that runs backwards.
    #[error("invalid range specified: {0}-{1}")]
    Range(char, char),
    /// A length outside 1 to 255.
    #[error("range must be within [1-255] characters ({0})")]
    Length(String),
    /// A value of more than 64 KiB.
    #[error("the expression stands for more than {LONGEST_VALUE} characters")]
    TooLong,
}

/// Makes values for one parameter.
pub struct Generator(ChaCha20Rng);

impl Generator {
    /// A generator keyed by secret and context; equal keys make equal values. `secret` is the caller's entropy or
    /// seed; `context` keeps parameters apart.
    pub fn new(secret: &[u8], context: &[&str]) -> Generator {
        let mut hash = Sha256::new();
        hash.update(b"formwork generated value 1\0");
        hash.update((secret.len() as u64).to_le_bytes());
        hash.update(secret);
        for part in context {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        Generator(ChaCha20Rng::from_seed(hash.finalize().into()))
    }

    /// A number below `bound`, each equally likely.
    fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u32;
        // Numbers above the last whole multiple would make small results likelier.
        let zone = u32::MAX - u32::MAX % bound;
        loop {
            let number = self.0.next_u32();
            if number < zone {
                return (number % bound) as usize;
            }
        }
    }

    /// A value for an expression.
    pub fn value(&mut self, expression: &str) -> Result<String, GenerateError> {
        let mut value = String::new();
        for part in parts(expression) {
            match part {
                Part::Literal(text) => value.push_str(text),
                Part::Class { class, length } => {
                    let alphabet = alphabet(class)?;
                    let count = length.parse().unwrap_or(usize::MAX);
                    if !(1..=LONGEST_CLASS).contains(&count) {
                        return Err(GenerateError::Length(length.chars().take(24).collect()));
                    }
                    value.extend((0..count).map(|_| alphabet[self.below(alphabet.len())]));
                }
            }
            if value.len() > LONGEST_VALUE {
                return Err(GenerateError::TooLong);
            }
        }
        Ok(value)
    }
}

/// Whether an expression generates anything at all: one without a class and a length is its own value.
pub(crate) fn is_literal(expression: &str) -> bool {
    parts(expression).iter().all(|part| matches!(part, Part::Literal(_)))
}

/// How many bits of chance an expression holds, if it is well formed.
pub(crate) fn entropy_bits(expression: &str) -> Option<f64> {
    let mut bits = 0.0;
    for part in parts(expression) {
        if let Part::Class { class, length } = part {
            let mut characters = alphabet(class).ok()?;
            characters.sort_unstable();
            characters.dedup();
            bits += (characters.len() as f64).log2() * length.parse::<f64>().ok()?;
        }
    }
    Some(bits)
}

enum Part<'t> {
    Literal(&'t str),
    /// `[class]{length}`.
    Class {
        class: &'t str,
        length: &'t str,
    },
}

/// Cuts an expression into literals and classes: `\[([a-zA-Z0-9\-\\]+)\]\{([0-9]+)\}` is a class, all else literal.
fn parts(expression: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let (mut kept, mut at) = (0, 0);
    while let Some(open) = expression[at..].find('[').map(|found| at + found) {
        at = open + 1;
        let inside = &expression[at..];
        let class_length = inside
            .bytes()
            .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'\\'))
            .count();
        let (class, rest) = inside.split_at(class_length);
        let Some(rest) = rest.strip_prefix("]{").filter(|_| !class.is_empty()) else { continue };
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let (length, rest) = rest.split_at(digits);
        if length.is_empty() || !rest.starts_with('}') {
            continue;
        }
        parts.extend((kept < open).then(|| Part::Literal(&expression[kept..open])));
        parts.push(Part::Class { class, length });
        at = expression.len() - rest.len() + 1;
        kept = at;
    }
    parts.extend((kept < expression.len()).then(|| Part::Literal(&expression[kept..])));
    parts
}

/// The characters of a class, in the original's reading: it begins with an escape or ends in a range, and two
/// letters side by side are a range as well.
fn alphabet(class: &str) -> Result<Vec<char>, GenerateError> {
    let bytes = class.as_bytes();
    let escape = matches!(bytes, [b'\\', b'w' | b'd' | b'a' | b'A', ..]);
    let range =
        matches!(bytes, [.., from, b'-', to] if from.is_ascii_alphanumeric() && to.is_ascii_alphanumeric());
    if !escape && !range {
        return Err(GenerateError::Malformed(format!("[{class}]")));
    }
    let order = [LOWER, UPPER, DIGITS].concat();
    let mut alphabet = Vec::new();
    let mut rest = bytes;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let from = match first {
            b'\\' => {
                let Some((escaped, after)) = rest.split_first() else { break };
                rest = after;
                match escaped {
                    b'w' => alphabet.extend([LOWER, UPPER, DIGITS, "_"].concat().chars()),
                    b'a' => alphabet.extend(order.chars()),
                    b'd' => alphabet.extend(DIGITS.chars()),
                    b'A' => alphabet.extend(SYMBOLS.chars()),
                    _ => return Err(GenerateError::Malformed(format!("[{class}]"))),
                }
                continue;
            }
            b'-' => continue,
            other => char::from(*other),
        };
        let to = match rest {
            [b'-', to, after @ ..] | [to, after @ ..] if to.is_ascii_alphanumeric() => {
                rest = after;
                char::from(*to)
            }
            _ => from,
        };
        match (order.find(from), order.find(to)) {
            (Some(start), Some(end)) if start <= end => alphabet.extend(order[start..=end].chars()),
            _ => return Err(GenerateError::Range(from, to)),
        }
    }
    Ok(alphabet)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(expression: &str) -> Result<String, GenerateError> {
        Generator::new(b"seed", &["P"]).value(expression)
    }

    #[test]
    fn classes_lengths_and_literals() {
        let made = value("user-[a-z0-9]{12}-[A-Z]{3}!").unwrap();
        let middle = made.strip_prefix("user-").unwrap().strip_suffix('!').unwrap();
        let (lower, upper) = middle.split_once('-').unwrap();
        assert!(
            lower.len() == 12 && lower.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()),
            "{made}"
        );
        assert!(upper.len() == 3 && upper.bytes().all(|b| b.is_ascii_uppercase()), "{made}");
        assert_eq!(value("[a-a]{3}").unwrap(), "aaa");
        assert_eq!(value(r"[\d]{255}").unwrap().len(), 255);
        assert!(value(r"[\A]{64}").unwrap().chars().all(|c| SYMBOLS.contains(c)));
        assert_eq!(SYMBOLS.chars().count(), 32);
    }

    #[test]
    fn both_ends_of_a_range_are_in_it() {
        let made = value("[0-1]{255}").unwrap();
        assert!(made.contains('0') && made.contains('1'));
        assert!(value("[a-Z]{255}").unwrap().chars().any(|c| c.is_ascii_uppercase()));
        let made = value("[abc-z]{255}").unwrap();
        assert!(made.contains('a') && made.contains('z'));
    }

    #[test]
    fn what_is_no_class_is_literal() {
        for literal in ["[a-z]", "[a-zA-Z0-9_]{5}", "plain", "[a-z]{}", "[a-z]{x}", "[]{3}", "[a-z]{3"] {
            assert_eq!(value(literal).unwrap(), literal);
            assert!(is_literal(literal), "{literal}");
        }
    }

    #[test]
    fn errors_have_the_originals_words() {
        let text = |expression| value(expression).unwrap_err().to_string();
        assert_eq!(text("[ABC]{3}"), "malformed expresion syntax: [ABC]");
        assert_eq!(text("[Z-A]{3}"), "invalid range specified: Z-A");
        assert_eq!(text("[a-z]{256}"), "range must be within [1-255] characters (256)");
        assert_eq!(text("[a-z]{0}"), "range must be within [1-255] characters (0)");
        assert_eq!(
            text("[a-z]{99999999999999999999999}"),
            "range must be within [1-255] characters (99999999999999999999999)"
        );
        assert!(matches!(value(&"[a-z]{255}".repeat(300)), Err(GenerateError::TooLong)));
    }

    #[test]
    fn equal_keys_make_equal_values_and_others_do_not() {
        let make =
            |secret: &[u8], context: &[&str]| Generator::new(secret, context).value("[a-z]{32}").unwrap();
        assert_eq!(make(b"s", &["t", "P"]), make(b"s", &["t", "P"]));
        assert_ne!(make(b"s", &["t", "P"]), make(b"s", &["tP", ""]));
        assert_ne!(make(b"s", &["t", "P"]), make(b"r", &["t", "P"]));
    }

    #[test]
    fn entropy_is_counted() {
        assert!((entropy_bits("[a-f0-9]{128}").unwrap() - 512.0).abs() < 1e-9);
        assert!(entropy_bits("user[A-Z0-9]{3}").unwrap() < 16.0);
        assert_eq!(entropy_bits("[ABC]{3}"), None);
    }
}
