//! Which templates are being expanded: what an error says led there, and how an expansion without end is told.

use schema::processing::Problem;
use yaml::Value;

use crate::python::text;

/// How deep templates may be nested.
const DEEPEST: usize = 32;

/// The templates that are being expanded, innermost first.
pub(crate) struct Trail<'t> {
    pub(crate) parent: Option<&'t Trail<'t>>,
    pub(crate) name: String,
    pub(crate) resource_type: &'t str,
    pub(crate) properties: Option<&'t Value>,
    pub(crate) depth: usize,
}

impl Trail<'_> {
    /// `a (x.jinja) > b (y.jinja)`, outermost first.
    pub(crate) fn text(&self) -> String {
        let mut steps = Vec::new();
        let mut here = Some(self);
        while let Some(trail) = here {
            steps.push(format!("{} ({})", trail.name, trail.resource_type));
            here = trail.parent;
        }
        steps.reverse();
        if steps.len() > 8 {
            let left_out = steps.len() - 6;
            steps.splice(3..3 + left_out, [format!("… {left_out} more …")]);
        }
        steps.join(" > ")
    }
}

/// A template that expands itself with the same properties will never end; nor will one that is nested too deep.
pub(crate) fn endless(trail: &Trail<'_>, name: &Value) -> Option<Problem> {
    let mut parent = trail.parent;
    while let Some(earlier) = parent {
        let same_input = earlier.properties == trail.properties && earlier.name == text(name);
        if earlier.resource_type == trail.resource_type && same_input {
            let message = format!("{} expands itself without end: {}", trail.resource_type, trail.text());
            return Some(
                Problem::error(message).hint("take the resource of its own type out of the template"),
            );
        }
        parent = earlier.parent;
    }
    (trail.depth > DEEPEST).then(|| {
        let message = format!("templates are nested more than {DEEPEST} deep: {}", trail.text());
        Problem::error(message).hint("look for templates that use each other")
    })
}
