//! The interpreter of one expansion: what the engine asks of Python and Jinja2, answered by one instance.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use engine::{Call, Interpreter, InterpreterError, Language, Made, Returned};
use schema::digest::Digest;
use schema::limits::Budget;
use schema::processing::Request;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::instance::{Instance, Stopped, guest_memory};
use super::program::Program;
use super::system::Clock;
use crate::child::in_words;

/// The interpreter stops a template so much before the parent would stop the whole process: then it can be told which
/// template it was, and the process lives on.
const GRACE: Duration = Duration::from_millis(250);

/// Runs the templates of one expansion.
pub(crate) enum Host<'p> {
    /// In an instance of this program, made at the first call.
    Ready(Box<Expansion<'p>>),
    /// The program could not be used, for this reason.
    Broken(String),
    /// This process has none; whether it was asked for.
    Absent(Cell<bool>),
}

impl<'p> Host<'p> {
    pub(crate) fn new(
        program: Option<&'p Result<Program, String>>,
        request: &Request,
        budget: &Budget,
    ) -> Host<'p> {
        match program {
            None => Host::Broken("this service was set up without it".to_owned()),
            Some(Err(message)) => Host::Broken(message.clone()),
            Some(Ok(program)) => Host::Ready(Box::new(Expansion::new(program, request, *budget))),
        }
    }

    /// Where none is at hand, but might be elsewhere.
    pub(crate) fn absent() -> Host<'p> {
        Host::Absent(Cell::new(false))
    }

    /// Whether an interpreter was asked for where there is none.
    pub(crate) fn was_missed(&self) -> bool {
        matches!(self, Host::Absent(asked) if asked.get())
    }
}

impl Interpreter for Host<'_> {
    fn call(&self, call: &Call<'_>) -> Result<Returned, InterpreterError> {
        let message = match self {
            Host::Ready(expansion) => return expansion.call(call),
            Host::Broken(message) => format!("Python cannot be run here: {message}"),
            Host::Absent(asked) => {
                asked.set(true);
                "this process has no Python".to_owned()
            }
        };
        Err(InterpreterError::Unavailable { message })
    }
}

/// One expansion: an instance for all its calls, and when it must be over.
pub(crate) struct Expansion<'p> {
    program: &'p Program,
    clock: Clock,
    /// What randomness is derived from.
    key: Digest,
    budget: Budget,
    deadline: Instant,
    calls: Cell<u64>,
    running: RefCell<Option<Running>>,
}

struct Running {
    instance: Instance,
    /// The files it was given last: they are not given again.
    imports: Option<BTreeMap<String, String>>,
}

impl<'p> Expansion<'p> {
    fn new(program: &'p Program, request: &Request, budget: Budget) -> Expansion<'p> {
        let now = u64::try_from(request.now).unwrap_or(0).saturating_mul(1_000_000_000);
        let (clock, key) = match &request.seed {
            // The same input gives the same bytes, so nothing may depend on how fast this machine is.
            Some(seed) => (Clock::Stopped(now), format!("formwork python seed\0{seed}")),
            None => {
                let clock = Clock::From(now, Instant::now());
                (clock, format!("formwork python entropy\0{}", request.entropy))
            }
        };
        Expansion {
            program,
            clock,
            key: Digest::of(key.as_bytes()),
            budget,
            deadline: Instant::now() + budget.wall.saturating_sub(GRACE).max(budget.wall / 2),
            calls: Cell::new(0),
            running: RefCell::new(None),
        }
    }

    fn call(&self, call: &Call<'_>) -> Result<Returned, InterpreterError> {
        let number = self.calls.replace(self.calls.get() + 1);
        let random = Digest::of(&[self.key.as_bytes().as_slice(), &number.to_le_bytes()].concat());
        let mut running = self.running.borrow_mut();
        let mut current = match running.take() {
            Some(current) => current,
            None => {
                let instance = Instance::start(self.program, self.clock, &self.budget, self.deadline);
                let instance = instance.map_err(|stopped| self.explain(&stopped, call.file))?;
                Running { instance, imports: None }
            }
        };
        let known = current.imports.as_ref() == Some(call.imports);
        let job = Job {
            language: match call.language {
                Language::Python => "python",
                Language::Jinja => "jinja",
            },
            file: call.file,
            source: call.source,
            properties: call.properties,
            env: call.env,
            imports: (!known).then_some(call.imports),
            output: self.budget.output,
        };
        let job = serde_json::to_vec(&job).expect("texts and JSON values are always written");
        if !known {
            current.imports = Some(call.imports.clone());
        }
        // Whatever stopped it, the instance is not used again.
        let said =
            current.instance.call(job, &random).map_err(|stopped| self.explain(&stopped, call.file))?;
        let answer = serde_json::from_slice::<Answer>(&said).map_err(|_| InterpreterError::Template {
            message: "the template wrote into the answer of its interpreter".to_owned(),
            file: Some(call.file.to_owned()),
            line: None,
            trace: Vec::new(),
        })?;
        *running = Some(current);
        match answer {
            Answer::Text { text, properties, env } => {
                Ok(Returned { made: Made::Text(text), properties, env })
            }
            Answer::Value { value, properties, env } => {
                Ok(Returned { made: Made::Value(value), properties, env })
            }
            Answer::Limit { limit: Exceeded::Memory } => Err(self.out_of_memory(call.file)),
            Answer::Limit { limit: Exceeded::Output } => Err(self.too_long(call.file)),
            Answer::Error { error: Raised { message, file, line, trace } } => {
                Err(InterpreterError::Template { message, file, line, trace })
            }
        }
    }

    fn explain(&self, stopped: &Stopped, file: &str) -> InterpreterError {
        let limit = |message: String| InterpreterError::Limit { message };
        let broken = |message: String| InterpreterError::Template {
            message,
            file: Some(file.to_owned()),
            line: None,
            trace: Vec::new(),
        };
        match stopped {
            Stopped::Deadline => limit(format!(
                "{file} was stopped at the time limit of {:?}: look for a loop that does not end",
                self.budget.wall
            )),
            Stopped::Output => self.too_long(file),
            Stopped::Stack => {
                limit(format!("{file} was stopped: nested too deep, look for something that contains itself"))
            }
            Stopped::Exit(status) => {
                broken(format!("the template ended its interpreter with status {status}"))
            }
            Stopped::Trap(message) => broken(format!("the template brought its interpreter down: {message}")),
        }
    }

    fn out_of_memory(&self, file: &str) -> InterpreterError {
        let limit = in_words(guest_memory(&self.budget));
        InterpreterError::Limit {
            message: format!(
                "{file} was stopped at the memory limit of {limit}: look for a text or a list that grows with every step"
            ),
        }
    }

    fn too_long(&self, file: &str) -> InterpreterError {
        let limit = in_words(self.budget.output);
        InterpreterError::Limit { message: format!("{file} wrote more than the limit of {limit}") }
    }
}

/// What the guest reads.
#[derive(Serialize)]
struct Job<'c> {
    language: &'static str,
    file: &'c str,
    source: &'c str,
    properties: Option<&'c Value>,
    env: &'c Value,
    imports: Option<&'c BTreeMap<String, String>>,
    output: u64,
}

/// What it answers.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Text { text: String, properties: Option<Value>, env: Option<Value> },
    Value { value: Value, properties: Option<Value>, env: Option<Value> },
    Limit { limit: Exceeded },
    Error { error: Raised },
}

/// An exception that came out of a template.
#[derive(Deserialize)]
struct Raised {
    message: String,
    file: Option<String>,
    line: Option<u32>,
    trace: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Exceeded {
    Memory,
    Output,
}
