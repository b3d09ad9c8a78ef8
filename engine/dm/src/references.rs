//! `$(ref.NAME.PATH)`: a value another resource will have once it runs. Expansion leaves it as it is; what can be
//! checked before is that it names a resource, and that resources do not wait for each other in a circle.

use std::collections::{BTreeMap, BTreeSet};

use schema::Severity;
use schema::processing::Problem;
use yaml::{Map, Value};

/// Calls `found` with the name and the path of every reference in a text.
pub(crate) fn each<'t>(text: &'t str, mut found: impl FnMut(&'t str, &'t str)) {
    let mut rest = text;
    while let Some(at) = rest.find("$(ref.") {
        rest = &rest[at + 6..];
        let Some(end) = rest.find(')') else { return };
        if let Some((name, path)) = rest[..end].split_once('.')
            && !name.is_empty()
            && !path.is_empty()
        {
            found(name, path);
        }
    }
}

fn collect<'v>(value: &'v Value, names: &mut BTreeSet<&'v str>) {
    match value {
        Value::String(text) => each(text, |name, _| {
            names.insert(name);
        }),
        Value::List(items) => items.iter().for_each(|item| collect(item, names)),
        Value::Map(map) => map.values().for_each(|item| collect(item, names)),
        _ => {}
    }
}

/// What is wrong with the references of expanded resources. Names of templates count too: they may have outputs.
pub(crate) fn check(resources: &[Value], layout: &[Value]) -> Vec<Problem> {
    let mut graph: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for resource in resources {
        let mut names = BTreeSet::new();
        if let Some(properties) = resource.get("properties") {
            collect(properties, &mut names);
        }
        graph
            .entry(crate::python::text(resource.get("name").unwrap_or(&Value::Null)))
            .or_default()
            .extend(names);
    }
    let mut known = graph.keys().cloned().collect::<BTreeSet<_>>();
    template_names(layout, &mut known);
    let mut problems = Vec::new();
    for (resource, names) in &graph {
        for name in names.iter().filter(|name| !known.contains(**name)) {
            let message = format!("Invalid resource name in reference: {name}, in resource `{resource}`");
            let hint = "references name resources of the expanded configuration";
            problems.push(Problem::new(Severity::Warning, message).hint(hint));
        }
    }
    if let Some(circle) = circle(&graph) {
        let message = format!("resources wait for each other in a circle: {}", circle.join(" -> "));
        problems.push(Problem::new(Severity::Warning, message).hint("take one of the references out"));
    }
    problems.truncate(100);
    problems
}

fn template_names(layout: &[Value], known: &mut BTreeSet<String>) {
    for node in layout {
        if let Some(children) = node.get("resources").and_then(Value::as_list) {
            known.insert(crate::python::text(node.get("name").unwrap_or(&Value::Null)));
            template_names(children, known);
        }
    }
}

/// One circle of the graph, if there is one: a walk that keeps what it is in the middle of, and what it is done with.
fn circle(graph: &BTreeMap<String, BTreeSet<&str>>) -> Option<Vec<String>> {
    let mut done = BTreeSet::new();
    for start in graph.keys() {
        let mut walk = vec![(start.as_str(), graph[start].iter())];
        let mut within = BTreeSet::from([start.as_str()]);
        while let Some((here, rest)) = walk.last_mut() {
            let Some(next) = rest.find(|name| graph.contains_key(**name) && !done.contains(**name)) else {
                done.insert(*here);
                within.remove(*here);
                walk.pop();
                continue;
            };
            if !within.insert(next) {
                let names = walk.iter().map(|(name, _)| *name).skip_while(|name| name != next).chain([*next]);
                return Some(names.map(str::to_owned).collect());
            }
            walk.push((next, graph[*next].iter()));
        }
    }
    None
}

/// A value with references to the outputs of templates replaced by what those are. One that is a reference alone
/// becomes the output's own value; within a longer text, its text.
pub(crate) fn resolve(value: &Value, outputs: &BTreeMap<String, Map>) -> Value {
    match value {
        Value::String(text) => resolve_text(text, outputs),
        Value::List(items) => Value::List(items.iter().map(|item| resolve(item, outputs)).collect()),
        Value::Map(map) => {
            Value::Map(map.iter().map(|(key, item)| (key.clone(), resolve(item, outputs))).collect())
        }
        other => other.clone(),
    }
}

fn resolve_text(text: &str, outputs: &BTreeMap<String, Map>) -> Value {
    let mut found = Vec::new();
    each(text, |name, path| {
        if let Some(value) = outputs.get(name).and_then(|outputs| outputs.get(path)) {
            found.push((format!("$(ref.{name}.{path})"), value));
        }
    });
    if let [(written, value)] = found.as_slice()
        && written == text
    {
        return (*value).clone();
    }
    let mut out = text.to_owned();
    for (written, value) in found {
        out = out.replacen(&written, &crate::python::text(value), 1);
    }
    Value::String(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resources(text: &str) -> Vec<Value> {
        yaml::load(text, &yaml::Options::pyyaml()).unwrap().unwrap().value.into_list().unwrap()
    }

    #[test]
    fn references_must_name_resources_and_not_go_in_circles() {
        let good = resources("[{name: a, properties: {x: 'p-$(ref.b.ip[0])'}}, {name: b}]");
        assert!(check(&good, &[]).is_empty());
        let bad = resources(
            "[{name: a, properties: [$(ref.b.x)]}, {name: b, properties: $(ref.c.x)}, {name: c, properties: $(ref.a.x) $(ref.zz.y)}]",
        );
        let messages = check(&bad, &[]).into_iter().map(|problem| problem.message).collect::<Vec<_>>();
        assert_eq!(
            messages,
            [
                "Invalid resource name in reference: zz, in resource `c`",
                "resources wait for each other in a circle: a -> b -> c -> a"
            ]
        );
    }

    #[test]
    fn outputs_are_resolved() {
        let outputs =
            BTreeMap::from([("t".to_owned(), Map::from_iter([("port".to_owned(), Value::Int(5))]))]);
        assert_eq!(resolve(&Value::from("$(ref.t.port)"), &outputs), Value::Int(5));
        assert_eq!(
            resolve(&Value::from("x:$(ref.t.port) $(ref.u.v)"), &outputs),
            Value::from("x:5 $(ref.u.v)")
        );
    }
}
