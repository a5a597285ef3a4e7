//! The reference data sets, by checksum.

use md5::{Digest, Md5};
use ssb::{Format, Kind, Rows, Scale, Table, Variant};

const TBL: Format = Format::Tbl { trailing: true };

/// MD5 of a table's text and the number of rows.
fn md5(scale: &Scale, table: Table, format: Format, chunks: u64) -> (String, u64) {
    let mut digest = Md5::new();
    let mut rows = 0;
    let mut buffer = vec![0; 64 * 1024];
    for chunk in 1..=chunks {
        let units = Rows::chunk(scale, table, chunk, chunks);
        let mut stream = Rows::new(scale, table, format, units);
        loop {
            let bytes = stream.fill(&mut buffer);
            if bytes == 0 {
                break;
            }
            digest.update(&buffer[..bytes]);
        }
        rows += stream.rows();
    }
    (format!("{:x}", digest.finalize()), rows)
}

fn check(factor: f64, variant: Variant, format: Format, golden: &[(Table, u64, &str)]) {
    let scale = Scale::new(factor, variant).unwrap();
    for &(table, rows, expected) in golden {
        for chunks in [1, 7] {
            let (found, written) = md5(&scale, table, format, chunks);
            assert_eq!((written, found.as_str()), (rows, expected), "{table:?} in {chunks} chunks");
        }
    }
}

#[test]
fn reference_at_a_hundredth() {
    check(
        0.01,
        Variant::Reference,
        TBL,
        &[
            (Table::Customer, 300, "f88f4d0610c3d7776b09f6a8193f6334"),
            (Table::Part, 2000, "6e10bc557f936b892b1602290b4e564c"),
            (Table::Supplier, 20, "6e9389adc0460a9557e5ca2fe1d84e52"),
            (Table::Lineorder, 60_175, "c32dc281f11876c1331630b1f97025c2"),
        ],
    );
}

#[test]
fn reference_at_a_tenth() {
    check(
        0.1,
        Variant::Reference,
        TBL,
        &[
            (Table::Customer, 3000, "3de4d690674e6622da18f8708a44408f"),
            (Table::Part, 20_000, "4004daca95389c402e2cdcd389771ee3"),
            (Table::Supplier, 200, "d2656a9b3914c407c89ffa671fa5c39d"),
            (Table::Lineorder, 600_572, "68dbedae8afd7d62c5f48a88eb5ba617"),
        ],
    );
}

#[test]
fn reference_at_one() {
    check(
        1.0,
        Variant::Reference,
        TBL,
        &[
            (Table::Customer, 30_000, "51de4bf3c1cef46a19b20df19a91516a"),
            (Table::Part, 200_000, "93df6e50e9919386ef1e7573eefe93d0"),
            (Table::Supplier, 2000, "68a6debb31bc6999336ef41414bbc0d6"),
            (Table::Date, 2556, "32f6cb2cc1dda6977842e6324102a2ff"),
            (Table::Lineorder, 6_001_215, "0807c8393b2cdde9fbf3264242a6f57f"),
        ],
    );
}

#[test]
fn reports_at_one() {
    check(
        1.0,
        Variant::Reports,
        Format::Tbl { trailing: false },
        &[
            (Table::Customer, 30_000, "6d8a2ef44c4874d6b5a3764e48bc6f1e"),
            (Table::Part, 200_000, "a56192e46411167d9fa3d253cc1f8e1e"),
            (Table::Supplier, 10_000, "07600ea656b2822703ae3021b3ef5840"),
            (Table::Date, 2556, "250bcae9f7c157def96b4ae4d4b8ba12"),
            (Table::Lineorder, 6_001_215, "20773694a56c1522b4a58a5cd03e4026"),
        ],
    );
}

/// The reference programs shrink the date table below scale factor 1; ours is always whole, and
/// theirs are its first rows.
#[test]
fn dates_of_fractions_are_the_first_of_the_whole() {
    let scale = Scale::new(0.1, Variant::Reference).unwrap();
    for (rows, expected) in
        [(25, "a03c83405baeeb803b330408d8d11407"), (255, "9be25a8d37fe58092653867cbd5029b9")]
    {
        let mut buffer = vec![0; 64 * 1024];
        let bytes = Rows::new(&scale, Table::Date, TBL, 0..rows).fill(&mut buffer);
        assert_eq!(format!("{:x}", Md5::digest(&buffer[..bytes])), expected);
    }
}

#[test]
fn the_paper_s_dates_are_those_of_the_calendar() {
    let scale = Scale::new(1.0, Variant::Paper).unwrap();
    let mut buffer = vec![0; 512 * 1024];
    let units = Rows::chunk(&scale, Table::Date, 1, 1);
    let bytes = Rows::new(&scale, Table::Date, TBL, units).fill(&mut buffer);
    let text = std::str::from_utf8(&buffer[..bytes]).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2557);
    assert!(
        lines[0].starts_with("19920101|January 1, 1992|Wednesday|January|1992|199201|Jan1992|4|")
    );
    let last = "19981231|December 31, 1998|Thursday|December|1998|199812|Dec1998|5|31|365|12|53|";
    assert_eq!(lines[2556], format!("{last}Christmas|0|1|0|1|"));
    assert!(text.contains("August") && text.contains("October") && !text.contains("Augest"));
}

/// Every format holds the same values, and the sums are theirs.
#[test]
fn sums_are_those_of_the_text() {
    for variant in Variant::ALL {
        let scale = Scale::new(0.01, variant).unwrap();
        for table in Table::ALL {
            let units = Rows::chunk(&scale, table, 1, 1);
            let mut buffer = vec![0; 16 * 1024 * 1024];
            let mut stream = Rows::new(&scale, table, TBL, units);
            let bytes = stream.fill(&mut buffer);
            assert_eq!(stream.left(), 0);
            let mut expected = vec![0; table.columns().len()];
            let mut rows = 0;
            for line in std::str::from_utf8(&buffer[..bytes]).unwrap().lines() {
                for (place, value) in line.trim_end_matches('|').split('|').enumerate() {
                    expected[place] += match table.columns()[place].kind {
                        Kind::Integer => value.parse::<u128>().unwrap(),
                        Kind::Text => value.len() as u128,
                    };
                }
                rows += 1;
            }
            assert_eq!(stream.sums(), expected, "{table:?}");
            assert_eq!(stream.rows(), rows);
        }
    }
}
