//! The end of an expansion: the answer made of what all resources came to.

use schema::processing::{Cause, Failure, Outcome, Provided, ResolvedReference, Step};
use serde_json::json;
use yaml::{Map, Value};

use super::{Expansion, MOST_PROBLEMS};
use crate::layout::{self, Expanded, sorted};
use crate::references;
use crate::resource::outputs_of;

impl Expansion<'_> {
    pub(super) fn finish(mut self, children: Vec<Expanded>) -> Step {
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
