//! The few statistics that are needed.

use std::time::Duration;

/// The middle one; of an even number, the lower of the two in the middle.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or(f64::NAN)
}

/// The middle time, in seconds.
pub(crate) fn median_seconds(times: &[Duration]) -> f64 {
    median(times.iter().map(Duration::as_secs_f64).collect())
}

/// The time that so many percent of all take at the most; the nearest one there is.
pub(crate) fn percentile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort();
    let rank = (times.len() * percent).div_ceil(100).max(1);
    times.get(rank - 1).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_were_taken() {
        let times = (1..=200).rev().map(Duration::from_secs).collect::<Vec<_>>();
        assert_eq!(percentile(&times, 50), Duration::from_secs(100));
        assert_eq!(percentile(&times, 99), Duration::from_secs(198));
        assert_eq!(percentile(&times[..1], 99), Duration::from_secs(200));
        assert_eq!(percentile(&[], 50), Duration::ZERO);
    }

    #[test]
    fn the_median_does_not_mind_order_or_outliers() {
        assert_eq!(median(vec![3.0, 1.0, 100.0]), 3.0);
        assert_eq!(median(vec![4.0, 1.0]), 1.0);
        assert!(median(Vec::new()).is_nan());
    }
}
