//! The machine that turns parser events into values.

use std::borrow::Cow;
use std::collections::HashMap;

use granit_parser::{ErrorKind as ScanErrorKind, Event, Marker, Parser, ScalarStyle, StrInput, Tag};

use super::{check_length, key::key_text};
use crate::{
    error::{Error, ErrorKind, LimitKind},
    options::{DuplicateKeys, Options, Rules},
    position::{NodeId, Position, Span, Spans, saturating_u32},
    resolve::{Scalar, python_float, python_int, python_timestamp, resolve_plain},
    value::{Map, Value},
};

pub(super) struct Builder<'text, 'options> {
    text: &'text str,
    options: &'options Options,
    parser: Parser<'text, StrInput<'text>>,
    with_spans: bool,
    spans: Spans,
    stack: Vec<Frame>,
    anchors: HashMap<usize, Anchor>,
    /// Anchors of collections that are still open, so that an alias to one is known for what it is.
    nodes: usize,
    alias_nodes: usize,
    alias_bytes: usize,
    documents: usize,
    root: Option<Value>,
    /// Where the text of [`Position`]s begins: a byte order mark has no column.
    ended: bool,
}

/// An open collection.
struct Frame {
    shape: Shape,
    anchor: usize,
    node: Option<NodeId>,
    start: Position,
    /// How much the anchored values within cost so far, to be charged for each alias of this collection.
    cost: Cost,
}

enum Shape {
    List { items: Vec<Value>, kind: ListKind },
    Map { map: Map, origins: Vec<Origin>, key: Option<Key>, merged: Vec<(Map, Option<NodeId>)>, kind: MapKind },
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
    /// Levels of collections within.
    depth: usize,
}

/// What a value costs to repeat.
#[derive(Clone, Copy, Default)]
struct Cost {
    nodes: usize,
    bytes: usize,
    depth: usize,
}

impl Cost {
    fn add(&mut self, other: Self) {
        self.nodes = self.nodes.saturating_add(other.nodes);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.depth = self.depth.max(other.depth);
    }
}

/// A value that is ready to be put where it belongs.
struct Ready {
    value: Value,
    span: Span,
    node: Option<NodeId>,
    cost: Cost,
    /// It is an alias, or a plain (or so tagged) `<<`.
    source: Source,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Written,
    Alias,
    MergeKey,
}

impl<'text, 'options> Builder<'text, 'options> {
    pub(super) fn new(text: &'text str, options: &'options Options, with_spans: bool) -> Result<Self, Error> {
        check_length(text.len(), options)?;
        let depth = options.limits.effective_depth();
        let mut parser_options = granit_parser::options! {
            flow_nesting_limit: depth.saturating_add(1),
            block_nesting_limit: depth.saturating_add(1),
        };
        parser_options.set_emit_comments(false);
        Ok(Self {
            text,
            options,
            parser: Parser::new_from_str_with_options(text, parser_options),
            with_spans,
            spans: Spans::default(),
            stack: Vec::new(),
            anchors: HashMap::new(),
            nodes: 0,
            alias_nodes: 0,
            alias_bytes: 0,
            documents: 0,
            root: None,
            ended: false,
        })
    }

    /// The one document of the text.
    pub(super) fn read_single(mut self) -> Result<Option<(Value, Spans)>, Error> {
        let Some(document) = self.read_next()? else { return Ok(None) };
        while let Some((event, span)) = self.next_event()? {
            if let Event::DocumentStart(..) = event {
                return Err(Error::new(
                    ErrorKind::SecondDocument,
                    position(span.start),
                    "a second document begins here; only one is expected",
                ));
            }
        }
        Ok(Some(document))
    }

    /// The next document, or none at the end of the text.
    pub(super) fn read_next(&mut self) -> Result<Option<(Value, Spans)>, Error> {
        while let Some((event, span)) = self.next_event()? {
            let span = Span { start: position(span.start), end: position(span.end) };
            match event {
                Event::DocumentStart(..) => {
                    self.documents += 1;
                    let limit = self.options.limits.documents;
                    if self.documents > limit {
                        let message = format!("more than {limit} documents are not read");
                        return Err(Error::limit(LimitKind::Documents, span.start, message));
                    }
                    self.anchors.clear();
                    self.spans = Spans::default();
                }
                Event::DocumentEnd => {
                    let value = self.root.take().unwrap_or_default();
                    return Ok(Some((value, std::mem::take(&mut self.spans))));
                }
                Event::Scalar(text, style, anchor, tag) => self.scalar(text, style, anchor, tag.as_deref(), span)?,
                Event::SequenceStart(_, anchor, tag) => self.begin_list(anchor, tag.as_deref(), span)?,
                Event::MappingStart(_, anchor, tag) => self.begin_map(anchor, tag.as_deref(), span)?,
                Event::SequenceEnd | Event::MappingEnd => self.end(span)?,
                Event::Alias(anchor) => self.alias(anchor, span)?,
                _ => {}
            }
        }
        Ok(None)
    }

    fn next_event(&mut self) -> Result<Option<(Event<'text>, granit_parser::Span)>, Error> {
        if self.ended {
            return Ok(None);
        }
        match self.parser.next_event() {
            None => {
                self.ended = true;
                Ok(None)
            }
            Some(Ok((Event::StreamEnd, _))) => {
                self.ended = true;
                Ok(None)
            }
            Some(Ok(event)) => Ok(Some(event)),
            Some(Err(error)) => {
                self.ended = true;
                let at = position(*error.marker());
                Err(match error.kind() {
                    ScanErrorKind::RecursionLimitExceeded => self.too_deep(at),
                    ScanErrorKind::UnknownAnchor => Error::new(
                        ErrorKind::Alias,
                        at,
                        "no anchor of this name stands before the alias; write `&name` at the value it should repeat",
                    ),
                    _ => Error::new(ErrorKind::Syntax, at, error.info()),
                })
            }
        }
    }

    fn too_deep(&self, at: Position) -> Error {
        let depth = self.options.limits.effective_depth();
        Error::limit(LimitKind::Depth, at, format!("lists and mappings nested more than {depth} levels deep are not read"))
    }

    fn count_node(&mut self, at: Position) -> Result<(), Error> {
        self.nodes += 1;
        let limit = self.options.limits.nodes;
        if self.nodes > limit {
            return Err(Error::limit(LimitKind::Nodes, at, format!("more than {limit} values are not read")));
        }
        Ok(())
    }

    fn begin_list(&mut self, anchor: usize, tag: Option<&Tag>, span: Span) -> Result<(), Error> {
        let kind = match (self.options.rules, tag.and_then(standard_tag).as_deref()) {
            (Rules::PyYaml, Some("omap" | "pairs")) => ListKind::Pairs,
            (Rules::PyYaml, Some("seq" | "list") | None) if is_no_tag(tag) || tag.is_some() => {
                self.refuse_foreign_tag(tag, span, &["seq"])?;
                ListKind::Plain
            }
            (Rules::PyYaml, _) => {
                self.refuse_foreign_tag(tag, span, &["seq"])?;
                ListKind::Plain
            }
            (Rules::Kubernetes, _) => ListKind::Plain,
        };
        self.begin(Shape::List { items: Vec::new(), kind }, anchor, span)
    }

    fn begin_map(&mut self, anchor: usize, tag: Option<&Tag>, span: Span) -> Result<(), Error> {
        let set = self.options.rules == Rules::PyYaml && tag.and_then(standard_tag).as_deref() == Some("set");
        if self.options.rules == Rules::PyYaml {
            self.refuse_foreign_tag(tag, span, &["map", "set"])?;
        }
        let kind = if set { MapKind::Set } else { MapKind::Plain };
        let shape = Shape::Map { map: Map::new(), origins: Vec::new(), key: None, merged: Vec::new(), kind };
        self.begin(shape, anchor, span)
    }

    fn refuse_foreign_tag(&self, tag: Option<&Tag>, span: Span, known: &[&str]) -> Result<(), Error> {
        let Some(tag) = tag.filter(|tag| !is_no_tag(Some(tag))) else { return Ok(()) };
        if standard_tag(tag).is_some_and(|name| known.contains(&name.as_ref())) {
            return Ok(());
        }
        Err(unknown_tag(tag, span))
    }

    fn begin(&mut self, shape: Shape, anchor: usize, span: Span) -> Result<(), Error> {
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
        self.stack.push(Frame { shape, anchor, node, start: span.start, cost: Cost { nodes: 1, bytes: 0, depth: 1 } });
        Ok(())
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
            Shape::List { items, kind: ListKind::Pairs } => pairs(items, span)?,
            Shape::Map { map, merged, kind, .. } => {
                let map = self.with_merged(map, merged, node);
                match kind {
                    MapKind::Plain => Value::Map(map),
                    MapKind::Set => Value::List(map.into_keys().map(Value::String).collect()),
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
            // Each goes in front, so the last merged goes first.
            for from in nodes.into_iter().rev() {
                self.spans.merge_members(node, from, true);
            }
        }
        all
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), Error> {
        let Some(target) = self.anchors.get(&anchor) else {
            return Err(Error::new(ErrorKind::Alias, span.start, "this alias stands inside the very value it repeats"));
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
        if self.stack.len() + target.depth > limits.effective_depth() {
            return Err(self.too_deep(span.start));
        }
        let cost = Cost { depth: target.depth, ..target.cost };
        let value = target.value.clone();
        let target_node = target.node;
        let node = target_node.map(|target| self.spans.add_alias(span, target));
        self.ready(Ready { value, span, node, cost, source: Source::Alias }, 0)
    }

    fn scalar(
        &mut self,
        text: Cow<'text, str>,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
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
        let (value, source) = match self.options.rules {
            Rules::Kubernetes => self.kubernetes_scalar(text, style, tag, is_key, span)?,
            Rules::PyYaml => self.pyyaml_scalar(text, style, tag, is_key, span)?,
        };
        let node = (self.with_spans && !is_key || anchor != 0 && self.with_spans).then(|| self.spans.add_scalar(span));
        let cost = Cost { nodes: usize::from(!is_key), bytes, depth: 0 };
        self.ready(Ready { value, span, node, cost, source }, anchor)
    }

    fn kubernetes_scalar(
        &self,
        text: Cow<'text, str>,
        style: ScalarStyle,
        tag: Option<&Tag>,
        is_key: bool,
        span: Span,
    ) -> Result<(Value, Source), Error> {
        let plain = style == ScalarStyle::Plain;
        let standard = tag.and_then(standard_tag);
        if is_key && text == "<<" && ((plain && tag.is_none()) || is_no_tag(tag) && tag.is_some() || standard.as_deref() == Some("merge")) {
            return Ok((Value::Null, Source::MergeKey));
        }
        let wanted = match (tag, standard.as_deref()) {
            (None, _) if plain => None,
            (Some(_), Some(name @ ("bool" | "int" | "float" | "null" | "timestamp"))) => Some(name),
            (Some(_), Some("binary")) => {
                let bytes = decode_base64(&text, false).ok_or_else(|| {
                    Error::new(ErrorKind::Tag, span.start, "!!binary is not followed by base64 text")
                })?;
                return Ok((Value::String(String::from_utf8_lossy(&bytes).into_owned()), Source::Written));
            }
            // Quoted text, and tags go-yaml has no type for: the text as it stands.
            _ => return Ok((Value::String(text.into_owned()), Source::Written)),
        };
        let scalar = resolve_plain(&text, Rules::Kubernetes);
        let fits = match wanted {
            None => true,
            Some("bool") => matches!(scalar, Scalar::Bool(_)),
            Some("int") => matches!(scalar, Scalar::Int(_) | Scalar::Uint(_)),
            Some("float") => matches!(scalar, Scalar::Int(_) | Scalar::Float(_)),
            Some("null") => matches!(scalar, Scalar::Null),
            _ => matches!(scalar, Scalar::Timestamp),
        };
        if let (false, Some(name)) = (fits, wanted) {
            let message = format!("`{}` is not a !!{name}", shortened(&text));
            return Err(Error::new(ErrorKind::Tag, span.start, message));
        }
        let value = match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Int(value) if wanted == Some("float") => Value::Float(value as f64),
            Scalar::Int(value) => Value::Int(value),
            Scalar::Uint(value) => Value::Uint(value),
            Scalar::Float(value) if !value.is_finite() && !is_key => {
                let message = format!("the number {text} cannot be kept: JSON has no such number; quote it if text is meant");
                return Err(Error::new(ErrorKind::Number, span.start, message));
            }
            Scalar::Float(value) => Value::Float(value),
            _ => Value::String(text.into_owned()),
        };
        Ok((value, Source::Written))
    }

    fn pyyaml_scalar(
        &self,
        text: Cow<'text, str>,
        style: ScalarStyle,
        tag: Option<&Tag>,
        is_key: bool,
        span: Span,
    ) -> Result<(Value, Source), Error> {
        let malformed = |what: &str| {
            let message = format!("`{}` looks like {what} but is none; quote it if text is meant", shortened(&text));
            Error::new(ErrorKind::Number, span.start, message)
        };
        let standard = tag.and_then(standard_tag);
        let scalar = match (tag, standard.as_deref()) {
            _ if is_no_tag(tag) => {
                if tag.is_none() && style != ScalarStyle::Plain {
                    Scalar::String
                } else {
                    resolve_plain(&text, Rules::PyYaml)
                }
            }
            (Some(_), Some("str")) => Scalar::String,
            (Some(_), Some("null")) => Scalar::Null,
            (Some(_), Some("int")) => python_int(&text).unwrap_or(Scalar::Malformed),
            (Some(_), Some("float")) => python_float(&text).map_or(Scalar::Malformed, Scalar::Float),
            (Some(_), Some("bool")) => match text.to_ascii_lowercase().as_str() {
                "yes" | "true" | "on" => Scalar::Bool(true),
                "no" | "false" | "off" => Scalar::Bool(false),
                _ => Scalar::Malformed,
            },
            (Some(_), Some("timestamp")) => Scalar::Timestamp,
            (Some(_), Some("merge")) => Scalar::Merge,
            (Some(_), Some("value")) => Scalar::DefaultValue,
            (Some(_), Some("binary")) => {
                let text = decode_base64(&text, true).and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(|| {
                    Error::new(ErrorKind::Tag, span.start, "!!binary is not followed by the base64 of UTF-8 text")
                })?;
                return Ok((Value::String(text), Source::Written));
            }
            (Some(tag), _) => return Err(unknown_tag(tag, span)),
            (None, _) => Scalar::String,
        };
        let value = match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Int(value) => Value::Int(value),
            Scalar::Uint(value) => Value::Uint(value),
            Scalar::Float(value) => Value::Float(value),
            Scalar::Timestamp => Value::String(python_timestamp(&text).ok_or_else(|| malformed("a time"))?),
            Scalar::Malformed => return Err(malformed("a number or a time")),
            Scalar::Merge if is_key => return Ok((Value::Null, Source::MergeKey)),
            Scalar::DefaultValue if is_key => Value::String(text.into_owned()),
            Scalar::Merge | Scalar::DefaultValue => {
                let message = format!("a plain `{text}` cannot be a value; quote it if text is meant");
                return Err(Error::new(ErrorKind::Tag, span.start, message));
            }
            Scalar::String => Value::String(text.into_owned()),
        };
        Ok((value, Source::Written))
    }

    /// Puts a finished value where it belongs: into the open collection, or as the document's own.
    fn ready(&mut self, ready: Ready, anchor: usize) -> Result<(), Error> {
        if anchor != 0 {
            let anchored =
                Anchor { value: ready.value.clone(), node: ready.node, cost: ready.cost, depth: ready.cost.depth };
            self.charge_anchor(&ready)?;
            self.anchors.insert(anchor, anchored);
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
            Shape::Map { key: key @ None, .. } => {
                if ready.source == Source::MergeKey {
                    *key = Some(Key::Merge);
                    return Ok(());
                }
                let kind = ready.value.kind_name();
                let text = key_text(ready.value, rules).ok_or_else(|| {
                    let message = format!("{kind} cannot be a key here; quote it if text is meant");
                    Error::new(ErrorKind::Key, ready.span.start, message)
                })?;
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
                            self.spans.merge_members(map_node, from, false);
                        }
                    }
                }
                None => {}
            },
        }
        Ok(())
    }

    /// Keeping an anchored value costs a copy of it, which counts as one more repetition.
    fn charge_anchor(&mut self, ready: &Ready) -> Result<(), Error> {
        let limits = &self.options.limits;
        self.alias_nodes = self.alias_nodes.saturating_add(ready.cost.nodes);
        self.alias_bytes = self.alias_bytes.saturating_add(ready.cost.bytes);
        if self.alias_nodes > limits.alias_nodes.saturating_add(limits.nodes) {
            let message = format!("anchors and aliases hold more than {} values", limits.alias_nodes);
            return Err(Error::limit(LimitKind::AliasNodes, ready.span.start, message));
        }
        Ok(())
    }
}

/// The mappings a merge key brings in, in the order in which they are to be put into the mapping: later ones win.
fn merge_sources(ready: Ready, rules: Rules, spans: &Spans) -> Result<Vec<(Map, Option<NodeId>)>, Error> {
    let wrong = |at: Position, kind: &str| {
        let message = format!("`<<` takes a mapping or a list of mappings, not {kind}");
        Error::new(ErrorKind::Merge, at, message)
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
fn pairs(items: Vec<Value>, span: Span) -> Result<Value, Error> {
    let pair = |item: Value| match item {
        Value::Map(map) if map.len() == 1 => {
            Some(map.into_iter().map(|(key, value)| Value::List(vec![Value::String(key), value])).collect::<Vec<_>>())
        }
        _ => None,
    };
    let pairs: Option<Vec<Vec<Value>>> = items.into_iter().map(pair).collect();
    pairs.map(|pairs| Value::List(pairs.into_iter().flatten().collect())).ok_or_else(|| {
        Error::new(ErrorKind::Tag, span.start, "!!omap and !!pairs want a list of mappings with one member each")
    })
}

/// The name of a tag of YAML's own, `int` of `!!int`.
fn standard_tag(tag: &Tag) -> Option<Cow<'_, str>> {
    tag.suffix_in_namespace("tag:yaml.org,2002:")
}

/// No tag, or the non-specific `!`.
fn is_no_tag(tag: Option<&Tag>) -> bool {
    tag.is_none_or(|tag| tag.original() == "!")
}

fn unknown_tag(tag: &Tag, span: Span) -> Error {
    let message = format!("the tag {} is not known here; remove it", tag.original());
    Error::new(ErrorKind::Tag, span.start, message)
}

fn shortened(text: &str) -> Cow<'_, str> {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

fn position(marker: Marker) -> Position {
    Position {
        line: saturating_u32(marker.line()),
        column: saturating_u32(marker.col() + 1),
        offset: marker.byte_offset().unwrap_or_default(),
    }
}

/// Base64 as Go's standard encoding reads it (line breaks skipped, padding required); `lenient` skips every other
/// character too, as Python does.
fn decode_base64(text: &str, lenient: bool) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held, mut padding) = (0_u32, 0, 0);
    for byte in text.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                padding += 1;
                continue;
            }
            b'\n' | b'\r' => continue,
            _ if lenient => continue,
            _ => return None,
        };
        if padding > 0 {
            return if lenient && held == 0 { Some(bytes) } else { None };
        }
        bits = bits << 6 | u32::from(value);
        held += 1;
        if held == 4 {
            bytes.extend([(bits >> 16) as u8, (bits >> 8) as u8, bits as u8]);
            (bits, held) = (0, 0);
        }
    }
    match (held, padding) {
        (0, 0) => {}
        (2, 2) => bytes.push((bits >> 4) as u8),
        (3, 1) => bytes.extend([(bits >> 10) as u8, (bits >> 2) as u8]),
        _ => return None,
    }
    Some(bytes)
}
