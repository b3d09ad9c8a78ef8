//! Layouts, written as the reference time: their parts, and writing a moment by one.

use super::{DAYS, Time, month_name};

impl<'a> Time<'a> {
    /// The moment in a layout written as the reference time.
    #[must_use]
    pub fn format(&self, layout: &[u8]) -> Vec<u8> {
        let civil = self.civil();
        let (offset, name) = self.offset();
        let mut out = Vec::with_capacity(layout.len() + 8);
        let mut rest = layout;
        while let Some((at, chunk, length)) = next_chunk(rest) {
            out.extend_from_slice(&rest[..at]);
            rest = &rest[at + length..];
            let text = match chunk {
                Chunk::LongMonth => month_name(civil.month).to_owned(),
                Chunk::Month => month_name(civil.month)[..3].to_owned(),
                Chunk::NumMonth => civil.month.to_string(),
                Chunk::ZeroMonth => format!("{:02}", civil.month),
                Chunk::LongWeekDay => DAYS[civil.week_day as usize].to_owned(),
                Chunk::WeekDay => DAYS[civil.week_day as usize][..3].to_owned(),
                Chunk::Day => civil.day.to_string(),
                Chunk::UnderDay => format!("{:>2}", civil.day),
                Chunk::ZeroDay => format!("{:02}", civil.day),
                Chunk::UnderYearDay => format!("{:>3}", civil.year_day),
                Chunk::ZeroYearDay => format!("{:03}", civil.year_day),
                Chunk::Hour => format!("{:02}", civil.hour),
                Chunk::Hour12 => twelve(civil.hour).to_string(),
                Chunk::ZeroHour12 => format!("{:02}", twelve(civil.hour)),
                Chunk::Minute => civil.minute.to_string(),
                Chunk::ZeroMinute => format!("{:02}", civil.minute),
                Chunk::Second => civil.second.to_string(),
                Chunk::ZeroSecond => format!("{:02}", civil.second),
                Chunk::LongYear if civil.year < 0 => format!("-{:04}", -civil.year),
                Chunk::LongYear => format!("{:04}", civil.year),
                Chunk::Year => format!("{:02}", civil.year.rem_euclid(100)),
                Chunk::UpperPm => (if civil.hour >= 12 { "PM" } else { "AM" }).to_owned(),
                Chunk::LowerPm => (if civil.hour >= 12 { "pm" } else { "am" }).to_owned(),
                Chunk::ZoneName if !name.is_empty() => name.clone(),
                Chunk::ZoneName => {
                    let sign = if offset < 0 { '-' } else { '+' };
                    let minutes = offset.abs() / 60;
                    format!("{sign}{:02}{:02}", minutes / 60, minutes % 60)
                }
                Chunk::Offset { zulu: true, .. } if offset == 0 => "Z".to_owned(),
                Chunk::Offset { colon, minutes, seconds, .. } => {
                    let sign = if offset < 0 { '-' } else { '+' };
                    let total = offset.abs();
                    let colon = if colon { ":" } else { "" };
                    let mut text = format!("{sign}{:02}", total / 3600);
                    if minutes {
                        text.push_str(&format!("{colon}{:02}", total / 60 % 60));
                    }
                    if seconds {
                        text.push_str(&format!("{colon}{:02}", total % 60));
                    }
                    text
                }
                Chunk::Fraction { digits, zeros, mark } => {
                    let all = format!("{:09}", self.nanos);
                    let mut digits =
                        if digits <= 9 { all[..digits].to_owned() } else { all + &"0".repeat(digits - 9) };
                    if !zeros {
                        digits.truncate(digits.trim_end_matches('0').len());
                    }
                    if digits.is_empty() { String::new() } else { format!("{}{digits}", char::from(mark)) }
                }
            };
            out.extend_from_slice(text.as_bytes());
        }
        out.extend_from_slice(rest);
        out
    }
}

pub(super) fn twelve(hour: i64) -> i64 {
    if hour % 12 == 0 { 12 } else { hour % 12 }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    LongMonth,
    Month,
    NumMonth,
    ZeroMonth,
    LongWeekDay,
    WeekDay,
    Day,
    UnderDay,
    ZeroDay,
    UnderYearDay,
    ZeroYearDay,
    Hour,
    Hour12,
    ZeroHour12,
    Minute,
    ZeroMinute,
    Second,
    ZeroSecond,
    LongYear,
    Year,
    UpperPm,
    LowerPm,
    ZoneName,
    Offset { zulu: bool, colon: bool, minutes: bool, seconds: bool },
    Fraction { digits: usize, zeros: bool, mark: u8 },
}

/// The next element of a layout: where it is, what it is, how long.
pub(super) fn next_chunk(layout: &[u8]) -> Option<(usize, Chunk, usize)> {
    let lower = |rest: &[u8]| rest.first().is_some_and(u8::is_ascii_lowercase);
    for at in 0..layout.len() {
        let rest = &layout[at..];
        let found = match rest[0] {
            b'J' if rest.starts_with(b"January") => Some((Chunk::LongMonth, 7)),
            b'J' if rest.starts_with(b"Jan") && !lower(&rest[3..]) => Some((Chunk::Month, 3)),
            b'M' if rest.starts_with(b"Monday") => Some((Chunk::LongWeekDay, 6)),
            b'M' if rest.starts_with(b"Mon") && !lower(&rest[3..]) => Some((Chunk::WeekDay, 3)),
            b'M' if rest.starts_with(b"MST") => Some((Chunk::ZoneName, 3)),
            b'0' if rest.starts_with(b"002") => Some((Chunk::ZeroYearDay, 3)),
            b'0' => match rest.get(1) {
                Some(b'1') => Some((Chunk::ZeroMonth, 2)),
                Some(b'2') => Some((Chunk::ZeroDay, 2)),
                Some(b'3') => Some((Chunk::ZeroHour12, 2)),
                Some(b'4') => Some((Chunk::ZeroMinute, 2)),
                Some(b'5') => Some((Chunk::ZeroSecond, 2)),
                Some(b'6') => Some((Chunk::Year, 2)),
                _ => None,
            },
            b'1' if rest.get(1) == Some(&b'5') => Some((Chunk::Hour, 2)),
            b'1' => Some((Chunk::NumMonth, 1)),
            b'2' if rest.starts_with(b"2006") => Some((Chunk::LongYear, 4)),
            b'2' => Some((Chunk::Day, 1)),
            b'_' if rest.starts_with(b"_2006") => return Some((at + 1, Chunk::LongYear, 4)),
            b'_' if rest.starts_with(b"_2") => Some((Chunk::UnderDay, 2)),
            b'_' if rest.starts_with(b"__2") => Some((Chunk::UnderYearDay, 3)),
            b'3' => Some((Chunk::Hour12, 1)),
            b'4' => Some((Chunk::Minute, 1)),
            b'5' => Some((Chunk::Second, 1)),
            b'P' if rest.starts_with(b"PM") => Some((Chunk::UpperPm, 2)),
            b'p' if rest.starts_with(b"pm") => Some((Chunk::LowerPm, 2)),
            mark @ (b'-' | b'Z') => {
                let zulu = mark == b'Z';
                [
                    (&b"070000"[..], false, true, true),
                    (b"07:00:00", true, true, true),
                    (b"0700", false, true, false),
                    (b"07:00", true, true, false),
                    (b"07", false, false, false),
                ]
                .into_iter()
                .find(|form| rest[1..].starts_with(form.0))
                .map(|(text, colon, minutes, seconds)| {
                    (Chunk::Offset { zulu, colon, minutes, seconds }, text.len() + 1)
                })
            }
            mark @ (b'.' | b',') if matches!(rest.get(1), Some(b'0' | b'9')) => {
                let digit = rest[1];
                let digits = rest[1..].iter().take_while(|byte| **byte == digit).count();
                if rest.get(1 + digits).is_some_and(u8::is_ascii_digit) {
                    None
                } else {
                    Some((Chunk::Fraction { digits, zeros: digit == b'0', mark }, digits + 1))
                }
            }
            _ => None,
        };
        if let Some((chunk, length)) = found {
            return Some((at, chunk, length));
        }
    }
    None
}
