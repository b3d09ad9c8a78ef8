//! The read path answers from memory: not one SQL statement a request.

use crate::kit::{Server, wait_for};

/// The counter of every statement the catalogue runs, as `/metrics` says it.
const STATEMENTS: &str = "formwork_sql_statements_total";

#[test]
fn a_thousand_reads_run_no_sql() {
    let server = Server::start(&["examples/registry"]);
    let resolved = server.resolve("web/nginx:v1").expect_status(200).json();
    let by_digest = resolved["files"][0]["url"].as_str().unwrap().to_owned();
    // Until the example of each version has been processed, reports are written beside the requests.
    let mut before = 0;
    wait_for("every report to be stored", || {
        let made = server.metric("formwork_reports_made_total");
        let statements = server.metric(STATEMENTS);
        let still = made >= 9 && statements == std::mem::replace(&mut before, statements);
        std::thread::sleep(std::time::Duration::from_millis(300));
        still.then_some(())
    });
    assert!(before > 0, "indexing ran no statement: the counter counts nothing");
    for number in 0..250 {
        // Spelled differently each time, so that no answer is one kept from before.
        assert_eq!(server.resolve(&format!("web/nginx:v1&n={number}")).status, 200);
        assert_eq!(
            server.get(&format!("/api/v1/templates/web/nginx:v1/-/files/nginx.jinja?n={number}")).status,
            200
        );
        assert_eq!(server.get(&format!("{by_digest}?n={number}")).status, 200);
        assert_eq!(server.resolve(&format!("databases/redis:v9.{number}")).status, 404);
    }
    assert_eq!(server.metric(STATEMENTS), before, "statements were run for reading");
}
