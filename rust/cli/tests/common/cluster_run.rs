//! A run of Spark on YARN in cluster mode: the submission that YARN sees, and the log that Spark writes.
#![allow(dead_code, reason = "the bench submits nothing")]

use std::io::{self, Write};

use elastane_predict::Submission;
use serde_json::{Value, json};

const MASTER: &str = "org.apache.spark.deploy.yarn.ApplicationMaster";
const MIB: u64 = 1 << 20;
const CLASS: &str = "org.apache.spark.deploy.PythonRunner";
/// When the ResourceManager started: a part of the ids of its applications.
const CLUSTER_MS: i64 = 1_795_283_369_712;

/// What differs from run to run, and from test to test.
#[derive(Clone)]
pub struct ClusterRun<'a> {
    pub number: u32,
    pub name: &'a str,
    pub user: &'a str,
    /// Its path.
    pub queue: &'a str,
    pub script: &'a str,
    pub arguments: &'a [&'a str],
    pub executors: u32,
    /// One after the other on each executor, of one core.
    pub tasks_of_each: u32,
    pub task_ms: i64,
}

impl ClusterRun<'_> {
    pub fn id(&self) -> String {
        format!("application_{CLUSTER_MS}_{:04}", self.number)
    }

    pub fn started_ms(&self) -> i64 {
        CLUSTER_MS + i64::from(self.number) * 86_400_000
    }

    fn tasks_end_ms(&self) -> i64 {
        self.started_ms() + i64::from(self.tasks_of_each) * self.task_ms
    }

    /// As Spark's client submits it: its launch command is a list of words that the NodeManager's shell
    /// reads, so each that is the user's is quoted.
    pub fn submission(&self) -> Submission {
        let mut words = [
            "{{JAVA_HOME}}/bin/java",
            "-server",
            "-Xmx1024m",
            "-Djava.io.tmpdir={{PWD}}/tmp",
            "-Dspark.yarn.app.container.log.dir=<LOG_DIR>",
            MASTER,
            "--class",
        ]
        .map(str::to_owned)
        .to_vec();
        words.push(quoted(CLASS));
        words.extend(["--primary-py-file".to_owned(), self.script.to_owned()]);
        for argument in self.arguments {
            words.extend(["--arg".to_owned(), quoted(argument)]);
        }
        let rest = "--properties-file {{PWD}}/__spark_conf__/__spark_conf__.properties \
                    --dist-cache-conf {{PWD}}/__spark_conf__/__spark_dist_cache__.properties \
                    1> <LOG_DIR>/stdout 2> <LOG_DIR>/stderr";
        words.extend(rest.split_whitespace().map(str::to_owned));
        Submission {
            id: self.id(),
            name: self.name.to_owned(),
            user: self.user.to_owned(),
            queue: self.queue.to_owned(),
            application_type: "SPARK".to_owned(),
            commands: words,
            ..Submission::default()
        }
    }

    /// The command that the JVM of the application master has: its words as they were meant, with a space
    /// between them.
    fn command_of_master(&self) -> String {
        let mut words = vec![MASTER, "--class", CLASS, "--primary-py-file", self.script];
        for &argument in self.arguments {
            words.extend(["--arg", argument]);
        }
        let folder = "/data/yarn/usercache/appcache/container_01_000001/__spark_conf__";
        let properties = format!("{folder}/__spark_conf__.properties");
        let cached = format!("{folder}/__spark_dist_cache__.properties");
        words.extend(["--properties-file", &properties, "--dist-cache-conf", &cached]);
        words.join(" ")
    }

    /// Tasks of the first half compute on one core, those of the second on a quarter of it. Each JVM holds
    /// 400 MiB at most.
    pub fn write_log(&self, log: &mut impl Write) -> io::Result<()> {
        let (from_ms, end_ms) = (self.started_ms(), self.tasks_end_ms());
        write_event(log, "LogStart", &json!({ "Spark Version": "3.5.5" }))?;
        write_event(log, "EnvironmentUpdate", &self.environment())?;
        let start = json!({
            "App Name": self.name,
            "App ID": self.id(),
            "Timestamp": from_ms,
            "User": self.user,
            "App Attempt ID": "1",
        });
        write_event(log, "ApplicationStart", &start)?;
        for executor in 1..=self.executors {
            write_event(log, "ExecutorAdded", &self.executor(executor))?;
        }
        for at in 0..self.tasks_of_each {
            for executor in 1..=self.executors {
                write_event(log, "TaskStart", &self.task(at, executor, false))?;
                write_event(log, "TaskEnd", &self.task(at, executor, true))?;
            }
        }
        let result = json!({ "Result": "JobSucceeded" });
        let end = json!({ "Job ID": 0, "Completion Time": end_ms, "Job Result": result });
        write_event(log, "JobEnd", &end)?;
        write_event(log, "ApplicationEnd", &json!({ "Timestamp": end_ms }))
    }

    fn environment(&self) -> Value {
        json!({
            "Spark Properties": {
                "spark.app.attempt.id": "1",
                "spark.app.id": self.id(),
                "spark.app.name": self.name,
                "spark.executor.cores": "1",
                "spark.executor.id": "driver",
                "spark.executor.instances": self.executors.to_string(),
                "spark.executor.memory": "2g",
                "spark.master": "yarn",
                "spark.submit.deployMode": "cluster",
                "spark.yarn.app.container.log.dir": "/data/yarn/logs",
                "spark.yarn.app.id": self.id(),
                "spark.yarn.isPython": "true",
                "spark.yarn.queue": self.queue,
            },
            "System Properties": { "sun.java.command": self.command_of_master() },
        })
    }

    fn executor(&self, number: u32) -> Value {
        let (id, container) = (self.id().replace("application", "container"), number + 1);
        json!({
            "Timestamp": self.started_ms(),
            "Executor ID": number.to_string(),
            "Executor Info": {
                "Host": host(number),
                "Total Cores": 1,
                "Log Urls": {},
                "Attributes": {
                    "CONTAINER_ID": format!("{id}_01_{container:06}"),
                    "NM_HOST": host(number),
                    "USER": self.user,
                },
                "Resources": {},
                "Resource Profile Id": 0,
            },
        })
    }

    /// The task that is so many tasks after an executor's first: as it begins, or as it is over.
    fn task(&self, at: u32, executor: u32, is_over: bool) -> Value {
        const ACCUMULABLES: u32 = 34;
        let number = at * self.executors + executor;
        let from_ms = self.started_ms() + i64::from(at) * self.task_ms;
        let to_ms = from_ms + self.task_ms;
        let mut task = json!({
            "Stage ID": 0,
            "Stage Attempt ID": 0,
            "Task Info": {
                "Task ID": number,
                "Index": number,
                "Attempt": 0,
                "Partition ID": number,
                "Launch Time": from_ms,
                "Executor ID": executor.to_string(),
                "Host": host(executor),
                "Locality": "PROCESS_LOCAL",
                "Speculative": false,
                "Getting Result Time": 0,
                "Finish Time": if is_over { to_ms } else { 0 },
                "Failed": false,
                "Killed": false,
                "Accumulables": [],
            },
        });
        if is_over {
            let part = if at < self.tasks_of_each / 2 { 1.0 } else { 0.25 };
            // Most of what is logged of a query's task.
            let accumulable = |id: u32| {
                json!({
                    "ID": id,
                    "Name": "internal.metrics.executorRunTime",
                    "Update": self.task_ms,
                    "Value": from_ms,
                    "Internal": true,
                    "Count Failed Values": true,
                })
            };
            task["Task Info"]["Accumulables"] = (0..ACCUMULABLES).map(accumulable).collect();
            task["Task Type"] = json!("ResultTask");
            task["Task End Reason"] = json!({ "Reason": "Success" });
            task["Task Executor Metrics"] = json!({
                "JVMHeapMemory": 300 * MIB,
                "JVMOffHeapMemory": 90 * MIB,
                "DirectPoolMemory": 10 * MIB,
                "ProcessTreeJVMRSSMemory": 0,
                "MinorGCCount": 14,
                "TotalGCTime": 0,
            });
            task["Task Metrics"] = json!({
                "Executor Deserialize CPU Time": 0,
                "Executor Run Time": self.task_ms,
                "Executor CPU Time": self.task_ms as f64 * part * 1e6,
                "JVM GC Time": 0,
                "Disk Bytes Spilled": 0,
                "Shuffle Read Metrics": { "Remote Bytes Read": 0, "Local Bytes Read": 0 },
                "Shuffle Write Metrics": { "Shuffle Bytes Written": 0 },
                "Input Metrics": { "Bytes Read": 0, "Records Read": 0 },
                "Output Metrics": { "Bytes Written": 0, "Records Written": 0 },
                "Updated Blocks": [],
            });
        }
        task
    }
}

/// With its name first, as Spark writes it.
fn write_event(log: &mut impl Write, name: &str, event: &Value) -> io::Result<()> {
    let event = event.to_string();
    writeln!(log, r#"{{"Event":"SparkListener{name}",{}"#, &event[1..])
}

fn host(executor: u32) -> String {
    format!("worker-{executor}.example.com")
}

/// As Spark quotes a word for a command that is run as `bash -c "…"`.
fn quoted(word: &str) -> String {
    let escaped: String = word
        .chars()
        .map(|character| match character {
            '$' => r"\$".to_owned(),
            '"' => "\\\"".to_owned(),
            '\'' => r"'\''".to_owned(),
            other => other.to_string(),
        })
        .collect();
    format!("'{escaped}'")
}
