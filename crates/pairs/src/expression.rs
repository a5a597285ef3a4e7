//! The expressions of `\set`, `\if` and `\elif`.
//!
//! Operators, precedence and functions: pgbench's manual, "Built-In Operators" and "Built-In
//! Functions". Arguments are evaluated in the order in which pgbench does, which decides which of
//! them gets which random number: `a > b` is `b < a`.

use crate::names::Names;
use crate::random::{self, Random};
use crate::value::{Value, Variable};

/// The most arguments of a function.
const MOST_ARGUMENTS: usize = 16;

/// A parsed expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression(Node);

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Constant(Value),
    Variable(usize),
    Call(Function, Vec<Node>),
    And(Box<[Node; 2]>),
    Or(Box<[Node; 2]>),
    /// Conditions and what they give, and what the rest gives.
    Case(Vec<(Node, Node)>, Box<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Equal,
    Unequal,
    LessOrEqual,
    Less,
    BitAnd,
    BitOr,
    BitXor,
    ShiftLeft,
    ShiftRight,
    Not,
    Is,
    Abs,
    Debug,
    Double,
    Exp,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Int,
    Least,
    Ln,
    Permute,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Sqrt,
}

/// The functions by name, with the least and most arguments.
const FUNCTIONS: &[(&str, Function, usize, usize)] = &[
    ("abs", Function::Abs, 1, 1),
    ("debug", Function::Debug, 1, 1),
    ("double", Function::Double, 1, 1),
    ("exp", Function::Exp, 1, 1),
    ("greatest", Function::Greatest, 1, MOST_ARGUMENTS),
    ("hash", Function::HashMurmur2, 1, 2),
    ("hash_fnv1a", Function::HashFnv1a, 1, 2),
    ("hash_murmur2", Function::HashMurmur2, 1, 2),
    ("int", Function::Int, 1, 1),
    ("least", Function::Least, 1, MOST_ARGUMENTS),
    ("ln", Function::Ln, 1, 1),
    ("mod", Function::Remainder, 2, 2),
    ("permute", Function::Permute, 2, 3),
    ("pi", Function::Pi, 0, 0),
    ("pow", Function::Power, 2, 2),
    ("power", Function::Power, 2, 2),
    ("random", Function::Random, 2, 2),
    ("random_exponential", Function::RandomExponential, 3, 3),
    ("random_gaussian", Function::RandomGaussian, 3, 3),
    ("random_zipfian", Function::RandomZipfian, 3, 3),
    ("sqrt", Function::Sqrt, 1, 1),
];

/// The seed of hash functions that are given none.
const DEFAULT_SEED: &str = "default_seed";

impl Expression {
    /// Parse the text of a whole expression.
    ///
    /// # Errors
    /// With the word that does not belong there.
    pub fn parse(text: &str, names: &mut Names) -> Result<Self, String> {
        let tokens = tokens(text)?;
        let mut parser = Parser { tokens: &tokens, place: 0, names };
        let node = parser.expression(Level::Or)?;
        match parser.next() {
            Some(token) => Err(unexpected(token)),
            None => Ok(Self(node)),
        }
    }

    /// Its value now.
    ///
    /// # Errors
    /// Where pgbench aborts the client, in its words.
    pub fn value(
        &self,
        variables: &[Variable],
        names: &Names,
        random: &mut Random,
    ) -> Result<Value, String> {
        Evaluation { variables, names, random }.value(&self.0)
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Integer(i64),
    /// 9223372036854775808, which only a minus makes a bigint.
    MinusLeast,
    Double(f64),
    Variable(String),
    Word(String),
    Operator(&'static str),
}

/// The longer first, so that `<=` is not `<`.
const OPERATORS: &[&str] = &[
    "<<", ">>", "<=", ">=", "<>", "!=", "+", "-", "*", "/", "%", "(", ")", ",", "|", "&", "#", "~",
    "=", "<", ">",
];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start_matches(is_space);
    while let Some(first) = rest.chars().next() {
        let length = if first == ':' {
            let length = 1 + length_of(&rest[1..], is_name);
            if length == 1 {
                return Err("unexpected character \":\"".to_owned());
            }
            tokens.push(Token::Variable(rest[1..length].to_owned()));
            length
        } else if first.is_ascii_digit() || starts_fraction(rest) {
            let (token, length) = number(rest)?;
            tokens.push(token);
            length
        } else if is_name(first) {
            let length = length_of(rest, is_name);
            tokens.push(Token::Word(rest[..length].to_ascii_lowercase()));
            length
        } else if let Some(operator) = OPERATORS.iter().find(|own| rest.starts_with(**own)) {
            tokens.push(Token::Operator(operator));
            operator.len()
        } else {
            return Err(format!("unexpected character \"{first}\""));
        };
        rest = rest[length..].trim_start_matches(is_space);
    }
    Ok(tokens)
}

fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\n' | '\x0b' | '\x0c')
}

/// Whether it is of a name: of a variable, a function or a keyword.
pub(crate) fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || !character.is_ascii()
}

fn length_of(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|character| !belongs(character)).unwrap_or(text.len())
}

fn starts_fraction(text: &str) -> bool {
    text.starts_with('.') && text[1..].starts_with(|digit: char| digit.is_ascii_digit())
}

fn number(text: &str) -> Result<(Token, usize), String> {
    let digit = |character: char| character.is_ascii_digit();
    let whole = length_of(text, digit);
    let mut length = whole;
    if text[length..].starts_with('.') {
        length += 1 + length_of(&text[length + 1..], digit);
    }
    if let Some(exponent) = text[length..].strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['+', '-']));
        let digits = length_of(&exponent[sign..], digit);
        if digits > 0 {
            length += 1 + sign + digits;
        }
    }
    let own = &text[..length];
    let token = if length > whole {
        let number = crate::value::double(own);
        number.map(Token::Double).ok_or_else(|| format!("double constant overflow ({own})"))?
    } else if own.trim_start_matches('0') == "9223372036854775808" {
        Token::MinusLeast
    } else {
        own.parse().map(Token::Integer).map_err(|_| format!("bigint out of range \"{own}\""))?
    };
    Ok((token, length))
}

fn unexpected(token: &Token) -> String {
    match token {
        Token::Integer(number) => format!("syntax error at \"{number}\""),
        Token::MinusLeast => "bigint out of range \"9223372036854775808\"".to_owned(),
        Token::Double(number) => format!("syntax error at \"{number}\""),
        Token::Variable(name) => format!("syntax error at \":{name}\""),
        Token::Word(word) => format!("syntax error at \"{word}\""),
        Token::Operator(operator) => format!("syntax error at \"{operator}\""),
    }
}

/// How strongly operators bind, the weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Or,
    And,
    Not,
    Is,
    Comparison,
    Bits,
    Sum,
    Product,
    Sign,
}

impl Level {
    fn tighter(self) -> Self {
        match self {
            Self::Or => Self::And,
            Self::And => Self::Not,
            Self::Not => Self::Is,
            Self::Is => Self::Comparison,
            Self::Comparison => Self::Bits,
            Self::Bits => Self::Sum,
            Self::Sum => Self::Product,
            Self::Product | Self::Sign => Self::Sign,
        }
    }

    /// Of the operator between two operands, or after one.
    fn of(token: &Token) -> Option<Self> {
        Some(match token {
            Token::Word(word) => match word.as_str() {
                "or" => Self::Or,
                "and" => Self::And,
                "is" | "isnull" | "notnull" => Self::Is,
                _ => return None,
            },
            Token::Operator(operator) => match *operator {
                "<" | ">" | "=" | "<=" | ">=" | "<>" | "!=" => Self::Comparison,
                "|" | "#" | "&" | "<<" | ">>" => Self::Bits,
                "+" | "-" => Self::Sum,
                "*" | "/" | "%" => Self::Product,
                _ => return None,
            },
            _ => return None,
        })
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    place: usize,
    names: &'a mut Names,
}

impl<'a> Parser<'a> {
    fn next(&mut self) -> Option<&'a Token> {
        let token = self.tokens.get(self.place);
        self.place += 1;
        token
    }

    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.place)
    }

    fn takes(&mut self, wanted: &Token) -> bool {
        let found = self.peek() == Some(wanted);
        self.place += usize::from(found);
        found
    }

    fn takes_word(&mut self, word: &str) -> bool {
        self.takes(&Token::Word(word.to_owned()))
    }

    fn expect(&mut self, wanted: &Token, called: &str) -> Result<(), String> {
        match self.next() {
            Some(token) if token == wanted => Ok(()),
            Some(token) => Err(format!("{}, \"{called}\" expected", unexpected(token))),
            None => Err(format!("\"{called}\" is missing at the end")),
        }
    }

    fn expression(&mut self, weakest: Level) -> Result<Node, String> {
        let mut left = self.operand()?;
        while let Some(token) = self.peek() {
            let Some(level) = Level::of(token).filter(|level| *level >= weakest) else { break };
            self.place += 1;
            left = self.joined(left, token, level)?;
            let alone = level == Level::Comparison;
            if let Some(next) = self.peek().filter(|next| alone && Level::of(next) == Some(level)) {
                return Err(unexpected(next));
            }
        }
        Ok(left)
    }

    fn joined(&mut self, left: Node, token: &Token, level: Level) -> Result<Node, String> {
        if level == Level::Is {
            return self.is(left, token);
        }
        let right = self.expression(level.tighter())?;
        let call = |function, left, right| Node::Call(function, vec![left, right]);
        let sign = match token {
            Token::Operator(sign) => *sign,
            Token::Word(word) if word == "and" => return Ok(Node::And(Box::new([left, right]))),
            _ => return Ok(Node::Or(Box::new([left, right]))),
        };
        Ok(match sign {
            "+" => call(Function::Add, left, right),
            "-" => call(Function::Subtract, left, right),
            "*" => call(Function::Multiply, left, right),
            "/" => call(Function::Divide, left, right),
            "%" => call(Function::Remainder, left, right),
            "|" => call(Function::BitOr, left, right),
            "#" => call(Function::BitXor, left, right),
            "&" => call(Function::BitAnd, left, right),
            "<<" => call(Function::ShiftLeft, left, right),
            ">>" => call(Function::ShiftRight, left, right),
            "=" => call(Function::Equal, left, right),
            "<" => call(Function::Less, left, right),
            "<=" => call(Function::LessOrEqual, left, right),
            ">" => call(Function::Less, right, left),
            ">=" => call(Function::LessOrEqual, right, left),
            _ => call(Function::Unequal, left, right),
        })
    }

    fn is(&mut self, left: Node, token: &Token) -> Result<Node, String> {
        let is = |value| Node::Call(Function::Is, vec![left, Node::Constant(value)]);
        let not = |node| Node::Call(Function::Not, vec![node]);
        let Token::Word(word) = token else { return Err(unexpected(token)) };
        match word.as_str() {
            "isnull" => return Ok(is(Value::Null)),
            "notnull" => return Ok(not(is(Value::Null))),
            _ => {}
        }
        let negated = self.takes_word("not");
        let value = match self.next() {
            Some(Token::Word(word)) if word == "null" => Value::Null,
            Some(Token::Word(word)) if word == "true" => Value::Boolean(true),
            Some(Token::Word(word)) if word == "false" => Value::Boolean(false),
            Some(token) => return Err(unexpected(token)),
            None => return Err("\"is\" of nothing".to_owned()),
        };
        Ok(if negated { not(is(value)) } else { is(value) })
    }

    fn operand(&mut self) -> Result<Node, String> {
        let token = self.next().ok_or("an expression is missing at the end")?;
        Ok(match token {
            Token::Integer(number) => Node::Constant(Value::Integer(*number)),
            Token::Double(number) => Node::Constant(Value::Double(*number)),
            Token::Variable(name) => Node::Variable(self.names.slot(name)),
            Token::Operator("(") => {
                let inner = self.expression(Level::Or)?;
                self.expect(&Token::Operator(")"), ")")?;
                inner
            }
            Token::Operator("+") => self.expression(Level::Sign)?,
            Token::Operator("-") if self.takes(&Token::MinusLeast) => {
                Node::Constant(Value::Integer(i64::MIN))
            }
            Token::Operator("-") => {
                let operand = self.expression(Level::Sign)?;
                Node::Call(Function::Subtract, vec![Node::Constant(Value::Integer(0)), operand])
            }
            Token::Operator("~") => {
                let operand = self.expression(Level::Sum)?;
                Node::Call(Function::BitXor, vec![Node::Constant(Value::Integer(-1)), operand])
            }
            Token::Word(word) => self.word(word)?,
            Token::MinusLeast | Token::Operator(_) => return Err(unexpected(token)),
        })
    }

    fn word(&mut self, word: &str) -> Result<Node, String> {
        match word {
            "null" => Ok(Node::Constant(Value::Null)),
            "true" => Ok(Node::Constant(Value::Boolean(true))),
            "false" => Ok(Node::Constant(Value::Boolean(false))),
            "not" => Ok(Node::Call(Function::Not, vec![self.expression(Level::Not)?])),
            "case" => self.case(),
            _ => self.call(word),
        }
    }

    fn case(&mut self) -> Result<Node, String> {
        let mut branches = Vec::new();
        while self.takes_word("when") {
            let condition = self.expression(Level::Or)?;
            self.expect(&Token::Word("then".to_owned()), "then")?;
            branches.push((condition, self.expression(Level::Or)?));
        }
        if branches.is_empty() {
            return Err("\"case\" without \"when\"".to_owned());
        }
        let rest = if self.takes_word("else") {
            self.expression(Level::Or)?
        } else {
            Node::Constant(Value::Null)
        };
        self.expect(&Token::Word("end".to_owned()), "end")?;
        Ok(Node::Case(branches, Box::new(rest)))
    }

    fn call(&mut self, name: &str) -> Result<Node, String> {
        let (_, function, least, most) = FUNCTIONS
            .iter()
            .find(|known| known.0 == name)
            .ok_or_else(|| format!("unexpected function name \"{name}\""))?;
        self.expect(&Token::Operator("("), "(")?;
        let mut arguments = Vec::new();
        if !self.takes(&Token::Operator(")")) {
            arguments.push(self.expression(Level::Or)?);
            while self.takes(&Token::Operator(",")) {
                arguments.push(self.expression(Level::Or)?);
            }
            self.expect(&Token::Operator(")"), ")")?;
        }
        if !(*least..=*most).contains(&arguments.len()) {
            return Err(format!("unexpected number of arguments of \"{name}\""));
        }
        let seeded = [Function::HashFnv1a, Function::HashMurmur2, Function::Permute];
        if seeded.contains(function) && arguments.len() < *most {
            arguments.push(Node::Variable(self.names.slot(DEFAULT_SEED)));
        }
        Ok(Node::Call(*function, arguments))
    }
}

struct Evaluation<'a> {
    variables: &'a [Variable],
    names: &'a Names,
    random: &'a mut Random,
}

impl Evaluation<'_> {
    fn value(&mut self, node: &Node) -> Result<Value, String> {
        match node {
            Node::Constant(value) => Ok(*value),
            Node::Variable(slot) => self.variables[*slot].value(self.names.name(*slot)),
            Node::And(both) => self.lazily(both, false),
            Node::Or(both) => self.lazily(both, true),
            Node::Case(branches, rest) => {
                for (condition, given) in branches {
                    if self.value(condition)?.truth() {
                        return self.value(given);
                    }
                }
                self.value(rest)
            }
            Node::Call(function, nodes) => {
                let mut arguments = [Value::Null; MOST_ARGUMENTS];
                for (argument, node) in arguments.iter_mut().zip(nodes) {
                    *argument = self.value(node)?;
                }
                self.call(*function, &arguments[..nodes.len()])
            }
        }
    }

    /// AND and OR: the second is not evaluated where the first is NULL or decides.
    fn lazily(&mut self, both: &[Node; 2], deciding: bool) -> Result<Value, String> {
        for node in both {
            match self.value(node)? {
                Value::Null => return Ok(Value::Null),
                value if value.boolean()? == deciding => return Ok(Value::Boolean(deciding)),
                _ => {}
            }
        }
        Ok(Value::Boolean(!deciding))
    }

    fn call(&mut self, function: Function, arguments: &[Value]) -> Result<Value, String> {
        match function {
            Function::Is => return Ok(Value::Boolean(arguments[0] == arguments[1])),
            Function::Debug => {
                eprintln!("debug: {:?}", arguments[0]);
                return Ok(arguments[0]);
            }
            _ if arguments.contains(&Value::Null) => return Ok(Value::Null),
            _ => {}
        }
        match function {
            Function::Random
            | Function::RandomExponential
            | Function::RandomGaussian
            | Function::RandomZipfian => self.drawn(function, arguments),
            Function::Greatest | Function::Least => extreme(function, arguments),
            _ => match arguments {
                [] => Ok(Value::Double(std::f64::consts::PI)),
                [only] => of_one(function, *only),
                [value, size, seed] => {
                    let (value, size, seed) = (value.integer()?, size.integer()?, seed.integer()?);
                    if size <= 0 {
                        return Err("permute size parameter must be greater than zero".to_owned());
                    }
                    Ok(Value::Integer(random::permute(value, size, seed)))
                }
                [left, right, ..] => of_two(function, *left, *right),
            },
        }
    }

    fn drawn(&mut self, function: Function, arguments: &[Value]) -> Result<Value, String> {
        let (first, last) = (arguments[0].integer()?, arguments[1].integer()?);
        if first > last {
            return Err("empty range given to random".to_owned());
        }
        if last.checked_sub(first).and_then(|span| span.checked_add(1)).is_none() {
            return Err("random range is too large".to_owned());
        }
        let Some(parameter) = arguments.get(2) else {
            return Ok(Value::Integer(self.random.uniform(first, last)));
        };
        let parameter = parameter.double()?;
        Ok(Value::Integer(match function {
            Function::RandomGaussian if parameter >= 2.0 => {
                self.random.gaussian(first, last, parameter)
            }
            Function::RandomZipfian if (1.001..=1000.0).contains(&parameter) => {
                self.random.zipfian(first, last, parameter)
            }
            Function::RandomExponential if parameter > 0.0 => {
                self.random.exponential(first, last, parameter)
            }
            Function::RandomGaussian => {
                return Err(format!("gaussian parameter must be at least 2 (not {parameter})"));
            }
            Function::RandomZipfian => {
                return Err(format!(
                    "zipfian parameter must be in range [1.001, 1000] (not {parameter})"
                ));
            }
            _ => {
                return Err(format!(
                    "exponential parameter must be greater than zero (not {parameter})"
                ));
            }
        }))
    }
}

fn extreme(function: Function, arguments: &[Value]) -> Result<Value, String> {
    let greatest = function == Function::Greatest;
    if arguments.iter().any(|value| matches!(value, Value::Double(_))) {
        let mut best = arguments[0].double()?;
        for value in &arguments[1..] {
            let next = value.double()?;
            // Of two that cannot be compared it is the second.
            let first = if greatest { best > next } else { best < next };
            best = if first { best } else { next };
        }
        return Ok(Value::Double(best));
    }
    let mut best = arguments[0].integer()?;
    for value in &arguments[1..] {
        let next = value.integer()?;
        best = if greatest { best.max(next) } else { best.min(next) };
    }
    Ok(Value::Integer(best))
}

fn of_one(function: Function, value: Value) -> Result<Value, String> {
    Ok(match (function, value) {
        (Function::Not, _) => Value::Boolean(!value.boolean()?),
        (Function::Abs, Value::Double(number)) => Value::Double(number.abs()),
        (Function::Abs, _) => Value::Integer(value.integer()?.wrapping_abs()),
        (Function::Int, _) => Value::Integer(value.integer()?),
        (Function::Sqrt, _) => Value::Double(value.double()?.sqrt()),
        (Function::Ln, _) => Value::Double(value.double()?.ln()),
        (Function::Exp, _) => Value::Double(value.double()?.exp()),
        _ => Value::Double(value.double()?),
    })
}

fn of_two(function: Function, left: Value, right: Value) -> Result<Value, String> {
    match function {
        Function::Power => return Ok(Value::Double(left.double()?.powf(right.double()?))),
        Function::HashFnv1a => {
            return Ok(Value::Integer(random::hash_fnv1a(left.integer()?, right.integer()?)));
        }
        Function::HashMurmur2 => {
            return Ok(Value::Integer(random::hash_murmur2(left.integer()?, right.integer()?)));
        }
        _ => {}
    }
    let fractional = matches!(left, Value::Double(_)) || matches!(right, Value::Double(_));
    let found = if fractional { of_doubles(function, left, right)? } else { None };
    match found {
        Some(value) => Ok(value),
        None => of_integers(function, left.integer()?, right.integer()?),
    }
}

/// Of the operators that are of doubles where one operand is.
#[allow(clippy::float_cmp)] // that is what = does
fn of_doubles(function: Function, left: Value, right: Value) -> Result<Option<Value>, String> {
    if !matches!(
        function,
        Function::Add
            | Function::Subtract
            | Function::Multiply
            | Function::Divide
            | Function::Equal
            | Function::Unequal
            | Function::LessOrEqual
            | Function::Less
    ) {
        return Ok(None);
    }
    let (left, right) = (left.double()?, right.double()?);
    Ok(Some(match function {
        Function::Add => Value::Double(left + right),
        Function::Subtract => Value::Double(left - right),
        Function::Multiply => Value::Double(left * right),
        Function::Divide => Value::Double(left / right),
        Function::Equal => Value::Boolean(left == right),
        Function::Unequal => Value::Boolean(left != right),
        Function::LessOrEqual => Value::Boolean(left <= right),
        _ => Value::Boolean(left < right),
    }))
}

fn of_integers(function: Function, left: i64, right: i64) -> Result<Value, String> {
    let within = |result: Option<i64>, called: &str| {
        result.map(Value::Integer).ok_or_else(|| format!("bigint {called} out of range"))
    };
    match function {
        Function::Add => within(left.checked_add(right), "add"),
        Function::Subtract => within(left.checked_sub(right), "sub"),
        Function::Multiply => within(left.checked_mul(right), "mul"),
        Function::Divide | Function::Remainder if right == 0 => Err("division by zero".to_owned()),
        Function::Divide => within(left.checked_div(right), "div"),
        Function::Remainder => Ok(Value::Integer(left.wrapping_rem(right))),
        Function::Equal => Ok(Value::Boolean(left == right)),
        Function::Unequal => Ok(Value::Boolean(left != right)),
        Function::LessOrEqual => Ok(Value::Boolean(left <= right)),
        Function::Less => Ok(Value::Boolean(left < right)),
        Function::BitAnd => Ok(Value::Integer(left & right)),
        Function::BitOr => Ok(Value::Integer(left | right)),
        Function::BitXor => Ok(Value::Integer(left ^ right)),
        Function::ShiftLeft => Ok(Value::Integer(left.wrapping_shl(right as u32))),
        _ => Ok(Value::Integer(left.wrapping_shr(right as u32))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<Value, String> {
        let mut names = Names::default();
        let expression = Expression::parse(text, &mut names)?;
        let variables = vec![Variable::Value(Value::Integer(3)); names.len()];
        expression.value(&variables, &names, &mut Random::new(1))
    }

    #[test]
    fn operators_bind_as_in_sql() {
        let cases = [
            ("1 + 2 * 3", Value::Integer(7)),
            ("(1 + 2) * 3", Value::Integer(9)),
            ("10 - 4 - 3", Value::Integer(3)),
            ("-7 / 2", Value::Integer(-3)),
            ("-7 % 2", Value::Integer(-1)),
            ("1 | 2 + 4", Value::Integer(7)),
            ("~ 1 + 1", Value::Integer(-3)),
            ("1 << 3 | 1", Value::Integer(9)),
            ("not 1 = 2", Value::Boolean(true)),
            ("true or false and false", Value::Boolean(true)),
            ("null is null", Value::Boolean(true)),
            ("1 is not null", Value::Boolean(true)),
            ("1 isnull", Value::Boolean(false)),
            ("1 > 2 is false is null", Value::Boolean(false)),
            ("not null isnull notnull", Value::Boolean(false)),
            ("null + 1", Value::Null),
            ("null or true", Value::Null),
            ("1 > 2", Value::Boolean(false)),
            ("1.5 + 1", Value::Double(2.5)),
            (".5e1", Value::Double(5.0)),
            ("-9223372036854775808", Value::Integer(i64::MIN)),
            ("int(2.5)", Value::Integer(2)),
            ("CASE WHEN 0 THEN 1 WHEN 2 THEN 3 ELSE 4 END", Value::Integer(3)),
            ("greatest(1, 2.5, :x)", Value::Double(3.0)),
            ("least(5, :x, 4)", Value::Integer(3)),
            ("mod(17, 5)", Value::Integer(2)),
            ("power(2, 10)", Value::Double(1024.0)),
            ("abs(-5)", Value::Integer(5)),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, word) in [
            ("1 +", "missing"),
            ("1 2", "\"2\""),
            ("f(1)", "\"f\""),
            ("random(1)", "\"random\""),
            ("1 ? 2", "\"?\""),
            ("1 = 2 = 3", "\"=\""),
            ("9223372036854775808", "9223372036854775808"),
            ("1 / 0", "division by zero"),
            ("random(2, 1)", "empty range"),
            ("1e400", "double constant overflow"),
            ("1e-400", "double constant overflow"),
            ("random_zipfian(1, 2, 1.0)", "zipfian"),
            ("not 1", "coerce int to boolean"),
        ] {
            let error = value(text).expect_err(text);
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn the_right_side_of_greater_is_drawn_first() {
        let (mut left, mut right) = (Random::new(1), Random::new(1));
        let drawn_second = (left.uniform(1, 100), left.uniform(1, 100)).1;
        let mut names = Names::default();
        let text = format!("{} > random(1, 100) or random(1, 100) = {drawn_second}", 0);
        let truth = Expression::parse(&text, &mut names).unwrap().value(&[], &names, &mut right);
        assert_eq!(truth, Ok(Value::Boolean(true)));
    }
}
