//! Values: literals, variables, chains of fields and calls, each as the parameter it is for wants it.

use super::{Compiler, Job, index};
use crate::ast::{Node, NodeId, Number, Span};
use crate::compile::{Chain, Constant, From, Op, Site};
use crate::function::{Body, Parameter};
use crate::strconv;

impl Compiler<'_> {
    /// The text a literal stands for.
    fn string(&self, literal: Span) -> Constant {
        match literal.unescaped(self.source) {
            Some(inside) => Constant::Written(inside),
            // The parser has seen to it that it can be read.
            None => Constant::String(strconv::unquote(literal.of(self.source)).unwrap_or_default().into()),
        }
    }

    /// A constant where any type will do.
    pub(super) fn literal(&mut self, node: NodeId) {
        match self.unit.tree.node(node) {
            Node::Bool(value) => {
                let value = *value;
                self.constant(Constant::Bool(value), node);
            }
            Node::String(span) => {
                let text = self.string(*span);
                self.constant(text, node);
            }
            Node::Number(number) => match ideal(number, self.source) {
                Ok(constant) => self.constant(constant, node),
                Err(message) => self.fail(Some(node), message),
            },
            _ => {}
        }
    }

    pub(super) fn variable(&mut self, node: NodeId, words: &[NodeId], has_final: bool, dig: bool) {
        let Node::Variable(span) = self.unit.tree.node(node) else { return };
        let (name, whole) = (span.variable(self.source), span.of(self.source));
        let Some(slot) = self.slot(name) else {
            let message = format!("undefined variable: {name}");
            self.fail(Some(node), message);
            return;
        };
        if name.len() == whole.len() {
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

    pub(super) fn chain_node(&mut self, node: NodeId, arguments: &[NodeId], has_final: bool, dig: bool) {
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
    pub(super) fn new_chain(
        &mut self,
        node: NodeId,
        from: From,
        arguments: &[NodeId],
        has_final: bool,
    ) -> u32 {
        let first = self.unit.fields.len();
        if let Node::Field(span) | Node::Chain { fields: span, .. } | Node::Variable(span) =
            self.unit.tree.node(node)
        {
            self.unit.fields.extend(span.fields(self.source));
        }
        let names = index(self.unit.fields.len() - first);
        let first = index(first);
        self.unit.chains.push(Chain { node, from, first, names, arguments: arguments.into(), has_final });
        index(self.unit.chains.len() - 1)
    }

    pub(super) fn chain(
        &mut self,
        node: NodeId,
        from: From,
        arguments: &[NodeId],
        has_final: bool,
        dig: bool,
    ) {
        let chain = self.new_chain(node, from, arguments, has_final);
        self.chain_fields(chain, dig);
    }

    pub(super) fn chain_fields(&mut self, chain: u32, dig: bool) {
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

    pub(super) fn call(
        &mut self,
        identifier: NodeId,
        node: NodeId,
        arguments: &[NodeId],
        has_final: bool,
        dig: bool,
    ) {
        let Node::Identifier(span) = self.unit.tree.node(identifier) else { return };
        let name = span.of(self.source);
        let Some(function) = self.profile.function(name) else {
            let name = strconv::quote(name.as_bytes());
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
    pub(super) fn argument(&mut self, node: NodeId, parameter: Option<Parameter>) {
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

    pub(super) fn literal_argument(&mut self, node: NodeId, parameter: Parameter) {
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
                    Node::String(span) => Some(self.string(*span)),
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
fn ideal(number: &Number, source: &str) -> Result<Constant, String> {
    if let Some(complex) = number.complex {
        return Ok(Constant::Complex(complex));
    }
    let written = number.text.of(source);
    let text = written.as_bytes();
    let hex = text.len() > 2 && text[0] == b'0' && text[1] | 0x20 == b'x' && !written.contains(['p', 'P']);
    let rune = text.first() == Some(&b'\'');
    match (number.float, number.int, number.uint) {
        (Some(float), _, _) if !hex && !rune && written.contains(['.', 'e', 'E', 'p', 'P']) => {
            Ok(Constant::Float(float))
        }
        (_, Some(int), _) => Ok(Constant::Int(int)),
        _ => Err(format!("{written} overflows int")),
    }
}
