//! customer (paper, section 2.5).

use tpchgen::random::RowRandomInt;

use crate::encode::{Encoder, Fields};
use crate::rows::Dimensional;
use crate::scale::Scale;
use crate::streams::{self, PER_ADDRESS, seed, stream};
use crate::table::Table;
use crate::words;

pub(crate) struct Customers {
    key: u32,
    address: RowRandomInt,
    nation: RowRandomInt,
    city: RowRandomInt,
    phone: RowRandomInt,
    segment: RowRandomInt,
    segments: &'static [&'static str],
}

impl Dimensional for Customers {
    const TABLE: Table = Table::Customer;

    fn new(_scale: &Scale, skipped: u64) -> Self {
        Self {
            key: skipped as u32,
            address: stream(seed::CUSTOMER_ADDRESS, PER_ADDRESS, skipped),
            nation: stream(seed::CUSTOMER_NATION, 1, skipped),
            city: stream(seed::MFGR, 1, skipped),
            phone: stream(seed::CUSTOMER_PHONE, 3, skipped),
            segment: stream(seed::SEGMENT, 1, skipped),
            segments: words::segments(),
        }
    }

    fn next<E: Encoder>(&mut self, fields: &mut Fields<E>) {
        self.key += 1;
        fields.integer(self.key);
        fields.text(&name(*b"Customer#000000000", self.key));
        let located =
            Located::next(&mut self.address, &mut self.nation, &mut self.city, &mut self.phone);
        located.write(fields);
        let segment = self.segment.next_int(0, self.segments.len() as i32 - 1);
        fields.text(self.segments[segment as usize].as_bytes());
    }
}

/// A name that ends in a number of nine digits.
pub(crate) fn name<const N: usize>(mut text: [u8; N], key: u32) -> [u8; N] {
    streams::digits(&mut text[N - 9..], key);
    text
}

/// Address, city, nation, region and phone, which customers and suppliers have in common.
pub(crate) struct Located {
    address: [u8; 24],
    length: usize,
    nation: usize,
    city_digit: u8,
    phone: [u8; 15],
}

impl Located {
    pub(crate) fn next(
        address: &mut RowRandomInt,
        nation: &mut RowRandomInt,
        city: &mut RowRandomInt,
        phone: &mut RowRandomInt,
    ) -> Self {
        let mut text = [0; 24];
        let length = streams::address(address, &mut text);
        let nation = nation.next_int(0, words::NATIONS.len() as i32 - 1) as usize;
        Self {
            address: text,
            length,
            nation,
            city_digit: b'0' + city.next_int(0, 9) as u8,
            phone: streams::phone(phone, nation),
        }
    }

    pub(crate) fn write<E: Encoder>(&self, fields: &mut Fields<E>) {
        let nation = &words::NATIONS[self.nation];
        let mut city = [self.city_digit; 10];
        city[..9].copy_from_slice(&nation.city);
        fields.text(&self.address[..self.length]);
        fields.text(&city);
        fields.text(nation.name.as_bytes());
        fields.text(nation.region.as_bytes());
        fields.text(&self.phone);
    }
}
