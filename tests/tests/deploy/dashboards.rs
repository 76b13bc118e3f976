//! The dashboards are what the generator writes; and the queries of their panels.

use serde_json::Value;

use crate::{
    tool::{PYTHON, run},
    tree::{deploy, files, text},
};

/// What a panel asks.
#[derive(Debug)]
pub(crate) struct Query {
    pub(crate) panel: String,
    pub(crate) expression: String,
}

/// Every query of every dashboard.
pub(crate) fn queries() -> Vec<Query> {
    let mut found = Vec::new();
    for file in files("grafana/dashboards", "json") {
        let dashboard: Value = serde_json::from_str(&text(&file)).unwrap();
        let title = dashboard["title"].as_str().unwrap();
        for panel in dashboard["panels"].as_array().unwrap() {
            let panel_title = panel["title"].as_str().unwrap();
            let targets = panel["targets"].as_array().unwrap();
            assert!(!targets.is_empty(), "{title}, {panel_title}: no query");
            found.extend(targets.iter().map(|target| Query {
                panel: format!("{title}, {panel_title}"),
                expression: target["expr"].as_str().unwrap().to_owned(),
            }));
        }
    }
    found
}

/// The only query of a panel, by the titles of its dashboard and its own.
pub(crate) fn query(dashboard: &str, panel: &str) -> String {
    let title = format!("{dashboard}, {panel}");
    let found: Vec<Query> = queries().into_iter().filter(|query| query.panel == title).collect();
    assert_eq!(found.len(), 1, "{title}: {found:?}");
    found[0].expression.clone()
}

#[test]
fn they_are_what_the_generator_writes() {
    run(&PYTHON, &["-B"], &[deploy("grafana/generate.py"), "--check".into()]);
}

/// A figure has a colour: nothing known must not look like nothing wrong.
#[test]
fn no_figure_is_green_when_nothing_is_known() {
    let mut figures = 0;
    for file in files("grafana/dashboards", "json") {
        let dashboard: Value = serde_json::from_str(&text(&file)).unwrap();
        for panel in dashboard["panels"].as_array().unwrap().iter().filter(|panel| panel["type"] == "stat") {
            let (title, asked) = (&panel["title"], panel["targets"][0]["expr"].as_str().unwrap());
            assert!(!asked.contains("vector("), "{title}: {asked}");
            figures += 1;
        }
    }
    assert!(figures > 10, "only {figures} figures found: the check would be empty");
    let guard: Value = serde_json::from_str(&text(&deploy("grafana/dashboards/guard.json"))).unwrap();
    for title in ["Ledger trusted", "Ledger reached"] {
        let panels = guard["panels"].as_array().unwrap();
        let panel = panels.iter().find(|panel| panel["title"] == title).unwrap();
        let unknown = &panel["fieldConfig"]["defaults"]["mappings"][0]["options"];
        assert_eq!(
            (&unknown["match"], &unknown["result"]["color"]),
            (&"null+nan".into(), &"red".into()),
            "{title}"
        );
    }
}

#[test]
fn there_is_one_for_each_subject() {
    let names: Vec<String> = files("grafana/dashboards", "json")
        .iter()
        .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(names, ["guard", "overview", "reservoir", "runtime", "sdk", "shards"]);
    assert!(queries().len() > 50, "{} queries", queries().len());
}
