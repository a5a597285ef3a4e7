//! The names of variables that scripts mention; a client has a variable for each.

use std::collections::HashMap;

/// Names, each with a slot.
#[derive(Debug, Default)]
pub struct Names {
    names: Vec<String>,
    slots: HashMap<String, usize>,
}

impl Names {
    /// The slot of a name, a new one if need be.
    pub fn slot(&mut self, name: &str) -> usize {
        if let Some(slot) = self.slots.get(name) {
            return *slot;
        }
        self.names.push(name.to_owned());
        self.slots.insert(name.to_owned(), self.names.len() - 1);
        self.names.len() - 1
    }

    /// The slot of a name that some script mentions.
    #[must_use]
    pub fn known(&self, name: &str) -> Option<usize> {
        self.slots.get(name).copied()
    }

    /// The name of a slot.
    #[must_use]
    pub fn name(&self, slot: usize) -> &str {
        &self.names[slot]
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether no script has a variable.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// Whether a variable may be called so: letters, digits and underscores, no digit first.
#[must_use]
pub fn is_valid(name: &str) -> bool {
    name.starts_with(is_first) && name.chars().all(crate::expression::is_name)
}

/// Whether a variable's name may begin with it.
pub(crate) fn is_first(character: char) -> bool {
    crate::expression::is_name(character) && !character.is_ascii_digit()
}
