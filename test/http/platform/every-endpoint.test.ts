// Checks of every REST endpoint definition, and of the catalogue.

import { readdirSync, readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { MEMBER_ROLES, type MemberRole } from '../../../src/accounts/members.ts'
import { failureMessage } from '../../../src/core/failure.ts'
import { parseWith } from '../../../src/core/validation-errors.ts'
import { operationText } from '../../../src/http/docs/openapi-operations.ts'
import { ENDPOINTS } from '../../../src/http/platform/catalogue.ts'
import { OPERATION_ROLES, operationRefusal } from '../../../src/http/platform/operation-roles.ts'

interface Schema {
  readonly description?: string
  readonly $ref?: string
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema | undefined
  readonly properties?: Readonly<Record<string, Schema>>
}

/** Paths of fields without a description. */
function undescribed(schema: Schema, shared: Readonly<Record<string, Schema>>, path = ''): string[] {
  const parts = ({ $ref, anyOf = [], items }: Schema): Schema[] => [
    ...($ref === undefined ? [] : [shared[$ref.slice('#/$defs/'.length)]!]),
    ...anyOf,
    ...(items === undefined ? [] : [items]),
  ]
  const isDescribed = (field: Schema): boolean =>
    field.description !== undefined || parts({ ...field, items: undefined }).some(isDescribed)
  return [
    ...parts(schema).flatMap((part) => undescribed(part, shared, path)),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
      const own = `${path}.${name}`
      return [...(isDescribed(field) ? [] : [own]), ...undescribed(field, shared, own)]
    }),
  ]
}

it('a field without a description is found', () => {
  const item = z.object({ told: z.string().describe('x'), untold: z.string() }).meta({ id: 'Item' })
  const schema = z.toJSONSchema(z.object({ list: z.array(item).describe('x'), one: z.nullable(item) }))
  expect(undescribed(schema as Schema, schema.$defs as Record<string, Schema>)).toEqual([
    '.list.untold',
    '.one',
    '.one.untold',
  ])
})

describe('the catalog', () => {
  it('lists every endpoint once', () => {
    const folder = new URL('../../../src/http/platform/endpoints/', import.meta.url)
    const texts = readdirSync(folder).map((file) => readFileSync(new URL(file, folder), 'utf8'))
    const ids = texts.flatMap((text) => [...text.matchAll(/\bid: '(\w+)',(?=\s*route:)/g)].map(([, id]) => id))
    expect(ENDPOINTS.map(({ id }) => id).sort()).toEqual(ids.sort())
  })

  it('has one endpoint per method and path', () => {
    const calls = ENDPOINTS.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)
    expect(calls).toHaveLength(new Set(calls).size)
  })
})

describe('roles of members', () => {
  const ids = ENDPOINTS.filter(({ auth }) => auth !== 'admin').map(({ id }) => id)

  it('have a decision for every operation of an account, and only for those', () => {
    expect(Object.keys(OPERATION_ROLES).sort()).toEqual([...ids].sort())
  })

  const arbitrary = fc.record({
    operation: fc.oneof(fc.constantFrom(...ids), fc.string()),
    role: fc.constantFrom(...MEMBER_ROLES),
  })

  it('refuse what is not decided, name a role that is allowed, and bind no key', () => {
    fc.assert(
      fc.property(arbitrary, ({ operation, role }) => {
        const refusalFor = (each: MemberRole) =>
          operationRefusal(operation, { session: { id: 's', member: { id: 'm', role: each } } })
        const allowed = Object.hasOwn(OPERATION_ROLES, operation) ? OPERATION_ROLES[operation]! : []
        const refused = refusalFor(role)
        expect(refused === null).toBe(role === 'owner' || allowed.includes(role))
        if (refused !== null) {
          const named = MEMBER_ROLES.filter((each) =>
            failureMessage(refused).split('; yours')[0]!.includes(`"${each}"`),
          )
          expect(named.every((each) => refusalFor(each) === null)).toBe(true)
          expect(named).toContain('owner')
        }
        expect(operationRefusal(operation, {})).toBeNull()
        expect(operationRefusal(operation, { session: { id: 's', member: null } })).toBeNull()
      }),
    )
  })

  it('are in the descriptions, also of an operation that is not decided', () => {
    const own = ENDPOINTS.find(({ id }) => id === 'ownAccount')!
    const ofAdmin = ENDPOINTS.find(({ auth }) => auth === 'admin')!
    expect(operationText(own)).not.toContain('Members need')
    expect(operationText({ ...own, id: 'undecided' })).toContain('Members need the role `owner`.')
    expect(operationText(ofAdmin)).not.toContain('Members need')
  })

  it('keep money from developers, and data, keys and members from billing', () => {
    const may = (role: MemberRole, id: string) => OPERATION_ROLES[id]!.includes(role)
    expect(
      ids.filter((id) => /heckout|Billing|Invoice|Order|TopUp|Card|Member|TeamEvents/.test(id) && may('developer', id)),
    ).toEqual([])
    const ofData = ENDPOINTS.filter(({ product }) => product !== undefined).map(({ id }) => id)
    const ofKeys = ids.filter((id) =>
      /OwnKey$|OwnKeys$|ipeline|Webhook|Logs|Refusals|Streams|Member|TeamEvents/.test(id),
    )
    expect([...ofData, ...ofKeys].filter((id) => id !== 'ownKey' && may('billing', id))).toEqual([])
  })
})

/** As in the specification. */
const IGNORES_OTHER_FIELDS = ['setPipelineStatus']

describe.each(ENDPOINTS.map((endpoint) => [endpoint.id, endpoint] as const))('%s', (id, endpoint) => {
  const { auth, path, params = {}, query, body, responses, price, product } = endpoint

  it('has valid examples, and a schema for each path parameter', () => {
    expect(body === undefined || parseWith(body.schema, body.example).ok).toBe(true)
    expect(Object.keys(responses)).not.toEqual([])
    expect(Object.keys(responses).filter((status) => !status.startsWith('2'))).toEqual([])
    for (const { schema, example } of Object.values(responses)) expect(schema.parse(example)).toEqual(example)
    expect(Object.keys(params)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
  })

  it('describes each field', () => {
    const inPath = Object.entries(params).map(([name, schema]) => z.object({ [name]: schema }))
    const schemas = [...inPath, query, body?.schema, ...Object.values(responses).map(({ schema }) => schema)]
    for (const schema of schemas.filter((part) => part !== undefined)) {
      const whole = z.toJSONSchema(schema, { io: 'input' })
      expect(undescribed(whole as Schema, (whole.$defs ?? {}) as Record<string, Schema>)).toEqual([])
    }
  })

  it('has a path that matches its authentication, and rejects unknown fields', () => {
    expect(path.startsWith('/admin/')).toBe(auth === 'admin')
    expect(auth !== 'admin' || (price === undefined && product === undefined)).toBe(true)
    const isStrict = body?.gzipBytes === undefined && !IGNORES_OTHER_FIELDS.includes(id)
    const ofJson = isStrict && !body?.isBinary ? body?.schema : undefined
    for (const schema of [query, ofJson].filter((part) => part !== undefined)) {
      expect(parseWith(schema, { unheard_of: '1' })).toMatchObject({
        ok: false,
        error: expect.arrayContaining([{ path: 'unheard_of', message: expect.any(String) }]),
      })
    }
  })
})
