// Invalid input of the operator's API: a 400 that names the field, without changes. Unknown fields are tested in
// every-endpoint.test.ts.

import { beforeAll, describe, expect, it } from 'vitest'
import { spend } from '../../metering/meter.worker.ts'
import { ask, everyRow, meterOf, newKey } from './operator.worker.ts'

let hash: string
let stranger: { hash: string; account: string }
beforeAll(async () => {
  await ask('PUT', '/accounts/demo', { plan: 'enterprise', credits: 100 })
  hash = (await newKey({ account: 'demo', label: 'kept', cap: 5 })).hash
  stranger = await newKey({ credits: 1 })
})

/** State of D1 and the meter of the account. */
const state = async () => [await everyRow(), await meterOf('demo').balance(), await meterOf('demo').plan()]

describe('bad input', () => {
  it.each([
    ['POST', '/keys', { credits: -1 }, 'credits'],
    ['POST', '/keys', { credits: '0.1234567' }, 'credits'],
    ['POST', '/keys', { credits: true }, 'credits'],
    ['POST', '/keys', { plan: 'golden' }, 'plan'],
    ['POST', '/keys', { kind: 'root' }, 'kind'],
    ['POST', '/keys', { account: 'nobody-here' }, 'account'],
    ['POST', '/keys', { account: '../demo' }, 'account'],
    ['POST', '/keys', { account: 'demo', credits: 5 }, 'credits'],
    ['POST', '/keys', { label: 'x'.repeat(101) }, 'label'],
    ['POST', '/keys', { products: ['gold'] }, 'products.0'],
    ['POST', '/keys', { kind: 'service', products: ['info'] }, 'products'],
    ['POST', '/keys', [], 'body'],
    ['PUT', '/accounts/a%20b', {}, 'id'],
    ['POST', '/accounts/demo/grants', { credits: 1 }, 'idempotency_key'],
    ['POST', '/accounts/demo/grants', { idempotency_key: 'a' }, 'credits'],
    ['DELETE', '/keys/cqt_', undefined, 'key'],
    ['PATCH', '/keys/cqt_', {}, 'key'],
    ['POST', '/keys/cqt_/rotate', undefined, 'key'],
    ['PUT', '/accounts/demo/plan', {}, 'plan'],
    ['PUT', '/accounts/demo/plan', { plan: 'golden' }, 'plan'],
    ['PUT', '/accounts/demo/plan', { plan: 'entry', terms: { credits: 5 } }, 'terms'],
    ['PUT', '/accounts/demo/plan', { plan: 'enterprise', terms: { credits: -5 } }, 'terms.credits'],
    ['POST', '/keys', { plan: 'entry', terms: { credits: 5 } }, 'terms'],
    ['POST', '/keys', { account: 'demo', terms: {} }, 'terms'],
    ['POST', '/keys', { label: 7 }, 'label'],
    ['POST', '/keys', { expires: 1.5 }, 'expires'],
    ['POST', '/keys', { expires: 1 }, 'expires'],
    ['PATCH', '/keys/KEY', { expires: 1_790_000_000 }, 'expires'],
    ['GET', '/keys?account=a&account=b', undefined, 'account'],
    ['POST', '/keys', { cap: '1e3' }, 'cap'],
    ['POST', '/keys', { ranges: [] }, 'ranges'],
    ['POST', '/keys', { ranges: ['192.0.2.0/24', '10.0.0.1/8'] }, 'ranges.1'],
    ['POST', '/keys', { ranges: ['nonsense'] }, 'ranges.0'],
    ['POST', '/keys', { ranges: Array.from({ length: 33 }, (_, i) => `10.0.${i}.0/24`) }, 'ranges'],
    ['PATCH', '/keys/KEY', { ranges: ['::/129'] }, 'ranges.0'],
    ['PATCH', '/keys/KEY', { products: [] }, 'products'],
    ['PATCH', '/keys/KEY?account=a%20b', {}, 'account'],
    ['POST', '/keys/KEY/rotate', { grace_seconds: -1 }, 'grace_seconds'],
    ['POST', '/keys/KEY/rotate', { grace_seconds: 2_592_001 }, 'grace_seconds'],
    ['POST', '/keys/KEY/rotate', { idempotency_key: '' }, 'idempotency_key'],
    ['PUT', '/accounts/demo', { plan: 'golden' }, 'plan'],
    ['PUT', '/accounts/other', { plan: 'entry', terms: { credits: 1 } }, 'terms'],
    ['PUT', '/accounts/other', { credits: 1e10 }, 'credits'],
    [
      'PUT',
      '/accounts/demo/plan',
      { plan: 'enterprise', terms: { rest_requests_per_second: 0 } },
      'terms.rest_requests_per_second',
    ],
    ['PUT', '/accounts/demo/plan', { plan: 'enterprise', terms: { credits: '0.0000001' } }, 'terms.credits'],
    ['POST', '/accounts/demo/grants', { credits: '-0.5', idempotency_key: 'a' }, 'credits'],
    ['POST', '/accounts/demo/grants', { credits: '0.0000001', idempotency_key: 'a' }, 'credits'],
    ['POST', '/accounts/demo/grants', { credits: 1, idempotency_key: 'a b' }, 'idempotency_key'],
    ['PUT', '/plans/new', {}, 'credits'],
    ['PUT', '/plans/new', { credits: 1 }, 'rest_requests_per_second'],
    ['PUT', '/plans/New', { credits: 1, rest_requests_per_second: 1 }, 'name'],
    ['PUT', '/plans/entry', { credits: -1 }, 'credits'],
    ['PUT', '/plans/entry', { days: 14 }, 'days'],
    ['PUT', '/plans/entry', { days: 0, period: 'once' }, 'days'],
    ['PUT', '/plans/entry', { stream_connections: null }, 'stream_connections'],
    ['PUT', '/plans/entry', { rest_requests_per_second: 1.5 }, 'rest_requests_per_second'],
    ['PUT', '/plans/entry', { period: 'week' }, 'period'],
    ['PUT', '/plans/entry', { custom: 'yes' }, 'custom'],
    ['GET', '/accounts/demo/usage?to=2026-01-01', undefined, 'from'],
    ['GET', '/accounts/demo/usage?duration=2', undefined, 'duration'],
    ['GET', '/accounts/demo/usage?after=1', undefined, 'after'],
    ['GET', `/accounts/demo/usage?after=2026-02-31.${'a1'.repeat(32)}.info.meta`, undefined, 'after'],
    ['GET', `/accounts/demo/usage?after=2026-02-01.${'a1'.repeat(32)}.info.meta.more`, undefined, 'after'],
  ])('%s %s %j names "%s" and changes nothing', async (method, path, body, field) => {
    const before = await state()
    const { status, json } = await ask(method, path.replace('KEY', hash), body)
    expect(json).toEqual({ error: true, error_message: expect.stringContaining(`${field}: `), error_code: '400' })
    expect(status).toBe(400)
    expect(await state()).toEqual(before)
  })

  it('with a misspelled plan gets a suggestion', async () => {
    const { json } = await ask('POST', '/keys', { plan: 'entreprise' })
    expect(json.error_message).toContain('"enterprise"')
  })

  it.each([
    ['PATCH', '', { label: 'mine now' }],
    ['PATCH', '', { cap: 0 }],
    ['POST', '/rotate', { grace_seconds: 0 }],
    ['DELETE', '', undefined],
  ])('%s /keys/…%s of another account is a 404 and changes nothing', async (method, path, body) => {
    const before = await state()
    const answer = await ask(method, `/keys/${stranger.hash}${path}?account=demo`, body)
    expect([answer.status, answer.json.error_message]).toEqual([404, expect.stringContaining('"demo"')])
    expect(await state()).toEqual(before)
    expect((await spend(meterOf(stranger.account), stranger.hash, 0)).ok).toBe(true)
  })

  it('with two accounts is rejected', async () => {
    const { hash: key, account } = stranger
    expect((await ask('DELETE', `/keys/${key}?account=${account}&account=demo`)).status).toBe(400)
    expect((await spend(meterOf(account), key, 0)).ok).toBe(true)
  })
})
