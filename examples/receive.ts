// Receives batches that a pipeline sends to a webhook, and checks that Weir signed them. It stores one row per `_key`
// in SQLite, so repeated rows change nothing. It confirms a batch once its rows are on disk; a confirmed batch is not
// sent again.
// Run with the secret of the pipeline: WEBHOOK_SECRET=whsec_… npx node examples/receive.ts rows.sqlite 9000

import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'

type Batch = { topic: string; from: number; to: number; rows: { _key: string }[] }

const MAX_BYTES = 32 * 1024 * 1024
const MAX_AGE_S = 300

const [file, port = '9000'] = process.argv.slice(2)
const { WEBHOOK_SECRET: secret } = process.env
if (!file || !secret?.startsWith('whsec_')) {
  console.error('Usage: WEBHOOK_SECRET=whsec_… npx node examples/receive.ts FILE [PORT]')
  process.exit(2)
}
const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
const database = new DatabaseSync(file)
database.exec('CREATE TABLE IF NOT EXISTS rows (key TEXT PRIMARY KEY, topic TEXT, row TEXT)')
const insert = database.prepare('INSERT INTO rows VALUES (?, ?, ?) ON CONFLICT DO NOTHING')

/** Verifies the signature as Standard Webhooks defines it. Old requests are rejected, because they may be replays. */
function isSigned(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': signatures } = headers
  if (!(Math.abs(Date.now() / 1000 - Number(seconds)) < MAX_AGE_S)) return false
  const own = Buffer.from(`v1,${createHmac('sha256', key).update(`${id}.${seconds}.`).update(body).digest('base64')}`)
  const sent = String(signatures)
    .split(' ')
    .map((each) => Buffer.from(each))
  return sent.some((each) => each.length === own.length && timingSafeEqual(each, own))
}

function keep({ topic, from, to, rows }: Batch): void {
  database.exec('BEGIN')
  const added = rows.filter((row) => insert.run(row._key, topic, JSON.stringify(row)).changes === 1)
  database.exec('COMMIT')
  console.log(`${topic} ${from} to ${to}: ${rows.length} rows, ${added.length} of them new`)
}

const server = createServer(async (request, response) => {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const piece of request) {
    bytes += piece.length
    if (bytes > MAX_BYTES) return request.destroy()
    pieces.push(piece)
  }
  const body = Buffer.concat(pieces)
  if (!isSigned(request.headers, body)) return response.writeHead(401).end()
  keep(JSON.parse(body.toString()) as Batch)
  response.writeHead(204).end()
})
server.listen(Number(port), '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
)
