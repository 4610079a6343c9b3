// Mutations of pure files that no test can detect, each with its reason; `npm run mutants` skips them.

/** By file: `text → replacement`. */
export const EXPLAINED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'src/order-books/ring.ts': {
    'this.#start > 1000 → true': 'when dropped entries are cut off changes no answer',
    'this.#start > 1000 → false': 'as above',
    'this.#start > 1000 → this.#start >= 1000': 'as above',
    'this.#start > 1000 → this.#start <= 1000': 'as above',
  },
  'src/core/token-bucket.ts': {
    'elapsedMs <= 0 → elapsedMs < 0': 'no time brings no tokens',
  },
  'src/block-log/chain.ts': {
    'snapshot.height < last → snapshot.height <= last': 'the equal height is taken a line before',
    'chain.height === null → false': 'null counts as nought, which no height lies below',
  },
  'src/relay/books/block-join.ts': {
    'frame.height <= this.#emitted → frame.height < this.#emitted':
      'the height that went out last goes out at once, as one that everybody reported',
    'this.#waiting.size === 0 → false': 'nothing that waits gives nothing',
  },
}
