//! From trees to a flat list of operations: variables become slots, functions become pointers, and every mistake that
//! can be known beforehand becomes an operation that reports it at the moment Go would.
//!
//! What is left to do is kept as a list of jobs, so nesting costs no machine stack.

use crate::ast::{Branch, Node, NodeId, Number, Tree};
use crate::function::{Body, Function, Parameter};
use crate::parse::Parsed;
use crate::profile::Profile;

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
    pub(crate) names: Box<[Box<str>]>,
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
    pub(crate) sites: Vec<Site>,
    pub(crate) ranges: Vec<Range>,
    pub(crate) names: Vec<Box<str>>,
    pub(crate) failures: Vec<Planned>,
    pub(crate) entries: Vec<Entry>,
}

enum Job {
    List(NodeId),
    Node(NodeId),
    Pipe(NodeId),
    Declare {
        pipe: NodeId,
    },
    Command {
        command: NodeId,
        has_final: bool,
    },
    Argument {
        node: NodeId,
        parameter: Option<Parameter>,
    },
    Emit(Op),
    /// `and`/`or`: after one argument.
    AfterOperand {
        when: bool,
        keep: bool,
        jumps: usize,
    },
    AfterOperands {
        has_final: bool,
        jumps: usize,
        dig: bool,
    },
    AfterCondition {
        kind: Branch,
        list: NodeId,
        otherwise: Option<NodeId>,
        mark: usize,
    },
    AfterList {
        kind: Branch,
        otherwise: Option<NodeId>,
        jump: usize,
        mark: usize,
        inner: usize,
    },
    AfterElse {
        jump: usize,
        mark: usize,
    },
    AfterRangePipe {
        range: u32,
        pipe: NodeId,
        list: NodeId,
        otherwise: Option<NodeId>,
        mark: usize,
    },
    AfterRangeList {
        range: u32,
        otherwise: Option<NodeId>,
        mark: usize,
        inner: usize,
    },
    AfterRangeElse {
        range: u32,
        mark: usize,
    },
    AfterMethod {
        chain: u32,
        skip: usize,
        dig: bool,
    },
    /// A chain on a parenthesized pipeline, once that is on the stack.
    ChainFields {
        chain: u32,
        dig: bool,
    },
}

struct Compiler<'p> {
    unit: Unit,
    profile: &'p Profile,
    jobs: Vec<Job>,
    /// The names of the variables alive at this point of the program; a variable's slot is its position.
    variables: Vec<String>,
    slots: usize,
    /// Places of jumps to patch, by `and`/`or` call.
    short_circuits: Vec<Vec<usize>>,
}

pub(crate) fn compile(name: &str, source: &str, parsed: Parsed, profile: &Profile) -> Unit {
    let unit = Unit {
        name: name.into(),
        source: source.into(),
        tree: parsed.tree,
        operations: Vec::new(),
        constants: Vec::new(),
        chains: Vec::new(),
        sites: Vec::new(),
        ranges: Vec::new(),
        names: Vec::new(),
        failures: Vec::new(),
        entries: Vec::new(),
    };
    let mut compiler = Compiler {
        unit,
        profile,
        jobs: Vec::new(),
        variables: Vec::new(),
        slots: 0,
        short_circuits: Vec::new(),
    };
    for definition in parsed.definitions {
        compiler.variables = vec!["$".to_owned()];
        compiler.slots = 1;
        let start = compiler.here();
        compiler.jobs.push(Job::List(definition.body));
        compiler.run();
        compiler.emit(Op::Return);
        let empty = compiler.unit.tree.is_empty_body(definition.body, source);
        let slots = u32::try_from(compiler.slots).unwrap_or(u32::MAX);
        compiler.unit.entries.push(Entry {
            name: definition.name,
            start,
            slots,
            empty,
            body: definition.body,
        });
    }
    compiler.unit
}

fn index(length: usize) -> u32 {
    // A text of less than 4 GiB has fewer than 2^32 of anything.
    u32::try_from(length).unwrap_or(u32::MAX)
}

impl Compiler<'_> {
    fn here(&self) -> u32 {
        index(self.unit.operations.len())
    }

    fn emit(&mut self, operation: Op) -> usize {
        self.unit.operations.push(operation);
        self.unit.operations.len() - 1
    }

    fn constant(&mut self, constant: Constant, node: NodeId) {
        self.unit.constants.push(constant);
        let constant = index(self.unit.constants.len() - 1);
        self.emit(Op::Const { constant, node });
    }

    fn fail(&mut self, node: Option<NodeId>, message: String) {
        self.unit.failures.push(Planned { node, message });
        let failure = index(self.unit.failures.len() - 1);
        self.emit(Op::Fail(failure));
    }

    fn text(&self, node: NodeId) -> String {
        self.unit.tree.print(node, &self.unit.source)
    }

    fn patch(&mut self, at: usize) {
        let here = self.here();
        match &mut self.unit.operations[at] {
            Op::Jump(target)
            | Op::JumpIfFalse(target)
            | Op::With(target)
            | Op::ShortCircuit { target, .. }
            | Op::Method { skip: target, .. } => *target = here,
            _ => {}
        }
    }

    fn declare(&mut self, name: String) -> u32 {
        self.variables.push(name);
        self.slots = self.slots.max(self.variables.len());
        index(self.variables.len() - 1)
    }

    fn slot(&self, name: &str) -> Option<u32> {
        self.variables.iter().rposition(|variable| variable == name).map(index)
    }

    fn run(&mut self) {
        while let Some(job) = self.jobs.pop() {
            self.job(job);
        }
    }

    fn job(&mut self, job: Job) {
        match job {
            Job::List(list) => {
                if let Node::List(items) = self.unit.tree.node(list) {
                    self.jobs.extend(items.iter().rev().map(|item| Job::Node(*item)));
                }
            }
            Job::Node(node) => self.node(node),
            Job::Pipe(pipe) => {
                self.emit(Op::At(pipe));
                self.jobs.push(Job::Declare { pipe });
                if let Node::Pipe { commands, .. } = self.unit.tree.node(pipe) {
                    let jobs = commands.iter().enumerate().rev();
                    self.jobs.extend(
                        jobs.map(|(at, command)| Job::Command { command: *command, has_final: at > 0 }),
                    );
                }
            }
            Job::Declare { pipe } => self.declarations(pipe),
            Job::Command { command, has_final } => self.command(command, has_final),
            Job::Argument { node, parameter } => self.argument(node, parameter),
            Job::Emit(operation) => {
                self.emit(operation);
            }
            Job::AfterOperand { when, keep, jumps } => {
                if !keep {
                    let at = self.emit(Op::ShortCircuit { when, target: 0 });
                    self.short_circuits[jumps].push(at);
                }
            }
            Job::AfterOperands { has_final, jumps, dig } => {
                let places = std::mem::take(&mut self.short_circuits[jumps]);
                if has_final && !places.is_empty() {
                    let over = self.emit(Op::Jump(0));
                    places.into_iter().for_each(|place| self.patch(place));
                    self.emit(Op::Nip);
                    self.patch(over);
                } else {
                    places.into_iter().for_each(|place| self.patch(place));
                }
                if dig {
                    self.emit(Op::Dig);
                }
            }
            Job::AfterCondition { kind, list, otherwise, mark } => {
                let jump = self.emit(if kind == Branch::With { Op::With(0) } else { Op::JumpIfFalse(0) });
                let inner = self.variables.len();
                self.jobs.push(Job::AfterList { kind, otherwise, jump, mark, inner });
                self.jobs.push(Job::List(list));
            }
            Job::AfterList { kind, otherwise, jump, mark, inner } => {
                self.variables.truncate(inner);
                if kind == Branch::With {
                    self.emit(Op::PopDot);
                }
                match otherwise {
                    None => {
                        self.patch(jump);
                        self.variables.truncate(mark);
                    }
                    Some(otherwise) => {
                        let over = self.emit(Op::Jump(0));
                        self.patch(jump);
                        self.jobs.push(Job::AfterElse { jump: over, mark });
                        self.jobs.push(Job::List(otherwise));
                    }
                }
            }
            Job::AfterElse { jump, mark } => {
                self.patch(jump);
                self.variables.truncate(mark);
            }
            Job::AfterRangePipe { range, pipe, list, otherwise, mark } => {
                self.range_variables(range, pipe);
                self.emit(Op::RangeBegin(range));
                self.unit.ranges[range as usize].body = self.here();
                let inner = self.variables.len();
                self.jobs.push(Job::AfterRangeList { range, otherwise, mark, inner });
                self.jobs.push(Job::List(list));
            }
            Job::AfterRangeList { range, otherwise, mark, inner } => {
                self.variables.truncate(inner);
                self.emit(Op::RangeNext);
                self.unit.ranges[range as usize].otherwise = self.here();
                self.jobs.push(Job::AfterRangeElse { range, mark });
                if let Some(otherwise) = otherwise {
                    self.jobs.push(Job::List(otherwise));
                }
            }
            Job::AfterRangeElse { range, mark } => {
                self.unit.ranges[range as usize].end = self.here();
                self.variables.truncate(mark);
            }
            Job::AfterMethod { chain, skip, dig } => {
                self.emit(Op::CallMethod { chain, dig });
                self.patch(skip);
            }
            Job::ChainFields { chain, dig } => self.chain_fields(chain, dig),
        }
    }

    fn node(&mut self, node: NodeId) {
        match self.unit.tree.node(node) {
            Node::Text { start, end } => {
                let (start, end) = (index(*start), index(*end));
                self.emit(Op::Text { start, end });
            }
            Node::Action(pipe) => {
                let pipe = *pipe;
                let declares = matches!(self.unit.tree.node(pipe), Node::Pipe { declarations, .. } if !declarations.is_empty());
                self.jobs.push(Job::Emit(if declares { Op::Pop } else { Op::Print(node) }));
                self.jobs.push(Job::Pipe(pipe));
            }
            Node::Branch { kind: Branch::Range, pipe, list, otherwise } => {
                let (pipe, list, otherwise) = (*pipe, *list, *otherwise);
                let empty = Range { declared: 0, index: None, element: None, body: 0, otherwise: 0, end: 0 };
                self.unit.ranges.push(empty);
                let range = index(self.unit.ranges.len() - 1);
                let mark = self.variables.len();
                self.emit(Op::At(node));
                self.jobs.push(Job::AfterRangePipe { range, pipe, list, otherwise, mark });
                self.jobs.push(Job::Pipe(pipe));
            }
            Node::Branch { kind, pipe, list, otherwise } => {
                let (kind, pipe, list, otherwise) = (*kind, *pipe, *list, *otherwise);
                let mark = self.variables.len();
                self.jobs.push(Job::AfterCondition { kind, list, otherwise, mark });
                self.jobs.push(Job::Pipe(pipe));
            }
            Node::Break => {
                self.emit(Op::Break);
            }
            Node::Continue => {
                self.emit(Op::Continue);
            }
            Node::Template { name, pipe } => {
                let (name, pipe) = (name.clone(), *pipe);
                self.unit.names.push(name.into());
                let name = index(self.unit.names.len() - 1);
                self.jobs.push(Job::Emit(Op::CallTemplate { name, node }));
                match pipe {
                    Some(pipe) => {
                        self.emit(Op::FindTemplate { name, node });
                        self.jobs.push(Job::Pipe(pipe));
                    }
                    None => {
                        self.emit(Op::PushMissing);
                    }
                }
            }
            _ => {}
        }
    }

    fn declarations(&mut self, pipe: NodeId) {
        let Node::Pipe { declarations, assign, .. } = self.unit.tree.node(pipe) else { return };
        let assign = *assign;
        let names: Vec<String> = declarations
            .iter()
            .filter_map(|variable| match self.unit.tree.node(*variable) {
                Node::Variable(names) => names.first().cloned(),
                _ => None,
            })
            .collect();
        for name in names {
            let slot = if assign { self.slot(&name) } else { Some(self.declare(name.clone())) };
            match slot {
                Some(slot) => {
                    self.emit(Op::Set { slot });
                }
                None => self.fail(None, format!("undefined variable: {name}")),
            }
        }
    }

    fn range_variables(&mut self, range: u32, pipe: NodeId) {
        let Node::Pipe { declarations, .. } = self.unit.tree.node(pipe) else { return };
        let slots: Vec<Option<u32>> = declarations
            .iter()
            .map(|variable| match self.unit.tree.node(*variable) {
                Node::Variable(names) => names.first().and_then(|name| self.slot(name)),
                _ => None,
            })
            .collect();
        let range = &mut self.unit.ranges[range as usize];
        range.declared = index(slots.len());
        match slots[..] {
            [element] => range.element = element,
            [first, second] => (range.index, range.element) = (first, second),
            _ => {}
        }
    }

    fn not_a_function(&mut self, words: &[NodeId], has_final: bool) -> bool {
        if words.len() <= 1 && !has_final {
            return false;
        }
        let shown = self.text(words[0]);
        self.fail(None, format!("can't give argument to non-function {shown}"));
        true
    }

    fn command(&mut self, command: NodeId, has_final: bool) {
        // The words are taken out while they are compiled, and put back for messages to print.
        let Node::Command(words) = self.unit.tree.node_mut(command) else { return };
        let words = std::mem::take(words);
        self.command_words(command, &words, has_final);
        if let Node::Command(place) = self.unit.tree.node_mut(command) {
            *place = words;
        }
    }

    fn command_words(&mut self, command: NodeId, words: &[NodeId], has_final: bool) {
        let Some(&first) = words.first() else { return };
        let arguments = &words[1..];
        match self.unit.tree.node(first) {
            Node::Field(_) => self.chain(first, From::Dot, arguments, has_final, true),
            Node::Chain { .. } => self.chain_node(first, arguments, has_final, true),
            Node::Identifier(_) => self.call(first, command, arguments, has_final, true),
            Node::Pipe { .. } => {
                if !self.not_a_function(words, has_final) {
                    self.jobs.push(Job::Pipe(first));
                }
            }
            Node::Variable(_) => self.variable(first, words, has_final, true),
            _ => {
                self.emit(Op::At(first));
                if self.not_a_function(words, has_final) {
                    return;
                }
                match self.unit.tree.node(first) {
                    Node::Dot => {
                        self.emit(Op::Dot { node: first, dig: true });
                    }
                    Node::Nil => self.fail(None, "nil is not a command".to_owned()),
                    _ => self.literal(first),
                }
            }
        }
    }

    /// A constant where any type will do.
    fn literal(&mut self, node: NodeId) {
        match self.unit.tree.node(node) {
            Node::Bool(value) => {
                let value = *value;
                self.constant(Constant::Bool(value), node);
            }
            Node::String { text, .. } => {
                let text = text.clone();
                self.constant(Constant::String(text.into()), node);
            }
            Node::Number(number) => match ideal(number) {
                Ok(constant) => self.constant(constant, node),
                Err(message) => self.fail(Some(node), message),
            },
            _ => {}
        }
    }

    fn variable(&mut self, node: NodeId, words: &[NodeId], has_final: bool, dig: bool) {
        let Node::Variable(names) = self.unit.tree.node(node) else { return };
        let Some(slot) = self.slot(&names[0]) else {
            let message = format!("undefined variable: {}", names[0]);
            self.fail(Some(node), message);
            return;
        };
        if names.len() == 1 {
            self.emit(Op::At(node));
            if !self.not_a_function(words, has_final) {
                self.unit.operations.pop();
                self.emit(Op::Variable { slot, node, dig });
            }
            return;
        }
        let arguments = words.get(1..).unwrap_or_default();
        self.chain(node, From::Variable(slot), arguments, has_final, dig);
    }

    fn chain_node(&mut self, node: NodeId, arguments: &[NodeId], has_final: bool, dig: bool) {
        let Node::Chain { node: inner, .. } = self.unit.tree.node(node) else { return };
        let inner = *inner;
        self.emit(Op::At(node));
        if matches!(self.unit.tree.node(inner), Node::Nil) {
            let shown = self.text(node);
            self.fail(None, format!("indirection through explicit nil in {shown}"));
            return;
        }
        let chain = self.new_chain(node, From::Stack, arguments, has_final);
        self.jobs.push(Job::ChainFields { chain, dig });
        self.jobs.push(Job::Argument { node: inner, parameter: None });
    }

    /// A chain with the fields of this node.
    fn new_chain(&mut self, node: NodeId, from: From, arguments: &[NodeId], has_final: bool) -> u32 {
        let fields: &[String] = match self.unit.tree.node(node) {
            Node::Field(names) | Node::Chain { fields: names, .. } => names,
            Node::Variable(names) => &names[1..],
            _ => &[],
        };
        let names = fields.iter().map(|name| name.as_str().into()).collect();
        self.unit.chains.push(Chain { node, from, names, arguments: arguments.into(), has_final });
        index(self.unit.chains.len() - 1)
    }

    fn chain(&mut self, node: NodeId, from: From, arguments: &[NodeId], has_final: bool, dig: bool) {
        let chain = self.new_chain(node, from, arguments, has_final);
        self.chain_fields(chain, dig);
    }

    fn chain_fields(&mut self, chain: u32, dig: bool) {
        let described = &self.unit.chains[chain as usize];
        if described.arguments.is_empty() && !described.has_final {
            self.emit(Op::Fields { chain, dig });
            return;
        }
        let arguments = described.arguments.clone();
        let skip = self.emit(Op::Method { chain, skip: 0 });
        self.jobs.push(Job::AfterMethod { chain, skip, dig });
        let jobs = arguments.iter().rev();
        self.jobs.extend(jobs.map(|node| Job::Argument { node: *node, parameter: Some(Parameter::Any) }));
    }

    fn call(&mut self, identifier: NodeId, node: NodeId, arguments: &[NodeId], has_final: bool, dig: bool) {
        let Node::Identifier(name) = self.unit.tree.node(identifier) else { return };
        let Some(function) = self.profile.function(name) else {
            let name = crate::strconv::quote(name.as_bytes());
            self.fail(Some(identifier), format!("{name} is not a defined function"));
            return;
        };
        let name = function.name;
        let given = arguments.len() + usize::from(has_final);
        let wanted = function.parameters.len();
        if function.variadic && given < wanted - 1 {
            let message = format!(
                "wrong number of args for {name}: want at least {} got {}",
                wanted - 1,
                arguments.len()
            );
            self.fail(Some(identifier), message);
            return;
        }
        if !function.variadic && given != wanted {
            self.fail(
                Some(identifier),
                format!("wrong number of args for {name}: want {wanted} got {given}"),
            );
            return;
        }
        if let Body::And | Body::Or = function.body {
            let when = matches!(function.body, Body::Or);
            self.short_circuits.push(Vec::new());
            let jumps = self.short_circuits.len() - 1;
            self.emit(Op::At(identifier));
            self.jobs.push(Job::AfterOperands { has_final, jumps, dig });
            for (at, node) in arguments.iter().enumerate().rev() {
                let keep = at + 1 == arguments.len() && !has_final;
                self.jobs.push(Job::AfterOperand { when, keep, jumps });
                self.jobs.push(Job::Argument { node: *node, parameter: Some(Parameter::Raw) });
            }
            return;
        }
        self.unit.sites.push(Site {
            function,
            identifier,
            node,
            arguments: index(arguments.len()),
            first: arguments.first().copied(),
            has_final,
            dig,
        });
        let site = index(self.unit.sites.len() - 1);
        self.jobs.push(Job::Emit(Op::Call(site)));
        for (at, node) in arguments.iter().enumerate().rev() {
            if at > 0 && name == "slice" && function.parameter(at) == Parameter::Raw {
                let reads = matches!(
                    self.unit.tree.node(*node),
                    Node::Field(_) | Node::Variable(_) | Node::Chain { .. } | Node::Dot
                );
                self.jobs.extend(reads.then_some(Job::Emit(Op::Boxed)));
            }
            self.jobs.push(Job::Argument { node: *node, parameter: Some(function.parameter(at)) });
        }
    }

    /// One argument, which must fit `parameter`.
    fn argument(&mut self, node: NodeId, parameter: Option<Parameter>) {
        let check = match parameter {
            None | Some(Parameter::Any | Parameter::Raw) => None,
            Some(parameter) => Some(Job::Emit(Op::Check(parameter))),
        };
        match self.unit.tree.node(node) {
            Node::Dot => {
                self.jobs.extend(check);
                self.emit(Op::Dot { node, dig: false });
            }
            Node::Nil => {
                let parameter = parameter.unwrap_or(Parameter::Any);
                if parameter.can_be_nil() {
                    self.emit(Op::PushNil { parameter, node });
                } else {
                    self.fail(Some(node), format!("cannot assign nil to {}", parameter.name()));
                }
            }
            Node::Field(_) => {
                self.jobs.extend(check);
                self.chain(node, From::Dot, &[], false, false);
            }
            Node::Variable(_) => {
                self.jobs.extend(check);
                self.variable(node, &[], false, false);
            }
            Node::Pipe { .. } => {
                self.jobs.extend(check);
                self.jobs.push(Job::Pipe(node));
            }
            Node::Identifier(_) => {
                self.jobs.extend(check);
                self.call(node, node, &[], false, false);
            }
            Node::Chain { .. } => {
                self.jobs.extend(check);
                self.chain_node(node, &[], false, false);
            }
            _ => self.literal_argument(node, parameter.unwrap_or(Parameter::Any)),
        }
    }

    fn literal_argument(&mut self, node: NodeId, parameter: Parameter) {
        let literal = self.unit.tree.node(node);
        let number = match literal {
            Node::Number(number) => Some(number),
            _ => None,
        };
        let (constant, wanted) = match parameter {
            Parameter::Any | Parameter::Raw => return self.literal(node),
            Parameter::Bool => {
                (if let Node::Bool(value) = literal { Some(Constant::Bool(*value)) } else { None }, "bool")
            }
            Parameter::String => {
                let text = match literal {
                    Node::String { text, .. } => Some(Constant::String(text.clone().into())),
                    _ => None,
                };
                (text, "string")
            }
            Parameter::Int => (number.and_then(|number| number.int).map(Constant::Int), "integer"),
            Parameter::Duration => (number.and_then(|number| number.int).map(Constant::Duration), "integer"),
            Parameter::Uint32 => {
                // Go stores the low bits.
                let value = number.and_then(|number| number.uint).map(|value| Constant::Uint32(value as u32));
                (value, "unsigned integer")
            }
            Parameter::Float => (number.and_then(|number| number.float).map(Constant::Float), "float"),
            Parameter::Map
            | Parameter::List
            | Parameter::Time
            | Parameter::Certificate
            | Parameter::Version => {
                let shown = self.text(node);
                self.fail(Some(node), format!("can't handle {shown} for arg of type {}", parameter.name()));
                return;
            }
        };
        match constant {
            Some(constant) => self.constant(constant, node),
            None => {
                let shown = self.text(node);
                self.fail(Some(node), format!("expected {wanted}; found {shown}"));
            }
        }
    }
}

/// The value of a number where nothing says which type it should have.
fn ideal(number: &Number) -> Result<Constant, String> {
    if let Some(complex) = number.complex {
        return Ok(Constant::Complex(complex));
    }
    let text = number.text.as_bytes();
    let hex =
        text.len() > 2 && text[0] == b'0' && text[1] | 0x20 == b'x' && !number.text.contains(['p', 'P']);
    let rune = text.first() == Some(&b'\'');
    match (number.float, number.int, number.uint) {
        (Some(float), _, _) if !hex && !rune && number.text.contains(['.', 'e', 'E', 'p', 'P']) => {
            Ok(Constant::Float(float))
        }
        (_, Some(int), _) => Ok(Constant::Int(int)),
        _ => Err(format!("{} overflows int", number.text)),
    }
}
