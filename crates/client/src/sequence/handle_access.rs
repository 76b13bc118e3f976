//! What a handle lends to those that take, wait and render for it.

use std::time::Duration;

use sequent_buffer::{Empty, Reservoir, TakeError};

use crate::{
    client::state::Ground,
    error::Error,
    lease::{high_water::Highest, request_scope::Scope},
    render::local_render::Texts,
    sequence::Sequence,
    transport::endpoints::Endpoints,
};

impl Sequence {
    #[inline]
    pub(crate) fn draw(&self) -> Result<u64, Empty> {
        self.reservoir.draw()
    }

    pub(crate) fn reservoir(&self) -> &Reservoir {
        &self.reservoir
    }

    /// How long each take may wait.
    pub(crate) fn patience_for(&self) -> Duration {
        self.deadline
    }

    pub(crate) fn endpoints(&self) -> &Endpoints {
        &self.client.ground().endpoints
    }

    pub(crate) fn texts(&self) -> &Texts {
        &self.shared.texts
    }

    pub(crate) fn ground(&self) -> &Ground {
        self.client.ground()
    }

    pub(crate) fn late(&self) -> Error {
        Error::late(self.name(), self.deadline)
    }

    pub(crate) fn failed(&self, error: TakeError) -> Error {
        Error::of(error, self.name(), self.deadline)
    }

    pub(crate) fn scope(&self) -> &Scope {
        self.shared.scope()
    }

    pub(crate) fn highest(&self) -> &Highest {
        &self.shared.highest
    }
}
