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
            "bare {:7.0}/s {:5.2} CPU s/M   ours {:7.0}/s {:5.2} CPU s/M   ratio {:.3}, of CPU {:.3}",
            bare.rate,
            bare.cpu,
            ours.rate,
            ours.cpu,
            ours.rate / bare.rate,
            bare.cpu / ours.cpu
        );
        ratios.push((ours.rate / bare.rate, bare.cpu / ours.cpu));
    }
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let rate = ratios[ratios.len() / 2].0;
    ratios.sort_by(|a, b| a.1.total_cmp(&b.1));
    let cpu = ratios[ratios.len() / 2].1;
    println!("median ratio {rate:.3}, of CPU {cpu:.3}");
}

/// What one loop achieved.
struct Achieved {
    /// Answers per second.
    rate: f64,
    /// Seconds of CPU per million answers.
    cpu: f64,
}

impl Achieved {
    fn of(count: u64, took: Duration, cpu: Duration) -> Self {
        Achieved {
            rate: count as f64 / took.as_secs_f64(),
            cpu: cpu.as_secs_f64() * 1e6 / count as f64,
        }
    }
}

/// What this thread has spent on a CPU.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

async fn bare(setting: &Setting) -> Achieved {
    let url: hyper::Uri = setting.url.parse().unwrap();
    let address = url.authority().unwrap().to_string();
    let count = Rc::new(Cell::new(0_u64));
    let (started, spent) = (Instant::now(), cpu());
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
    Achieved::of(count.get(), started.elapsed(), cpu() - spent)
}

async fn ours(setting: &Setting) -> Achieved {
    let http = Http::builder(&setting.url)
        .connections(Connections::pool(setting.connections))
        .build()
        .unwrap();
    let count = Rc::new(Cell::new(0_u64));
    let (started, spent) = (Instant::now(), cpu());
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
    Achieved::of(count.get(), started.elapsed(), cpu() - spent)
}
