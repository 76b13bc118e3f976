//! Numbers with their texts.

use crate::{batch::Batch, error::Error, number::Number, sequence::Sequence};

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
    /// A number with its text, from a server.
    ///
    /// ```no_run
    /// # async fn run() -> Result<(), sequent_client::Error> {
    /// # use sequent_client::Client;
    /// let repairs = Client::connect("http://a:7420").await?.sequence("repair")?;
    /// let issued = repairs.with("area", "010").with("office", "6541").next_text().await?;
    /// assert_eq!(issued.text, "010-6541-00001");
    /// # Ok(()) }
    /// ```
    pub async fn next_text(&self) -> Result<Issued, Error> {
        let issued = self.next_texts(1).await?.pop();
        issued.ok_or_else(crate::next::no_number)
    }

    /// So many numbers with their texts, ascending, of one instant and one period, or none.
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
}
