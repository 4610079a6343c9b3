// Copies every fill into SQLite exactly once. It resumes after a reconnect or a restart, as long as the gateway still has
// the missed blocks (five minutes). Longer interruptions become rows of `gaps`.
// Run with WEIR_URL and WEIR_KEY set: npx node examples/copy.ts fills.sqlite

import { DatabaseSync } from 'node:sqlite'
// In your own project, import from '@weir/client'.
import { createClient } from '../src/client/create-client.client.ts'

const { WEIR_URL: url, WEIR_KEY: key } = process.env
const [file, ...more] = process.argv.slice(2)
if (!url || !key || !file || more.length > 0) {
  console.error('Usage: WEIR_URL=<url> WEIR_KEY=<key> npx node examples/copy.ts FILE')
  process.exit(2)
}

const database = new DatabaseSync(file)
database.exec(`
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS fills (time INTEGER, user TEXT, coin TEXT, tid INTEGER, px TEXT, sz TEXT, fill TEXT,
    PRIMARY KEY (time, user, coin, tid)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS gaps (first INTEGER, last INTEGER, reason TEXT);
  CREATE TABLE IF NOT EXISTS place (id INTEGER PRIMARY KEY CHECK (id = 1), height INTEGER);
`)
const addFill = database.prepare('INSERT INTO fills VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING')
const addGap = database.prepare('INSERT INTO gaps VALUES (?, ?, ?)')
const setPlace = database.prepare('INSERT INTO place VALUES (1, ?) ON CONFLICT DO UPDATE SET height = excluded.height')
const place = database.prepare('SELECT height FROM place').get() as { height: number } | undefined

const ended = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ended.abort())
const client = createClient({ url, key, signal: ended.signal })
const from = place === undefined ? {} : { fromBlock: place.height + 1 }
const fills = client.subscribe({ type: 'allFills' }, from)

let kept = place?.height ?? -1
let added = 0
for await (const event of fills) {
  if (event.type === 'gap') addGap.run(event.gap.from, event.gap.to, event.gap.reason)
  if (event.type === 'data') {
    database.exec('BEGIN')
    for (const [user, fill] of event.frame.fills) {
      const { time, coin, tid = 0, px, sz } = fill
      added += Number(addFill.run(time, user, coin, tid, px, sz, JSON.stringify(fill)).changes)
    }
    database.exec('COMMIT')
  }
  // The height is stored after the rows of its block, so that no row is lost. Repeated rows are ignored.
  if (fills.height !== null && fills.height > kept) {
    kept = fills.height
    setPlace.run(kept)
    console.log(`stored everything up to block ${kept}, ${added} fills added`)
  }
  if (event.type === 'end' && event.end.code !== 'aborted') {
    console.error(event.end.message)
    process.exitCode = 1
  }
}
client.close()
database.close()
