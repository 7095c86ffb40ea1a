//! A closed loop over n connections: hyper by itself against `Http::call`, in alternation.
//!
//! `cargo run --release -p openloop-http --example closed -- http://127.0.0.1:8080/ [connections] [seconds] [rounds]`
//!
//! The bare loop is the fastest that hyper was seen to be: request loop and connection in one task, one select over
//! the whole loop. Both run on one thread; the figure to look at is the ratio.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use openloop_http::{Connections, Http};
use openloop_measurer::Operation;
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::task::LocalSet;

struct Setting {
    url: String,
    connections: usize,
    length: Duration,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let setting = Setting {
        url: arguments.next().unwrap(),
        connections: arguments.next().map_or(50, |text| text.parse().unwrap()),
        length: Duration::from_secs_f64(arguments.next().map_or(2.0, |text| text.parse().unwrap())),
    };
    let rounds: usize = arguments.next().map_or(3, |text| text.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut ratios = Vec::new();
    for _ in 0..rounds {
        let bare = runtime.block_on(LocalSet::new().run_until(bare(&setting)));
        let ours = runtime.block_on(LocalSet::new().run_until(ours(&setting)));
        println!(
            "bare {bare:9.0}/s   ours {ours:9.0}/s   ratio {:.3}",
            ours / bare
        );
        ratios.push(ours / bare);
    }
    ratios.sort_by(f64::total_cmp);
    println!("median ratio {:.3}", ratios[ratios.len() / 2]);
}

async fn bare(setting: &Setting) -> f64 {
    let url: hyper::Uri = setting.url.parse().unwrap();
    let address = url.authority().unwrap().to_string();
    let count = Rc::new(Cell::new(0_u64));
    let started = Instant::now();
    let mut tasks = Vec::new();
    for _ in 0..setting.connections {
        let (count, address, path) = (count.clone(), address.clone(), url.path().to_owned());
        let length = setting.length;
        tasks.push(tokio::task::spawn_local(async move {
            let tcp = TcpStream::connect(&address).await.unwrap();
            tcp.set_nodelay(true).unwrap();
            let (mut sender, connection) = http1::handshake(TokioIo::new(tcp)).await.unwrap();
            let requests = async {
                while started.elapsed() < length {
                    let request = hyper::Request::get(&path)
                        .header("host", &address)
                        .body(Full::<Bytes>::default())
                        .unwrap();
                    let mut body = sender.send_request(request).await.unwrap().into_body();
                    while let Some(frame) = body.frame().await {
                        frame.unwrap();
                    }
                    count.set(count.get() + 1);
                }
            };
            tokio::select! { () = requests => {} ended = connection => ended.unwrap() }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    count.get() as f64 / started.elapsed().as_secs_f64()
}

async fn ours(setting: &Setting) -> f64 {
    let http = Http::builder(&setting.url)
        .connections(Connections::pool(setting.connections))
        .build()
        .unwrap();
    let count = Rc::new(Cell::new(0_u64));
    let started = Instant::now();
    let mut tasks = Vec::new();
    for _ in 0..setting.connections {
        let (count, http, length) = (count.clone(), http.clone(), setting.length);
        tasks.push(tokio::task::spawn_local(async move {
            while started.elapsed() < length {
                http.call(http.request()).await.unwrap();
                count.set(count.get() + 1);
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    count.get() as f64 / started.elapsed().as_secs_f64()
}
