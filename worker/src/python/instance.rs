//! One interpreter: a copy-on-write view of the snapshot, called a few times and dropped.

use std::time::Instant;

use schema::digest::Digest;
use schema::limits::Budget;
use wasmtime::{Ref, Store, StoreLimitsBuilder, Trap, TypedFunc, UpdateDeadline};

use super::program::Program;
use super::system::{Clock, Ended, System};

/// Beside what it returns: the marks of JSON, and escapes.
const OUTPUT_SLACK: u64 = 1 << 20;

/// How a function of Python is called from outside: `vectorcall(function, arguments, count, names)`.
type VectorCall = TypedFunc<(i32, i32, i32, i32), i32>;

pub(super) struct Instance {
    store: Store<System>,
    serve: VectorCall,
    function: i32,
    most_output: u64,
}

/// Why an instance can be used no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stopped {
    /// It ran until its deadline.
    Deadline,
    /// It wrote more than it may.
    Output,
    /// It nested deeper than the stack.
    Stack,
    /// It ended itself.
    Exit(i32),
    /// Anything else: a defect in the interpreter, reached by the template.
    Trap(String),
}

impl Instance {
    /// A fresh one. It may use memory within the budget, and time until the deadline.
    pub(super) fn start(
        program: &Program,
        clock: Clock,
        budget: &Budget,
        deadline: Instant,
    ) -> Result<Instance, Stopped> {
        let memory = usize::try_from(guest_memory(budget)).unwrap_or(usize::MAX);
        let limits = StoreLimitsBuilder::new().memory_size(memory).instances(1).memories(1).tables(1).build();
        let mut store = Store::new(&program.engine, System::new(clock, limits));
        store.data_mut().deadline = Some(deadline);
        store.limiter(|system| &mut system.limits);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|context| match context.data().deadline {
            Some(deadline) if Instant::now() < deadline => Ok(UpdateDeadline::Continue(1)),
            _ => Ok(UpdateDeadline::Interrupt),
        });
        program.alarm.set(deadline);
        let instance = program.instance.instantiate(&mut store).map_err(|error| stopped(&error))?;
        let damaged = || Stopped::Trap("the snapshot lacks what dmpy.json says of it".to_owned());
        let table = instance.get_table(&mut store, super::TABLE).ok_or_else(damaged)?;
        let entry = match table.get(&mut store, program.about.entry) {
            Some(Ref::Func(Some(function))) => function,
            _ => return Err(damaged()),
        };
        let serve = entry.typed(&store).map_err(|_| damaged())?;
        Ok(Instance {
            store,
            serve,
            function: program.about.serve,
            most_output: budget.output + OUTPUT_SLACK,
        })
    }

    /// Gives it a job and takes its answer.
    pub(super) fn call(&mut self, job: Vec<u8>, random: &Digest) -> Result<Vec<u8>, Stopped> {
        let most = usize::try_from(self.most_output).unwrap_or(usize::MAX);
        self.store.data_mut().begin(job, random, most);
        let result =
            self.serve.call(&mut self.store, (self.function, 0, 0, 0)).map_err(|error| stopped(&error))?;
        match result {
            // An exception came out of `serve` itself.
            0 => Err(Stopped::Trap("the interpreter is no longer in a state to answer".to_owned())),
            _ => Ok(self.store.data_mut().take_output()),
        }
    }
}

/// Bytes of the guest's memory: three quarters of the budget; the engine around it has the rest.
pub(super) fn guest_memory(budget: &Budget) -> u64 {
    budget.memory / 4 * 3
}

fn stopped(error: &wasmtime::Error) -> Stopped {
    match (error.downcast_ref::<Ended>(), error.downcast_ref::<Trap>()) {
        (Some(Ended::Exit(status)), _) => Stopped::Exit(*status),
        (Some(Ended::Output), _) => Stopped::Output,
        (_, Some(Trap::Interrupt)) => Stopped::Deadline,
        (_, Some(Trap::StackOverflow)) => Stopped::Stack,
        (_, Some(trap)) => Stopped::Trap(trap.to_string()),
        (None, None) => Stopped::Trap(format!("{error:#}")),
    }
}
