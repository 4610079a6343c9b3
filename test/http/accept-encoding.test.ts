import { expect, it } from 'vitest'
import { acceptedEncoding } from '../../src/core/compression.client.ts'

it.each([
  [null, null],
  ['', null],
  ['identity', null],
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['GZIP, deflate', 'gzip'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['br ; q=0.1 , gzip ; q=0.2', 'gzip'],
  ['gzip;q=0', null],
  ['gzip;q=0.0, br;q=0.000', null],
  ['*', 'br'],
  ['*;q=0', null],
  ['br;q=0, *', 'gzip'],
  ['gzip, *;q=0', 'gzip'],
  ['gzip;q=2', null],
  ['gzip;q=-1', null],
  ['gzip;q=x', null],
  [';q=1,,', null],
] as const)('%j selects %j', (header, encoding) => {
  expect(acceptedEncoding(header)).toBe(encoding)
})
