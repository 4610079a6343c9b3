// The operations of the operator's API and of the platform against their routes and their own examples.

import { describe, expect, it } from 'vitest'
import { parseWith } from '../../src/core/schema-words.ts'
import { feedAdminRoutes } from '../../src/feed/feed.route.ts'
import { adminRoutes } from '../../src/platform/admin.route.ts'
import { ADMIN_OPERATIONS } from '../../src/platform/operations.ts'
import { platformRoutes } from '../../src/platform/platform.route.ts'
import { PLATFORM_OPERATIONS } from '../../src/platform/platform-operations.ts'
import { webhookRoutes } from '../../src/platform/webhook.route.ts'

const never = () => {
  throw new Error('nothing is asked here')
}
const OPERATIONS = [...ADMIN_OPERATIONS, ...PLATFORM_OPERATIONS]
const callOf = (method: string, path: string) => `${method.toUpperCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`

describe('every operation', () => {
  it('has a route, and every route an operation', () => {
    const admin = [adminRoutes(never), webhookRoutes(never, false), feedAdminRoutes(never)].flatMap((app) =>
      app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => callOf(method, `/admin${path}`)),
    )
    const deps = { authenticate: never, charging: never, meterOf: never, requestId: never, now: never }
    const platform = platformRoutes(deps).routes.map(({ method, path }) => callOf(method, path.replace(/\/?$/, '/')))
    const described = OPERATIONS.map(({ method, path }) => callOf(method, path))
    expect(described).toHaveLength(new Set(described).size)
    expect([...new Set([...admin, ...platform])].sort()).toEqual(described.sort())
    expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length)
  })

  it.each(OPERATIONS.map((operation) => [operation.id, operation] as const))(
    '%s has examples that fit, and a schema for each part of its path',
    (_, { path, params = {}, body, answers }) => {
      expect(body === undefined || parseWith(body.schema, body.example).ok).toBe(true)
      expect(Object.keys(answers)).not.toEqual([])
      for (const { schema, example } of Object.values(answers)) expect(schema.parse(example)).toEqual(example)
      expect(Object.keys(params)).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))
    },
  )
})
