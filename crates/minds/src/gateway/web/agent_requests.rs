//! Web requests of agents: one request and its answer, limited in time and length.
//!
//! The gate has already decided whether exactly this address may be requested: a redirect is never followed and is
//! itself the answer, and headers that would choose another host or address are refused.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::http_client;
use super::origin::{Origin, shown};

/// The time limit for establishing a connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The time limit for a whole answer.
const ANSWER: Duration = Duration::from_secs(30);
/// The maximum size of an answer in bytes.
const MAX_ANSWER_BYTES: usize = 1 << 20;
/// The supported methods.
pub const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

/// Normalises an address to the form in which it is requested and checked by the gate: absolute, `http` or `https`,
/// without a fragment. The error is the reason why it is invalid.
pub fn web_address(text: &str) -> Result<String, String> {
    let mut url = reqwest::Url::parse(text.trim()).map_err(|error| {
        format!(
            "{text:?} is not a valid address: \
        {error}"
        )
    })?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(format!("{text:?} is not a web address: write http://… or https://…"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("an address must not contain a name or password".to_owned());
    }
    url.set_fragment(None);
    Ok(url.into())
}

/// Headers that are the connection's or that choose which host, address, method or user a server or proxy on the way
/// takes the request for: a request with them would not be the one that a person or a rule allowed.
const REFUSED_HEADERS: &[&str] = &[
    "connection",
    "content-length",
    "expect",
    "forwarded",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-host",
    "x-http-host-override",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-host",
    "x-original-url",
    "x-real-ip",
    "x-rewrite-url",
];

/// The beginnings of names of such headers.
const REFUSED_HEADER_PREFIXES: &[&str] = &["proxy-", "x-forwarded-"];

/// Checks the name of a header that an agent wants to send. The error says why it may not.
pub fn check_header_name(name: &str) -> Result<(), String> {
    let folded = name.trim().to_ascii_lowercase().replace('_', "-");
    let is_refused = REFUSED_HEADERS.contains(&folded.as_str())
        || REFUSED_HEADER_PREFIXES.iter().any(|prefix| folded.starts_with(prefix))
        || folded.starts_with(':');
    if is_refused {
        return Err(format!("the header {name:?} cannot be set: it would change where or how the request is sent"));
    }
    Ok(())
}

/// A web request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WebQuestion {
    /// One of [`METHODS`].
    pub method: String,
    /// The URL, normalised by [`web_address`].
    pub url: String,
    /// The headers: names and values.
    pub headers: Vec<(String, String)>,
    /// The body, if any.
    pub body: Option<String>,
}

/// The response to a web request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WebAnswer {
    /// The status, such as `200`.
    pub status: u16,
    /// The URL of the final response.
    pub url: String,
    /// The headers: names in lower case, and values.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// How a web request ended: with an answer, or without one, for this reason.
pub type WebAnswered = Result<WebAnswer, String>;

impl WebQuestion {
    /// Sends the request, once.
    pub(in crate::gateway) async fn ask(self, cancel: CancellationToken) -> WebAnswered {
        let place = shown(&self.url);
        tokio::select! {
            answer = tokio::time::timeout(ANSWER, self.answer()) => answer.unwrap_or_else(|_| {
                Err(format!("{place} did not answer within {} s", ANSWER.as_secs()))
            }),
            () = cancel.cancelled() => Err("the workshop was stopped, or nobody was waiting".to_owned()),
        }
    }

    /// Removes secrets: a server may return something that an agent never sent.
    pub(in crate::gateway) fn redacted(answered: WebAnswered, redact: impl Fn(&str) -> String) -> WebAnswered {
        let mut answer = answered.map_err(|why| redact(&why))?;
        if let Ok(text) = std::str::from_utf8(&answer.body) {
            answer.body = redact(text).into_bytes();
        }
        answer.headers.iter_mut().for_each(|(_, value)| *value = redact(value));
        Ok(answer)
    }

    async fn answer(self) -> Result<WebAnswer, String> {
        let place = shown(&self.url);
        let describe = |error: &reqwest::Error| match error {
            error if error.is_connect() => format!("{place} cannot be reached"),
            error if error.is_timeout() => format!("{place} did not answer in time"),
            error if error.is_builder() => {
                format!("{place} cannot be requested: its headers or address are invalid")
            }
            _ => format!("the answer of {place} ended in the middle"),
        };
        let method = reqwest::Method::from_bytes(self.method.as_bytes());
        let method = method.map_err(|_| format!("{:?} is not a valid method", self.method))?;
        let mut request = client(&self.url).map_err(|error| describe(&error))?.request(method, &self.url);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(body) = self.body {
            request = request.body(body);
        }
        let mut response = request.send().await.map_err(|error| describe(&error))?;
        let headers = response.headers().iter();
        let headers = headers.filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())));
        let (status, url, headers) = (response.status().as_u16(), response.url().to_string(), headers.collect());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| describe(&error))? {
            if body.len() + chunk.len() > MAX_ANSWER_BYTES {
                return Err(format!("the answer of {place} is longer than {} KiB", MAX_ANSWER_BYTES >> 10));
            }
            body.extend_from_slice(&chunk);
        }
        Ok(WebAnswer { status, url, headers, body })
    }
}

fn client(url: &str) -> reqwest::Result<reqwest::Client> {
    let client = http_client::builder()
        .user_agent(concat!("workshop/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT)
        .pool_max_idle_per_host(0);
    if Origin::of(url).is_some_and(|origin| origin.is_loopback()) { client.no_proxy() } else { client }.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_change_where_a_request_goes_are_refused() {
        for refused in [
            "Host",
            "host",
            " HOST ",
            "Proxy-Authorization",
            "proxy-connection",
            "X-Forwarded-Host",
            "x_forwarded_host",
            "X-Forwarded-For",
            "Forwarded",
            "X-Original-URL",
            "X-Rewrite-URL",
            "X-HTTP-Method-Override",
            "Transfer-Encoding",
            "Content-Length",
            "Connection",
            "Upgrade",
            ":authority",
            "TE",
            "Trailer",
        ] {
            assert!(check_header_name(refused).is_err(), "{refused}");
        }
        for usual in ["Accept", "Authorization", "Content-Type", "X-Token", "If-None-Match", "Cookie", "Range", "Hosts"]
        {
            assert_eq!(check_header_name(usual), Ok(()), "{usual}");
        }
    }

    /// A server on this computer that answers every request with a redirect to another path of its own.
    fn redirecting_server() -> (String, std::thread::JoinHandle<Vec<String>>) {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port of this computer is free");
        let address = listener.local_addr().expect("it has an address");
        let served = std::thread::spawn(move || {
            let mut requests = Vec::new();
            // The second connection is the test's own, which ends it.
            for _ in 0..2 {
                let (mut stream, _) = listener.accept().expect("it is connected to");
                let mut received = [0; 4096];
                let length = std::io::Read::read(&mut stream, &mut received).unwrap_or(0);
                requests
                    .push(String::from_utf8_lossy(&received[..length]).lines().next().unwrap_or_default().to_owned());
                let answer = "HTTP/1.1 307 Temporary Redirect\r\nLocation: /admin\r\nContent-Length: 0\r\n\r\n";
                // The test's own connection may be closed already.
                drop(std::io::Write::write_all(&mut stream, answer.as_bytes()));
            }
            requests
        });
        (format!("http://{address}"), served)
    }

    #[test]
    fn a_redirect_within_a_host_is_the_answer_and_is_not_followed() {
        let (server, served) = redirecting_server();
        let question = WebQuestion {
            method: "POST".into(),
            url: format!("{server}/public/comment"),
            headers: vec![("X-Token".into(), "t".into())],
            body: Some("text".into()),
        };
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
        let answered = runtime.block_on(question.ask(CancellationToken::new()));
        let answer = answered.expect("it answers");
        assert_eq!((answer.status, answer.url), (307, format!("{server}/public/comment")));
        assert!(answer.headers.contains(&("location".to_owned(), "/admin".to_owned())));
        drop(std::net::TcpStream::connect(server.trim_start_matches("http://")));
        let requests = served.join().expect("the server ends");
        assert_eq!(requests, ["POST /public/comment HTTP/1.1", ""]);
    }

    #[test]
    fn addresses_are_normalised_or_refused() {
        for (written, read) in [
            ("https://Example.org", "https://example.org/"),
            (" http://example.org:80/a?b=c#d", "http://example.org/a?b=c"),
            ("https://example.org/a/../b", "https://example.org/b"),
        ] {
            assert_eq!(web_address(written).as_deref(), Ok(read));
        }
        for wrong in ["", "example.org", "file:///etc/passwd", "https://me:word@example.org/", "data:text/plain,a"] {
            assert!(web_address(wrong).is_err(), "{wrong}");
        }
    }
}
