//! Where the statements of a script end: at semicolons and backslashes outside quotes, comments and
//! parentheses, as psql and pgbench find them.

/// What ended a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// A semicolon, which is of the statement.
    Semicolon,
    /// A backslash, which begins a command.
    Backslash,
    /// The end of the script.
    Script,
}

/// A script that is read from its beginning.
#[derive(Debug)]
pub struct Reader<'a> {
    script: &'a str,
    place: usize,
    parentheses: usize,
}

impl<'a> Reader<'a> {
    /// At the beginning of a script.
    #[must_use]
    pub fn new(script: &'a str) -> Self {
        Self { script, place: 0, parentheses: 0 }
    }

    /// The line that has been reached, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        1 + self.script[..self.place].matches('\n').count()
    }

    fn rest(&self) -> &'a str {
        &self.script[self.place..]
    }

    /// Take so many bytes.
    fn take(&mut self, length: usize) -> &'a str {
        let taken = &self.rest()[..length];
        self.place += length;
        taken
    }

    /// The text up to the next end, without leading blanks and comments.
    pub fn statement(&mut self) -> (String, End) {
        let mut text = String::new();
        let end = self.scan(&mut text);
        (without_comments(&text).to_owned(), end)
    }

    fn scan(&mut self, text: &mut String) -> End {
        while let Some(first) = self.rest().chars().next() {
            let rest = self.rest();
            let length = match first {
                ' ' | '\t' | '\n' | '\r' | '\x0c' => self.blank(text, 1),
                '-' if rest.starts_with("--") => {
                    self.blank(text, rest.find(['\n', '\r']).unwrap_or(rest.len()))
                }
                '/' if rest.starts_with("/*") => comment(rest),
                '\'' => quoted(rest, '\''),
                '"' => quoted(rest, '"'),
                'e' | 'E' if rest[1..].starts_with('\'') => 1 + escaped(&rest[1..]),
                '$' => dollar_quoted(rest),
                '\\' if rest[1..].starts_with([';', ':']) => {
                    text.push_str(&self.take(2)[1..]);
                    continue;
                }
                '\\' => {
                    self.take(1);
                    return End::Backslash;
                }
                ';' => {
                    text.push_str(self.take(1));
                    if self.parentheses == 0 {
                        return End::Semicolon;
                    }
                    continue;
                }
                '(' => {
                    self.parentheses += 1;
                    1
                }
                ')' => {
                    self.parentheses = self.parentheses.saturating_sub(1);
                    1
                }
                _ if crate::names::is_first(first) => rest
                    .find(|next| next != '$' && !crate::expression::is_name(next))
                    .unwrap_or(rest.len()),
                _ => first.len_utf8(),
            };
            text.push_str(self.take(length));
        }
        End::Script
    }

    /// Blanks and comments of a line are of a statement once it has begun.
    fn blank(&mut self, text: &str, length: usize) -> usize {
        if text.is_empty() {
            self.take(length);
            return 0;
        }
        length
    }

    /// The words of a command, up to the end of its line; the backslash has been taken.
    pub fn words(&mut self) -> Vec<&'a str> {
        let mut words = Vec::new();
        while let Some(word) = self.word() {
            words.push(word);
        }
        words
    }

    /// The next word of a command's line; at its end None, and the line is taken.
    pub fn word(&mut self) -> Option<&'a str> {
        loop {
            let rest = self.rest();
            let continued = continuation(rest);
            if continued > 0 {
                self.take(continued);
                continue;
            }
            match rest.chars().next()? {
                '\n' => {
                    self.take(1);
                    return None;
                }
                ' ' | '\t' | '\r' | '\x0b' | '\x0c' => self.take(1),
                _ => break,
            };
        }
        let rest = self.rest();
        let blank = |next: char| matches!(next, ' ' | '\t' | '\r' | '\n' | '\x0b' | '\x0c');
        let length = rest.find(blank).unwrap_or(rest.len());
        let before = rest[..length].strip_suffix('\\').map_or(0, str::len);
        let ends = before > 0 && continuation(&rest[before..]) > 0;
        Some(self.take(if ends { before } else { length }))
    }

    /// What is left of a command's line, its continuations joined.
    pub fn line_rest(&mut self) -> String {
        let mut text = String::new();
        while let Some(first) = self.rest().chars().next() {
            let continued = continuation(self.rest());
            if continued > 0 {
                self.take(continued);
                text.push(' ');
                continue;
            }
            self.take(first.len_utf8());
            if first == '\n' {
                break;
            }
            text.push(first);
        }
        text
    }
}

/// The length of a continuation of the line: a backslash at its end.
fn continuation(text: &str) -> usize {
    ["\\\n", "\\\r\n"].into_iter().find(|own| text.starts_with(own)).map_or(0, str::len)
}

/// The length of a comment, which may hold others.
fn comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut place = 0;
    while place < text.len() {
        let rest = &text.as_bytes()[place..];
        if rest.starts_with(b"/*") {
            depth += 1;
            place += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            place += 2;
            if depth == 0 {
                return place;
            }
        } else {
            place += 1;
        }
    }
    text.len()
}

/// The length up to the closing quote; a doubled one closes and opens again.
fn quoted(text: &str, quote: char) -> usize {
    text[1..].find(quote).map_or(text.len(), |inner| inner + 2)
}

/// The length of a string in which a backslash takes the next character's meaning away.
fn escaped(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut place = 1;
    while place < bytes.len() {
        match bytes[place] {
            b'\\' => place += 2,
            b'\'' if bytes.get(place + 1) == Some(&b'\'') => place += 2,
            b'\'' => {
                // A string goes on after blanks with a line's end.
                let blank = text[place + 1..].trim_start_matches([' ', '\t', '\n', '\r', '\x0c']);
                let next = text.len() - blank.len();
                if !blank.starts_with('\'') || !text[place + 1..next].contains(['\n', '\r']) {
                    return place + 1;
                }
                place = next + 1;
            }
            _ => place += 1,
        }
    }
    // A backslash may stand before a character of several bytes, or at the end.
    text.len()
}

/// The length of a string between equal `$tags$`, or of the dollar where it is none.
fn dollar_quoted(text: &str) -> usize {
    let Some(close) = text[1..].find('$').map(|inner| inner + 2) else { return 1 };
    let tag = &text[1..close - 1];
    if !tag.is_empty() && !crate::names::is_valid(tag) {
        return 1;
    }
    let delimiter = &text[..close];
    text[close..].find(delimiter).map_or(text.len(), |inner| close + inner + delimiter.len())
}

/// Without leading blanks and comments of a line; empty where there is nothing else.
fn without_comments(text: &str) -> &str {
    let mut rest = text.trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c']);
    while rest.starts_with("--") {
        rest = rest.split_once('\n').map_or("", |(_, after)| {
            after.trim_start_matches([' ', '\t', '\n', '\r', '\x0b', '\x0c'])
        });
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(script: &str) -> Vec<String> {
        let mut reader = Reader::new(script);
        let mut found = Vec::new();
        loop {
            let (text, end) = reader.statement();
            if !text.is_empty() {
                found.push(text);
            }
            match end {
                End::Semicolon => {}
                End::Backslash => found.push(format!("\\{}", reader.words().join("|"))),
                End::Script => return found,
            }
        }
    }

    #[test]
    fn statements_end_at_their_own_semicolons() {
        for (script, expected) in [
            ("select 1; select 2;", vec!["select 1;", "select 2;"]),
            ("select ';' ; select \";\"", vec!["select ';' ;", "select \";\""]),
            ("select e'\\';' ; x", vec!["select e'\\';' ;", "x"]),
            ("select E'a'\n ';\\'' ; x", vec!["select E'a'\n ';\\'' ;", "x"]),
            ("select 'a\\'; x", vec!["select 'a\\';", "x"]),
            ("select $$;$$, $a$;$b$;$a$ ; x$1;", vec!["select $$;$$, $a$;$b$;$a$ ;", "x$1;"]),
            ("/* ; /* ; */ ; */ select 1; y", vec!["/* ; /* ; */ ; */ select 1;", "y"]),
            ("-- ; \n select 1 -- ; \n ; y", vec!["select 1 -- ; \n ;", "y"]),
            ("create rule as do (a; b); c", vec!["create rule as do (a; b);", "c"]),
            ("select 1 \\; select 2; c", vec!["select 1 ; select 2;", "c"]),
            ("select 1 as x \\gset p\nselect 2;", vec!["select 1 as x ", "\\gset|p", "select 2;"]),
            ("\\set x \\\n  1\nselect :x;", vec!["\\set|x|1", "select :x;"]),
            ("\\set x\\\n 1", vec!["\\set|x|1"]),
            ("\\set 値 値値\\\n 値", vec!["\\set|値|値値|値"]),
            ("-- only a comment", vec![]),
            ("select 'é' ; é;", vec!["select 'é' ;", "é;"]),
        ] {
            assert_eq!(statements(script), expected, "{script}");
        }
    }

    #[test]
    fn a_line_is_counted_where_the_command_stands() {
        let mut reader = Reader::new("select 1;\n\n\\set x 1\n");
        reader.statement();
        assert_eq!(reader.statement().1, End::Backslash);
        assert_eq!(reader.line(), 3);
    }
}
