//! The way out for a program that may connect to listed hosts.
//!
//! The sandbox has a network of its own with nothing in it but a listener, which the first process
//! opens and hands to the supervisor: a socket stays in the network it was made in. The supervisor
//! accepts there and connects from outside. HTTP `CONNECT`, plain HTTP requests and SOCKS5 are
//! understood. Not here: what a host is and which are listed (`windlass-ports`).

mod connect;
mod request;
mod socks;

use std::{
    io::{self, IoSlice, IoSliceMut},
    mem::MaybeUninit,
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    os::fd::{AsFd, OwnedFd},
    os::unix::net::UnixStream,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use windlass_ports::sandbox::{AddressGuard, Host, HostRule};

use crate::environment::PROXY_PORT;

/// More at once are made to wait by the kernel's queue.
const MOST_CONNECTIONS: usize = 256;
/// Within this time a client says what it wants.
const REQUEST_TIME: Duration = Duration::from_secs(30);

/// Opens the listener in this network and hands it to the supervisor.
pub fn send_listener(channel: &impl AsFd) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PROXY_PORT))?;
    let descriptors = [listener.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = SendAncillaryBuffer::new(&mut space);
    message.push(SendAncillaryMessage::ScmRights(&descriptors));
    sendmsg(
        channel,
        &[IoSlice::new(&[0])],
        &mut message,
        SendFlags::empty(),
    )?;
    Ok(())
}

/// Takes the listener.
pub fn receive_listener(channel: &UnixStream) -> io::Result<TcpListener> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut message = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    recvmsg(
        channel,
        &mut [IoSliceMut::new(&mut byte)],
        &mut message,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let descriptors = message.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    let found: Option<OwnedFd> = descriptors.last();
    found
        .map(TcpListener::from)
        .ok_or_else(|| io::Error::other("no listener was handed out"))
}

/// Accepts for as long as this process lives; it ends with the sandbox, and connections with it.
pub fn serve(listener: TcpListener, rules: &[HostRule], guard: &'static dyn AddressGuard) {
    let rules: Arc<[HostRule]> = rules.into();
    let open = Arc::new(AtomicUsize::new(0));
    std::thread::spawn(move || {
        loop {
            let full = open.load(Ordering::SeqCst) >= MOST_CONNECTIONS;
            let Some((client, _)) = (!full).then(|| listener.accept().ok()).flatten() else {
                // Connections that end make room, and give descriptors back.
                std::thread::sleep(Duration::from_millis(20));
                continue;
            };
            open.fetch_add(1, Ordering::SeqCst);
            let (open, rules) = (Arc::clone(&open), Arc::clone(&rules));
            std::thread::spawn(move || {
                // The client is told what is refused; nothing else can be done about a failure.
                let _ = answer(client, &rules, guard);
                open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
}

/// What a client wants to reach.
struct Target {
    host: Host,
    port: u16,
}

fn answer(client: TcpStream, rules: &[HostRule], guard: &dyn AddressGuard) -> io::Result<()> {
    client.set_read_timeout(Some(REQUEST_TIME))?;
    let mut first = [0];
    if client.peek(&mut first)? == 0 {
        return Ok(());
    }
    let server = match first {
        [5] => socks::accept(&client, rules, guard)?,
        _ => request::accept(&client, rules, guard)?,
    };
    match server {
        Some(server) => relay(&client, &server),
        None => Ok(()),
    }
}

/// Copies both ways until both sides have ended.
fn relay(client: &TcpStream, server: &TcpStream) -> io::Result<()> {
    client.set_read_timeout(None)?;
    std::thread::scope(|scope| {
        scope.spawn(|| pass(client, server));
        pass(server, client);
    });
    Ok(())
}

fn pass(mut from: &TcpStream, mut to: &TcpStream) {
    // Whatever ended it, the other side has to learn of it.
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
    let _ = from.shutdown(Shutdown::Read);
}
