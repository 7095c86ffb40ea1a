//! Pages in a browser: only in the long tests, which have one.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by a panic, and says what it did not do"
)]

#[path = "suite/simulated.rs"]
mod simulated;

use openloop_experiment::classified;
use openloop_experiment::{Lifecycle, Plan, Slo, drive};
use openloop_measurer::ok_err;
use openloop_report::{Comparison, Report};
use openloop_sched::{Rate, Ticket};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What is looked at in the page, by the page: it tells the one around it.
const LOOK: &str = r#"<script>
addEventListener("load", () => {
  const wrong = [];
  if (document.documentElement.scrollWidth > innerWidth) wrong.push("wider than the window: " + document.documentElement.scrollWidth);
  const seen = (element) => element.getBoundingClientRect().width > 0;
  for (const svg of [...document.querySelectorAll("figure svg.wide, figure svg.narrow")].filter(seen)) {
    const frame = svg.getBoundingClientRect();
    const labels = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
    labels.forEach(([text, box], index) => {
      if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) wrong.push("cut off: " + text);
      for (const [other, beside] of labels.slice(index + 1)) {
        if (box.left < beside.right && beside.left < box.right && box.top + 2 < beside.bottom && beside.top + 2 < box.bottom) wrong.push("overlap: " + text + " and " + other);
      }
    });
  }
  const figures = [...document.querySelectorAll("figure.chart")];
  const tips = figures.map((figure) => {
    const svg = [...figure.querySelectorAll("svg.wide, svg.narrow")].find(seen);
    const box = svg.getBoundingClientRect();
    svg.dispatchEvent(new PointerEvent("pointermove", { clientX: box.left + box.width / 2, clientY: box.top + 20, bubbles: true }));
    const tip = figure.querySelector(".tip");
    const rows = [...figure.querySelectorAll("tbody tr")].map((row) => row.cells[0].textContent);
    const head = tip.querySelector(".head b");
    if (tip.hidden || !head || !rows.includes(head.textContent)) wrong.push("hovering shows nothing over " + figure.getAttribute("aria-label"));
    const right = tip.getBoundingClientRect().right;
    if (right > innerWidth) wrong.push("what hovering shows is cut off");
    return tip.textContent;
  });
  parent.postMessage(JSON.stringify({ wrong, figures: figures.length, tips, width: innerWidth, dark: matchMedia("(prefers-color-scheme: dark)").matches }), "*");
});
</script>"#;

async fn report(fails: bool) -> Report {
    let plan = Plan::open(Rate::per_second(40.0).unwrap())
        .lifecycle(Lifecycle {
            ramp_up: Duration::from_secs(5),
            warm_up: Duration::from_secs(5),
            steady: Duration::from_secs(60),
            cooldown: Duration::from_secs(5),
        })
        .build()
        .unwrap();
    let work = move |ticket: Ticket| async move {
        if ticket.seq == 1000 && fails {
            std::future::pending::<()>().await;
        }
        tokio::time::sleep(Duration::from_millis(3 + (ticket.seq * 7919) % 997)).await;
        match ticket.seq % 50 == 3 && fails {
            true => Err("no"),
            false => Ok(()),
        }
    };
    let run = drive::shared(&plan, classified(work, ok_err))
        .await
        .unwrap();
    let slo: Slo = "p50<=600ms, p99<=1s, errors<=1%".parse().unwrap();
    Report::new(&run).with_title("a name that is so long that it has to be broken somewhere, https://service.example.org/path/to/something/very/long").with_judgement(&slo.judge(&run))
}

fn look_at(page: &str, name: &str, width: u32, dark: bool) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser");
    std::fs::create_dir_all(&folder).unwrap();
    let path = |what: &str| -> PathBuf { folder.join(format!("{name}-{width}-{dark}{what}.html")) };
    std::fs::write(path(""), page.replace("</body>", &format!("{LOOK}</body>"))).unwrap();
    // A window is no narrower than 500 pixels, a frame in it may be.
    let frame = path("-frame");
    let inside = path("");
    let around = format!(
        r#"<title></title><script>addEventListener("message", (e) => {{ document.title = e.data; }});</script>
        <iframe src="file://{}" width="{width}" height="1200" style="border:0"></iframe>"#,
        inside.display()
    );
    std::fs::write(&frame, around).unwrap();
    let scheme = if dark { 0 } else { 1 };
    // Debian: apt-get install chromium
    let output = Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--dump-dom",
            "--virtual-time-budget=3000",
        ])
        .args(["--enable-logging=stderr", "--v=0"])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .arg("--window-size=1400,1300")
        .arg(format!("--blink-settings=preferredColorScheme={scheme}"))
        .arg(format!("file://{}", frame.display()))
        .output()
        .unwrap_or_else(|error| panic!("chromium: {error}: apt-get install chromium"));
    let dom = String::from_utf8_lossy(&output.stdout);
    let title = dom
        .split_once("<title>")
        .unwrap()
        .1
        .split_once("</title>")
        .unwrap()
        .0
        .replace("&amp;", "&")
        .replace("&lt;", "<")
        .replace("&gt;", ">");
    let said: serde_json::Value =
        serde_json::from_str(&title).unwrap_or_else(|error| panic!("{name}: {error}: {title}"));
    assert_eq!(
        said["wrong"],
        serde_json::json!([]),
        "{name} at {width}, dark {dark}: {said}"
    );
    assert_eq!(
        (&said["width"], &said["dark"]),
        (&width.into(), &dark.into()),
        "{said}"
    );
    let errors = String::from_utf8_lossy(&output.stderr);
    let console: Vec<_> = errors
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect();
    assert!(console.is_empty(), "{name}: {console:?}");
}

#[tokio::test(start_paused = true)]
async fn pages_have_no_overlap_no_cut_off_and_no_error_and_hovering_shows_values() {
    if std::env::var_os("OPENLOOP_FULL").is_none_or(|value| value != "1") {
        println!("not run: OPENLOOP_FULL=1 looks at pages in chromium");
        return;
    }
    let (good, bad) = (report(false).await, report(true).await);
    let mut invalid = bad.clone();
    invalid.validity.valid = false;
    invalid.validity.checks[0].pass = false;
    let page = |write: &dyn Fn(&mut Vec<u8>) -> std::io::Result<()>| {
        let mut page = Vec::new();
        write(&mut page).unwrap();
        String::from_utf8(page).unwrap()
    };
    let comparison = Comparison::new(&good, &bad).unwrap();
    let swept = simulated::swept().await;
    let mut found_little = swept.clone();
    let sweep = found_little.sweep.as_mut().unwrap();
    for capacity in [
        sweep.knee.as_mut(),
        sweep.cliff.as_mut(),
        Some(&mut sweep.max),
    ] {
        capacity.unwrap().known = "at_least".to_owned();
    }
    let others = [
        ("sweep", swept),
        ("sweep-found-little", found_little),
        ("replicas", simulated::replicated().await),
        ("overload", simulated::overloaded().await),
        ("inference", simulated::streamed().await),
    ];
    let others = others.map(|(name, report)| (name, page(&|to| report.write_html(to))));
    for (name, page) in others.into_iter().chain([
        ("good", page(&|to| good.write_html(to))),
        ("bad", page(&|to| bad.write_html(to))),
        ("invalid", page(&|to| invalid.write_html(to))),
        ("comparison", page(&|to| comparison.write_html(to))),
    ]) {
        for width in [1280, 390] {
            for dark in [false, true] {
                look_at(&page, name, width, dark);
            }
        }
    }
}
