//! The random numbers of pgbench since version 15.
//!
//! The generator is xoroshiro128** 1.0 of Blackman and Vigna, its state filled by splitmix64
//! (<https://prng.di.unimi.it/>). The distributions are those that pgbench's manual describes under
//! "Built-In Functions"; each draws as many numbers as pgbench does, so that a seed gives the same
//! statements.

/// A stream of random numbers; a copy of it repeats what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Random {
    low: u64,
    high: u64,
}

impl Random {
    /// The stream of a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut counter = seed;
        let mut fill = || {
            counter = counter.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = (counter ^ (counter >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            mixed ^ (mixed >> 31)
        };
        let (low, high) = (fill(), fill());
        if low == 0 && high == 0 {
            // The one state that the generator would never leave.
            return Self { low: 0x5851_F42D_4C95_7F2D, high: 0x1405_7B7E_F767_814F };
        }
        Self { low, high }
    }

    /// A stream seeded from this one.
    #[must_use]
    pub fn child(&mut self) -> Self {
        Self::new(self.bits())
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let mixed = self.high ^ self.low;
        let number = self.low.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        self.low = self.low.rotate_left(24) ^ mixed ^ (mixed << 16);
        self.high = mixed.rotate_left(37);
        number
    }

    /// Uniform in `0..=most`; draws nothing where there is no choice.
    pub fn up_to(&mut self, most: u64) -> u64 {
        if most == 0 {
            return 0;
        }
        loop {
            let number = self.bits() >> most.leading_zeros();
            if number <= most {
                return number;
            }
        }
    }

    /// Uniform in [0, 1), of 52 bits.
    fn fraction(&mut self) -> f64 {
        (self.bits() >> 12) as f64 / (1_u64 << 52) as f64
    }

    /// Normally distributed (Box and Muller).
    fn normal(&mut self) -> f64 {
        let radius = 1.0 - self.fraction();
        let angle = 1.0 - self.fraction();
        (-2.0 * radius.ln()).sqrt() * (2.0 * std::f64::consts::PI * angle).sin()
    }

    /// `random(first, last)`.
    pub fn uniform(&mut self, first: i64, last: i64) -> i64 {
        first.wrapping_add(self.up_to(last.wrapping_sub(first) as u64) as i64)
    }

    /// `random_exponential(first, last, parameter)`; the parameter is above 0.
    pub fn exponential(&mut self, first: i64, last: i64, parameter: f64) -> i64 {
        let cut = (-parameter).exp();
        let uniform = 1.0 - self.fraction();
        let place = -(cut + (1.0 - cut) * uniform).ln() / parameter;
        first + (((last - first + 1) as f64) * place) as i64
    }

    /// `random_gaussian(first, last, parameter)`; the parameter is at least 2.
    pub fn gaussian(&mut self, first: i64, last: i64, parameter: f64) -> i64 {
        let deviation = loop {
            let deviation = self.normal();
            if deviation >= -parameter && deviation < parameter {
                break deviation;
            }
        };
        let place = (deviation + parameter) / (parameter * 2.0);
        first + (((last - first + 1) as f64) * place) as i64
    }

    /// `random_zipfian(first, last, s)` by rejection (Devroye 1986, p. 550); s is in 1.001..=1000.
    pub fn zipfian(&mut self, first: i64, last: i64, s: f64) -> i64 {
        let count = last - first + 1;
        if count <= 1 {
            return first;
        }
        let power = s - 1.0;
        let of_two = 2.0_f64.powf(power);
        loop {
            let candidate = self.fraction().powf(-1.0 / power).floor();
            let lot = self.fraction();
            let next = (1.0 + 1.0 / candidate).powf(power);
            let kept = lot * candidate * (next - 1.0) / (of_two - 1.0) <= next / of_two;
            if kept && candidate <= count as f64 {
                return first - 1 + candidate as i64;
            }
        }
    }
}

/// `hash_fnv1a(value, seed)`.
#[must_use]
pub fn hash_fnv1a(value: i64, seed: i64) -> i64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64 ^ seed as u64;
    for octet in value.to_le_bytes() {
        hash = (hash ^ u64::from(octet)).wrapping_mul(0x0100_0000_01b3);
    }
    hash as i64
}

/// `hash_murmur2(value, seed)`, of 64 bits.
#[must_use]
pub fn hash_murmur2(value: i64, seed: i64) -> i64 {
    const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
    const SHIFT: u32 = 47;
    let mut word = (value as u64).wrapping_mul(MULTIPLIER);
    word ^= word >> SHIFT;
    word = word.wrapping_mul(MULTIPLIER);
    let mut hash = seed as u64 ^ MULTIPLIER.wrapping_mul(8);
    hash = (hash ^ word).wrapping_mul(MULTIPLIER);
    hash = (hash ^ (hash >> SHIFT)).wrapping_mul(MULTIPLIER);
    (hash ^ (hash >> SHIFT)) as i64
}

/// `permute(value, size, seed)`: where a pseudorandom permutation of `0..size` takes the value.
///
/// Six rounds, each a bijection of the lower and one of the upper power of two of the range
/// (multiplication by an odd number, XOR, rotation by a bit), and an offset.
#[must_use]
pub fn permute(value: i64, size: i64, seed: i64) -> i64 {
    if size < 2 {
        return 0;
    }
    let mut random = Random::new(seed as u64);
    let size = size as u64;
    let mut place = value as u64 % size;
    let bits = size.ilog2();
    let mask = (1_u64 << bits) - 1;
    let scatter = |random: &mut Random, number: u64| {
        let factor = (random.bits() & mask) | 1;
        let flips = random.bits() & mask;
        if number > mask {
            return number;
        }
        let mixed = (number.wrapping_mul(factor) ^ flips) & mask;
        ((mixed << 1) & mask) | (mixed >> (bits - 1))
    };
    for _ in 0..6 {
        place = scatter(&mut random, place);
        place = size - 1 - scatter(&mut random, size - 1 - place);
        place = (place + random.up_to(size - 1)) % size;
    }
    place as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_are_those_of_the_reference() {
        // splitmix64 of the seed 1234567: rosettacode's and the authors' test vector.
        let random = Random::new(1_234_567);
        assert_eq!(
            (random.low, random.high),
            (6_457_827_717_110_365_317, 3_203_168_211_198_807_973)
        );
    }

    #[test]
    fn a_permutation_takes_each_value_once() {
        for size in [2, 3, 7, 8, 1000, 4097] {
            let mut seen: Vec<i64> = (0..size).map(|value| permute(value, size, 42)).collect();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..size), "of {size}");
        }
    }

    #[test]
    fn every_distribution_stays_in_its_range() {
        let mut random = Random::new(7);
        let mut first_seen = [false; 4];
        for _ in 0..20_000 {
            let numbers = [
                random.uniform(-3, 5),
                random.exponential(-3, 5, 2.5),
                random.gaussian(-3, 5, 2.0),
                random.zipfian(-3, 5, 1.1),
            ];
            for (seen, number) in first_seen.iter_mut().zip(numbers) {
                assert!((-3..=5).contains(&number));
                *seen |= number == -3;
            }
        }
        assert_eq!(first_seen, [true; 4]);
    }
}
