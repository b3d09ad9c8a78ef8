//! sprig's arithmetic and number conversions.

use num_bigint::BigInt;

use crate::context::{Context, Failure};
use crate::fmt;
use crate::function::{Function, Parameter, Purity};
use crate::strconv;
use crate::value::{ListType, Value};

use super::convert::{to_float64, to_int64};
use super::{int, text};

type Answer<'a> = Result<Value<'a>, Failure>;

fn atoi<'a>(_: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let number =
        std::str::from_utf8(text(arguments, 0)).ok().and_then(|text| strconv::parse_int(text, 10).ok());
    Ok(Value::int(number.unwrap_or(0)))
}

fn to_int<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::int(to_int64(arguments[0], context)))
}

fn to_long<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::int64(to_int64(arguments[0], context)))
}

fn to_float<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::Float(to_float64(arguments[0], context)))
}

fn to_decimal<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let shown = fmt::sprint(arguments, context.text_limit())?;
    let number = std::str::from_utf8(&shown).ok().and_then(|text| strconv::parse_int(text, 8).ok());
    Ok(Value::int64(number.unwrap_or(0)))
}

fn fold<'a>(
    context: &mut Context<'_, 'a>,
    arguments: &[Value<'a>],
    combine: fn(i64, i64) -> i64,
    start: Option<i64>,
) -> Answer<'a> {
    let mut numbers = arguments.iter().map(|value| to_int64(*value, context));
    let start = start.or_else(|| numbers.next()).unwrap_or(0);
    Ok(Value::int64(numbers.fold(start, combine)))
}

fn add1<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    fold(context, arguments, i64::wrapping_add, Some(1))
}

fn add<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    fold(context, arguments, i64::wrapping_add, Some(0))
}

fn sub<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    fold(context, arguments, i64::wrapping_sub, None)
}

fn mul<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    fold(context, arguments, i64::wrapping_mul, None)
}

fn divide<'a>(
    context: &mut Context<'_, 'a>,
    arguments: &[Value<'a>],
    combine: fn(i64, i64) -> i64,
) -> Answer<'a> {
    if to_int64(arguments[1], context) == 0 {
        return Err(Failure::message("runtime error: integer divide by zero"));
    }
    fold(context, arguments, combine, None)
}

fn div<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    divide(context, arguments, i64::wrapping_div)
}

fn modulo<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    divide(context, arguments, i64::wrapping_rem)
}

fn max<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    fold(context, arguments, i64::max, None)
}

fn min<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    fold(context, arguments, i64::min, None)
}

/// `math.Max`: not a number wins, and 0 is more than -0.
fn maxf<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    extreme(context, arguments, |one, other| one > other)
}

fn minf<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    extreme(context, arguments, |one, other| one < other)
}

fn extreme<'a>(
    context: &mut Context<'_, 'a>,
    arguments: &[Value<'a>],
    better: fn(f64, f64) -> bool,
) -> Answer<'a> {
    let mut best = to_float64(arguments[0], context);
    for value in &arguments[1..] {
        let value = to_float64(*value, context);
        if value.is_nan() || best.is_nan() {
            best = f64::NAN;
        } else if better(value, best) {
            best = value;
        }
    }
    Ok(Value::Float(best))
}

fn floor<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::Float(to_float64(arguments[0], context).floor()))
}

fn ceil<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    Ok(Value::Float(to_float64(arguments[0], context).ceil()))
}

fn round<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let on = match arguments.get(2) {
        Some(Value::Float(on)) => *on,
        _ => 0.5,
    };
    let places = int(arguments, 1);
    let power = i32::try_from(places).map_or_else(|_| 10f64.powf(places as f64), |places| 10f64.powi(places));
    let digit = power * to_float64(arguments[0], context);
    let fraction = digit.fract();
    let rounded = if fraction >= on { digit.ceil() } else { digit.floor() };
    Ok(Value::Float(rounded / power))
}

/// The numbers from `start` up to but not including `stop`.
fn steps(context: &mut Context<'_, '_>, start: i64, stop: i64, step: i64) -> Result<Vec<i64>, Failure> {
    let runs = if stop < start { step < 0 } else { step > 0 };
    if !runs {
        return Ok(Vec::new());
    }
    let count = stop.abs_diff(start).div_ceil(step.unsigned_abs());
    context.charge_items(usize::try_from(count).unwrap_or(usize::MAX))?;
    let mut out = Vec::with_capacity(usize::try_from(count).unwrap_or(0));
    let mut number = start;
    while (step > 0 && number < stop) || (step < 0 && number > stop) {
        out.push(number);
        let Some(next) = number.checked_add(step) else { break };
        number = next;
    }
    Ok(out)
}

fn int_list<'a>(context: &Context<'_, 'a>, numbers: &[i64]) -> Value<'a> {
    let values: Vec<Value<'a>> = numbers.iter().map(|number| Value::int(*number)).collect();
    Value::List(ListType::INT, context.arena.values(&values))
}

fn until<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let count = int(arguments, 0);
    let numbers = steps(context, 0, count, if count < 0 { -1 } else { 1 })?;
    Ok(int_list(context, &numbers))
}

fn until_step<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let numbers = steps(context, int(arguments, 0), int(arguments, 1), int(arguments, 2))?;
    Ok(int_list(context, &numbers))
}

fn seq<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let number = |at: usize| int(arguments, at);
    let (start, end, step) = match arguments.len() {
        1 => (1, number(0), if number(0) < 1 { -1 } else { 1 }),
        2 => (number(0), number(1), if number(1) < number(0) { -1 } else { 1 }),
        3 => (number(0), number(2), number(1)),
        _ => return Ok(Value::EMPTY),
    };
    if arguments.len() == 3 && end < start && step > 0 {
        return Ok(Value::EMPTY);
    }
    let stop = end.wrapping_add(if end < start { -1 } else { 1 });
    let numbers = steps(context, start, stop, step)?;
    let texts: Vec<String> = numbers.iter().map(i64::to_string).collect();
    context.text(texts.join(" "))
}

fn rand_int<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let (low, high) = (int(arguments, 0), int(arguments, 1));
    let Some(width) =
        high.checked_sub(low).and_then(|width| u64::try_from(width).ok()).filter(|width| *width > 0)
    else {
        return Err(Failure::message("invalid argument to Intn"));
    };
    Ok(Value::int(low.wrapping_add(context.random_below(width) as i64)))
}

/// A decimal number: digits times ten to a power, as shopspring's decimal keeps it.
#[derive(Clone)]
struct Decimal {
    digits: BigInt,
    exponent: i64,
}

/// Digits after the point of a quotient.
const DIVISION_PRECISION: i64 = 16;

impl Decimal {
    fn from_float(value: f64) -> Self {
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let places = mantissa.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
        let exponent = exponent.parse::<i64>().unwrap_or(0) - i64::try_from(places).unwrap_or(0);
        Self { digits: digits.parse().unwrap_or_default(), exponent }
    }

    fn to_float(&self) -> f64 {
        format!("{}e{}", self.digits, self.exponent).parse().unwrap_or(0.0)
    }

    fn ten_to(power: i64) -> BigInt {
        BigInt::from(10).pow(u32::try_from(power).unwrap_or(0))
    }

    /// Both with the smaller exponent.
    fn aligned(&self, other: &Self) -> (BigInt, BigInt, i64) {
        let exponent = self.exponent.min(other.exponent);
        let scale = |number: &Self| &number.digits * Self::ten_to(number.exponent - exponent);
        (scale(self), scale(other), exponent)
    }

    /// Rounded half away from zero.
    fn divide(&self, other: &Self) -> Self {
        let power = self.exponent - other.exponent + DIVISION_PRECISION;
        let (mut numerator, mut denominator) = (self.digits.clone(), other.digits.clone());
        if power >= 0 {
            numerator *= Self::ten_to(power);
        } else {
            denominator *= Self::ten_to(-power);
        }
        let mut quotient = &numerator / &denominator;
        let rest: BigInt = &numerator - &quotient * &denominator;
        if rest.magnitude() * 2u32 >= *denominator.magnitude() {
            let negative = (numerator.sign() == num_bigint::Sign::Minus)
                != (denominator.sign() == num_bigint::Sign::Minus);
            quotient += if negative { -1 } else { 1 };
        }
        Self { digits: quotient, exponent: -DIVISION_PRECISION }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Decimals {
    Add,
    Sub,
    Mul,
    Div,
}

fn decimals<'a>(
    context: &mut Context<'_, 'a>,
    first: f64,
    rest: &[Value<'a>],
    operation: Decimals,
) -> Answer<'a> {
    let refuse = |value: f64| {
        let shown = strconv::format_float(value, b'g', None);
        Failure::message(format!("Cannot create a Decimal from {shown}"))
    };
    if !first.is_finite() {
        return Err(refuse(first));
    }
    let mut total = Decimal::from_float(first);
    for value in rest {
        let value = to_float64(*value, context);
        if !value.is_finite() {
            return Err(refuse(value));
        }
        let other = Decimal::from_float(value);
        context.charge(usize::try_from(total.digits.bits()).unwrap_or(usize::MAX))?;
        total = match operation {
            Decimals::Add | Decimals::Sub => {
                let (one, other, exponent) = total.aligned(&other);
                let digits = if operation == Decimals::Add { one + other } else { one - other };
                Decimal { digits, exponent }
            }
            Decimals::Mul => {
                Decimal { digits: total.digits * other.digits, exponent: total.exponent + other.exponent }
            }
            Decimals::Div if value == 0.0 => return Err(Failure::message("decimal division by 0")),
            Decimals::Div => total.divide(&other),
        };
    }
    Ok(Value::Float(total.to_float()))
}

fn add1f<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let first = to_float64(arguments[0], context);
    decimals(context, first, &[Value::int(1)], Decimals::Add)
}

fn addf<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    decimals(context, 0.0, arguments, Decimals::Add)
}

fn subf<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let first = to_float64(arguments[0], context);
    decimals(context, first, &arguments[1..], Decimals::Sub)
}

fn mulf<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let first = to_float64(arguments[0], context);
    decimals(context, first, &arguments[1..], Decimals::Mul)
}

fn divf<'a>(context: &mut Context<'_, 'a>, arguments: &[Value<'a>]) -> Answer<'a> {
    let first = to_float64(arguments[0], context);
    decimals(context, first, &arguments[1..], Decimals::Div)
}

use Parameter::{Any, Float, Int, String as Text};

/// In both versions.
pub(crate) static TABLE: &[Function] = &[
    Function::pure("atoi", &[Text], atoi),
    Function::pure("int", &[Any], to_int),
    Function::pure("int64", &[Any], to_long),
    Function::pure("float64", &[Any], to_float),
    Function::pure("toDecimal", &[Any], to_decimal),
    Function::pure("add1", &[Any], add1),
    Function::pure("add", &[Any], add).variadic(),
    Function::pure("sub", &[Any, Any], sub),
    Function::pure("div", &[Any, Any], div),
    Function::pure("mod", &[Any, Any], modulo),
    Function::pure("mul", &[Any, Any], mul).variadic(),
    Function::pure("biggest", &[Any, Any], max).variadic(),
    Function::pure("max", &[Any, Any], max).variadic(),
    Function::pure("min", &[Any, Any], min).variadic(),
    Function::pure("ceil", &[Any], ceil),
    Function::pure("floor", &[Any], floor),
    Function::pure("round", &[Any, Int, Float], round).variadic(),
    Function::pure("until", &[Int], until),
    Function::pure("untilStep", &[Int, Int, Int], until_step),
];

/// Since version 3.
pub(crate) static TABLE_V3: &[Function] = &[
    Function::pure("seq", &[Int], seq).variadic(),
    Function::pure("randInt", &[Int, Int], rand_int).from(Purity::Random),
    Function::pure("add1f", &[Any], add1f),
    Function::pure("addf", &[Any], addf).variadic(),
    Function::pure("subf", &[Any, Any], subf).variadic(),
    Function::pure("mulf", &[Any, Any], mulf).variadic(),
    Function::pure("divf", &[Any, Any], divf).variadic(),
    Function::pure("maxf", &[Any, Any], maxf).variadic(),
    Function::pure("minf", &[Any, Any], minf).variadic(),
];
