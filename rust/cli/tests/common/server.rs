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
    let (url, heads) = heads_of(answers);
    let first_line = |head: Vec<String>| head.into_iter().next().unwrap();
    (url, std::thread::spawn(move || first_line(heads.join().unwrap())))
}

/// The same; its thread gives the last request's lines without the body.
pub fn heads_of(answers: &[&str]) -> (String, JoinHandle<Vec<String>>) {
    let answers: Vec<String> = answers.iter().map(|&answer| answer.to_owned()).collect();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let mut head = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let lines = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
            head = lines.take_while(|line| !line.is_empty()).collect();
            stream.write_all(answer.as_bytes()).unwrap();
        }
        head
    });
    (url, thread)
}
