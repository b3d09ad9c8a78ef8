//! The order of keys: go-yaml's natural order.
//!
//! It must not know what the keys belong to.

use std::cmp::Ordering;

use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};

/// go-yaml's natural order of keys.
///
/// At the first character that differs: letters come after everything else and by code point among themselves; runs
/// of digits by their number; anything else by code point. So `_` < `1` < `A1` < `B` < `a2` < `a10`.
///
/// It is not a total order in the strict sense (go-yaml lets long numbers overflow), so do not hand it to a sort that
/// insists on one: [`sort_naturally`] does not.
#[must_use]
pub fn natural_order(one: &str, other: &str) -> Ordering {
    let (a, b) = (one.as_bytes(), other.as_bytes());
    let Some(differs) = a.iter().zip(b).position(|(a, b)| a != b) else { return a.len().cmp(&b.len()) };
    let (letter, other_letter) = (a[differs], b[differs]);
    if letter.is_ascii_alphabetic() && other_letter.is_ascii_alphabetic() {
        return letter.cmp(&other_letter);
    }
    // Bytes before the difference are equal, so both are cut at the same place.
    let start = one.floor_char_boundary(differs);
    compare_from(&one[..start], &one[start..], &other[start..])
}

fn compare_from(before: &str, one: &str, other: &str) -> Ordering {
    let (Some(a), Some(b)) = (one.chars().next(), other.chars().next()) else {
        return one.len().cmp(&other.len());
    };
    match (is_letter(a), is_letter(b)) {
        (true, true) => return a.cmp(&b),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero behind other digits counts as a digit of theirs; leading zeros do not.
    let continues = (a == '0' || b == '0')
        && before.chars().rev().take_while(|digit| is_digit(*digit)).any(|digit| digit != '0');
    let (number, digits) = leading_number(one, i64::from(continues));
    let (other_number, other_digits) = leading_number(other, i64::from(continues));
    number.cmp(&other_number).then(digits.cmp(&other_digits)).then(a.cmp(&b))
}

/// The number the text begins with, on top of `number`, and how many digits it has. Overflow wraps, as in go-yaml.
fn leading_number(text: &str, mut number: i64) -> (i64, usize) {
    let mut digits = 0;
    for digit in text.chars().take_while(|digit| is_digit(*digit)) {
        number = number.wrapping_mul(10).wrapping_add(i64::from(u32::from(digit)) - i64::from(b'0'));
        digits += 1;
    }
    (number, digits)
}

fn is_letter(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_alphabetic()
    } else {
        character.general_category_group() == GeneralCategoryGroup::Letter
    }
}

fn is_digit(character: char) -> bool {
    if character.is_ascii() {
        character.is_ascii_digit()
    } else {
        character.general_category() == GeneralCategory::DecimalNumber
    }
}

/// Sorts members by their keys in [`natural_order`]; members with equal keys keep their order.
pub fn sort_naturally<T>(members: &mut [(&str, T)]) {
    /// Up to this many, moving by swaps beats merging.
    const SHORT: usize = 24;
    if members.len() <= SHORT {
        for sorted in 1..members.len() {
            let mut at = sorted;
            while at > 0 && natural_order(members[at].0, members[at - 1].0) == Ordering::Less {
                members.swap(at, at - 1);
                at -= 1;
            }
        }
        return;
    }
    // The standard sorts may panic on an order that is not total. This merges places, then moves each member once.
    let mut places: Vec<usize> = (0..members.len()).collect();
    let mut merged = Vec::with_capacity(places.len());
    let mut width = 1;
    while width < places.len() {
        merged.clear();
        for pair in places.chunks(2 * width) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let (Some((&first, left_rest)), Some((&second, right_rest))) =
                (left.split_first(), right.split_first())
            {
                if natural_order(members[second].0, members[first].0) == Ordering::Less {
                    merged.push(second);
                    right = right_rest;
                } else {
                    merged.push(first);
                    left = left_rest;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        std::mem::swap(&mut places, &mut merged);
        width *= 2;
    }
    for target in 0..places.len() {
        let mut source = places[target];
        // Members before `target` were swapped to where their own source was.
        while source < target {
            source = places[source];
        }
        members.swap(target, source);
    }
}
