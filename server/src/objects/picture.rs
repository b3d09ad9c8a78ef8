//! A picture of a sketch, as SVG that the page's style sheet colours.
//!
//! What nothing refers to and what refers to nothing is left to the list beside it.

use std::fmt::Write;

use super::layout::{BOX_HEIGHT, BOX_WIDTH, layout};
use super::{How, Object, Origin, Sketch};
use crate::ui::escape;

/// Boxes in a picture; more are a carpet.
const MOST_BOXES: usize = 32;
/// Arrows in a picture.
const MOST_ARROWS: usize = 80;
/// Characters of a name that fit into a box, and of a kind, which is written smaller.
const NAME_FITS: usize = 20;
const KIND_FITS: usize = 24;
/// Relations that the picture's own description says; the list has all.
const SAID: usize = 12;
/// Length of an arrow's head.
const HEAD: usize = 7;

/// The picture; nothing if no object refers to another, or too many do.
pub(crate) fn draw(sketch: &Sketch) -> Option<String> {
    let joined = |node: &usize| sketch.edges.iter().any(|edge| edge.from == *node || edge.to == *node);
    let shown = (0..sketch.objects.len()).filter(joined).collect::<Vec<_>>();
    if shown.is_empty() || shown.len() > MOST_BOXES || sketch.edges.len() > MOST_ARROWS {
        return None;
    }
    let at = |node: usize| shown.iter().position(|other| *other == node).unwrap_or_default();
    let arrows = sketch.edges.iter().map(|edge| (at(edge.from), at(edge.to))).collect::<Vec<_>>();
    let layout = layout(shown.len(), &arrows);
    let mut out = format!(
        r#"<svg class="graph" viewBox="0 0 {w} {h}" width="{w}" height="{h}" role="img" aria-labelledby="gt"><title id="gt">{}</title>"#,
        escape(&description(sketch)),
        w = layout.width,
        h = layout.height,
    );
    for (points, edge) in layout.arrows.iter().zip(&sketch.edges) {
        let class = if edge.how == How::Labels { r#" class="sel""# } else { "" };
        out.push_str(&arrow(points, class));
    }
    for (node, (x, y)) in shown.iter().zip(&layout.boxes) {
        out.push_str(&boxed(&sketch.objects[*node], *x, *y));
    }
    out.push_str("</svg>");
    Some(out)
}

/// A line through the points, curved between them, and its head.
fn arrow(points: &[(usize, usize)], class: &str) -> String {
    let (Some((first_x, first_y)), Some((tip_x, tip_y))) = (points.first(), points.last()) else {
        return String::new();
    };
    let leftwards = tip_x < first_x;
    let end_x = if leftwards { tip_x + HEAD } else { tip_x - HEAD };
    let mut path = format!("M{first_x} {first_y}");
    for (pair, (from, to)) in points.iter().zip(points.iter().skip(1)).enumerate() {
        let last = pair + 2 == points.len();
        let (to_x, to_y) = (if last { end_x } else { to.0 }, to.1);
        if from.1 == to_y {
            let _ = write!(path, "H{to_x}");
        } else {
            let middle = usize::midpoint(from.0, to_x);
            let _ = write!(path, "C{middle} {} {middle} {to_y} {to_x} {to_y}", from.1);
        }
    }
    let (up, down) = (tip_y - 4, tip_y + 4);
    format!(
        r#"<path{class} d="{path}"/><path class="tip" d="M{end_x} {up}L{tip_x} {tip_y}L{end_x} {down}z"/>"#
    )
}

fn boxed(object: &Object, x: usize, y: usize) -> String {
    let class = match object.origin {
        Origin::Made if runs(&object.kind) => r#" class="root""#,
        Origin::Made => "",
        Origin::Implied | Origin::Expected => r#" class="ext""#,
    };
    let (left, kind_at, name_at) = (x + 11, y + 18, y + 35);
    format!(
        r#"<g><title>{} {}</title><rect{class} x="{x}" y="{y}" width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="5"/><text class="gk" x="{left}" y="{kind_at}">{}</text><text x="{left}" y="{name_at}">{}</text></g>"#,
        escape(&object.kind),
        escape(&object.name),
        escape(&fitted(&object.kind, KIND_FITS)),
        escape(&fitted(&object.name, NAME_FITS)),
    )
}

/// Whether pods come of it: what the picture is about.
fn runs(kind: &str) -> bool {
    matches!(
        kind,
        "Deployment"
            | "StatefulSet"
            | "DaemonSet"
            | "Job"
            | "CronJob"
            | "Pod"
            | "DeploymentConfig"
            | "ReplicaSet"
    )
}

/// A name that fits: its beginning, which it shares with its kin, and its end, which tells it from them.
fn fitted(name: &str, fits: usize) -> String {
    let characters = name.chars().collect::<Vec<_>>();
    if characters.len() <= fits {
        return name.to_owned();
    }
    let (front, back) = (fits / 2, fits / 2 - 1);
    let start = characters.iter().take(front);
    let end = characters.iter().skip(characters.len() - back);
    start.chain(&['…']).chain(end).collect()
}

/// What the picture shows, in words.
fn description(sketch: &Sketch) -> String {
    let lines = sketch.edges.iter().take(SAID).map(|edge| {
        let (from, to) = (&sketch.objects[edge.from], &sketch.objects[edge.to]);
        let verb = if edge.how == How::Labels { "selects" } else { "uses" };
        format!("{} {} {verb} {} {}", from.kind, from.name, to.kind, to.name)
    });
    let more = sketch.edges.len().saturating_sub(SAID);
    let rest = if more > 0 { format!("; and {more} more, in the list below") } else { String::new() };
    format!("{}{rest}.", lines.collect::<Vec<_>>().join("; "))
}
