// Counts of requests by surface, status and duration.

import { expect, it } from 'vitest'
import { RequestCounts, SURFACES, surfaceOf } from '../../src/monitor/request-counts.ts'

const INFO = SURFACES.indexOf('info')

it('counts statuses and durations, and forgets what was taken', () => {
  const counts = new RequestCounts()
  counts.count(INFO, 200, 0)
  counts.count(INFO, 200, 7)
  counts.count(INFO, 429, 60_000)
  counts.count(SURFACES.indexOf('ws'), 101, 5)
  counts.count(INFO, 9_999, 0)
  expect(Object.fromEntries(counts.take())).toEqual({
    'requests|info|0': 1,
    'requests|info|200': 2,
    'requests|info|429': 1,
    'requests|ws|101': 1,
    'duration|info|0': 2,
    'duration|info|2': 1,
    'duration|info|12': 1,
    'duration|ws|1': 1,
    'duration_ms|info': 60_007,
    'duration_ms|ws': 5,
  })
  expect(counts.take()).toEqual([])
})

it.each([
  ['https://weir.example/info?x=/ws', 'info'],
  ['https://weir.example/k/cqt_key/info', 'info'],
  ['https://weir.example/k/cqt_key/ws', 'ws'],
  ['https://weir.example/v1/evm', 'rpc'],
  ['https://weir.example/v1/evm/', 'rpc'],
  ['https://weir.example/v1/evm?x=/a/b', 'rpc'],
  ['https://weir.example/v1/evm/blocks/7', 'platform'],
  ['https://weir.example/k/cqt_key/v1/evm', 'rpc'],
  ['https://weir.example/platform/key/', 'platform'],
  ['https://weir.example/admin/feed', 'admin'],
  ['https://weir.example/metrics', 'other'],
  ['https://weir.example/docs/guides', 'page'],
  ['https://weir.example/', 'page'],
  ['https://weir.example', 'page'],
  ['https://weir.example/constructor', 'page'],
])('%s belongs to the surface %s', (url, surface) => {
  expect(surfaceOf(url)).toBe(surface)
})
