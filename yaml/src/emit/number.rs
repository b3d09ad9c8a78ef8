//! Numbers as Go and Python print them.

use std::fmt::Write as _;

/// The shortest decimal digits that read back as the same float, and where the point stands.
struct Shortest {
    negative: bool,
    digits: String,
    /// The value is `0.digits` times ten to this power.
    point: i32,
}

impl Shortest {
    /// Of a finite float. Ryu, unlike the standard library, settles ties as Go and Python do: to the even digit.
    fn of(value: f64) -> Self {
        Self::of_text(ryu::Buffer::new().format_finite(value))
    }

    /// From any decimal text, such as `-12.5e-7`.
    fn of_text(text: &str) -> Self {
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = [whole, fraction].concat();
        let significant = all.trim_start_matches('0');
        let leading_zeros = all.len() - significant.len();
        let digits = significant.trim_end_matches('0');
        if digits.is_empty() {
            return Self { negative, digits: "0".to_owned(), point: 0 };
        }
        let before_point =
            i32::try_from(whole.len()).unwrap_or(i32::MAX) - i32::try_from(leading_zeros).unwrap_or(0);
        let point = before_point + exponent.parse::<i32>().unwrap_or_default();
        Self { negative, digits: digits.to_owned(), point }
    }

    fn write_sign(&self, text: &mut String) {
        if self.negative {
            text.push('-');
        }
    }

    /// `d.ddde±xx` with at least `least` digits of exponent.
    fn write_exponential(&self, text: &mut String, least: usize) {
        self.write_sign(text);
        let (first, rest) = self.digits.split_at(1);
        text.push_str(first);
        if !rest.is_empty() {
            text.push('.');
            text.push_str(rest);
        }
        let exponent = self.point - 1;
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(text, "e{sign}{:0least$}", exponent.abs()).expect("a String takes any text");
    }

    /// Go's `'g'` with the fewest digits: an exponent below -4 and from 6 digits before the point up.
    fn write_general(&self, text: &mut String) {
        if self.digits != "0" && !(-4..6).contains(&(self.point - 1)) {
            self.write_exponential(text, 2);
        } else {
            self.write_positional(text);
        }
    }

    /// `ddd.ddd`, or only `ddd` when there is no fraction.
    fn write_positional(&self, text: &mut String) {
        self.write_sign(text);
        let length = i32::try_from(self.digits.len()).unwrap_or(i32::MAX);
        if self.point <= 0 {
            text.push('0');
            if self.digits != "0" {
                text.push('.');
                (self.point..0).for_each(|_| text.push('0'));
                text.push_str(&self.digits);
            }
        } else if self.point >= length {
            text.push_str(&self.digits);
            (length..self.point).for_each(|_| text.push('0'));
        } else {
            let (whole, fraction) = self.digits.split_at(usize::try_from(self.point).unwrap_or_default());
            text.push_str(whole);
            text.push('.');
            text.push_str(fraction);
        }
    }
}

fn write_non_finite(text: &mut String, value: f64, names: [&str; 3]) -> bool {
    let name = match value {
        _ if value.is_nan() => names[0],
        f64::INFINITY => names[1],
        f64::NEG_INFINITY => names[2],
        _ => return false,
    };
    text.push_str(name);
    true
}

/// A float as Go's `strconv.FormatFloat(value, 'g', -1, 64)` prints it: `1e+06`, `0.1`, `1e-07`, `+Inf`.
pub fn write_go_float(text: &mut String, value: f64) {
    if write_non_finite(text, value, ["NaN", "+Inf", "-Inf"]) {
        return;
    }
    Shortest::of(value).write_general(text);
}

/// A float as Go's `strconv.FormatFloat(value, 'g', -1, 32)` prints it, for a finite one.
pub(crate) fn write_go_narrow_float(text: &mut String, value: f32) {
    Shortest::of_text(ryu::Buffer::new().format_finite(value)).write_general(text);
}

/// A float as Go's `encoding/json` prints it: positional from 1e-6 up to 1e21, else `1e+21`, `1e-7`.
///
/// Infinities and not-a-number, which JSON has not, are written `null`.
pub fn write_go_json_float(text: &mut String, value: f64) {
    if write_non_finite(text, value, ["null", "null", "null"]) {
        return;
    }
    let shortest = Shortest::of(value);
    let magnitude = value.abs();
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        shortest.write_exponential(text, 1);
    } else {
        shortest.write_positional(text);
    }
}

/// A float as `sigs.k8s.io/yaml` prints it: as JSON, read back by go-yaml, then as `'g'`.
pub(super) fn write_kubernetes_float(text: &mut String, value: f64) {
    if write_non_finite(text, value, [".nan", ".inf", "-.inf"]) {
        return;
    }
    if value.fract() == 0.0 && value.abs() < 1e21 {
        let start = text.len();
        write_go_json_float(text, value);
        let whole = &text[start..];
        if whole == "-0" {
            text.truncate(start);
            text.push('0');
            return;
        }
        if whole.parse::<i64>().is_ok() || whole.parse::<u64>().is_ok() {
            return;
        }
        text.truncate(start);
    }
    write_go_float(text, value);
}

/// A float as PyYAML's representer prints it: Python's `repr`, with a point before any exponent.
pub fn write_python_float(text: &mut String, value: f64) {
    if write_non_finite(text, value, [".nan", ".inf", "-.inf"]) {
        return;
    }
    let shortest = Shortest::of(value);
    let exponent = shortest.point - 1;
    let start = text.len();
    if value != 0.0 && !(-4..16).contains(&exponent) {
        shortest.write_exponential(text, 2);
        if !text[start..].contains('.')
            && let Some(at) = text[start..].find('e')
        {
            text.insert_str(start + at, ".0");
        }
    } else {
        shortest.write_positional(text);
        if !text[start..].contains('.') {
            text.push_str(".0");
        }
    }
}
