// The form of a pipeline: bodies of requests, and errors at their fields.

import { describe, expect, it } from 'vitest'
import {
  cellText,
  type Destination,
  draftOf,
  EMPTY_DRAFT,
  errorAt,
  fieldErrors,
  pipelineBody,
  previewColumns,
  rowsBody,
  stepOf,
} from '../../src/console/owner/pipeline-draft.ts'
import { NewPipeline, validateChange, validateNew } from '../../src/pipelines/changes.ts'
import { DEFAULTS } from '../../src/pipelines/pipeline.ts'
import { destinationOptions } from '../../src/pipelines/pipeline-options.ts'

const destination = (type: string) => destinationOptions().find((each) => each.type === type) as Destination
const POSTGRES = { url: 'postgres://db.example.com:5432', user: 'weir', database: 'rows', table: 'fills' }
const DRAFT = {
  ...EMPTY_DRAFT,
  name: ' fills ',
  topic: 'fills',
  filter: '{"type":"allFills","coin":"BTC"}',
  sql: [{ name: 'big ', text: 'SELECT * FROM fills' }],
  type: 'postgres',
  config: { ...POSTGRES, create_table: 'true' },
}

describe('a draft', () => {
  it('becomes a body that the API accepts, and comes back from what is stored', () => {
    const made = pipelineBody(DRAFT, destination('postgres'), 'hush')
    const body = NewPipeline.parse(made.ok && made.body)
    expect(validateNew(body).ok).toBe(true)
    expect(body).toMatchObject({
      name: 'fills',
      transforms: { big: 'SELECT * FROM fills' },
      destination_config: { type: 'postgres', ...POSTGRES, password: 'hush', create_table: true },
      execution_mode: 'continuous',
    })
    const { password: _, ...config } = body.destination_config as Record<string, unknown>
    const stored = {
      ...DEFAULTS,
      ...body,
      id: 'pipe_a',
      destination_config: { ...config, password: '******' },
    } as never
    const draft = draftOf(stored)
    expect(draft).toMatchObject({
      id: 'pipe_a',
      config: DRAFT.config,
      hasSecret: true,
      sql: [{ name: 'big' }],
      stop: '',
    })
    expect(JSON.stringify(draft)).not.toContain('***')
  })

  it('keeps the stored secret only of a stored pipeline, and replaces it', () => {
    const config = { url: 'https://example.com' }
    const secretOf = (hasSecret: boolean, secret: string, type = 'webhook', field = 'secret') => {
      const made = pipelineBody({ ...DRAFT, hasSecret, config }, destination(type), secret)
      return made.ok && (made.body.destination_config as Record<string, unknown>)[field]
    }
    expect([secretOf(false, ''), secretOf(true, ''), secretOf(true, 'new')]).toEqual(['', '******', 'new'])
    const optional = (...args: [boolean, string]) => secretOf(...args, 'kafka', 'password')
    expect([optional(false, ''), optional(true, ''), optional(false, 'new')]).toEqual([undefined, '******', 'new'])
  })

  it('ends where it is to end', () => {
    const made = pipelineBody({ ...DRAFT, start: 'earliest', stop: '900' }, destination('postgres'), 'x')
    expect(made).toMatchObject({ body: { execution_mode: 'bounded', execution_stop_from: '900' } })
    const bounded = { ...DEFAULTS, ...NewPipeline.parse(made.ok && made.body), id: 'a' } as never
    const atNewest = { ...(bounded as object), execution_stop_from: '' } as never
    const again = pipelineBody({ ...draftOf(atNewest), config: DRAFT.config }, destination('postgres'), 'x')
    expect(again).toMatchObject({ body: { execution_mode: 'bounded', execution_stop_from: '' } })
    expect([draftOf(bounded).stop, validateChange('a', bounded, {}).ok]).toEqual(['900', true])
  })

  it('of logs has an ABI, and no other has', () => {
    const logs = { ...DRAFT, topic: 'evm_logs', filter: '', abi: '{"abi":[]}', contracts: '0xa, 0xb\n0xc' }
    expect(rowsBody(logs)).toMatchObject({
      body: { abi_file: { abi: [] }, abi_contract_addresses: ['0xa', '0xb', '0xc'] },
    })
    expect(JSON.stringify(rowsBody(DRAFT))).not.toContain('abi')
  })

  it('names what is no JSON, and names of SQL that occur twice', () => {
    expect(rowsBody({ ...DRAFT, filter: '{' })).toEqual({ ok: false, errors: { filter: 'is not valid JSON' } })
    const twice = [DRAFT.sql[0]!, { name: 'big', text: 'SELECT 1' }]
    expect(rowsBody({ ...DRAFT, sql: twice })).toMatchObject({
      errors: { 'transforms.big': expect.stringContaining('twice') },
    })
  })
})

describe('an error of the API', () => {
  it('is shown at its field', () => {
    const errors = fieldErrors(
      'filter.coin: must be a coin; see x; destination_config.url: must be a URL such as https://a',
    )
    expect(errors).toEqual({
      'filter.coin': 'must be a coin; see x',
      'destination_config.url': 'must be a URL such as https://a',
    })
    expect(errorAt(errors, 'filter')).toBe('coin must be a coin; see x')
    expect(errorAt(errors, 'destination_config.url')).toMatch(/^must be/)
    expect(errorAt(errors, 'name')).toBeNull()
    expect(fieldErrors('The request timed out. Retry.')).toEqual({ '': 'The request timed out. Retry.' })
  })

  it('leads to its step', () => {
    const steps = ['topic', 'filter.coin', 'transforms.big', 'destination_config.url', 'name', ''].map((path) =>
      stepOf({ [path]: 'x' }),
    )
    expect(steps).toEqual(['topic', 'rows', 'rows', 'destination', 'destination', null])
  })
})

it('preview rows are shown by column, whatever they contain', () => {
  const rows = [
    { _kind: 'row', _key: 'a', coin: 'BTC' },
    { _kind: 'row', _key: 'b', more: { x: [1] }, none: null },
  ]
  expect(previewColumns(rows)).toEqual(['_key', 'coin', 'more', 'none'])
  expect([cellText({ x: [1] }), cellText(null), cellText(undefined), cellText(0)]).toEqual(['{"x":[1]}', '', '', '0'])
})
