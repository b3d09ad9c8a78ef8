//! From trees to a flat list of operations: variables become slots, functions become pointers, and every mistake that
//! can be known beforehand becomes an operation that reports it at the moment Go would.
//!
//! What is left to do is kept as a list of jobs, so nesting costs no machine stack.

mod arguments;
mod unit;

use smallvec::SmallVec;

use crate::ast::{Branch, Node, NodeId};
use crate::function::Parameter;
use crate::parse::Parsed;
use crate::profile::Profile;

pub(crate) use unit::{Chain, Constant, Entry, From, Op, Planned, Range, Site, Unit};

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
    variables: Vec<&'p str>,
    source: &'p str,
    slots: usize,
    /// Places of jumps to patch, by `and`/`or` call.
    short_circuits: Vec<Vec<usize>>,
}

pub(crate) fn compile(name: &str, source: &str, parsed: Parsed, profile: &Profile) -> Unit {
    let nodes = parsed.tree.len();
    let unit = Unit {
        name: name.into(),
        source: source.into(),
        tree: parsed.tree,
        operations: Vec::with_capacity(nodes),
        constants: Vec::with_capacity(nodes / 16),
        chains: Vec::with_capacity(nodes / 8),
        fields: Vec::with_capacity(nodes / 4),
        sites: Vec::with_capacity(nodes / 16),
        ranges: Vec::new(),
        called: Vec::new(),
        failures: Vec::new(),
        entries: Vec::new(),
    };
    let mut compiler = Compiler {
        unit,
        profile,
        jobs: Vec::with_capacity(32),
        variables: Vec::with_capacity(8),
        source,
        slots: 0,
        short_circuits: Vec::new(),
    };
    for definition in parsed.definitions {
        compiler.variables.clear();
        compiler.variables.push("$");
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

impl<'p> Compiler<'p> {
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

    fn declare(&mut self, name: &'p str) -> u32 {
        self.variables.push(name);
        self.slots = self.slots.max(self.variables.len());
        index(self.variables.len() - 1)
    }

    fn slot(&self, name: &str) -> Option<u32> {
        self.variables.iter().rposition(|variable| *variable == name).map(index)
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
                self.unit.called.push(name.into());
                let name = index(self.unit.called.len() - 1);
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
        let source = self.source;
        let names: SmallVec<[&str; 2]> = declarations
            .iter()
            .filter_map(|variable| match self.unit.tree.node(*variable) {
                Node::Variable(span) => Some(span.variable(source)),
                _ => None,
            })
            .collect();
        for name in names {
            let slot = if assign { self.slot(name) } else { Some(self.declare(name)) };
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
        let slots: SmallVec<[Option<u32>; 2]> = declarations
            .iter()
            .map(|variable| match self.unit.tree.node(*variable) {
                Node::Variable(span) => self.slot(span.variable(self.source)),
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
}
