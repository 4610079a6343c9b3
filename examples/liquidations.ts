// Alerts of large liquidations, on standard output and to a webhook of Slack, Discord, Telegram or your own. Each
// liquidation comes once, even after restarts: the bot keeps its place and undelivered alerts in a file.
// Run with WEIR_URL and WEIR_KEY set: npx node examples/liquidations.ts 10000 --webhook https://… --format slack

import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
// In your own project, import from '@weir/client'.
import { createClient } from '../src/client/create-client.client.ts'
import { Delivery, postTo } from './alerts/delivery.ts'
import { type Liquidation, LiquidationGroups } from './alerts/liquidation-groups.ts'
import { type Alert, alertOf, FORMATS, type Format } from './alerts/messages.ts'
import { Outbox } from './alerts/outbox.ts'

const USAGE = `Usage: WEIR_URL=<url> WEIR_KEY=<key> npx node examples/liquidations.ts DOLLARS [options]
  DOLLARS          alert of liquidations of at least this amount
  --webhook URL    also post alerts there; or set WEBHOOK_URL, which other users of the machine cannot see
  --format FORMAT  slack, discord, telegram (a URL with ?chat_id=…) or json (default)
  --state FILE     what was seen and is not delivered yet (liquidations.sqlite)`
const CHECK_EVERY_MS = 250

type Settings = { least: number; webhook: string | undefined; format: Format; state: string }

/** Null if the arguments are invalid. */
function settingsOf(args: string[]): Settings | null {
  const text = { type: 'string' as const }
  const options = {
    webhook: { ...text, default: process.env.WEBHOOK_URL ?? '' },
    format: { ...text, default: 'json' },
    state: { ...text, default: 'liquidations.sqlite' },
  }
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    const least = Number(positionals[0])
    if (!(least >= 0) || positionals.length > 1) return null
    const format = FORMATS.find((one) => one === values.format)
    if (!format) throw new Error(`--format: use one of ${FORMATS.join(', ')}`)
    const webhook = values.webhook || undefined
    // The URL is not shown, because it is a secret.
    if (webhook && !/^https?:$/.test(URL.parse(webhook)?.protocol ?? '')) throw new Error('--webhook: use an HTTP URL')
    if (webhook && format === 'telegram' && !new URL(webhook).searchParams.get('chat_id'))
      throw new Error('--webhook: add ?chat_id=… to the URL for --format telegram')
    return { least, webhook, format, state: values.state }
  } catch (error) {
    console.error((error as Error).message)
    return null
  }
}

const { WEIR_URL: url, WEIR_KEY: key } = process.env
const settings = settingsOf(process.argv.slice(2))
if (!url || !key || !settings) {
  console.error(USAGE)
  process.exit(2)
}
const { least, webhook, format, state } = settings

const outbox = new Outbox(state)
const groups = new LiquidationGroups()
const ended = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => ended.abort())
const client = createClient({ url, key, signal: ended.signal, onNotice: (text) => console.error(text) })

function report(alert: Alert | null, fills: readonly string[], time: number): void {
  if (alert) console.log(alert.text)
  outbox.store(fills, time, webhook ? alert : null)
}

function reportAll(liquidations: readonly Liquidation[]): void {
  for (const each of liquidations) report(Number(each.usd) >= least ? alertOf(each) : null, each.fills, each.time)
}

const { height } = outbox
const stream = client.subscribe({ type: 'liquidationFills' }, height === null ? {} : { fromBlock: height + 1 })
/** Between events, all events up to the height are processed. Open groups are read again after a restart. */
const checking = setInterval(() => {
  reportAll(groups.due(Date.now()))
  if (groups.size === 0 && stream.height !== null && stream.height > (outbox.height ?? -1))
    outbox.height = stream.height
}, CHECK_EVERY_MS)

async function deliver(to: string): Promise<void> {
  // At the end of the program, a request is completed: a repeated one would be a second alert.
  const post = (body: string) => postTo(to, body)
  const delivery = new Delivery(outbox, { url: to, format }, post, (text) => console.error(text))
  while (!ended.signal.aborted) await sleep(await delivery.step(), null, { signal: ended.signal }).catch(() => null)
}
const delivering = webhook ? deliver(webhook) : Promise.resolve()

for await (const event of stream) {
  if (event.type === 'live') console.log('watching')
  if (event.type === 'gap')
    report(
      { text: `liquidations may be missing since block ${event.gap.from ?? '?'}: ${event.gap.reason}` },
      [],
      Date.now(),
    )
  if (event.type === 'data')
    for (const [user, fill] of event.frame.fills) if (!outbox.has(fill)) groups.add(user, fill, Date.now())
  if (event.type === 'end' && event.end.code !== 'aborted') {
    console.error(event.end.message)
    process.exitCode = 1
  }
}
clearInterval(checking)
ended.abort()
await delivering
reportAll(groups.all())
outbox.close()
