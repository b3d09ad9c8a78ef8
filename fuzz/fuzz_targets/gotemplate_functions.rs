//! Every function takes any three texts as arguments: patterns, layouts, versions, URLs, JSON, YAML, numbers.
#![no_main]

use std::sync::Arc;

use gotemplate::profile::HELM;
use gotemplate::{Arena, Budget, Environment, FixedClock, Program, SeededRandom, Value, render};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, &[u8], &[u8], &[u8])| {
    let (which, shape, one, two, three) = input;
    let names = HELM.names();
    let name = names[usize::from(which) % names.len()];
    let call = match shape % 6 {
        0 => format!("{name} .a"),
        1 => format!("{name} .a .b"),
        2 => format!("{name} .a .b .c"),
        3 => format!("{name} .a .b (atoi .c)"),
        4 => format!("{name} (atoi .a) .b .c"),
        _ => format!("{name} (fromJson .a) .b"),
    };
    let Ok(program) = Program::parse("t", &format!("{{{{{call} | toJson}}}}"), &HELM) else { return };
    let program = Arc::new(program);
    let arena = Arena::new();
    let map = arena.map();
    map.set(b"a", arena.string(one));
    map.set(b"b", arena.string(two));
    map.set(b"c", arena.string(three));
    let budget =
        Budget { steps: 200_000, output: 1 << 20, memory: 32 << 20, crypto: 0, ..Budget::default() };
    let mut environment = Environment { budget, clock: &FixedClock(0), random: &mut SeededRandom(1) };
    drop(render(&program, "t", Value::Map(map), &arena, &mut environment, &mut Vec::new()));
});
