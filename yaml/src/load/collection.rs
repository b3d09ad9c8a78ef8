//! What collections bring into others: merge keys and lists of pairs.

use super::builder::{Ready, Source};
use crate::{
    error::{Error, ErrorKind},
    options::Rules,
    position::{NodeId, Position, Span, Spans},
    value::{Map, Value},
};

/// The mappings a merge key brings in, in the order in which they are to be put into the mapping: later ones win.
pub(super) fn merge_sources(
    ready: Ready,
    rules: Rules,
    spans: &Spans,
) -> Result<Vec<(Map, Option<NodeId>)>, Error> {
    let wrong = |at: Position, kind: &str| {
        let message = format!("`<<` takes a mapping or a list of mappings, not {kind}");
        let go_text = "yaml: map merge requires map or sequence of maps as the value";
        Error::new(ErrorKind::Merge, at, message).with_go_text(go_text)
    };
    let at = ready.span.start;
    match ready.value {
        Value::Map(map) => Ok(vec![(map, ready.node)]),
        // go-yaml wants the list itself to be written here.
        Value::List(items) if rules == Rules::PyYaml || ready.source == Source::Written => {
            let nodes = ready.node.map(|node| spans.items_of(node)).unwrap_or_default();
            let mut sources = Vec::with_capacity(items.len());
            for (index, item) in items.into_iter().enumerate() {
                let node = nodes.get(index).copied();
                match item {
                    Value::Map(map) => sources.push((map, node)),
                    other => return Err(wrong(at, &format!("a list with a {} in it", other.kind_name()))),
                }
            }
            sources.reverse();
            Ok(sources)
        }
        Value::List(_) => Err(wrong(at, "an alias of a list")),
        other => Err(wrong(at, other.kind_name())),
    }
}

/// A list of mappings with one member each, as PyYAML's `!!omap` wants it, as a list of pairs.
pub(super) fn pairs(items: Vec<Value>, span: Span) -> Result<Value, Error> {
    let pair = |item: Value| match item {
        Value::Map(map) if map.len() == 1 => Some(
            map.into_iter()
                .map(|(key, value)| Value::List(vec![Value::String(key), value]))
                .collect::<Vec<_>>(),
        ),
        _ => None,
    };
    let pairs: Option<Vec<Vec<Value>>> = items.into_iter().map(pair).collect();
    pairs.map(|pairs| Value::List(pairs.into_iter().flatten().collect())).ok_or_else(|| {
        Error::new(
            ErrorKind::Tag,
            span.start,
            "!!omap and !!pairs want a list of mappings with one member each",
        )
    })
}
