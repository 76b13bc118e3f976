//! The table: each attack by its number in the review that found it, and what runs it.

use std::time::Instant;

use super::{driven, scene::Scene};

/// An attack.
pub(super) struct Attack {
    pub(super) id: &'static str,
    /// If it is run here.
    pub(super) driven: Option<Driven>,
    /// Tests that run it: file and function.
    pub(super) tests: &'static [(&'static str, &'static str)],
    /// What stands for a test, if the attack concerns no running server.
    pub(super) elsewhere: Option<&'static str>,
}

/// Attacks until an instant; tells what came of it.
pub(super) type Run = fn(&Scene, Instant) -> String;

/// An attack that loads a server, and how much of it others may notice.
pub(super) struct Driven {
    /// Settings of the server.
    pub(super) settings: &'static [&'static str],
    pub(super) attack: Run,
    /// How much memory it may add.
    pub(super) memory_mib: u64,
    /// How long 99 in a hundred of the prober's requests may take, of a release build on a quiet machine.
    pub(super) p99_ms: u64,
}

const GREEDY: &str = "crates/cli/tests/it/greedy.rs";
const PRIVACY: &str = "crates/cli/tests/it/privacy.rs";
const REVOKED: &str = "crates/cli/tests/it/tokens/revoked.rs";
const SCOPES: &str = "crates/cli/tests/it/tokens/scopes.rs";
const ABUSE: &str = "crates/cli/tests/it/abuse.rs";
const SECRETS: &str = "crates/cli/tests/it/secrets.rs";
const BROWSERS: &str = "crates/server/tests/api/attacks/browsers.rs";
const CONNECTIONS: &str = "crates/server/tests/api/attacks/connections.rs";
const FRAMES: &str = "crates/server/tests/api/attacks/frames.rs";
const LISTS: &str = "crates/server/tests/api/attacks/lists.rs";
const PROOFS: &str = "crates/server/tests/api/attacks/proofs.rs";
const CATALOG: &str = "crates/engine/src/catalog/tests.rs";
const CAUTIONS: &str = "crates/engine/tests/config/cautions.rs";

const fn tested(id: &'static str, tests: &'static [(&'static str, &'static str)]) -> Attack {
    Attack { id, driven: None, tests, elsewhere: None }
}

const fn driven(
    id: &'static str,
    (attack, settings): (Run, &'static [&'static str]),
    (memory_mib, p99_ms): (u64, u64),
    tests: &'static [(&'static str, &'static str)],
) -> Attack {
    Attack { id, driven: Some(Driven { settings, attack, memory_mib, p99_ms }), tests, elsewhere: None }
}

#[rustfmt::skip]
pub(super) const TABLE: &[Attack] = &[
    // Greedy leases use a bounded sequence up.
    tested("C1", &[
        (GREEDY, "a_bounded_key_keeps_nearly_all_of_its_numbers_and_who_wants_one_is_served"),
        (GREEDY, "a_dense_key_gives_two_large_requests_at_once_and_says_when_it_gives_more"),
        ("crates/engine/src/issue/burn/tests.rs", "many_counters_of_one_sequence_do_not_lift_the_limits_of_others"),
    ]),
    // Previews, each a proof, fill the requests in work. The processors are theirs in part: no time of a number is.
    driven("H1", (driven::previews, &[]), (96, 100), &[(PROOFS, "previews_by_many_take_no_place_of_numbers")]),
    // Lists and definitions, each a look at the whole ledger.
    driven("H2", (driven::lists, &[]), (64, 50), &[(LISTS, "lists_are_answered_without_the_ledger")]),
    // First uses of new names: 504 are configured.
    driven("H3", (driven::first_uses, &["limits.auto_create_max=554"]), (64, 50), &[
        (GREEDY, "first_uses_define_no_more_names_than_allowed_and_known_names_go_on"),
        (CATALOG, "first_uses_define_so_many_sequences_and_so_many_a_second"),
        ("crates/engine/src/open/memory_limit.rs", "keys_use_half_of_the_memory_at_most"),
        ("crates/cli/tests/it/forget.rs", "a_forgotten_name_is_refused_everywhere_and_for_good"),
    ]),
    // Partition values, each a key.
    driven("H4", (driven::partitions, &["limits.keys_per_sequence_max=50"]), (64, 50), &[
        (GREEDY, "one_sequences_partitions_refuse_nobody_elses"),
        ("crates/engine/src/issue/dense/keys.rs", "a_sequence_has_no_more_keys_in_use_than_it_may_until_some_are_idle"),
    ]),
    // Half heads fill the admin listener, and health is refused.
    driven("H5", (driven::half_heads, &[]), (32, 50), &[
        (CONNECTIONS, "health_is_answered_while_others_fill_the_listener"),
    ]),
    // A local user locks files that he may read.
    tested("H6", &[
        (PRIVACY, "files_are_their_users_alone_whatever_the_umask"),
        (PRIVACY, "data_that_others_can_read_is_found"),
    ]),
    // One report pages an operator, and many keep the ledger busy.
    driven("H7", (driven::reports, &[]), (64, 50), &[
        (SCOPES, "a_list_has_what_may_be_listed_and_a_report_is_believed_of_few"),
        ("crates/server/src/service/tests.rs", "how_far_a_sequence_is_is_told_to_those_alone_who_may_see_it"),
    ]),
    // Pages of other sites, and names that lead to this machine.
    tested("H8", &[
        (BROWSERS, "a_page_of_another_site_gets_nothing_and_burns_nothing"),
        (BROWSERS, "nothing_is_burnt_and_own_pages_and_names_are_served"),
        (BROWSERS, "a_body_says_that_it_is_json"),
        ("crates/server/tests/api/redis/bad.rs", "a_request_of_http_is_not_answered_and_does_nothing"),
    ]),
    // A listener beyond loopback in clear, without a word.
    tested("H9", &[
        ("crates/cli/tests/it/tls/refused.rs", "a_listener_beyond_loopback_needs_tls_or_a_word"),
        (REVOKED, "a_configuration_that_is_cut_opens_nothing"),
    ]),
    // The highest version, after which none can follow.
    tested("M1", &[(CATALOG, "a_version_far_ahead_is_refused_so_that_later_ones_are_left")]),
    // Previews turn numbers into texts that look genuine.
    tested("M2", &[(SCOPES, "hidden_numbers_are_revealed_to_those_alone_who_may")]),
    // Streams that are reset, and a log line for each.
    tested("M3", &[
        (ABUSE, "a_flood_of_streams_that_are_reset"),
        (ABUSE, "connections_that_end_in_a_flood_are_counted_and_logged_once_a_minute"),
    ]),
    // Names that nobody defined, each a look into the ledger.
    driven("M4", (driven::unknown_names, &[]), (64, 50), &[
        (LISTS, "names_that_nobody_defined_cause_few_looks"),
        (CATALOG, "many_unknown_names_cause_few_looks_and_the_rest_is_refused"),
    ]),
    // Frames that ask for nothing.
    driven("M5", (driven::control_frames, &[]), (32, 50), &[
        (FRAMES, "frames_that_ask_for_nothing_end_the_connection"),
    ]),
    // Connections that never ask fill the listeners.
    tested("M6", &[
        (ABUSE, "a_thousand_connections_that_never_finish_a_head"),
        (CONNECTIONS, "a_crowd_takes_its_own_places"),
        (CONNECTIONS, "idle_grpc_connections_make_room"),
    ]),
    // Stores and ledger in clear.
    tested("M7", &[(CAUTIONS, "connections_in_clear_to_other_hosts_are_named")]),
    // Known faults of what the program is built from.
    Attack { id: "M8", driven: None, tests: &[], elsewhere: Some(".github/workflows/dependencies.yml") },
    tested("L1", &[(SECRETS, "what_would_command_a_terminal_is_escaped_there_and_only_there")]),
    tested("L2", &[(SECRETS, "a_reason_with_marks_of_direction_is_refused")]),
    tested("L3", &[(CAUTIONS, "passwords_of_urls_and_values_of_variables_are_shown_nowhere")]),
    tested("L4", &[(SECRETS, "a_password_in_a_flag_is_warned_of_and_in_an_address_not_repeated")]),
    tested("L5", &[("crates/cli/src/privacy.rs", "a_crash_leaves_no_copy_of_the_memory")]),
    tested("L6", &[(PRIVACY, "a_secret_that_others_can_read_is_named_by_the_check_the_start_and_doctor")]),
    tested("L7", &[(BROWSERS, "a_transfer_coding_beside_chunked_is_refused")]),
    tested("L8", &[("crates/cli/src/run_files.rs", "files_of_other_users_do_not_count")]),
    // Found later: commands of Redis that are refused cost more than those that are not.
    driven("R1", (driven::refused_commands, &[]), (64, 50), &[]),
    // Thousands of texts with a key of `obf`, on the threads that answer all others.
    driven("R2", (driven::hidden_texts, &[]), (128, 100), &[
        ("crates/engine/src/issue/tests.rs", "other_tasks_have_their_turn_while_many_texts_are_rendered"),
    ]),
];
