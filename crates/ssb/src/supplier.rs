//! supplier (paper, section 2.4).

use tpchgen::random::RowRandomInt;

use crate::customer::{Located, name};
use crate::encode::{Encoder, Fields};
use crate::rows::Dimensional;
use crate::scale::Scale;
use crate::streams::{PER_ADDRESS, seed, stream};
use crate::table::Table;

pub(crate) struct Suppliers {
    key: u32,
    address: RowRandomInt,
    nation: RowRandomInt,
    city: RowRandomInt,
    phone: RowRandomInt,
}

impl Dimensional for Suppliers {
    const TABLE: Table = Table::Supplier;

    fn new(_scale: &Scale, skipped: u64) -> Self {
        Self {
            key: skipped as u32,
            address: stream(seed::SUPPLIER_ADDRESS, PER_ADDRESS, skipped),
            nation: stream(seed::SUPPLIER_NATION, 1, skipped),
            city: stream(seed::MFGR, 1, skipped),
            phone: stream(seed::CUSTOMER_PHONE, 3, skipped),
        }
    }

    fn next<E: Encoder>(&mut self, fields: &mut Fields<E>) {
        self.key += 1;
        fields.integer(self.key);
        fields.text(&name(*b"Supplier#000000000", self.key));
        Located::next(&mut self.address, &mut self.nation, &mut self.city, &mut self.phone)
            .write(fields);
    }
}
