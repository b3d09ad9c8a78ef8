//! The same workloads as `render`, counting what they allocate; the counting costs time, so the times are elsewhere.

#[global_allocator]
static ALLOCATIONS: divan::AllocProfiler = divan::AllocProfiler::system();

#[expect(dead_code, reason = "its main is not this program's")]
#[path = "render.rs"]
mod render;

fn main() {
    divan::main();
}
