//! Whatever stands in a script, reading and running its expressions ends in a value or an error,
//! and never in a panic. Scripts are drawn from pieces that mean something to the reader, cut and
//! joined anywhere, with characters of several bytes between them.

use pairs::expression::Expression;
use pairs::names::Names;
use pairs::random::Random;
use pairs::script::{Protocol, Scripts};
use pairs::value::{Value, Variable};

const PIECES: &[&str] = &[
    "\\",
    "\\set ",
    "\\if ",
    "\\elif ",
    "\\else",
    "\\endif",
    "\\sleep ",
    "\\gset",
    "\\aset ",
    "\\shell ",
    "\\startpipeline",
    "\\syncpipeline",
    "\\endpipeline",
    "\\\n",
    "\\\r\n",
    "\n",
    "\r",
    " ",
    "\t",
    "\x0b",
    "\x0c",
    "\0",
    ";",
    ":",
    "::",
    ":x",
    ":値",
    "値",
    "é",
    "\u{feff}",
    "\u{10ffff}",
    "x",
    "_",
    "'",
    "''",
    "\"",
    "e'",
    "E'\\",
    "$",
    "$$",
    "$a$",
    "$値$",
    "--",
    "/*",
    "*/",
    "(",
    ")",
    ",",
    "1",
    "-1",
    "1.5",
    ".5",
    "1e",
    "1e400",
    "9223372036854775808",
    "-9223372036854775808",
    "us",
    "ms",
    "s",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "#",
    "~",
    "<<",
    ">>",
    "<",
    "<=",
    "<>",
    "!=",
    "=",
    ">",
    " and ",
    " or ",
    " not ",
    " is ",
    " isnull ",
    " notnull ",
    "null",
    "true",
    "false",
    "case ",
    " when ",
    " then ",
    " end ",
    "random(",
    "random_zipfian(",
    "random_gaussian(",
    "random_exponential(",
    "permute(",
    "hash(",
    "int(",
    "double(",
    "sqrt(",
    "ln(",
    "exp(",
    "power(",
    "mod(",
    "abs(",
    "pi()",
    "greatest(",
    "least(",
    "debug",
    "select ",
    "end",
    "begin",
];
const SCRIPTS: u64 = 20_000;

fn drawn(random: &mut Random, longest: i64) -> String {
    (0..random.uniform(0, longest))
        .map(|_| PIECES[random.uniform(0, PIECES.len() as i64 - 1) as usize])
        .collect()
}

#[test]
fn no_script_makes_the_reader_panic() {
    for seed in 0..SCRIPTS {
        let text = drawn(&mut Random::new(seed), 40);
        for protocol in [Protocol::Simple, Protocol::Prepared] {
            let _ = Scripts::default().add("any.sql", &text, protocol);
        }
    }
}

#[test]
fn no_expression_panics_whatever_its_variables_hold() {
    let held = [
        Variable::Unset,
        Variable::Value(Value::Null),
        Variable::Value(Value::Boolean(true)),
        Variable::Value(Value::Integer(i64::MIN)),
        Variable::Value(Value::Integer(i64::MAX)),
        Variable::Value(Value::Double(f64::NAN)),
        Variable::Value(Value::Double(-1e308)),
        Variable::Text("値".to_owned()),
        Variable::Text("-1".to_owned()),
    ];
    let mut values = 0;
    for seed in 0..SCRIPTS {
        let mut random = Random::new(seed);
        let text = drawn(&mut random, 12);
        let mut names = Names::default();
        let Ok(expression) = Expression::parse(&text, &mut names) else { continue };
        for one in &held {
            let variables = vec![one.clone(); names.len()];
            values += u64::from(expression.value(&variables, &names, &mut random).is_ok());
        }
    }
    assert!(values > 100, "the pieces make too few expressions: {values}");
}
