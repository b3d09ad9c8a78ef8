//! Running a program: a loop over operations with stacks of its own for values, variables, loops and calls.
//!
//! A template that calls a template, `include` or `tpl` pushes a frame here and nothing on the machine's stack, so
//! depth is a matter of budget.

mod calls;
mod faults;
mod fields;
mod ranges;

use std::collections::HashMap;
use std::sync::Arc;

use crate::budget::{Budget, Limit};
use crate::compile::{Constant, Op, Unit};
use crate::context::{Clock, Context, Failure, Random};
use crate::error::{Error, ErrorKind};
use crate::function::Parameter;
use crate::program::{MissingKey, Program};
use crate::strconv;
use crate::value::{Arena, IntType, ListType, UintType, Value};
use calls::Boxed;
use ranges::Loop;

/// What a render gets from its caller besides data.
pub struct Environment<'e> {
    /// How much it may use.
    pub budget: Budget,
    /// What time it is.
    pub clock: &'e dyn Clock,
    /// Where chance comes from.
    pub random: &'e mut dyn Random,
}

impl std::fmt::Debug for Environment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").field("budget", &self.budget).finish_non_exhaustive()
    }
}

/// What a render used of its budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spent {
    /// Steps taken.
    pub steps: u64,
    /// Bytes of values, as the system was asked for them.
    pub memory: usize,
}

/// A value with what Go knows besides: whether it sits in an interface, which shows in error texts.
#[derive(Clone, Copy)]
struct Slot<'a> {
    value: Value<'a>,
    interface: bool,
}

impl<'a> Slot<'a> {
    fn plain(value: Value<'a>) -> Self {
        Self { value, interface: false }
    }
}

/// Why running stopped: a message to report at the current node, or a limit.
enum Fault {
    Message(String),
    /// A function refused; name and its words.
    Function {
        name: &'static str,
        message: String,
        raised: bool,
    },
    Limit(Limit),
}

impl From<Limit> for Fault {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}

type Run<T> = Result<T, Fault>;

/// Output that becomes a value: of `include` or `tpl`.
enum Capture<'a> {
    Include(&'a [u8]),
    Tpl(&'a [u8]),
}

struct Frame<'a> {
    program: &'a Arc<Program>,
    unit: &'a Unit,
    name: &'a str,
    /// Where to go on in this frame once the one above returns.
    resume: usize,
    variables: usize,
    dot: Slot<'a>,
    dots: usize,
    loops: usize,
    capture: Option<(Capture<'a>, usize)>,
    /// The call in the frame below that an error inside is reported at.
    called_from: u32,
}

/// `include` and `tpl` together may nest this deep: a little more than Helm lets one name.
const CAPTURES: usize = 1100;

/// `include` may nest one name this deep; Helm's limit.
const INCLUDE_NESTING: u32 = 1000;

struct Machine<'r, 'a> {
    context: Context<'r, 'a>,
    out: &'r mut Vec<u8>,
    out_start: usize,
    frames: Vec<Frame<'a>>,
    stack: Vec<Value<'a>>,
    variables: Vec<Slot<'a>>,
    dots: Vec<Slot<'a>>,
    loops: Vec<Loop<'a>>,
    included: HashMap<&'a [u8], u32>,
    /// The node evaluated last: what an error is reported at.
    node: u32,
    missing_key: MissingKey,
    /// Whether the value read last sits in an interface.
    interface: bool,
    /// How many of the frames have output that becomes a value.
    captures: usize,
}

/// Runs a template of the program on `data` and appends its output to `out`. When it fails, what was written until
/// then stays in `out`, as in Go.
///
/// # Errors
/// When the template stops with an error or a budget runs out.
pub fn render<'a>(
    program: &'a Arc<Program>,
    template: &str,
    data: Value<'a>,
    arena: &'a Arena,
    environment: &mut Environment<'_>,
    out: &mut Vec<u8>,
) -> Result<Spent, Box<Error>> {
    let out_start = out.len();
    let budget = environment.budget;
    let mut machine = Machine {
        context: Context {
            arena,
            budget: &budget,
            steps: budget.steps,
            crypto: budget.crypto,
            clock: environment.clock,
            random: environment.random,
            sprig: program.profile.sprig,
            regexes: std::cell::RefCell::default(),
        },
        out,
        out_start,
        frames: Vec::new(),
        stack: Vec::with_capacity(16),
        variables: Vec::with_capacity(16),
        dots: Vec::new(),
        loops: Vec::new(),
        included: HashMap::new(),
        node: 0,
        missing_key: program.options.missing_key,
        interface: false,
        captures: 0,
    };
    if machine.enter(program, template, data.dug(), None, 0).is_none() {
        let mut error = Error::parse(program.name(), 0, String::new());
        error.kind = ErrorKind::Execute;
        let (name, main) = (strconv::quote(template.as_bytes()), strconv::quote(program.name().as_bytes()));
        error.template = format!("no template {name} associated with template {main}");
        return Err(Box::new(error));
    }
    match machine.run() {
        Ok(()) => Ok(Spent { steps: budget.steps - machine.context.steps, memory: arena.used() }),
        Err(fault) => Err(Box::new(machine.error(fault))),
    }
}

impl<'r, 'a> Machine<'r, 'a> {
    /// Pushes a frame for the template of this name; `None` when there is none.
    fn enter(
        &mut self,
        program: &'a Arc<Program>,
        name: &str,
        dot: Value<'a>,
        capture: Option<(Capture<'a>, usize)>,
        called_from: u32,
    ) -> Option<()> {
        let template = program.find(name)?;
        let unit: &'a Unit = &template.unit;
        let entry = &unit.entries[template.entry];
        let variables = self.variables.len();
        let dot = Slot::plain(dot);
        self.captures += usize::from(capture.is_some());
        self.variables.resize(variables + entry.slots as usize, Slot::plain(Value::Missing));
        self.variables[variables] = dot;
        self.frames.push(Frame {
            program,
            unit,
            name: &entry.name,
            resume: entry.start as usize,
            variables,
            dot,
            dots: self.dots.len(),
            loops: self.loops.len(),
            capture,
            called_from,
        });
        Some(())
    }

    fn run(&mut self) -> Run<()> {
        while let Some(frame) = self.frames.last() {
            let resume = frame.resume;
            self.run_frame(frame.unit, frame.program, frame.variables, frame.dot, resume)?;
        }
        Ok(())
    }

    fn step(&mut self) -> Run<()> {
        if self.context.steps == 0 {
            return Err(Fault::Limit(Limit::Steps));
        }
        self.context.steps -= 1;
        Ok(())
    }

    fn pop(&mut self) -> Value<'a> {
        self.stack.pop().unwrap_or(Value::Missing)
    }

    /// Runs the topmost frame until it returns or calls.
    fn run_frame(
        &mut self,
        unit: &'a Unit,
        program: &'a Arc<Program>,
        variables: usize,
        mut dot: Slot<'a>,
        mut at: usize,
    ) -> Run<()> {
        loop {
            let operation = unit.operations[at];
            at += 1;
            match operation {
                Op::Text { start, end } => {
                    let text = &unit.source.as_bytes()[start as usize..end as usize];
                    self.step()?;
                    if self.out.len() - self.out_start + text.len() > self.context.budget.output {
                        return Err(Fault::Limit(Limit::Output));
                    }
                    self.out.extend_from_slice(text);
                }
                Op::At(node) => self.node = node,
                Op::Const { constant, node } => {
                    self.node = node;
                    self.stack.push(constant_value(unit, &unit.constants[constant as usize]));
                }
                Op::PushNil { parameter, node } => {
                    self.node = node;
                    self.stack.push(match parameter {
                        Parameter::Map => self.context.arena.nil_map(),
                        Parameter::List => Value::List(ListType::NIL, &[]),
                        Parameter::Raw => Value::Missing,
                        _ => Value::Nil,
                    });
                }
                Op::PushMissing => self.stack.push(Value::Missing),
                Op::Dot { node, dig } => {
                    self.node = node;
                    self.interface = dot.interface;
                    self.stack.push(if dig { dot.value.dug() } else { dot.value });
                }
                Op::Variable { slot, node, dig } => {
                    self.node = node;
                    let Slot { value, interface } = self.variables[variables + slot as usize];
                    self.interface = interface;
                    self.stack.push(if dig { value.dug() } else { value });
                }
                Op::Fields { chain, dig } => {
                    self.step()?;
                    let chain = &unit.chains[chain as usize];
                    let receiver = self.receiver(chain, variables, dot);
                    let Slot { value, interface } =
                        self.fields(receiver, unit, unit.names(chain), chain.node)?;
                    self.interface = interface;
                    self.stack.push(if dig { value.dug() } else { value });
                }
                Op::Method { chain, skip } => {
                    self.step()?;
                    let chain = &unit.chains[chain as usize];
                    let receiver = self.receiver(chain, variables, dot);
                    if !self.method(unit, chain, receiver)? {
                        at = skip as usize;
                    }
                }
                Op::CallMethod { chain, dig } => {
                    let value = self.call_method(unit, &unit.chains[chain as usize])?;
                    self.stack.push(if dig { value.dug() } else { value });
                }
                Op::Call(index) => {
                    self.step()?;
                    let site = &unit.sites[index as usize];
                    if self.call(site, index, program, dot, at)? {
                        return Ok(());
                    }
                }
                Op::Check(parameter) => {
                    let value = self.pop();
                    let value = self.fit(value, parameter)?;
                    self.stack.push(value);
                }
                Op::Boxed => {
                    if self.interface
                        && let Some(top) = self.stack.last_mut()
                    {
                        *top = Value::Object(&Boxed);
                    }
                }
                Op::Fail(failure) => {
                    let planned = &unit.failures[failure as usize];
                    if let Some(node) = planned.node {
                        self.node = node;
                    }
                    return Err(Fault::Message(planned.message.clone()));
                }
                Op::Set { slot } => {
                    let value = self.stack.last().copied().unwrap_or(Value::Missing);
                    self.variables[variables + slot as usize] = Slot::plain(value);
                }
                Op::Pop => {
                    self.step()?;
                    self.pop();
                }
                Op::Nip => {
                    let top = self.pop();
                    self.pop();
                    self.stack.push(top);
                }
                Op::Dig => {
                    if let Some(top) = self.stack.last_mut() {
                        *top = top.dug();
                    }
                }
                Op::Print(node) => {
                    self.step()?;
                    self.node = node;
                    let value = self.pop();
                    self.print(value)?;
                }
                Op::Jump(target) => at = target as usize,
                Op::JumpIfFalse(target) => {
                    self.step()?;
                    if !self.pop().truth() {
                        at = target as usize;
                    }
                }
                Op::ShortCircuit { when, target } => {
                    if self.stack.last().is_some_and(|top| top.truth() == when) {
                        at = target as usize;
                    } else {
                        self.pop();
                    }
                }
                Op::With(target) => {
                    self.step()?;
                    let value = self.pop();
                    if value.truth() {
                        self.dots.push(dot);
                        dot = Slot::plain(value);
                    } else {
                        at = target as usize;
                    }
                }
                Op::PopDot => dot = self.dots.pop().unwrap_or(dot),
                Op::RangeBegin(index) => {
                    self.step()?;
                    let range = &unit.ranges[index as usize];
                    let value = self.pop();
                    match self.begin(range, value, dot)? {
                        Some(first) => {
                            self.loops.push(first);
                            self.next(variables, &mut dot, &mut at)?;
                        }
                        None => at = range.otherwise as usize,
                    }
                }
                Op::RangeNext | Op::Continue => self.next(variables, &mut dot, &mut at)?,
                Op::Break => {
                    if let Some(done) = self.loops.pop() {
                        self.dots.truncate(done.dots);
                        dot = done.dot;
                        at = done.range.end as usize;
                    }
                }
                Op::FindTemplate { name, node } => {
                    self.node = node;
                    self.find(program, &unit.called[name as usize])?;
                }
                Op::CallTemplate { name, node } => {
                    self.step()?;
                    let name = &unit.called[name as usize];
                    let value = self.pop();
                    if self.frames.len() >= self.context.budget.depth {
                        self.node = node;
                        return Err(Fault::Limit(Limit::Depth));
                    }
                    self.suspend(dot, at);
                    if self.enter(program, name, value, None, 0).is_none() {
                        self.node = node;
                        self.find(program, name)?;
                    }
                    return Ok(());
                }
                Op::Return => return self.leave(),
            }
        }
    }

    fn suspend(&mut self, dot: Slot<'a>, at: usize) {
        if let Some(frame) = self.frames.last_mut() {
            frame.dot = dot;
            frame.resume = at;
        }
    }

    fn find(&self, program: &Program, name: &str) -> Run<()> {
        if program.has(name) {
            return Ok(());
        }
        Err(Fault::Message(format!("template {} not defined", strconv::quote(name.as_bytes()))))
    }

    /// The topmost frame is done.
    fn leave(&mut self) -> Run<()> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        self.variables.truncate(frame.variables);
        self.dots.truncate(frame.dots);
        self.loops.truncate(frame.loops);
        let Some((capture, mark)) = frame.capture else { return Ok(()) };
        self.captures -= 1;
        let value = match capture {
            Capture::Include(name) => {
                if let Some(count) = self.included.get_mut(name) {
                    *count -= 1;
                }
                self.context.charge(self.out.len() - mark).map_err(limit_only)?;
                self.context.arena.bytes(&self.out[mark..])
            }
            Capture::Tpl(_) => {
                self.context.charge(self.out.len() - mark).map_err(limit_only)?;
                let text = bstr::ByteSlice::replace(&self.out[mark..], "<no value>", "");
                self.context.arena.bytes(&text)
            }
        };
        self.out.truncate(mark);
        self.stack.push(Value::String(value));
        Ok(())
    }

    fn print(&mut self, value: Value<'a>) -> Run<()> {
        let limit = self.context.budget.output.saturating_sub(self.out.len() - self.out_start);
        match value {
            Value::String(text) => {
                if text.len() > limit {
                    return Err(Fault::Limit(Limit::Output));
                }
                self.out.extend_from_slice(text);
                Ok(())
            }
            value => crate::fmt::print_value(self.out, value, limit).map_err(|error| {
                Fault::Limit(match error {
                    crate::fmt::PrintError::Cyclic => Limit::Cyclic,
                    crate::fmt::PrintError::TooLong => Limit::Output,
                })
            }),
        }
    }

    fn shown(&mut self, value: Value<'a>) -> Run<String> {
        let mut out = Vec::new();
        crate::fmt::format_value(&mut out, value, 'v', 1 << 16).map_err(|_| Fault::Limit(Limit::Cyclic))?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }
}

fn limit_only(failure: Failure) -> Fault {
    match failure {
        Failure::Limit(limit) => Fault::Limit(limit),
        Failure::Message(message) => Fault::Message(message),
    }
}

fn constant_value<'a>(unit: &'a Unit, constant: &'a Constant) -> Value<'a> {
    match constant {
        Constant::Bool(value) => Value::Bool(*value),
        Constant::Int(value) => Value::int(*value),
        Constant::Uint32(value) => Value::Uint(UintType::Uint32, u64::from(*value)),
        Constant::Float(value) => Value::Float(*value),
        Constant::Duration(value) => Value::Int(IntType::Duration, *value),
        Constant::Complex(value) => Value::Complex(value),
        Constant::Written(span) => Value::String(span.of(&unit.source).as_bytes()),
        Constant::String(text) => Value::String(text),
    }
}
