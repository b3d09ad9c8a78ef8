//! When a registry is looked at again: pure arithmetic.

use std::time::Duration;

use schema::{Digest, RegistryName};

/// The first wait after a failure; each further one is twice as long.
const FIRST_RETRY: Duration = Duration::from_secs(5);

/// The longest wait after failures, however many: a host that comes back is noticed within the hour.
const LONGEST_RETRY: Duration = Duration::from_secs(60 * 60);

/// And in polls: who polls often wants to know soon.
const LONGEST_RETRY_IN_POLLS: u32 = 4;

/// The wait after a look, by how often it failed since it last went well.
///
/// Spread by up to a tenth either way, by the registry's name: hundreds of registries of one host do not knock at the
/// same second, and a test knows beforehand when each will.
pub(super) fn wait(name: &RegistryName, poll: Duration, failures: u32) -> Duration {
    let wait = match failures.checked_sub(1) {
        None => poll,
        Some(doublings) => {
            let longest = poll.saturating_mul(LONGEST_RETRY_IN_POLLS).min(LONGEST_RETRY).max(FIRST_RETRY);
            FIRST_RETRY.saturating_mul(2u32.saturating_pow(doublings)).min(longest)
        }
    };
    wait.mul_f64(0.9 + 0.2 * spread(name))
}

/// From 0 to 1, by name.
fn spread(name: &RegistryName) -> f64 {
    let digest = Digest::of(name.canonical().as_bytes());
    let [first, second, ..] = *digest.as_bytes();
    f64::from(u16::from_be_bytes([first, second])) / f64::from(u16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLL: Duration = Duration::from_secs(300);

    fn name(number: u32) -> RegistryName {
        format!("git.example/acme/r{number}").parse().unwrap()
    }

    #[test]
    fn polls_are_spread_by_a_tenth_either_way_and_always_the_same() {
        let waits = (0..200).map(|number| wait(&name(number), POLL, 0).as_secs_f64()).collect::<Vec<_>>();
        assert!(waits.iter().all(|wait| (270.0..=330.0).contains(wait)), "{waits:?}");
        assert!(waits.iter().any(|wait| *wait < 276.0) && waits.iter().any(|wait| *wait > 324.0));
        assert_eq!(wait(&name(7), POLL, 0), wait(&name(7), POLL, 0));
    }

    #[test]
    fn failures_wait_longer_up_to_a_limit() {
        let waits = (1..=40).map(|failures| wait(&name(1), POLL, failures).as_secs_f64());
        let waits = waits.collect::<Vec<_>>();
        assert!(waits.is_sorted() && waits[0] <= 5.5, "{waits:?}");
        assert!((waits[1] - waits[0] * 2.0).abs() < 1e-6, "{waits:?}");
        assert!(waits[39] <= 1_320.0 && waits[39] >= 1_080.0, "four polls: {}", waits[39]);
        let often = wait(&name(1), Duration::from_secs(1), 40).as_secs_f64();
        assert!((4.5..=5.5).contains(&often), "{often}");
        let seldom = wait(&name(1), Duration::from_secs(86_400), 40).as_secs_f64();
        assert!((3_240.0..=3_960.0).contains(&seldom), "{seldom}");
    }
}
