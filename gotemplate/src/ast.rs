//! The parsed form of one template text: a flat arena of nodes that know their position and print as Go prints them.
//!
//! Children are indices, so dropping, walking and printing a tree of any depth needs no recursion.

use crate::strconv;

/// Index of a node in its tree.
pub(crate) type NodeId = u32;

/// A number as written, with every reading it allows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Number {
    pub(crate) text: String,
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
        commands: Vec<NodeId>,
    },
    Command(Vec<NodeId>),
    Identifier(String),
    /// `$x.a.b`: the name with its `$`, then the fields.
    Variable(Vec<String>),
    Dot,
    Nil,
    Field(Vec<String>),
    Chain {
        node: NodeId,
        fields: Vec<String>,
    },
    Bool(bool),
    Number(Box<Number>),
    String {
        quoted: String,
        text: Vec<u8>,
    },
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
                Node::Identifier(name) => out.push_str(name),
                Node::Variable(names) => out.push_str(&names.join(".")),
                Node::Dot => out.push('.'),
                Node::Nil => out.push_str("nil"),
                Node::Field(names) => {
                    for name in names {
                        out.push('.');
                        out.push_str(name);
                    }
                }
                Node::Chain { node, fields } => {
                    for field in fields.iter().rev() {
                        jobs.extend([Job::Text(field), Job::Text(".")]);
                    }
                    if matches!(self.node(*node), Node::Pipe { .. }) {
                        jobs.extend([Job::Text(")"), Job::Node(*node), Job::Text("(")]);
                    } else {
                        jobs.push(Job::Node(*node));
                    }
                }
                Node::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
                Node::Number(number) => out.push_str(&number.text),
                Node::String { quoted, .. } => out.push_str(quoted),
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
