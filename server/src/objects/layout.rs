//! Where the boxes of a picture stand: in layers, so that arrows go from left to right and around boxes.
//!
//! The classic way (Sugiyama, Tagawa and Toda, 1981): turn arrows that close a circle around, put every node right of
//! all that point to it, let long arrows pass through places of their own, and order each layer by the middle of its
//! neighbours. The same input gives the same picture.

/// Sizes of the picture, in its own units.
pub(super) const BOX_WIDTH: usize = 176;
pub(super) const BOX_HEIGHT: usize = 46;
const COLUMN_GAP: usize = 36;
const ROW_GAP: usize = 18;
/// What a long arrow takes of a layer it passes.
const LANE: usize = 10;
const MARGIN: usize = 4;

/// Passes over the layers to order them; more changes nothing for pictures of this size.
const SWEEPS: usize = 6;

/// Where everything stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// The upper left corner of each box.
    pub(super) boxes: Vec<(usize, usize)>,
    /// Of each arrow the points it passes, from the box it leaves to the one it reaches; in pairs where it runs level.
    pub(super) arrows: Vec<Vec<(usize, usize)>>,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// A place in a layer: a box, or where an arrow passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Box(usize),
    Lane(usize),
}

/// Lays out `count` boxes and the arrows between them.
pub(super) fn layout(count: usize, arrows: &[(usize, usize)]) -> Layout {
    let forward = without_circles(count, arrows);
    let layer = layers(count, &forward);
    let depth = layer.iter().copied().max().map_or(0, |deepest| deepest + 1);
    let mut columns = vec![Vec::new(); depth];
    for node in 0..count {
        columns[layer[node]].push(Place::Box(node));
    }
    // Of each arrow the column of every place it passes, boxes at both ends.
    for (arrow, (from, to)) in forward.iter().enumerate() {
        for column in columns.iter_mut().take(layer[*to]).skip(layer[*from] + 1) {
            column.push(Place::Lane(arrow));
        }
    }
    order(&mut columns, &forward, &layer);
    place(&columns, arrows, &forward, &layer, count)
}

/// The arrows with those turned around that would close a circle.
fn without_circles(count: usize, arrows: &[(usize, usize)]) -> Vec<(usize, usize)> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        No,
        Open,
        Done,
    }
    let mut seen = vec![Seen::No; count];
    let mut turned = vec![false; arrows.len()];
    for start in 0..count {
        // Depth first without recursion: a node and the next of its arrows.
        let mut path = vec![(start, 0)];
        if seen[start] != Seen::No {
            continue;
        }
        seen[start] = Seen::Open;
        while let Some((node, next)) = path.pop() {
            let Some(arrow) = (next..arrows.len()).find(|arrow| arrows[*arrow].0 == node) else {
                seen[node] = Seen::Done;
                continue;
            };
            path.push((node, arrow + 1));
            let to = arrows[arrow].1;
            match seen[to] {
                Seen::Open => turned[arrow] = true,
                Seen::Done => {}
                Seen::No => {
                    seen[to] = Seen::Open;
                    path.push((to, 0));
                }
            }
        }
    }
    let turn = |(arrow, turned): (&(usize, usize), &bool)| if *turned { (arrow.1, arrow.0) } else { *arrow };
    arrows.iter().zip(&turned).map(turn).collect()
}

/// The layer of each node: right of all that point to it; what nothing points to stands beside what it points to.
fn layers(count: usize, arrows: &[(usize, usize)]) -> Vec<usize> {
    let mut layer = vec![0; count];
    // There is no circle: after as many rounds as there are nodes nothing moves.
    for _ in 0..count {
        let before = layer.clone();
        for (from, to) in arrows {
            layer[*to] = layer[*to].max(layer[*from] + 1);
        }
        if layer == before {
            break;
        }
    }
    for node in 0..count {
        if arrows.iter().all(|(_, to)| *to != node) {
            let nearest = arrows.iter().filter(|(from, _)| *from == node).map(|(_, to)| layer[*to]).min();
            layer[node] = nearest.map_or(0, |nearest| nearest - 1);
        }
    }
    layer
}

/// Orders each layer by the middle of what its places are joined to on one side, then on the other.
fn order(columns: &mut [Vec<Place>], arrows: &[(usize, usize)], layer: &[usize]) {
    for sweep in 0..SWEEPS {
        let rightwards = sweep % 2 == 0;
        let depth = columns.len();
        for step in 1..depth {
            let (at, beside) = if rightwards { (step, step - 1) } else { (depth - 1 - step, depth - step) };
            let neighbours = columns[beside].clone();
            let rank = |place: Place| neighbours.iter().position(|other| *other == place);
            let joined = |place: Place, index: usize| {
                let ends = arrows.iter().enumerate().filter_map(|(arrow, (from, to))| {
                    let here = match place {
                        Place::Lane(lane) => lane == arrow,
                        Place::Box(node) => {
                            if rightwards {
                                *to == node
                            } else {
                                *from == node
                            }
                        }
                    };
                    let other = if rightwards { *from } else { *to };
                    let there = if layer[other] == beside { Place::Box(other) } else { Place::Lane(arrow) };
                    if here { rank(there) } else { None }
                });
                let (sum, number) = ends.fold((0, 0), |(sum, number), rank| (sum + rank, number + 1));
                // In hundredths, so that middles compare without fractions; without neighbours it stays.
                (sum * 100_usize).checked_div(number).unwrap_or(index * 100)
            };
            let mut keyed = columns[at]
                .iter()
                .enumerate()
                .map(|(index, place)| (joined(*place, index), index, *place))
                .collect::<Vec<_>>();
            keyed.sort_by_key(|(key, index, _)| (*key, *index));
            columns[at] = keyed.into_iter().map(|(_, _, place)| place).collect();
        }
    }
}

/// Gives everything its coordinates: each layer around the middle of the picture.
fn place(
    columns: &[Vec<Place>],
    arrows: &[(usize, usize)],
    forward: &[(usize, usize)],
    layer: &[usize],
    count: usize,
) -> Layout {
    let tall = |place: &Place| match place {
        Place::Box(_) => BOX_HEIGHT,
        Place::Lane(_) => LANE,
    };
    let heights = columns
        .iter()
        .map(|column| column.iter().map(tall).sum::<usize>() + ROW_GAP * column.len().saturating_sub(1))
        .collect::<Vec<_>>();
    let height = heights.iter().copied().max().unwrap_or(0);
    let mut boxes = vec![(0, 0); count];
    // Where each arrow is level in each layer that it passes.
    let mut lanes = vec![Vec::new(); arrows.len()];
    for (index, column) in columns.iter().enumerate() {
        let x = MARGIN + index * (BOX_WIDTH + COLUMN_GAP);
        let mut y = MARGIN + (height - heights[index]) / 2;
        for place in column {
            match place {
                Place::Box(node) => boxes[*node] = (x, y),
                Place::Lane(arrow) => {
                    lanes[*arrow].push((index, x, y + LANE / 2));
                }
            }
            y += tall(place) + ROW_GAP;
        }
    }
    let paths = forward.iter().enumerate().map(|(arrow, (from, to))| {
        let middle = BOX_HEIGHT / 2;
        let (start, end) = (boxes[*from], boxes[*to]);
        let mut points = vec![(start.0 + BOX_WIDTH, start.1 + middle)];
        lanes[arrow].sort_unstable();
        for (_, x, y) in &lanes[arrow] {
            points.extend([(*x, *y), (x + BOX_WIDTH, *y)]);
        }
        points.push((end.0, end.1 + middle));
        if arrows[arrow] != forward[arrow] {
            points.reverse();
        }
        points
    });
    let arrows = paths.collect();
    let depth = layer.iter().copied().max().map_or(0, |deepest| deepest + 1);
    let width = 2 * MARGIN + depth * BOX_WIDTH + depth.saturating_sub(1) * COLUMN_GAP;
    Layout { boxes, arrows, width, height: height + 2 * MARGIN }
}
