//! An application's main class or script and its arguments, from its launch command.

use crate::shell;

/// The main class or script of an application and its arguments as they were given.
#[derive(Debug, PartialEq)]
pub(crate) struct Launch {
    pub(crate) main: String,
    pub(crate) arguments: Vec<String>,
}

const SPARK_CLUSTER_MODE: &str = "org.apache.spark.deploy.yarn.ApplicationMaster";
const SPARK_CLIENT_MODE: &str = "org.apache.spark.deploy.yarn.ExecutorLauncher";

/// Reads the commands of an application master's launch context.
///
/// None without a Java command, and for Spark in client mode, whose application runs elsewhere.
pub(crate) fn launch(commands: &[String]) -> Option<Launch> {
    let words = shell::words(&commands.join(" "));
    let java = words.iter().position(|word| word == "java" || word.ends_with("/bin/java"))?;
    let words = &words[java + 1..];
    let main = java_main(words)?;
    match words[main].as_str() {
        SPARK_CLIENT_MODE => None,
        SPARK_CLUSTER_MODE => spark_cluster_mode(&words[main + 1..]),
        class => Some(Launch {
            main: last_component(class).to_owned(),
            arguments: words[main + 1..]
                .iter()
                .take_while(|word| !is_redirection(word))
                .cloned()
                .collect(),
        }),
    }
}

/// The index of the main class, or of the jar behind `-jar`, among the words after `java`.
fn java_main(words: &[String]) -> Option<usize> {
    let mut at = 0;
    loop {
        match words.get(at)?.as_str() {
            "-cp" | "-classpath" | "--class-path" => at += 2,
            option if option.starts_with('-') => at += 1,
            word if is_redirection(word) => return None,
            _ => return Some(at),
        }
    }
}

/// Spark's own arguments for its application master: each `--option` has one value.
fn spark_cluster_mode(words: &[String]) -> Option<Launch> {
    let (mut class, mut script, mut arguments) = (None, None, Vec::new());
    let mut words = words.iter();
    while let Some(option) = words.next() {
        match option.as_str() {
            "--class" => class = words.next(),
            "--primary-py-file" | "--primary-r-file" => script = words.next(),
            "--arg" => arguments.extend(words.next().cloned()),
            "--jar" | "--properties-file" | "--dist-cache-conf" => {
                words.next();
            }
            _ => {}
        }
    }
    // With a script, the class is Spark's runner for its language.
    let main = script.or(class)?;
    Some(Launch { main: last_component(main).to_owned(), arguments })
}

fn last_component(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn is_redirection(word: &str) -> bool {
    ["1>", "2>", ">", "<", "&", "|", ";"].iter().any(|sign| word.starts_with(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch_of(command: &str) -> Option<Launch> {
        let commands: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        launch(&commands)
    }

    fn expected(main: &str, arguments: &[&str]) -> Option<Launch> {
        Some(Launch {
            main: main.to_owned(),
            arguments: arguments.iter().map(ToString::to_string).collect(),
        })
    }

    #[test]
    fn spark_in_cluster_mode_shows_script_and_arguments() {
        let found = launch_of(
            "{{JAVA_HOME}}/bin/java -server -Xmx1024m -Djava.io.tmpdir={{PWD}}/tmp \
             -XX:OnOutOfMemoryError='kill %p' \
             org.apache.spark.deploy.yarn.ApplicationMaster \
             --class 'org.apache.spark.deploy.PythonRunner' --primary-py-file sort.py \
             --arg '--in' --arg '/data/a b' --arg '1>' \
             --properties-file {{PWD}}/__spark_conf__/__spark_conf__.properties \
             --dist-cache-conf {{PWD}}/__spark_conf__/__spark_dist_cache__.properties \
             1> <LOG_DIR>/stdout 2> <LOG_DIR>/stderr",
        );
        assert_eq!(found, expected("sort.py", &["--in", "/data/a b", "1>"]));
    }

    #[test]
    fn spark_in_cluster_mode_shows_the_class_of_a_jar() {
        let found = launch_of(
            "LD_LIBRARY_PATH=\\\"/x:$LD_LIBRARY_PATH\\\" /usr/bin/java -server \
             org.apache.spark.deploy.yarn.ApplicationMaster --class 'com.example.Etl' \
             --jar file:/home/alice/etl.jar --arg 'full' 1> out 2> err",
        );
        assert_eq!(found, expected("com.example.Etl", &["full"]));
    }

    #[test]
    fn spark_in_client_mode_shows_nothing() {
        let found = launch_of(
            "{{JAVA_HOME}}/bin/java -server org.apache.spark.deploy.yarn.ExecutorLauncher \
             --arg 'driver-host:41093' --properties-file x 1> out 2> err",
        );
        assert_eq!(found, None);
    }

    #[test]
    fn any_other_java_master_shows_its_class() {
        let found = launch_of(
            "$JAVA_HOME/bin/java -cp a:b -Xmx9m com.example.Master --containers 3 1>out 2>err",
        );
        assert_eq!(found, expected("com.example.Master", &["--containers", "3"]));
    }

    #[test]
    fn what_is_not_java_shows_nothing() {
        assert_eq!(launch_of("sleep 100"), None);
        assert_eq!(launch_of("java -Xmx1m 1> out"), None);
        assert_eq!(launch(&[]), None);
    }
}
