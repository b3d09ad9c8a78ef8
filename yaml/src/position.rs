//! Where things stand in the text: positions, spans, and the table that finds a value's span by JSON pointer.
//!
//! It must not know the values themselves.

use std::{collections::HashSet, fmt};

use crate::value::{pointer_index, pointer_tokens};

/// A place in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
    /// Offset from the start of the text, in bytes.
    pub offset: usize,
}

impl Position {
    /// The first place of any text.
    pub const START: Self = Self { line: 1, column: 1, offset: 0 };

    /// The place of a byte offset in a text; an offset past the end is the end.
    #[must_use]
    pub fn of_offset(text: &str, offset: usize) -> Self {
        let offset = text.floor_char_boundary(offset);
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            line: saturating_u32(before.bytes().filter(|byte| *byte == b'\n').count() + 1),
            column: saturating_u32(before[line_start..].chars().count() + 1),
            offset,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}", self.line, self.column)
    }
}

pub(crate) fn saturating_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A stretch of text: `start` is its first place, `end` the one after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first place of the stretch.
    pub start: Position,
    /// The place after its last character.
    pub end: Position,
}

impl Span {
    /// The stretch of text itself, if it is one of that text.
    #[must_use]
    pub fn slice<'text>(&self, text: &'text str) -> Option<&'text str> {
        text.get(self.start.offset..self.end.offset)
    }
}

/// Where each value and key of a document stands, by JSON pointer.
///
/// Below an alias the spans are those of what the alias repeats, for there the values are written; the alias'
/// own value span is the `*name`. Merged members (`<<`) likewise have the spans of the mapping they come from.
#[derive(Clone, Debug, Default)]
pub struct Spans {
    nodes: Vec<SpanNode>,
    /// Every member name of the document, one after the other.
    names: String,
}

/// One value of the document.
#[derive(Clone, Debug)]
struct SpanNode {
    value: Span,
    children: Children,
}

#[derive(Clone, Debug)]
enum Children {
    None,
    List(Vec<NodeId>),
    Map(Vec<Member>),
    /// The children are those of another node (an alias).
    SameAs(NodeId),
}

#[derive(Clone, Copy, Debug)]
struct Member {
    name: (u32, u32),
    key: Span,
    value: NodeId,
}

/// An index into the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(u32);

impl Spans {
    /// The span of the value at that JSON pointer (`""` is the document's own value).
    #[must_use]
    pub fn span_of_value(&self, pointer: &str) -> Option<Span> {
        self.find(pointer).map(|(node, _)| self.nodes[node.0 as usize].value)
    }

    /// The span of the key under which the value at that pointer stands; none for list items and the document.
    #[must_use]
    pub fn span_of_key(&self, pointer: &str) -> Option<Span> {
        self.find(pointer)?.1
    }

    /// The span of the value at the pointer, or of the nearest value around it that is there.
    #[must_use]
    pub fn nearest(&self, pointer: &str) -> Option<Span> {
        let mut pointer = pointer;
        loop {
            if let Some(span) = self.span_of_value(pointer) {
                return Some(span);
            }
            pointer = &pointer[..pointer.rfind('/')?];
        }
    }

    fn find(&self, pointer: &str) -> Option<(NodeId, Option<Span>)> {
        // The document's own value is always the first node.
        let mut node = NodeId(0);
        let mut key = None;
        self.nodes.first()?;
        for token in pointer_tokens(pointer)? {
            (node, key) = match self.children(node) {
                Children::List(items) => (*items.get(pointer_index(&token)?)?, None),
                Children::Map(members) => {
                    let member = members.iter().rev().find(|member| self.name(member) == token)?;
                    (member.value, Some(member.key))
                }
                Children::None | Children::SameAs(_) => return None,
            };
        }
        Some((node, key))
    }

    fn children(&self, mut node: NodeId) -> &Children {
        // An alias refers to an earlier node, never to itself, so this ends.
        while let Children::SameAs(other) = &self.nodes[node.0 as usize].children {
            node = *other;
        }
        &self.nodes[node.0 as usize].children
    }

    fn name(&self, member: &Member) -> &str {
        &self.names[member.name.0 as usize..member.name.1 as usize]
    }
}

/// Building the table while a document is read.
impl Spans {
    pub(crate) fn add_scalar(&mut self, value: Span) -> NodeId {
        self.add(value, Children::None)
    }

    pub(crate) fn add_alias(&mut self, value: Span, target: NodeId) -> NodeId {
        self.add(value, Children::SameAs(target))
    }

    pub(crate) fn add_list(&mut self, value: Span) -> NodeId {
        self.add(value, Children::List(Vec::new()))
    }

    pub(crate) fn add_map(&mut self, value: Span) -> NodeId {
        self.add(value, Children::Map(Vec::new()))
    }

    pub(crate) fn finish(&mut self, node: NodeId, end: Position) {
        let value = &mut self.nodes[node.0 as usize].value;
        value.end = end.max(value.start);
    }

    pub(crate) fn push_item(&mut self, list: NodeId, item: NodeId) {
        if let Children::List(items) = &mut self.nodes[list.0 as usize].children {
            items.push(item);
        }
    }

    /// A later member of the same name hides an earlier one.
    pub(crate) fn push_member(&mut self, map: NodeId, name: &str, key: Span, value: NodeId) {
        let start = saturating_u32(self.names.len());
        self.names.push_str(name);
        let member = Member { name: (start, saturating_u32(self.names.len())), key, value };
        if let Children::Map(members) = &mut self.nodes[map.0 as usize].children {
            members.push(member);
        }
    }

    /// The members of `from` (a mapping or an alias of one) become members of `map`, after those it has.
    pub(crate) fn append_members(&mut self, map: NodeId, from: NodeId) {
        let Children::Map(merged) = self.children(from).clone() else { return };
        if let Children::Map(members) = &mut self.nodes[map.0 as usize].children {
            members.extend(merged);
        }
    }

    /// The members of all of `sources` become members of `map`, before those it has.
    pub(crate) fn prepend_members(&mut self, map: NodeId, sources: &[NodeId]) {
        let mut merged = Vec::new();
        for source in sources {
            if let Children::Map(members) = self.children(*source) {
                merged.extend_from_slice(members);
            }
        }
        if let Children::Map(members) = &mut self.nodes[map.0 as usize].children {
            merged.append(members);
            *members = merged;
        }
    }

    /// The items of a list, for merging a list of mappings.
    pub(crate) fn items_of(&self, list: NodeId) -> Vec<NodeId> {
        match self.children(list) {
            Children::List(items) => items.clone(),
            _ => Vec::new(),
        }
    }

    /// A mapping that stands for the list of its keys (a set): each item is where the key is.
    pub(crate) fn keys_become_items(&mut self, map: NodeId) {
        let Children::Map(members) = self.children(map).clone() else { return };
        let mut seen = HashSet::new();
        let first: Vec<Member> =
            members.into_iter().filter(|member| seen.insert(self.name(member))).collect();
        let items = first.into_iter().map(|member| self.add_scalar(member.key)).collect();
        self.nodes[map.0 as usize].children = Children::List(items);
    }

    /// A list of mappings of one member each that stands for a list of pairs.
    pub(crate) fn members_become_pairs(&mut self, list: NodeId) {
        for item in self.items_of(list) {
            let Children::Map(members) = self.children(item).clone() else { continue };
            if let Some(member) = members.last() {
                let key = self.add_scalar(member.key);
                // The item may be an alias: then it gets children of its own.
                self.nodes[item.0 as usize].children = Children::List(vec![key, member.value]);
            }
        }
    }

    fn add(&mut self, value: Span, children: Children) -> NodeId {
        let node = NodeId(saturating_u32(self.nodes.len()));
        self.nodes.push(SpanNode { value, children });
        node
    }
}
