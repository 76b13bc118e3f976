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

#[test]
fn they_are_what_the_generator_writes() {
    run(&PYTHON, &["-B"], &[deploy("grafana/generate.py"), "--check".into()]);
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
