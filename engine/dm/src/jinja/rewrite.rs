//! What Jinja2 had and minijinja has not, said in minijinja's words before a template is compiled. Lines do not move.
//!
//! - `'%s-%d' % (a, b)`, Python's formatting operator: a text literal followed by `%` and an operand becomes the same
//!   with a filter, `('…'|percent_format(a))`. Only literals: of anything else it cannot be told whether `%` is a
//!   remainder, and minijinja's own message says what is wrong.
//! - `{% import 'a' as b %}` without `with context`: the file does not see what the template sees. Its name gets a
//!   mark, by which the loader puts a prelude before it that makes those names undefined.

use std::borrow::Cow;

/// The filter that stands for the operator.
pub(super) const FORMAT: &str = "percent_format";
/// The filter that marks the name of a file that is imported without context.
pub(super) const MARK: &str = "without_context";
/// The mark.
const MARKED: &str = "without context: ";
/// Makes the names of the context undefined.
const PRELUDE: &str = "{% set properties = undefined_here %}{% set env = undefined_here %}{% set imports = undefined_here \
                       %}{% set name = undefined_here %}{% set type = undefined_here %}";

/// A name with the mark.
pub(super) fn marked(name: &str) -> String {
    format!("{MARKED}{name}")
}

/// A name without the mark, and whether it had it.
pub(super) fn unmarked(name: &str) -> (&str, bool) {
    match name.strip_prefix(MARKED) {
        Some(name) => (name, true),
        None => (name, false),
    }
}

/// What is compiled for the source of a file, imported with or without context.
pub(super) fn compiled(source: &str, without_context: bool) -> String {
    let source = rewrite(source);
    if without_context { format!("{PRELUDE}{source}") } else { source.into_owned() }
}

/// Rewrites a template.
fn rewrite(source: &str) -> Cow<'_, str> {
    if !source.contains('%') || !source.contains(['"', '\'']) {
        return Cow::Borrowed(source);
    }
    let mut out = String::new();
    let mut kept = 0;
    let mut at = 0;
    while let Some((open, close)) = next_tag(&source[at..]) {
        let start = at + open;
        if source[start..].starts_with("{#") {
            at = source[start..].find("#}").map_or(source.len(), |end| start + end + 2);
            continue;
        }
        let end = tag_end(source, start + 2, close);
        let inside = &source[start + 2..end];
        if close == "%}" && inside.trim_matches(['-', '+', ' ', '\t', '\n', '\r']) == "raw" {
            at = raw_end(source, end);
            continue;
        }
        let import = (close == "%}").then(|| import(inside)).flatten();
        if let Some(changed) = import.or_else(|| expression(inside, 0)) {
            out.push_str(&source[kept..start + 2]);
            out.push_str(&changed);
            kept = end;
        }
        at = end;
    }
    if kept == 0 {
        return Cow::Borrowed(source);
    }
    out.push_str(&source[kept..]);
    Cow::Owned(out)
}

/// An `import` or `from` tag without `with context`, with its file's name marked.
fn import(inside: &str) -> Option<String> {
    let body = inside.trim_start_matches(['-', '+']).trim_start();
    let rest = body.strip_prefix("import").or_else(|| body.strip_prefix("from"))?;
    let name = rest.trim_start();
    if name.len() == rest.len() && !rest.starts_with(['"', '\'', '(']) {
        return None;
    }
    let words = inside.trim_end_matches(['-', '+', ' ', '\t', '\n', '\r']).split_whitespace().rev();
    if words.take(2).eq(["context", "with"]) {
        return None;
    }
    let from = inside.len() - name.len();
    let to = operand_end(inside.as_bytes(), from)?;
    Some(format!("{}({}|{MARK}){}", &inside[..from], &inside[from..to], &inside[to..]))
}

/// The next `{{`, `{%` or `{#`, and how it closes.
fn next_tag(text: &str) -> Option<(usize, &'static str)> {
    let bytes = text.as_bytes();
    (0..bytes.len().saturating_sub(1)).find_map(|at| match &bytes[at..at + 2] {
        b"{{" => Some((at, "}}")),
        b"{%" => Some((at, "%}")),
        b"{#" => Some((at, "#}")),
        _ => None,
    })
}

/// Where the closing mark of a tag stands: outside texts, and of an expression outside its own braces.
fn tag_end(source: &str, from: usize, close: &str) -> usize {
    let bytes = source.as_bytes();
    let (mut at, mut depth) = (from, 0usize);
    while at < bytes.len() {
        match bytes[at] {
            b'"' | b'\'' => at = literal_end(bytes, at),
            b'{' => {
                depth += 1;
                at += 1;
            }
            b'}' if depth > 0 => {
                depth -= 1;
                at += 1;
            }
            _ if bytes[at..].starts_with(close.as_bytes()) => return at,
            _ => at += 1,
        }
    }
    source.len()
}

fn raw_end(source: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(found) = source[at..].find("{%").map(|found| at + found) {
        let rest = source[found + 2..].trim_start_matches(['-', '+', ' ', '\t', '\n', '\r']);
        if rest.starts_with("endraw") {
            return found;
        }
        at = found + 2;
    }
    source.len()
}

/// One past the end of the text literal that begins at `at`.
fn literal_end(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    let mut end = at + 1;
    while end < bytes.len() {
        match bytes[end] {
            b'\\' => end += 2,
            byte if byte == quote => return end + 1,
            _ => end += 1,
        }
    }
    bytes.len()
}

/// The inside of a tag with the operator replaced, if it has one behind a literal.
fn expression(inside: &str, depth: usize) -> Option<String> {
    // Deeper than this minijinja's parser refuses as well.
    if depth > 50 {
        return None;
    }
    let bytes = inside.as_bytes();
    let mut out = String::new();
    let (mut kept, mut at) = (0, 0);
    while at < bytes.len() {
        if !matches!(bytes[at], b'"' | b'\'') {
            at += 1;
            continue;
        }
        let (start, end) = (at, literal_end(bytes, at));
        at = end;
        let operator = skip_space(bytes, end);
        if bytes.get(operator) != Some(&b'%') || bytes.get(operator + 1) == Some(&b'}') {
            continue;
        }
        let from = skip_space(bytes, operator + 1);
        let Some(to) = operand_end(bytes, from) else { continue };
        // What is between literal and operand is spaces and line ends; those are kept, for line numbers.
        let between = format!("{}{}", &inside[end..operator], &inside[operator + 1..from]);
        let operand = expression(&inside[from..to], depth + 1).unwrap_or_else(|| inside[from..to].to_owned());
        out.push_str(&inside[kept..start]);
        out.push_str(&format!("({}{between}|{FORMAT}({operand}))", &inside[start..end]));
        (kept, at) = (to, to);
    }
    if kept == 0 {
        return None;
    }
    out.push_str(&inside[kept..]);
    Some(out)
}

fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// One past the end of the operand that begins at `at`: a sign, something in brackets, a literal, a number or a
/// name, and what follows it: attributes, items, calls, filters.
fn operand_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    if matches!(bytes.get(at), Some(b'-' | b'+')) {
        at = skip_space(bytes, at + 1);
    }
    let mut end = match bytes.get(at)? {
        b'(' | b'[' | b'{' => group_end(bytes, at)?,
        b'"' | b'\'' => literal_end(bytes, at),
        byte if is_word(*byte) => word_end(bytes, at),
        _ => return None,
    };
    loop {
        let next = skip_space(bytes, end);
        end = match bytes.get(next) {
            Some(b'.') if bytes.get(next + 1).copied().is_some_and(is_word) => word_end(bytes, next + 1),
            Some(b'(' | b'[') if next == end => group_end(bytes, next)?,
            Some(b'|') => {
                let name = skip_space(bytes, next + 1);
                if !bytes.get(name).copied().is_some_and(is_word) {
                    return None;
                }
                word_end(bytes, name)
            }
            _ => return Some(end),
        };
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn word_end(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).copied().is_some_and(is_word) {
        at += 1;
    }
    at
}

fn group_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    while at < bytes.len() {
        match bytes[at] {
            b'"' | b'\'' => {
                at = literal_end(bytes, at);
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn literals_alone_are_rewritten() {
        let same = |text: &str| assert_eq!(rewrite(text), text);
        same("{{ 7 % 3 }} '%s' % x {% if 'a' %}b{% endif %}");
        same("{# '%s' % x #} {% raw %}{{ '%s' % x }}{% endraw %}");
        same("{{ '%' }} {% set a = 'x' %}");
        assert_eq!(rewrite("{{ '%s' % x }}"), "{{ ('%s'  |percent_format(x)) }}");
        assert_eq!(rewrite("{{ '%s' %x.y[0]|upper + 1 }}"), "{{ ('%s' |percent_format(x.y[0]|upper)) + 1 }}");
        assert_eq!(rewrite("{{ {'a': '%s' % (1, ')')} }}"), "{{ {'a': ('%s'  |percent_format((1, ')')))} }}");
    }

    #[test]
    fn imports_without_context_are_marked() {
        assert_eq!(
            rewrite("{%- import 'a.jinja' as a -%}"),
            "{%- import ('a.jinja'|without_context) as a -%}"
        );
        assert_eq!(
            rewrite("{% from 'a' import b, c as d %}"),
            "{% from ('a'|without_context) import b, c as d %}"
        );
        let same = |text: &str| assert_eq!(rewrite(text), text);
        same("{% import 'a' as a with context %}");
        same("{% set importance = 'x' %}{% include 'a' %}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn any_text_is_taken_and_lines_stay(text in "(\\{\\{|\\}\\}|\\{%|%\\}|\\{#|#\\}|'|\"|%|\\(|\\)|x|é|\\\\|raw|endraw| |\n|\\|){0,24}") {
            let rewritten = rewrite(&text);
            prop_assert_eq!(rewritten.matches('\n').count(), text.matches('\n').count());
        }
    }
}
