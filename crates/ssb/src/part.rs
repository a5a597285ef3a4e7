//! part (paper, section 2.3).

use tpchgen::random::RowRandomInt;

use crate::encode::{Encoder, Fields};
use crate::rows::Dimensional;
use crate::scale::Scale;
use crate::streams::{seed, stream};
use crate::table::Table;
use crate::words;

/// Colours that exist; shuffling them uses up as many random numbers for each part.
const COLORS: usize = 92;

pub(crate) struct Parts {
    key: u32,
    names: RowRandomInt,
    /// Manufacturer, then category: two numbers for each part.
    manufacturer: RowRandomInt,
    brand: RowRandomInt,
    kind: RowRandomInt,
    size: RowRandomInt,
    container: RowRandomInt,
    colors: &'static [&'static str],
    types: &'static [&'static str],
    containers: &'static [&'static str],
}

impl Dimensional for Parts {
    const TABLE: Table = Table::Part;

    fn new(_scale: &Scale, skipped: u64) -> Self {
        Self {
            key: skipped as u32,
            names: stream(seed::PART_NAME, COLORS as i32, skipped),
            manufacturer: stream(seed::MFGR, 2, skipped),
            brand: stream(seed::BRAND, 1, skipped),
            kind: stream(seed::TYPE, 1, skipped),
            size: stream(seed::SIZE, 1, skipped),
            container: stream(seed::CONTAINER, 1, skipped),
            colors: words::colors(),
            types: words::part_types(),
            containers: words::containers(),
        }
    }

    fn next<E: Encoder>(&mut self, fields: &mut Fields<E>) {
        self.key += 1;
        fields.integer(self.key);
        let [color, first, second] = self.three_colors();
        fields.text(format!("{first} {second}").as_bytes());
        let manufacturer = self.manufacturer.next_int(1, 5);
        let category = self.manufacturer.next_int(1, 5);
        let brand = self.brand.next_int(1, 40);
        let text = format!("MFGR#{manufacturer}{category}{brand}");
        fields.text(&text.as_bytes()[..6]);
        fields.text(&text.as_bytes()[..7]);
        fields.text(text.as_bytes());
        fields.text(color.as_bytes());
        fields.text(pick(self.types, &mut self.kind).as_bytes());
        fields.integer(self.size.next_int(1, 50) as u32);
        fields.text(pick(self.containers, &mut self.container).as_bytes());
    }
}

impl Parts {
    /// The first three colours after each was exchanged with a random one, in order.
    fn three_colors(&mut self) -> [&'static str; 3] {
        let mut order: [u8; COLORS] = std::array::from_fn(|place| place as u8);
        for place in 0..COLORS {
            let other = self.names.next_int(0, COLORS as i32 - 1) as usize;
            order.swap(place, other);
        }
        [0, 1, 2].map(|place: usize| self.colors[usize::from(order[place])])
    }
}

fn pick(words: &'static [&'static str], stream: &mut RowRandomInt) -> &'static str {
    words[stream.next_int(0, words.len() as i32 - 1) as usize]
}
