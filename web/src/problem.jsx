// Errors in place: a sentence with its hint, and a boundary that keeps an error of a tab in that tab.
import { Component } from 'react';

/** Text with the parts between backticks as code. */
function withCode(text) {
  return text.split('`').map((part, k) => (k % 2 === 1 ? <code key={k}>{part}</code> : part));
}

/** Sentence of an error and its hint. */
export function ProblemText({ error, retry }) {
  return (
    <div className="problem" role="alert">
      <p>{withCode(error?.message || String(error))}</p>
      {error?.hint && <p className="hint">{withCode(error.hint)}</p>}
      {retry && <p><button type="button" onClick={retry}>Try again</button></p>}
    </div>
  );
}

/** Shows the error of a child in its place. */
export class ErrorBoundary extends Component {
  state = { error: null };

  static getDerivedStateFromError(error) {
    return { error };
  }

  render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return <ProblemText error={error} retry={() => this.setState({ error: null })} />;
  }
}

/** State of a load: nothing if it is done, else its error or a word that it is under way. */
export function LoadState({ state, what }) {
  if (state.error) return <ProblemText error={state.error} />;
  return state.value == null ? <p className="quiet">Loading {what} …</p> : null;
}
