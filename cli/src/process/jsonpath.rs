//! JSONPath as `kubectl -o jsonpath=…` reads it: text with `{…}` in it, `range` and `end`, wildcards, unions, slices,
//! filters and descent. Keys that are missing print nothing, as there.

use serde_json::Value;

/// A template that was understood.
#[derive(Debug)]
pub(super) struct JsonPath(Vec<Part>);

#[derive(Debug)]
enum Part {
    Text(String),
    Path(Vec<Step>),
    Range(Vec<Step>, Vec<Part>),
}

#[derive(Debug)]
enum Step {
    /// `$`: from the outermost value.
    Root,
    Key(String),
    Wildcard,
    /// `..`: the value and everything in it.
    Descent,
    /// `[a:b:c]`, and `[a]` as the slice of one.
    Slice {
        from: Option<i64>,
        to: Option<i64>,
        by: usize,
    },
    /// `[1,'a']`.
    Union(Vec<Vec<Step>>),
    Filter {
        left: Operand,
        right: Option<(Comparison, Operand)>,
    },
}

#[derive(Debug)]
enum Operand {
    Path(Vec<Step>),
    Literal(Value),
}

#[derive(Debug, Clone, Copy)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Reads a template.
pub(super) fn parse(text: &str) -> Result<JsonPath, String> {
    let mut reader = Reader { rest: text };
    let parts = reader.parts(false)?;
    Ok(JsonPath(parts))
}

struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    fn parts(&mut self, inside: bool) -> Result<Vec<Part>, String> {
        let mut parts = Vec::new();
        loop {
            let Some(open) = self.rest.find('{') else {
                if inside {
                    return Err("a range has no {end}".to_owned());
                }
                parts.push(Part::Text(self.rest.to_owned()));
                return Ok(parts);
            };
            parts.push(Part::Text(self.rest[..open].to_owned()));
            let action = self.action(open + 1)?.trim();
            if action == "end" {
                return if inside { Ok(parts) } else { Err("{end} ends nothing".to_owned()) };
            }
            if let Some(path) = action.strip_prefix("range ") {
                let path = Steps::all(path.trim())?;
                parts.push(Part::Range(path, self.parts(true)?));
            } else if let Some(literal) = quoted(action) {
                parts.push(Part::Text(literal?));
            } else {
                parts.push(Part::Path(Steps::all(action)?));
            }
        }
    }

    /// The text up to the closing brace, which may stand in quotes.
    fn action(&mut self, from: usize) -> Result<&'t str, String> {
        let (mut quote, mut escaped) = (None, false);
        for (at, character) in self.rest[from..].char_indices() {
            match (quote, character) {
                _ if escaped => escaped = false,
                (Some(_), '\\') => escaped = true,
                (Some(open), _) if open == character => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(character),
                (None, '}') => {
                    let action = &self.rest[from..from + at];
                    self.rest = &self.rest[from + at + 1..];
                    return Ok(action);
                }
                (None, _) => {}
            }
        }
        Err("a { is not closed".to_owned())
    }
}

/// The text in quotes, if a text is nothing but that.
fn quoted(text: &str) -> Option<Result<String, String>> {
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut out = String::new();
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => out.push(match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some(other) => other,
                None => return Some(Err("a text ends in a backslash".to_owned())),
            }),
            other if other == quote => return None,
            other => out.push(other),
        }
    }
    Some(Ok(out))
}

/// Reads the steps of a path.
struct Steps<'t> {
    rest: &'t str,
}

impl<'t> Steps<'t> {
    fn all(text: &str) -> Result<Vec<Step>, String> {
        let mut reader = Steps { rest: text };
        let mut steps = Vec::new();
        while !reader.rest.is_empty() {
            reader.step(&mut steps)?;
        }
        Ok(steps)
    }

    fn step(&mut self, steps: &mut Vec<Step>) -> Result<(), String> {
        if let Some(rest) = self.rest.strip_prefix('$') {
            self.rest = rest;
            steps.push(Step::Root);
        } else if let Some(rest) = self.rest.strip_prefix('@') {
            self.rest = rest;
        } else if let Some(rest) = self.rest.strip_prefix("..") {
            steps.push(Step::Descent);
            self.rest = rest;
            if !rest.starts_with('[') {
                self.key(steps);
            }
        } else if let Some(rest) = self.rest.strip_prefix('.') {
            self.rest = rest;
            self.key(steps);
        } else if self.rest.starts_with('[') {
            let inside = self.brackets()?;
            steps.push(bracket(inside.trim())?);
        } else {
            return Err(format!("`{}` is no path", self.rest));
        }
        Ok(())
    }

    /// A name, in which a backslash takes the meaning from a point.
    fn key(&mut self, steps: &mut Vec<Step>) {
        let (mut key, mut length, mut escaped) = (String::new(), 0, false);
        for character in self.rest.chars() {
            match character {
                _ if escaped => {
                    key.push(character);
                    escaped = false;
                }
                '\\' => escaped = true,
                '.' | '[' => break,
                _ => key.push(character),
            }
            length += character.len_utf8();
        }
        self.rest = &self.rest[length..];
        match key.as_str() {
            "" => {}
            "*" => steps.push(Step::Wildcard),
            _ => steps.push(Step::Key(key)),
        }
    }

    fn brackets(&mut self) -> Result<&'t str, String> {
        let (mut depth, mut quote) = (0, None);
        for (at, character) in self.rest.char_indices() {
            match (quote, character) {
                (Some(open), _) if open == character => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(character),
                (None, '[' | '(') => depth += 1,
                (None, ')') => depth -= 1,
                (None, ']') => {
                    depth -= 1;
                    if depth == 0 {
                        let inside = &self.rest[1..at];
                        self.rest = &self.rest[at + 1..];
                        return Ok(inside);
                    }
                }
                (None, _) => {}
            }
        }
        Err("a [ is not closed".to_owned())
    }
}

fn bracket(inside: &str) -> Result<Step, String> {
    let whole = |text: &str| match text.trim() {
        "" => Ok(None),
        text => text.parse::<i64>().map(Some).map_err(|_| format!("`{text}` is no index")),
    };
    if inside == "*" {
        return Ok(Step::Wildcard);
    }
    if let Some(filter) = inside.strip_prefix("?(").and_then(|rest| rest.strip_suffix(')')) {
        return filter_of(filter);
    }
    if let Some(key) = quoted(inside) {
        return Ok(Step::Key(key?));
    }
    if inside.contains(',') {
        let one = |part: &str| bracket(part.trim()).map(|step| vec![step]);
        return Ok(Step::Union(inside.split(',').map(one).collect::<Result<_, _>>()?));
    }
    let parts = inside.split(':').collect::<Vec<_>>();
    match parts.as_slice() {
        [index] => {
            let from = whole(index)?.ok_or("[] has no index")?;
            Ok(Step::Slice { from: Some(from), to: (from != -1).then_some(from + 1), by: 1 })
        }
        [from, to] => Ok(Step::Slice { from: whole(from)?, to: whole(to)?, by: 1 }),
        [from, to, by] => {
            let by = whole(by)?.map_or(Ok(1), usize::try_from).ok().filter(|by| *by > 0);
            Ok(Step::Slice { from: whole(from)?, to: whole(to)?, by: by.ok_or("a step must be above 0")? })
        }
        _ => Err(format!("`[{inside}]` is no slice")),
    }
}

fn filter_of(text: &str) -> Result<Step, String> {
    const OPERATORS: [(&str, Comparison); 6] = [
        ("==", Comparison::Equal),
        ("!=", Comparison::Unequal),
        ("<=", Comparison::LessOrEqual),
        (">=", Comparison::GreaterOrEqual),
        ("<", Comparison::Less),
        (">", Comparison::Greater),
    ];
    let operand = |text: &str| match quoted(text) {
        Some(literal) => Ok(Operand::Literal(Value::String(literal?))),
        None if text.starts_with(['@', '$']) => Steps::all(text).map(Operand::Path),
        None => serde_json::from_str(text).map(Operand::Literal).map_err(|_| format!("`{text}` is no value")),
    };
    let found = OPERATORS.iter().filter_map(|(word, one)| text.find(word).map(|at| (at, *word, *one)));
    match found.min_by_key(|(at, word, _)| (*at, usize::MAX - word.len())) {
        None => Ok(Step::Filter { left: operand(text.trim())?, right: None }),
        Some((at, word, comparison)) => Ok(Step::Filter {
            left: operand(text[..at].trim())?,
            right: Some((comparison, operand(text[at + word.len()..].trim())?)),
        }),
    }
}

impl JsonPath {
    /// What the template says of a value.
    pub(super) fn print(&self, value: &Value) -> String {
        let mut out = String::new();
        write(&self.0, value, value, &mut out);
        out
    }
}

fn write(parts: &[Part], root: &Value, here: &Value, out: &mut String) {
    for part in parts {
        match part {
            Part::Text(text) => out.push_str(text),
            Part::Path(steps) => {
                let shown = select(steps, root, here).into_iter().map(shown).collect::<Vec<_>>();
                out.push_str(&shown.join(" "));
            }
            Part::Range(steps, parts) => {
                select(steps, root, here).into_iter().for_each(|value| write(parts, root, value, out));
            }
        }
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => yaml::to_json(&yaml::Value::from_json(other.clone())),
    }
}

fn select<'v>(steps: &[Step], root: &'v Value, here: &'v Value) -> Vec<&'v Value> {
    let mut found = vec![here];
    for step in steps {
        found = found.into_iter().flat_map(|value| follow(step, root, value)).collect();
    }
    found
}

fn follow<'v>(step: &Step, root: &'v Value, value: &'v Value) -> Vec<&'v Value> {
    match step {
        Step::Root => vec![root],
        Step::Key(key) => value.get(key).into_iter().collect(),
        Step::Wildcard => children(value),
        Step::Descent => {
            let mut all = vec![value];
            let mut at = 0;
            while at < all.len() {
                let inner = children(all[at]);
                all.extend(inner);
                at += 1;
            }
            all
        }
        Step::Slice { from, to, by } => {
            let Some(items) = value.as_array() else { return Vec::new() };
            let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
            let place = |index: i64| if index < 0 { index + length } else { index }.clamp(0, length) as usize;
            let (from, to) = (place(from.unwrap_or(0)), place(to.unwrap_or(length)));
            items.get(from..to).unwrap_or_default().iter().step_by(*by).collect()
        }
        Step::Union(paths) => paths.iter().flat_map(|path| select(path, root, value)).collect(),
        Step::Filter { left, right } => {
            let holds = |item: &&Value| {
                let left = operand(left, root, item);
                match right {
                    None => left.is_some(),
                    Some((comparison, right)) => compare(*comparison, left, operand(right, root, item)),
                }
            };
            children(value).into_iter().filter(holds).collect()
        }
    }
}

fn children(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(items) => items.iter().collect(),
        Value::Object(map) => map.values().collect(),
        _ => Vec::new(),
    }
}

fn operand<'v>(operand: &'v Operand, root: &'v Value, here: &'v Value) -> Option<&'v Value> {
    match operand {
        Operand::Literal(value) => Some(value),
        Operand::Path(steps) => select(steps, root, here).into_iter().next(),
    }
}

fn compare(comparison: Comparison, left: Option<&Value>, right: Option<&Value>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return false };
    let order = match (left, right) {
        (Value::Number(one), Value::Number(other)) => one.as_f64().partial_cmp(&other.as_f64()),
        (Value::String(one), Value::String(other)) => Some(one.cmp(other)),
        (Value::Bool(one), Value::Bool(other)) => Some(one.cmp(other)),
        _ => None,
    };
    match comparison {
        Comparison::Equal => order.is_some_and(std::cmp::Ordering::is_eq),
        Comparison::Unequal => !order.is_some_and(std::cmp::Ordering::is_eq),
        Comparison::Less => order.is_some_and(std::cmp::Ordering::is_lt),
        Comparison::LessOrEqual => order.is_some_and(std::cmp::Ordering::is_le),
        Comparison::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
        Comparison::GreaterOrEqual => order.is_some_and(std::cmp::Ordering::is_ge),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kubectls_forms() {
        let value = json!({"kind": "List", "items": [
            {"metadata": {"name": "a", "labels": {"a.b/c": "x"}}, "n": 1},
            {"metadata": {"name": "b"}, "n": 2},
            {"metadata": {"name": "c"}, "n": 3},
        ]});
        let print = |text: &str| parse(text).map(|path| path.print(&value));
        for (text, expected) in [
            ("{.items[*].metadata.name}", "a b c"),
            ("{.kind}: {.items[0].metadata.name}, {.items[-1].n}", "List: a, 3"),
            ("{range .items[*]}{.metadata.name}={.n}{\"\\n\"}{end}", "a=1\nb=2\nc=3\n"),
            ("{.items[?(@.n>=2)].metadata.name}", "b c"),
            ("{.items[?(@.metadata.name==\"b\")].n}", "2"),
            ("{.items[?(@.metadata.labels)].metadata.name}", "a"),
            ("{.items[0].metadata.labels.a\\.b/c}", "x"),
            ("{.items[0].metadata.labels['a.b/c']}", "x"),
            ("{.items[0,2].n}", "1 3"),
            ("{.items[0:3:2].n}", "1 3"),
            ("{..name}", "a b c"),
            ("{.items[1].metadata}", "{\"name\":\"b\"}"),
            ("{.nothing.at.all}{.items[9]}", ""),
            ("{$.kind}", "List"),
        ] {
            assert_eq!(print(text).as_deref(), Ok(expected), "{text}");
        }
        for text in
            ["{.a", "{range .items[*]}{.n}", "{end}", "{.items[x]}", "{.items[}", "{items}", "{.a[::0]}"]
        {
            assert!(print(text).is_err(), "{text}");
        }
    }
}
