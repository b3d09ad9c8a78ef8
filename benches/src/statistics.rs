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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_does_not_mind_order_or_outliers() {
        assert_eq!(median(vec![3.0, 1.0, 100.0]), 3.0);
        assert_eq!(median(vec![4.0, 1.0]), 1.0);
        assert!(median(Vec::new()).is_nan());
    }
}
