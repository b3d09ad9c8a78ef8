//! `range`: what can be gone over, and one round after the other.

use super::{Fault, Machine, Run, Slot, limit_only};
use crate::compile::Range;
use crate::value::{Entry, IntType, UintType, Value};

enum Items<'a> {
    List { items: &'a [Value<'a>], interface: bool },
    Map { entries: &'a [Entry<'a>], interface: bool },
    Int(IntType, i64),
    Uint(UintType, u64),
}

pub(super) struct Loop<'a> {
    pub(super) range: &'a Range,
    items: Items<'a>,
    at: usize,
    /// The dot outside, and how many dots were put aside when the loop began.
    pub(super) dot: Slot<'a>,
    pub(super) dots: usize,
}

impl<'a> Machine<'_, 'a> {
    pub(super) fn begin(
        &mut self,
        range: &'a Range,
        value: Value<'a>,
        dot: Slot<'a>,
    ) -> Run<Option<Loop<'a>>> {
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

    /// The next iteration of the innermost loop, or its end.
    pub(super) fn next(&mut self, variables: usize, dot: &mut Slot<'a>, at: &mut usize) -> Run<()> {
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

    pub(super) fn end_loop(&mut self, dot: &mut Slot<'a>, at: &mut usize) -> Run<()> {
        if let Some(done) = self.loops.pop() {
            *dot = done.dot;
            *at = done.range.end as usize;
        }
        Ok(())
    }
}
