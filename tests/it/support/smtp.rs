//! An SMTP server on this machine. It records mails, and replies to recipients as a test has set.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use mancala_server::{
    jobs::mail::{Settings, round},
    mail,
    metrics::Metrics,
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};
use tokio_util::sync::CancellationToken;

use crate::support::{app::TestApp, clock::until_async};

/// The beginning of the links in mails.
const PUBLIC_URL: &str = "https://play.example/mancala";

/// A mail that came.
#[derive(Clone, Debug)]
pub struct Mail {
    /// The recipient of the envelope.
    pub to: String,
    pub head: String,
    pub text: String,
}

impl Mail {
    pub fn subject(&self) -> &str {
        self.head.lines().find_map(|line| line.strip_prefix("Subject: ")).expect("a subject")
    }

    /// The token of the link in the mail.
    pub fn token(&self) -> String {
        let (_, link) = self.text.split_once("?token=").unwrap_or_else(|| panic!("no link: {self:?}"));
        link.lines().next().expect("a token").to_owned()
    }
}

/// An SMTP server. It takes every mail by default.
#[derive(Clone)]
pub struct SmtpServer {
    pub address: SocketAddr,
    mails: Arc<Mutex<Vec<Mail>>>,
    replies: Arc<Mutex<VecDeque<&'static str>>>,
    /// Closes the connection after a mail, without a word.
    hangs_up: Arc<AtomicBool>,
    settings: Settings,
    /// What the job has counted.
    pub metrics: Arc<Metrics>,
}

impl SmtpServer {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("an address");
        let metrics = Arc::new(Metrics::new(0));
        let server = Self {
            address,
            mails: Arc::default(),
            replies: Arc::default(),
            hangs_up: Arc::default(),
            settings: counted_by(address, metrics.clone()),
            metrics,
        };
        let serving = server.clone();
        actix_web::rt::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = serving.clone();
                actix_web::rt::spawn(async move { serving.serve(stream).await });
            }
        });
        server
    }

    /// What a job needs that sends by this server.
    pub fn settings(&self) -> Settings {
        self.settings.clone()
    }

    /// Sets whether it closes the connection after a mail, without a word.
    pub fn hangs_up(&self, hangs_up: bool) {
        self.hangs_up.store(hangs_up, Ordering::SeqCst);
    }

    /// Sets the replies to the next recipients, in order.
    pub fn will(&self, replies: &[&'static str]) {
        self.replies.lock().expect("a lock").extend(replies);
    }

    pub fn mails(&self) -> Vec<Mail> {
        self.mails.lock().expect("a lock").clone()
    }

    /// Lets the job send all that is due; returns the mails that arrived.
    pub async fn deliver(&self, app: &TestApp) -> Vec<Mail> {
        let before = self.mails().len();
        while round(&app.db, &self.settings, &CancellationToken::new()).await.expect("the database answers") > 0 {}
        self.mails().split_off(before)
    }

    /// The same, as soon as there are so many mails: those of triggers are due by the clock of the database.
    pub async fn deliver_all(&self, app: &TestApp, count: usize) -> Vec<Mail> {
        let mut mails: Vec<Mail> = vec![];
        until_async("the mails arrive", async || {
            mails.extend(self.deliver(app).await);
            mails.len() >= count
        })
        .await;
        mails
    }

    /// The same, of one mail.
    pub async fn deliver_one(&self, app: &TestApp) -> Mail {
        let mut mails = self.deliver(app).await;
        assert_eq!(mails.len(), 1, "{mails:?}");
        mails.remove(0)
    }

    async fn serve(&self, stream: TcpStream) -> Option<()> {
        let mut stream = BufReader::new(stream);
        stream.write_all(b"220 stub ESMTP\r\n").await.ok()?;
        let mut to = String::new();
        loop {
            let line = read_line(&mut stream).await?;
            let (command, argument) = line.split_at(line.len().min(4));
            let reply = match command.to_ascii_uppercase().as_str() {
                "RCPT" => {
                    to = argument.trim_start_matches(" TO:<").split('>').next()?.to_owned();
                    self.replies.lock().expect("a lock").pop_front().unwrap_or("250 ok")
                }
                "DATA" => {
                    stream.write_all(b"354 go on\r\n").await.ok()?;
                    let mut data = String::new();
                    loop {
                        let line = read_line(&mut stream).await?;
                        if line == "." {
                            break;
                        }
                        data.push_str(&line);
                        data.push('\n');
                    }
                    let (head, text) = data.split_once("\n\n")?;
                    let mail = Mail { to: to.clone(), text: decoded(head, text), head: head.to_owned() };
                    self.mails.lock().expect("a lock").push(mail);
                    if self.hangs_up.load(Ordering::SeqCst) {
                        return None;
                    }
                    "250 taken"
                }
                "QUIT" => "221 bye",
                _ => "250 ok",
            };
            stream.write_all(format!("{reply}\r\n").as_bytes()).await.ok()?;
            if command.eq_ignore_ascii_case("QUIT") {
                return Some(());
            }
        }
    }
}

/// What a job needs that sends by a server at an address.
pub fn settings_for(address: SocketAddr) -> Settings {
    counted_by(address, Arc::new(Metrics::new(0)))
}

fn counted_by(address: SocketAddr, metrics: Arc<Metrics>) -> Settings {
    let links = mail::Links::new(PUBLIC_URL, None, None).expect("links");
    let settings = mail::Settings::new(&format!("smtp://{address}"), "Mancala <noreply@play.example>", links);
    Settings::new(mail::Sender::new(settings.expect("settings")), [7; 32], metrics)
}

/// The text of a mail as a reader sees it.
fn decoded(head: &str, text: &str) -> String {
    if !head.contains("Content-Transfer-Encoding: quoted-printable") {
        return text.to_owned();
    }
    let whole = text.replace("=\n", "");
    let mut parts = whole.split('=');
    let mut bytes = parts.next().expect("a first part").as_bytes().to_vec();
    for part in parts {
        let (hex, rest) = part.split_at(2);
        bytes.push(u8::from_str_radix(hex, 16).expect("two digits"));
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).expect("UTF-8")
}

async fn read_line(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    let count = stream.read_line(&mut line).await.ok()?;
    (count > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
}
