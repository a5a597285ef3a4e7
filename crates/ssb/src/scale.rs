//! Scale factor and variant: how many rows each table has, and which keys the fact table draws.

use std::fmt;

/// The largest scale factor that is accepted (60 billion rows of lineorder).
pub const MAX_SCALE: f64 = 10_000.0;

const CUSTOMERS: u32 = 30_000;
const SUPPLIERS: u32 = 2_000;
const SUPPLIERS_OF_THE_REPORTS: u32 = 10_000;
const PARTS: u32 = 200_000;
const ORDERS: u32 = 1_500_000;

/// Which description of the benchmark is followed where they differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// Byte-identical to the programs of the O'Neil lineage, each table by its own process.
    Reference,
    /// As the PGECons reports' data: 10,000 suppliers for each scale factor, a priority cut to 11
    /// characters, no delimiter at the end of a line.
    Reports,
    /// The paper's text instead of the programs' quirks.
    Paper,
}

impl Variant {
    /// The three variants.
    pub const ALL: [Self; 3] = [Self::Reference, Self::Reports, Self::Paper];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Reports => "reports",
            Self::Paper => "paper",
        }
    }

    /// The variant of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// Why a scale factor is refused.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScaleError {
    /// Not a number above 0.
    NotPositive(f64),
    /// Above [`MAX_SCALE`].
    TooLarge(f64),
    /// Above 1 with a fraction, which the reference programs silently drop.
    Fraction(f64),
}

impl fmt::Display for ScaleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPositive(value) => write!(f, "scale factor {value} is not above 0"),
            Self::TooLarge(value) => write!(f, "scale factor {value} is above {MAX_SCALE}"),
            Self::Fraction(value) => {
                write!(
                    f,
                    "scale factor {value} has a fraction, which only factors below 1 may have"
                )
            }
        }
    }
}

impl std::error::Error for ScaleError {}

/// A scale factor under a variant, and the sizes that follow from it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// The scale factor.
    pub factor: f64,
    /// The variant.
    pub variant: Variant,
    /// Rows of customer.
    pub customers: u32,
    /// Rows of supplier.
    pub suppliers: u32,
    /// Rows of part.
    pub parts: u32,
    /// Orders; each is one to seven rows of lineorder.
    pub orders: u64,
    /// The largest `lo_partkey`.
    pub largest_partkey: u32,
}

impl Scale {
    /// The sizes for a scale factor.
    ///
    /// # Errors
    /// Where the factor is not a number above 0, is above [`MAX_SCALE`], or is above 1 with a
    /// fraction.
    pub fn new(factor: f64, variant: Variant) -> Result<Self, ScaleError> {
        if factor.is_nan() || factor <= 0.0 {
            return Err(ScaleError::NotPositive(factor));
        }
        if factor > MAX_SCALE {
            return Err(ScaleError::TooLarge(factor));
        }
        if factor > 1.0 && factor.fract() != 0.0 {
            return Err(ScaleError::Fraction(factor));
        }
        let suppliers = match variant {
            Variant::Reports => SUPPLIERS_OF_THE_REPORTS,
            Variant::Reference | Variant::Paper => SUPPLIERS,
        };
        let parts = part_rows(factor, f64::log2);
        Ok(Self {
            factor,
            variant,
            customers: rows(CUSTOMERS, factor) as u32,
            suppliers: rows(suppliers, factor) as u32,
            parts,
            orders: rows(ORDERS, factor),
            largest_partkey: match variant {
                // The programs bound the key by the natural logarithm, the table by the binary one.
                Variant::Reference | Variant::Reports => part_rows(factor, f64::ln),
                Variant::Paper => parts,
            },
        })
    }

    /// The expected rows of lineorder: an order has four on average.
    #[must_use]
    pub fn expected_lineorders(&self) -> u64 {
        self.orders * 4
    }

    /// Whether `lo_orderkey` does not fit into four bytes.
    #[must_use]
    pub fn wide_orderkeys(&self) -> bool {
        sparse_key(self.orders) > i32::MAX as u64
    }
}

/// Below 1 the base shrinks, cut to a whole number of at least one.
fn rows(base: u32, factor: f64) -> u64 {
    ((f64::from(base) * factor) as u64).max(1)
}

/// 200,000 · ⌊1 + log SF⌋ (paper, section 2.3, with the binary logarithm); below 1 as other tables.
fn part_rows(factor: f64, logarithm: impl Fn(f64) -> f64) -> u32 {
    if factor < 1.0 {
        return rows(PARTS, factor) as u32;
    }
    // A factor of at most 10,000 gives at most 14.
    PARTS * (1.0 + logarithm(factor)).floor() as u32
}

/// The key of the order with this number (from 1): the first 8 of each 32 keys are used.
#[must_use]
pub(crate) fn sparse_key(order: u64) -> u64 {
    (order >> 3 << 5) | (order & 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_at_scale_factor_100_are_those_of_the_reports() {
        let reports = Scale::new(100.0, Variant::Reports).unwrap();
        assert_eq!(reports.customers, 3_000_000);
        assert_eq!(reports.parts, 1_400_000);
        assert_eq!(reports.suppliers, 1_000_000);
        assert_eq!(reports.largest_partkey, 1_000_000);
        assert!(!reports.wide_orderkeys());
        let paper = Scale::new(100.0, Variant::Paper).unwrap();
        assert_eq!(paper.suppliers, 200_000);
        assert_eq!(paper.largest_partkey, 1_400_000);
    }

    #[test]
    fn parts_grow_at_exact_powers_of_two() {
        for power in 0..13 {
            let factor = f64::from(1 << power);
            let scale = Scale::new(factor, Variant::Paper).unwrap();
            assert_eq!(scale.parts, 200_000 * (power + 1), "{factor}");
        }
    }

    #[test]
    fn wide_keys_start_where_the_largest_key_leaves_four_bytes() {
        assert!(!Scale::new(357.0, Variant::Reference).unwrap().wide_orderkeys());
        assert!(Scale::new(358.0, Variant::Reference).unwrap().wide_orderkeys());
    }

    #[test]
    fn impossible_factors_are_refused() {
        for (factor, part) in [
            (0.0, "above 0"),
            (-1.0, "above 0"),
            (f64::NAN, "above 0"),
            (1.5, "fraction"),
            (20_000.0, "above 10000"),
            (f64::INFINITY, "above 10000"),
        ] {
            let error = Scale::new(factor, Variant::Reference).unwrap_err();
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
