//! An HTTP/1.1 connection that sends and waits, as cheaply as it can: the load shares the machine with the servers. It
//! implements what these servers use of HTTP: a status, and a body with `content-length`.

use std::{io, net::Ipv4Addr};

use memchr::memmem;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
};

/// The initial buffer, longer than most answers.
const BUFFER_LENGTH: usize = 16 * 1024;

/// The longest buffer, longer than any answer: a page of 100 moves is some 80 KiB.
const BUFFER_MAX: usize = 1024 * 1024;

/// How many characters of a wrong answer an error shows: all of one about a game.
const SHOWN_MAX: usize = 4000;

/// A connection, with a buffer for one answer.
pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// An answer, in the connection's buffer.
#[derive(Clone, Copy)]
pub struct Answer<'a> {
    pub status: u16,
    pub head: &'a [u8],
    pub body: &'a [u8],
}

impl Connection {
    pub async fn open(address: &str) -> io::Result<Self> {
        Self::open_from(Ipv4Addr::UNSPECIFIED, address).await
    }

    /// Connects from a local address, which the server counts as a client's.
    pub async fn open_from(local: Ipv4Addr, address: &str) -> io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((local, 0).into())?;
        let stream = socket.connect(address.parse().map_err(io::Error::other)?).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: vec![0; BUFFER_LENGTH] })
    }

    /// Sends a whole request and waits for the whole answer.
    pub async fn exchange(&mut self, request: &[u8]) -> io::Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        let mut filled = 0;
        let (end, length) = loop {
            if filled == self.buffer.len() {
                if filled >= BUFFER_MAX {
                    return Err(io::Error::other("an answer longer than the buffer may be"));
                }
                self.buffer.resize(filled * 2, 0);
            }
            // After a read that is shorter than the buffer, tokio waits without another system call.
            let read = self.stream.read(&mut self.buffer[filled..]).await?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            filled += read;
            let Some(end) = memmem::find(&self.buffer[..filled], b"\r\n\r\n") else { continue };
            let length = body_length(&self.buffer[..end])?;
            if filled >= end + 4 + length {
                break (end, length);
            }
        };
        if filled > end + 4 + length {
            return Err(io::Error::other("bytes after the end of the answer"));
        }
        let status = self.buffer[..end].get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        let status = status.ok_or_else(|| io::Error::other("no status"))?;
        Ok(Answer { status, head: &self.buffer[..end], body: &self.buffer[end + 4..filled] })
    }

    /// Sends a request that is not measured, and parses the answer's JSON.
    pub async fn post(&mut self, path: &str, token: &str, body: &str, status: u16) -> io::Result<Value> {
        let answer = self.exchange(&request("POST", path, token, "", body)).await?;
        if answer.status != status {
            return Err(answer.unexpected(path));
        }
        serde_json::from_slice(answer.body).map_err(io::Error::other)
    }
}

impl Answer<'_> {
    /// An error that shows the answer.
    pub fn unexpected(&self, wanted: &str) -> io::Error {
        let (head, body) = (String::from_utf8_lossy(self.head), String::from_utf8_lossy(self.body));
        let body: String = body.chars().take(SHOWN_MAX).collect();
        io::Error::other(format!("a wrong answer to {wanted}:\n{head}\n{body}"))
    }

    /// The value of a header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let head = std::str::from_utf8(self.head).ok()?;
        head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// A whole request. `headers` are further header lines, each with its line end.
pub fn request(method: &str, path: &str, token: &str, headers: &str, body: &str) -> Vec<u8> {
    let bearer = if token.is_empty() { String::new() } else { format!("authorization: Bearer {token}\r\n") };
    let content = match body.len() {
        0 => String::new(),
        length => format!("content-type: application/json\r\ncontent-length: {length}\r\n"),
    };
    format!("{method} {path} HTTP/1.1\r\nhost: x\r\n{bearer}{headers}{content}\r\n{body}").into_bytes()
}

fn body_length(head: &[u8]) -> io::Result<usize> {
    const NAME: &[u8] = b"\r\ncontent-length: ";
    let Some(at) = memmem::find(head, NAME) else {
        return match head.get(9..12) {
            Some(b"204" | b"304") => Ok(0),
            _ => Err(io::Error::other(format!("no length: {}", String::from_utf8_lossy(head)))),
        };
    };
    let digits = head[at + NAME.len()..].iter().take_while(|byte| byte.is_ascii_digit());
    Ok(digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0')))
}
