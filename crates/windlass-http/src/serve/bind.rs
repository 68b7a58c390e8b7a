//! Takes the port, also right after another process let go of it.

use std::{io, net::SocketAddr, time::Duration};

use tokio::{
    net::{TcpListener, TcpSocket},
    time::Instant,
};

use super::ServeError;

const BACKLOG: u32 = 1024;
/// How long a predecessor may take to let go of the port.
const TIMEOUT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(50);

pub(super) async fn bind(address: SocketAddr) -> Result<TcpListener, ServeError> {
    let give_up = Instant::now() + TIMEOUT;
    loop {
        match try_bind(address) {
            Ok(listener) => return Ok(listener),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && Instant::now() < give_up => {
                tokio::time::sleep(PAUSE).await;
            }
            Err(source) => return Err(ServeError::Bind { address, source }),
        }
    }
}

fn try_bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    // Connections of a predecessor that linger in TIME_WAIT must not keep the port.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
