//! Text against binary at both ends of every table: keys grow with the scale factor, and the two
//! formats are written by different code.

use ssb::{Format, Kind, Rows, Scale, Table, Variant};

const FACTORS: [f64; 8] = [0.01, 1.0, 100.0, 1000.0, 3333.0, 3334.0, 4000.0, 10_000.0];
/// Units (rows; orders of lineorder) at each end.
const UNITS: u64 = 200;

fn bytes(scale: &Scale, table: Table, format: Format, units: std::ops::Range<u64>) -> Vec<u8> {
    let mut buffer = vec![0; 4 * 1024 * 1024];
    let mut stream = Rows::new(scale, table, format, units);
    let length = stream.fill(&mut buffer);
    assert_eq!(stream.left(), 0, "the units fit into the buffer");
    buffer.truncate(length);
    buffer
}

/// The fields of PostgreSQL's binary COPY as texts.
fn decoded(table: Table, mut bytes: &[u8]) -> Vec<Vec<String>> {
    fn take<'a>(bytes: &mut &'a [u8], length: usize) -> &'a [u8] {
        let (first, rest) = bytes.split_at(length);
        *bytes = rest;
        first
    }
    fn number(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte))
    }
    let mut rows = Vec::new();
    while !bytes.is_empty() {
        assert_eq!(number(take(&mut bytes, 2)), table.columns().len() as u64);
        let fields = table.columns().iter().map(|column| {
            let length = number(take(&mut bytes, 4)) as usize;
            let value = take(&mut bytes, length);
            match column.kind {
                Kind::Integer => number(value).to_string(),
                Kind::Text => String::from_utf8(value.to_vec()).unwrap(),
            }
        });
        rows.push(fields.collect());
    }
    rows
}

/// The fields of text with a delimiter; a quoted one may hold it.
fn split(text: &[u8], delimiter: char, trailing: bool) -> Vec<Vec<String>> {
    let text = std::str::from_utf8(text).expect("text is UTF-8");
    assert!(text.ends_with('\n'));
    let fields = |line: &str| {
        let line = if trailing { line.strip_suffix(delimiter).unwrap() } else { line };
        let mut fields = vec![String::new()];
        let mut quoted = false;
        for character in line.chars() {
            match character {
                '"' => quoted = !quoted,
                other if other == delimiter && !quoted => fields.push(String::new()),
                other => fields.last_mut().unwrap().push(other),
            }
        }
        fields
    };
    text.lines().map(fields).collect()
}

#[test]
fn every_column_is_the_same_in_text_and_binary_at_both_ends_of_every_table() {
    for variant in Variant::ALL {
        for factor in FACTORS {
            let scale = Scale::new(factor, variant).unwrap();
            for table in Table::ALL {
                compare_ends(&scale, table);
            }
        }
    }
}

fn compare_ends(scale: &Scale, table: Table) {
    let all = Rows::units(scale, table);
    let binary = Format::Binary { wide_orderkeys: scale.wide_orderkeys() };
    for units in [0..UNITS.min(all), all.saturating_sub(UNITS)..all] {
        let expected = decoded(table, &bytes(scale, table, binary, units.clone()));
        for trailing in [false, true] {
            let text = bytes(scale, table, Format::Tbl { trailing }, units.clone());
            same(scale, table, &split(&text, '|', trailing), &expected);
        }
        let csv = bytes(scale, table, Format::Csv, units);
        same(scale, table, &split(&csv, ',', false), &expected);
    }
}

fn same(scale: &Scale, table: Table, found: &[Vec<String>], expected: &[Vec<String>]) {
    assert_eq!(found.len(), expected.len(), "{scale:?} {table:?}");
    for (row, other) in found.iter().zip(expected) {
        assert_eq!(row, other, "{scale:?} {table:?}");
    }
}

/// The keys that a table ends with are known without the generator.
#[test]
fn the_last_keys_are_the_numbers_of_rows() {
    for (factor, customers, suppliers, orderkey) in [
        (3334.0, "100020000", "33340000", "20004000000"),
        (10_000.0, "300000000", "100000000", "60000000000"),
    ] {
        let scale = Scale::new(factor, Variant::Reports).unwrap();
        for (table, key) in [
            (Table::Customer, customers),
            (Table::Supplier, suppliers),
            (Table::Lineorder, orderkey),
        ] {
            let all = Rows::units(&scale, table);
            let text = bytes(&scale, table, Format::Tbl { trailing: false }, all - 1..all);
            let rows = split(&text, '|', false);
            assert_eq!(rows.last().unwrap()[0], key);
            if table != Table::Lineorder {
                let name = &rows[0][1];
                assert!(name.ends_with(&format!("#{key:0>9}")), "{name}");
            }
        }
    }
}
