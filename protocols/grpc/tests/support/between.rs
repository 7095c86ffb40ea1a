//! What lies between a client and a real server, and what becomes of the bytes there.

use openloop_testbed::GrpcServer;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What becomes of the connections that are open.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Harm {
    /// Torn down (RST), as by a machine that comes back and knows nothing of it.
    Reset,
    /// Closed (FIN).
    Close,
    /// The client is sent bytes that no server of HTTP/2 sends.
    Garbage,
    /// Half-open: nothing more arrives on either side, and neither is told.
    Silence,
}

/// Hands the bytes of each connection to a server and back, until it does one of these things to them. Connections that
/// are opened after that are well.
pub struct Between {
    addr: SocketAddr,
    harm: watch::Sender<Option<Harm>>,
}

impl Between {
    pub async fn start(server: &GrpcServer) -> Self {
        Between::listen(server.addr(), false).await
    }

    /// One that hands the server's bytes over one by one.
    pub async fn start_trickling(server: &GrpcServer) -> Self {
        Between::listen(server.addr(), true).await
    }

    async fn listen(server: SocketAddr, trickles: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let (harm, harmed) = watch::channel(None);
        tokio::spawn(async move {
            loop {
                let (client, _) = listener.accept().await.unwrap();
                let server = TcpStream::connect(server).await.unwrap();
                for socket in [&client, &server] {
                    socket.set_nodelay(true).unwrap();
                }
                let mut harmed = harmed.clone();
                harmed.mark_unchanged();
                match trickles {
                    true => drop(tokio::spawn(trickle(client, server))),
                    false => drop(tokio::spawn(hand_over(client, server, harmed))),
                }
            }
        });
        Between { addr, harm }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    pub fn harm(&self, harm: Harm) {
        self.harm.send_replace(Some(harm));
    }
}

async fn hand_over(
    mut client: TcpStream,
    mut server: TcpStream,
    mut harmed: watch::Receiver<Option<Harm>>,
) {
    tokio::select! {
        _ = copy_bidirectional(&mut client, &mut server) => return,
        changed = harmed.changed() => if changed.is_err() { return },
    }
    let harm = *harmed.borrow();
    match harm {
        None => {}
        Some(Harm::Reset) => client.set_zero_linger().unwrap(),
        Some(Harm::Close) => client.shutdown().await.unwrap_or_default(),
        Some(Harm::Garbage) => {
            let _ = client.write_all(&[0xff; 64]).await;
            // It goes on listening, as one that does not know what it said.
            let _ = copy(&mut client, &mut tokio::io::sink()).await;
        }
        Some(Harm::Silence) => std::future::pending().await,
    }
}

async fn trickle(mut client: TcpStream, mut server: TcpStream) {
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let there = async { drop(copy(&mut from_client, &mut to_server).await) };
    let back = async {
        while let Ok(byte) = from_server.read_u8().await {
            if to_client.write_u8(byte).await.is_err() {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        () = there => {}
        () = back => {}
    }
}
