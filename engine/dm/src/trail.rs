//! Which templates are being expanded: what an error says led there, and how an expansion without end is told.

use schema::processing::Problem;
use yaml::Value;

/// How deep templates may be nested.
const DEEPEST: usize = 32;

/// The templates that are being expanded, innermost first.
pub(crate) struct Trail<'t> {
    pub(crate) parent: Option<&'t Trail<'t>>,
    pub(crate) name: String,
    pub(crate) resource_type: &'t str,
    /// The template's file, as messages name it: the same file is the same template, however it is referred to.
    pub(crate) file: &'t str,
    pub(crate) properties: Option<&'t Value>,
    pub(crate) depth: usize,
}

impl Trail<'_> {
    /// `a (x.jinja) > b (y.jinja)`, outermost first.
    pub(crate) fn text(&self) -> String {
        let mut outermost = self;
        while let Some(parent) = outermost.parent {
            outermost = parent;
        }
        let mut steps = self.from(outermost);
        if steps.len() > 8 {
            let left_out = steps.len() - 6;
            steps.splice(3..3 + left_out, [format!("… {left_out} more …")]);
        }
        steps.join(" > ")
    }

    /// The steps from one of its parents to itself.
    fn from(&self, outermost: &Trail<'_>) -> Vec<String> {
        let mut steps = Vec::new();
        let mut here = Some(self);
        while let Some(trail) = here {
            steps.push(format!("{} ({})", trail.name, trail.resource_type));
            if std::ptr::addr_eq(trail, outermost) {
                break;
            }
            here = trail.parent;
        }
        steps.reverse();
        steps
    }
}

/// A template that expands itself with the same properties will never end; nor will one that is nested too deep.
pub(crate) fn endless(trail: &Trail<'_>) -> Option<Problem> {
    let mut circle = None;
    let mut parent = trail.parent;
    while let Some(earlier) = parent {
        if earlier.file == trail.file {
            if earlier.properties == trail.properties && earlier.name == trail.name {
                let message = format!("{} expands itself without end: {}", trail.resource_type, trail.text());
                let hint = "take the resource of its own type out of the template";
                return Some(Problem::error(message).hint(hint));
            }
            circle.get_or_insert(earlier);
        }
        parent = earlier.parent;
    }
    if trail.depth <= DEEPEST {
        return None;
    }
    let message = match circle {
        Some(earlier) => format!(
            "templates use each other in a circle, nested more than {DEEPEST} deep: {}",
            trail.from(earlier).join(" > ")
        ),
        None => format!("templates are nested more than {DEEPEST} deep: {}", trail.text()),
    };
    Some(Problem::error(message).hint("look for templates that use each other"))
}
