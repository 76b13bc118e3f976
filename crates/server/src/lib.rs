//! The doors of Sequent: gRPC, HTTP/JSON, and the admin listener.
