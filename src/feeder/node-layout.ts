// Why a node's data folder has no blocks for us, as a sentence that names the flag to set.

import { REQUIRED_STREAMS, STREAM_FOLDER, STREAMS, type StreamName } from './streams.ts'

/** The flag by which a node writes a stream. */
const FLAG: Readonly<Record<StreamName, string>> = {
  diffs: '--write-raw-book-diffs',
  fills: '--write-fills',
  misc: '--write-misc-events',
  twaps: '--write-fills',
  statuses: '--write-order-statuses',
}
const FLAGS = REQUIRED_STREAMS.map((name) => FLAG[name]).join(' ')

/** Entries of a data folder, or the system's code of why it cannot be read. */
export type FolderListing = { readonly entries: readonly string[] } | { readonly failed: string }

/** `empty`: required streams without a complete line. */
export function layoutTrouble(dataDir: string, listing: FolderListing, empty: readonly StreamName[]): string {
  if ('failed' in listing) return unreadable(dataDir, listing.failed)
  const { entries } = listing
  const has = (name: StreamName) => entries.includes(STREAM_FOLDER[name])
  const unbatched = STREAMS.map((name) => STREAM_FOLDER[name].replace(/_by_block$/, '')).filter((folder) =>
    entries.includes(folder),
  )
  const missing = REQUIRED_STREAMS.filter((name) => !has(name))
  if (missing.length > 0 && unbatched.length > 0)
    return `${dataDir} holds ${unbatched.join(', ')}, not by block: run the node with --batch-by-block`
  if (missing.length === REQUIRED_STREAMS.length) {
    const within = entries.includes('data') ? ` It holds a folder data: perhaps that one is meant.` : ''
    return `${dataDir} ${entries.length === 0 ? 'is empty' : 'holds no blocks of a node'}: --data must name the node's data folder, and the node must run with ${FLAGS} --batch-by-block.${within}`
  }
  if (missing.length > 0)
    return `${dataDir} has no ${missing.map((name) => STREAM_FOLDER[name]).join(', ')}: run the node with ${missing.map((name) => FLAG[name]).join(' ')}`
  return `no block stands in ${empty.map((name) => STREAM_FOLDER[name]).join(', ')} of ${dataDir} yet: does the node run, and is it in step with its chain?`
}

function unreadable(dataDir: string, code: string): string {
  if (code === 'ENOENT') return `the data folder ${dataDir} does not exist: --data must name the node's data folder`
  if (code === 'ENOTDIR') return `${dataDir} is a file: --data must name the node's data folder`
  return `the data folder ${dataDir} cannot be read (${code}): give this user the right to read it`
}
