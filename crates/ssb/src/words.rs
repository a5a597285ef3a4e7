//! Words by random number: dbgen's distributions, and the nations with their regions.

use std::sync::LazyLock;

use tpchgen::distribution::{Distribution, Distributions};

/// A nation as the dimension tables show it.
#[derive(Debug)]
pub(crate) struct Nation {
    pub name: &'static str,
    pub region: &'static str,
    /// The first nine characters, filled with blanks; a city's digit follows.
    pub city: [u8; 9],
}

/// Nations in the order of their numbers.
pub(crate) static NATIONS: LazyLock<Vec<Nation>> = LazyLock::new(|| {
    let all = Distributions::static_default();
    let regions = values(all.regions());
    values(all.nations())
        .iter()
        .enumerate()
        .map(|(number, &name)| {
            // The sum of the weights up to a nation is its region's number.
            let region = regions[all.nations().get_weight(number) as usize];
            let mut city = [b' '; 9];
            let length = name.len().min(9);
            city[..length].copy_from_slice(&name.as_bytes()[..length]);
            Nation { name, region, city }
        })
        .collect()
});

pub(crate) fn colors() -> &'static [&'static str] {
    values(Distributions::static_default().part_colors())
}

pub(crate) fn part_types() -> &'static [&'static str] {
    values(Distributions::static_default().part_types())
}

pub(crate) fn containers() -> &'static [&'static str] {
    values(Distributions::static_default().part_containers())
}

pub(crate) fn segments() -> &'static [&'static str] {
    values(Distributions::static_default().market_segments())
}

pub(crate) fn priorities() -> &'static [&'static str] {
    values(Distributions::static_default().order_priority())
}

pub(crate) fn ship_modes() -> &'static [&'static str] {
    values(Distributions::static_default().ship_modes())
}

/// All of these have equal weights: a word's number is the random number.
fn values(distribution: &'static Distribution) -> &'static [&'static str] {
    distribution.get_values()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_that_are_drawn_from_have_equal_weights() {
        let all = Distributions::static_default();
        for one in [
            all.part_colors(),
            all.part_types(),
            all.part_containers(),
            all.market_segments(),
            all.order_priority(),
            all.ship_modes(),
        ] {
            for number in 0..one.size() {
                assert_eq!(one.get_weight(number), number as i32 + 1, "{}", one.name());
            }
        }
    }

    #[test]
    fn nations_have_their_regions() {
        let found = |name: &str| NATIONS.iter().find(|one| one.name == name).unwrap();
        assert_eq!(NATIONS.len(), 25);
        assert_eq!(found("JAPAN").region, "ASIA");
        assert_eq!(found("EGYPT").region, "MIDDLE EAST");
        assert_eq!(&found("UNITED KINGDOM").city, b"UNITED KI");
    }
}
