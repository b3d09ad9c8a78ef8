//! Jinja as Jinja2 behaved in Deployment Manager, on minijinja: undefined names print nothing, nothing is escaped,
//! texts and maps have Python's methods, `%` formats.
//!
//! Templates are [rewritten](rewrite) before they are compiled, so that operators and literals mean what they did:
//! lists and maps change in place, `%` formats. Differences are in `docs/compatibility/deployment-manager.md`.
//!
//! It must not know resources, schemas or YAML.

mod containers;
mod filters;
mod format;
mod functions;
mod methods;
mod rewrite;
mod tokens;

use std::io;

use indexmap::IndexMap;
use minijinja::value::{Value as Jinja, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};
use schema::processing::Problem;
use yaml::{Map, Value};

use crate::imports::Imports;

use containers::{Dict, List};

/// The longest text a filter or method makes, in bytes. Output has a budget of its own.
pub(crate) const LONGEST_TEXT: usize = 16 << 20;

/// What a template sees.
pub(crate) struct Context<'c> {
    pub(crate) properties: Option<&'c Value>,
    pub(crate) env: &'c Map,
    pub(crate) name: &'c Value,
    pub(crate) resource_type: &'c str,
}

/// What a rendering came to.
pub(crate) struct Rendering {
    pub(crate) text: String,
    /// The properties as the template left them, if it changed any list or map.
    pub(crate) properties: Option<Value>,
    /// The environment, likewise.
    pub(crate) env: Option<Map>,
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
        functions::add(&mut environment);
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
    ) -> Result<Rendering, Failed> {
        self.environment.set_fuel(Some(*steps));
        let env = map_to_jinja(context.env);
        let properties = context.properties.map(to_jinja);
        let mut values = IndexMap::from([
            (Jinja::from("env"), env.clone()),
            (Jinja::from("imports"), Jinja::from_object(self.imports.clone())),
            (Jinja::from("name"), to_jinja(context.name)),
            (Jinja::from("type"), Jinja::from(context.resource_type)),
        ]);
        if let Some(properties) = &properties {
            values.insert(Jinja::from("properties"), properties.clone());
        }
        containers::take_changed();
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
        let text = String::from_utf8(text.bytes).map_err(|_| {
            Failed::Template(Box::new(Problem::error("the template's output is not UTF-8").in_file(name)))
        })?;
        if !containers::take_changed() {
            return Ok(Rendering { text, properties: None, env: None });
        }
        let env = from_jinja(&env).and_then(|env| env.as_map().cloned());
        Ok(Rendering { text, properties: properties.as_ref().and_then(from_jinja), env })
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
                // Rewriting keeps lines, not columns: they are those of the template where the line is.
                let line = |text: &str| {
                    text.lines().nth(position.line.saturating_sub(1) as usize).map(str::to_owned)
                };
                let is_written = line(source) == self.imports.files().text(file).and_then(line);
                problem.column =
                    (is_written && Some(position.line) == problem.line).then_some(position.column);
            }
            Box::new(problem)
        };
        match innermost(error) {
            (ErrorKind::OutOfFuel, text) => {
                // minijinja itself runs out of steps, and says no more than that.
                let steps = text == ErrorKind::OutOfFuel.to_string();
                let text = if steps { "the template takes more steps than allowed" } else { &text };
                let problem = Problem::error(format!("Exception in {name}: {text}"));
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

/// A value as templates see it. Data that is nested deeper than templates may nest does not change in place.
pub(crate) fn to_jinja(value: &Value) -> Jinja {
    match value {
        Value::Null => Jinja::from(()),
        Value::Bool(value) => Jinja::from(*value),
        Value::Int(value) => Jinja::from(*value),
        Value::Uint(value) => Jinja::from(*value),
        Value::Float(value) => Jinja::from(*value),
        Value::String(text) => Jinja::from(text.as_str()),
        Value::List(items) => {
            let items = items.iter().map(to_jinja).collect::<Vec<_>>();
            List::of(items.clone()).unwrap_or_else(|_| Jinja::from(items))
        }
        Value::Map(map) => map_to_jinja(map),
    }
}

fn map_to_jinja(map: &Map) -> Jinja {
    let members = map.iter().map(|(key, value)| (Jinja::from(key.as_str()), to_jinja(value)));
    let members = members.collect::<IndexMap<_, _>>();
    Dict::of(members.clone()).unwrap_or_else(|_| Jinja::from_object(members))
}

/// A value as a template left it; nothing if it holds what no document can.
fn from_jinja(value: &Jinja) -> Option<Value> {
    serde_json::to_value(value).ok().map(Value::from_json)
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
    let rendered = renderer.render("t.jinja", &context, &mut steps, &mut output);
    rendered.map(|rendering| rendering.text).map_err(|failed| match failed {
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
    fn lists_and_maps_change_in_place() {
        for (source, text) in [
            (
                "{% set l = [] %}{% if l.append('q') %}{% endif %}{% set _ = l.extend([1, 2]) %}{{ l }}",
                "['q', 1, 2]",
            ),
            (
                "{% set l = [3, 1] %}{% set m = l %}{% set _ = m.insert(0, 2) %}{% set _ = l.sort() %}{{ m }}",
                "[1, 2, 3]",
            ),
            ("{% set l = [1, 2, 3] %}{{ l.pop() }}{{ l.pop(0) }}{% set _ = l.remove(2) %}{{ l }}", "31[]"),
            (
                "{% set l = [1, 2] %}{% set _ = l.reverse() %}{{ l }}{% set _ = l.sort(reverse=true) %}{{ l }}",
                "[2, 1][2, 1]",
            ),
            (
                "{% set d = {'a': 1} %}{% set _ = d.update({'b': [2]}, c=3) %}{{ d }}",
                "{'a': 1, 'b': [2], 'c': 3}",
            ),
            (
                "{% set d = {} %}{% set _ = d.setdefault('l', []).append(1) %}{{ d.l }}{{ d.pop('l') }}{{ d.pop('l', 9) }}",
                "[1][1]9",
            ),
            (
                "{% set _ = properties.l.append('c') %}{{ properties.l }}{{ properties.l[-1] }}",
                "['b', 'a', 'c']c",
            ),
            ("{% for x in [1, 2] %}{% set l = [] %}{% set _ = l.append(x) %}{{ l }}{% endfor %}", "[1][2]"),
            ("{% macro m(l=[]) %}{% set _ = l.append(1) %}{{ l }}{% endmacro %}{{ m() }}{{ m() }}", "[1][1]"),
            (
                "{% set l = 'a b'.split() + [1] %}{% set _ = l.append(2) %}{{ l }}{{ l[1:3] }}{{ [0] * 2 }}",
                "['a', 'b', 1, 2]['b', 1][0, 0]",
            ),
            (
                "{% set l = properties.m.keys()|list %}{% set _ = l.append('z') %}{{ l|sort }}",
                "['x', 'y', 'z']",
            ),
            (
                "{% set a = dict(x=1) %}{% set b = a.copy() %}{% set _ = b.update(x=2) %}{{ a }}{{ b }}",
                "{'x': 1}{'x': 2}",
            ),
            ("{{ [1e20, 1.0, 'it\\'s', none, (1,)] }}", "[1e+20, 1.0, \"it's\", None, (1,)]"),
        ] {
            assert_eq!(render(source).as_deref(), Ok(text), "{source}");
        }
    }

    #[test]
    fn percent_formats_and_divides_as_in_python() {
        for (source, text) in [
            ("{% set f = '%s-%03d' %}{{ f % ('a', 7) }} {{ (f ~ '!') % ('b', 8) }}", "a-007 b-008!"),
            (
                "{{ properties.s % () }} {{ ('%s' % 'x') ~ '%d' % 5 }} {{ '%r %s' % ('a', [1]) }} {{ '%(k)s%%' % {'k': 1} }}",
                "text x5 'a' [1] 1%",
            ),
            ("{{ 7 % 3 }} {{ -7 % 3 }} {{ 7 % -3 }} {{ 7.5 % 2 }} {{ 2 * 5 % 4 }}", "1 2 -2 1.5 2"),
        ] {
            assert_eq!(render(source).as_deref(), Ok(text), "{source}");
        }
        assert!(render("{{ none % 3 }}").unwrap_err().contains("'NoneType' and 'int'"));
        assert!(render("{{ '%s' % (1, 2) }}").unwrap_err().contains("not all arguments"));
        assert!(render("{{ '%s%s' % 1 }}").unwrap_err().contains("not enough arguments"));
        assert!(render("{{ 1 % 0 }}").unwrap_err().contains("by zero"));
    }

    #[test]
    fn nothing_holds_itself_or_gets_deep() {
        for source in [
            "{% set l = [] %}{% set _ = l.append(l) %}",
            "{% set l = [] %}{% set _ = l.append((l,)) %}",
            "{% set a = [] %}{% set b = [a] %}{% set _ = a.append(b) %}",
            "{% set d = {} %}{% set l = [d] %}{% set _ = d.update(l=l) %}",
            "{% set ns = namespace(l=[]) %}{% for i in range(9999) %}{% set ns.l = [ns.l] %}{% endfor %}{{ ns.l }}",
            "{% set ns = namespace(l=[]) %}{% set top = ns.l %}{% for i in range(9999) %}{% set n = [] %}{% set _ = ns.l.append(n) %}{% set ns.l = n %}{% endfor %}",
        ] {
            assert!(
                render(source).unwrap_err().contains("nested too deep"),
                "{source}: {:?}",
                render(source)
            );
        }
        assert!(
            render("{% set l = [1] %}{% for i in range(99) %}{% set _ = l.extend(l) %}{% endfor %}").is_err()
        );
    }

    #[test]
    fn undefined_values_are_lenient_only_when_printed() {
        assert!(render("{{ properties.zz.deeper }}").is_err());
        assert!(render("{{ properties.zz + 1 }}").is_err());
        assert!(
            render("{% for x in properties.m.items %}{% endfor %}").unwrap_err().contains("not iterable")
        );
    }
}
