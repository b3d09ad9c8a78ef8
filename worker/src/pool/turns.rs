//! Whose turn it is: a bounded queue that is fair between callers. Pure.
//!
//! Callers take turns; a caller's own jobs keep their order. Nobody runs on more than half the workers, nor fills
//! more than half the queue, even while nobody else asks: who comes next must not wait for who was here.

use std::collections::{HashMap, VecDeque};

/// Jobs that wait, and how many each caller has running.
#[derive(Debug)]
pub(super) struct Turns<T> {
    running_share: usize,
    waiting_share: usize,
    capacity: usize,
    waiting: usize,
    callers: HashMap<String, Caller<T>>,
    /// Callers with something waiting, each once; the first is next.
    order: VecDeque<String>,
}

#[derive(Debug)]
struct Caller<T> {
    running: usize,
    waiting: VecDeque<T>,
}

/// The queue is full, for this caller or altogether.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Full;

impl<T> Turns<T> {
    /// For so many workers, and so many jobs waiting beside those that run.
    pub(super) fn new(workers: usize, capacity: usize) -> Turns<T> {
        Turns {
            running_share: (workers / 2).max(1),
            waiting_share: capacity.div_ceil(2).max(1),
            capacity: capacity.max(1),
            waiting: 0,
            callers: HashMap::new(),
            order: VecDeque::new(),
        }
    }

    /// How many jobs wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Puts a job at the end of its caller's line.
    pub(super) fn push(&mut self, caller: &str, job: T) -> Result<(), Full> {
        if self.waiting >= self.capacity {
            return Err(Full);
        }
        if !self.callers.contains_key(caller) {
            self.callers.insert(caller.to_owned(), Caller { running: 0, waiting: VecDeque::new() });
        }
        let line = &mut self.callers.get_mut(caller).expect("inserted just above").waiting;
        if line.len() >= self.waiting_share {
            return Err(Full);
        }
        if line.is_empty() {
            self.order.push_back(caller.to_owned());
        }
        line.push_back(job);
        self.waiting += 1;
        Ok(())
    }

    /// The next job that may run, with its caller, whose turn has then been.
    pub(super) fn next(&mut self) -> Option<(String, T)> {
        let may_run =
            |caller: &String| self.callers.get(caller).is_some_and(|one| one.running < self.running_share);
        let place = self.order.iter().position(may_run)?;
        let name = self.order.remove(place)?;
        let caller = self.callers.get_mut(&name)?;
        let job = caller.waiting.pop_front()?;
        caller.running += 1;
        self.waiting -= 1;
        if !caller.waiting.is_empty() {
            self.order.push_back(name.clone());
        }
        Some((name, job))
    }

    /// One of the caller's running jobs is over.
    pub(super) fn done(&mut self, caller: &str) {
        if let Some(one) = self.callers.get_mut(caller) {
            one.running = one.running.saturating_sub(1);
            if one.running == 0 && one.waiting.is_empty() {
                self.callers.remove(caller);
            }
        }
    }

    /// Takes everything that waits.
    pub(super) fn drain(&mut self) -> Vec<T> {
        self.order.clear();
        self.waiting = 0;
        self.callers.values_mut().flat_map(|caller| std::mem::take(&mut caller.waiting)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, Clone)]
    enum Event {
        Push(u8),
        Next,
        Done(prop::sample::Index),
    }

    fn event() -> impl Strategy<Value = Event> {
        prop_oneof![
            3 => (0..4_u8).prop_map(Event::Push),
            2 => Just(Event::Next),
            1 => any::<prop::sample::Index>().prop_map(Event::Done),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn shares_hold_order_holds_and_nothing_is_lost(
            workers in 1..6_usize,
            capacity in 1..10_usize,
            events in prop::collection::vec(event(), 0..80),
        ) {
            let mut turns = Turns::new(workers, capacity);
            let mut running: Vec<String> = Vec::new();
            let (mut pushed, mut ran) = (0_usize, Vec::new());
            for event in events {
                match event {
                    Event::Push(caller) => {
                        let line = turns.callers.get(&caller.to_string()).map_or(0, |one| one.waiting.len());
                        let expected = turns.waiting() < capacity && line < capacity.div_ceil(2).max(1);
                        let taken = turns.push(&caller.to_string(), pushed).is_ok();
                        prop_assert_eq!(taken, expected);
                        pushed += usize::from(taken);
                    }
                    Event::Next if running.len() < workers => {
                        let before = turns.waiting();
                        match turns.next() {
                            Some((caller, job)) => {
                                ran.push((caller.clone(), job));
                                running.push(caller);
                            }
                            None => {
                                // Nothing waits but for callers who have their share.
                                let stuck = turns.callers.values().filter(|one| !one.waiting.is_empty());
                                prop_assert!(stuck.clone().all(|one| one.running >= (workers / 2).max(1)));
                                prop_assert_eq!(stuck.map(|one| one.waiting.len()).sum::<usize>(), before);
                            }
                        }
                    }
                    Event::Next => {}
                    Event::Done(which) => {
                        if !running.is_empty() {
                            let caller = running.swap_remove(which.index(running.len()));
                            turns.done(&caller);
                        }
                    }
                }
                for caller in 0..4_u8 {
                    let count = running.iter().filter(|name| **name == caller.to_string()).count();
                    prop_assert!(count <= (workers / 2).max(1));
                }
            }
            // Let all of it run, one at a time.
            for caller in running.drain(..) {
                turns.done(&caller);
            }
            while let Some((caller, job)) = turns.next() {
                turns.done(&caller);
                ran.push((caller, job));
            }
            prop_assert_eq!(ran.len(), pushed);
            prop_assert!(turns.callers.is_empty() && turns.order.is_empty());
            for caller in 0..4_u8 {
                let own = ran.iter().filter(|(name, _)| *name == caller.to_string()).map(|(_, job)| *job);
                prop_assert!(own.is_sorted());
            }
        }
    }

    #[test]
    fn a_newcomer_is_next_however_many_the_other_has_waiting() {
        let mut turns = Turns::new(2, 100);
        for job in 0..50 {
            turns.push("busy", job).unwrap();
        }
        turns.push("new", 1000).unwrap();
        assert_eq!(turns.next(), Some(("busy".to_owned(), 0)));
        assert_eq!(turns.next(), Some(("new".to_owned(), 1000)));
        assert_eq!(turns.next(), None, "busy has half the workers already");
        turns.done("busy");
        assert_eq!(turns.next(), Some(("busy".to_owned(), 1)));
    }
}
