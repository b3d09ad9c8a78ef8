//! What parent and child say to each other. Both are the same build, so nothing here is versioned.
//!
//! Messages are MessagePack: it keeps every number exact, which JSON's reader does not promise, and nests as deep
//! as a template's output may. File contents travel in a frame of their own behind [`Ask::Load`].

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use schema::digest::Digest;
use schema::kind::Kind;
use schema::limits::Budget;
use schema::processing::{Outcome, Request, Step};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::build_id;
use crate::confine::{Confine, Confinement};

/// The longest frame a worker takes: a version of the largest size, or a request that provides many names.
pub(crate) const LONGEST_ASK: u64 = 64 << 20;

/// The longest greeting, either way.
pub(crate) const LONGEST_GREETING: u64 = 1 << 20;

/// What a worker may hold beside a job: itself, loaded templates, a job's input and what the allocator keeps.
/// The kernel's limit is the job's budget and this.
pub(crate) const RESERVE: u64 = 64 << 20;

/// The longest answer under a budget: the objects, the same in the original's form, a layout, and a little.
pub(crate) fn longest_answer(budget: &Budget) -> u64 {
    budget.output.saturating_mul(3).saturating_add(1 << 20).min(u32::MAX.into())
}

/// The parent's first words to any child.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Greeting {
    pub(crate) build_id: String,
    pub(crate) confine: Confine,
    /// The compiled interpreter to map, for a worker that is to run Python.
    pub(crate) python: Option<PathBuf>,
}

impl Greeting {
    /// To a child that is to be confined so.
    pub(crate) fn to(confine: Confine, python: Option<&Path>) -> Greeting {
        Greeting { build_id: build_id().to_owned(), confine, python: python.map(Path::to_owned) }
    }
}

/// The child's answer, once it is confined.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ready {
    pub(crate) build_id: String,
    pub(crate) confinement: Confinement,
}

/// A name for loaded files, good for one worker; never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct Key(pub(crate) u64);

/// What the parent asks of a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Ask {
    /// Drop these files. Not answered.
    Forget(Vec<Key>),
    /// Keep these files; one frame with all bytes follows. Not answered.
    Load { key: Key, files: Vec<(String, u64)> },
    /// Process. Answered once.
    Run(Box<Run>),
}

/// One job.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Run {
    pub(crate) template: Head,
    pub(crate) provided: Vec<ProvidedHead>,
    pub(crate) request: Request,
    pub(crate) budget: Budget,
    /// Whether Python may be asked for; if it is where it may not, the answer is [`Answer::NeedsPython`].
    pub(crate) python: bool,
    /// Files to drop when it is done.
    pub(crate) release: Vec<Key>,
}

/// A template but for its files, which were loaded before.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) entry: String,
    pub(crate) files: Key,
    pub(crate) jinja2: bool,
}

/// A provided template but for its files.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ProvidedHead {
    pub(crate) asked: String,
    pub(crate) version: String,
    pub(crate) digest: Digest,
    pub(crate) template: Head,
}

/// What a worker answers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// How far it got, and how many bytes of data the worker held before it began.
    Step { step: Step, held: u64 },
    /// The template turned out to need Python: it is to be run again where there is one.
    NeedsPython,
    /// What came out is longer than the budget allows.
    TooLong,
    /// What came out nests deeper than can be sent.
    TooDeep,
}

/// Encodes one of the messages that hold no data of others.
pub(crate) fn encode(message: &impl Serialize) -> Vec<u8> {
    rmp_serde::to_vec_named(message).expect("our own flat messages always encode")
}

/// Levels to which values may nest in a message.
const DEEPEST: usize = 1000;

/// Why a message with data of others cannot be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unsendable {
    /// It takes more bytes than allowed.
    TooLong,
    /// It nests deeper than a thousand levels.
    TooDeep,
}

/// A message that holds values of others.
pub(crate) trait Laden: Serialize {
    /// Every value in it.
    fn values(&self) -> Vec<&Value>;
}

impl Laden for Ask {
    fn values(&self) -> Vec<&Value> {
        match self {
            Ask::Run(run) => vec![&run.request.values],
            Ask::Forget(_) | Ask::Load { .. } => Vec::new(),
        }
    }
}

impl Laden for Answer {
    fn values(&self) -> Vec<&Value> {
        match self {
            Answer::Step { step: Step::Done(outcome), .. } => {
                let Outcome { objects, original, layout, outputs, .. } = &**outcome;
                objects.iter().chain([original]).chain(layout).chain(outputs).collect()
            }
            Answer::Step { .. } | Answer::NeedsPython | Answer::TooLong | Answer::TooDeep => Vec::new(),
        }
    }
}

/// Encodes, unless it takes more than `limit` bytes or nests too deep.
pub(crate) fn encode_within(message: &impl Laden, limit: u64) -> Result<Vec<u8>, Unsendable> {
    // The encoder follows any depth; the reader must not have to.
    if !message.values().into_iter().all(|value| is_shallow(value, DEEPEST)) {
        return Err(Unsendable::TooDeep);
    }
    let mut within = Within { bytes: Vec::new(), limit };
    // Plain data always encodes, so it is the buffer that refused.
    rmp_serde::encode::write_named(&mut within, message).map_err(|_| Unsendable::TooLong)?;
    Ok(within.bytes)
}

fn is_shallow(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| is_shallow(item, levels - 1)),
        Value::Object(members) => levels > 0 && members.values().all(|member| is_shallow(member, levels - 1)),
        _ => true,
    }
}

pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    let mut reader = rmp_serde::Deserializer::from_read_ref(bytes);
    // Values, and the few levels of the message around them.
    reader.set_max_depth(DEEPEST + 32);
    T::deserialize(&mut reader).map_err(|error| error.to_string())
}

/// A buffer that refuses to grow beyond its limit.
struct Within {
    bytes: Vec<u8>,
    limit: u64,
}

impl Write for Within {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.bytes.len() + bytes.len()) as u64 > self.limit {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use schema::processing::{Cause, Failure, Problem};
    use serde_json::json;

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_filter("JSON has only finite numbers", |n| n.is_finite()).prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((".{0,4}", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

        /// Numbers to the last bit, and the order of keys.
        #[test]
        fn what_crosses_the_pipe_arrives_as_it_was(objects in prop::collection::vec(value(), 0..4), original in value()) {
            let outcome = Outcome { objects, original, ..Outcome::default() };
            let sent = Answer::Step { step: Step::Done(Box::new(outcome.clone())), held: 1 };
            let Answer::Step { step: Step::Done(arrived), .. } = decode(&encode(&sent)).unwrap() else { panic!() };
            prop_assert_eq!(serde_json::to_string(&arrived).unwrap(), serde_json::to_string(&outcome).unwrap());
            prop_assert_eq!(*arrived, outcome);
        }
    }

    #[test]
    fn values_are_sent_to_a_depth_that_can_be_read_and_no_deeper() {
        let mut value = json!(1);
        for depth in 1..=DEEPEST + 5 {
            value = if depth % 2 == 0 { json!([value]) } else { json!({ "a": value }) };
            let outcome = Outcome { outputs: Some(value.clone()), ..Outcome::default() };
            let answer = Answer::Step { step: Step::Done(Box::new(outcome)), held: 0 };
            match encode_within(&answer, u64::MAX) {
                Ok(sent) => assert!(depth <= DEEPEST && decode::<Answer>(&sent).is_ok(), "depth {depth}"),
                Err(reason) => assert!(depth > DEEPEST && reason == Unsendable::TooDeep, "depth {depth}"),
            }
        }
    }

    #[test]
    fn what_is_too_long_is_not_sent() {
        let failure = Failure::one(Cause::Values, Problem::error("x".repeat(1000)));
        let answer = Answer::Step { step: Step::Failed(failure), held: 0 };
        assert_eq!(encode_within(&answer, 1000), Err(Unsendable::TooLong));
        assert_eq!(encode_within(&answer, 4000), Ok(encode(&answer)));
    }
}
