//! What a function may use while it runs: the arena, the budgets, and the clock and chance the caller passed in.

use std::cell::RefCell;
use std::collections::HashMap;

use crate::budget::{Budget, Limit};
use crate::fmt::PrintError;
use crate::profile::Sprig;
use crate::value::{Arena, Value};

/// The time, as the caller tells it.
pub trait Clock {
    /// Seconds since 1970-01-01 UTC, and nanoseconds of the second.
    fn now(&self) -> (i64, u32);
}

/// Chance, as the caller gives it. What comes from it ends up in secrets: use the system's secure generator, or a
/// seeded one where the output must be repeatable.
pub trait Random {
    /// Fills the buffer.
    fn fill(&mut self, buffer: &mut [u8]);
}

/// A clock that stands still.
#[derive(Clone, Copy, Debug)]
pub struct FixedClock(
    /// Seconds since 1970-01-01 UTC.
    pub i64,
);

impl Clock for FixedClock {
    fn now(&self) -> (i64, u32) {
        (self.0, 0)
    }
}

/// A repeatable source for examples and tests; never for secrets. (SplitMix64.)
#[derive(Clone, Copy, Debug)]
pub struct SeededRandom(
    /// The seed, and afterwards the state.
    pub u64,
);

impl Random for SeededRandom {
    fn fill(&mut self, buffer: &mut [u8]) {
        for chunk in buffer.chunks_mut(8) {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut word = self.0;
            word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            word ^= word >> 31;
            chunk.copy_from_slice(&word.to_le_bytes()[..chunk.len()]);
        }
    }
}

/// Why a function stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It refused its arguments, in these words.
    Message(String),
    /// A budget ran out.
    Limit(Limit),
}

impl Failure {
    /// A refusal in these words.
    #[must_use]
    pub fn message(text: impl Into<String>) -> Self {
        Self::Message(text.into())
    }
}

impl From<Limit> for Failure {
    fn from(limit: Limit) -> Self {
        Self::Limit(limit)
    }
}

impl From<PrintError> for Failure {
    fn from(error: PrintError) -> Self {
        Self::Limit(match error {
            PrintError::Cyclic => Limit::Cyclic,
            PrintError::TooLong => Limit::Memory,
        })
    }
}

/// Regular expressions compiled in this process are few and used often; a render keeps its own.
type Regexes = RefCell<HashMap<Vec<u8>, std::rc::Rc<crate::regex::Regex>>>;

/// What a running function sees of its render.
pub struct Context<'r, 'a> {
    /// Where values are made.
    pub arena: &'a Arena,
    pub(crate) budget: &'r Budget,
    pub(crate) steps: u64,
    pub(crate) crypto: u32,
    pub(crate) clock: &'r dyn Clock,
    pub(crate) random: &'r mut dyn Random,
    pub(crate) sprig: Sprig,
    pub(crate) regexes: Regexes,
}

impl<'a> Context<'_, 'a> {
    /// Pays for work in proportion to `bytes`, and makes sure that as many may be allocated.
    ///
    /// # Errors
    /// When steps or memory run out.
    pub fn charge(&mut self, bytes: usize) -> Result<(), Failure> {
        let steps = (bytes / 64) as u64;
        if steps > self.steps {
            self.steps = 0;
            return Err(Failure::Limit(Limit::Steps));
        }
        self.steps -= steps;
        if bytes.saturating_add(self.arena.used()) > self.budget.memory {
            return Err(Failure::Limit(Limit::Memory));
        }
        Ok(())
    }

    /// Makes sure a list of this many items may be made.
    ///
    /// # Errors
    /// When it is too long, or memory runs out.
    pub fn charge_items(&mut self, items: usize) -> Result<(), Failure> {
        if items > self.budget.items {
            return Err(Failure::Limit(Limit::Items));
        }
        self.charge(items.saturating_mul(size_of::<Value<'_>>()))
    }

    /// How long a text may still be made.
    #[must_use]
    pub fn text_limit(&self) -> usize {
        let memory = self.budget.memory.saturating_sub(self.arena.used());
        memory.min(usize::try_from(self.steps).unwrap_or(usize::MAX).saturating_mul(64))
    }

    /// A text value, paid for.
    ///
    /// # Errors
    /// When steps or memory run out.
    pub fn text(&mut self, text: impl AsRef<[u8]>) -> Result<Value<'a>, Failure> {
        let text = text.as_ref();
        self.charge(text.len())?;
        Ok(Value::String(self.arena.bytes(text)))
    }

    /// A `[]interface {}`, paid for.
    ///
    /// # Errors
    /// When it is too long, or steps or memory run out.
    pub fn list(&mut self, items: &[Value<'a>]) -> Result<Value<'a>, Failure> {
        self.charge_items(items.len())?;
        Ok(self.arena.list(items))
    }

    /// Random bytes.
    pub fn random(&mut self, buffer: &mut [u8]) {
        self.random.fill(buffer);
    }

    /// Evenly distributed below `bound` (which must not be 0).
    pub fn random_below(&mut self, bound: u64) -> u64 {
        let limit = u64::MAX - u64::MAX % bound;
        loop {
            let mut word = [0; 8];
            self.random.fill(&mut word);
            let word = u64::from_le_bytes(word);
            if word < limit {
                return word % bound;
            }
        }
    }

    /// The time now.
    #[must_use]
    pub fn now(&self) -> (i64, u32) {
        self.clock.now()
    }
}
