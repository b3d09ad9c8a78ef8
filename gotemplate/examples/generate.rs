//! Writes template cases with data, one JSON object a line: `generate COUNT SEED`. The same numbers give the same
//! cases. Both `answer` and the Go program in `tests/oracles/gotemplate` answer them; they must agree.
//!
//! Templates are grown from the grammar over the names that occur in the data, with the functions of the profile, so
//! that most of them run and the others fail for every reason there is.

use std::io::Write;
use std::sync::Arc;

use gotemplate::function::{Parameter, Purity};
use gotemplate::profile::Numbers;
use gotemplate::{
    Arena, Budget, Environment, ErrorKind, FixedClock, MissingKey, Options, Profile, Program, Random,
    SeededRandom, render,
};
use serde_json::json;

struct Grower {
    random: SeededRandom,
    profile: &'static Profile,
    names: Vec<&'static str>,
    variables: usize,
    depth: usize,
}

const DATA: &str = r#"{"s":"hello world","t":"a-b_C d","n":5,"f":3.75,"big":1000000,"neg":-7,"b":true,"z":"","nul":null,
"list":[3,1,2],"strs":["b","a","c"],"mixed":[1,"a",null,true,2.5],"m":{"a":1,"b":{"c":"x","d":[1,2]},"e":null},
"maps":[{"k":"v1","n":1},{"k":"v2"}],"empty":{},"el":[],"uni":"Ünï 日本","ml":"l1\nl2\n","v":"1.2.3"}"#;

const PATHS: &[&str] = &[
    ".s",
    ".t",
    ".n",
    ".f",
    ".big",
    ".neg",
    ".b",
    ".z",
    ".nul",
    ".list",
    ".strs",
    ".mixed",
    ".m",
    ".m.a",
    ".m.b",
    ".m.b.c",
    ".m.b.d",
    ".m.e",
    ".maps",
    ".empty",
    ".el",
    ".uni",
    ".ml",
    ".v",
    ".missing",
    ".m.missing",
    ".",
    "$",
    ".missing.x",
    ".nul.x",
    ".s.x",
    "$.s",
    "$.m.b.c",
];

/// Slow, unrepeatable or unordered in Go; compared by other tests.
const LEFT_OUT: &[&str] = &[
    "keys",
    "values",
    "derivePassword",
    "genPrivateKey",
    "genCA",
    "genSelfSignedCert",
    "genSignedCert",
    "buildCustomCert",
    "encryptAES",
    "decryptAES",
    "htpasswd",
    "bcrypt",
    "genCAWithKey",
    "genSelfSignedCertWithKey",
    "genSignedCertWithKey",
    "call",
    "repeat",
    "until",
    "untilStep",
    "seq",
    "ago",
    "include",
    "tpl",
];

impl Grower {
    fn below(&mut self, bound: usize) -> usize {
        let mut bytes = [0; 8];
        self.random.fill(&mut bytes);
        (u64::from_le_bytes(bytes) % bound as u64) as usize
    }

    fn one<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn literal(&mut self, parameter: Parameter) -> String {
        match parameter {
            Parameter::Int | Parameter::Uint32 => {
                self.one(&["0", "1", "2", "5", "-1", "10", "0x10"]).to_owned()
            }
            Parameter::Float => self.one(&["0.5", "1", "2.25"]).to_owned(),
            Parameter::Bool => self.one(&["true", "false"]).to_owned(),
            Parameter::Map => {
                self.one(&[".m", ".empty", "(dict \"a\" 1)", "(dict \"b\" (dict \"q\" 2))"]).to_owned()
            }
            Parameter::List => self.one(&[".list", "(list 1 2)"]).to_owned(),
            Parameter::String => self
                .one(&[
                    "\"a\"",
                    "\"\"",
                    "\"hello\"",
                    "`x y`",
                    "\"%d %v\"",
                    "\"a,b,c\"",
                    "\",\"",
                    "\" \"",
                    "\"[a-c]+\"",
                    "\"1.5\"",
                    "\"{\\\"a\\\": [1, true]}\"",
                    "\"x: 1\"",
                    "\"2006-01-02\"",
                    "\"k\"",
                    "\"é\"",
                    "\"-\"",
                ])
                .to_owned(),
            _ => self.one(&["1", "\"a\"", "2.5", "true", "nil", "'x'", "1e3", "0x1F", "`r`"]).to_owned(),
        }
    }

    fn argument(&mut self, parameter: Parameter) -> String {
        if self.depth > 3 || self.below(5) < 2 {
            if self.below(3) == 0 { self.literal(parameter) } else { self.path() }
        } else if self.below(3) == 0 {
            self.literal(parameter)
        } else {
            self.depth += 1;
            let inner = self.pipeline();
            self.depth -= 1;
            format!("({inner})")
        }
    }

    fn path(&mut self) -> String {
        if self.variables > 0 && self.below(4) == 0 {
            let name = self.below(self.variables);
            let tail = self.one(&["", "", "", ".a", ".k"]);
            return format!("$v{name}{tail}");
        }
        self.one(PATHS).to_owned()
    }

    fn call(&mut self, piped: bool) -> String {
        let names = std::mem::take(&mut self.names);
        let name = names[self.below(names.len())];
        self.names = names;
        let Some(function) = self.profile.function(name) else { return name.to_owned() };
        let mut count = function.parameters.len();
        if function.variadic {
            count = count - 1 + self.below(3);
        }
        if piped {
            count = count.saturating_sub(1);
        }
        // Now and then one too many or too few.
        match self.below(40) {
            0 => count += 1,
            1 => count = count.saturating_sub(1),
            _ => {}
        }
        let mut out = name.to_owned();
        for at in 0..count {
            let last = function.parameters.len().saturating_sub(1);
            let parameter = function.parameters.get(at.min(last)).copied().unwrap_or(Parameter::Any);
            out.push(' ');
            out.push_str(&self.argument(parameter));
        }
        out
    }

    fn pipeline(&mut self) -> String {
        let mut out = if self.below(3) == 0 { self.path() } else { self.call(false) };
        while self.below(4) == 0 {
            out.push_str(" | ");
            out.push_str(&self.call(true));
        }
        out
    }

    fn body(&mut self, length: usize) -> String {
        let mut out = String::new();
        for _ in 0..length {
            let text = self.one(&["", " ", "x", "\n", " a: ", "-"]);
            out.push_str(text);
            out.push_str(&self.action());
        }
        out
    }

    fn action(&mut self) -> String {
        let (open, close) = (self.one(&["{{", "{{", "{{- "]), self.one(&["}}", "}}", " -}}"]));
        let kind = if self.depth > 2 { self.below(6) } else { self.below(12) };
        self.depth += 1;
        let variables = self.variables;
        let out = match kind {
            0..=5 => format!("{open}{}{close}", self.pipeline()),
            6 => {
                let value = self.pipeline();
                self.variables += 1;
                let action = format!("{open}$v{} := {value}{close}", self.variables - 1);
                self.depth -= 1;
                return action;
            }
            7 | 8 => {
                let condition = self.pipeline();
                let then = self.body(1);
                self.variables = variables;
                let otherwise =
                    if self.below(2) == 0 { String::new() } else { format!("{{{{else}}}}{}", self.body(1)) };
                format!("{open}if {condition}{close}{then}{otherwise}{{{{end}}}}")
            }
            9 => {
                let value = self.pipeline();
                format!("{open}with {value}{close}{}{{{{else}}}}-{{{{end}}}}", self.body(1))
            }
            _ => {
                let value = if self.below(3) == 0 {
                    self.pipeline()
                } else {
                    self.one(&[".list", ".m", ".maps", ".strs", ".mixed", "3", ".m.b"]).to_owned()
                };
                let names = self.one(&["", "$i, $e := ", "$e := "]);
                let inside = match names {
                    "" => "{{.}}",
                    "$e := " => "{{$e}}",
                    _ => "{{$i}}={{$e}}",
                };
                let stop = self.one(&["", "", "", "{{break}}", "{{if .}}{{continue}}{{end}}"]);
                format!(
                    "{open}range {names}{value}{close}{inside}{stop}{}{{{{else}}}}none{{{{end}}}}",
                    self.body(1)
                )
            }
        };
        self.variables = variables;
        self.depth -= 1;
        out
    }
}

fn ends_in_a_limit(
    profile: &'static Profile,
    template: &str,
    data: &str,
    numbers: Numbers,
    missing_key: MissingKey,
) -> bool {
    let mut program = Program::empty("t", profile, Options { missing_key, ..Options::default() });
    if program.add("t", template).is_err() {
        return false;
    }
    let program = Arc::new(program);
    let arena = Arena::new();
    let Ok(data) = gotemplate::json::decode(data.as_bytes(), numbers, &arena) else { return false };
    let mut environment =
        Environment { budget: Budget::default(), clock: &FixedClock(0), random: &mut SeededRandom(1) };
    let result = render(&program, "t", data, &arena, &mut environment, &mut Vec::new());
    result.is_err_and(|error| matches!(error.kind, ErrorKind::Limit(_)))
}

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number =
        |otherwise| arguments.next().and_then(|text| text.parse::<u64>().ok()).unwrap_or(otherwise);
    let (count, seed) = (number(1000), number(1));
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let data: serde_json::Value = serde_json::from_str(DATA)?;
    for case in 0..count {
        let mut random = SeededRandom(seed.wrapping_mul(1_000_003).wrapping_add(case));
        let mut byte = [0; 2];
        random.fill(&mut byte);
        let profile = gotemplate::profile::ALL[usize::from(byte[0]) % gotemplate::profile::ALL.len()];
        let names = profile
            .names()
            .into_iter()
            .filter(|name| !LEFT_OUT.contains(name))
            .filter(|name| profile.function(name).is_some_and(|function| function.purity == Purity::Pure))
            .collect();
        let mut grower = Grower { random, profile, names, variables: 0, depth: 0 };
        let length = 1 + grower.below(3);
        let template = grower.body(length);
        let (numbers_name, numbers) =
            [("float", Numbers::Float), ("int", Numbers::Int), ("int64", Numbers::Int64)]
                [usize::from(byte[1]) % 3];
        let (missing, missing_key) = [
            ("", MissingKey::Invalid),
            ("", MissingKey::Invalid),
            ("zero", MissingKey::Zero),
            ("error", MissingKey::Error),
        ][usize::from(byte[1] >> 4) % 4];
        let case = json!({
            "profile": profile.name, "name": "t", "template": template, "data": data.to_string(),
            "numbers": numbers_name, "missing": missing,
        });
        // A value that contains itself ends Go's process, and huge outputs are only ours to stop: nothing to compare.
        let template = case["template"].as_str().unwrap_or_default();
        if !ends_in_a_limit(profile, template, &data.to_string(), numbers, missing_key) {
            writeln!(out, "{case}")?;
        }
    }
    Ok(())
}
