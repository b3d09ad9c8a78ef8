//! The parsed form of one template text: a flat arena of nodes that know their position and print as Go prints them.
//!
//! Children are indices, so dropping, walking and printing a tree of any depth needs no recursion.

use smallvec::SmallVec;

use crate::strconv;

/// Index of a node in its tree.
pub(crate) type NodeId = u32;

/// Children of a node: mostly few, and then kept in place.
pub(crate) type Nodes = SmallVec<[NodeId; 4]>;

/// Part of the source: what is written there is not copied.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    pub(crate) start: u32,
    pub(crate) end: u32,
}

impl Span {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        // Texts are limited to well below 4 GiB before they are parsed.
        let index = |at| u32::try_from(at).unwrap_or(u32::MAX);
        Self { start: index(start), end: index(end) }
    }

    pub(crate) fn of(self, source: &str) -> &str {
        &source[self.start as usize..self.end as usize]
    }

    /// The places of the names in `.a.b` or `$x.a.b`, without what stands before the first dot.
    pub(crate) fn fields(self, source: &str) -> impl Iterator<Item = Self> {
        let mut at = self.start as usize;
        let parts = self.of(source).split('.').map(move |part| {
            let span = Self::new(at, at + part.len());
            at += part.len() + 1;
            span
        });
        parts.skip(1)
    }

    /// What stands before the first dot: the name of a variable, with its `$`.
    pub(crate) fn variable(self, source: &str) -> &str {
        self.of(source).split('.').next().unwrap_or_default()
    }

    /// The inside of a literal, if it is the text it stands for.
    pub(crate) fn unescaped(self, source: &str) -> Option<Self> {
        let text = self.of(source).as_bytes();
        let escape = if text.first() == Some(&b'`') { b'\r' } else { b'\\' };
        (!text.contains(&escape)).then_some(Self { start: self.start + 1, end: self.end - 1 })
    }
}

/// A number as written, with every reading it allows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Number {
    pub(crate) text: Span,
    pub(crate) int: Option<i64>,
    pub(crate) uint: Option<u64>,
    pub(crate) float: Option<f64>,
    pub(crate) complex: Option<(f64, f64)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Branch {
    If,
    Range,
    With,
}

#[derive(Clone, Debug)]
pub(crate) enum Node {
    List(Vec<NodeId>),
    Text {
        start: usize,
        end: usize,
    },
    Action(NodeId),
    Pipe {
        declarations: Vec<NodeId>,
        assign: bool,
        commands: Nodes,
    },
    Command(Nodes),
    Identifier(Span),
    /// `$x.a.b`
    Variable(Span),
    Dot,
    Nil,
    /// `.a.b`
    Field(Span),
    Chain {
        node: NodeId,
        /// `.a.b`
        fields: Span,
    },
    Bool(bool),
    Number(Box<Number>),
    /// As written, with its quotes.
    String(Span),
    Branch {
        kind: Branch,
        pipe: NodeId,
        list: NodeId,
        otherwise: Option<NodeId>,
    },
    Break,
    Continue,
    Template {
        name: String,
        pipe: Option<NodeId>,
    },
}

/// The nodes of one text, with the byte position each began at.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    nodes: Vec<(Node, u32)>,
}

/// Enough of a node's text for a message; Go prints all of it, so the limit is far out and only there for safety.
const LONGEST: usize = 1 << 20;

impl Tree {
    pub(crate) fn with_capacity(nodes: usize) -> Self {
        Self { nodes: Vec::with_capacity(nodes) }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn add(&mut self, node: Node, pos: usize) -> NodeId {
        // Texts are limited to well below 4 GiB before they are parsed.
        let id = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        self.nodes.push((node, u32::try_from(pos).unwrap_or(u32::MAX)));
        id
    }

    pub(crate) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize].0
    }

    pub(crate) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id as usize].0
    }

    pub(crate) fn pos(&self, id: NodeId) -> usize {
        self.nodes[id as usize].1 as usize
    }

    /// Whether a body holds nothing but white space: such a definition never replaces another.
    pub(crate) fn is_empty_body(&self, list: NodeId, source: &str) -> bool {
        match self.node(list) {
            Node::List(items) => items.iter().all(|item| match self.node(*item) {
                Node::Text { start, end } => source[*start..*end].trim().is_empty(),
                _ => false,
            }),
            _ => false,
        }
    }

    /// The node as Go's `String` method writes it.
    pub(crate) fn print(&self, id: NodeId, source: &str) -> String {
        #[derive(Clone, Copy)]
        enum Job<'t> {
            Node(NodeId),
            Text(&'t str),
        }
        let mut out = String::new();
        let mut jobs = vec![Job::Node(id)];
        while let Some(job) = jobs.pop() {
            if out.len() > LONGEST {
                break;
            }
            let id = match job {
                Job::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Job::Node(id) => id,
            };
            // What must come after this node's first words is pushed in reverse.
            match self.node(id) {
                Node::List(items) => jobs.extend(items.iter().rev().map(|item| Job::Node(*item))),
                Node::Text { start, end } => out.push_str(&source[*start..*end]),
                Node::Action(pipe) => {
                    out.push_str("{{");
                    jobs.push(Job::Text("}}"));
                    jobs.push(Job::Node(*pipe));
                }
                Node::Pipe { declarations, assign, commands } => {
                    for (index, command) in commands.iter().enumerate().rev() {
                        jobs.push(Job::Node(*command));
                        if index > 0 {
                            jobs.push(Job::Text(" | "));
                        }
                    }
                    if !declarations.is_empty() {
                        jobs.push(Job::Text(if *assign { " = " } else { " := " }));
                        for (index, variable) in declarations.iter().enumerate().rev() {
                            jobs.push(Job::Node(*variable));
                            if index > 0 {
                                jobs.push(Job::Text(", "));
                            }
                        }
                    }
                }
                Node::Command(words) => {
                    for (index, word) in words.iter().enumerate().rev() {
                        if matches!(self.node(*word), Node::Pipe { .. }) {
                            jobs.extend([Job::Text(")"), Job::Node(*word), Job::Text("(")]);
                        } else {
                            jobs.push(Job::Node(*word));
                        }
                        if index > 0 {
                            jobs.push(Job::Text(" "));
                        }
                    }
                }
                Node::Identifier(span) | Node::Variable(span) | Node::Field(span) | Node::String(span) => {
                    out.push_str(span.of(source));
                }
                Node::Dot => out.push('.'),
                Node::Nil => out.push_str("nil"),
                Node::Chain { node, fields } => {
                    jobs.push(Job::Text(fields.of(source)));
                    if matches!(self.node(*node), Node::Pipe { .. }) {
                        jobs.extend([Job::Text(")"), Job::Node(*node), Job::Text("(")]);
                    } else {
                        jobs.push(Job::Node(*node));
                    }
                }
                Node::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
                Node::Number(number) => out.push_str(number.text.of(source)),
                Node::Branch { kind, pipe, list, otherwise } => {
                    out.push_str(match kind {
                        Branch::If => "{{if ",
                        Branch::Range => "{{range ",
                        Branch::With => "{{with ",
                    });
                    jobs.push(Job::Text("{{end}}"));
                    if let Some(otherwise) = otherwise {
                        jobs.extend([Job::Node(*otherwise), Job::Text("{{else}}")]);
                    }
                    jobs.extend([Job::Node(*list), Job::Text("}}"), Job::Node(*pipe)]);
                }
                Node::Break => out.push_str("{{break}}"),
                Node::Continue => out.push_str("{{continue}}"),
                Node::Template { name, pipe } => {
                    out.push_str("{{template ");
                    out.push_str(&strconv::quote(name.as_bytes()));
                    jobs.push(Job::Text("}}"));
                    if let Some(pipe) = pipe {
                        jobs.extend([Job::Node(*pipe), Job::Text(" ")]);
                    }
                }
            }
        }
        out
    }
}
