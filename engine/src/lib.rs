//! What templates do: the façade over the crates of the dialects. Tells by the kind who inspects and who processes,
//! and is the only place where one kind of template meets another.
//!
//! Processing is resumable: a template may refer to other versions ([`Step::Needs`]); the host resolves those with
//! the caller's rights and asks again with all it has found so far. Nothing is kept in between.
//!
//! # What it must not know
//! How a template is written; that is each dialect's own business. Where templates come from, who asks, how answers
//! travel. It is pure: no files, network, clock, environment or chance but what the request brings.

mod inspection;
mod metadata;
mod parameters;
mod rules;

pub use engine_dm::{
    Call, Interpreter, InterpreterError, Language, Made, NoInterpreter, Returned, Wanted, wanted,
};
pub use inspection::inspect;
pub use rules::RULES;

use schema::Kind;
use schema::limits::Budget;
use schema::processing::{Cause, Failure, Problem, Provided, Request, Step, Template};
use serde_json::{Value, json};

/// Whether this build processes that kind, for a host that has an interpreter or has not. Others are listed,
/// resolved, inspected and served all the same.
pub const fn can_process(kind: Kind, has_interpreter: bool) -> bool {
    engine_kubernetes::can_process(kind) || engine_dm::can_process(kind, has_interpreter)
}

/// Processes a template of any kind.
///
/// `provided` holds what earlier [`Step::Needs`] asked for, in any order; a reference is found there by the text
/// the template wrote. A kind this build cannot process fails with [`Cause::Unsupported`]. Templates in Python, wherever
/// in the expansion, are run by `interpreter`.
pub fn process(
    template: &Template,
    request: &Request,
    provided: &[Provided],
    budget: &Budget,
    interpreter: &dyn Interpreter,
) -> Step {
    match template.kind {
        Kind::Template => engine_kubernetes::process(template, request, provided, budget),
        Kind::DmJinja | Kind::DmPython | Kind::DmConfiguration => {
            let others = |other: &Provided, _: &str, properties: &Value| {
                let request =
                    Request { values: values_for(other.template.kind, properties), ..inner(request) };
                process(&other.template, &request, provided, budget, interpreter)
            };
            let mut step = engine_dm::process(template, request, provided, budget, interpreter, &others);
            if let Step::Done(outcome) = &mut step {
                for object in &mut outcome.objects {
                    engine_kubernetes::adopt(object, &request.labels, request.namespace.as_deref());
                }
            }
            step
        }
        kind => {
            let problem = Problem::error(format!("this build cannot process a {}", kind.title()))
                .in_file(template.entry.as_str());
            let problem = problem.hint("it can be listed, resolved and fetched");
            Step::Failed(Failure::one(Cause::Unsupported, problem))
        }
    }
}

/// What a template within another is asked: its own values, and what holds for the whole request.
fn inner(request: &Request) -> Request {
    Request {
        values: Value::Null,
        set: Vec::new(),
        name: None,
        dialect: None,
        // Labels and namespace are put on at the end, on everything.
        labels: Vec::new(),
        namespace: None,
        ..request.clone()
    }
}

/// The values document of a kind for the properties of a Deployment Manager resource.
fn values_for(kind: Kind, properties: &Value) -> Value {
    match kind {
        Kind::Template => json!({ "parameters": properties }),
        _ => properties.clone(),
    }
}
