use std::io;

/// One connection's side of a protocol: what requests and answers are as bytes.
///
/// A connection has one request in flight at most. A request may take several exchanges: whatever
/// [`take`](Self::take) appends to the output is sent next.
pub trait Wire {
    /// What a connection is asked to do.
    type Request<'a>;
    /// What has become of it.
    type Answer;

    /// Begins a request: appends what is sent first to the output.
    fn begin(&mut self, request: Self::Request<'_>, output: &mut Vec<u8>);

    /// Takes whole messages from the front of the input, and appends what follows from them to the
    /// output. Returns the answer once the request is over. What is left of the input comes again,
    /// with more behind it.
    ///
    /// Is also called for what comes while no request is in flight; an answer is then ignored.
    fn take(&mut self, input: &mut &[u8], output: &mut Vec<u8>) -> Option<Self::Answer>;

    /// The answer to the request in flight when the connection is lost.
    fn lost(&mut self, error: &io::Error) -> Self::Answer;
}
