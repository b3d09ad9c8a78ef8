//! The schema of a Template, as clients check and explain objects by it: OpenAPI v2 in JSON and in the protocol-buffer
//! form that `kubectl` asks for. Where there is no version 3, and here is none, clients make do with this one.
//!
//! `kubectl create` refuses to go on without an OpenAPI document, `kubectl explain` reads the definition, and
//! `--dry-run=server` looks for the parameter among those of PATCH. The binary
//! form is gnostic's `openapi.v2.Document`; of its messages only the fields named here are written. Source: gnostic's
//! `OpenAPIv2.proto`.

use serde_json::{Map, Value, json};

use super::GROUP;

const NAME: &str = "com.github.openshift.api.template.v1.Template";

/// Members, what they are, and what they mean.
const MEMBERS: [(&str, &str, &str); 7] = [
    ("apiVersion", "string", "The version of the schema: template.openshift.io/v1."),
    ("kind", "string", "Template."),
    ("metadata", "object", "Name, namespace, labels, annotations."),
    ("labels", "object", "Labels that are put on every object."),
    ("message", "string", "What is shown after processing. May refer to parameters."),
    ("objects", "array", "The objects it makes. May refer to parameters."),
    (
        "parameters",
        "array",
        "What may be set: name, displayName, description, value, generate, from, required, type.",
    ),
];
const DESCRIPTION: &str = "Objects with parameters, to be processed into objects.";

/// Where one is, as a path of OpenAPI.
const PATH: &str = "/apis/template.openshift.io/v1/namespaces/{namespace}/templates/{name}";

/// `/openapi/v2` in JSON.
pub fn v2() -> Value {
    let members = MEMBERS.iter().map(|(name, kind, description)| {
        let mut member = json!({ "type": kind, "description": description });
        if *kind == "array" {
            member["items"] = json!({ "type": "object" });
        }
        ((*name).to_owned(), member)
    });
    let definition = json!({
        "type": "object",
        "description": DESCRIPTION,
        "properties": members.collect::<Map<_, _>>(),
        "x-kubernetes-group-version-kind": [{ "group": GROUP, "kind": "Template", "version": "v1" }],
    });
    let patch = json!({
        "parameters": [{ "name": "dryRun", "in": "query", "type": "string", "uniqueItems": true }],
        "responses": { "200": { "description": "OK", "schema": { "$ref": format!("#/definitions/{NAME}") } } },
        "x-kubernetes-group-version-kind": { "group": GROUP, "kind": "Template", "version": "v1" },
    });
    json!({
        "swagger": "2.0",
        "info": { "title": "Formwork", "version": "v1" },
        "paths": { PATH: { "patch": patch } },
        "definitions": { NAME: definition },
    })
}

/// `/openapi/v2` as protocol buffers.
pub fn v2_binary() -> Vec<u8> {
    let member = |(name, kind, description): &(&str, &str, &str)| {
        let mut schema = Message::default();
        schema.text(4, description);
        schema.message(22, Message::with(|kinds| kinds.text(1, kind)));
        if *kind == "array" {
            let item = Message::with(|item| item.message(22, Message::with(|kinds| kinds.text(1, "object"))));
            schema.message(23, Message::with(|items| items.message(1, item)));
        }
        named(name, schema)
    };
    let mut definition = Message::default();
    definition.text(4, DESCRIPTION);
    definition.message(22, Message::with(|kinds| kinds.text(1, "object")));
    let mut members = Message::default();
    MEMBERS.iter().for_each(|one| members.message(1, member(one)));
    definition.message(25, members);
    // `Any.yaml`: clients read the extension from its text.
    let kinds = format!("- group: {GROUP}\n  kind: Template\n  version: v1\n");
    let extension = Message::with(|any| any.text(2, &kinds));
    definition.message(31, named("x-kubernetes-group-version-kind", extension));
    let mut document = Message::default();
    document.text(1, "2.0");
    document.message(
        2,
        Message::with(|info| {
            info.text(1, "Formwork");
            info.text(2, "v1");
        }),
    );
    let mut dry_run = Message::default();
    dry_run.text(2, "query");
    dry_run.text(4, "dryRun");
    dry_run.text(6, "string");
    // One of several kinds of parameter, within another such choice.
    let parameter = [3, 2, 1]
        .into_iter()
        .fold(dry_run, |inner, field| Message::with(|outer| outer.message(field, inner)));
    let kind = format!("group: {GROUP}\nkind: Template\nversion: v1\n");
    let mut patch = Message::default();
    patch.message(8, parameter);
    patch.message(13, named("x-kubernetes-group-version-kind", Message::with(|any| any.text(2, &kind))));
    let path = named(PATH, Message::with(|methods| methods.message(7, patch)));
    document.message(8, Message::with(|paths| paths.message(2, path)));
    document.message(9, Message::with(|definitions| definitions.message(1, named(NAME, definition))));
    document.0
}

fn named(name: &str, value: Message) -> Message {
    Message::with(|pair| {
        pair.text(1, name);
        pair.message(2, value);
    })
}

/// A message of protocol buffers whose fields are texts and messages.
#[derive(Debug, Default)]
struct Message(Vec<u8>);

impl Message {
    fn with(fill: impl FnOnce(&mut Message)) -> Message {
        let mut message = Message::default();
        fill(&mut message);
        message
    }

    fn text(&mut self, field: u64, text: &str) {
        self.bytes(field, text.as_bytes());
    }

    fn message(&mut self, field: u64, message: Message) {
        self.bytes(field, &message.0);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        // Wire type 2: a length, then so many bytes.
        self.number(field << 3 | 2);
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}
