//! What compiling makes of a text: operations, and the tables they index.

use crate::ast::{NodeId, Span, Tree};
use crate::function::{Function, Parameter};

/// A value known beforehand.
#[derive(Debug)]
pub(crate) enum Constant {
    Bool(bool),
    Int(i64),
    Uint32(u32),
    Float(f64),
    Duration(i64),
    Complex((f64, f64)),
    String(Box<[u8]>),
    /// A text that stands in the source as it is.
    Written(Span),
}

/// Where a chain of fields begins.
#[derive(Clone, Copy, Debug)]
pub(crate) enum From {
    Dot,
    Variable(u32),
    Stack,
}

/// A chain of fields: `.a.b`, `$x.a`, `(…).a`.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) node: NodeId,
    pub(crate) from: From,
    /// Its names, among the unit's fields.
    pub(crate) first: u32,
    pub(crate) names: u32,
    /// The words after it, when it is called like a method.
    pub(crate) arguments: Box<[NodeId]>,
    pub(crate) has_final: bool,
}

/// A call of a function.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) function: &'static Function,
    /// The name in the source.
    pub(crate) identifier: NodeId,
    /// What an error of the call is reported at.
    pub(crate) node: NodeId,
    pub(crate) arguments: u32,
    /// The first argument, if there is one besides the value piped in.
    pub(crate) first: Option<NodeId>,
    pub(crate) has_final: bool,
    /// A null in the answer becomes nothing, for a pipeline ends here.
    pub(crate) dig: bool,
}

/// A range: where its variables are and where it goes.
#[derive(Debug)]
pub(crate) struct Range {
    pub(crate) declared: u32,
    pub(crate) index: Option<u32>,
    pub(crate) element: Option<u32>,
    pub(crate) body: u32,
    pub(crate) otherwise: u32,
    pub(crate) end: u32,
}

/// One operation. Numbers index the unit's tables.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Text {
        start: u32,
        end: u32,
    },
    At(NodeId),
    Const {
        constant: u32,
        node: NodeId,
    },
    PushNil {
        parameter: Parameter,
        node: NodeId,
    },
    PushMissing,
    Dot {
        node: NodeId,
        dig: bool,
    },
    Variable {
        slot: u32,
        node: NodeId,
        dig: bool,
    },
    Fields {
        chain: u32,
        dig: bool,
    },
    /// Looks for a method; if there is nothing to call it on, goes on at `skip`.
    Method {
        chain: u32,
        skip: u32,
    },
    CallMethod {
        chain: u32,
        dig: bool,
    },
    Call(u32),
    Check(Parameter),
    /// `slice` refuses an index that sits in an interface.
    Boxed,
    /// Reports failure number so-and-so.
    Fail(u32),
    Set {
        slot: u32,
    },
    Pop,
    /// Removes the value under the topmost.
    Nip,
    Dig,
    Print(NodeId),
    Jump(u32),
    JumpIfFalse(u32),
    /// `and`, `or`: goes on at `target` and keeps the value if its truth is `when`, else drops it.
    ShortCircuit {
        when: bool,
        target: u32,
    },
    With(u32),
    PopDot,
    RangeBegin(u32),
    RangeNext,
    Break,
    Continue,
    FindTemplate {
        name: u32,
        node: NodeId,
    },
    CallTemplate {
        name: u32,
        node: NodeId,
    },
    Return,
}

/// A failure known beforehand; without a node of its own it is reported at the last one evaluated.
#[derive(Debug)]
pub(crate) struct Planned {
    pub(crate) node: Option<NodeId>,
    pub(crate) message: String,
}

/// Where a template begins in its unit.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) start: u32,
    pub(crate) slots: u32,
    /// Nothing but white space: never replaces another definition.
    pub(crate) empty: bool,
    pub(crate) body: NodeId,
}

/// One parsed and compiled text.
#[derive(Debug)]
pub(crate) struct Unit {
    pub(crate) name: Box<str>,
    pub(crate) source: Box<str>,
    pub(crate) tree: Tree,
    pub(crate) operations: Vec<Op>,
    pub(crate) constants: Vec<Constant>,
    pub(crate) chains: Vec<Chain>,
    /// The names of all chains, one chain after the other.
    pub(crate) fields: Vec<Span>,
    pub(crate) sites: Vec<Site>,
    pub(crate) ranges: Vec<Range>,
    pub(crate) called: Vec<Box<str>>,
    pub(crate) failures: Vec<Planned>,
    pub(crate) entries: Vec<Entry>,
}

impl Unit {
    /// Where the names of a chain are written.
    pub(crate) fn names(&self, chain: &Chain) -> &[Span] {
        let first = chain.first as usize;
        &self.fields[first..first + chain.names as usize]
    }
}
