//! One use of a template: its properties are checked, it is run, and the resources it makes are expanded in turn.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use schema::Severity;
use schema::processing::{Cause, Problem};
use yaml::{Spans, Value};

use super::{Expansion, Level, Rendered, Source, Use};
use crate::imports::Imports;
use crate::interpreter::{Call, InterpreterError, Language, Made};
use crate::jinja::{Context, Failed, Renderer};
use crate::layout::{self, Expanded};
use crate::properties;
use crate::python::text;
use crate::resource::outputs_of;
use crate::schema_file::{self, SchemaFile};
use crate::trail::{Trail, endless};

/// The most templates expanded for one request, whatever they make.
const MOST_EXPANSIONS: usize = 10_000;

/// Files a template sees, what renders it, and the templates among them, read.
pub(super) struct Scope {
    pub(super) imports: Imports,
    /// The reference its files were provided for; `None` for those that were sent.
    asked: Option<String>,
    /// Whether Jinja2 itself renders its Jinja.
    jinja2: bool,
    renderer: Option<Renderer>,
    /// What an interpreter is given: every text by name.
    texts: Option<Rc<BTreeMap<String, String>>>,
    templates: HashMap<String, Rc<Prepared>>,
}

impl Scope {
    pub(super) fn new(imports: Imports, asked: Option<String>, jinja2: bool) -> Scope {
        Scope { imports, asked, jinja2, renderer: None, texts: None, templates: HashMap::new() }
    }

    /// How messages name one of its files: `redis:v1/helper.py` tells it from one of the template's own.
    fn shown(&self, path: &str) -> String {
        match &self.asked {
            Some(asked) => format!("{asked}/{path}"),
            None => path.to_owned(),
        }
    }
}

/// A template file with its schema read.
struct Prepared {
    schema: Option<SchemaFile>,
    /// The scope it is rendered in: with the imports its schema lists.
    scope: usize,
}

/// What running a template came to.
struct Ran {
    made: Made,
    /// The properties, if it changed them.
    properties: Option<Value>,
}

impl Expansion<'_> {
    /// Expands one use of a template file.
    pub(super) fn template(&mut self, used: &Use<'_>, scope: usize, path: &str) -> Option<Expanded> {
        let Use { resource, name, resource_type, level, .. } = *used;
        let given = resource.get("properties");
        let depth = level.trail.map_or(1, |trail| trail.depth + 1);
        let file = self.scopes[scope].shown(path);
        let trail = Trail {
            parent: level.trail,
            name: text(name),
            resource_type,
            file: &file,
            properties: given,
            depth,
        };
        if let Some(problem) = endless(&trail) {
            self.fault(Cause::Template, problem.in_file(&file), None);
            return None;
        }
        self.expansions += 1;
        if self.expansions > MOST_EXPANSIONS {
            let problem = Problem::error(format!("more than {MOST_EXPANSIONS} templates are expanded"));
            self.fault(Cause::Limit, problem.in_file(&file), Some(&trail));
            return None;
        }
        if self.scopes[scope].imports.text(path).is_none() {
            let problem = Problem::error(format!("{path} is not UTF-8 text")).in_file(path);
            self.fault_in(scope, Cause::Template, problem.hint("save the file as UTF-8"), &trail);
            return None;
        }
        let prepared = match self.prepared(scope, path) {
            Ok(prepared) => prepared,
            Err(problems) => {
                for problem in problems {
                    self.fault_in(scope, Cause::Template, problem, &trail);
                }
                return None;
            }
        };
        let seen = match &prepared.schema {
            None => given.cloned(),
            Some(schema) => Some(self.valid(used, schema, scope, &trail)?),
        };
        let ran = self.run(prepared.scope, path, used, seen.as_ref(), &trail)?;
        let seen = ran.properties.or(seen);
        let (value, spans, written) = self.read(ran.made, scope, path, &trail)?;
        let Some(map) = value.as_map().filter(|map| map.contains_key("resources")) else {
            let problem = Problem::error("Template did not return a 'resources:' field").in_file(&file);
            let hint = "a template writes `resources:` and a list under it";
            self.fault(Cause::Template, problem.hint(hint), Some(&trail));
            return None;
        };
        let imports = self.scopes[scope].imports.clone();
        let inner = Level {
            scope: prepared.scope,
            title: resource_type,
            source: Source::Rendered(Rendered {
                file: &file,
                source: imports.text(path).unwrap_or_default(),
                text: written.as_deref(),
                spans: spans.as_ref(),
            }),
            trail: Some(&trail),
        };
        let children = self.list(&map["resources"], &inner);
        let outputs = outputs_of(map.get("outputs"), &children);
        Some(layout::expanded(resource, seen.as_ref(), children, outputs))
    }

    /// A fault with a problem whose file is one of a scope's.
    fn fault_in(&mut self, scope: usize, cause: Cause, mut problem: Problem, trail: &Trail<'_>) {
        problem.file = problem.file.map(|file| self.scopes[scope].shown(&file));
        self.fault(cause, problem, Some(trail));
    }

    /// The schema of a template file and the scope it is rendered in, read once.
    fn prepared(&mut self, scope: usize, path: &str) -> Result<Rc<Prepared>, Vec<Problem>> {
        if let Some(known) = self.scopes[scope].templates.get(path) {
            return Ok(Rc::clone(known));
        }
        let imports = self.scopes[scope].imports.clone();
        let schema = schema_file::read(path, &imports)?;
        let mut inner = scope;
        if let Some(schema) = &schema {
            for mut note in schema.notes.iter().cloned() {
                note.file = note.file.map(|file| self.scopes[scope].shown(&file));
                self.diagnostics.push(note);
            }
            let listed = schema.imports.iter().filter_map(|(name, path)| Some((name.clone(), path.clone()?)));
            let with = imports.with(listed);
            if !with.is_same(&imports) {
                let Scope { asked, jinja2, .. } = &self.scopes[scope];
                let within = Scope::new(with, asked.clone(), *jinja2);
                self.scopes.push(within);
                inner = self.scopes.len() - 1;
            }
        }
        let prepared = Rc::new(Prepared { schema, scope: inner });
        self.scopes[scope].templates.insert(path.to_owned(), Rc::clone(&prepared));
        Ok(prepared)
    }

    /// The properties with defaults, if they hold to the schema. What does not is placed where it was given.
    fn valid(
        &mut self,
        used: &Use<'_>,
        schema: &SchemaFile,
        scope: usize,
        trail: &Trail<'_>,
    ) -> Option<Value> {
        let Use { resource, resource_type, level, .. } = *used;
        let given = resource.get("properties");
        for unknown in properties::unknown(schema, given) {
            let message =
                format!("property {unknown} is not in the schema of {resource_type}, so nothing may read it");
            self.diagnostics
                .push(Problem::new(Severity::Warning, message).hint("mend the name, or take it out"));
        }
        match properties::checked(resource_type, schema, given) {
            Ok(properties) => Some(properties),
            Err(problems) => {
                for problem in problems {
                    match &problem.pointer {
                        // About a property: where the resource was written.
                        Some(pointer) if problem.file.is_none() => {
                            let pointer = used.pointer(pointer);
                            let problem = self.place(level, problem, &pointer);
                            self.fault(level.cause(), problem, Some(trail));
                        }
                        _ => self.fault_in(scope, Cause::Template, problem, trail),
                    }
                }
                None
            }
        }
    }

    /// What a template made, as a value, with where things stand in it and its text.
    fn read(
        &mut self,
        made: Made,
        scope: usize,
        path: &str,
        trail: &Trail<'_>,
    ) -> Option<(Value, Option<Spans>, Option<String>)> {
        let text = match made {
            Made::Value(value) => return Some((Value::from_json(value), None, None)),
            Made::Text(text) => text,
        };
        match yaml::load(&text, &yaml::Options::pyyaml()) {
            Ok(Some(document)) => Some((document.value, Some(document.spans), Some(text))),
            Ok(None) => Some((Value::Null, None, Some(text))),
            Err(error) => {
                self.fault_in(scope, Cause::Template, not_yaml(&error, path, &text), trail);
                None
            }
        }
    }

    /// Runs a template: Jinja here, or in the interpreter what is Python or must be rendered by Jinja2 itself.
    fn run(
        &mut self,
        scope: usize,
        path: &str,
        used: &Use<'_>,
        properties: Option<&Value>,
        trail: &Trail<'_>,
    ) -> Option<Ran> {
        self.env.insert("name".to_owned(), used.name.clone());
        self.env.insert("type".to_owned(), Value::from(used.resource_type));
        let language = match (path.ends_with(".py"), self.scopes[scope].jinja2) {
            (true, _) => Language::Python,
            (false, true) => Language::Jinja,
            (false, false) => return self.render(scope, path, used, properties, trail),
        };
        self.call(language, scope, path, properties, trail)
    }

    fn render(
        &mut self,
        scope: usize,
        path: &str,
        used: &Use<'_>,
        properties: Option<&Value>,
        trail: &Trail<'_>,
    ) -> Option<Ran> {
        let context =
            Context { properties, env: &self.env, name: used.name, resource_type: used.resource_type };
        let within = &mut self.scopes[scope];
        let imports = &within.imports;
        let renderer = within.renderer.get_or_insert_with(|| Renderer::new(imports.clone()));
        match renderer.render(path, &context, &mut self.steps, &mut self.output) {
            Ok(rendering) => {
                if let Some(env) = rendering.env {
                    self.env = env;
                }
                Some(Ran { made: Made::Text(rendering.text), properties: rendering.properties })
            }
            Err(Failed::Template(problem)) => {
                self.fault_in(scope, Cause::Template, *problem, trail);
                None
            }
            Err(Failed::Limit(problem)) => {
                self.fault_in(scope, Cause::Limit, *problem, trail);
                None
            }
        }
    }

    fn call(
        &mut self,
        language: Language,
        scope: usize,
        path: &str,
        properties: Option<&Value>,
        trail: &Trail<'_>,
    ) -> Option<Ran> {
        let within = &mut self.scopes[scope];
        let imports = within.imports.clone();
        let source = imports.text(path).unwrap_or_default();
        let texts = Rc::clone(within.texts.get_or_insert_with(|| Rc::new(imports.texts())));
        let properties = properties.map(Value::to_json);
        let env = Value::Map(self.env.clone()).to_json();
        let call = Call {
            language,
            file: path,
            source,
            properties: properties.as_ref(),
            env: &env,
            imports: &texts,
        };
        let returned = match self.interpreter.call(&call) {
            Ok(returned) => returned,
            Err(error) => {
                let (cause, problem) = failure(error, path, &imports);
                self.fault_in(scope, cause, problem, trail);
                return None;
            }
        };
        if let Some(Value::Map(env)) = returned.env.map(Value::from_json) {
            self.env = env;
        }
        if let Made::Text(text) = &returned.made {
            match self.output.checked_sub(text.len() as u64) {
                Some(left) => self.output = left,
                None => {
                    let message =
                        format!("Exception in {path}: the template writes more than {} bytes", self.output);
                    let problem = Problem::error(message).in_file(path);
                    self.fault_in(
                        scope,
                        Cause::Limit,
                        problem.hint("look for a loop that runs too often"),
                        trail,
                    );
                    return None;
                }
            }
        }
        Some(Ran { made: returned.made, properties: returned.properties.map(Value::from_json) })
    }
}

/// Why an interpreter gave nothing back, in the words of the original.
fn failure(error: InterpreterError, path: &str, imports: &Imports) -> (Cause, Problem) {
    match error {
        InterpreterError::Template { message, file, line, trace } => {
            let file = file.as_deref().and_then(|file| imports.path(file)).unwrap_or(path);
            let mut problem = Problem::error(format!("Exception in {path}: {message}")).in_file(file);
            problem.line = line;
            if trace.len() > 1 {
                problem = problem.hint(format!("called by {}", trace.join(", then ")));
            }
            (Cause::Template, problem)
        }
        InterpreterError::Limit { message } => {
            (Cause::Limit, Problem::error(format!("Exception in {path}: {message}")).in_file(path))
        }
        InterpreterError::Unavailable { message } => {
            let hint = "it can still be listed, resolved and fetched; process it where Python is at hand";
            (Cause::Unsupported, Problem::error(message).in_file(path).hint(hint))
        }
    }
}

/// What a template wrote is not YAML: the line that is wrong is one of its output, so it is shown.
fn not_yaml(error: &yaml::Error, path: &str, rendered: &str) -> Problem {
    let line = error.position.and_then(|position| {
        let line = rendered.lines().nth(position.line.saturating_sub(1) as usize)?;
        Some(format!(
            " (line {} of it: `{}`)",
            position.line,
            schema::finding::shown(line.trim_end().as_bytes())
        ))
    });
    Problem::error(format!("what {path} wrote is not YAML: {}{}", error.message, line.unwrap_or_default()))
        .in_file(path)
}
