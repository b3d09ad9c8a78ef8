//! Expansion: every resource whose type is a template becomes the resources that template makes, until none is
//! left. Depth first, in order, as the original; but all that is wrong is reported at once, and references that
//! are not here yet are asked for together.

mod finish;
mod reference;
mod template;

use std::collections::HashMap;

use schema::Kind;
use schema::limits::Budget;
use schema::processing::{Cause, Failure, Problem, Provided, Request, Step, Template};
use yaml::{Map, Spans, Value};

use crate::configuration::{self, Configuration};
use crate::interpreter::Interpreter;
use crate::layout::{self, Expanded};
use crate::resource::{checked, is_reference, is_url};
use crate::trail::Trail;

use template::Scope;

/// The most problems that are listed.
const MOST_PROBLEMS: usize = 100;

/// Processes a template of another kind that a resource's type names: given what was provided, the resource's name
/// and its properties. Its objects become the resources.
pub type Others<'o> = &'o dyn Fn(&Provided, &str, &serde_json::Value) -> Step;

/// Where nothing but Deployment Manager's own templates can be processed.
pub fn no_others(provided: &Provided, _: &str, _: &serde_json::Value) -> Step {
    let title = provided.template.kind.title();
    let message = format!("`{}` is a {title}, which cannot be processed here", provided.asked);
    Step::Failed(Failure::one(Cause::Unsupported, Problem::error(message)))
}

/// Expands a template or a configuration; types that name templates of other kinds go to `others`.
///
/// The outcome's `original` is the flat configuration, `{resources: […]}`; `layout` the tree. `objects` are, for a
/// resource whose properties are a Kubernetes object (they say `apiVersion` and `kind`), that object, and for any
/// other the resource itself.
pub fn process(
    template: &Template,
    request: &Request,
    provided: &[Provided],
    budget: &Budget,
    interpreter: &dyn Interpreter,
    others: Others<'_>,
) -> Step {
    if !matches!(template.kind, Kind::DmJinja | Kind::DmPython | Kind::DmConfiguration) {
        let message = format!("{} is no Deployment Manager template", template.entry);
        return Step::Failed(Failure::one(Cause::Unsupported, Problem::error(message)));
    }
    let configuration = match configuration::read(template, request) {
        Ok(configuration) => configuration,
        Err(problems) => return Step::Failed(Failure::several(Cause::Values, problems)),
    };
    let mut expansion = Expansion {
        configuration: &configuration,
        provided,
        budget,
        interpreter,
        others,
        scopes: vec![Scope::new(configuration.imports.clone(), None, template.jinja2)],
        references: HashMap::new(),
        env: configuration.env.clone(),
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
    /// By a template.
    Rendered(Rendered<'l>),
}

/// What a template wrote.
struct Rendered<'l> {
    /// The template's file, as messages name it.
    file: &'l str,
    /// Its source.
    source: &'l str,
    /// The text it wrote; a template in Python may give a value instead.
    text: Option<&'l str>,
    /// Where things stand in that text.
    spans: Option<&'l Spans>,
}

impl Rendered<'_> {
    /// A problem about what stands at a pointer of what was written. Its place is a line of the template, if that
    /// very line is in it once; which line was meant cannot be told otherwise.
    fn place(&self, problem: Problem, pointer: &str) -> Problem {
        let mut problem = problem.in_file(self.file);
        let (Some(text), Some(span)) = (self.text, self.spans.and_then(|spans| spans.nearest(pointer)))
        else {
            return problem;
        };
        let written =
            text.lines().nth(span.start.line.saturating_sub(1) as usize).unwrap_or_default().trim_end();
        let mut same = self.source.lines().zip(1..).filter(|(line, _)| line.trim_end() == written);
        match (same.next(), same.next()) {
            (Some((_, line)), None) if !written.trim().is_empty() => problem.at(line, span.start.column),
            _ => {
                problem.message =
                    format!("{}, at line {} of what {} wrote", problem.message, span.start.line, self.file);
                problem
            }
        }
    }
}

impl Level<'_> {
    /// Whose fault it is when a list of resources is wrong: the caller's, or the template's that wrote it.
    fn cause(&self) -> Cause {
        match self.source {
            Source::Configuration => Cause::Values,
            Source::Rendered(_) => Cause::Template,
        }
    }
}

struct Expansion<'a> {
    configuration: &'a Configuration,
    provided: &'a [Provided],
    budget: &'a Budget,
    interpreter: &'a dyn Interpreter,
    others: Others<'a>,
    scopes: Vec<Scope>,
    /// The scope of each provided template that was used.
    references: HashMap<usize, usize>,
    /// What templates see as `env`. There is one for the whole expansion, as in the original: what a template
    /// changes in it stays changed for those after it.
    env: Map,
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

impl Expansion<'_> {
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

    /// A problem about what stands at a JSON pointer of a level.
    fn place(&self, level: &Level<'_>, problem: Problem, pointer: &str) -> Problem {
        match &level.source {
            Source::Configuration => self.configuration.place(problem, pointer),
            Source::Rendered(rendered) => rendered.place(problem, pointer),
        }
    }

    fn list(&mut self, resources: &Value, level: &Level<'_>) -> Vec<Expanded> {
        let items = match resources {
            Value::Null => return Vec::new(),
            Value::List(items) => items,
            other => {
                let message = format!("`resources` is of type {}; it must be a list", other.kind_name());
                let problem = self.place(level, Problem::error(message), "/resources");
                self.fault(level.cause(), problem, level.trail);
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
                    let problem = self.place(level, Problem::error(message), &format!("/resources/{index}"));
                    self.fault(level.cause(), problem, level.trail);
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
        let used = Use { resource, name, resource_type, level, index };
        match path {
            Some(path) if is_template(&path) => self.template(&used, level.scope, &path),
            None if is_reference(resource_type) || is_url(resource_type) => self.reference(&used),
            None if is_template(resource_type) => {
                let message = format!(
                    "`{resource_type}` looks like a template, but nothing imports it: it is left as a plain type"
                );
                let hint = "list its path under `imports`";
                let problem = Problem::new(schema::Severity::Warning, message).hint(hint);
                let problem = self.place(level, problem, &used.pointer("/type"));
                self.diagnostics.push(problem);
                self.plain(&used)
            }
            _ => self.plain(&used),
        }
    }

    fn plain(&mut self, used: &Use<'_>) -> Option<Expanded> {
        self.made += 1;
        if self.made > self.budget.objects {
            let message = format!("more than {} resources are made", self.budget.objects);
            self.fault(Cause::Limit, Problem::error(message), used.level.trail);
            return None;
        }
        Some(layout::plain(used.resource))
    }
}

/// Whether a file is a template, by its name.
pub(crate) fn is_template(path: &str) -> bool {
    path.ends_with(".jinja") || path.ends_with(".py")
}

/// One use of a type: the resource that has it, and where that stands.
struct Use<'u> {
    resource: &'u Map,
    name: &'u Value,
    resource_type: &'u str,
    level: &'u Level<'u>,
    index: usize,
}

impl Use<'_> {
    /// The pointer to a part of the resource, in what its list stands in.
    fn pointer(&self, part: &str) -> String {
        format!("/resources/{}{part}", self.index)
    }
}
