//! The machine that turns parser events into values.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{
    check_length,
    collection::{merge_sources, pairs},
    key::{NumberKey, key_text},
    problem::{UNKNOWN_ANCHOR, no_json_number, syntax_error, unknown_anchor},
    scalar::{kubernetes_scalar, pyyaml_scalar, shortened, standard_tag, unknown_tag},
};
use crate::{
    error::{Error, ErrorKind, LimitKind},
    options::{DuplicateKeys, Options, Rules},
    position::{NodeId, Position, Span, Spans},
    syntax::{Event, EventKind, Parser, Properties, ScalarStyle, check_characters},
    value::{Map, Value},
};

pub(super) struct Builder<'text, 'options> {
    options: &'options Options,
    parser: Parser<'text>,
    with_spans: bool,
    spans: Spans,
    stack: Vec<Frame>,
    /// The latest anchor of each name.
    anchor_names: HashMap<&'text str, AnchorId>,
    /// The anchored values; none while a collection is still open.
    anchors: Vec<Option<Anchor>>,
    nodes: usize,
    alias_nodes: usize,
    alias_bytes: usize,
    kept_nodes: usize,
    kept_bytes: usize,
    documents: usize,
    /// Where a number stands that JSON does not have; it may yet be overridden.
    non_finite: Option<Position>,
    root: Option<Value>,
    ended: bool,
}

/// An index into the anchors of the document.
type AnchorId = usize;

/// An open collection.
struct Frame {
    shape: Shape,
    anchor: Option<AnchorId>,
    node: Option<NodeId>,
    start: Position,
    /// What it costs so far to repeat this collection.
    cost: Cost,
}

enum Shape {
    List {
        items: Vec<Value>,
        kind: ListKind,
    },
    Map {
        map: Map,
        origins: Vec<Origin>,
        key: Option<Key>,
        merged: Vec<(Map, Option<NodeId>)>,
        /// PyYAML only: the keys that are numbers, for `1`, `1.0` and `true` are one key to it.
        numbers: HashMap<NumberKey, String>,
        kind: MapKind,
    },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ListKind {
    Plain,
    /// PyYAML's `!!omap` and `!!pairs`: a list of mappings of one member each.
    Pairs,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MapKind {
    Plain,
    /// PyYAML's `!!set`.
    Set,
}

/// Where a member of a mapping comes from.
#[derive(Clone, Copy)]
struct Origin {
    key: Position,
    merged: bool,
}

/// A key that waits for its value.
enum Key {
    Name { text: String, span: Span },
    Merge,
}

/// A value with an anchor, to be repeated.
struct Anchor {
    value: Value,
    node: Option<NodeId>,
    cost: Cost,
}

/// What a value costs to repeat.
#[derive(Clone, Copy, Default)]
struct Cost {
    nodes: usize,
    bytes: usize,
    /// Levels of collections within.
    depth: usize,
}

/// A value that is ready to be put where it belongs.
pub(super) struct Ready {
    pub(super) value: Value,
    pub(super) span: Span,
    pub(super) node: Option<NodeId>,
    cost: Cost,
    pub(super) source: Source,
}

/// How a value came to be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Written,
    Alias,
    /// It is a `<<` that asks for a merge.
    MergeKey,
}

impl<'text, 'options> Builder<'text, 'options> {
    pub(super) fn new(text: &'text str, options: &'options Options, with_spans: bool) -> Result<Self, Error> {
        check_length(text.len(), options)?;
        check_characters(text).map_err(|(character, offset)| {
            let message =
                format!("the character U+{:04X} is not allowed in YAML; remove it", u32::from(character));
            let at = Position::of_offset(text, offset);
            Error::new(ErrorKind::Syntax, at, message)
                .with_go_text("yaml: control characters are not allowed")
        })?;
        Ok(Self {
            options,
            parser: Parser::new(text, options.rules),
            with_spans,
            spans: Spans::default(),
            stack: Vec::new(),
            anchor_names: HashMap::new(),
            anchors: Vec::new(),
            nodes: 0,
            alias_nodes: 0,
            alias_bytes: 0,
            kept_nodes: 0,
            kept_bytes: 0,
            documents: 0,
            non_finite: None,
            root: None,
            ended: false,
        })
    }

    /// The one document of the text.
    pub(super) fn read_single(mut self) -> Result<Option<(Value, Spans)>, Error> {
        let Some(document) = self.read_next()? else { return Ok(None) };
        while let Some(event) = self.next_event()? {
            if let EventKind::DocumentStart = event.kind {
                return Err(Error::new(
                    ErrorKind::SecondDocument,
                    event.start.position(),
                    "a second document begins here; only one is expected",
                ));
            }
        }
        Ok(Some(document))
    }

    /// The next document, or none at the end of the text.
    pub(super) fn read_next(&mut self) -> Result<Option<(Value, Spans)>, Error> {
        self.read_document().map_err(|error| {
            self.ended = true;
            let found_while_parsing = match error.kind {
                ErrorKind::Syntax | ErrorKind::Limit(_) | ErrorKind::Number => true,
                ErrorKind::Alias => error.go_text().is_some_and(|text| text.starts_with(UNKNOWN_ANCHOR)),
                _ => false,
            };
            if self.options.rules == Rules::PyYaml || found_while_parsing {
                error
            } else {
                self.with_earlier_go_text(error)
            }
        })
    }

    /// go-yaml parses the whole document before it looks at what anything means: a later mistake in syntax is what it
    /// tells of.
    fn with_earlier_go_text(&mut self, error: Error) -> Error {
        let mut depth = self.stack.len();
        loop {
            // The parser remembers every open collection; nobody reads on for the sake of a message alone.
            if depth > self.options.limits.effective_depth() {
                return error;
            }
            let later = match self.parser.next() {
                Err(later) => Some(syntax_error(&later)),
                Ok(Some(Event { kind: EventKind::Alias(name), .. }))
                    if !self.anchor_names.contains_key(name) =>
                {
                    return error.with_go_text(unknown_anchor(name));
                }
                Ok(Some(Event { kind: EventKind::DocumentEnd, .. }) | None) => None,
                Ok(Some(event)) => {
                    match event.kind {
                        EventKind::ListStart(_) | EventKind::MapStart(_) => depth += 1,
                        EventKind::ListEnd | EventKind::MapEnd => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    if let EventKind::Scalar { properties, .. }
                    | EventKind::ListStart(properties)
                    | EventKind::MapStart(properties) = event.kind
                        && let Some(name) = properties.anchor
                    {
                        self.anchor_names.entry(name).or_default();
                    }
                    continue;
                }
            };
            return match later.as_ref().and_then(Error::go_text) {
                Some(text) => error.with_go_text(text),
                None => error,
            };
        }
    }

    fn read_document(&mut self) -> Result<Option<(Value, Spans)>, Error> {
        while let Some(event) = self.next_event()? {
            let span = Span { start: event.start.position(), end: event.end.position() };
            match event.kind {
                EventKind::DocumentStart => self.begin_document(span)?,
                EventKind::DocumentEnd => {
                    let value = self.root.take().unwrap_or_default();
                    if let Some(at) = self.non_finite.take()
                        && let Some(number) = non_finite_number(&value)
                    {
                        return Err(no_json_number(number, at));
                    }
                    return Ok(Some((value, std::mem::take(&mut self.spans))));
                }
                EventKind::Scalar { text, style, properties } => {
                    self.scalar(text, style, &properties, span)?;
                }
                EventKind::ListStart(properties) => self.begin_list(&properties, span)?,
                EventKind::MapStart(properties) => self.begin_map(&properties, span)?,
                EventKind::ListEnd | EventKind::MapEnd => self.end(span)?,
                EventKind::Alias(name) => self.alias(name, span)?,
            }
        }
        Ok(None)
    }

    fn begin_document(&mut self, span: Span) -> Result<(), Error> {
        self.documents += 1;
        let limit = self.options.limits.documents;
        if self.documents > limit {
            let message = format!("more than {limit} documents are not read");
            return Err(Error::limit(LimitKind::Documents, span.start, message));
        }
        self.anchors.clear();
        self.anchor_names.clear();
        self.spans = Spans::default();
        Ok(())
    }

    #[inline]
    fn next_event(&mut self) -> Result<Option<Event<'text>>, Error> {
        if self.ended {
            return Ok(None);
        }
        match self.parser.next() {
            Ok(Some(event)) => Ok(Some(event)),
            Ok(None) => {
                self.ended = true;
                Ok(None)
            }
            Err(error) => {
                self.ended = true;
                Err(syntax_error(&error))
            }
        }
    }

    /// A number for the anchor of a node that begins.
    fn new_anchor(&mut self, properties: &Properties<'text>, span: Span) -> Result<Option<AnchorId>, Error> {
        let Some(name) = properties.anchor else { return Ok(None) };
        let id = self.anchors.len();
        self.anchors.push(None);
        let earlier = self.anchor_names.insert(name, id);
        if earlier.is_some() && self.options.rules == Rules::PyYaml {
            let message =
                format!("the anchor `&{name}` stands here a second time; give one of them another name");
            return Err(Error::new(ErrorKind::Alias, span.start, message));
        }
        Ok(Some(id))
    }

    fn too_deep(&self, at: Position) -> Error {
        let depth = self.options.limits.effective_depth();
        Error::limit(
            LimitKind::Depth,
            at,
            format!("lists and mappings nested more than {depth} levels deep are not read"),
        )
    }

    fn count_node(&mut self, at: Position) -> Result<(), Error> {
        self.nodes += 1;
        let limit = self.options.limits.nodes;
        if self.nodes > limit {
            return Err(Error::limit(LimitKind::Nodes, at, format!("more than {limit} values are not read")));
        }
        Ok(())
    }

    fn begin_list(&mut self, properties: &Properties<'text>, span: Span) -> Result<(), Error> {
        let kind = match (self.options.rules, properties.tag.as_deref().and_then(standard_tag)) {
            (Rules::PyYaml, Some("omap" | "pairs")) if !self.is_merging() => ListKind::Pairs,
            _ => ListKind::Plain,
        };
        self.refuse_foreign_tag(properties, span, &["seq", "omap", "pairs"])?;
        let anchor = self.new_anchor(properties, span)?;
        self.begin(Shape::List { items: Vec::new(), kind }, anchor, span)
    }

    fn begin_map(&mut self, properties: &Properties<'text>, span: Span) -> Result<(), Error> {
        let kind = match (self.options.rules, properties.tag.as_deref().and_then(standard_tag)) {
            (Rules::PyYaml, Some("set")) if !self.is_merging() => MapKind::Set,
            _ => MapKind::Plain,
        };
        self.refuse_foreign_tag(properties, span, &["map", "set"])?;
        let anchor = self.new_anchor(properties, span)?;
        let shape = Shape::Map {
            map: Map::new(),
            origins: Vec::new(),
            key: None,
            merged: Vec::new(),
            numbers: HashMap::new(),
            kind,
        };
        self.begin(shape, anchor, span)
    }

    /// PyYAML takes only tags it knows; go-yaml takes any on a collection and does nothing with it.
    fn refuse_foreign_tag(
        &self,
        properties: &Properties<'_>,
        span: Span,
        known: &[&str],
    ) -> Result<(), Error> {
        match properties.tag.as_deref() {
            // What is merged is never made a value of its own, so that its tag does not count.
            Some(_) if self.is_merging() => Ok(()),
            Some(tag) if self.options.rules == Rules::PyYaml && tag != "!" => match standard_tag(tag) {
                Some(name) if known.contains(&name) => Ok(()),
                _ => Err(unknown_tag(tag, span)),
            },
            _ => Ok(()),
        }
    }

    fn begin(&mut self, shape: Shape, anchor: Option<AnchorId>, span: Span) -> Result<(), Error> {
        self.count_node(span.start)?;
        if self.stack.len() >= self.options.limits.effective_depth() {
            return Err(self.too_deep(span.start));
        }
        if self.expects_key() {
            let kind = if matches!(shape, Shape::List { .. }) { "list" } else { "mapping" };
            let message = format!("a {kind} cannot be a key; quote it if text is meant");
            return Err(Error::new(ErrorKind::Key, span.start, message));
        }
        let node = self.with_spans.then(|| match shape {
            Shape::List { .. } => self.spans.add_list(span),
            Shape::Map { .. } => self.spans.add_map(span),
        });
        self.stack.push(Frame {
            shape,
            anchor,
            node,
            start: span.start,
            cost: Cost { nodes: 1, bytes: 0, depth: 1 },
        });
        Ok(())
    }

    /// The value at hand is that of a merge key.
    fn is_merging(&self) -> bool {
        matches!(self.stack.last(), Some(Frame { shape: Shape::Map { key: Some(Key::Merge), .. }, .. }))
    }

    fn expects_key(&self) -> bool {
        matches!(self.stack.last(), Some(Frame { shape: Shape::Map { key: None, .. }, .. }))
    }

    fn end(&mut self, span: Span) -> Result<(), Error> {
        let Some(frame) = self.stack.pop() else { return Ok(()) };
        let Frame { shape, anchor, node, start, cost } = frame;
        if let Some(node) = node {
            self.spans.finish(node, span.end);
        }
        let span = Span { start, end: span.end };
        let value = match shape {
            Shape::List { items, kind: ListKind::Plain } => Value::List(items),
            Shape::List { items, kind: ListKind::Pairs } => {
                let pairs = pairs(items, span)?;
                if let Some(node) = node {
                    self.spans.members_become_pairs(node);
                }
                pairs
            }
            Shape::Map { map, merged, kind, .. } => {
                let map = self.with_merged(map, merged, node);
                match kind {
                    MapKind::Plain => Value::Map(map),
                    MapKind::Set => {
                        if let Some(node) = node {
                            self.spans.keys_become_items(node);
                        }
                        Value::List(map.into_keys().map(Value::String).collect())
                    }
                }
            }
        };
        self.ready(Ready { value, span, node, cost, source: Source::Written }, anchor)
    }

    /// PyYAML puts merged members first and lets the mapping's own ones win.
    fn with_merged(&mut self, map: Map, merged: Vec<(Map, Option<NodeId>)>, node: Option<NodeId>) -> Map {
        if merged.is_empty() {
            return map;
        }
        let mut all = Map::new();
        let nodes: Vec<NodeId> = merged.iter().filter_map(|(_, from)| *from).collect();
        for (members, _) in merged {
            all.extend(members);
        }
        all.extend(map);
        if let Some(node) = node {
            self.spans.prepend_members(node, &nodes);
        }
        all
    }

    fn alias(&mut self, name: &str, span: Span) -> Result<(), Error> {
        let Some(&anchor) = self.anchor_names.get(name) else {
            let message =
                format!("no anchor `&{name}` stands before this alias; write it at the value to be repeated");
            return Err(Error::new(ErrorKind::Alias, span.start, message).with_go_text(unknown_anchor(name)));
        };
        let Some(target) = &self.anchors[anchor] else {
            let message = format!("`*{name}` stands inside the very value it repeats");
            return Err(Error::new(ErrorKind::Alias, span.start, message)
                .with_go_text(format!("yaml: anchor '{name}' value contains itself")));
        };
        let limits = &self.options.limits;
        self.alias_nodes = self.alias_nodes.saturating_add(target.cost.nodes);
        self.alias_bytes = self.alias_bytes.saturating_add(target.cost.bytes);
        if self.alias_nodes > limits.alias_nodes {
            let message = format!("aliases repeat more than {} values", limits.alias_nodes);
            return Err(Error::limit(LimitKind::AliasNodes, span.start, message));
        }
        if self.alias_bytes > limits.alias_bytes {
            let message = format!("aliases repeat more than {} bytes of text", limits.alias_bytes);
            return Err(Error::limit(LimitKind::AliasBytes, span.start, message));
        }
        if self.stack.len() + target.cost.depth > limits.effective_depth() {
            return Err(self.too_deep(span.start));
        }
        let cost = target.cost;
        let value = target.value.clone();
        let target_node = target.node;
        let node = target_node.map(|target| self.spans.add_alias(span, target));
        self.ready(Ready { value, span, node, cost, source: Source::Alias }, None)
    }

    fn scalar(
        &mut self,
        text: Cow<'text, str>,
        style: ScalarStyle,
        properties: &Properties<'text>,
        span: Span,
    ) -> Result<(), Error> {
        let limit = self.options.limits.scalar_bytes;
        if text.len() > limit {
            let message = format!("this text is {} bytes long; at most {limit} are read", text.len());
            return Err(Error::limit(LimitKind::ScalarBytes, span.start, message));
        }
        let is_key = self.expects_key();
        if !is_key {
            self.count_node(span.start)?;
        }
        let bytes = text.len();
        let tag = properties.tag.as_deref();
        let (value, source) = match self.options.rules {
            Rules::Kubernetes => kubernetes_scalar(text, style, tag, is_key, span)?,
            Rules::PyYaml => pyyaml_scalar(text, style, tag, is_key, span)?,
        };
        if !is_key && self.options.rules == Rules::Kubernetes && !is_finite(&value) {
            self.non_finite.get_or_insert(span.start);
        }
        let anchor = self.new_anchor(properties, span)?;
        let node = (self.with_spans && (!is_key || anchor.is_some())).then(|| self.spans.add_scalar(span));
        // A key costs nothing beside its value, unless an alias may repeat it as a value.
        let nodes = usize::from(!is_key || anchor.is_some());
        let cost = Cost { nodes, bytes, depth: 0 };
        self.ready(Ready { value, span, node, cost, source }, anchor)
    }

    /// Puts a finished value where it belongs: into the open collection, or as the document's own.
    fn ready(&mut self, ready: Ready, anchor: Option<AnchorId>) -> Result<(), Error> {
        if let Some(anchor) = anchor {
            self.charge_anchor(&ready)?;
            let value = ready.value.clone();
            self.anchors[anchor] = Some(Anchor { value, node: ready.node, cost: ready.cost });
        }
        let rules = self.options.rules;
        let duplicates = self.options.duplicate_keys;
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(ready.value);
            return Ok(());
        };
        frame.cost.nodes = frame.cost.nodes.saturating_add(ready.cost.nodes);
        frame.cost.bytes = frame.cost.bytes.saturating_add(ready.cost.bytes);
        frame.cost.depth = frame.cost.depth.max(ready.cost.depth + 1);
        let frame_node = frame.node;
        match &mut frame.shape {
            Shape::List { items, .. } => {
                items.push(ready.value);
                if let (Some(list), Some(item)) = (frame_node, ready.node) {
                    self.spans.push_item(list, item);
                }
            }
            Shape::Map { key: key @ None, numbers, .. } => {
                if ready.source == Source::MergeKey {
                    *key = Some(Key::Merge);
                    return Ok(());
                }
                let kind = ready.value.kind_name();
                let number = NumberKey::of(&ready.value).filter(|_| rules == Rules::PyYaml);
                let mut text = key_text(ready.value, rules).ok_or_else(|| {
                    let message = format!("{kind} cannot be a key here; quote it if text is meant");
                    Error::new(ErrorKind::Key, ready.span.start, message)
                })?;
                if let Some(number) = number {
                    text = numbers.entry(number).or_insert(text).clone();
                }
                *key = Some(Key::Name { text, span: ready.span });
            }
            Shape::Map { map, origins, key: key @ Some(_), merged, .. } => match key.take() {
                Some(Key::Name { text, span }) => {
                    let origin = Origin { key: span.start, merged: false };
                    if let (Some(map_node), Some(node)) = (frame_node, ready.node) {
                        self.spans.push_member(map_node, &text, span, node);
                    }
                    let entry = map.entry(text);
                    match entry {
                        indexmap::map::Entry::Vacant(entry) => {
                            entry.insert(ready.value);
                            origins.push(origin);
                        }
                        indexmap::map::Entry::Occupied(mut entry) => {
                            let first = &mut origins[entry.index()];
                            if !first.merged && duplicates == DuplicateKeys::Error {
                                let message = format!(
                                    "the key `{}` stands here a second time, first on {}; keep one of them",
                                    shortened(entry.key()),
                                    first.key,
                                );
                                let kind = ErrorKind::DuplicateKey { first: first.key };
                                return Err(Error::new(kind, span.start, message));
                            }
                            *first = origin;
                            entry.insert(ready.value);
                        }
                    }
                }
                Some(Key::Merge) => {
                    let at = ready.span.start;
                    let sources = merge_sources(ready, rules, &self.spans)?;
                    for (members, node) in sources {
                        if rules == Rules::PyYaml {
                            merged.push((members, node));
                            continue;
                        }
                        // go-yaml merges at once: what stands before `<<` is overridden, what stands after overrides.
                        for (name, value) in members {
                            let (index, _) = map.insert_full(name, value);
                            if index == origins.len() {
                                origins.push(Origin { key: at, merged: true });
                            }
                        }
                        if let (Some(map_node), Some(from)) = (frame_node, node) {
                            self.spans.append_members(map_node, from);
                        }
                    }
                }
                None => {}
            },
        }
        Ok(())
    }

    /// Keeping an anchored value to be repeated costs a copy of it, and anchors may stand within anchors.
    fn charge_anchor(&mut self, ready: &Ready) -> Result<(), Error> {
        let limits = &self.options.limits;
        self.kept_nodes = self.kept_nodes.saturating_add(ready.cost.nodes);
        self.kept_bytes = self.kept_bytes.saturating_add(ready.cost.bytes);
        let (limit, message) = if self.kept_nodes > limits.nodes {
            (LimitKind::AliasNodes, format!("anchors hold more than {} values", limits.nodes))
        } else if self.kept_bytes > limits.bytes {
            (LimitKind::AliasBytes, format!("anchors hold more than {} bytes of text", limits.bytes))
        } else {
            return Ok(());
        };
        Err(Error::limit(limit, ready.span.start, message))
    }
}

fn is_finite(value: &Value) -> bool {
    !matches!(value, Value::Float(float) if !float.is_finite())
}

/// The first number within that JSON does not have.
fn non_finite_number(value: &Value) -> Option<f64> {
    match value {
        Value::Float(float) if !float.is_finite() => Some(*float),
        Value::List(items) => items.iter().find_map(non_finite_number),
        Value::Map(map) => map.values().find_map(non_finite_number),
        _ => None,
    }
}
