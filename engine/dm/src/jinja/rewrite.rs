//! What Jinja2 had and minijinja has not, said in minijinja's words before a template is compiled. Lines do not move.
//!
//! - `a % b`, Python's operator: `__mod(a, b)`, which formats where `a` is a text.
//! - `[…]` and `{…}`: `__list(…)` and `__dict(…)`, lists and maps that change in place, made anew each time.
//! - `a + b`, `a * b`, `a ~ b` and slices: the same within `__fresh(…)`, for their results may be lists as well, and
//!   texts have a longest.
//! - `a.items` without a call: `__attr(a, 'items')`, for a map's methods go before its members; `a.__class__` as well,
//!   for there are no objects of Python to have one.
//! - `{% import 'a' as b %}` without `with context`: the file does not see what the template sees. Its name gets a
//!   mark, by which the loader puts a prelude before it that makes those names undefined.
//!
//! The grammar is Jinja2's for expressions, as far as it takes to know what an operator applies to; whatever is not
//! understood is left as it is, for the compiler to say what is wrong.

use std::borrow::Cow;

use super::tokens::{Token, tokens};

/// The functions that rewritten templates call.
pub(super) const MOD: &str = "__mod";
pub(super) const LIST: &str = "__list";
pub(super) const DICT: &str = "__dict";
pub(super) const FRESH: &str = "__fresh";
pub(super) const ATTRIBUTE: &str = "__attr";
/// The filter that marks the name of a file that is imported without context.
pub(super) const MARK: &str = "without_context";
/// The mark.
const MARKED: &str = "without context: ";
/// Makes the names of the context undefined.
const PRELUDE: &str = "{% set properties = undefined_here %}{% set env = undefined_here %}{% set imports = undefined_here \
                       %}{% set name = undefined_here %}{% set type = undefined_here %}";

/// How deep brackets are followed; the compiler refuses what is deeper as well.
const DEEPEST: usize = 50;

/// Methods of Python's maps: a member of that name is reached with `[…]` alone.
const MAP_METHODS: &[&str] = &[
    "clear",
    "copy",
    "fromkeys",
    "get",
    "has_key",
    "items",
    "iteritems",
    "iterkeys",
    "itervalues",
    "keys",
    "pop",
    "popitem",
    "setdefault",
    "update",
    "values",
];

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
pub(super) fn rewrite(source: &str) -> Cow<'_, str> {
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
        if let Some(changed) = tag(inside, close == "%}") {
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
            b'"' | b'\'' => at = super::tokens::literal_end(bytes, at),
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

/// The inside of a tag rewritten; nothing if it stays as it is.
fn tag(inside: &str, is_statement: bool) -> Option<String> {
    let body = inside.strip_prefix(['-', '+']).unwrap_or(inside);
    let head = &inside[..inside.len() - body.len()];
    let (body, tail) = match body.strip_suffix(['-', '+']) {
        Some(before) => (before, &body[before.len()..]),
        None => (body, ""),
    };
    let mut parser = Parser { tokens: tokens(body)?, at: 0, depth: 0, changed: false };
    let mut out = String::new();
    if is_statement && matches!(parser.word(), Some("import" | "from")) {
        let with_context = parser.tokens.iter().rev().map(|token| token.text).take(2).eq(["context", "with"]);
        parser.copy(&mut out);
        if !with_context && parser.at < parser.tokens.len() {
            let name = parser.sum()?;
            let text = name.trim_start();
            out.push_str(&format!("{}({text}|{MARK})", &name[..name.len() - text.len()]));
            parser.changed = true;
        }
    }
    parser.sequence(&mut out)?;
    if parser.at < parser.tokens.len() || !parser.changed {
        return None;
    }
    let spaces = &body[body.trim_end().len()..];
    Some(format!("{head}{out}{spaces}{tail}"))
}

/// Words that are no operands.
fn is_keyword(word: &str) -> bool {
    matches!(word, "and" | "or" | "not" | "in" | "is" | "if" | "else" | "elif" | "for" | "recursive")
}

/// Reads tokens and writes them again. A part that was read is the text before its first token and itself.
struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
    depth: usize,
    changed: bool,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t str> {
        self.tokens.get(self.at).map(|token| token.text)
    }

    /// The next token if it is a word.
    fn word(&self) -> Option<&'t str> {
        self.peek().filter(|text| text.starts_with(|c: char| c.is_alphabetic() || c == '_'))
    }

    /// Takes the next token: the space before it and its text.
    fn take(&mut self) -> Option<Token<'t>> {
        let token = self.tokens.get(self.at).copied()?;
        self.at += 1;
        Some(token)
    }

    fn copy(&mut self, out: &mut String) {
        if let Some(token) = self.take() {
            out.push_str(token.space);
            out.push_str(token.text);
        }
    }

    /// Everything up to a closing bracket or the end: sums where one begins, and whatever is between them.
    fn sequence(&mut self, out: &mut String) -> Option<()> {
        while let Some(next) = self.peek() {
            match next {
                ")" | "]" | "}" => return Some(()),
                "-" | "+" | "(" | "[" | "{" => out.push_str(&self.sum()?),
                _ if next.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\''))
                    && !is_keyword(next) =>
                {
                    out.push_str(&self.sum()?);
                }
                _ => self.copy(out),
            }
        }
        Some(())
    }

    /// `a + b - c`.
    fn sum(&mut self) -> Option<String> {
        let mut left = self.joined()?;
        while let Some(operator @ ("+" | "-")) = self.peek() {
            left = self.operation(left, operator, Parser::joined)?;
        }
        Some(left)
    }

    /// `a ~ b`.
    fn joined(&mut self) -> Option<String> {
        let mut left = self.product()?;
        while let Some(operator @ "~") = self.peek() {
            left = self.operation(left, operator, Parser::product)?;
        }
        Some(left)
    }

    /// `a * b / c // d % e`.
    fn product(&mut self) -> Option<String> {
        let mut left = self.power()?;
        while let Some(operator @ ("*" | "/" | "//" | "%")) = self.peek() {
            left = self.operation(left, operator, Parser::power)?;
        }
        Some(left)
    }

    /// `a ** b`.
    fn power(&mut self) -> Option<String> {
        let mut left = self.unary()?;
        while let Some(operator @ "**") = self.peek() {
            left = self.operation(left, operator, Parser::unary)?;
        }
        Some(left)
    }

    /// One operator with its right side, and what they make of the left.
    fn operation(
        &mut self,
        left: String,
        operator: &str,
        right: fn(&mut Parser<'t>) -> Option<String>,
    ) -> Option<String> {
        let space = self.take()?.space;
        let right = right(self)?;
        let function = match operator {
            "%" => MOD,
            "+" | "*" | "~" => FRESH,
            _ => return Some(format!("{left}{space}{operator}{right}")),
        };
        self.changed = true;
        let text = left.trim_start();
        let before = &left[..left.len() - text.len()];
        let between = if function == MOD { "," } else { operator };
        Some(format!("{before}{function}({text}{space}{between}{right})"))
    }

    /// An operand with a sign, and with filters and tests, which apply to the signed.
    fn unary(&mut self) -> Option<String> {
        let mut operand = self.signed()?;
        loop {
            match self.peek() {
                Some("|") => {
                    self.copy(&mut operand);
                    self.name(&mut operand)?;
                    if self.peek() == Some("(") {
                        self.group(&mut operand)?;
                    }
                }
                Some("is") => {
                    self.copy(&mut operand);
                    if self.peek() == Some("not") {
                        self.copy(&mut operand);
                    }
                    self.name(&mut operand)?;
                    match self.peek() {
                        Some("(") => self.group(&mut operand)?,
                        Some(next)
                            if !is_keyword(next)
                                && next
                                    .starts_with(|c: char| c.is_alphanumeric() || "_\"'[{".contains(c)) =>
                        {
                            operand.push_str(&self.primary()?);
                        }
                        _ => {}
                    }
                }
                _ => return Some(operand),
            }
        }
    }

    /// The name of a filter or a test, which may have dots.
    fn name(&mut self, out: &mut String) -> Option<()> {
        self.word()?;
        self.copy(out);
        while self.peek() == Some(".") {
            self.copy(out);
            self.word()?;
            self.copy(out);
        }
        Some(())
    }

    fn signed(&mut self) -> Option<String> {
        let mut signs = String::new();
        let mut plus = false;
        while let Some(sign @ ("-" | "+")) = self.peek() {
            let space = self.take()?.space;
            signs.push_str(space);
            // minijinja has no sign that changes nothing.
            if sign == "-" {
                signs.push('-');
            } else {
                plus = true;
            }
        }
        self.changed |= plus;
        Some(signs + &self.primary()?)
    }

    /// A literal, a name or something in brackets, with what follows it: attributes, items, calls.
    fn primary(&mut self) -> Option<String> {
        let mut operand = String::new();
        match self.peek()? {
            "(" => self.group(&mut operand)?,
            bracket @ ("[" | "{") => {
                let space = self.take()?.space;
                let (function, inside) = match bracket {
                    "[" => (LIST, self.items("]", false)?),
                    _ => (DICT, self.items("}", true)?),
                };
                self.changed = true;
                operand = format!("{space}{function}({inside})");
            }
            next if next.starts_with(['"', '\'']) => {
                // Texts beside each other are one.
                while self.peek().is_some_and(|next| next.starts_with(['"', '\''])) {
                    self.copy(&mut operand);
                }
            }
            next if next.starts_with(|c: char| c.is_alphanumeric() || c == '_') && !is_keyword(next) => {
                self.copy(&mut operand);
            }
            _ => return None,
        }
        loop {
            match self.peek() {
                Some(".") => self.attribute(&mut operand)?,
                Some("(") => self.group(&mut operand)?,
                Some("[") => self.subscript(&mut operand)?,
                _ => return Some(operand),
            }
        }
    }

    fn attribute(&mut self, operand: &mut String) -> Option<()> {
        let mut dot = String::new();
        self.copy(&mut dot);
        let name = self.take()?;
        let is_method =
            (MAP_METHODS.contains(&name.text) && self.peek() != Some("(")) || name.text.starts_with("__");
        if !is_method || !name.space.is_empty() || dot.len() > 1 {
            operand.push_str(&dot);
            operand.push_str(name.space);
            operand.push_str(name.text);
            return Some(());
        }
        self.changed = true;
        let text = operand.trim_start();
        let before = &operand[..operand.len() - text.len()];
        *operand = format!("{before}{ATTRIBUTE}({text}, '{}')", name.text);
        Some(())
    }

    fn subscript(&mut self, operand: &mut String) -> Option<()> {
        let mut inside = String::new();
        self.copy(&mut inside);
        self.deeper()?;
        let from = self.at;
        self.sequence(&mut inside)?;
        let mut depth = 0usize;
        let is_slice = self.tokens[from..self.at].iter().any(|token| match token.text {
            "(" | "[" | "{" => {
                depth += 1;
                false
            }
            ")" | "]" | "}" => {
                depth = depth.saturating_sub(1);
                false
            }
            text => depth == 0 && text == ":",
        });
        self.close("]", &mut inside)?;
        if is_slice {
            self.changed = true;
            let text = operand.trim_start();
            let before = &operand[..operand.len() - text.len()];
            *operand = format!("{before}{FRESH}({text}{inside})");
        } else {
            operand.push_str(&inside);
        }
        Some(())
    }

    /// Something in parentheses: arguments, a tuple, an expression.
    fn group(&mut self, out: &mut String) -> Option<()> {
        self.copy(out);
        self.deeper()?;
        self.sequence(out)?;
        self.close(")", out)
    }

    /// The items of a list or map as arguments: a colon between key and value becomes a comma, one at the end goes.
    fn items(&mut self, end: &str, is_map: bool) -> Option<String> {
        self.deeper()?;
        let mut out = String::new();
        while let Some(next) = self.peek() {
            match next {
                _ if next == end => break,
                ":" if is_map => {
                    out.push_str(self.take()?.space);
                    out.push(',');
                }
                "," if self.tokens.get(self.at + 1).is_some_and(|token| token.text == end) => {
                    out.push_str(self.take()?.space);
                }
                "," => self.copy(&mut out),
                ":" | ")" | "]" | "}" => return None,
                "-" | "+" | "(" | "[" | "{" => out.push_str(&self.sum()?),
                _ if next.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '\''))
                    && !is_keyword(next) =>
                {
                    out.push_str(&self.sum()?);
                }
                _ => self.copy(&mut out),
            }
        }
        let token = self.take()?;
        self.depth -= 1;
        out.push_str(token.space);
        (token.text == end).then_some(out)
    }

    fn deeper(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= DEEPEST).then_some(())
    }

    fn close(&mut self, bracket: &str, out: &mut String) -> Option<()> {
        self.depth -= 1;
        (self.peek()? == bracket).then(|| self.copy(out))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn operators_and_literals_are_rewritten() {
        for (source, expected) in [
            ("{{ a }} '%s' % x {% if 'a' %}b{% endif %}", "{{ a }} '%s' % x {% if 'a' %}b{% endif %}"),
            (
                "{# '%s' % x #} {% raw %}{{ '%s' % x }}{% endraw %}",
                "{# '%s' % x #} {% raw %}{{ '%s' % x }}{% endraw %}",
            ),
            ("{{ '%' }} {% set a = 'x' -%}", "{{ '%' }} {% set a = 'x' -%}"),
            ("{{ '%s' % x }}", "{{ __mod('%s' , x) }}"),
            ("{{ 'a%s' % x.y[0]|upper + 1 }}", "{{ __fresh(__mod('a%s' , x.y[0]|upper) + 1) }}"),
            ("{{ 7 % 3 is odd }}", "{{ __mod(7 , 3 is odd) }}"),
            ("{{ a * b % c - d }}", "{{ __mod(__fresh(a * b) , c) - d }}"),
            ("{%- set l = [1, [a if b else c,],] -%}", "{%- set l = __list(1, __list(a if b else c)) -%}"),
            ("{{ {'a': '%s' % (1, ')'), b: {}} }}", "{{ __dict('a', __mod('%s' , (1, ')')), b, __dict()) }}"),
            ("{% for k, v in d.items() if k in [1] %}", "{% for k, v in d.items() if k in __list(1) %}"),
            (
                "{{ d.items }} {{ x[1:] }} {{ x[y[1:2]] }}",
                "{{ __attr(d, 'items') }} {{ __fresh(x[1:]) }} {{ x[__fresh(y[1:2])] }}",
            ),
            (
                "{% macro m(a, b=[]) %}{{ -a.b(c=1)|f(1) }}",
                "{% macro m(a, b=__list()) %}{{ -a.b(c=1)|f(1) }}",
            ),
            ("{{ [1 }}", "{{ [1 }}"),
            ("{{ +5 - -a }}", "{{ 5 - -a }}"),
            (
                "{{ x is divisibleby 3 }}{{ 1 if x is not none else 'b' }}",
                "{{ x is divisibleby 3 }}{{ 1 if x is not none else 'b' }}",
            ),
        ] {
            assert_eq!(rewrite(source), expected, "{source}");
        }
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
        fn any_text_is_taken_and_lines_stay(text in "(\\{\\{|\\}\\}|\\{%|%\\}|\\{#|#\\}|'|\"|%|\\(|\\)|\\[|\\]|:|,|\\.items|x|é|\\\\|raw|import|is|endraw| |\n|\\||\\+){0,24}") {
            let rewritten = rewrite(&text);
            prop_assert_eq!(rewritten.matches('\n').count(), text.matches('\n').count());
        }
    }
}
