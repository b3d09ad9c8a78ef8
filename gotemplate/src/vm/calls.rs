//! Calls of functions: whether the arguments fit, what the call costs, and the calls whose answer is another
//! template's output.

use std::sync::Arc;

use super::{CAPTURES, Capture, Fault, INCLUDE_NESTING, Machine, Run, Slot, limit_only};
use crate::budget::Limit;
use crate::compile::{Site, Unit};
use crate::context::Failure;
use crate::function::{Body, Cost, Parameter};
use crate::program::Program;
use crate::strconv;
use crate::value::{IntType, ListType, UintType, Value};

impl<'a> Machine<'_, 'a> {
    /// Whether a value fits a parameter, and as what it arrives.
    pub(super) fn fit(&mut self, value: Value<'a>, parameter: Parameter) -> Run<Value<'a>> {
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
    pub(super) fn call(
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
    pub(super) fn not_callable(&mut self, site: &Site, base: usize) -> Run<String> {
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
    pub(super) fn push_output_call(
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
}

/// Stands in for an index that sits in an interface, which `slice` does not look into.
pub(super) struct Boxed;

impl<'a> crate::value::Object<'a> for Boxed {
    fn type_name(&self) -> &str {
        "interface {}"
    }

    fn text(&self) -> String {
        String::new()
    }
}

/// A constant written in the template takes the type its parameter wants, or does not fit it.
pub(super) fn literal_for<'a>(
    unit: &Unit,
    node: u32,
    parameter: Parameter,
    value: Value<'a>,
) -> Run<Value<'a>> {
    use crate::ast::Node;
    let number = match unit.tree.node(node) {
        Node::Number(number) => Some(number),
        Node::Bool(_) | Node::String(_) => None,
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
