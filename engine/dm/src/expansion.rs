//! Expansion: every resource whose type is a template becomes the resources that template makes, until none is
//! left. Depth first, in order, as the original; but all that is wrong is reported at once, and references that
//! are not here yet are asked for together.

use std::collections::HashMap;
use std::rc::Rc;

use schema::limits::Budget;
use schema::processing::{
    Cause, Failure, Outcome, Problem, Provided, Request, ResolvedReference, Step, Template,
};
use schema::{Kind, Severity};
use serde_json::json;
use yaml::{Map, Spans, Value};

use crate::configuration::{self, Configuration};
use crate::imports::Imports;
use crate::interpreter::{Interpreter, NoInterpreter};
use crate::jinja::{Context, Failed, Renderer};
use crate::layout::{self, Expanded, sorted};
use crate::python::text;
use crate::resource::{checked, is_reference, object_as_resource, outputs_of};
use crate::schema_file::{self, SchemaFile};
use crate::trail::{Trail, endless};
use crate::{properties, references};

/// The most problems that are listed.
const MOST_PROBLEMS: usize = 100;
/// The most templates expanded for one request, whatever they make.
const MOST_EXPANSIONS: usize = 10_000;

/// Processes a template of another kind that a resource's type names: given what was provided, the resource's name
/// and its properties. Its objects become the resources.
pub type Others<'o> = &'o dyn Fn(&Provided, &str, &serde_json::Value) -> Step;

/// Expands a template, where no types of other kinds can be processed.
///
/// The outcome's `original` is the flat configuration, `{resources: […]}`; `layout` the tree. `objects` are, for a
/// resource whose properties are a Kubernetes object (they say `apiVersion` and `kind`), that object, and for any
/// other the resource itself.
pub fn process(template: &Template, request: &Request, provided: &[Provided], budget: &Budget) -> Step {
    process_with(template, request, provided, budget, &NoInterpreter, &|provided, _, _| {
        let message = format!(
            "`{}` is a {}, which cannot be processed here",
            provided.asked,
            provided.template.kind.title()
        );
        Step::Failed(Failure::one(Cause::Unsupported, Problem::error(message)))
    })
}

/// Expands a template; types that name templates of other kinds go to `others`.
pub fn process_with(
    template: &Template,
    request: &Request,
    provided: &[Provided],
    budget: &Budget,
    _interpreter: &dyn Interpreter,
    others: Others<'_>,
) -> Step {
    if template.kind != Kind::DmJinja {
        return Step::Failed(Failure::one(Cause::Unsupported, unsupported(&template.entry)));
    }
    let configuration = match configuration::read(template, request) {
        Ok(configuration) => configuration,
        Err(problems) => return Step::Failed(Failure::several(Cause::Values, problems)),
    };
    let mut expansion = Expansion {
        configuration: &configuration,
        provided,
        budget,
        others,
        scopes: vec![Scope::new(configuration.imports.clone())],
        references: HashMap::new(),
        steps: budget.steps,
        output: budget.output,
        expansions: 0,
        made: 0,
        faults: Vec::new(),
        needs: Vec::new(),
        used: Vec::new(),
        diagnostics: Vec::new(),
    };
    let level = Level { scope: 0, title: "config", source: Source::Configuration, trail: None };
    let resources = configuration.document.get("resources").unwrap_or(&Value::Null);
    let children = expansion.list(resources, &level);
    expansion.finish(children)
}

fn unsupported(file: &str) -> Problem {
    Problem::error(format!("{file} is a Python template, and this build cannot process those"))
        .in_file(file)
        .hint("it can still be listed, resolved and fetched; process it with a build that holds the Python host")
}

/// Files a template sees, what renders it, and the templates among them, read.
struct Scope {
    imports: Imports,
    renderer: Option<Renderer>,
    templates: HashMap<String, Rc<Prepared>>,
}

impl Scope {
    fn new(imports: Imports) -> Scope {
        Scope { imports, renderer: None, templates: HashMap::new() }
    }
}

/// A template file with its schema read.
struct Prepared {
    schema: Option<SchemaFile>,
    /// The scope it is rendered in: with the imports its schema lists.
    scope: usize,
}

/// A list of resources: where it stands and what led there.
struct Level<'l> {
    scope: usize,
    /// What the original calls it: `config`, or the type of the template.
    title: &'l str,
    source: Source<'l>,
    trail: Option<&'l Trail<'l>>,
}

/// Where a list of resources was written.
enum Source<'l> {
    Configuration,
    /// What a template wrote: the template's file, and where things stand in its output.
    Rendered {
        file: &'l str,
        spans: Option<&'l Spans>,
    },
}

struct Expansion<'a> {
    configuration: &'a Configuration,
    provided: &'a [Provided],
    budget: &'a Budget,
    others: Others<'a>,
    scopes: Vec<Scope>,
    /// The scope of each provided template that was used.
    references: HashMap<usize, usize>,
    /// Steps and bytes of output that are left.
    steps: u64,
    output: u64,
    expansions: usize,
    /// Plain resources made so far.
    made: usize,
    faults: Vec<(Cause, Problem)>,
    needs: Vec<String>,
    used: Vec<usize>,
    diagnostics: Vec<Problem>,
}

impl<'a> Expansion<'a> {
    fn fault(&mut self, cause: Cause, mut problem: Problem, trail: Option<&Trail<'_>>) {
        if let Some(trail) = trail {
            problem.message = format!("{} (in resource {})", problem.message, trail.text());
        }
        if self.faults.len() < MOST_PROBLEMS {
            self.faults.push((cause, problem));
        }
    }

    /// Whether a limit was hit: then nothing more is expanded.
    fn is_over(&self) -> bool {
        self.faults.iter().any(|(cause, _)| *cause == Cause::Limit)
    }

    /// A problem about a resource of a level.
    fn place(&self, level: &Level<'_>, problem: Problem, index: usize) -> Problem {
        let pointer = format!("/resources/{index}");
        match &level.source {
            Source::Configuration => self.configuration.place(problem, &pointer),
            Source::Rendered { file, spans } => {
                let mut problem = problem.in_file(*file);
                if let Some(span) = spans.and_then(|spans| spans.nearest(&pointer)) {
                    problem.message =
                        format!("{}, at line {} of what {file} wrote", problem.message, span.start.line);
                }
                problem
            }
        }
    }

    fn list(&mut self, resources: &Value, level: &Level<'_>) -> Vec<Expanded> {
        let items = match resources {
            Value::Null => return Vec::new(),
            Value::List(items) => items,
            other => {
                let problem = Problem::error(format!(
                    "`resources` is of type {}; it must be a list",
                    other.kind_name()
                ));
                let problem = self.place(level, problem, 0);
                self.fault(cause_of(level), problem, level.trail);
                return Vec::new();
            }
        };
        let mut names = Vec::<&Value>::new();
        let mut expanded = Vec::new();
        for (index, item) in items.iter().enumerate() {
            if self.is_over() {
                break;
            }
            match checked(item, &mut names, level.title) {
                Ok((resource, name, resource_type)) => {
                    expanded.extend(self.resource(resource, name, resource_type, level, index));
                }
                Err(message) => {
                    let problem = self.place(level, Problem::error(message), index);
                    self.fault(cause_of(level), problem, level.trail);
                }
            }
        }
        expanded
    }

    fn resource(
        &mut self,
        resource: &Map,
        name: &Value,
        resource_type: &str,
        level: &Level<'_>,
        index: usize,
    ) -> Option<Expanded> {
        let path = self.scopes[level.scope].imports.path(resource_type).map(str::to_owned);
        match path {
            Some(path) if path.ends_with(".jinja") => {
                self.template(resource, name, resource_type, level.scope, &path, level)
            }
            Some(path) if path.ends_with(".py") => {
                self.fault(Cause::Unsupported, unsupported(&path), level.trail);
                None
            }
            None if is_reference(resource_type) => self.reference(resource, name, resource_type, level),
            None if resource_type.starts_with("http://") || resource_type.starts_with("https://") => {
                let problem =
                    Problem::error(format!("the type `{resource_type}` is a URL, and URLs are not fetched"))
                        .hint("refer to a version in a registry, or put the template into this version");
                let problem = self.place(level, problem, index);
                self.fault(Cause::Reference, problem, level.trail);
                None
            }
            _ => {
                self.made += 1;
                if self.made > self.budget.objects {
                    let message = format!("more than {} resources are made", self.budget.objects);
                    self.fault(Cause::Limit, Problem::error(message), level.trail);
                    return None;
                }
                Some(layout::plain(resource))
            }
        }
    }

    fn reference(
        &mut self,
        resource: &Map,
        name: &Value,
        asked: &str,
        level: &Level<'_>,
    ) -> Option<Expanded> {
        let all = self.provided;
        let Some(position) = all.iter().position(|provided| provided.asked == asked) else {
            if !self.needs.iter().any(|need| need == asked) {
                self.needs.push(asked.to_owned());
            }
            return None;
        };
        let provided = &all[position];
        if !self.used.contains(&position) {
            self.used.push(position);
        }
        match provided.template.kind {
            Kind::DmJinja => {
                let scope = match self.references.get(&position) {
                    Some(scope) => *scope,
                    None => {
                        self.scopes.push(Scope::new(Imports::of(&provided.template.files)));
                        self.references.insert(position, self.scopes.len() - 1);
                        self.scopes.len() - 1
                    }
                };
                self.template(resource, name, asked, scope, &provided.template.entry, level)
            }
            Kind::DmPython => {
                self.fault(Cause::Unsupported, unsupported(asked), level.trail);
                None
            }
            _ => self.other(provided, resource, name, asked, level),
        }
    }

    /// A template of another kind: its objects are the resources.
    fn other(
        &mut self,
        provided: &Provided,
        resource: &Map,
        name: &Value,
        asked: &str,
        level: &Level<'_>,
    ) -> Option<Expanded> {
        let given = resource.get("properties");
        let name = text(name);
        match (self.others)(provided, &name, &given.map_or(serde_json::Value::Null, Value::to_json)) {
            Step::Done(outcome) => {
                self.diagnostics.extend(outcome.diagnostics);
                self.made += outcome.objects.len();
                let children =
                    outcome.objects.into_iter().map(|object| layout::plain(&object_as_resource(object)));
                Some(layout::expanded(resource, given, children.collect(), Map::new()))
            }
            Step::Needs(more) => {
                for need in more {
                    if !self.needs.contains(&need) {
                        self.needs.push(need);
                    }
                }
                None
            }
            Step::Failed(failure) => {
                for mut problem in failure.problems {
                    problem.message = format!("{asked}: {}", problem.message);
                    self.fault(failure.cause, problem, level.trail);
                }
                None
            }
        }
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
            self.diagnostics.extend(schema.notes.iter().cloned());
            let listed = schema.imports.iter().filter_map(|(name, path)| Some((name.clone(), path.clone()?)));
            let with = imports.with(listed);
            if !with.is_same(&imports) {
                self.scopes.push(Scope::new(with));
                inner = self.scopes.len() - 1;
            }
        }
        let prepared = Rc::new(Prepared { schema, scope: inner });
        self.scopes[scope].templates.insert(path.to_owned(), Rc::clone(&prepared));
        Ok(prepared)
    }

    fn template(
        &mut self,
        resource: &Map,
        name: &Value,
        resource_type: &str,
        scope: usize,
        path: &str,
        level: &Level<'_>,
    ) -> Option<Expanded> {
        let given = resource.get("properties");
        let depth = level.trail.map_or(1, |trail| trail.depth + 1);
        let trail = Trail { parent: level.trail, name: text(name), resource_type, properties: given, depth };
        if let Some(problem) = endless(&trail, name) {
            self.fault(Cause::Template, problem.in_file(path), None);
            return None;
        }
        self.expansions += 1;
        if self.expansions > MOST_EXPANSIONS {
            let problem = Problem::error(format!("more than {MOST_EXPANSIONS} templates are expanded"));
            self.fault(Cause::Limit, problem.in_file(path), Some(&trail));
            return None;
        }
        let prepared = match self.prepared(scope, path) {
            Ok(prepared) => prepared,
            Err(problems) => {
                problems.into_iter().for_each(|problem| self.fault(Cause::Template, problem, Some(&trail)));
                return None;
            }
        };
        let seen = match &prepared.schema {
            None => given.cloned(),
            Some(schema) => {
                for unknown in properties::unknown(schema, given) {
                    let message = format!(
                        "property {unknown} is not in the schema of {resource_type}, so nothing may read it"
                    );
                    self.diagnostics
                        .push(Problem::new(Severity::Warning, message).hint("mend the name, or take it out"));
                }
                match properties::checked(resource_type, schema, given) {
                    Ok(properties) => Some(properties),
                    Err(problems) => {
                        for problem in problems {
                            let own = matches!(level.source, Source::Configuration);
                            let problem = if own && problem.file.is_none() {
                                problem.in_file("values")
                            } else {
                                problem
                            };
                            self.fault(cause_of(level), problem, Some(&trail));
                        }
                        return None;
                    }
                }
            }
        };
        let rendered = self.render(prepared.scope, path, name, resource_type, seen.as_ref(), &trail)?;
        let document = match yaml::load(&rendered, &yaml::Options::pyyaml()) {
            Ok(document) => document,
            Err(error) => {
                self.fault(Cause::Template, not_yaml(&error, path, &rendered), Some(&trail));
                return None;
            }
        };
        let (value, spans) = document.map(|document| (document.value, document.spans)).unzip();
        let Some(map) = value.as_ref().and_then(Value::as_map).filter(|map| map.contains_key("resources"))
        else {
            let problem = Problem::error("Template did not return a 'resources:' field").in_file(path);
            self.fault(
                Cause::Template,
                problem.hint("a template writes `resources:` and a list under it"),
                Some(&trail),
            );
            return None;
        };
        let inner = Level {
            scope: prepared.scope,
            title: resource_type,
            source: Source::Rendered { file: path, spans: spans.as_ref() },
            trail: Some(&trail),
        };
        let children = self.list(&map["resources"], &inner);
        let outputs = outputs_of(map.get("outputs"), &children);
        Some(layout::expanded(resource, seen.as_ref(), children, outputs))
    }

    fn render(
        &mut self,
        scope: usize,
        path: &str,
        name: &Value,
        resource_type: &str,
        properties: Option<&Value>,
        trail: &Trail<'_>,
    ) -> Option<String> {
        let mut env = self.configuration.env.clone();
        env.insert("name".to_owned(), name.clone());
        env.insert("type".to_owned(), Value::from(resource_type));
        let context = Context { properties, env: &env, name, resource_type };
        let scope = &mut self.scopes[scope];
        let imports = &scope.imports;
        let renderer = scope.renderer.get_or_insert_with(|| Renderer::new(imports.clone()));
        match renderer.render(path, &context, &mut self.steps, &mut self.output) {
            Ok(text) => Some(text),
            Err(Failed::Template(problem)) => {
                self.fault(Cause::Template, *problem, Some(trail));
                None
            }
            Err(Failed::Limit(problem)) => {
                self.fault(Cause::Limit, *problem, Some(trail));
                None
            }
        }
    }

    fn finish(mut self, children: Vec<Expanded>) -> Step {
        if !self.faults.is_empty() {
            let order = [Cause::Limit, Cause::Unsupported, Cause::Reference, Cause::Template];
            let caused = |cause: &Cause| self.faults.iter().any(|(other, _)| other == cause);
            let cause = order.into_iter().find(caused).unwrap_or(Cause::Values);
            return Step::Failed(Failure::several(
                cause,
                self.faults.into_iter().map(|(_, problem)| problem).collect(),
            ));
        }
        if !self.needs.is_empty() {
            return Step::Needs(self.needs);
        }
        let document = &self.configuration.document;
        let outputs = match document.get("outputs") {
            Some(outputs) => outputs_of(Some(outputs), &children),
            None => match children.as_slice() {
                [only] => only.outputs.clone(),
                _ => Map::new(),
            },
        };
        let (mut resources, mut nodes) = (Vec::new(), Vec::new());
        for child in children {
            resources.extend(child.resources);
            nodes.push(Value::Map(child.layout));
        }
        self.diagnostics.extend(references::check(&resources, &nodes));
        self.diagnostics.truncate(MOST_PROBLEMS);
        let resolved = self.used.iter().map(|position| {
            let Provided { asked, version, digest, .. } = &self.provided[*position];
            ResolvedReference { asked: asked.clone(), version: version.clone(), digest: *digest }
        });
        let nodes = nodes.iter().map(sorted).collect::<Vec<_>>();
        Step::Done(Box::new(Outcome {
            objects: resources.iter().map(|resource| sorted(layout::object(resource))).collect(),
            original: json!({ "resources": resources.iter().map(sorted).collect::<Vec<_>>() }),
            layout: Some(json!({ "resources": nodes })),
            outputs: (!outputs.is_empty()).then(|| sorted(&Value::Map(outputs))),
            resolved: resolved.collect(),
            diagnostics: self.diagnostics,
            ..Outcome::default()
        }))
    }
}

/// Whose fault it is when a list of resources is wrong: the caller's, or the template's that wrote it.
fn cause_of(level: &Level<'_>) -> Cause {
    match level.source {
        Source::Configuration => Cause::Values,
        Source::Rendered { .. } => Cause::Template,
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
