//! The values templates work on, and the arena they live in.
//!
//! A [`Value`] is a small `Copy` handle. Everything it points to (text, lists, maps, objects) lives in the [`Arena`]
//! of one render and goes away with it in one step: maps are shared by reference, so `set` through one name shows
//! through every other, and even a map that contains itself costs nothing to free.
//!
//! Text is bytes: Go strings may hold any bytes, and `trunc` may cut a character in two.

use std::cell::RefCell;
use std::sync::Arc;

use bumpalo::Bump;
use bumpalo::collections::Vec as BumpVec;

use crate::context::{Context, Failure};
use crate::program::Program;

/// The memory of one render: values are made in it and freed with it.
#[derive(Default)]
pub struct Arena {
    bump: Bump,
    /// Programs made while rendering (`tpl`): kept here so that values may borrow their text.
    #[expect(clippy::redundant_allocation, reason = "the box gives the Arc an address that lasts")]
    programs: elsa::FrozenVec<Box<Arc<Program>>>,
    /// Bytes of those programs, about.
    program_bytes: std::cell::Cell<usize>,
}

impl std::fmt::Debug for Arena {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Arena({} bytes)", self.used())
    }
}

impl Arena {
    /// An empty arena.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Bytes taken from the system so far; what the memory budget counts.
    #[must_use]
    pub fn used(&self) -> usize {
        self.bump.allocated_bytes() + self.program_bytes.get()
    }

    /// Frees everything made in this arena and keeps its largest block for the next render.
    pub fn reset(&mut self) {
        self.bump.reset();
        self.programs = elsa::FrozenVec::new();
        self.program_bytes.set(0);
    }

    /// A copy of `bytes` that lives as long as the arena.
    pub fn bytes(&self, bytes: &[u8]) -> &[u8] {
        self.bump.alloc_slice_copy(bytes)
    }

    /// A text value holding a copy of `text`.
    pub fn string(&self, text: impl AsRef<[u8]>) -> Value<'_> {
        Value::String(self.bytes(text.as_ref()))
    }

    /// A `[]interface {}` of these items.
    pub fn list<'a>(&'a self, items: &[Value<'a>]) -> Value<'a> {
        Value::List(ListType::ANY, self.values(items))
    }

    /// A copy of `items` that lives as long as the arena.
    pub fn values<'a>(&'a self, items: &[Value<'a>]) -> &'a [Value<'a>] {
        self.bump.alloc_slice_copy(items)
    }

    /// A `[]string` of these texts.
    pub fn string_list<'a, T: AsRef<[u8]>>(&'a self, items: impl ExactSizeIterator<Item = T>) -> Value<'a> {
        let slice = self.bump.alloc_slice_fill_iter(items.map(|item| self.string(item)));
        Value::List(ListType::STRING, slice)
    }

    /// A new, empty map of the given type.
    pub fn map_of<'a>(&'a self, kind: MapType, capacity: usize) -> &'a Map<'a> {
        self.bump.alloc(Map {
            kind,
            nil: false,
            entries: RefCell::new(BumpVec::with_capacity_in(capacity, &self.bump)),
        })
    }

    /// A new, empty `map[string]interface {}`.
    pub fn map<'a>(&'a self) -> &'a Map<'a> {
        self.map_of(MapType::Any, 0)
    }

    /// Go's nil `map[string]interface {}`: reads as empty, cannot be written to.
    pub fn nil_map<'a>(&'a self) -> Value<'a> {
        Value::Map(self.bump.alloc(Map {
            kind: MapType::Any,
            nil: true,
            entries: RefCell::new(BumpVec::new_in(&self.bump)),
        }))
    }

    /// Moves an object into the arena. The arena does not run destructors: an object owns nothing but what is `Copy`
    /// or borrowed.
    pub fn object<'a, T: Object<'a> + Copy + 'a>(&'a self, object: T) -> Value<'a> {
        Value::Object(self.bump.alloc(object))
    }

    pub(crate) fn keep_program(&self, program: Arc<Program>) -> &Arc<Program> {
        self.program_bytes.set(self.program_bytes.get() + program.weight());
        self.programs.push_get(Box::new(program))
    }

    pub(crate) fn entries<'a>(&'a self, entries: &[Entry<'a>]) -> &'a [Entry<'a>] {
        self.bump.alloc_slice_copy(entries)
    }
}

/// The signed integer types a value can have; the last three are named types with a text of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntType {
    /// `int`
    Int,
    /// `int8`
    Int8,
    /// `int16`
    Int16,
    /// `int32`, also the type of a rune
    Int32,
    /// `int64`
    Int64,
    /// `time.Duration`, in nanoseconds
    Duration,
    /// `time.Month`, 1 to 12
    Month,
    /// `time.Weekday`, Sunday is 0
    Weekday,
}

impl IntType {
    /// The type's name as Go prints it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Duration => "time.Duration",
            Self::Month => "time.Month",
            Self::Weekday => "time.Weekday",
        }
    }

    pub(crate) fn kind(self) -> &'static str {
        match self {
            Self::Duration => "int64",
            Self::Month | Self::Weekday => "int",
            other => other.name(),
        }
    }
}

/// The unsigned integer types a value can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UintType {
    /// `uint`
    Uint,
    /// `uint8`, also the type of a byte
    Uint8,
    /// `uint16`
    Uint16,
    /// `uint32`
    Uint32,
    /// `uint64`
    Uint64,
}

impl UintType {
    /// The type's name as Go prints it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Uint => "uint",
            Self::Uint8 => "uint8",
            Self::Uint16 => "uint16",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
        }
    }
}

/// What a list's elements are declared to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Element {
    /// `interface {}`
    Any,
    /// `string`
    String,
    /// `int`
    Int,
    /// `[]interface {}`, as `chunk` makes them
    List,
    /// `map[string]interface {}`
    Map,
}

/// The type of a list: its elements', and whether it is Go's nil slice (which differs from an empty one in JSON).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListType {
    /// What the elements are.
    pub element: Element,
    /// Whether this is the nil slice.
    pub nil: bool,
}

impl ListType {
    /// `[]interface {}`
    pub const ANY: Self = Self { element: Element::Any, nil: false };
    /// `[]string`
    pub const STRING: Self = Self { element: Element::String, nil: false };
    /// `[]int`
    pub const INT: Self = Self { element: Element::Int, nil: false };
    /// `[][]interface {}`
    pub const LISTS: Self = Self { element: Element::List, nil: false };
    /// `[]interface {}(nil)`
    pub const NIL: Self = Self { element: Element::Any, nil: true };
    /// `[]string(nil)`
    pub const NIL_STRING: Self = Self { element: Element::String, nil: true };

    /// The type's name as Go prints it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.element {
            Element::Any => "[]interface {}",
            Element::String => "[]string",
            Element::Int => "[]int",
            Element::List => "[][]interface {}",
            Element::Map => "[]map[string]interface {}",
        }
    }
}

/// The type of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapType {
    /// `map[string]interface {}`
    Any,
    /// `map[string]string`, as `split` makes them
    String,
    /// A named type over `map[string]interface {}`, such as `chartutil.Values`
    Named(&'static str),
}

impl MapType {
    /// The type's name as Go prints it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Any => "map[string]interface {}",
            Self::String => "map[string]string",
            Self::Named(name) => name,
        }
    }

    pub(crate) fn holds_interfaces(self) -> bool {
        self != Self::String
    }
}

/// One key with its value.
pub type Entry<'a> = (&'a [u8], Value<'a>);

/// A map with text keys, shared by everyone who holds a reference. Its keys are always in byte order, the order in
/// which Go ranges over and prints maps.
pub struct Map<'a> {
    kind: MapType,
    nil: bool,
    entries: RefCell<BumpVec<'a, Entry<'a>>>,
}

/// Up to this many keys a straight scan beats a binary search.
const SCAN: usize = 8;

impl<'a> Map<'a> {
    /// The map's type.
    #[must_use]
    pub fn kind(&self) -> MapType {
        self.kind
    }

    /// Whether this is Go's nil map.
    #[must_use]
    pub fn is_nil(&self) -> bool {
        self.nil
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.borrow().len()
    }

    /// Whether there are no keys.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of `key`, if it is there.
    #[must_use]
    pub fn get(&self, key: &[u8]) -> Option<Value<'a>> {
        let entries = self.entries.borrow();
        if entries.len() <= SCAN {
            return entries.iter().find(|entry| entry.0 == key).map(|entry| entry.1);
        }
        entries.binary_search_by(|entry| entry.0.cmp(key)).ok().map(|at| entries[at].1)
    }

    /// Sets `key`. The key must live in the same arena.
    pub fn set(&self, key: &'a [u8], value: Value<'a>) {
        let mut entries = self.entries.borrow_mut();
        // Most maps are filled in order.
        if entries.last().is_none_or(|last| last.0 < key) {
            entries.push((key, value));
            return;
        }
        match entries.binary_search_by(|entry| entry.0.cmp(key)) {
            Ok(at) => entries[at].1 = value,
            Err(at) => entries.insert(at, (key, value)),
        }
    }

    /// Removes `key`; nothing happens when it is not there.
    pub fn remove(&self, key: &[u8]) {
        let mut entries = self.entries.borrow_mut();
        if let Ok(at) = entries.binary_search_by(|entry| entry.0.cmp(key)) {
            entries.remove(at);
        }
    }

    /// The entry at this position in key order.
    #[must_use]
    pub fn entry(&self, at: usize) -> Option<Entry<'a>> {
        self.entries.borrow().get(at).copied()
    }

    /// All entries as they are now, in key order.
    #[must_use]
    pub fn snapshot(&self, arena: &'a Arena) -> &'a [Entry<'a>] {
        arena.entries(&self.entries.borrow())
    }

    /// Runs `visit` over the entries in key order, without a copy. `visit` must not write to this map.
    pub fn each(&self, mut visit: impl FnMut(&'a [u8], Value<'a>)) {
        for (key, value) in self.entries.borrow().iter() {
            visit(key, *value);
        }
    }
}

/// What a method of an object takes.
#[derive(Clone, Copy, Debug)]
pub struct Signature {
    /// Its parameters; with `variadic` the last one may be given any number of times.
    pub parameters: &'static [crate::function::Parameter],
    /// Whether the last parameter repeats.
    pub variadic: bool,
}

impl Signature {
    /// No parameters.
    pub const NONE: Self = Self { parameters: &[], variadic: false };
}

/// A value with fields and methods of its own: a time, a version, a certificate, or whatever a caller lends to its
/// templates (files, capabilities).
pub trait Object<'a> {
    /// The Go type's name, such as `time.Time`.
    fn type_name(&self) -> &str;

    /// The Go kind, such as `struct` or `ptr`.
    fn kind(&self) -> &'static str {
        "struct"
    }

    /// The field of this name.
    fn field(&self, _name: &str, _context: &mut Context<'_, 'a>) -> Option<Value<'a>> {
        None
    }

    /// The signature of the method of this name.
    fn method(&self, _name: &str) -> Option<Signature> {
        None
    }

    /// Calls a method that [`Object::method`] knows, with arguments that fit its signature.
    ///
    /// # Errors
    /// What the method itself refuses.
    fn call(
        &self,
        name: &str,
        _arguments: &[Value<'a>],
        _context: &mut Context<'_, 'a>,
    ) -> Result<Value<'a>, Failure> {
        Err(Failure::message(format!("no method {name}")))
    }

    /// The object as `%v` prints it.
    fn text(&self) -> String;

    /// What a pointer points to, as `%v` prints it: `range` names it so when it cannot go over it.
    fn pointed_text(&self) -> String {
        self.text()
    }

    /// The object as plain data, for JSON and YAML and for `keys`, ranges and indexes.
    fn data(&self, _context: &mut Context<'_, 'a>) -> Option<Value<'a>> {
        None
    }

    /// Whether two objects of one type are equal.
    fn equals(&self, other: &dyn Object<'a>) -> bool {
        self.text() == other.text()
    }

    /// The moment this object stands for, if it is a `time.Time`.
    fn time(&self) -> Option<crate::time::Time<'a>> {
        None
    }

    /// Certificate and key in PEM, if this is what the `gen…Cert` functions return.
    fn certificate(&self) -> Option<(&'a [u8], &'a [u8])> {
        None
    }
}

/// A value, as a template sees it.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// Nothing at all: a key that is not there. Prints as `<no value>`.
    Missing,
    /// An explicit null.
    Nil,
    /// A truth value.
    Bool(bool),
    /// A signed integer.
    Int(IntType, i64),
    /// An unsigned integer.
    Uint(UintType, u64),
    /// A `float64`.
    Float(f64),
    /// A `complex128`: real and imaginary part.
    Complex(&'a (f64, f64)),
    /// Text, as bytes.
    String(&'a [u8]),
    /// A `[]uint8`.
    Bytes(&'a [u8]),
    /// A list. Nothing in a template can change one in place.
    List(ListType, &'a [Value<'a>]),
    /// A map, shared by reference.
    Map(&'a Map<'a>),
    /// Anything with fields and methods.
    Object(&'a dyn Object<'a>),
}

impl<'a> Value<'a> {
    /// The empty text.
    pub const EMPTY: Self = Value::String(b"");

    /// An `int`.
    #[must_use]
    pub fn int(number: i64) -> Self {
        Value::Int(IntType::Int, number)
    }

    /// An `int64`.
    #[must_use]
    pub fn int64(number: i64) -> Self {
        Value::Int(IntType::Int64, number)
    }

    /// A text that outlives the arena.
    #[must_use]
    pub fn text(text: &'a str) -> Self {
        Value::String(text.as_bytes())
    }

    /// The bytes of a text.
    #[must_use]
    pub fn as_str(&self) -> Option<&'a [u8]> {
        match self {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The map, if it is one.
    #[must_use]
    pub fn as_map(&self) -> Option<&'a Map<'a>> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// Whether this is an explicit null or nothing at all.
    #[must_use]
    pub fn is_nil(&self) -> bool {
        matches!(self, Value::Missing | Value::Nil)
    }

    /// A null inside an interface becomes nothing when a pipeline ends, as in Go.
    #[must_use]
    pub(crate) fn dug(self) -> Self {
        if matches!(self, Value::Nil) { Value::Missing } else { self }
    }

    /// What `if` makes of it.
    #[must_use]
    pub fn truth(&self) -> bool {
        match self {
            Value::Missing | Value::Nil => false,
            Value::Bool(value) => *value,
            Value::Int(_, value) => *value != 0,
            Value::Uint(_, value) => *value != 0,
            Value::Float(value) => *value != 0.0,
            Value::Complex(value) => value.0 != 0.0 || value.1 != 0.0,
            Value::String(text) | Value::Bytes(text) => !text.is_empty(),
            Value::List(_, items) => !items.is_empty(),
            Value::Map(map) => !map.is_empty(),
            Value::Object(_) => true,
        }
    }

    /// The type's name as `%T` prints it.
    #[must_use]
    pub fn type_name(&self) -> &str {
        match self {
            Value::Missing | Value::Nil => "<nil>",
            Value::Bool(_) => "bool",
            Value::Int(kind, _) => kind.name(),
            Value::Uint(kind, _) => kind.name(),
            Value::Float(_) => "float64",
            Value::Complex(_) => "complex128",
            Value::String(_) => "string",
            Value::Bytes(_) => "[]uint8",
            Value::List(kind, _) => kind.name(),
            Value::Map(map) => map.kind.name(),
            Value::Object(object) => object.type_name(),
        }
    }

    /// The kind's name, as `kindOf` prints it.
    #[must_use]
    pub fn kind_name(&self) -> &'static str {
        match self {
            Value::Missing | Value::Nil => "invalid",
            Value::Bool(_) => "bool",
            Value::Int(kind, _) => kind.kind(),
            Value::Uint(kind, _) => kind.name(),
            Value::Float(_) => "float64",
            Value::Complex(_) => "complex128",
            Value::String(_) => "string",
            Value::Bytes(_) | Value::List(..) => "slice",
            Value::Map(_) => "map",
            Value::Object(object) => object.kind(),
        }
    }
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = Vec::new();
        match crate::fmt::print_value(&mut out, *self, usize::MAX) {
            Ok(()) => write!(f, "{}({})", self.type_name(), String::from_utf8_lossy(&out)),
            Err(_) => write!(f, "{}(cyclic)", self.type_name()),
        }
    }
}
