//! Numbers with their texts.

use std::{sync::Arc, time::Duration};

use sequent_format::Timestamp;
use tokio::time::timeout;

use crate::{
    error::Error,
    lease::{grant::Parcel, request_scope::Scope},
    number::Number,
    render::local_render::{Known, Page, Version, now},
    sequence::{Sequence, batch::Batch, fork_safe_wait::call},
    telemetry::client_metrics,
    transport::Verb,
};

/// How often a take begins again because the definition changed under it.
const TURNS_MAX: usize = 4;

/// A number and its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Issued {
    /// The number.
    pub number: Number,
    /// Its text; where the sequence has no template, the number's digits.
    pub text: String,
    /// The key of the period that it belongs to, such as `20260401`; empty where the sequence never resets.
    pub period: String,
    /// The instant that the text shows, in RFC 3339; empty without a template.
    pub at: String,
    /// The version of the sequence's definition.
    pub version: u32,
}

impl Sequence {
    /// A number with its text: rendered here from a lease, as fast as the number almost; by a server where there is no
    /// lease, or no template.
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
    /// The instant is this machine's, unless [`at`](Self::at) names one; texts and their numbers are of one period.
    pub async fn next_text(&self) -> Result<Issued, Error> {
        if let Some(issued) = self.try_next_text() {
            return Ok(issued);
        }
        let outcome = call(self, |here| Box::pin(here.text())).await;
        outcome.inspect_err(client_metrics::failed)
    }

    /// A number with its text that is ready, or `None`: never waits, and sends for more only where texts are rendered here.
    pub fn try_next_text(&self) -> Option<Issued> {
        let here = self.begun()?;
        let Known::Here(page) = here.texts().known() else { return None };
        let now = now(&*here.ground().nature.timers);
        if !page.holds(here.scope(), now) {
            return None;
        }
        let number = page.lease().reservoir().try_next().and_then(Number::of)?;
        page.issued(number, here.scope(), now).ok()
    }

    /// So many numbers with their texts, ascending, of one instant and one period, or none; by one request.
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
        let mut patience = self.patience();
        let mut turns = 0;
        loop {
            let page = match self.texts().known() {
                Known::Here(page) if page.is_over(self.scope(), self.now()) => {
                    self.texts().forget(&page);
                    turns += 1;
                    if turns >= TURNS_MAX {
                        return self.text_from_server().await;
                    }
                    continue;
                }
                Known::Here(page) => self.turned(page)?,
                Known::There => return self.text_from_server().await,
                Known::Nothing => {
                    match self.learn(patience.left()).await {
                        Ok(Some(issued)) => return Ok(issued),
                        Ok(None) => {}
                        Err(error) => patience.again(error).await?,
                    }
                    continue;
                }
            };
            match page.lease().reservoir().next(patience.end()).await {
                // It was waited for beyond its version's end: nobody gets it.
                Ok(_) if page.is_over(self.scope(), self.now()) => {
                    client_metrics::burnt(client_metrics::VERSION_ENDED, 1)
                }
                Ok(number) => {
                    let number = Number::of(number).ok_or_else(crate::sequence::next::no_number)?;
                    return page.issued(number, self.scope(), self.now());
                }
                Err(error) => {
                    let error = self.failed(error);
                    if !error.is_outdated() {
                        patience.again(error).await?;
                        continue;
                    }
                    self.texts().forget(&page);
                    turns += 1;
                    if turns >= TURNS_MAX {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// The page at hand, or the one that follows it now.
    fn turned(&self, page: Arc<Page>) -> Result<Arc<Page>, Error> {
        if page.holds(self.scope(), self.now()) {
            return Ok(page);
        }
        let next = page.next(self.ground(), self.scope())?;
        self.texts().learn(Known::Here(Arc::clone(&next)));
        Ok(next)
    }

    fn now(&self) -> Timestamp {
        now(&*self.ground().nature.timers)
    }

    /// Asks how texts are rendered, by a lease of one number: which is the caller's, if its text is known now.
    async fn learn(&self, within: Duration) -> Result<Option<Issued>, Error> {
        let Some((page, parcel)) = self.page_of(self.scope(), within).await? else { return Ok(None) };
        let (page, parcel) = if page.is_over(self.scope(), self.now()) {
            // The server's clock is behind this one: the version in effect here is asked for by its instant.
            let here = self.scope().at(self.now().to_string());
            let Some(found) = self.page_of(&here, within).await? else { return Ok(None) };
            found
        } else {
            (page, parcel)
        };
        self.texts().learn(Known::Here(Arc::clone(&page)));
        if !page.is_of(parcel.period()) || page.is_over(self.scope(), self.now()) {
            return Ok(None);
        }
        let number = parcel.open().first().and_then(|block| Number::of(block.first()));
        let number = number.ok_or_else(crate::sequence::next::no_number)?;
        client_metrics::issued("lease", 1);
        page.issued(number, self.scope(), self.now()).map(Some)
    }

    /// A page by what a server says of a scope, and the number that came with it; `None` where only servers render.
    async fn page_of(&self, asked: &Scope, within: Duration) -> Result<Option<(Arc<Page>, Parcel)>, Error> {
        let ask = self.endpoints().ask(Verb::Lease, (asked, self.highest()), 1);
        let answer = timeout(within, ask).await.unwrap_or_else(|_| Err(self.late()));
        let parcel = match answer {
            Ok(parcel) => parcel,
            Err(error) if error.says_dense() => {
                self.texts().learn(Known::There);
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let version = Version { number: parcel.version(), end: parcel.version_end() };
        let page = match parcel.rendering() {
            Some(said) => Page::first(self.ground(), self.scope(), (version, said))?,
            None => None,
        };
        if page.is_none() {
            self.texts().learn(Known::There);
        }
        Ok(page.map(|page| (page, parcel)))
    }

    async fn text_from_server(&self) -> Result<Issued, Error> {
        let issued = self.next_texts(1).await?.pop();
        issued.ok_or_else(crate::sequence::next::no_number)
    }
}
