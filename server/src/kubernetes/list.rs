//! Lists of templates, in parts if a client wants, in the form it wants.
//!
//! A part goes on behind the last name of the part before, in whatever the catalogue is by then; but every part says
//! the generation of the first one, so that a watch from there brings whatever changed in between.

use std::ops::Bound;

use catalog::Viewer;
use http::StatusCode;
use serde_json::Value;
use wire::kubernetes::table::{RowObject, table};
use wire::kubernetes::{GROUP_VERSION, ListMeta, list, partial};

use super::form::Form;
use super::object::{json_answer, listed};
use super::path::Face;
use super::refusal::{Answer, Refusal};
use super::scope::Scope;
use super::selector::Selector;
use crate::state::App;

/// Bytes of files that go into one list, or one part of one.
const MOST_BYTES: u64 = 32 << 20;

/// What is asked.
pub(super) struct Asked {
    pub(super) face: Face,
    pub(super) namespace: Option<String>,
    pub(super) form: Form,
    pub(super) with: RowObject,
    pub(super) selector: Selector,
    pub(super) limit: Option<usize>,
    pub(super) from: Option<Continue>,
}

/// Where a list goes on: the generation of its first part, and the last place of the part before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Continue {
    generation: u64,
    namespace: String,
    name: String,
}

impl Continue {
    /// Reads what was sent back.
    pub(super) fn parse(text: &str) -> Result<Continue, Refusal> {
        let wrong = || Refusal::bad_request("continue key is not valid: send back what the part before said");
        let text =
            hex::decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(wrong)?;
        let mut parts = text.split('\n');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(generation), Some(namespace), Some(name), None) => Ok(Continue {
                generation: generation.parse().map_err(|_| wrong())?,
                namespace: namespace.to_owned(),
                name: name.to_owned(),
            }),
            _ => Err(wrong()),
        }
    }

    fn text(&self) -> String {
        hex::encode(format!("{}\n{}\n{}", self.generation, self.namespace, self.name))
    }
}

pub(super) async fn answer(app: &App, viewer: &Viewer, scope: &Scope, asked: Asked) -> Answer {
    let snapshot = app.catalog.snapshot();
    let generation = asked.from.as_ref().map_or(snapshot.generation, |from| from.generation);
    let all = scope.list(&snapshot, viewer, asked.namespace.as_deref());
    let start = match &asked.from {
        Some(from) => Bound::Excluded((from.namespace.clone(), from.name.clone())),
        None => Bound::Unbounded,
    };
    let mut rest = all.range((start, Bound::Unbounded));
    let (mut items, mut bytes, mut last) = (Vec::new(), 0, None);
    let mut more = false;
    for ((namespace, name), entry) in rest.by_ref() {
        if !asked.selector.takes_place(namespace, name) {
            continue;
        }
        let size = entry.version.file(&entry.version.entry).map_or(0, |file| file.size);
        if items.len() >= asked.limit.unwrap_or(usize::MAX)
            || (bytes + size > MOST_BYTES && !items.is_empty())
        {
            more = true;
            break;
        }
        let object = listed(app, viewer, asked.face, entry).await?;
        if asked.selector.takes_labels(&object) {
            bytes += size;
            items.push(object);
        }
        last = Some((namespace, name));
    }
    if more && asked.limit.is_none() {
        let message =
            format!("the list is larger than {} MiB; ask for it in parts, with limit=500", MOST_BYTES >> 20);
        return Err(Refusal::too_large(message));
    }
    let next = last.filter(|_| more).map(|(namespace, name)| {
        Continue { generation, namespace: namespace.clone(), name: name.clone() }.text()
    });
    // As in the original, nobody counts what a selector would take. The one that was looked at is among what remains.
    let remaining = (more && asked.selector.is_everything()).then(|| rest.count() + 1);
    let metadata =
        ListMeta { resource_version: generation.max(1).to_string(), next, remaining_item_count: remaining };
    let answer = match asked.form {
        Form::Table => table(&metadata, &items, asked.with),
        Form::Metadata => {
            let items = items.iter().map(partial).collect();
            list("PartialObjectMetadataList", "meta.k8s.io/v1", &metadata, items)
        }
        Form::Objects => {
            let api_version = if asked.face == Face::OpenShift { GROUP_VERSION } else { "v1" };
            list("TemplateList", api_version, &metadata, items)
        }
    };
    json_answer(StatusCode::OK, &answer)
}

/// One object in the form a client wants.
pub(super) fn formed(object: Value, form: Form, with: RowObject) -> Value {
    match form {
        Form::Objects => object,
        Form::Metadata => partial(&object),
        Form::Table => {
            let version = object.pointer("/metadata/resourceVersion").and_then(Value::as_str);
            let metadata =
                ListMeta { resource_version: version.unwrap_or_default().to_owned(), ..ListMeta::default() };
            table(&metadata, std::slice::from_ref(&object), with)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_list_goes_on_comes_back() {
        let from = Continue { generation: 7, namespace: "databases".into(), name: "redis".into() };
        assert_eq!(Continue::parse(&from.text()).unwrap(), from);
        for wrong in
            ["", "x", "zz", &hex::encode("7"), &hex::encode("x\na\nb"), &hex::encode("7\na\nb\nc"), "ff"]
        {
            assert!(Continue::parse(wrong).is_err(), "{wrong}");
        }
    }
}
