//! Texts of numbers: [`Issued`], and the methods of [`Sequence`] that return it.

use std::{sync::Arc, time::Duration};

use sequent_format::Timestamp;
use tokio::time::timeout;

use crate::{
    error::Error,
    lease::{grant::Grant, request_scope::RequestScope},
    number::Number,
    render::local_render::{LocalRenderer, RenderMode, Version, now},
    sequence::{Sequence, batch::Batch, fork_safe_wait::fork_safe_call},
    telemetry::client_metrics,
    transport::Verb,
};

/// How often a call starts again because the definition changed meanwhile.
const DEFINITION_CHANGES_MAX: usize = 4;

/// A number and its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Issued {
    /// The number.
    pub number: Number,
    /// Its text. Without a template, the digits of the number.
    pub text: String,
    /// Key of its period, such as `20260401`; empty if the sequence never resets.
    pub period: String,
    /// The instant that the text shows, in RFC 3339; empty without a template.
    pub at: String,
    /// Version of the definition.
    pub version: u32,
}

impl Sequence {
    /// A number with its text. It is rendered locally from a lease, almost as fast as the number alone, or by a
    /// server if there is no lease or no template.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), sequent_client::Error> {
    /// # use sequent_client::Client;
    /// let client = Client::in_memory().template("repair", "@{ctx,area,len=3}-@{seq,w=5}", "UTC")?;
    /// let repairs = client.sequence("repair")?;
    /// assert_eq!(repairs.with("area", "010").next_text().await?.text, "010-00001");
    /// # Ok(()) }
    /// ```
    ///
    /// The instant is this machine's, unless [`at`](Self::at) names one. Number and text are of the same period.
    pub async fn next_text(&self) -> Result<Issued, Error> {
        if let Some(issued) = self.try_next_text() {
            return Ok(issued);
        }
        let outcome = fork_safe_call(self, |here| Box::pin(here.text())).await;
        outcome.inspect_err(client_metrics::failed)
    }

    /// A number with its text that is ready, or `None`. It never waits. It starts a refill only if texts are rendered
    /// locally.
    pub fn try_next_text(&self) -> Option<Issued> {
        let here = self.in_this_process_if_started()?;
        let RenderMode::Local(renderer) = here.shared.render_state.mode() else { return None };
        let now = now(&*here.state().environment.timers);
        if !renderer.holds(&here.shared.scope, now) {
            return None;
        }
        let number = renderer.lease.reservoir.try_next().and_then(Number::of)?;
        renderer.issued(number, &here.shared.scope, now).ok()
    }

    /// `count` numbers with their texts, in ascending order, of one instant and one period, or none. It takes one
    /// request.
    pub async fn next_texts(&self, count: u32) -> Result<Vec<Issued>, Error> {
        let Batch { numbers, texts, period, at, version } = self.next_batch(count).await?;
        let mut texts = texts.into_iter();
        let issued = numbers.into_iter().map(|number| Issued {
            number,
            text: texts.next().unwrap_or_else(|| number.to_string()),
            period: period.clone(),
            at: at.clone(),
            version,
        });
        Ok(issued.collect())
    }

    async fn text(&self) -> Result<Issued, Error> {
        let mut retry = self.retry_deadline();
        let mut changes = 0;
        loop {
            let renderer = match self.shared.render_state.mode() {
                RenderMode::Local(renderer) if renderer.is_over(&self.shared.scope, self.now()) => {
                    self.shared.render_state.forget(&renderer);
                    changes += 1;
                    if changes >= DEFINITION_CHANGES_MAX {
                        return self.text_from_server().await;
                    }
                    continue;
                }
                RenderMode::Local(renderer) => self.current_renderer(renderer)?,
                RenderMode::Server => return self.text_from_server().await,
                RenderMode::Unknown => {
                    match self.learn(retry.remaining()).await {
                        Ok(Some(issued)) => return Ok(issued),
                        Ok(None) => {}
                        Err(error) => retry.pause_or_fail(error).await?,
                    }
                    continue;
                }
            };
            match renderer.lease.reservoir.next(retry.end()).await {
                // The wait lasted beyond the end of the version, so nobody gets the number.
                Ok(_) if renderer.is_over(&self.shared.scope, self.now()) => {
                    client_metrics::burnt(client_metrics::VERSION_ENDED, 1);
                }
                Ok(number) => {
                    let number = Number::of(number).ok_or_else(crate::sequence::next::no_number)?;
                    return renderer.issued(number, &self.shared.scope, self.now());
                }
                Err(error) => {
                    let error = self.failed(error);
                    if !error.is_outdated() {
                        retry.pause_or_fail(error).await?;
                        continue;
                    }
                    self.shared.render_state.forget(&renderer);
                    changes += 1;
                    if changes >= DEFINITION_CHANGES_MAX {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// This renderer, or the one that follows it if this one is not valid now.
    fn current_renderer(&self, renderer: Arc<LocalRenderer>) -> Result<Arc<LocalRenderer>, Error> {
        if renderer.holds(&self.shared.scope, self.now()) {
            return Ok(renderer);
        }
        let next = renderer.next(self.state(), &self.shared.scope)?;
        self.shared.render_state.set(RenderMode::Local(Arc::clone(&next)));
        Ok(next)
    }

    fn now(&self) -> Timestamp {
        now(&*self.state().environment.timers)
    }

    /// Asks a server how texts are rendered, by a lease of one number. The caller gets that number if its text can be
    /// rendered now.
    async fn learn(&self, within: Duration) -> Result<Option<Issued>, Error> {
        let Some((renderer, grant)) = self.renderer_for(&self.shared.scope, within).await? else {
            return Ok(None);
        };
        let (renderer, grant) = if renderer.is_over(&self.shared.scope, self.now()) {
            // The server's clock is behind this one, so the version in effect here is requested by its instant.
            let here = self.shared.scope.at(self.now().to_string());
            let Some(found) = self.renderer_for(&here, within).await? else { return Ok(None) };
            found
        } else {
            (renderer, grant)
        };
        self.shared.render_state.set(RenderMode::Local(Arc::clone(&renderer)));
        if !renderer.is_of(grant.period()) || renderer.is_over(&self.shared.scope, self.now()) {
            return Ok(None);
        }
        let number = grant.into_blocks().first().and_then(|block| Number::of(block.first()));
        let number = number.ok_or_else(crate::sequence::next::no_number)?;
        client_metrics::issued("lease", 1);
        renderer.issued(number, &self.shared.scope, self.now()).map(Some)
    }

    /// A renderer from a server's response, and the number that came with it. `None` if only servers render.
    async fn renderer_for(
        &self,
        asked: &RequestScope,
        within: Duration,
    ) -> Result<Option<(Arc<LocalRenderer>, Grant)>, Error> {
        let ask = self.state().endpoints.ask(Verb::Lease, (asked, &self.shared.high_water), 1);
        let answer = timeout(within, ask).await.unwrap_or_else(|_| Err(self.late()));
        let grant = match answer {
            Ok(grant) => grant,
            Err(error) if error.says_dense() => {
                self.shared.render_state.set(RenderMode::Server);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let version = Version { number: grant.version, end: grant.template_data.version_end };
        let renderer = match &grant.template_data.rendering {
            Some(template_settings) => {
                LocalRenderer::first(self.state(), &self.shared.scope, (version, template_settings))?
            }
            None => None,
        };
        if renderer.is_none() {
            self.shared.render_state.set(RenderMode::Server);
        }
        Ok(renderer.map(|renderer| (renderer, grant)))
    }

    async fn text_from_server(&self) -> Result<Issued, Error> {
        let issued = self.next_texts(1).await?.pop();
        issued.ok_or_else(crate::sequence::next::no_number)
    }
}
