// What a record takes and what it shows: whoever creates or changes a pipeline is told each field that is wrong, and no
// secret comes back or goes to somebody else.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseWith } from '../../src/core/validation-errors.ts'
import {
  differences,
  NewPipeline,
  PipelineChange,
  type ValidatedPipeline,
  validateChange,
  validateNew,
} from '../../src/pipelines/changes.ts'
import { TOPICS } from '../../src/pipelines/pipeline.ts'
import { MASK } from '../../src/pipelines/secrets.ts'

const ID = 'pipe_1'
const WHSEC = `whsec_${'QUJD'.repeat(8)}`
const URL = 'https://db.example.com:8443/x'
const CLICKHOUSE = { type: 'clickhouse', url: URL, user: 'weir', password: 'hush', database: 'default', table: 'fills' }
const NEW = { name: 'one', topic: 'fills', destination_config: CLICKHOUSE }
const HYPERDRIVE = { type: 'postgres', url: 'hyperdrive://FILLS_DB', table: 'fills' }
const CONFIGS = {
  webhook: { type: 'webhook', url: URL, secret: WHSEC },
  r2: { type: 'r2', prefix: 'a/b/', format: 'parquet' },
  s3: {
    type: 's3',
    url: URL,
    bucket: 'fills',
    region: 'eu-central-1',
    prefix: '',
    format: 'ndjson',
    access_key_id: 'AK',
    secret_access_key: 'hush',
  },
  clickhouse: CLICKHOUSE,
  postgres: { ...CLICKHOUSE, type: 'postgres', url: 'postgres://db.example.com:5432', database: 'my db' },
  kafka: { type: 'kafka', url: URL, topic: 'fills', user: 'weir', password: 'hush' },
}
const bounded = (from: string, to: string) => {
  return { execution_mode: 'bounded', execution_start_from: from, execution_stop_from: to }
}
const USERS = { type: 'userFills', user: `0x${'a1'.repeat(20)}` }

const create = (sent: object) => {
  const order = parseWith(NewPipeline, { ...NEW, ...sent })
  return order.ok ? validateNew(order.value) : order
}
const change = (before: ValidatedPipeline, sent: object) => {
  const order = parseWith(PipelineChange, sent)
  return order.ok ? validateChange(ID, before.fields, order.value) : order
}
const made = (sent: object = {}): ValidatedPipeline => {
  const written = create(sent)
  if (!written.ok) throw new Error(JSON.stringify(written.error))
  return written.value
}
const toldOf = (result: ReturnType<typeof create>) =>
  result.ok ? 'ok' : result.error.map(({ path, message }) => `${path}: ${message}`).join('; ')

describe('what is created', () => {
  it.each(Object.entries(CONFIGS))('%s is taken, with what was left out', (type, config) => {
    expect(made({ destination_config: config }).fields).toEqual({
      name: 'one',
      project: '',
      description: '',
      topic: 'fills',
      filter: null,
      transforms: {},
      destination_type: type,
      destination_config: expect.objectContaining({ type }),
      execution_mode: 'continuous',
      execution_start_from: '',
      execution_stop_from: '',
      abi_file: {},
      abi_contract_addresses: [],
      abi_unmatched: 'keep',
      on_failure: 'pause',
      status: 'running',
    })
  })

  it.each([
    [{ name: '' }, 'name: must not be empty'],
    [{ name: 'a\nb' }, 'name: '],
    [{ topic: 'fill' }, 'topic: must be "fills" or'],
    [{ colour: 1 }, 'colour: unknown field'],
    [{ destination_config: undefined }, 'destination_config: is required'],
    [{ destination_config: { type: 'sqs' } }, 'destination_config.type: must be "webhook" or "r2"'],
    [{ destination_config: { ...CLICKHOUSE, colour: 1 } }, 'destination_config.colour: unknown field'],
    [{ destination_config: { ...CLICKHOUSE, url: 'https://a:b@example.com' } }, 'url: '],
    [{ destination_config: { ...CLICKHOUSE, url: 'https://example.com\\@evil.com' } }, 'destination_config.url: must'],
    [{ destination_config: { ...CLICKHOUSE, url: `${URL}?password=x` } }, 'destination_config.url: '],
    [{ destination_config: { ...CONFIGS.webhook, url: `${URL}?a=1&Access%5fToken=x#y` } }, 'or "token" in its query'],
    [{ destination_config: { ...CLICKHOUSE, url: 'ftp://example.com' } }, 'url: '],
    [{ destination_config: { ...CLICKHOUSE, url: 'https://exa mple.com' } }, 'url: '],
    [{ destination_config: { ...CLICKHOUSE, password: MASK } }, 'destination_config.password: '],
    [{ destination_config: { ...CLICKHOUSE, password: 'a\r\nb' } }, 'password: '],
    [{ destination_config: { ...CLICKHOUSE, table: 'a;b' } }, 'destination_config.table: '],
    [{ destination_config: { ...CONFIGS.webhook, secret: 'short' } }, 'secret: must be "whsec_"'],
    [{ destination_config: { ...CONFIGS.r2, prefix: 'a/../b' } }, 'destination_config.prefix: must be at most 512'],
    [{ destination_config: { ...CONFIGS.r2, prefix: '/a' } }, 'destination_config.prefix: must be at most 512'],
    [{ destination_config: { ...CONFIGS.postgres, user: undefined } }, 'destination_config.user: is required'],
    [
      { destination_config: { ...HYPERDRIVE, user: 'weir', password: '' } },
      'user: must be omitted: the Hyperdrive binding provides it; destination_config.password: must be omitted',
    ],
    [{ destination_config: { ...HYPERDRIVE, url: 'hyperdrive://fills/db' } }, 'config.url: must be hyperdrive://'],
    [{ destination_type: 'kafka' }, 'destination_type: must be "clickhouse"'],
    [{ transforms: { a: 'x'.repeat(65_537) } }, 'transforms.a: must be at most 65,536 characters'],
    [{ transforms: { a: ' ' } }, 'transforms.a: must be a SELECT'],
    [{ transforms: { 'a b': 'SELECT 1' } }, 'transforms: '],
    [{ transforms: { Fills: 'SELECT 1' } }, 'transforms.Fills: '],
    [{ transforms: { json_each: 'SELECT 1' } }, 'transforms.json_each: '],
    [{ transforms: { sqlite_a: 'SELECT 1' } }, 'transforms.sqlite_a: '],
    [{ transforms: { a: 'SELECT 1', A: 'SELECT 1' } }, 'transforms.A: '],
    [
      { transforms: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`t${i}`, 'SELECT 1'])) },
      'transforms: must',
    ],
    [{ filter: { type: 'l2BookDiff' } }, 'filter.type: must be "userFills" or "allFills"'],
    [{ filter: { type: 'userFill' } }, 'for "fills" (did you mean "userFills"?)'],
    [{ topic: 'evm_logs', filter: { type: 'evmLog' } }, 'filter.type: must be "evmLogs" (did you mean "evmLogs"?)'],
    [{ filter: { type: 'userFills' } }, 'filter.addresses: send exactly one of addresses (list), users'],
    [{ filter: { ...USERS, colour: 1 } }, 'filter.colour: unknown field'],
    [{ filter: { ...USERS, colour: 'x'.repeat(65_536) } }, 'filter: must be at most 65,536 characters of JSON'],
    [{ topic: 'order_updates' }, 'filter: is required'],
    [{ topic: 'completed_trades' }, 'filter: is required'],
    [{ topic: 'evm_logs', filter: USERS }, 'filter.type: '],
    [{ topic: 'evm_logs', filter: { type: 'evmLogs' } }, 'filter.chain: is required'],
    [{ topic: 'evm_logs', abi_unmatched: 'drop' }, 'abi_file.abi: '],
    [{ topic: 'evm_logs', abi_file: { abi: [{ type: 1 }] } }, 'abi_file.abi.0.type: '],
    [{ execution_start_from: 'yesterday' }, 'execution_start_from: must be empty, "earliest", "latest", a height'],
    [{ execution_start_from: '2026-02-30T00:00:00Z' }, 'execution_start_from: must be empty'],
    [{ execution_start_from: '-1' }, 'execution_start_from: must be empty'],
    [{ execution_stop_from: '5' }, 'execution_stop_from: '],
    [bounded('7', '6'), 'must not be before'],
    [{ execution_mode: 'bounded', execution_stop_from: 'earliest' }, 'must not be before'],
    [{ execution_mode: 'bounded' }, 'execution_start_from: '],
    [bounded('latest', 'latest'), 'execution_start_from: '],
    [bounded('2026-01-02T00:00:00Z', '2026-01-02T00:59:00+01:00'), 'must not be before'],
    [{ abi_contract_addresses: ['0x1'] }, 'abi_contract_addresses.0: '],
    [{ abi_file: { abi: 'x' } }, 'abi_file.abi: '],
    [{ abi_file: { abi: ['x'.repeat(196_608)] } }, 'abi_file: must be at most 196,608 characters of JSON'],
    [{ abi_unmatched: 'ask' }, 'abi_unmatched: must be "drop" or "keep" or "fail"'],
    [{ on_failure: 'ask' }, 'on_failure: must be "pause" or "dead_letter"'],
    [{ status: 'stopped' }, 'status: must be "running" or "paused"'],
  ])('%j is rejected with the name of its field', (sent, told) => {
    expect(toldOf(create(sent))).toContain(told)
  })

  it('one problem yields one message', () => {
    for (const url of ['https://a:b@example.com', 'https:/a:b@example.com']) {
      expect(toldOf(create({ destination_config: { ...CLICKHOUSE, url } }))).toBe(
        'destination_config.url: must not contain a user name or password',
      )
    }
  })

  it.each([
    bounded('5', '5'),
    bounded('5', '2026-01-02T00:00:00.5+01:00'),
    bounded('earliest', 'latest'),
    { execution_mode: 'bounded', execution_start_from: 'earliest' },
    { execution_mode: 'bounded', execution_stop_from: '7' },
    { destination_config: { ...CLICKHOUSE, url: `${URL}?database=a&tokens=2` } },
    { filter: USERS, topic: 'completed_trades' },
    { filter: { type: 'evmLogs', chain: 'a' }, topic: 'evm_logs', abi_file: { abi: [] } },
    { abi_contract_addresses: [`0x${'aB'.repeat(20)}`], abi_file: { abi: [] } },
    { destination_config: { ...CLICKHOUSE, password: '' } },
  ])('%j is accepted', (sent) => expect(toldOf(create(sent))).toBe('ok'))
})

const Line = fc.string({ minLength: 1, maxLength: 40 }).filter((text) => !/\p{Cc}/u.test(text) && text !== MASK)
const AnyConfig = fc.oneof(
  fc.constant(CONFIGS.r2),
  fc.constant(CONFIGS.webhook),
  ...[CONFIGS.s3, CONFIGS.clickhouse, CONFIGS.postgres, CONFIGS.kafka].map((config) =>
    Line.map((secret) => ({ ...config, ['password' in config ? 'password' : 'secret_access_key']: secret })),
  ),
)
const AnyOrder = fc.record(
  {
    name: Line,
    project: Line,
    description: fc.string({ maxLength: 40 }),
    destination_config: AnyConfig,
    topic: fc.constantFrom(
      ...TOPICS.filter((topic) => !['order_updates', 'completed_trades', 'evm_logs'].includes(topic)),
    ),
    transforms: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), fc.constant('SELECT 1')),
    execution_start_from: fc.constantFrom('', 'earliest', 'latest', '17', '2026-01-02T00:00:00Z'),
    abi_file: fc.dictionary(fc.string(), fc.jsonValue()).filter((file) => !Object.hasOwn(file, 'abi')),
    status: fc.constantFrom('running', 'paused'),
  },
  { requiredKeys: ['name', 'topic', 'destination_config'] },
)
const SECRETS = /^secret|^password$/

/** As answers have it. */
const shown = ({ fields }: ValidatedPipeline) => ({
  ...(JSON.parse(JSON.stringify(fields)) as object),
  id: ID,
  created_by: { id: 'user_1' },
  group: { id: 'group_1' },
  created_at: 'then',
  updated_at: 'now',
})

describe('what is kept', () => {
  it('never shows a secret, and does not change if it is sent back as read', () => {
    fc.assert(
      fc.property(AnyOrder, (drawn) => {
        const order = JSON.parse(JSON.stringify(drawn)) as typeof drawn
        const before = made(order)
        const config = before.fields.destination_config as { type: string; [field: string]: string | undefined }
        const secret = Object.entries(config).find(([field]) => SECRETS.test(field))?.[1]
        expect(secret).toBe(config.type === 'r2' ? undefined : MASK)
        expect(before.secret).toBe(
          Object.entries(order.destination_config).find(([name]) => SECRETS.test(name))?.[1] ?? '',
        )
        const after = change(before, shown(before))
        expect(after).toEqual({
          ok: true,
          value: { fields: before.fields, secret: config.type === 'r2' ? '' : null },
        })
        expect(after.ok && !differences(before.fields, after.value).isAny).toBe(true)
      }),
    )
  })

  it('is changed field by field', () => {
    const before = made()
    const after = change(before, { name: 'two', status: 'paused', filter: USERS })
    expect(after).toEqual({
      ok: true,
      value: { fields: { ...before.fields, name: 'two', status: 'paused', filter: USERS }, secret: null },
    })
    expect(after.ok && !differences(before.fields, after.value).isAny).toBe(false)
    expect(toldOf(change(before, { filter: { type: 'bbo' } }))).toContain('filter.type')
    expect(toldOf(change(before, { topic: 'ledger' }))).toMatch(/^topic: /)
    expect(toldOf(change(before, { id: 'pipe_2' }))).toMatch(/^id: /)
    expect(toldOf(change(before, { revision: 2 }))).toContain('revision: unknown field')
  })

  it('is different if its transforms are in a different order', () => {
    const before = made({ transforms: { a: 'SELECT 1', b: 'SELECT 2' } })
    const isSameAs = (transforms: object) => {
      const after = change(before, { transforms })
      return after.ok && !differences(before.fields, after.value).isAny
    }
    expect(isSameAs({ a: 'SELECT 1', b: 'SELECT 2' })).toBe(true)
    expect(isSameAs({ b: 'SELECT 2', a: 'SELECT 1' })).toBe(false)
  })

  it('moves to a different destination type with a new secret', () => {
    const before = made()
    expect(change(before, { destination_config: CONFIGS.webhook })).toMatchObject({
      value: { fields: { destination_type: 'webhook', destination_config: { secret: MASK } }, secret: WHSEC },
    })
    expect(toldOf(change(before, { destination_config: CONFIGS.webhook, destination_type: 'kafka' }))).toContain(
      'destination_type: must be "webhook"',
    )
    expect(toldOf(change(before, { destination_type: 'r2' }))).toContain('destination_type: must be "clickhouse"')
  })
})

describe('a secret that is kept', () => {
  const LATER = 'must be sent again because the destination changes'

  it.each([
    [{ url: 'https://evil.example.com:8443/x' }, `destination_config.password: ${LATER}`],
    [{ url: 'http://db.example.com:8443/x' }, `destination_config.password: ${LATER}`],
    [{ url: 'https://db.example.com:8444/x' }, `destination_config.password: ${LATER}`],
    [{ url: 'https://db.example.com/x' }, `destination_config.password: ${LATER}`],
    [{ url: 'https://db.example.com.evil.com:8443/x' }, `destination_config.password: ${LATER}`],
    [{ url: 'https://DB.example.com:8443/other?a=1' }, 'ok'],
    [{ table: 'other', user: 'other' }, 'ok'],
    [{ type: 'postgres', url: 'postgres://db.example.com:8443' }, `destination_config.password: ${LATER}`],
  ])('goes nowhere else: %j', (over, told) => {
    expect(toldOf(change(made(), { destination_config: { ...CLICKHOUSE, password: MASK, ...over } }))).toBe(told)
  })

  it('is none once the operator has another', () => {
    const before = made({ destination_config: CONFIGS.postgres })
    expect(change(before, { destination_config: HYPERDRIVE })).toMatchObject({
      value: { secret: '', fields: { destination_config: HYPERDRIVE } },
    })
    const kept = { ...HYPERDRIVE, password: MASK }
    expect(toldOf(change(before, { destination_config: kept }))).toContain(`destination_config.password: ${LATER}`)
  })

  it('must be there', () => {
    const without = made({ destination_config: { ...CLICKHOUSE, password: '' } })
    expect(without).toMatchObject({ secret: '', fields: { destination_config: { password: '' } } })
    expect(toldOf(change(without, { destination_config: { ...CLICKHOUSE, password: MASK } }))).toBe(
      'destination_config.password: is "******", but no secret is stored. Send the secret itself',
    )
    const taken = change(made(), { destination_config: { ...CLICKHOUSE, password: '' } })
    expect(taken).toMatchObject({ value: { secret: '', fields: { destination_config: { password: '' } } } })
    expect(taken.ok && !differences(made().fields, taken.value).isAny).toBe(false)
  })
})
