//! Lists and maps that change in place, as Python's do: whoever holds one sees what another did to it.
//!
//! No container holds itself, however far down, and none gets deep: each has a height, one that is put into another
//! promises not to outgrow what is below that, and so heights fall from container to content. Printing, comparing
//! and dropping them always ends.

use std::cell::Cell;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use indexmap::IndexMap;
use minijinja::value::{Enumerator, Object, ObjectRepr, Value, ValueKind};
use minijinja::{Error, ErrorKind, State};

use super::methods;

/// The highest a container gets that templates fill.
const HIGHEST: usize = 256;
/// How far one that is put into another may still grow.
const ROOM: usize = 16;
/// The most items of one container.
pub(super) const MOST_ITEMS: usize = 1_000_000;

thread_local! {
    /// Whether anything was changed in place since it was last asked.
    static CHANGED: Cell<bool> = const { Cell::new(false) };
}

/// Whether a container was changed in place since this was last asked.
pub(super) fn take_changed() -> bool {
    CHANGED.take()
}

/// What a container holds, and its height.
#[derive(Debug)]
pub(super) struct Held<C> {
    pub(super) content: C,
    /// One more than the most that anything in it promised.
    height: usize,
    /// What it will not outgrow, once it is in another.
    promise: Option<usize>,
}

impl<C> Held<C> {
    /// Makes room for a value.
    fn admit(&mut self, value: &Value) -> Result<(), Error> {
        let most = self.promise.unwrap_or(HIGHEST.max(self.height)).saturating_sub(1);
        self.height = self.height.max(promised(value, most)? + 1);
        Ok(())
    }

    /// Has this container, that is put into another, promise a height of at most `most`.
    fn promise(&mut self, most: usize) -> Option<usize> {
        if self.height > most {
            return None;
        }
        let promise = self.promise.unwrap_or(self.height.max(ROOM)).min(most);
        self.promise = Some(promise);
        Some(promise)
    }
}

/// The height a value promises, if that is at most `most`.
fn promised(value: &Value, most: usize) -> Result<usize, Error> {
    let too_deep =
        || Error::new(ErrorKind::InvalidOperation, "the value would be nested too deep, or hold itself");
    // One that is locked is the one that is being changed: templates run in one thread.
    if let Some(list) = value.downcast_object_ref::<List>() {
        return list.0.try_lock().ok().and_then(|mut held| held.promise(most)).ok_or_else(too_deep);
    }
    if let Some(map) = value.downcast_object_ref::<Dict>() {
        return map.0.try_lock().ok().and_then(|mut held| held.promise(most)).ok_or_else(too_deep);
    }
    if !matches!(value.kind(), ValueKind::Seq | ValueKind::Iterable) {
        return Ok(0);
    }
    // Tuples and the like do not change.
    let below = most.checked_sub(1).ok_or_else(too_deep)?;
    let heights = value.try_iter()?.map(|item| promised(&item, below));
    Ok(heights.collect::<Result<Vec<_>, _>>()?.into_iter().max().unwrap_or(0) + 1)
}

/// A list.
#[derive(Debug)]
pub(super) struct List(Mutex<Held<Vec<Value>>>);

/// A map.
#[derive(Debug)]
pub(super) struct Dict(Mutex<Held<IndexMap<Value, Value>>>);

impl List {
    /// A list of these.
    pub(super) fn of(items: Vec<Value>) -> Result<Value, Error> {
        let mut held = Held { content: Vec::new(), height: 1, promise: None };
        items.iter().try_for_each(|item| held.admit(item))?;
        held.content = items;
        Ok(Value::from_object(List(Mutex::new(held))))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Held<Vec<Value>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The items as they are now.
    pub(super) fn items(&self) -> Vec<Value> {
        self.lock().content.clone()
    }

    /// Changes the items; `added` are those that come in.
    pub(super) fn change<T>(
        &self,
        added: &[Value],
        change: impl FnOnce(&mut Vec<Value>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut held = self.lock();
        added.iter().try_for_each(|value| held.admit(value))?;
        if held.content.len() + added.len() > MOST_ITEMS {
            return Err(too_many());
        }
        CHANGED.set(true);
        change(&mut held.content)
    }
}

impl Dict {
    /// A map of these.
    pub(super) fn of(members: IndexMap<Value, Value>) -> Result<Value, Error> {
        let mut held = Held { content: IndexMap::new(), height: 1, promise: None };
        members.values().try_for_each(|value| held.admit(value))?;
        held.content = members;
        Ok(Value::from_object(Dict(Mutex::new(held))))
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Held<IndexMap<Value, Value>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The members as they are now.
    pub(super) fn members(&self) -> IndexMap<Value, Value> {
        self.lock().content.clone()
    }

    /// Changes the members; `added` are the values that come in.
    pub(super) fn change<T>(
        &self,
        added: &[Value],
        change: impl FnOnce(&mut IndexMap<Value, Value>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut held = self.lock();
        added.iter().try_for_each(|value| held.admit(value))?;
        if held.content.len() + added.len() > MOST_ITEMS {
            return Err(too_many());
        }
        CHANGED.set(true);
        change(&mut held.content)
    }
}

pub(super) fn too_many() -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("a list or map gets more than {MOST_ITEMS} items"))
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let held = self.lock();
        let index = i64::try_from(key.clone()).ok().filter(|_| key.kind() != ValueKind::String)?;
        let index = if index < 0 { index + held.content.len() as i64 } else { index };
        held.content.get(usize::try_from(index).ok()?).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.items())
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.lock().content.len())
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        methods::change_list(self, method, args).unwrap_or_else(|| Err(Error::from(ErrorKind::UnknownMethod)))
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('[')?;
        separated(f, self.items().iter(), repr)?;
        f.write_char(']')
    }
}

impl Object for Dict {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Map
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.lock().content.get(key).cloned()
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.lock().content.keys().cloned().collect())
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.lock().content.len())
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut State<'_, '_>,
        method: &str,
        args: &[Value],
    ) -> Result<Value, Error> {
        methods::change_map(self, method, args).unwrap_or_else(|| Err(Error::from(ErrorKind::UnknownMethod)))
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('{')?;
        separated(f, self.members().iter(), |f, (key, value)| {
            repr(f, key)?;
            f.write_str(": ")?;
            repr(f, value)
        })?;
        f.write_char('}')
    }
}

fn separated<T>(
    f: &mut fmt::Formatter<'_>,
    items: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut fmt::Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write(f, item)?;
    }
    Ok(())
}

/// A value as Python prints it within another.
fn repr(f: &mut fmt::Formatter<'_>, value: &Value) -> fmt::Result {
    match value.kind() {
        ValueKind::String => f.write_str(&crate::python::quote(value.as_str().unwrap_or_default())),
        ValueKind::Number if !value.is_integer() => {
            f.write_str(&f64::try_from(value.clone()).map(crate::python::float).unwrap_or_default())
        }
        ValueKind::Undefined => f.write_str("Undefined"),
        _ => write!(f, "{value}"),
    }
}

/// `repr(value)`.
pub(super) fn repr_of(value: &Value) -> String {
    struct Shown<'v>(&'v Value);
    impl fmt::Display for Shown<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            repr(f, self.0)
        }
    }
    Shown(value).to_string()
}

/// A method that is not called: what `properties.items` is where the map has a method of that name.
#[derive(Debug)]
pub(super) struct Method {
    pub(super) map: Value,
    pub(super) name: String,
}

impl Object for Method {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, state: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        self.map.call_method(state, &self.name, args)
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<built-in method {} of dict object>", self.name)
    }
}
