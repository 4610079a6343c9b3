// Deliberate breakages, each a changed text in one file of src. The simulation must detect every one.

export interface Breakage {
  readonly file: string
  readonly text: string
  readonly broken: string
}

export const BREAKAGES = {
  /** Of the blocks that came since a Snapshot was read, the last is not sent after it. */
  'replay-bound': {
    file: 'src/relay/books/book-fanout.ts',
    text: 'if (block.height <= cleared)',
    broken: 'if (block.height < cleared)',
  },
  /** A block goes out before all hubs have reported it. */
  'skipped-barrier': {
    file: 'src/relay/books/block-join.ts',
    text: 'if (missing.length > 0 && !overdue) break',
    broken: '',
  },
  /** What a hub has reported is forgotten. */
  'forgotten-report': {
    file: 'src/relay/books/block-join.ts',
    text: 'this.#reported.set(hub, frame.height)',
    broken: '',
  },
  /** A hub makes checksums for those alone that are there now. */
  'unchecked-absence': {
    file: 'src/order-books/relay-links.do.ts',
    text: 'Date.now() < this.#checksumAllUntilMs',
    broken: 'false',
  },
  /** A minute that is paid is charged again with the next one. */
  'double-minute': {
    file: 'src/metering/streams/stream-ledger.ts',
    text: 'Math.max(row.ordinal, charge.ordinal - charge.count) + 1',
    broken: 'Math.min(row.ordinal, charge.ordinal - charge.count)',
  },
  /** A failed report drops the ends that it was to report. */
  'lost-end': {
    file: 'src/relay/minutes/meter-client.ts',
    text: 'this.#reject(batch, error)\n      return false',
    broken:
      'this.#endings = this.#endings.slice(batch.endings.length)\n      this.#reject(batch, error)\n      return false',
  },
  /** No feeder receives the interests of relays. */
  'untold-want': {
    file: 'src/block-log/order-interests.do.ts',
    text: 'this.#names[kind].add(added)',
    broken: '',
  },
} as const satisfies Record<string, Breakage>

export type BreakageName = keyof typeof BREAKAGES
