//! The words of a launch command as the NodeManager's shell will see them.

/// Splits a command of a launch context into words.
///
/// The NodeManager runs the command as `bash -c "<command>"`. So the escapes of double quotes are resolved
/// first. Variables are not expanded; an unclosed quote extends to the end of the command.
pub(crate) fn words(command: &str) -> Vec<String> {
    let command = inside_double_quotes(command);
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut characters = command.chars();
    while let Some(character) = characters.next() {
        match character {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let quoted = characters.by_ref().take_while(|c| *c != '\'');
                word.get_or_insert_default().extend(quoted);
            }
            '"' => double_quoted(&mut characters, word.get_or_insert_default()),
            '\\' => word.get_or_insert_default().extend(characters.next()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn double_quoted(characters: &mut std::str::Chars<'_>, word: &mut String) {
    while let Some(character) = characters.next() {
        match character {
            '"' => return,
            '\\' => match characters.next() {
                Some(escaped) if is_special(escaped) => word.push(escaped),
                other => {
                    word.push('\\');
                    word.extend(other);
                }
            },
            c => word.push(c),
        }
    }
}

fn inside_double_quotes(text: &str) -> String {
    let mut unescaped = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\\' && characters.peek().copied().is_some_and(is_special) {
            unescaped.extend(characters.next());
        } else {
            unescaped.push(character);
        }
    }
    unescaped
}

/// Whether a backslash escapes this character between double quotes.
fn is_special(character: char) -> bool {
    matches!(character, '$' | '`' | '"' | '\\')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_are_split_and_unquoted() {
        assert_eq!(
            words(r#"java -Dx='kill %p'  --arg "a b" --arg '' c\ d"#),
            ["java", "-Dx=kill %p", "--arg", "a b", "--arg", "", "c d"]
        );
    }

    /// As Spark's `YarnSparkHadoopUtil.escapeForShell` does.
    fn as_spark_escapes(argument: &str) -> String {
        let escaped: String = argument
            .chars()
            .map(|c| match c {
                '$' => r"\$".to_owned(),
                '"' => "\\\"".to_owned(),
                '\'' => r"'\''".to_owned(),
                c => c.to_string(),
            })
            .collect();
        format!("'{escaped}'")
    }

    proptest! {
        #[test]
        fn what_spark_escapes_comes_back(argument in "[ -\\[\\]-~]{0,30}") {
            let command = format!("java --arg {} end", as_spark_escapes(&argument));
            prop_assert_eq!(words(&command), ["java", "--arg", argument.as_str(), "end"]);
        }

        #[test]
        fn any_command_has_words(command in "\\PC{0,60}") {
            words(&command);
        }
    }
}
