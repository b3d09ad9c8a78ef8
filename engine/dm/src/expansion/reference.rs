//! Types that are references to versions, or URLs: found among what was provided, or asked for.

use schema::Kind;
use schema::processing::{Provided, Step};
use yaml::Map;

use super::template::Scope;
use super::{Expansion, Use};
use crate::imports::Imports;
use crate::layout::{self, Expanded};
use crate::python::text;
use crate::resource::object_as_resource;

impl Expansion<'_> {
    /// A resource whose type is a reference or a URL. Which URLs there are is the host's to say.
    pub(super) fn reference(&mut self, used: &Use<'_>) -> Option<Expanded> {
        let asked = used.resource_type;
        let all = self.provided;
        let Some(position) = all.iter().position(|provided| provided.asked == asked) else {
            self.need(asked.to_owned());
            return None;
        };
        let provided = &all[position];
        if !self.used.contains(&position) {
            self.used.push(position);
        }
        match provided.template.kind {
            Kind::DmJinja | Kind::DmPython => {
                let scope = match self.references.get(&position) {
                    Some(scope) => *scope,
                    None => {
                        let template = &provided.template;
                        let imports = Imports::of(&template.files);
                        self.scopes.push(Scope::new(imports, Some(asked.to_owned()), template.jinja2));
                        self.references.insert(position, self.scopes.len() - 1);
                        self.scopes.len() - 1
                    }
                };
                self.template(used, scope, &provided.template.entry)
            }
            _ => self.other(provided, used),
        }
    }

    fn need(&mut self, reference: String) {
        if !self.needs.contains(&reference) {
            self.needs.push(reference);
        }
    }

    /// A template of another kind: its objects are the resources.
    fn other(&mut self, provided: &Provided, used: &Use<'_>) -> Option<Expanded> {
        let given = used.resource.get("properties");
        let properties = given.map_or(serde_json::Value::Null, yaml::Value::to_json);
        match (self.others)(provided, &text(used.name), &properties) {
            Step::Done(outcome) => {
                self.diagnostics.extend(outcome.diagnostics);
                self.made += outcome.objects.len();
                let children =
                    outcome.objects.into_iter().map(|object| layout::plain(&object_as_resource(object)));
                Some(layout::expanded(used.resource, given, children.collect(), Map::new()))
            }
            Step::Needs(more) => {
                more.into_iter().for_each(|need| self.need(need));
                None
            }
            Step::Failed(failure) => {
                for mut problem in failure.problems {
                    problem.message = format!("{}: {}", provided.asked, problem.message);
                    self.fault(failure.cause, problem, used.level.trail);
                }
                None
            }
        }
    }
}
