// The pipeline follower between the log and Sinks, in workerd: rows reach a pipeline that waits, whoever restarts.

import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, it, vi } from 'vitest'
import { keyHashOf } from '../../../src/core/ids.ts'
import { Objects } from '../../../src/core/objects.client.ts'
import { DEFAULTS, type Pipeline } from '../../../src/pipelines/pipeline.ts'
import { SINK_API_VERSION } from '../../../src/pipelines/sink-api.ts'
import { EXAMPLE_FILL } from '../../../src/relay/channels/fills.ts'
import { FakeFeeder, levelsOf } from '../../block-log/fake-feeder.worker.ts'

const live = env as unknown as Cloudflare.Env
const objects = new Objects(live, { CHAIN: env.CHAIN, FEED_REGION: null })
const SECRET = `whsec_${btoa('0123456789abcdef0123456789abcdef')}`

interface Sent {
  readonly rows: readonly { _kind: string; _height: number }[]
}
const sent = new Map<string, number[]>()
vi.stubGlobal('fetch', async (input: URL | string, init: { body: string }) => {
  const { pathname, hostname } = new URL(input)
  if (pathname === '/dns-query') return Response.json({ Answer: [{ type: 1, data: '9.9.9.9' }] })
  const { rows } = JSON.parse(init.body) as Sent
  const own = sent.get(hostname) ?? []
  sent.set(hostname, [...own, ...rows.filter(({ _kind }) => _kind === 'row').map(({ _height }) => _height)])
  return new Response('ok')
})

const apply = (id: string, over: Partial<Pipeline>) => {
  const pipeline: Pipeline = {
    ...DEFAULTS,
    id,
    account: 'follows',
    payer: keyHashOf('c0'.repeat(32)),
    payer_name: 'bot',
    revision: 1,
    created_at: '',
    updated_at: '',
    name: 'n',
    topic: 'fills',
    abi_contract_addresses: [],
    destination_type: 'webhook',
    destination_config: { type: 'webhook', url: `https://${id}.example/hook`, secret: SECRET },
    ...over,
  }
  return objects.sink(id).apply({ v: SINK_API_VERSION, pipeline, sealed: `kept ${id} ${btoa(SECRET)}` })
}
const heights = (id: string) => sent.get(`${id}.example`) ?? []
/** Without a call of the Sink, which would look for itself. */
const arrive = (id: string, expected: readonly number[]) =>
  vi.waitFor(() => expect(heights(id)).toEqual(expected), { timeout: 20_000, interval: 50 })
const kill = (stub: DurableObjectStub) =>
  runInDurableObject(stub, (_, state) => state.abort('killed')).catch(() => undefined)

let head = 100
let feeder: FakeFeeder
/** A fill of BTC in even blocks, and of ETH in odd ones. */
const block = async () => {
  head++
  const coin = head % 2 === 0 ? 'BTC' : 'ETH'
  const fill = { ...EXAMPLE_FILL[1], tid: head, coin, time: head * 70 }
  feeder.block(head, [{ coin: 'BTC', levels: levelsOf(['100', `${head}.0`, 1]) }], { fills: [[EXAMPLE_FILL[0], fill]] })
  await feeder.acked(head)
}

it('rows reach a pipeline that was there before the first block, and after restarts of itself, the log or the follower', async () => {
  await live.CREDIT_METER.getByName('follows').grantCredits('g', 1_000_000_000)
  await apply('early', { execution_start_from: '101' })
  await apply('btc', { execution_start_from: '101', filter: { type: 'allFills', coin: 'BTC' } })
  await vi.waitFor(async () => expect((await objects.sink('btc').status()).phase).not.toBe('idle'), { timeout: 9_000 })
  feeder = await FakeFeeder.connect()
  feeder.hello(100, 100)
  await feeder.next('welcome')
  feeder.snapshot(100, [{ coin: 'BTC', levels: levelsOf(['100', '1.0', 1]) }])
  await block()
  await block()
  await arrive('early', [101, 102])
  await arrive('btc', [102])
  await kill(live.PIPELINE_FOLLOWER.getByName(env.CHAIN))
  await block()
  await block()
  await arrive('early', [101, 102, 103, 104])
  await arrive('btc', [102, 104])
  for (const id of ['early', 'btc']) await kill(live.SINK.getByName(`${env.CHAIN}/${id}`))
  await block()
  await block()
  await arrive('early', [101, 102, 103, 104, 105, 106])
  await arrive('btc', [102, 104, 106])
})
