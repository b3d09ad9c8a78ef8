//! What a template makes, as a page shows it: the objects, and how they refer to each other.
//!
//! A [`Sketch`] is made of the objects of one processing and keeps their names only: no values, so nothing secret.
//! `relations` knows where Kubernetes objects name others, `layout` where boxes stand, `picture` how it is drawn.
//! Pure; this module must not know where the objects come from, nor what a page looks like around them.

mod layout;
mod picture;
mod relations;

use serde_json::Value;

pub(crate) use picture::draw;

/// Objects that are looked at; what goes beyond is counted.
const MOST_OBJECTS: usize = 200;

/// Longest name that is kept, in bytes: the longest Kubernetes allows.
const LONGEST_NAME: usize = 253;

/// The objects of one processing and what they say of each other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sketch {
    /// The objects that were made, in order, then those they name without making them.
    pub(crate) objects: Vec<Object>,
    /// Who refers to whom.
    pub(crate) edges: Vec<Edge>,
    /// How many objects were made, though not all may be among `objects`.
    pub(crate) made: usize,
}

/// An object, by what it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) kind: String,
    pub(crate) name: String,
    pub(crate) namespace: Option<String>,
    pub(crate) origin: Origin,
}

/// Where an object comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The template makes it.
    Made,
    /// The cluster makes it of one that the template makes: a claim for each member of a set.
    Implied,
    /// It must be there already.
    Expected,
}

/// One object that refers to another, by their places among the objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) how: How,
}

/// How an object refers to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum How {
    /// By name.
    Name,
    /// By labels.
    Labels,
}

impl Sketch {
    /// The sketch of what was made.
    pub(crate) fn of(objects: &[Value]) -> Sketch {
        relations::relate(objects)
    }

    /// What an object refers to, in words: `selects StatefulSet redis`.
    pub(crate) fn says(&self, from: usize) -> Vec<String> {
        let edges = self.edges.iter().filter(|edge| edge.from == from);
        let say = |edge: &Edge| {
            let to = &self.objects[edge.to];
            let verb = match edge.how {
                How::Name => "uses",
                How::Labels => "selects",
            };
            let note = match to.origin {
                Origin::Made => "",
                Origin::Implied => ", one for each member",
                Origin::Expected => ", which must be there already",
            };
            format!("{verb} {} {}{note}", to.kind, to.name)
        };
        edges.map(say).collect()
    }
}

#[cfg(test)]
mod tests;
