//! lineorder (paper, section 2.2): the lines of orders.
//!
//! This is where the time goes. Fields with few values are encoded once, those of an order once
//! for all of its lines, and the random numbers of its lines come seven at a time.

use tpchgen::random::RowRandomInt;

use crate::calendar::{DAYS, days};
use crate::encode::{Encoder, Piece, ROW_WINDOW, Row, Sums};
use crate::rows::{Source, window};
use crate::scale::{Scale, Variant, sparse_key};
use crate::streams::{LINES, Lanes, seed, stream};
use crate::table::Table;
use crate::words;

/// The days on which orders are placed: the last 151 are left to shipping and receipt.
const ORDER_DAYS: i32 = DAYS as i32 - 151;
/// A commit date is 30 to 90 days after the order.
const COMMIT_AFTER: u32 = 30;
const COMMIT_RANGE: u32 = 61;
const QUANTITIES: u32 = 50;
const DISCOUNTS: u32 = 11;
const TAXES: u32 = 9;
/// Of the customers every third has no orders.
const CUSTOMERS_WITHOUT: u32 = 3;
/// Characters that the programs of the reports' data leave of a priority.
const CUT_PRIORITY: usize = 11;

pub(crate) struct Lineorders<E> {
    encoder: E,
    pieces: Box<Pieces>,
    scratch: [u8; ROW_WINDOW],
    order: u64,
    customers: u32,
    every_customer: bool,
    of_order: OrderStreams,
    of_lines: LineStreams,
    parts: u32,
    suppliers: u32,
}

/// The streams that give one number for each order.
struct OrderStreams {
    date: RowRandomInt,
    customer: RowRandomInt,
    priority: RowRandomInt,
    count: RowRandomInt,
}

impl OrderStreams {
    fn new(skipped: u64) -> Self {
        Self {
            date: stream(seed::ORDER_DATE, 1, skipped),
            customer: stream(seed::ORDER_CUSTOMER, 1, skipped),
            priority: stream(seed::ORDER_PRIORITY, 1, skipped),
            count: stream(seed::ORDER_LINES, 1, skipped),
        }
    }
}

/// The streams of the lines.
#[derive(Clone, Copy)]
struct LineStreams {
    part: Lanes,
    supplier: Lanes,
    quantity: Lanes,
    discount: Lanes,
    tax: Lanes,
    commit: Lanes,
    ship_mode: Lanes,
}

/// Encoded fields by value.
struct Pieces {
    dates: Vec<Piece<16>>,
    day_keys: Vec<u32>,
    /// The priority, and the ship priority, which is always 0.
    priorities: [Piece<32>; 5],
    priority_lengths: [u64; 5],
    line_numbers: [Piece<8>; LINES],
    quantities: [Piece<8>; QUANTITIES as usize],
    discounts: [Piece<8>; DISCOUNTS as usize],
    taxes: [Piece<8>; TAXES as usize],
    /// The ship mode and the row's end.
    ship_modes: [Piece<16>; LINES],
    ship_mode_lengths: [u64; LINES],
}

/// What the lines of an order have in common.
struct Order {
    key: u64,
    customer: u32,
    day: usize,
    priority: usize,
    lines: usize,
}

impl<E: Encoder> Lineorders<E> {
    pub(crate) fn new(encoder: E, scale: &Scale, skipped: u64) -> Self {
        Self {
            encoder,
            pieces: Pieces::new(encoder, scale.variant),
            scratch: [0; ROW_WINDOW],
            order: skipped,
            customers: scale.customers,
            every_customer: scale.variant == Variant::Paper,
            of_order: OrderStreams::new(skipped),
            of_lines: LineStreams::new(skipped),
            parts: scale.largest_partkey,
            suppliers: scale.suppliers,
        }
    }

    /// What the next order's lines have in common.
    #[inline(always)]
    fn next_order(&mut self) -> Order {
        self.order += 1;
        Order {
            key: sparse_key(self.order),
            day: self.of_order.date.next_int(0, ORDER_DAYS - 1) as usize,
            customer: self.next_customer(),
            priority: self.of_order.priority.next_int(0, 4) as usize,
            lines: self.of_order.count.next_int(1, LINES as i32) as usize,
        }
    }

    #[inline(always)]
    fn next_customer(&mut self) -> u32 {
        let customer = self.of_order.customer.next_int(1, self.customers as i32) as u32;
        if self.every_customer || customer % CUSTOMERS_WITHOUT != 0 {
            customer
        } else if customer < self.customers {
            customer + 1
        } else {
            customer - 1
        }
    }

    /// The fields that begin each line of an order.
    #[inline(always)]
    fn order_pieces(&mut self, order: &Order, total: u32) -> OrderPieces {
        let (encoder, scratch) = (self.encoder, &mut self.scratch);
        OrderPieces {
            key: Piece::written(scratch, |row| {
                encoder.start(row, Table::Lineorder);
                encoder.orderkey(row, order.key);
            }),
            customer: Piece::written(scratch, |row| encoder.integer(row, order.customer)),
            total: Piece::written(scratch, |row| encoder.integer(row, total)),
        }
    }
}

/// Encoded fields of an order.
struct OrderPieces {
    key: Piece<32>,
    customer: Piece<16>,
    total: Piece<16>,
}

impl<E: Encoder> Source for Lineorders<E> {
    const WINDOW: usize = LINES * ROW_WINDOW;

    fn seek(&mut self, skipped: u64) {
        self.of_order = OrderStreams::new(skipped);
        self.of_lines = LineStreams::new(skipped);
        self.order = skipped;
    }

    #[inline(always)]
    fn next(&mut self, out: &mut [u8], mut at: usize, sums: &mut Sums) -> (usize, u64) {
        let order = self.next_order();
        let lines = self.of_lines.next(self.parts, self.suppliers, order.lines);
        let common = self.order_pieces(&order, lines.total);
        let pieces = &*self.pieces;
        for line in 0..order.lines {
            let mut row = Row::new(window(out, at));
            row.piece(&common.key);
            row.piece(&pieces.line_numbers[line]);
            row.piece(&common.customer);
            self.encoder.integer(&mut row, lines.part[line] + 1);
            self.encoder.integer(&mut row, lines.supplier[line] + 1);
            row.piece(&pieces.dates[order.day]);
            row.piece(&pieces.priorities[order.priority]);
            row.piece(&pieces.quantities[lines.quantity[line] as usize]);
            self.encoder.integer(&mut row, lines.extended_price[line]);
            row.piece(&common.total);
            row.piece(&pieces.discounts[lines.discount[line] as usize]);
            self.encoder.integer(&mut row, lines.revenue[line]);
            self.encoder.integer(&mut row, lines.supply_cost[line]);
            row.piece(&pieces.taxes[lines.tax[line] as usize]);
            let commit = order.day + (COMMIT_AFTER + lines.commit[line]) as usize;
            row.piece(&pieces.dates[commit]);
            row.piece(&pieces.ship_modes[lines.ship_mode[line] as usize]);
            at += row.length();

            sums[3] += u64::from(lines.part[line] + 1);
            sums[4] += u64::from(lines.supplier[line] + 1);
            sums[8] += u64::from(lines.quantity[line] + 1);
            sums[9] += u64::from(lines.extended_price[line]);
            sums[11] += u64::from(lines.discount[line]);
            sums[12] += u64::from(lines.revenue[line]);
            sums[13] += u64::from(lines.supply_cost[line]);
            sums[14] += u64::from(lines.tax[line]);
            sums[15] += u64::from(pieces.day_keys[commit]);
            sums[16] += pieces.ship_mode_lengths[lines.ship_mode[line] as usize];
        }
        let count = order.lines as u64;
        sums[0] += order.key * count;
        sums[1] += count * (count + 1) / 2;
        sums[2] += u64::from(order.customer) * count;
        sums[5] += u64::from(pieces.day_keys[order.day]) * count;
        sums[6] += pieces.priority_lengths[order.priority] * count;
        sums[7] += count;
        sums[10] += u64::from(lines.total) * count;
        (at, count)
    }
}

/// The random and the computed numbers of an order's lines; those past the last line are waste.
struct Lines {
    part: [u32; 8],
    supplier: [u32; 8],
    quantity: [u32; 8],
    discount: [u32; 8],
    tax: [u32; 8],
    commit: [u32; 8],
    ship_mode: [u32; 8],
    extended_price: [u32; 8],
    revenue: [u32; 8],
    supply_cost: [u32; 8],
    total: u32,
}

impl LineStreams {
    fn new(skipped: u64) -> Self {
        Self {
            part: Lanes::new(seed::LINE_PART, skipped),
            supplier: Lanes::new(seed::LINE_SUPPLIER, skipped),
            quantity: Lanes::new(seed::QUANTITY, skipped),
            discount: Lanes::new(seed::DISCOUNT, skipped),
            tax: Lanes::new(seed::TAX, skipped),
            commit: Lanes::new(seed::COMMIT_DATE, skipped),
            ship_mode: Lanes::new(seed::SHIP_MODE, skipped),
        }
    }

    #[inline(always)]
    fn next(&mut self, parts: u32, suppliers: u32, count: usize) -> Lines {
        let mut lines = Lines {
            part: self.part.next_below(parts),
            supplier: self.supplier.next_below(suppliers),
            quantity: self.quantity.next_below(QUANTITIES),
            discount: self.discount.next_below(DISCOUNTS),
            tax: self.tax.next_below(TAXES),
            commit: self.commit.next_below(COMMIT_RANGE),
            ship_mode: self.ship_mode.next_below(LINES as u32),
            extended_price: [0; 8],
            revenue: [0; 8],
            supply_cost: [0; 8],
            total: 0,
        };
        for line in 0..8 {
            let price = retail_price(lines.part[line] + 1);
            let extended = price * (lines.quantity[line] + 1);
            lines.extended_price[line] = extended;
            lines.revenue[line] = extended * (100 - lines.discount[line]) / 100;
            lines.supply_cost[line] = 6 * price / 10;
        }
        for line in 0..count {
            lines.total += lines.revenue[line] * (100 + lines.tax[line]) / 100;
        }
        lines
    }
}

/// A part's price in cents (TPC-H, section 4.2.3): at most 209,900.
#[inline(always)]
fn retail_price(part: u32) -> u32 {
    90_000 + (part / 10) % 20_001 + (part % 1000) * 100
}

impl Pieces {
    fn new<E: Encoder>(encoder: E, variant: Variant) -> Box<Self> {
        let mut pieces = Box::new(Self {
            dates: days().map(|day| Piece::of(|row| encoder.integer(row, day.key()))).collect(),
            day_keys: days().map(|day| day.key()).collect(),
            priorities: [Piece::EMPTY; 5],
            priority_lengths: [0; 5],
            line_numbers: numbers(encoder, 1),
            quantities: numbers(encoder, 1),
            discounts: numbers(encoder, 0),
            taxes: numbers(encoder, 0),
            ship_modes: [Piece::EMPTY; LINES],
            ship_mode_lengths: [0; LINES],
        });
        for (number, word) in words::priorities().iter().enumerate() {
            let length = match variant {
                Variant::Reports => word.len().min(CUT_PRIORITY),
                Variant::Reference | Variant::Paper => word.len(),
            };
            pieces.priorities[number] = Piece::of(|row| {
                encoder.text(row, &word.as_bytes()[..length]);
                encoder.text(row, b"0");
            });
            pieces.priority_lengths[number] = length as u64;
        }
        for (number, word) in words::ship_modes().iter().enumerate() {
            pieces.ship_modes[number] = Piece::of(|row| {
                encoder.text(row, word.as_bytes());
                encoder.end(row);
            });
            pieces.ship_mode_lengths[number] = word.len() as u64;
        }
        pieces
    }
}

/// The numbers from `first` on, encoded.
fn numbers<E: Encoder, const N: usize>(encoder: E, first: u32) -> [Piece<8>; N] {
    std::array::from_fn(|offset| Piece::of(|row| encoder.integer(row, first + offset as u32)))
}
