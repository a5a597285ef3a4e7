//! pgbench's scripts: parsed once, with every variable a slot and every branch a jump.
//!
//! What is not known here is refused with its line and word, never passed over: a script that ran
//! without one of its commands would be another load.

use std::fmt::{self, Write as _};
use std::time::Duration;

use crate::expression::Expression;
use crate::names::{self, Names};
use crate::options::Rows;
use crate::statements::{End, Reader};
use crate::value::{Variable, leading_integer};

/// The most parameters of a statement, as in pgbench.
const MOST_PARAMETERS: usize = 255;

/// pgbench's built-in scripts, as `pgbench --show-script` of version 18 prints them.
const BUILT_IN: &[(&str, &str)] = &[
    ("tpcb-like", include_str!("../scripts/tpcb-like.sql")),
    ("simple-update", include_str!("../scripts/simple-update.sql")),
    ("select-only", include_str!("../scripts/select-only.sql")),
];

/// The text of a built-in script.
#[must_use]
pub fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

/// Why a script cannot be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The script's name.
    pub script: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, with the word.
    pub message: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.script, self.line, self.message)
    }
}

impl std::error::Error for Refused {}

/// A script, ready to run.
#[derive(Debug)]
pub struct Script {
    /// What it is called in messages.
    pub name: String,
    /// What it does.
    pub commands: Vec<Command>,
}

/// A command, with its line.
#[derive(Debug)]
pub struct Command {
    /// The line on which it begins.
    pub line: usize,
    /// What it does.
    pub action: Action,
}

/// What a command does.
#[derive(Debug)]
pub enum Action {
    /// Run a statement.
    Sql(Statement),
    /// Set variables to a row that is drawn.
    Draw(Vec<usize>, Vec<Vec<Variable>>),
    /// Set a variable.
    Set(usize, Expression),
    /// Go on elsewhere unless this is true.
    Unless(Expression, usize),
    /// Go on elsewhere.
    Jump(usize),
    /// Wait.
    Sleep(Sleep),
    /// Send what follows without waiting for answers.
    StartPipeline,
    /// A point of synchronisation, without waiting.
    SyncPipeline,
    /// Wait for all answers.
    EndPipeline,
}

/// How long to wait.
#[derive(Debug)]
pub enum Sleep {
    /// So long.
    Fixed(Duration),
    /// As many of these units as a variable says.
    Variable(usize, Duration),
}

/// A statement.
#[derive(Debug)]
pub struct Statement {
    /// Its text, cut at the variables.
    pieces: Vec<Piece>,
    /// Its text with `$1`, `$2` … for the variables.
    pub parameterised: String,
    /// The variables, in order.
    pub parameters: Vec<usize>,
    /// What it is called where it is prepared, as pgbench calls it.
    pub prepared_name: String,
    /// Its place among the statements of all scripts.
    pub number: usize,
    /// Where results go.
    pub store: Option<Store>,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    Variable(usize),
}

/// `\gset` and `\aset`.
#[derive(Debug)]
pub struct Store {
    /// Of all results (`\aset`), not of the last only.
    pub all: bool,
    /// Put before the names of the columns.
    pub prefix: String,
}

impl Statement {
    fn new(text: &str, number: usize, names: &mut Names) -> Self {
        let mut statement = Self {
            pieces: Vec::new(),
            parameterised: String::new(),
            parameters: Vec::new(),
            prepared_name: format!("P_{number}"),
            number,
            store: None,
        };
        let mut plain = String::new();
        let mut rest = text;
        while let Some(colon) = rest.find(':') {
            let after = &rest[colon + 1..];
            let length = if after.starts_with(names::is_first) {
                after.find(|next| !crate::expression::is_name(next)).unwrap_or(after.len())
            } else {
                0
            };
            if length == 0 {
                // Neither the colons of a cast nor what follows them is a variable.
                let colons = rest[colon..].len() - rest[colon..].trim_start_matches(':').len();
                plain.push_str(&rest[..colon + colons]);
                rest = &rest[colon + colons..];
                continue;
            }
            plain.push_str(&rest[..colon]);
            statement.parameterised.push_str(&plain);
            statement.pieces.push(Piece::Text(std::mem::take(&mut plain)));
            let slot = names.slot(&after[..length]);
            statement.pieces.push(Piece::Variable(slot));
            statement.parameters.push(slot);
            let _ = write!(statement.parameterised, "${}", statement.parameters.len());
            rest = &after[length..];
        }
        plain.push_str(rest);
        statement.parameterised.push_str(&plain);
        statement.pieces.push(Piece::Text(plain));
        statement
    }

    /// Append its text, with values for the variables that are set.
    pub fn write(&self, variables: &[Variable], names: &Names, text: &mut String) {
        for piece in &self.pieces {
            match piece {
                Piece::Text(own) => text.push_str(own),
                Piece::Variable(slot) => {
                    if !variables[*slot].write(text) {
                        text.push(':');
                        text.push_str(names.name(*slot));
                    }
                }
            }
        }
    }
}

/// How statements are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// The text with values.
    Simple,
    /// Parsed, bound and executed each time.
    Extended,
    /// Parsed once in each connection.
    Prepared,
}

/// The scripts of a run, with their common names.
#[derive(Debug, Default)]
pub struct Scripts {
    /// In order.
    pub scripts: Vec<Script>,
    /// The variables that they mention.
    pub names: Names,
    /// How many statements there are.
    pub statements: usize,
}

impl Scripts {
    /// Parse one more script.
    ///
    /// # Errors
    /// Where pgbench would refuse it, or this does not know a command.
    pub fn add(&mut self, name: &str, text: &str, protocol: Protocol) -> Result<(), Refused> {
        let mut parsing = Parsing {
            reader: Reader::new(text),
            line: 1,
            commands: Vec::new(),
            branches: Vec::new(),
            protocol,
            all: self,
        };
        let parsed = parsing.script();
        let (line, commands) = (parsing.line, parsing.commands);
        let refused = |message| Refused { script: name.to_owned(), line, message };
        parsed.map_err(refused)?;
        if !commands.iter().any(|command| matches!(command.action, Action::Sql(_))) {
            return Err(refused("no statement in the script".to_owned()));
        }
        self.scripts.push(Script { name: name.to_owned(), commands });
        Ok(())
    }

    /// Have the last script begin with a draw from these rows: its random number is the one that
    /// `\set row random(1, N)` would draw there.
    pub fn draw_from(&mut self, rows: &Rows) {
        let slots = rows.names.iter().map(|name| self.names.slot(name)).collect();
        let value = |text: &Option<String>| text.clone().map_or(Variable::Unset, Variable::Text);
        let values = rows.rows.iter().map(|row| row.iter().map(value).collect()).collect();
        if let Some(script) = self.scripts.last_mut() {
            for command in &mut script.commands {
                if let Action::Unless(_, target) | Action::Jump(target) = &mut command.action {
                    *target += 1;
                }
            }
            script.commands.insert(0, Command { line: 1, action: Action::Draw(slots, values) });
        }
    }
}

/// So many units; none where it is negative.
#[must_use]
pub fn pause(count: i64, unit: Duration) -> Duration {
    unit * u32::try_from(count.max(0)).unwrap_or(u32::MAX)
}

struct Branch {
    /// The condition whose jump has no target yet.
    open: Option<usize>,
    /// The jumps to the end.
    ends: Vec<usize>,
    line: usize,
}

struct Parsing<'a> {
    reader: Reader<'a>,
    line: usize,
    commands: Vec<Command>,
    branches: Vec<Branch>,
    protocol: Protocol,
    all: &'a mut Scripts,
}

impl Parsing<'_> {
    fn script(&mut self) -> Result<(), String> {
        loop {
            let (text, end) = self.reader.statement();
            self.line = self.reader.line();
            if !text.is_empty() {
                let newlines = text.matches('\n').count();
                let statement = Statement::new(&text, self.all.statements, &mut self.all.names);
                if self.protocol != Protocol::Simple && statement.parameters.len() > MOST_PARAMETERS
                {
                    return Err(format!(
                        "statement has too many arguments (maximum is {MOST_PARAMETERS})"
                    ));
                }
                self.all.statements += 1;
                let line = self.line - newlines.min(self.line - 1);
                self.commands.push(Command { line, action: Action::Sql(statement) });
            }
            match end {
                End::Semicolon => {}
                End::Backslash => self.command()?,
                End::Script => break,
            }
        }
        match self.branches.last() {
            Some(branch) => {
                self.line = branch.line;
                Err("\\if without matching \\endif".to_owned())
            }
            None => Ok(()),
        }
    }

    fn push(&mut self, action: Action) {
        self.commands.push(Command { line: self.line, action });
    }

    fn command(&mut self) -> Result<(), String> {
        let Some(word) = self.reader.word() else { return Ok(()) };
        let name = word.to_ascii_lowercase();
        match name.as_str() {
            "set" => {
                let variable = self.reader.word().ok_or("\\set: missing argument")?;
                if !names::is_valid(variable) {
                    return Err(format!("\\set: invalid variable name \"{variable}\""));
                }
                let slot = self.all.names.slot(variable);
                let expression = self.expression(&name)?;
                self.push(Action::Set(slot, expression));
            }
            "if" | "elif" => {
                let expression = self.expression(&name)?;
                if name == "if" {
                    let line = self.line;
                    self.branches.push(Branch { open: None, ends: Vec::new(), line });
                } else {
                    self.next_branch("\\elif")?;
                }
                self.push(Action::Unless(expression, usize::MAX));
                let condition = self.commands.len() - 1;
                if let Some(branch) = self.branches.last_mut() {
                    branch.open = Some(condition);
                }
            }
            _ => {
                let arguments = self.reader.words();
                self.plain(&name, &arguments)?;
            }
        }
        Ok(())
    }

    fn expression(&mut self, command: &str) -> Result<Expression, String> {
        let text = self.reader.line_rest();
        Expression::parse(&text, &mut self.all.names)
            .map_err(|message| format!("\\{command}: {message}"))
    }

    /// End the branch before `\elif` or `\else`.
    fn next_branch(&mut self, called: &str) -> Result<(), String> {
        self.push(Action::Jump(usize::MAX));
        let jump = self.commands.len() - 1;
        let branch =
            self.branches.last_mut().ok_or_else(|| format!("{called} without matching \\if"))?;
        let open = branch.open.take().ok_or_else(|| format!("{called} after \\else"))?;
        branch.ends.push(jump);
        self.land(open);
        Ok(())
    }

    /// The jump at this place comes to what follows.
    fn land(&mut self, jump: usize) {
        let here = self.commands.len();
        if let Action::Unless(_, target) | Action::Jump(target) = &mut self.commands[jump].action {
            *target = here;
        }
    }

    fn plain(&mut self, name: &str, arguments: &[&str]) -> Result<(), String> {
        let most = match name {
            "sleep" => 2,
            "gset" | "aset" => 1,
            "else" | "endif" | "startpipeline" | "syncpipeline" | "endpipeline" => 0,
            "shell" | "setshell" => {
                return Err(format!("\\{name} is refused: its time would be the client's own"));
            }
            _ => return Err(format!("invalid command \"\\{name}\"")),
        };
        if let Some(extra) = arguments.get(most) {
            return Err(format!("\\{name}: unexpected argument \"{extra}\""));
        }
        match name {
            "sleep" => {
                let sleep = self.sleep(arguments)?;
                self.push(Action::Sleep(sleep));
            }
            "gset" | "aset" => self.store(name, arguments)?,
            "else" => self.next_branch("\\else")?,
            "endif" => {
                let branch = self.branches.pop().ok_or("\\endif without matching \\if")?;
                for jump in branch.ends.into_iter().chain(branch.open) {
                    self.land(jump);
                }
            }
            _ if self.protocol == Protocol::Simple => {
                return Err(format!("\\{name}: no pipeline with the simple protocol"));
            }
            "startpipeline" => self.push(Action::StartPipeline),
            "syncpipeline" => self.push(Action::SyncPipeline),
            _ => self.push(Action::EndPipeline),
        }
        Ok(())
    }

    fn store(&mut self, name: &str, arguments: &[&str]) -> Result<(), String> {
        let prefix = arguments.first().copied().unwrap_or_default().to_owned();
        match self.commands.last_mut() {
            Some(Command { action: Action::Sql(statement), .. }) if statement.store.is_none() => {
                statement.store = Some(Store { all: name == "aset", prefix });
                Ok(())
            }
            _ => Err(format!("\\{name} must follow an SQL command")),
        }
    }

    fn sleep(&mut self, arguments: &[&str]) -> Result<Sleep, String> {
        let amount = *arguments.first().ok_or("\\sleep: missing argument")?;
        let digit = |next: char| next.is_ascii_digit();
        let (number, glued) = if amount.starts_with(':') {
            (amount, "")
        } else {
            let sign = usize::from(amount.starts_with(['+', '-']));
            let end = amount[sign..].find(|next| !digit(next)).map(|end| sign + end);
            amount.split_at(end.unwrap_or(amount.len()))
        };
        let unit = match (glued, arguments.get(1)) {
            ("", unit) => unit.copied().unwrap_or("s"),
            (unit, None) if number.contains(digit) => unit,
            _ => return Err(format!("\\sleep: invalid sleep time \"{amount}\"")),
        };
        let unit = match unit.to_ascii_lowercase().as_str() {
            "us" => Duration::from_micros(1),
            "ms" => Duration::from_millis(1),
            "s" => Duration::from_secs(1),
            _ => return Err(format!("\\sleep: unrecognized time unit \"{unit}\"")),
        };
        if let Some(variable) = number.strip_prefix(':') {
            return Ok(Sleep::Variable(self.all.names.slot(variable), unit));
        }
        Ok(Sleep::Fixed(pause(leading_integer(number), unit)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, protocol: Protocol) -> Result<Scripts, String> {
        let mut scripts = Scripts::default();
        scripts.add("s.sql", text, protocol).map_err(|refused| refused.to_string())?;
        Ok(scripts)
    }

    #[test]
    fn what_is_not_known_is_refused_with_line_and_word() {
        for (text, message) in [
            ("select 1;\n\\setshell x date", "s.sql:2: \\setshell is refused"),
            ("\\shell date\nselect 1;", "s.sql:1: \\shell is refused"),
            ("select 1;\n\n\\frobnicate", "s.sql:3: invalid command \"\\frobnicate\""),
            ("\\set x 1 +\nselect 1;", "s.sql:1: \\set: an expression is missing"),
            ("\\set 1x 1\nselect 1;", "s.sql:1: \\set: invalid variable name \"1x\""),
            ("\\set x frob(1)\nselect 1;", "s.sql:1: \\set: unexpected function name \"frob\""),
            ("select 1;\n\\if 1\nselect 2;", "s.sql:2: \\if without matching \\endif"),
            ("select 1;\n\\else", "s.sql:2: \\else without matching \\if"),
            ("\\if 1\n\\else\n\\elif 1\n\\endif", "s.sql:3: \\elif after \\else"),
            ("\\set x 1\n\\gset", "s.sql:2: \\gset must follow an SQL command"),
            ("select 1 \\gset a b\n", "s.sql:1: \\gset: unexpected argument \"b\""),
            ("\\sleep 1 min\nselect 1;", "s.sql:1: \\sleep: unrecognized time unit \"min\""),
            ("\\sleep x\nselect 1;", "s.sql:1: \\sleep: invalid sleep time \"x\""),
            ("\\startpipeline\nselect 1;", "s.sql:1: \\startpipeline: no pipeline with the simple"),
            ("\\set x 1", "no statement in the script"),
        ] {
            let error = parse(text, Protocol::Simple).expect_err(text);
            assert!(error.contains(message), "{text:?}: {error}");
        }
    }

    #[test]
    fn variables_are_values_or_parameters() {
        let scripts =
            parse("select :a, 'x :b', c::int, d[1:2], :a, ::e;", Protocol::Extended).unwrap();
        let Action::Sql(statement) = &scripts.scripts[0].commands[0].action else { panic!() };
        let text = "select $1, 'x $2', c::int, d[1:2], $3, ::e;";
        assert_eq!(statement.parameterised, text);
        let mut variables = vec![Variable::Unset; scripts.names.len()];
        variables[scripts.names.known("a").unwrap()] = Variable::Text("7".to_owned());
        let mut written = String::new();
        statement.write(&variables, &scripts.names, &mut written);
        assert_eq!(written, "select 7, 'x :b', c::int, d[1:2], 7, ::e;");
    }

    #[test]
    fn a_draw_comes_first_and_jumps_still_arrive() {
        let text = "\\if :a\nselect :a;\n\\else\nselect 2;\n\\endif\n";
        let mut scripts = parse(text, Protocol::Extended).unwrap();
        let rows = vec![vec![Some("7".to_owned())], vec![None]];
        scripts.draw_from(&Rows { names: vec!["a".to_owned()], rows });
        let commands = &scripts.scripts[0].commands;
        let Action::Draw(slots, values) = &commands[0].action else { panic!() };
        assert_eq!(*slots, [scripts.names.known("a").unwrap()]);
        assert_eq!(*values, [[Variable::Text("7".to_owned())], [Variable::Unset]]);
        assert!(matches!(commands[1].action, Action::Unless(_, 4)));
        assert!(matches!(commands[3].action, Action::Jump(5)));
    }

    #[test]
    fn branches_jump_over_each_other() {
        let text =
            "\\if :a\nselect 1;\n\\elif :b\nselect 2;\n\\else\nselect 3;\n\\endif\nselect 4;";
        let scripts = parse(text, Protocol::Simple).unwrap();
        let jumps: Vec<String> = scripts.scripts[0]
            .commands
            .iter()
            .map(|command| match &command.action {
                Action::Unless(_, target) => format!("unless {target}"),
                Action::Jump(target) => format!("jump {target}"),
                _ => format!("line {}", command.line),
            })
            .collect();
        let expected =
            ["unless 3", "line 2", "jump 7", "unless 6", "line 4", "jump 7", "line 6", "line 8"];
        assert_eq!(jumps, expected);
    }
}
