//! From declared parameters and given values to the one value each name has.
//!
//! Order and words are OpenShift's: a given value, else the declared one, else a generated one; then what is
//! required must not be empty. In the proposal's notation types are checked, and generators are left to others
//! unless the template asks for them by annotation.

use std::collections::{HashMap, HashSet};

use base64::Engine as _;
use schema::Severity;
use schema::limits::Budget;
use schema::processing::{Problem, Request};

use crate::document::{Document, EXTENSIONS_ANNOTATION, Parameter, ParameterType};
use crate::generate::{Generator, is_literal};
use crate::notation::{Notation, is_name};
use crate::values::{Instance, Values};

/// The most problems of one sort that are listed.
const MOST_PROBLEMS: usize = 100;

/// The values parameters have.
#[derive(Debug, Default)]
pub(crate) struct Assigned {
    /// By name; of several declarations of one name the last, as the original has it.
    pub(crate) values: HashMap<String, String>,
    /// By position in the template, for handing the template back.
    pub(crate) by_position: Vec<String>,
    /// Names whose value was generated, in order.
    pub(crate) generated: Vec<String>,
    pub(crate) diagnostics: Vec<Problem>,
    /// What is wrong with the values given.
    pub(crate) value_problems: Vec<Problem>,
    /// What is wrong with the template.
    pub(crate) template_problems: Vec<Problem>,
}

/// Assigns values to all parameters of a document.
pub(crate) fn assign(
    document: &Document,
    notation: Notation,
    values: &Values,
    request: &Request,
    budget: &Budget,
) -> Assigned {
    let mut assigned = Assigned::default();
    // What is generated is bounded like what is written: many small generators are one large one.
    let mut left = budget.output;
    report_unknown(document, values, &mut assigned);
    report_duplicates(document, &mut assigned);
    report_names(document, &mut assigned);
    for (index, parameter) in document.parameters.iter().enumerate() {
        let pointer = format!("/parameters/{index}");
        let given = values.given.get(&parameter.name);
        let mut value = given.map_or_else(|| parameter.value.clone(), |given| given.value.clone());
        if given.is_none() && value.is_empty() && !parameter.generate.is_empty() {
            match generated(document, notation, parameter, values, request) {
                Ok(Some(made)) => {
                    let Some(rest) = left.checked_sub(made.len() as u64) else {
                        let message =
                            format!("the generated values are larger than {} bytes together", budget.output);
                        let problem = Problem::error(message).hint("generate fewer or shorter values");
                        assigned.template_problems.push(document.place(problem, &pointer));
                        return assigned;
                    };
                    left = rest;
                    value = made;
                    assigned.generated.push(parameter.name.clone());
                    if is_literal(&parameter.from) && !parameter.from.is_empty() {
                        let message = format!(
                            "the generator of parameter {} is a constant: `{}` holds no class with a length",
                            parameter.name, parameter.from
                        );
                        let note = Problem::new(Severity::Warning, message)
                            .hint("write a class and a length, like [a-zA-Z0-9]{16}");
                        assigned.diagnostics.push(document.place(note, &format!("{pointer}/from")));
                    }
                }
                Ok(None) => {}
                Err(problem) => {
                    assigned.template_problems.push(document.place(problem, &pointer));
                    // Its name is declared all the same.
                    assigned.values.insert(parameter.name.clone(), value.clone());
                    assigned.by_position.push(value);
                    continue;
                }
            }
        }
        if parameter.required && value.is_empty() {
            let message = format!(
                "template.parameters[{index}]: parameter {} is required and must be specified",
                parameter.name
            );
            let hint = match &parameter.description {
                Some(description) => format!("give a value for {}: {description}", parameter.name),
                None => format!("give a value, as in -p {}=VALUE", parameter.name),
            };
            assigned.value_problems.push(document.place(Problem::error(message).hint(hint), &pointer));
        } else if notation == Notation::Kubernetes
            && let Some(message) = mismatch(parameter, &value)
        {
            let problem = Problem::error(message);
            assigned.value_problems.push(match given.map(|given| given.pointer.as_deref()) {
                Some(Some(pointer)) => problem.in_file("values").pointing(pointer),
                Some(None) => problem,
                None => document.place(problem, &format!("{pointer}/value")),
            });
        }
        assigned.values.insert(parameter.name.clone(), value.clone());
        assigned.by_position.push(value);
    }
    assigned
}

fn report_unknown(document: &Document, values: &Values, assigned: &mut Assigned) {
    let declared =
        document.parameters.iter().map(|parameter| parameter.name.as_str()).collect::<HashSet<_>>();
    let unknown = values.given.iter().filter(|(name, _)| !declared.contains(name.as_str()));
    for (name, given) in unknown.take(MOST_PROBLEMS) {
        let message = format!("unknown parameter name {name:?}");
        let names = document.parameters.iter().map(|parameter| parameter.name.as_str());
        let mut problem = match near(name, names) {
            Some(name) => Problem::error(message).hint(format!("did you mean {name}?")),
            None => Problem::error(message).hint("the template declares no such parameter"),
        };
        if let Some(pointer) = &given.pointer {
            problem = problem.in_file("values").pointing(pointer);
        }
        if values.ignore_unknown {
            problem.severity = Severity::Warning;
            assigned.diagnostics.push(problem);
        } else {
            assigned.value_problems.push(problem);
        }
    }
}

fn report_duplicates(document: &Document, assigned: &mut Assigned) {
    let mut seen = HashSet::new();
    for (index, parameter) in document.parameters.iter().enumerate() {
        if !seen.insert(&parameter.name) && assigned.diagnostics.len() < MOST_PROBLEMS {
            let message =
                format!("parameter {} is declared twice; the last declaration counts", parameter.name);
            let note = Problem::new(Severity::Warning, message).hint("remove one of the declarations");
            assigned.diagnostics.push(document.place(note, &format!("/parameters/{index}")));
        }
    }
}

fn report_names(document: &Document, assigned: &mut Assigned) {
    for (index, parameter) in document.parameters.iter().enumerate() {
        if !is_name(&parameter.name) && assigned.diagnostics.len() < MOST_PROBLEMS {
            let shown = schema::finding::shown(parameter.name.as_bytes());
            let message = format!("no reference can name the parameter `{shown}`, so its value goes nowhere");
            let note = Problem::new(Severity::Warning, message)
                .hint("names are of letters, digits and _: rename the parameter");
            assigned.diagnostics.push(document.place(note, &format!("/parameters/{index}")));
        }
    }
}

/// The declared name nearest to a text, if one is near.
pub(crate) fn near<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    // Long names are no slips of the finger, and comparing them is dear.
    if text.len() > 64 {
        return None;
    }
    let far = text.chars().count().div_ceil(3).max(1);
    names
        .filter(|name| name.len() <= 64)
        .take(500)
        .map(|name| (strsim::damerau_levenshtein(&text.to_uppercase(), &name.to_uppercase()), name))
        .filter(|(distance, _)| *distance <= far)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// A generated value; `None` where the dialect leaves generating to others.
fn generated(
    document: &Document,
    notation: Notation,
    parameter: &Parameter,
    values: &Values,
    request: &Request,
) -> Result<Option<String>, Problem> {
    let allowed = notation == Notation::OpenShift
        || document
            .annotation(EXTENSIONS_ANNOTATION)
            .is_some_and(|list| list.split([',', ' ']).any(|word| word == "generate"));
    if !allowed {
        let message = format!(
            "parameter {} has a generator, which the proposal leaves to other components",
            parameter.name
        );
        let hint = format!(
            "give it a value, or allow generators with the annotation `{EXTENSIONS_ANNOTATION}: generate`"
        );
        return Err(Problem::error(message).hint(hint));
    }
    if parameter.generate != "expression" {
        let message =
            format!("Unknown generator name '{}' for parameter {}", parameter.generate, parameter.name);
        return Err(Problem::error(message).hint("the only generator is `expression`"));
    }
    let Some(mut generator) = generator(document, values, request, &parameter.name) else {
        let message = format!(
            "parameter {} is to be generated, but the request brings neither entropy nor a seed",
            parameter.name
        );
        return Err(Problem::error(message).hint("give a seed, or a value"));
    };
    generator.value(&parameter.from).map(Some).map_err(|error| {
        let message = format!("parameter {}: {error}", parameter.name);
        Problem::error(message).hint("a class is written like [a-zA-Z0-9]{16}")
    })
}

/// The generator of something in a document, keyed by the seed or the caller's entropy; `None` without either.
fn generator(document: &Document, values: &Values, request: &Request, of: &str) -> Option<Generator> {
    if let Some(seed) = &values.seed {
        return Some(Generator::new(seed.as_bytes(), &["seed", &document.name, of]));
    }
    let entropy = hex::decode(&request.entropy).ok().filter(|entropy| entropy.len() >= 16)?;
    Some(Generator::new(&entropy, &["entropy", &document.name, of]))
}

/// The name of this processing among others of the same template, given or made, if one is asked for.
pub(crate) fn instance(
    document: &Document,
    values: &Values,
    request: &Request,
) -> Result<Option<String>, Problem> {
    match &values.instance {
        None => Ok(None),
        Some(Instance::Named(name)) => Ok(Some(name.clone())),
        Some(Instance::Unique) => {
            let missing = || {
                Problem::error(
                    "an instance is to be named, but the request brings neither entropy nor a seed",
                )
                .hint("give a seed, or a name")
            };
            // No parameter can have this name.
            let mut generator =
                generator(document, values, request, "formwork/instance").ok_or_else(missing)?;
            let suffix = generator.value("[a-z0-9]{10}").expect("the expression is well formed");
            let prefix = document.name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(40);
            let prefix = prefix.collect::<String>();
            Ok(Some(format!("{}-{suffix}", prefix.trim_matches('-')).trim_start_matches('-').to_owned()))
        }
    }
}

/// How a value does not fit its parameter's type. An empty value of an optional parameter fits any.
pub(crate) fn mismatch(parameter: &Parameter, value: &str) -> Option<String> {
    let name = &parameter.name;
    if value.is_empty() {
        return None;
    }
    match parameter.kind? {
        ParameterType::String => None,
        ParameterType::Int => {
            let digits = value.strip_prefix('-').unwrap_or(value);
            let whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            (!whole).then(|| {
                format!("parameter {name} is of type int, and `{}` is no whole number", shown(value))
            })
        }
        ParameterType::Bool => (!matches!(value, "true" | "false")).then(|| {
            format!("parameter {name} is of type bool, and `{}` is neither true nor false", shown(value))
        }),
        ParameterType::Base64 => base64::engine::general_purpose::STANDARD
            .decode(value)
            .is_err()
            .then(|| format!("parameter {name} is of type base64, and its value cannot be decoded")),
    }
}

fn shown(value: &str) -> String {
    schema::finding::shown(value.as_bytes())
}
