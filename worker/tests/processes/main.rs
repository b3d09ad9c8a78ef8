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
mod python;
mod python_attacks;
mod recorded;
#[path = "../../../engine/dm/tests/replay/mod.rs"]
mod replay;
mod sharing;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    let arguments = std::env::args().collect::<Vec<_>>();
    match arguments.get(1).map(String::as_str) {
        Some("__worker") => return worker::run_worker_with(child::work),
        Some("__python") => return worker::python::run_compiler(),
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
        python: templates_return_texts_and_values
            templates_of_python_2_find_what_they_knew
            helpers_are_imported_from_the_files
            jinja2_itself_renders
            failures_name_file_line_and_what_led_there
            what_a_template_changes_of_what_it_was_given_is_told
            what_cannot_be_written_down_is_named
            with_a_seed_the_same_comes_out_and_without_one_it_differs
            one_expansion_is_one_instance_and_no_call_sees_another
            many_calls_of_one_expansion_are_quick
            python_is_mapped_in_few_workers_and_where_it_turns_out_to_be_needed
            without_python_a_template_says_so
            a_cache_others_can_write_to_is_not_used;
        python_attacks: attack_row_22_the_world_outside_is_not_there
            attack_row_22_what_does_not_end_is_stopped
            attack_row_22_memory_is_bounded
            attack_row_22_output_is_bounded
            attack_row_22_depth_is_bounded
            attack_row_22_an_interpreter_that_ends_itself_harms_itself
            attack_row_22_hostile_objects_are_told_by_their_type
            attack_row_22_games_with_the_interpreter_stay_inside
            attack_row_22_two_megabytes_of_properties_and_ten_thousand_imports;
        recorded: every_recorded_expansion_is_answered_alike
            what_differs_between_seeds_differs_between_renders
            a_version_marked_so_is_rendered_by_jinja2;
        engine: both_kinds_are_processed_in_a_confined_worker;
    };
    let mut options = Arguments::from_args();
    options.test_threads = Some(1);
    libtest_mimic::run(&options, trials).exit_code()
}
