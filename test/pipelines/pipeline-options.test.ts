// The options of new pipelines are what the API accepts.

import { expect, it } from 'vitest'
import { NewPipeline, validateNew } from '../../src/pipelines/changes.ts'
import { FILTERS, TOPICS } from '../../src/pipelines/pipeline.ts'
import { destinationOptions, topicOptions } from '../../src/pipelines/pipeline-options.ts'

const SECRET = `whsec_${'A'.repeat(43)}=`
/** A valid text of each field. */
const VALUES: Readonly<Record<string, unknown>> = {
  url: 'https://example.com',
  secret: SECRET,
  region: 'auto',
  bucket: 'rows',
  create_table: true,
  prefix: 'rows/',
}

it('each topic is accepted with each of its filters, and without one unless it needs it', () => {
  const isValid = (topic: string, filter: unknown) => {
    const destination_config = { type: 'r2', prefix: '', format: 'ndjson' }
    const parsed = NewPipeline.safeParse({ name: 'a', topic, filter, destination_config })
    return parsed.success && validateNew(parsed.data).ok
  }
  const topics = topicOptions()
  expect(topics.map(({ topic }) => topic).sort()).toEqual([...TOPICS].sort())
  for (const { topic, filters, filter_required, columns } of topics) {
    expect([topic, filters.map(({ type }) => type)]).toEqual([topic, FILTERS[topic]])
    for (const { example } of filters) expect([topic, example, isValid(topic, example)]).toEqual([topic, example, true])
    expect([topic, isValid(topic, null)]).toEqual([topic, !filter_required])
    expect(columns).toContain('_key')
  }
})

it('a form with the fields of a destination makes a valid destination', () => {
  for (const { type, fields } of destinationOptions()) {
    const url = type === 'postgres' ? { url: 'postgres://db.example.com:5432' } : {}
    const form = fields.map(({ name, options }) => [name, options?.[0] ?? VALUES[name] ?? 'name'])
    const destination_config = { type, ...Object.fromEntries(form), ...url }
    const parsed = NewPipeline.safeParse({ name: 'a', topic: 'fills', destination_config })
    expect([type, parsed.error?.issues ?? [], parsed.success && validateNew(parsed.data).ok]).toEqual([type, [], true])
    for (const { name, required } of fields) {
      const { [name]: _, ...rest } = destination_config as Record<string, unknown>
      const { success } = NewPipeline.safeParse({ name: 'a', topic: 'fills', destination_config: rest })
      expect([type, name, success]).toEqual([type, name, !required])
    }
  }
  const secrets = destinationOptions().map(({ fields }) => fields.find(({ kind }) => kind === 'secret')?.name ?? null)
  expect(secrets).toEqual(['secret', null, 'secret_access_key', 'password', 'password', 'password'])
})
