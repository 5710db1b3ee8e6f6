//! Stands for a web server of a ResourceManager.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

/// It gives one answer, and its thread the first line of the request.
pub fn server(answer: &str) -> (String, JoinHandle<String>) {
    server_of(&[answer])
}

/// The same with an answer for each request, one after the other.
pub fn server_of(answers: &[&str]) -> (String, JoinHandle<String>) {
    let answers: Vec<String> = answers.iter().map(|&answer| answer.to_owned()).collect();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let mut first = String::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            first = lines.next().unwrap().unwrap();
            while lines.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            stream.write_all(answer.as_bytes()).unwrap();
        }
        first
    });
    (url, thread)
}
