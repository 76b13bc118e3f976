//! Access to the parts of a handle, for the modules that take, wait and render.

use std::time::Duration;

use sequent_buffer::{Empty, Reservoir, TakeError};

use crate::{
    client::state::ClientState,
    error::Error,
    lease::{high_water::HighWater, request_scope::RequestScope},
    render::local_render::RenderState,
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

    /// How long each call may wait.
    pub(crate) fn timeout_duration(&self) -> Duration {
        self.deadline
    }

    pub(crate) fn endpoints(&self) -> &Endpoints {
        &self.client.state().endpoints
    }

    pub(crate) fn render_state(&self) -> &RenderState {
        &self.shared.render_state
    }

    pub(crate) fn state(&self) -> &ClientState {
        self.client.state()
    }

    pub(crate) fn late(&self) -> Error {
        Error::late(self.name(), self.deadline)
    }

    pub(crate) fn failed(&self, error: TakeError) -> Error {
        Error::of(error, self.name(), self.deadline)
    }

    pub(crate) fn scope(&self) -> &RequestScope {
        self.shared.scope()
    }

    pub(crate) fn high_water(&self) -> &HighWater {
        &self.shared.high_water
    }
}
