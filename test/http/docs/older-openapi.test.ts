import { describe, expect, it } from 'vitest'
import { olderDocument } from '../../../src/http/docs/older-openapi.ts'
import { openApiDocument } from '../../../src/http/docs/openapi.ts'
import { ENDPOINTS } from '../../../src/http/platform/catalogue.ts'
import { CATALOGUE } from '../../../src/info/queries/catalogue.ts'

type Json = Readonly<Record<string, unknown>>

const REF = { $ref: '#/components/schemas/Named' }
const INFO = { license: { name: 'MIT', identifier: 'MIT' } }

function older(schema: Json): unknown {
  return olderDocument({ openapi: '3.1.0', info: INFO, schema }).schema
}

describe('openapi-3.0.json', () => {
  it.each<[what: string, given: Json, converted: Json]>([
    ['a type or null', { type: ['string', 'null'] }, { type: 'string', nullable: true }],
    ['a choice with null', { anyOf: [{ type: 'string' }, { type: 'null' }] }, { type: 'string', nullable: true }],
    ['a named schema or null', { anyOf: [REF, { type: 'null' }] }, { type: 'object', allOf: [REF], nullable: true }],
    ['null', { type: 'null', description: 'a' }, { description: 'a' }],
    ['several types', { type: ['string', 'number', 'null'], description: 'a' }, { description: 'a' }],
    ['a union', { description: 'a', anyOf: [{ type: 'string' }, REF] }, { description: 'a' }],
    ['a discriminated union', { oneOf: [REF], discriminator: {} }, { oneOf: [REF], discriminator: {} }],
    ['a constant', { const: '2.0' }, { type: 'string', enum: ['2.0'] }],
    [
      'a tuple of one type',
      { type: 'array', prefixItems: [{ ...REF, description: 'a' }, REF], minItems: 2, maxItems: 2 },
      { type: 'array', items: REF, minItems: 2, maxItems: 2 },
    ],
    [
      'a tuple of several types',
      { type: 'array', prefixItems: [{ type: 'string' }, REF] },
      { type: 'array', items: {} },
    ],
    ['an exclusive limit', { exclusiveMinimum: 0 }, { minimum: 0, exclusiveMinimum: true }],
    ['names of properties', { type: 'object', propertyNames: { type: 'string' } }, { type: 'object' }],
    ['a large integer', { type: 'integer' }, { type: 'integer', format: 'int64' }],
    ['a small integer', { type: 'integer', maximum: 5 }, { type: 'integer', maximum: 5 }],
    ['a described reference', { ...REF, description: 'a' }, { description: 'a', allOf: [REF] }],
    ['classes of Unicode', { type: 'string', pattern: '^\\p{Cc}$' }, { type: 'string' }],
    [
      'names that differ in case',
      { type: 'object', properties: { t: {}, T: {} }, required: ['t'] },
      { type: 'object', additionalProperties: true },
    ],
    [
      'properties named like keywords',
      { properties: { const: { const: 1 }, anyOf: { type: 'boolean' } } },
      { properties: { const: { type: 'number', enum: [1] }, anyOf: { type: 'boolean' } } },
    ],
    ['examples', { example: { const: 1, type: ['a'] } }, { example: { const: 1, type: ['a'] } }],
  ])('converts %s', (_, given, converted) => {
    expect(older(given)).toEqual(converted)
  })

  it('has the same operations and named schemas, without webhooks', () => {
    const document = openApiDocument(CATALOGUE, ENDPOINTS)
    const converted = olderDocument(document)
    expect([converted.openapi, converted.webhooks]).toEqual(['3.0.3', undefined])
    const namesOf = ({ paths, components }: Json) => [
      Object.entries(paths as Json).map(([path, methods]) => [path, Object.keys(methods as Json)]),
      Object.keys((components as { readonly schemas: Json }).schemas),
    ]
    expect(namesOf(converted)).toEqual(namesOf(document))
  })

  it('makes only objects of named schemas next to null', () => {
    const { components } = olderDocument(openApiDocument(CATALOGUE, ENDPOINTS)) as {
      components: { schemas: Readonly<Record<string, { readonly type?: string }>> }
    }
    const text = JSON.stringify(olderDocument(openApiDocument(CATALOGUE, ENDPOINTS)))
    const nullable = [...text.matchAll(/"type":"object","allOf":\[\{"\$ref":"#\/components\/schemas\/(\w+)"\}\]/g)]
    expect(nullable.length).toBeGreaterThan(5)
    expect(nullable.filter(([, name]) => components.schemas[name!]!.type !== 'object')).toEqual([])
  })
})
