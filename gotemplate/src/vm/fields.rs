//! Fields of a value, and methods of objects: what `.a.b` means, and what is said where it means nothing.

use super::calls::literal_for;
use super::{Fault, Machine, Run, Slot};
use crate::ast::Span;
use crate::compile::{Chain, From, Unit};
use crate::context::Failure;
use crate::program::MissingKey;
use crate::strconv;
use crate::time;
use crate::value::{Signature, Value};

impl<'a> Machine<'_, 'a> {
    /// What a chain of fields starts from. A chain on parentheses is not what an error is reported at: what was
    /// evaluated last inside them is, as in Go.
    pub(super) fn receiver(&mut self, chain: &Chain, variables: usize, dot: Slot<'a>) -> Slot<'a> {
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

    pub(super) fn fields(
        &mut self,
        mut receiver: Slot<'a>,
        unit: &Unit,
        names: &[Span],
        node: u32,
    ) -> Run<Slot<'a>> {
        for name in names {
            receiver = self.field(receiver, name.of(&unit.source), false, node)?;
        }
        Ok(receiver)
    }

    /// One field or a method without arguments.
    pub(super) fn field(
        &mut self,
        receiver: Slot<'a>,
        name: &str,
        arguments: bool,
        node: u32,
    ) -> Run<Slot<'a>> {
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

    pub(super) fn no_field(&self, receiver: Slot<'a>, name: &str) -> Run<Slot<'a>> {
        let kind = if receiver.interface { "interface {}" } else { receiver.value.type_name() };
        Err(Fault::Message(format!("can't evaluate field {name} in type {kind}")))
    }

    /// Prepares a method call with arguments: pushes the receiver and answers true, or, where there is nothing to
    /// call on, leaves the value of the whole expression and answers false.
    pub(super) fn method(&mut self, unit: &'a Unit, chain: &'a Chain, receiver: Slot<'a>) -> Run<bool> {
        let Some((last, before)) = unit.names(chain).split_last() else { return Ok(false) };
        let receiver = self.fields(receiver, unit, before, chain.node)?;
        let last = last.of(&unit.source);
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

    pub(super) fn call_method(&mut self, unit: &'a Unit, chain: &'a Chain) -> Run<Value<'a>> {
        let Some(name) = unit.names(chain).last() else { return Ok(Value::Missing) };
        let name = name.of(&unit.source);
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
}

pub(super) fn method_fault(name: &str, failure: Failure) -> Fault {
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
