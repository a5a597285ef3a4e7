//! The random streams of dbgen, with the seeds that its columns start from.
//!
//! A stream is Park and Miller's "minimal standard" generator; the streams of most columns are
//! `tpchgen`'s. lineorder draws up to seven numbers for an order from each of its streams, and an
//! order always uses up seven: [`Lanes`] makes those seven at once, in the lanes of a vector.

use tpchgen::random::RowRandomInt;

const MODULUS: u64 = 2_147_483_647;
const MULTIPLIER: u64 = 16_807;

/// The most lines of an order.
pub(crate) const LINES: usize = 7;
/// Seven and one that is not used: vectors have a power of two of lanes.
const LANES: usize = 8;

/// The seed of each stream at row 1, by the column that draws from it.
pub(crate) mod seed {
    /// `p_mfgr`; category and the cities draw from it too.
    pub const MFGR: i64 = 1;
    pub const BRAND: i64 = 46_831_694;
    pub const TYPE: i64 = 1_841_581_359;
    pub const SIZE: i64 = 1_193_163_244;
    pub const CONTAINER: i64 = 727_633_698;
    pub const PART_NAME: i64 = 709_314_158;
    pub const CUSTOMER_ADDRESS: i64 = 881_155_353;
    pub const CUSTOMER_NATION: i64 = 1_489_529_863;
    /// Suppliers draw their phones from it too.
    pub const CUSTOMER_PHONE: i64 = 1_521_138_112;
    pub const SEGMENT: i64 = 1_140_279_430;
    pub const SUPPLIER_ADDRESS: i64 = 706_178_559;
    pub const SUPPLIER_NATION: i64 = 110_356_601;
    pub const ORDER_DATE: i64 = 1_066_728_069;
    pub const ORDER_CUSTOMER: i64 = 851_767_375;
    pub const ORDER_PRIORITY: i64 = 591_449_447;
    pub const ORDER_LINES: i64 = 1_434_868_289;
    pub const QUANTITY: i64 = 209_208_115;
    pub const DISCOUNT: i64 = 554_590_007;
    pub const TAX: i64 = 721_958_466;
    pub const SHIP_MODE: i64 = 675_466_456;
    pub const LINE_PART: i64 = 1_808_217_256;
    pub const LINE_SUPPLIER: i64 = 2_095_021_727;
    pub const COMMIT_DATE: i64 = 904_914_315;
}

/// A stream that uses up `per_row` numbers for each row, standing before the row `skipped` + 1.
pub(crate) fn stream(seed: i64, per_row: i32, skipped: u64) -> RowRandomInt {
    let mut stream = RowRandomInt::new(seed, per_row);
    stream.advance_rows(skipped as i64);
    stream
}

/// The characters of addresses.
const ALPHABET: &[u8; 64] = b"0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ,";
const SHORTEST_ADDRESS: i32 = 6;
const LONGEST_ADDRESS: i32 = 24;
/// Numbers that the stream of addresses uses up for each row.
pub(crate) const PER_ADDRESS: i32 = 9;

/// A random address; returns its length.
///
/// `tpchgen`'s own takes the sixes of bits from a 32-bit number; SSB's programs count to 2³¹ in 64
/// bits, which gives other characters.
pub(crate) fn address(stream: &mut RowRandomInt, text: &mut [u8; 24]) -> usize {
    let length = stream.next_int(SHORTEST_ADDRESS, LONGEST_ADDRESS) as usize;
    for five in text[..length].chunks_mut(5) {
        let number = stream.next_rand();
        let mut bits = (number as f64 / MODULUS as f64 * 2_147_483_648.0) as u64;
        for character in five {
            *character = ALPHABET[(bits & 63) as usize];
            bits >>= 6;
        }
    }
    stream.row_finished();
    length
}

/// A random phone number: country code by nation, then 3, 3 and 4 digits.
pub(crate) fn phone(stream: &mut RowRandomInt, nation: usize) -> [u8; 15] {
    let mut text = *b"00-000-000-0000";
    digits(&mut text[0..2], 10 + nation as u32);
    digits(&mut text[3..6], stream.next_int(100, 999) as u32);
    digits(&mut text[7..10], stream.next_int(100, 999) as u32);
    digits(&mut text[11..15], stream.next_int(1000, 9999) as u32);
    text
}

/// Writes a number with leading zeros into the whole of `text`.
pub(crate) fn digits(text: &mut [u8], mut number: u32) {
    for place in text.iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// A lineorder stream: the seven numbers of an order at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lanes {
    seed: u32,
}

/// `MULTIPLIER` to the powers 1 to 7; the last lane repeats the seventh.
const POWERS: [u32; LANES] = powers();

const fn powers() -> [u32; LANES] {
    let mut powers = [0; LANES];
    let mut power = 1;
    let mut lane = 0;
    while lane < LANES {
        if lane < LINES {
            power = power * MULTIPLIER % MODULUS;
        }
        powers[lane] = power as u32;
        lane += 1;
    }
    powers
}

impl Lanes {
    /// The stream before the order `skipped` + 1.
    pub(crate) fn new(seed: i64, skipped: u64) -> Self {
        // A stream's next number is its seed times the multiplier: undo the step that asks for it.
        let mut stream = stream(seed, LINES as i32, skipped);
        let first = stream.next_rand() as u64;
        // 1,407,677,000 is the inverse of 16,807 modulo 2³¹ − 1.
        Self { seed: (first * 1_407_677_000 % MODULUS) as u32 }
    }

    /// The seven numbers of the next order, in 1 to 2³¹ − 2.
    #[inline(always)]
    fn next(&mut self) -> [u32; LANES] {
        let mut numbers = [0; LANES];
        for lane in 0..LANES {
            let product = u64::from(self.seed) * u64::from(POWERS[lane]);
            let sum = (product & MODULUS) as u32 + (product >> 31) as u32;
            // Either the sum or the sum less the modulus; the wrong one of them is the larger.
            numbers[lane] = sum.min(sum.wrapping_sub(MODULUS as u32));
        }
        self.seed = numbers[LINES - 1];
        numbers
    }

    /// The next order's seven numbers scaled to 0 … `range` − 1.
    #[inline(always)]
    pub(crate) fn next_below(&mut self, range: u32) -> [u32; LANES] {
        let numbers = self.next();
        let mut scaled = [0; LANES];
        if range <= EXACT_RANGE {
            for lane in 0..LANES {
                scaled[lane] = below(numbers[lane], range);
            }
        } else {
            for lane in 0..LANES {
                scaled[lane] = below_by_float(numbers[lane], range);
            }
        }
        scaled
    }
}

/// Up to here [`below`] and [`below_by_float`] agree for every number: number · range / modulus is
/// never whole, so at least 2⁻³¹ away from it, and two roundings err by at most range · 2⁻⁵².
const EXACT_RANGE: u32 = 1 << 20;

/// ⌊number · range / (2³¹ − 1)⌋ without a division: with number · range = a · 2³¹ + b it is a, and
/// one more where a + b reaches the modulus.
#[inline(always)]
fn below(number: u32, range: u32) -> u32 {
    let product = u64::from(number) * u64::from(range);
    let high = product >> 31;
    let low = product & MODULUS;
    (high + ((high + low + 1) >> 31)) as u32
}

/// What the programs compute: the number's share of the modulus, rounded, times the range, rounded.
#[inline(always)]
fn below_by_float(number: u32, range: u32) -> u32 {
    (f64::from(number) / MODULUS as f64 * f64::from(range)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_the_numbers_of_the_stream() {
        for skipped in [0, 1, 12_345, 600_000_000] {
            let mut lanes = Lanes::new(seed::QUANTITY, skipped);
            let mut one_by_one = stream(seed::QUANTITY, LINES as i32, skipped);
            for _ in 0..1000 {
                let expected: [i32; LINES] = std::array::from_fn(|_| one_by_one.next_int(0, 49));
                let got = lanes.next_below(50);
                assert_eq!(got[..LINES], expected.map(|value| value as u32));
            }
        }
    }

    #[test]
    fn both_ways_to_scale_agree_up_to_the_exact_range() {
        let mut number = 1_u64;
        for range in [7, 50, 61, 2_000, 200_000, 999_983, EXACT_RANGE] {
            for _ in 0..200_000 {
                number = number * MULTIPLIER % MODULUS;
                assert_eq!(below(number as u32, range), below_by_float(number as u32, range));
            }
            // The numbers whose product lies next to a multiple of the modulus.
            for part in 1..range.min(2000) {
                let near = u64::from(part) * MODULUS / u64::from(range);
                for number in [near, near + 1] {
                    assert_eq!(below(number as u32, range), below_by_float(number as u32, range));
                }
            }
        }
    }
}
