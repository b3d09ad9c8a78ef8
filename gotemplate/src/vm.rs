//! Running a program: a loop over operations with stacks of its own for values, variables, loops and calls.
//!
//! A template that calls a template, `include` or `tpl` pushes a frame here and nothing on the machine's stack, so
//! depth is a matter of budget.

use std::collections::HashMap;
use std::sync::Arc;

use crate::budget::{Budget, Limit};
use crate::compile::{Chain, Constant, From, Op, Range, Site, Unit};
use crate::context::{Clock, Context, Failure, Random};
use crate::error::{Error, ErrorKind};
use crate::function::{Body, Cost, Parameter};
use crate::program::{MissingKey, Program};
use crate::strconv;
use crate::time;
use crate::value::{Arena, Entry, IntType, ListType, Signature, UintType, Value};

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

impl std::convert::From<Limit> for Fault {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}

enum Items<'a> {
    List { items: &'a [Value<'a>], interface: bool },
    Map { entries: &'a [Entry<'a>], interface: bool },
    Int(IntType, i64),
    Uint(UintType, u64),
}

struct Loop<'a> {
    range: &'a Range,
    items: Items<'a>,
    at: usize,
    /// The dot outside, and how many dots were put aside when the loop began.
    dot: Slot<'a>,
    dots: usize,
}

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

/// How many links of a chain of errors are kept, counted from the innermost.
const KEPT_LINKS: usize = 8;

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

/// Stands in for an index that sits in an interface, which `slice` does not look into.
struct Boxed;

impl<'a> crate::value::Object<'a> for Boxed {
    fn type_name(&self) -> &str {
        "interface {}"
    }

    fn text(&self) -> String {
        String::new()
    }
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

type Run<T> = Result<T, Fault>;

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
                    self.stack.push(constant_value(&unit.constants[constant as usize]));
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
                    let Slot { value, interface } = self.fields(receiver, &chain.names, chain.node)?;
                    self.interface = interface;
                    self.stack.push(if dig { value.dug() } else { value });
                }
                Op::Method { chain, skip } => {
                    self.step()?;
                    let chain = &unit.chains[chain as usize];
                    let receiver = self.receiver(chain, variables, dot);
                    if !self.method(chain, receiver)? {
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
                    self.find(program, &unit.names[name as usize])?;
                }
                Op::CallTemplate { name, node } => {
                    self.step()?;
                    let name = &unit.names[name as usize];
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

    /// What a chain of fields starts from. A chain on parentheses is not what an error is reported at: what was
    /// evaluated last inside them is, as in Go.
    fn receiver(&mut self, chain: &Chain, variables: usize, dot: Slot<'a>) -> Slot<'a> {
        match chain.from {
            From::Dot => {
                self.node = chain.node;
                dot
            }
            From::Variable(slot) => {
                self.node = chain.node;
                self.variables[variables + slot as usize]
            }
            From::Stack => Slot::plain(self.pop()),
        }
    }

    fn fields(&mut self, mut receiver: Slot<'a>, names: &[Box<str>], node: u32) -> Run<Slot<'a>> {
        for name in names {
            receiver = self.field(receiver, name, false, node)?;
        }
        Ok(receiver)
    }

    /// One field or a method without arguments.
    fn field(&mut self, receiver: Slot<'a>, name: &str, arguments: bool, node: u32) -> Run<Slot<'a>> {
        match receiver.value {
            Value::Map(map) => {
                if arguments {
                    return Err(Fault::Message(format!("{name} is not a method but has arguments")));
                }
                let interface = map.kind().holds_interfaces();
                if let Some(value) = map.get(name.as_bytes()) {
                    return Ok(Slot { value, interface });
                }
                match self.missing_key {
                    MissingKey::Invalid => Ok(Slot::plain(Value::Missing)),
                    MissingKey::Zero if interface => Ok(Slot { value: Value::Nil, interface }),
                    MissingKey::Zero => Ok(Slot::plain(Value::EMPTY)),
                    MissingKey::Error => {
                        let name = strconv::quote(name.as_bytes());
                        Err(Fault::Message(format!("map has no entry for key {name}")))
                    }
                }
            }
            Value::Missing => {
                if self.missing_key == MissingKey::Error {
                    let name = strconv::quote(name.as_bytes());
                    return Err(Fault::Message(format!("nil data; no entry for key {name}")));
                }
                Ok(receiver)
            }
            Value::Nil => Err(Fault::Message(format!("nil pointer evaluating interface {{}}.{name}"))),
            Value::Object(object) => {
                if let Some(signature) = object.method(name) {
                    if !arguments {
                        arity(name, signature, 0)?;
                        let answer = object.call(name, &[], &mut self.context);
                        return answer.map(Slot::plain).map_err(|failure| {
                            self.node = node;
                            method_fault(name, failure)
                        });
                    }
                } else if let Some(value) = object.field(name, &mut self.context) {
                    if arguments {
                        let message = format!("{name} has arguments but cannot be invoked as function");
                        return Err(Fault::Message(message));
                    }
                    return Ok(Slot { value, interface: false });
                }
                self.no_field(receiver, name)
            }
            Value::Int(kind, number) => {
                if let Some(signature) = time::int_method(kind, name) {
                    arity(name, signature, 0)?;
                    let answer = time::call_int_method(kind, number, name, &[], &mut self.context);
                    return answer.map(Slot::plain).map_err(|failure| {
                        self.node = node;
                        method_fault(name, failure)
                    });
                }
                self.no_field(receiver, name)
            }
            _ => self.no_field(receiver, name),
        }
    }

    fn no_field(&self, receiver: Slot<'a>, name: &str) -> Run<Slot<'a>> {
        let kind = if receiver.interface { "interface {}" } else { receiver.value.type_name() };
        Err(Fault::Message(format!("can't evaluate field {name} in type {kind}")))
    }

    /// Prepares a method call with arguments: pushes the receiver and answers true, or, where there is nothing to
    /// call on, leaves the value of the whole expression and answers false.
    fn method(&mut self, chain: &'a Chain, receiver: Slot<'a>) -> Run<bool> {
        let Some((last, before)) = chain.names.split_last() else { return Ok(false) };
        let receiver = self.fields(receiver, before, chain.node)?;
        let signature = match receiver.value {
            Value::Object(object) => object.method(last),
            Value::Int(kind, _) => time::int_method(kind, last),
            _ => None,
        };
        if let Some(signature) = signature {
            arity(last, signature, chain.arguments.len() + usize::from(chain.has_final))?;
            self.stack.push(receiver.value);
            return Ok(true);
        }
        let value = self.field(receiver, last, true, chain.node)?;
        if chain.has_final {
            self.pop();
        }
        self.stack.push(value.value.dug());
        Ok(false)
    }

    fn call_method(&mut self, unit: &'a Unit, chain: &'a Chain) -> Run<Value<'a>> {
        let Some(name) = chain.names.last() else { return Ok(Value::Missing) };
        let base = self.stack.len() - chain.arguments.len();
        let mut arguments: Vec<Value<'a>> = self.stack.drain(base..).collect();
        let receiver = self.pop();
        if chain.has_final {
            arguments.push(self.pop());
        }
        let signature = match receiver {
            Value::Object(object) => object.method(name),
            Value::Int(kind, _) => time::int_method(kind, name),
            _ => None,
        };
        let Some(signature) = signature else { return Ok(Value::Missing) };
        for (at, argument) in arguments.iter_mut().enumerate() {
            let parameter = signature.parameters[at.min(signature.parameters.len().saturating_sub(1))];
            let node = chain.arguments.get(at).copied();
            if let Some(node) = node {
                self.node = node;
                *argument = literal_for(unit, node, parameter, *argument)?;
            }
            *argument = self.fit(*argument, parameter)?;
        }
        let answer = match receiver {
            Value::Object(object) => object.call(name, &arguments, &mut self.context),
            Value::Int(kind, number) => {
                time::call_int_method(kind, number, name, &arguments, &mut self.context)
            }
            _ => Ok(Value::Missing),
        };
        self.node = chain.node;
        answer.map_err(|failure| method_fault(name, failure))
    }

    /// Whether a value fits a parameter, and as what it arrives.
    fn fit(&mut self, value: Value<'a>, parameter: Parameter) -> Run<Value<'a>> {
        let fits = match (parameter, &value) {
            (Parameter::Raw, _) => true,
            (Parameter::Any, _) => {
                return Ok(if matches!(value, Value::Missing) { Value::Nil } else { value });
            }
            (Parameter::String, Value::String(_))
            | (Parameter::Bool, Value::Bool(_))
            | (Parameter::Int, Value::Int(IntType::Int, _))
            | (Parameter::Uint32, Value::Uint(UintType::Uint32, _))
            | (Parameter::Float, Value::Float(_))
            | (Parameter::Duration, Value::Int(IntType::Duration, _)) => true,
            (Parameter::Map, Value::Map(map)) => map.kind().holds_interfaces(),
            (Parameter::Map, Value::Missing) => return Ok(self.context.arena.nil_map()),
            (Parameter::List, Value::List(kind, _)) => kind.name() == Parameter::List.name(),
            (Parameter::List, Value::Missing) => return Ok(Value::List(ListType::NIL, &[])),
            (Parameter::Time, Value::Object(object)) => object.time().is_some(),
            (Parameter::Certificate | Parameter::Version, Value::Object(object)) => {
                object.type_name() == parameter.name()
            }
            (Parameter::Version, Value::Missing) => return Ok(Value::Nil),
            _ => false,
        };
        if fits {
            return Ok(value);
        }
        let wanted = parameter.name();
        Err(Fault::Message(match value {
            Value::Missing => format!("invalid value; expected {wanted}"),
            Value::Nil => format!("wrong type for value; expected {wanted}; got interface {{}}"),
            other => format!("wrong type for value; expected {wanted}; got {}", other.type_name()),
        }))
    }

    /// Calls a function. Answers true when that pushed a frame, whose output will be the call's value.
    fn call(
        &mut self,
        site: &'a Site,
        index: u32,
        program: &'a Arc<Program>,
        dot: Slot<'a>,
        at: usize,
    ) -> Run<bool> {
        let function = site.function;
        let given = site.arguments as usize + usize::from(site.has_final);
        let base = self.stack.len() - given;
        if site.arguments == 0 {
            self.node = site.identifier;
        }
        if site.has_final {
            let last = self.stack[base];
            let last = self.fit(last, function.parameter(given - 1))?;
            self.stack[base] = last;
            self.stack[base..].rotate_left(1);
        }
        for (at, value) in self.stack[base..].iter_mut().enumerate() {
            if matches!(value, Value::Missing) && function.parameter(at) == Parameter::Any {
                *value = Value::Nil;
            }
        }
        if function.cost == Cost::Crypto {
            if self.context.crypto == 0 {
                self.node = site.node;
                return Err(Fault::Limit(Limit::Crypto));
            }
            self.context.crypto -= 1;
        }
        if self.context.arena.used() > self.context.budget.memory {
            self.node = site.node;
            return Err(Fault::Limit(Limit::Memory));
        }
        let answer = match function.body {
            Body::Native(body) => body(&mut self.context, &self.stack[base..]),
            Body::Include | Body::Tpl => {
                self.node = site.node;
                self.push_output_call(site, index, program, dot, at, base)?;
                return Ok(true);
            }
            Body::Call => Err(Failure::Message(self.not_callable(site, base)?)),
            Body::And | Body::Or => Ok(Value::Missing),
        };
        match answer {
            Ok(value) => {
                self.stack.truncate(base);
                self.stack.push(if site.dig { value.dug() } else { value });
                Ok(false)
            }
            Err(failure) => {
                self.node = site.node;
                Err(match failure {
                    Failure::Limit(limit) => Fault::Limit(limit),
                    Failure::Message(message) => Fault::Function {
                        name: function.name,
                        message,
                        raised: matches!(function.name, "fail" | "required"),
                    },
                })
            }
        }
    }

    /// What Go says of a `call` of something that is no function.
    fn not_callable(&mut self, site: &Site, base: usize) -> Run<String> {
        let callee = self.stack[base].dug();
        if callee.is_nil() {
            return Ok("call of nil".to_owned());
        }
        let kind = callee.type_name();
        let name = match (site.first, self.frames.last(), callee) {
            (Some(node), Some(frame), _) => frame.unit.tree.print(node, &frame.unit.source),
            (_, _, Value::String(text)) => String::from_utf8_lossy(text).into_owned(),
            _ => format!("<{kind} Value>"),
        };
        Ok(format!("non-function {name} of type {kind}"))
    }

    /// `include` and `tpl`.
    fn push_output_call(
        &mut self,
        site: &'a Site,
        index: u32,
        program: &'a Arc<Program>,
        dot: Slot<'a>,
        at: usize,
        base: usize,
    ) -> Run<()> {
        let (text, data) = match self.stack[base..] {
            [Value::String(text), data] => (text, data),
            _ => return Err(Fault::Message("include and tpl take a text and a value".to_owned())),
        };
        self.stack.truncate(base);
        if self.frames.len() >= self.context.budget.depth || self.captures >= CAPTURES {
            return Err(Fault::Limit(Limit::Depth));
        }
        let refuse = |message: String| Fault::Function { name: site.function.name, message, raised: false };
        let mark = self.out.len();
        self.suspend(dot, at);
        if let Body::Include = site.function.body {
            let count = self.included.entry(text).or_insert(0);
            if *count > INCLUDE_NESTING {
                let name = String::from_utf8_lossy(text);
                return Err(refuse(format!(
                    "rendering template has a nested reference name: {name}: unable to execute template"
                )));
            }
            *count += 1;
            let name = std::str::from_utf8(text).unwrap_or("\u{FFFD}");
            let capture = Some((Capture::Include(text), mark));
            return match self.enter(program, name, data.dug(), capture, index) {
                Some(()) => Ok(()),
                None => {
                    let (name, main) = (strconv::quote(text), strconv::quote(program.name().as_bytes()));
                    Err(refuse(format!("template: no template {name} associated with template {main}")))
                }
            };
        }
        self.context.charge(text.len() * 8).map_err(limit_only)?;
        let source = String::from_utf8_lossy(text);
        let extended = program.extended(program.name(), &source).map_err(|error| {
            refuse(format!("cannot parse template {}: {}", strconv::quote(text), error.to_go_string()))
        })?;
        let program = self.context.arena.keep_program(Arc::new(extended));
        let capture = Some((Capture::Tpl(text), mark));
        match self.enter(program, program.name(), data.dug(), capture, index) {
            Some(()) => Ok(()),
            None => Err(refuse("the text defines no template".to_owned())),
        }
    }

    fn begin(&mut self, range: &'a Range, value: Value<'a>, dot: Slot<'a>) -> Run<Option<Loop<'a>>> {
        let items = match value {
            Value::Int(..) | Value::Uint(..) if range.declared > 1 => {
                let shown = self.shown(value)?;
                return Err(Fault::Message(format!(
                    "can't use {shown} to iterate over more than one variable"
                )));
            }
            Value::Int(kind, count) if count > 0 => Items::Int(kind, count),
            Value::Uint(kind, count) if count > 0 => Items::Uint(kind, count),
            Value::List(kind, items) if !items.is_empty() => {
                Items::List { items, interface: kind.element == crate::value::Element::Any }
            }
            Value::Bytes(bytes) if !bytes.is_empty() => {
                self.context.charge_items(bytes.len()).map_err(limit_only)?;
                let values: Vec<Value<'a>> =
                    bytes.iter().map(|byte| Value::Uint(UintType::Uint8, u64::from(*byte))).collect();
                Items::List { items: self.context.arena.values(&values), interface: false }
            }
            Value::Map(map) if !map.is_empty() => {
                self.context.charge(map.len() * size_of::<Entry<'a>>()).map_err(limit_only)?;
                let entries = map.snapshot(self.context.arena);
                Items::Map { entries, interface: map.kind().holds_interfaces() }
            }
            Value::Missing
            | Value::Nil
            | Value::Int(..)
            | Value::Uint(..)
            | Value::List(..)
            | Value::Bytes(_)
            | Value::Map(_) => return Ok(None),
            Value::Object(object) => match object.data(&mut self.context) {
                Some(data @ (Value::Map(_) | Value::List(..))) => return self.begin(range, data, dot),
                _ => {
                    let shown = object.pointed_text();
                    return Err(Fault::Message(format!("range can't iterate over {shown}")));
                }
            },
            other => {
                let shown = self.shown(other)?;
                return Err(Fault::Message(format!("range can't iterate over {shown}")));
            }
        };
        Ok(Some(Loop { range, items, at: 0, dot, dots: self.dots.len() }))
    }

    fn shown(&mut self, value: Value<'a>) -> Run<String> {
        let mut out = Vec::new();
        crate::fmt::format_value(&mut out, value, 'v', 1 << 16).map_err(|_| Fault::Limit(Limit::Cyclic))?;
        Ok(String::from_utf8_lossy(&out).into_owned())
    }

    /// The next iteration of the innermost loop, or its end.
    fn next(&mut self, variables: usize, dot: &mut Slot<'a>, at: &mut usize) -> Run<()> {
        self.step()?;
        let Some(current) = self.loops.last_mut() else { return Ok(()) };
        self.dots.truncate(current.dots);
        let number = current.at;
        current.at += 1;
        let (index, element, interface) = match &current.items {
            Items::List { items, interface } => match items.get(number) {
                Some(item) => (Value::int(number as i64), *item, *interface),
                None => return self.end_loop(dot, at),
            },
            Items::Map { entries, interface } => match entries.get(number) {
                Some((key, value)) => (Value::String(key), *value, *interface),
                None => return self.end_loop(dot, at),
            },
            Items::Int(kind, count) => {
                let number = number as i64;
                if number >= *count {
                    return self.end_loop(dot, at);
                }
                (Value::Missing, Value::Int(*kind, number), false)
            }
            Items::Uint(kind, count) => {
                let number = number as u64;
                if number >= *count {
                    return self.end_loop(dot, at);
                }
                (Value::Missing, Value::Uint(*kind, number), false)
            }
        };
        let range = current.range;
        let element = Slot { value: element, interface };
        if let Some(slot) = range.index {
            self.variables[variables + slot as usize] = Slot::plain(index);
        }
        if let Some(slot) = range.element {
            self.variables[variables + slot as usize] = element;
        }
        *dot = element;
        *at = range.body as usize;
        Ok(())
    }

    fn end_loop(&mut self, dot: &mut Slot<'a>, at: &mut usize) -> Run<()> {
        if let Some(done) = self.loops.pop() {
            *dot = done.dot;
            *at = done.range.end as usize;
        }
        Ok(())
    }

    /// The error as Go would report it: at the innermost place first, then at each `include` and `tpl` around it.
    fn error(&mut self, fault: Fault) -> Error {
        let (kind, message, cause) = match fault {
            Fault::Message(message) => (ErrorKind::Execute, message, None),
            Fault::Function { name, message, raised } => {
                let kind = if raised { ErrorKind::Raised } else { ErrorKind::Execute };
                (kind, format!("error calling {name}: {message}"), Some(message))
            }
            Fault::Limit(limit) => (ErrorKind::Limit(limit), limit.describe().to_owned(), None),
        };
        // What an `include` or `tpl` wrote before it failed was to be its value, not output.
        if let Some((_, mark)) = self.frames.iter().find_map(|frame| frame.capture.as_ref()) {
            self.out.truncate(*mark);
        }
        let mut node = self.node;
        let mut error: Option<Error> = None;
        let mut message = message;
        let mut cause = cause;
        let mut depth = 0;
        while let Some(frame) = self.frames.pop() {
            let inner = error.take();
            if inner.is_none() {
                error = Some(at_node(&frame, node, kind, message.clone(), cause.take(), None));
            } else {
                error = inner;
            }
            // Where a limit was reached is all there is to say of it.
            if matches!(kind, ErrorKind::Limit(_)) {
                break;
            }
            // A template called by an action reports its own error; one called by a function is an error of the call.
            let (Some((capture, _)), Some(outer)) = (&frame.capture, self.frames.last()) else { continue };
            let site = &outer.unit.sites[frame.called_from as usize];
            node = site.node;
            let Some(inside) = error.take() else { continue };
            let text = inside.to_go_string();
            message = match capture {
                Capture::Include(_) => format!("error calling {}: {text}", site.function.name),
                Capture::Tpl(source) => format!(
                    "error calling {}: error during tpl function execution for {}: {text}",
                    site.function.name,
                    strconv::quote(source)
                ),
            };
            // Of a deep chain the innermost links tell enough: every link carries the text of all those inside it.
            depth += 1;
            let cause = inside.cause.clone();
            let inner = if depth > KEPT_LINKS { inside.inner } else { Some(Box::new(inside)) };
            error = Some(at_node(outer, node, kind, message.clone(), cause, inner));
        }
        error.unwrap_or_else(|| Error::parse("", 0, message))
    }
}

fn at_node(
    frame: &Frame<'_>,
    node: u32,
    kind: ErrorKind,
    message: String,
    cause: Option<String>,
    inner: Option<Box<Error>>,
) -> Error {
    let unit = frame.unit;
    let before = &unit.source.as_bytes()[..unit.tree.pos(node)];
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    let column =
        before.iter().rposition(|byte| *byte == b'\n').map_or(before.len(), |at| before.len() - at - 1);
    Error {
        kind,
        template: unit.name.to_string(),
        line,
        column: Some(column),
        executing: Some(frame.name.to_owned()),
        node: Some(unit.tree.print(node, &unit.source)),
        message,
        cause,
        hint: None,
        inner,
    }
}

fn limit_only(failure: Failure) -> Fault {
    match failure {
        Failure::Limit(limit) => Fault::Limit(limit),
        Failure::Message(message) => Fault::Message(message),
    }
}

fn method_fault(name: &str, failure: Failure) -> Fault {
    match failure {
        Failure::Limit(limit) => Fault::Limit(limit),
        Failure::Message(message) => Fault::Message(format!("error calling {name}: {message}")),
    }
}

fn arity(name: &str, signature: Signature, given: usize) -> Run<()> {
    let wanted = signature.parameters.len();
    if signature.variadic && given + 1 < wanted {
        let least = wanted - 1;
        return Err(Fault::Message(format!(
            "wrong number of args for {name}: want at least {least} got {given}"
        )));
    }
    if !signature.variadic && given != wanted {
        return Err(Fault::Message(format!("wrong number of args for {name}: want {wanted} got {given}")));
    }
    Ok(())
}

fn constant_value(constant: &Constant) -> Value<'_> {
    match constant {
        Constant::Bool(value) => Value::Bool(*value),
        Constant::Int(value) => Value::int(*value),
        Constant::Uint32(value) => Value::Uint(UintType::Uint32, u64::from(*value)),
        Constant::Float(value) => Value::Float(*value),
        Constant::Duration(value) => Value::Int(IntType::Duration, *value),
        Constant::Complex(value) => Value::Complex(value),
        Constant::String(text) => Value::String(text),
    }
}

/// A constant written in the template takes the type its parameter wants, or does not fit it.
fn literal_for<'a>(unit: &Unit, node: u32, parameter: Parameter, value: Value<'a>) -> Run<Value<'a>> {
    use crate::ast::Node;
    let number = match unit.tree.node(node) {
        Node::Number(number) => Some(number),
        Node::Bool(_) | Node::String { .. } => None,
        _ => return Ok(value),
    };
    let (fitting, wanted) = match parameter {
        Parameter::Any | Parameter::Raw => return Ok(value),
        Parameter::Duration => {
            let int = number.and_then(|number| number.int);
            (int.map(|int| Value::Int(IntType::Duration, int)), "integer")
        }
        Parameter::Int => (number.and_then(|number| number.int).map(Value::int), "integer"),
        Parameter::Float => (number.and_then(|number| number.float).map(Value::Float), "float"),
        Parameter::String => (matches!(value, Value::String(_)).then_some(value), "string"),
        Parameter::Bool => (matches!(value, Value::Bool(_)).then_some(value), "bool"),
        other => {
            let shown = unit.tree.print(node, &unit.source);
            return Err(Fault::Message(format!("can't handle {shown} for arg of type {}", other.name())));
        }
    };
    fitting.ok_or_else(|| {
        Fault::Message(format!("expected {wanted}; found {}", unit.tree.print(node, &unit.source)))
    })
}
