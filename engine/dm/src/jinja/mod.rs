//! Jinja as Jinja2 behaved in Deployment Manager, on minijinja: undefined names print nothing, nothing is escaped,
//! texts and maps have Python's methods, `%` formats.
//!
//! Where minijinja cannot do what Jinja2 did (lists that change in place), it refuses with a message that says so;
//! nothing is rendered differently in silence. Differences are in `docs/compatibility/deployment-manager.md`.
//!
//! It must not know resources, schemas or YAML.

mod filters;
mod methods;
mod rewrite;

use std::io;

use indexmap::IndexMap;
use minijinja::value::{Value as Jinja, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};
use schema::processing::Problem;
use yaml::{Map, Value};

use crate::imports::Imports;

/// The longest text a filter or method makes, in bytes. Output has a budget of its own.
pub(crate) const LONGEST_TEXT: usize = 16 << 20;

/// What a template sees.
pub(crate) struct Context<'c> {
    pub(crate) properties: Option<&'c Value>,
    pub(crate) env: &'c Map,
    pub(crate) name: &'c Value,
    pub(crate) resource_type: &'c str,
}

/// Why a rendering failed.
pub(crate) enum Failed {
    /// The template is wrong, or what it does with its properties.
    Template(Box<Problem>),
    /// More steps or more output than allowed.
    Limit(Box<Problem>),
}

/// Renders the templates of one set of files.
pub(crate) struct Renderer {
    imports: Imports,
    environment: Environment<'static>,
}

impl Renderer {
    /// For templates that see these imports. They are compiled as they are needed, once.
    pub(crate) fn new(imports: Imports) -> Renderer {
        let mut environment = Environment::new();
        environment.set_undefined_behavior(UndefinedBehavior::Lenient);
        environment.set_auto_escape_callback(|_| AutoEscape::None);
        environment.set_debug(true);
        environment.set_recursion_limit(100);
        environment.set_unknown_method_callback(methods::call);
        filters::add(&mut environment);
        let files = imports.clone();
        environment.set_loader(move |name| {
            let (name, without_context) = rewrite::unmarked(name);
            Ok(files.text(name).map(|source| rewrite::compiled(source, without_context)))
        });
        environment.set_formatter(|out, state, value| match python_float(value) {
            Some(text) => out.write_str(&text).map_err(|_| Error::from(ErrorKind::WriteFailure)),
            None => minijinja::escape_formatter(out, state, value),
        });
        Renderer { imports, environment }
    }

    /// Renders the template of that name. Takes the steps and bytes it uses off what is left.
    pub(crate) fn render(
        &mut self,
        name: &str,
        context: &Context<'_>,
        steps: &mut u64,
        output: &mut u64,
    ) -> Result<String, Failed> {
        self.environment.set_fuel(Some(*steps));
        let mut values = IndexMap::from([
            (Jinja::from("env"), map_to_jinja(context.env)),
            (Jinja::from("imports"), Jinja::from_object(self.imports.clone())),
            (Jinja::from("name"), to_jinja(context.name)),
            (Jinja::from("type"), Jinja::from(context.resource_type)),
        ]);
        if let Some(properties) = context.properties {
            values.insert(Jinja::from("properties"), to_jinja(properties));
        }
        let context = Jinja::from_object(values);
        let mut text = Capped { bytes: Vec::new(), left: *output };
        let failed = |error: Error| self.failed(name, &error, *output);
        let template = self.environment.get_template(name).map_err(failed)?;
        let captured = template.render_captured_to(context, &mut text);
        let used = match &captured {
            Ok(captured) => captured.state().fuel_levels().map_or(0, |(consumed, _)| consumed),
            // What a failed rendering used does not matter: the whole fails with it.
            Err(_) => 0,
        };
        captured.map_err(failed)?;
        *steps = steps.saturating_sub(used);
        *output = text.left;
        String::from_utf8(text.bytes).map_err(|_| {
            Failed::Template(Box::new(Problem::error("the template's output is not UTF-8").in_file(name)))
        })
    }

    fn failed(&self, name: &str, error: &Error, output: u64) -> Failed {
        let inner = error.name().map(|name| rewrite::unmarked(name).0);
        let file = inner
            .and_then(|name| self.imports.path(name))
            .or_else(|| self.imports.path(name))
            .unwrap_or(name);
        let place = |mut problem: Problem| {
            problem = problem.in_file(file);
            problem.line = error.line().and_then(|line| u32::try_from(line).ok());
            if let (Some(range), Some(source)) = (error.range(), error.template_source()) {
                let position = yaml::Position::of_offset(source, range.start);
                problem.column = (Some(position.line) == problem.line).then_some(position.column);
            }
            Box::new(problem)
        };
        match innermost(error) {
            (ErrorKind::OutOfFuel, _) => {
                let problem = Problem::error(format!(
                    "Exception in {name}: the template takes more steps than allowed"
                ));
                Failed::Limit(place(problem.hint("look for a loop that runs too often")))
            }
            (ErrorKind::WriteFailure, _) => {
                let problem = Problem::error(format!(
                    "Exception in {name}: the template writes more than {output} bytes"
                ));
                Failed::Limit(place(problem.hint("look for a loop that runs too often")))
            }
            (_, text) => Failed::Template(place(Problem::error(format!("Exception in {name}: {text}")))),
        }
    }
}

/// The kind and text of what went wrong at the bottom of includes and blocks.
fn innermost(error: &Error) -> (ErrorKind, String) {
    let mut here = error;
    while let Some(deeper) = std::error::Error::source(here).and_then(|source| source.downcast_ref::<Error>())
    {
        here = deeper;
    }
    let text = match here.detail() {
        Some(detail) if here.kind() == ErrorKind::SyntaxError => format!("syntax error: {detail}"),
        Some(detail) => detail.to_owned(),
        None => here.kind().to_string(),
    };
    (here.kind(), text)
}

/// Takes bytes until the budget is used up.
struct Capped {
    bytes: Vec<u8>,
    left: u64,
}

impl io::Write for Capped {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(left) = self.left.checked_sub(bytes.len() as u64) else {
            return Err(io::Error::other("the output is too long"));
        };
        self.left = left;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A float as Python prints it: `1e+20`, where minijinja writes all digits.
fn python_float(value: &Jinja) -> Option<String> {
    if value.kind() != ValueKind::Number || value.is_integer() {
        return None;
    }
    f64::try_from(value.clone()).ok().map(crate::python::float)
}

/// A value as templates see it.
pub(crate) fn to_jinja(value: &Value) -> Jinja {
    match value {
        Value::Null => Jinja::from(()),
        Value::Bool(value) => Jinja::from(*value),
        Value::Int(value) => Jinja::from(*value),
        Value::Uint(value) => Jinja::from(*value),
        Value::Float(value) => Jinja::from(*value),
        Value::String(text) => Jinja::from(text.as_str()),
        Value::List(items) => Jinja::from(items.iter().map(to_jinja).collect::<Vec<_>>()),
        Value::Map(map) => map_to_jinja(map),
    }
}

fn map_to_jinja(map: &Map) -> Jinja {
    let members = map.iter().map(|(key, value)| (Jinja::from(key.as_str()), to_jinja(value)));
    Jinja::from_object(members.collect::<IndexMap<_, _>>())
}

/// Renders one text alone, with these properties, under a budget: for fuzzing and benchmarks.
///
/// # Errors
/// What went wrong, in words.
pub fn render_alone(source: &str, properties: &Value, steps: u64, output: u64) -> Result<String, String> {
    let files = [("t.jinja", source.as_bytes().to_vec())].into_iter().collect();
    let mut renderer = Renderer::new(Imports::of(&files));
    let (mut steps, mut output) = (steps, output);
    let context = Context {
        properties: Some(properties),
        env: &Map::new(),
        name: &Value::from("t"),
        resource_type: "t.jinja",
    };
    renderer.render("t.jinja", &context, &mut steps, &mut output).map_err(|failed| match failed {
        Failed::Template(problem) | Failed::Limit(problem) => problem.message,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(source: &str) -> Result<String, String> {
        let properties =
            yaml::load("{l: [b, a], m: {y: 1, x: 2}, s: text, n: null}", &yaml::Options::pyyaml());
        render_alone(source, &properties.unwrap().unwrap().value, 100_000, 100_000)
    }

    #[test]
    fn values_print_as_python_prints_them() {
        for (source, text) in [
            (
                "{{ properties.m }} {{ properties.l }} {{ none }} {{ true }} {{ 1.0 }} {{ (1, 2) }}",
                "{'y': 1, 'x': 2} ['b', 'a'] None True 1.0 (1, 2)",
            ),
            ("{{ 'x' ~ none ~ true ~ 1 ~ ['a'] }}", "xNoneTrue1['a']"),
            ("[{{ nothing }}] [{{ properties.zz }}]", "[] []"),
            ("{{ '%s=%d %5.2f|%-4s|%x' % ('k', 3, 2.5, 'ab', 255) }}", "k=3  2.50|ab  |ff"),
            ("{{ '%s' % properties.s }} {{ '%s!' % (properties.s|upper) }} {{ 7 % 3 }}", "text TEXT! 1"),
            ("{{ '%03d' % 7 + 'x' }}", "007x"),
            ("{% for k, v in properties.m.iteritems() %}{{ k }}{{ v }}{% endfor %}", "y1x2"),
            ("{{ properties.m.has_key('x') }} {{ '7'.zfill(3) }} {{ 'a'.center(5, '*') }}", "True 007 **a**"),
            (
                "{{ 2.5|round }} {{ 2.567|round(1) }} {{ 3.5|round|int }} {{ 'x'|int }} {{ 'x'|int(9) }} {{ '42'|int + 1 }}",
                "2.0 2.6 4 0 9 43",
            ),
        ] {
            assert_eq!(render(source).as_deref(), Ok(text), "{source}");
        }
    }

    #[test]
    fn what_runs_away_is_stopped() {
        assert!(
            render("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}")
                .unwrap_err()
                .contains("steps")
        );
        assert!(
            render("{% for a in range(9999) %}aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa{% endfor %}")
                .unwrap_err()
                .contains("bytes")
        );
        assert!(render("{{ 'a'.center(99999999999) }}").unwrap_err().contains("long"));
        assert!(render("{{ ('a' * 100000)|replace('a', 'b' * 100000) }}").unwrap_err().contains("long"));
        assert!(render("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}").is_err());
    }

    #[test]
    fn what_cannot_be_done_says_so() {
        assert!(
            render("{% set l = [] %}{% if l.append(1) %}{% endif %}")
                .unwrap_err()
                .contains("cannot be changed in place")
        );
        assert!(render("{{ properties.zz.deeper }}").is_err());
        assert!(render("{{ properties.zz + 1 }}").is_err());
    }
}
