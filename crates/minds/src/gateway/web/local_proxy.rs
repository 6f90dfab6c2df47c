//! The local relay through which every request to a vendor goes: it counts the bytes of the response and closes the
//! connection when an answer, or an error message, is too long. The libraries that read answers would read until the
//! end, however long that takes.
//!
//! It is an HTTP proxy (RFC 9110) for one client: traffic to `https` passes through it encrypted. It exists for one
//! request, and only accepts a client that knows a secret created for it.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};

/// The maximum size of an answer in bytes: at most 60 bytes of events for each byte of its text.
const MAX_ANSWER_BYTES: usize = 16 << 20;
/// The maximum size of an error response in bytes.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// The maximum size of a request head in bytes.
const MAX_HEAD_BYTES: usize = 64 << 10;
/// The size of the receive buffer in bytes: enough for any vendor's speed, but far less than the system's default of
/// megabytes.
const RECEIVE_BUFFER_BYTES: u32 = 256 << 10;
/// The number of bytes that are forwarded at once.
const BLOCK_BYTES: usize = 16 << 10;

/// The relay's state for the current attempt: the number of bytes so far, and whether it failed or was cut off.
#[derive(Debug, Default)]
pub(in crate::gateway) struct Gauge {
    is_error: AtomicBool,
    was_cut: AtomicBool,
    no_connection: Mutex<Option<(io::ErrorKind, String)>>,
}

impl Gauge {
    /// Begins another attempt.
    pub(in crate::gateway) fn reset(&self) {
        self.is_error.store(false, Ordering::Relaxed);
        self.was_cut.store(false, Ordering::Relaxed);
        *self.no_connection.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Records that the server refused the request: the following bytes are its explanation.
    pub(in crate::gateway) fn note_error(&self) {
        self.is_error.store(true, Ordering::Relaxed);
    }

    /// Whether the response was too long.
    pub(in crate::gateway) fn was_cut(&self) -> bool {
        self.was_cut.load(Ordering::Relaxed)
    }

    /// Returns why there was no connection, if there was none.
    pub(in crate::gateway) fn no_connection(&self) -> Option<(io::ErrorKind, String)> {
        self.no_connection.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn bytes_at_most(&self) -> usize {
        if self.is_error.load(Ordering::Relaxed) { MAX_ERROR_BYTES } else { MAX_ANSWER_BYTES }
    }
}

/// A running relay. Dropping it ends it and all its connections.
#[derive(Debug)]
pub(in crate::gateway) struct LocalProxy {
    url: String,
    word: String,
    gauge: Arc<Gauge>,
    _stop: DropGuard,
}

impl LocalProxy {
    /// Starts a relay on a free local port. Must be called within a runtime.
    pub(in crate::gateway) fn start(connect: Duration) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let url = format!("http://{}", listener.local_addr()?);
        let word = random_secret();
        let gauge = Arc::new(Gauge::default());
        let stop = CancellationToken::new();
        let rules = Rules { word: format!("workshop:{word}"), connect };
        tokio::spawn(listen(listener, rules, gauge.clone(), stop.clone()));
        Ok(Self { url, word, gauge, _stop: stop.drop_guard() })
    }

    /// Returns the proxy settings for a client.
    pub(in crate::gateway) fn proxy(&self) -> reqwest::Result<reqwest::Proxy> {
        Ok(reqwest::Proxy::all(&self.url)?.basic_auth("workshop", &self.word))
    }

    /// Returns the gauge of the relay.
    pub(in crate::gateway) fn gauge(&self) -> Arc<Gauge> {
        self.gauge.clone()
    }
}

/// Returns a secret: two unpredictable numbers.
pub(in crate::gateway) fn random_secret() -> String {
    let number = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}", number(), number())
}

/// The rules of a relay: its secret and its timeout.
#[derive(Clone, Debug)]
struct Rules {
    word: String,
    connect: Duration,
}

async fn listen(listener: TcpListener, rules: Rules, gauge: Arc<Gauge>, stop: CancellationToken) {
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let Ok((client, _)) = accepted else { return };
        let (rules, gauge, stop) = (rules.clone(), gauge.clone(), stop.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                passed = pass(client, &rules, &gauge) => {
                    if let Err(error) = passed {
                        tracing::debug!("a connection of the relay ended: {error}");
                    }
                }
            }
        });
    }
}

/// Relays one connection from start to end.
async fn pass(mut client: TcpStream, rules: &Rules, gauge: &Gauge) -> io::Result<()> {
    let (head, rest) = read_head(&mut client).await?;
    let Some(wish) = ProxyTarget::read(&head, &rules.word) else { return client.write_all(NOT_YOU).await };
    let connected = tokio::time::timeout(rules.connect, connect(&wish.host, wish.port)).await;
    let mut server = match connected.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into())) {
        Ok(server) => server,
        Err(error) => {
            *gauge.no_connection.lock().unwrap_or_else(PoisonError::into_inner) =
                Some((error.kind(), error.to_string()));
            // A response of the relay would be taken for one of the server's.
            return if wish.is_tunnel { client.write_all(NO_CONNECTION).await } else { Ok(()) };
        }
    };
    // Small pieces of an answer must arrive without delay.
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    match wish.is_tunnel {
        true => client.write_all(CONNECTED).await?,
        false => server.write_all(wish.head.as_bytes()).await?,
    }
    server.write_all(&rest).await?;
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    // Whichever side ends first ends both: a client that has disconnected needs no answer.
    tokio::select! {
        sent = tokio::io::copy(&mut from_client, &mut to_server) => sent.map(drop),
        came = forward_response(&mut from_server, &mut to_client, gauge) => came,
    }
}

/// Opens a connection with a small receive buffer, however fast a server sends.
async fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut refused = io::Error::new(io::ErrorKind::AddrNotAvailable, "it has no address");
    for address in tokio::net::lookup_host((host, port)).await? {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES)?;
        match socket.connect(address).await {
            Ok(server) => return Ok(server),
            Err(error) => refused = error,
        }
    }
    Err(refused)
}

/// Forwards the server's response up to its limit.
async fn forward_response(
    from: &mut (impl AsyncReadExt + Unpin),
    to: &mut (impl AsyncWriteExt + Unpin),
    gauge: &Gauge,
) -> io::Result<()> {
    let mut block = vec![0; BLOCK_BYTES];
    let mut came = 0_usize;
    loop {
        let count = from.read(&mut block).await?;
        if count == 0 {
            return to.shutdown().await;
        }
        // The status is in the first bytes; the reader of the answer would notice it too late for data that arrives at
        // once.
        if came == 0 && is_refusal(&block[..count]) {
            gauge.note_error();
        }
        came = came.saturating_add(count);
        if came > gauge.bytes_at_most() {
            gauge.was_cut.store(true, Ordering::Relaxed);
            return Ok(());
        }
        to.write_all(&block[..count]).await?;
    }
}

/// Whether a response begins with a status that is neither success nor informational, such as `HTTP/1.1 401`. Encrypted
/// responses reveal nothing.
fn is_refusal(begins: &[u8]) -> bool {
    begins.starts_with(b"HTTP/1.") && begins.get(8) == Some(&b' ') && matches!(begins.get(9), Some(b'3'..=b'5'))
}

const CONNECTED: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";
const NO_CONNECTION: &[u8] = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const NOT_YOU: &[u8] = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Reads the head of a request, and the bytes that already followed it.
async fn read_head(client: &mut TcpStream) -> io::Result<(String, Vec<u8>)> {
    let mut bytes = Vec::new();
    let mut block = vec![0; BLOCK_BYTES];
    loop {
        let count = client.read(&mut block).await?;
        if count == 0 || bytes.len() + count > MAX_HEAD_BYTES {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "no request came"));
        }
        let seen = bytes.len().saturating_sub(3);
        bytes.extend_from_slice(&block[..count]);
        if let Some(end) = bytes[seen..].windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = bytes.split_off(seen + end + 4);
            let head = String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            return Ok((head, rest));
        }
    }
}

/// The target of a connection.
#[derive(PartialEq, Debug)]
struct ProxyTarget {
    host: String,
    port: u16,
    /// Whether bytes are only tunnelled, to an encrypted target.
    is_tunnel: bool,
    /// The head for the server, if it is not a tunnel.
    head: String,
}

impl ProxyTarget {
    /// Parses the head of a request to a proxy; `None` if it is invalid or lacks the secret.
    fn read(head: &str, word: &str) -> Option<Self> {
        let mut lines = head.trim_end_matches("\r\n").split("\r\n");
        let [method, target, version] = lines.next()?.split(' ').collect::<Vec<_>>()[..] else { return None };
        let (of_proxy, of_server): (Vec<&str>, Vec<&str>) =
            lines.partition(|line| line.to_ascii_lowercase().starts_with("proxy-"));
        let knows_word = of_proxy.iter().any(|line| {
            let value = line.split_once(':').map(|(_, value)| value.trim());
            value.and_then(|value| value.strip_prefix("Basic ")).is_some_and(|said| said == base64(word.as_bytes()))
        });
        if !knows_word {
            return None;
        }
        if method == "CONNECT" {
            let (host, port) = target.rsplit_once(':')?;
            let host = host.trim_matches(['[', ']']).to_owned();
            return Some(Self { host, port: port.parse().ok()?, is_tunnel: true, head: String::new() });
        }
        let url = reqwest::Url::parse(target).ok().filter(|url| url.scheme() == "http")?;
        let query = url.query().map(|query| format!("?{query}")).unwrap_or_default();
        let first = format!("{method} {}{query} {version}", url.path());
        let head = [first.as_str()].into_iter().chain(of_server).map(|line| format!("{line}\r\n")).collect::<String>();
        Some(Self {
            host: url.host_str()?.trim_matches(['[', ']']).to_owned(),
            port: url.port_or_known_default()?,
            is_tunnel: false,
            head: head + "\r\n",
        })
    }
}

/// Encodes bytes as Base64 (RFC 4648).
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let bits = three.iter().fold(0_u32, |bits, byte| (bits << 8) | u32::from(*byte)) << (8 * (3 - three.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= three.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// Whether the person uses a proxy to reach other computers, which the relay would bypass.
pub(in crate::gateway) fn is_behind_proxy() -> bool {
    let names = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
    names.iter().any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_recognised_by_its_status_line() {
        let table = [
            ("HTTP/1.1 401 Unauthorized", true),
            ("HTTP/1.0 500 x", true),
            ("HTTP/1.1 307", true),
            ("HTTP/1.1 200 OK", false),
            ("HTTP/1.1 100 Continue", false),
            ("HTTP/1.1", false),
            ("HTTP/2 500", false),
            ("\u{16}\u{3}\u{1}encrypted", false),
        ];
        for (begins, wanted) in table {
            assert_eq!(is_refusal(begins.as_bytes()), wanted, "{begins}");
        }
    }

    #[test]
    fn base64_follows_the_standard() {
        let table = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (text, wanted) in table {
            assert_eq!(base64(text.as_bytes()), wanted);
        }
    }

    #[test]
    fn only_clients_with_the_secret_are_relayed_and_the_secret_is_removed() {
        let word = base64(b"workshop:w");
        let plain = format!(
            "POST http://127.0.0.1:8080/v1/chat?x=1 HTTP/1.1\r\nhost: 127.0.0.1:8080\r\n\
             Proxy-Authorization: Basic {word}\r\naccept: */*\r\n\r\n"
        );
        let wish = ProxyTarget::read(&plain, "workshop:w").expect("it is a request");
        assert_eq!((wish.host.as_str(), wish.port, wish.is_tunnel), ("127.0.0.1", 8080, false));
        assert_eq!(wish.head, "POST /v1/chat?x=1 HTTP/1.1\r\nhost: 127.0.0.1:8080\r\naccept: */*\r\n\r\n");
        let tunnel = format!("CONNECT [::1]:443 HTTP/1.1\r\nproxy-authorization: Basic {word}\r\n\r\n");
        let wish = ProxyTarget::read(&tunnel, "workshop:w").expect("it is a request");
        assert_eq!((wish.host.as_str(), wish.port, wish.is_tunnel), ("::1", 443, true));
        for (head, known) in [(plain.as_str(), "other"), ("CONNECT h:443 HTTP/1.1\r\n\r\n", "w"), ("nonsense", "w")] {
            assert_eq!(ProxyTarget::read(head, known), None, "{head}");
        }
    }
}
