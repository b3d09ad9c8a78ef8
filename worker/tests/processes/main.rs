//! Workers and confined children, tried with real processes.
//!
//! This executable is its own child, as the product is: hence a `main` of its own, and the tests in a list. They
//! run one at a time, for some of them read the system's accounts of this very process.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a test; only for its own main does clippy not see it"
)]

mod child;
mod confined;
mod engine;
mod kit;
mod lifetime;
mod limits;
mod sharing;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let arguments = std::env::args().collect::<Vec<_>>();
    match arguments.get(1).map(String::as_str) {
        Some("__worker") => return worker::run_worker_with(child::work),
        Some("__engine") => return worker::run_worker(),
        Some("__child") => return child::serve(),
        Some("__stranger") => return child::stranger(),
        Some("__parent") => return lifetime::parent(),
        Some("__survivor") => return lifetime::survivor(&arguments[2]),
        _ => {}
    }

    macro_rules! trials {
        ($($module:ident: $($name:ident)*;)*) => {
            vec![$($(Trial::test(concat!(stringify!($module), "::", stringify!($name)), || {
                $module::$name();
                Ok(())
            }),)*)*]
        };
    }
    let trials = trials! {
        limits: a_loop_without_end_is_stopped_and_the_next_job_runs
            memory_without_end_is_stopped_and_named
            memory_within_the_budget_is_given_and_a_smaller_budget_is_kept
            output_without_end_is_stopped
            output_without_bottom_is_stopped
            recursion_without_end_is_stopped
            too_large_a_version_is_refused
            a_panic_is_told_to_its_caller
            a_bad_exit_is_told_to_its_caller
            garbage_on_standard_output_is_noticed
            processor_time_is_spent_in_the_child;
        sharing: everything_arrives_and_a_version_is_sent_once
            a_hundred_jobs_over_two_workers
            nobody_holds_more_than_half
            too_many_waiting_are_turned_away
            a_killed_worker_harms_only_its_caller
            callers_who_give_up_leave_the_pool_whole
            one_job_of_a_command_runs_anywhere;
        lifetime: another_build_is_refused
            a_program_that_is_not_there_is_told
            started_by_hand_it_says_so
            workers_die_with_a_killed_parent
            a_replaced_executable_is_survived
            an_idle_worker_that_dies_is_replaced
            a_worker_is_retired_after_many_jobs
            stopping_answers_everybody;
        confined: a_worker_can_only_compute
            a_child_reaches_what_it_was_given_and_no_more
            a_child_with_network_has_it
            a_child_has_the_environment_it_was_given
            a_child_inherits_no_descriptor
            a_child_is_stopped_at_its_limits
            a_child_takes_what_it_started_with_it;
        engine: both_kinds_are_processed_in_a_confined_worker;
    };
    let mut options = Arguments::from_args();
    options.test_threads = Some(1);
    libtest_mimic::run(&options, trials).exit_code()
}
