//! Values of pgbench's expressions, and variables.

use std::fmt::Write as _;

/// What an expression gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// `NULL`.
    Null,
    /// `TRUE` or `FALSE`.
    Boolean(bool),
    /// A bigint.
    Integer(i64),
    /// A double.
    Double(f64),
}

impl Value {
    fn kind(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "boolean",
            Self::Integer(_) => "int",
            Self::Double(_) => "double",
        }
    }

    /// As an integer; a double is rounded half to even.
    ///
    /// # Errors
    /// For NULL, a boolean, and a double beyond a bigint.
    pub fn integer(self) -> Result<i64, String> {
        match self {
            Self::Integer(number) => Ok(number),
            Self::Double(number) => {
                let rounded = number.round_ties_even();
                if rounded >= -(2.0_f64.powi(63)) && rounded < 2.0_f64.powi(63) {
                    Ok(rounded as i64)
                } else {
                    Err(format!("double to int overflow for {number}"))
                }
            }
            _ => Err(format!("cannot coerce {} to int", self.kind())),
        }
    }

    /// As a double.
    ///
    /// # Errors
    /// For NULL and a boolean.
    pub fn double(self) -> Result<f64, String> {
        match self {
            Self::Integer(number) => Ok(number as f64),
            Self::Double(number) => Ok(number),
            _ => Err(format!("cannot coerce {} to double", self.kind())),
        }
    }

    /// As a boolean.
    ///
    /// # Errors
    /// For anything else: numbers have a truth (see `truth`), but are no booleans.
    pub fn boolean(self) -> Result<bool, String> {
        match self {
            Self::Boolean(truth) => Ok(truth),
            _ => Err(format!("cannot coerce {} to boolean", self.kind())),
        }
    }

    /// What `\if` and CASE take it for: NULL and zero are false.
    #[must_use]
    pub fn truth(self) -> bool {
        match self {
            Self::Null => false,
            Self::Boolean(truth) => truth,
            Self::Integer(number) => number != 0,
            Self::Double(number) => number != 0.0,
        }
    }

    /// Append it as pgbench writes it into a statement.
    pub fn write(self, text: &mut String) {
        // Writing to a string cannot fail.
        let _ = match self {
            Self::Null => write!(text, "NULL"),
            Self::Boolean(truth) => write!(text, "{truth}"),
            Self::Integer(number) => write!(text, "{number}"),
            Self::Double(number) => write!(text, "{}", fifteen_digits(number)),
        };
    }
}

/// `%.15g` of PostgreSQL's own printf (src/port/snprintf.c), with which pgbench writes.
fn fifteen_digits(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let scientific = format!("{number:.14e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if (-4..15).contains(&exponent) {
        return trimmed(&format!("{number:.*}", (14 - exponent) as usize));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), exponent.abs())
}

/// A variable: set by an expression to a value, or by `\gset` or the user to a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Variable {
    /// Not set yet.
    Unset,
    /// Set by an expression.
    Value(Value),
    /// Set to a text, which an expression reads as a value.
    Text(String),
}

impl Variable {
    /// Append its text; false where it is not set.
    pub fn write(&self, text: &mut String) -> bool {
        match self {
            Self::Unset => return false,
            Self::Value(value) => value.write(text),
            Self::Text(own) => text.push_str(own),
        }
        true
    }

    /// Its value in an expression.
    ///
    /// # Errors
    /// Where it is not set, or its text is no value.
    pub fn value(&self, name: &str) -> Result<Value, String> {
        match self {
            Self::Unset => Err(format!("undefined variable \"{name}\"")),
            Self::Value(value) => Ok(*value),
            Self::Text(text) => {
                read(text).ok_or_else(|| format!("malformed variable \"{name}\" value: \"{text}\""))
            }
        }
    }
}

/// A text as a value: null, a beginning of true, yes, false or no, on and off, a number.
fn read(text: &str) -> Option<Value> {
    let lower = text.to_ascii_lowercase();
    if lower.is_empty() {
        return None;
    }
    if lower == "null" {
        return Some(Value::Null);
    }
    if "true".starts_with(&lower) || "yes".starts_with(&lower) || lower == "on" {
        return Some(Value::Boolean(true));
    }
    if "false".starts_with(&lower) || "no".starts_with(&lower) || ["of", "off"].contains(&&*lower) {
        return Some(Value::Boolean(false));
    }
    let spaceless = text.trim_start();
    let digits = spaceless.strip_prefix(['+', '-']).unwrap_or(spaceless);
    if digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return spaceless.parse().ok().map(Value::Integer);
    }
    double(spaceless).map(Value::Double)
}

/// A double as C's strtod reads it; None where it is none, or beyond the smallest or the largest.
pub(crate) fn double(text: &str) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    let digits = text.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = !digits.contains(|digit: char| ('1'..='9').contains(&digit));
    let written = text.contains(|digit: char| digit.is_ascii_digit());
    let beyond = number.is_infinite() || (!number.is_normal() && !is_zero);
    (!written || !beyond).then_some(number)
}

/// The number at the beginning of a text, as C's atoi reads it; 0 where there is none.
pub(crate) fn leading_integer(text: &str) -> i64 {
    let text = text.trim_start();
    let signed = text.strip_prefix(['+', '-']).unwrap_or(text);
    let digits = signed.find(|next: char| !next.is_ascii_digit()).unwrap_or(signed.len());
    let size = signed[..digits].parse().unwrap_or(if digits == 0 { 0 } else { i64::MAX });
    if text.starts_with('-') { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_written_as_c_does() {
        let written = [
            (0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (std::f64::consts::PI, "3.14159265358979"),
            (1e15, "1e+15"),
            (123_456_789_012_345.0, "123456789012345"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1.0 / 3.0, "0.333333333333333"),
            (1e-300, "1e-300"),
            (0.999_999_999_999_999_9, "1"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (-f64::NAN, "NaN"),
        ];
        for (number, text) in written {
            assert_eq!(fifteen_digits(number), text);
        }
    }

    #[test]
    fn texts_are_read_as_pgbench_reads_them() {
        assert_eq!(read("17"), Some(Value::Integer(17)));
        assert_eq!(read(" +17"), Some(Value::Integer(17)));
        assert_eq!(read("1e3"), Some(Value::Double(1000.0)));
        assert_eq!(read("Y"), Some(Value::Boolean(true)));
        assert_eq!(read("o"), None);
        assert_eq!(read("of"), Some(Value::Boolean(false)));
        assert_eq!(read("nUlL"), Some(Value::Null));
        assert_eq!(read(""), None);
        assert_eq!(read("99999999999999999999"), None);
        assert_eq!(read("1e400"), None);
        assert_eq!(read("1e-400"), None);
        assert_eq!(read("0e-400"), Some(Value::Double(0.0)));
        assert_eq!(read("-inf"), Some(Value::Double(f64::NEG_INFINITY)));
    }

    #[test]
    fn a_pause_has_the_number_that_its_text_begins_with() {
        for (text, number) in
            [("17", 17), ("-1.9", -1), (" +3x", 3), ("x", 0), ("", 0), ("-", 0), ("1e3", 1)]
        {
            assert_eq!(leading_integer(text), number, "{text}");
        }
    }
}
