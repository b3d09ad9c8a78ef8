//! Objects as the table a terminal shows: the columns `oc` has for Templates, and the version.

use serde_json::{Value, json};

use super::ListMeta;

/// Longest description in a table.
const DESCRIPTION: usize = 80;

/// What each row has of its object.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RowObject {
    /// Nothing.
    None,
    /// Its metadata.
    #[default]
    Metadata,
    /// All of it.
    Whole,
}

/// A table of Templates.
pub fn table(metadata: &ListMeta, objects: &[Value], with: RowObject) -> Value {
    let column = |name: &str, kind: &str, format: &str, priority: u8, description: &str| json!({ "name": name, "type": kind, "format": format, "description": description, "priority": priority });
    let columns = [
        column("Name", "string", "name", 0, "The template's name in its collection."),
        column("Version", "string", "", 0, "The version that the name gets."),
        column("Description", "string", "", 0, "What it is for."),
        column(
            "Parameters",
            "string",
            "",
            0,
            "How many parameters there are, and how many of them have no value.",
        ),
        column("Objects", "integer", "", 0, "How many objects it makes."),
        column("Created At", "date", "", 1, "When its first version was published here."),
    ];
    json!({
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": columns,
        "rows": objects.iter().map(|object| row(object, with)).collect::<Vec<_>>(),
    })
}

fn row(object: &Value, with: RowObject) -> Value {
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let objects = object["objects"].as_array().map_or(0, Vec::len);
    let cells = json!([
        text("/metadata/name"),
        text("/metadata/annotations/formwork~1version"),
        description(text("/metadata/annotations/description")),
        parameters(object),
        objects,
        text("/metadata/creationTimestamp"),
    ]);
    match with {
        RowObject::None => json!({ "cells": cells }),
        RowObject::Metadata => json!({ "cells": cells, "object": super::partial(object) }),
        RowObject::Whole => json!({ "cells": cells, "object": object }),
    }
}

/// The first line, cut where it gets too long.
fn description(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default().trim();
    if line.chars().count() <= DESCRIPTION {
        return line.to_owned();
    }
    let cut = line.chars().take(DESCRIPTION - 3).collect::<String>();
    format!("{}...", cut.trim_end())
}

fn parameters(object: &Value) -> String {
    let all = object["parameters"].as_array().map_or(&[][..], Vec::as_slice);
    let has =
        |parameter: &Value, member: &str| parameter[member].as_str().is_some_and(|value| !value.is_empty());
    let generated = all.iter().filter(|parameter| has(parameter, "generate")).count();
    let blank =
        all.iter().filter(|parameter| !has(parameter, "generate") && !has(parameter, "value")).count();
    match (blank, generated) {
        (0, 0) => format!("{} (all set)", all.len()),
        (0, generated) => format!("{} ({generated} generated)", all.len()),
        (blank, _) => format!("{} ({blank} blank)", all.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_say_what_a_terminal_has_room_for() {
        let object = json!({
            "metadata": { "name": "redis", "annotations": { "formwork/version": "v1.0.2", "description": format!("{}\nmore", "long ".repeat(30)) } },
            "objects": [1, 2],
            "parameters": [{ "name": "A", "value": "1" }, { "name": "B", "generate": "expression" }, { "name": "C" }],
        });
        let cells = row(&object, RowObject::None)["cells"].clone();
        assert_eq!(
            (&cells[0], &cells[1], &cells[3], &cells[4]),
            (&json!("redis"), &json!("v1.0.2"), &json!("3 (1 blank)"), &json!(2))
        );
        assert_eq!(cells[2].as_str().unwrap().len(), DESCRIPTION, "cut, and of one line");
        assert_eq!(parameters(&json!({})), "0 (all set)");
    }
}
