// The first deploy opens log and hubs, so that they are not created from another place.

import { expect, it } from 'vitest'
import { addressOf, firstRequest } from '../../../src/cli/deploy/first-request.ts'

const deploy = (worker: string, targets: string[]) => JSON.stringify({ type: 'deploy', worker_name: worker, targets })

it('finds the newest address, or a bare name, in the output of wrangler', () => {
  const lines = [
    '{"type":"wrangler-session"}',
    deploy('weir', ['https://old.example']),
    deploy('weir', ['api.example.com/*', 'https://weir.me.workers.dev', 'schedule: * * * * *']),
    deploy('weir-live', ['https://live.example']),
    'no JSON',
    '',
  ].join('\n')
  expect(addressOf(lines, 'weir')).toBe('https://weir.me.workers.dev')
  expect(addressOf(deploy('weir', ['api.example.com']), 'weir')).toBe('https://api.example.com')
  expect(addressOf(deploy('weir', ['api.example.com/*']), 'weir')).toBeNull()
  expect(addressOf('', 'weir')).toBeNull()
})

it('retries until all hubs follow, and reports the location', async () => {
  const answers = [
    'not found',
    '{}',
    ...[0, 2, 3].map((n) => JSON.stringify({ feedRegion: 'apac-ne', readers: Array(n) })),
  ]
  const asked: string[] = []
  const status = async (url: string) => {
    asked.push(url)
    return answers.shift()!
  }
  const said = await firstRequest('https://w', 2, status, async () => undefined)
  expect(said).toMatch(/https:\/\/w\/status .*2 of 2 hubs .*apac-ne/)
  expect(asked).toEqual(Array(4).fill('https://w'))
})

it('reports a partial or complete failure', async () => {
  const none = await firstRequest(
    'https://w',
    4,
    async () => 'ENOTFOUND',
    async () => undefined,
  )
  expect(none).toMatch(/20 times.*No gateway/)
  const some = async () => JSON.stringify({ feedRegion: null, readers: [1] })
  const said = await firstRequest('https://w', 4, some, async () => undefined)
  expect(said).toMatch(/1 of 4 hubs .*FEED_REGION is empty/)
})
