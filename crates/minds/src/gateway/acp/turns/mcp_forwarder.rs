//! This program as the MCP server that a coding agent starts: it forwards messages between the agent and the running
//! room without interpreting them, and ends when either of them does.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::ExitCode;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// The argument that starts this program as that server; the room's address follows it.
pub const FORWARDER_ARGUMENT: &str = "__relay-tools";
/// The environment variable with the secret that admits a client to the room. It is not an argument, because arguments
/// are visible to everyone on the computer.
pub const WORD_VARIABLE: &str = "WORKSHOP_TOOLS_WORD";
/// How long the room may take to accept the connection.
const CONNECT: Duration = Duration::from_secs(10);
/// The number of bytes that are forwarded at once.
const BLOCK_BYTES: usize = 16 << 10;

/// Forwards messages until one side has ended.
pub fn main(mut arguments: impl Iterator<Item = String>, say: fn(&str), out: impl Write + Send + 'static) -> ExitCode {
    let address = arguments.next().and_then(|address| address.parse::<SocketAddr>().ok());
    let (Some(address), Ok(word)) = (address, std::env::var(WORD_VARIABLE)) else {
        say("this command is only for coding agents that run in a room");
        return ExitCode::from(2);
    };
    match pass_on(address, &word, out) {
        Ok(0) => {
            say("the room did not answer: this session of the agent is over");
            ExitCode::FAILURE
        }
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("the room cannot be reached at {address}: {error}; it may have ended"));
            ExitCode::FAILURE
        }
    }
}

/// Forwards messages until one side has ended. Returns the number of bytes that the room has sent.
fn pass_on(address: SocketAddr, word: &str, mut out: impl Write + Send + 'static) -> io::Result<u64> {
    let mut room = TcpStream::connect_timeout(&address, CONNECT)?;
    // Small requests must arrive without delay.
    room.set_nodelay(true)?;
    room.write_all(format!("{word}\n").as_bytes())?;
    let mut to_room = room.try_clone()?;
    let (ended, end) = sync_channel(2);
    let ended_too = ended.clone();
    // Neither thread is joined: the one that is still reading ends with this process.
    std::thread::Builder::new().stack_size(64 << 10).spawn(move || {
        copy(&mut io::stdin().lock(), &mut to_room);
        let _ = to_room.shutdown(Shutdown::Write);
        let _ = ended.send(None);
    })?;
    std::thread::Builder::new().stack_size(64 << 10).spawn(move || {
        let _ = ended_too.send(Some(copy(&mut room, &mut out)));
    })?;
    let first = end.recv().ok().flatten();
    // The agent has finished: the remaining answers of the room are forwarded for a moment.
    Ok(first.or_else(|| end.recv_timeout(CONNECT).ok().flatten()).unwrap_or(1))
}

/// Copies until one side has ended. Errors are ignored, because they only mean that one side is gone. Returns the
/// number of copied bytes.
fn copy(from: &mut impl Read, to: &mut impl Write) -> u64 {
    let mut block = [0; BLOCK_BYTES];
    let mut passed = 0;
    loop {
        let count = match from.read(&mut block) {
            Ok(count @ 1..) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(0) | Err(_) => return passed,
        };
        if to.write_all(&block[..count]).and_then(|()| to.flush()).is_err() {
            return passed;
        }
        passed += count as u64;
    }
}
